//! The structs by which the repository describes what it holds.

use std::sync::Arc;

use zorb_cdr::{Any, Described, Encode, EncodeError, Encoder, TCKind, TypeCode};
use zorb_orb::dynamic::{Mode, Parameter, Signature};
use zorb_orb::poa::Poa;
use zorb_orb::{Interface, ObjectRef, SystemException};

use super::CORBA;
use super::CORBA::{AttributeMode, DefinitionKind, OperationMode, ParameterMode};
use super::subject::Subject;
use crate::repository::{AttributeContent, Content, Definition, Place, Repository, ValueContent};
use crate::written::write_label;

/// A repository and the adapter that its objects are of.
pub(super) struct Describing<'d> {
    pub(super) repository: &'d Arc<Repository>,
    pub(super) poa: &'d Poa,
}

type Failable<T> = Result<T, SystemException>;

/// What every description of a definition begins with.
struct Head {
    name: String,
    id: String,
    defined_in: String,
    version: String,
}

/// A struct that begins with the four members that say which definition it describes.
macro_rules! with_head {
    ($head:expr, $name:ident { $($member:ident $(: $value:expr)?),* $(,)? }) => {{
        let Head { name, id, defined_in, version } = $head;
        CORBA::$name { name, id, defined_in, version, $($member $(: $value)?),* }
    }};
}

/// An any of a value whose parts are CDR's already.
fn any<T: Encode + Described>(value: &T) -> Any {
    Any::new(value).unwrap_or_default()
}

impl Describing<'_> {
    pub(super) fn reference(&self, subject: &Subject) -> Failable<ObjectRef> {
        let id = subject.id(self.repository);
        self.poa
            .create_reference_of(id, subject.info(self.repository).id)
            .map_err(|refused| SystemException::Internal(format!("interface repository: {refused}")))
    }

    pub(super) fn typed<I: Interface>(&self, subject: &Subject) -> Failable<Option<I>> {
        Ok(Some(I::from_object(self.reference(subject)?)))
    }

    /// The object of a type; nil if there is none.
    pub(super) fn type_def(&self, ty: &TypeCode) -> Failable<Option<CORBA::IDLType>> {
        match Subject::of_type(ty, self.repository) {
            Some(subject) => self.typed(&subject),
            None => Ok(None),
        }
    }

    /// The objects of those definitions that are known.
    pub(super) fn of_ids(&self, ids: &[String]) -> Failable<Vec<ObjectRef>> {
        let known = ids.iter().filter_map(|id| self.repository.place_of(id));
        known.map(|place| self.reference(&Subject::Definition(place))).collect()
    }

    fn parent_id(&self, parent: Option<Place>) -> String {
        parent.map(|parent| self.repository.at(parent).id.clone()).unwrap_or_default()
    }

    fn head(&self, of: &Definition) -> Head {
        Head {
            name: of.name.clone(),
            id: of.id.clone(),
            defined_in: self.parent_id(of.parent),
            version: of.version.clone(),
        }
    }

    /// What `Contained::describe` gives.
    pub(super) fn describe(&self, subject: &Subject) -> Failable<(DefinitionKind, Any)> {
        let kind = subject.kind(self.repository);
        let value = match subject {
            Subject::Definition(place) => self.definition(self.repository.at(*place))?,
            Subject::ValueMember(place, index) => {
                any(&self.value_member(self.repository.at(*place), *index)?)
            }
            _ => Any::default(),
        };
        Ok((kind, value))
    }

    fn definition(&self, of: &Definition) -> Failable<Any> {
        let head = self.head(of);
        Ok(match &of.content {
            Content::Module => any(&with_head!(head, ModuleDescription {})),
            Content::Constant { value } => {
                let (r#type, value) = (value.type_code().clone(), value.clone());
                any(&with_head!(head, ConstantDescription { r#type, value }))
            }
            Content::Type(ty) if ty.kind() == TCKind::Except => any(&self.exception(ty)),
            Content::Type(ty) => any(&with_head!(head, TypeDescription { r#type: ty.clone() })),
            Content::Attribute(it) => any(&self.attribute(of, it)),
            Content::Operation(it) => any(&self.operation(of, &it.signature)?),
            Content::Interface(it) => {
                any(&with_head!(head, InterfaceDescription { base_interfaces: it.bases.clone() }))
            }
            Content::Value(it) => {
                let ValueContent { base, abstract_bases, supports, .. } = it;
                any(&CORBA::ValueDescription {
                    is_abstract: it.ty.type_modifier() == Some(2),
                    is_custom: it.ty.type_modifier() == Some(1),
                    is_truncatable: it.ty.type_modifier() == Some(3),
                    supported_interfaces: supports.clone(),
                    abstract_base_values: abstract_bases.clone(),
                    base_value: base.clone().unwrap_or_default(),
                    name: head.name,
                    id: head.id,
                    defined_in: head.defined_in,
                    version: head.version,
                })
            }
        })
    }

    fn exception(&self, ty: &TypeCode) -> CORBA::ExceptionDescription {
        let head = match ty.id().and_then(|id| self.repository.definition(id)) {
            Some(definition) => self.head(definition),
            None => Head {
                name: ty.name().unwrap_or_default().to_owned(),
                id: ty.id().unwrap_or_default().to_owned(),
                defined_in: String::new(),
                version: "1.0".to_owned(),
            },
        };
        with_head!(head, ExceptionDescription { r#type: ty.clone() })
    }

    pub(super) fn exceptions(&self, of: &Signature) -> Vec<CORBA::ExceptionDescription> {
        of.raises.iter().map(|ty| self.exception(ty)).collect()
    }

    pub(super) fn parameters(&self, of: &Signature) -> Failable<Vec<CORBA::ParameterDescription>> {
        let described = |parameter: &Parameter| {
            Ok(CORBA::ParameterDescription {
                name: parameter.name.clone(),
                r#type: parameter.ty.clone(),
                type_def: self.type_def(&parameter.ty)?,
                mode: match parameter.mode {
                    Mode::In => ParameterMode::PARAM_IN,
                    Mode::Out => ParameterMode::PARAM_OUT,
                    Mode::InOut => ParameterMode::PARAM_INOUT,
                },
            })
        };
        of.parameters.iter().map(described).collect()
    }

    fn operation(&self, of: &Definition, signature: &Signature) -> Failable<CORBA::OperationDescription> {
        Ok(with_head!(
            self.head(of),
            OperationDescription {
                result: signature.result.clone(),
                mode: operation_mode(signature),
                contexts: signature.contexts.clone(),
                parameters: self.parameters(signature)?,
                exceptions: self.exceptions(signature),
            }
        ))
    }

    fn attribute(&self, of: &Definition, it: &AttributeContent) -> CORBA::AttributeDescription {
        let (r#type, mode) = (it.get.result.clone(), attribute_mode(it));
        with_head!(self.head(of), AttributeDescription { r#type, mode })
    }

    pub(super) fn ext_attribute(
        &self,
        of: &Definition,
        it: &AttributeContent,
    ) -> CORBA::ExtAttributeDescription {
        with_head!(
            self.head(of),
            ExtAttributeDescription {
                r#type: it.get.result.clone(),
                mode: attribute_mode(it),
                get_exceptions: self.exceptions(&it.get),
                put_exceptions: it.set.as_ref().map(|set| self.exceptions(set)).unwrap_or_default(),
            }
        )
    }

    /// The operations and attributes of an interface or a value: its own, then those that it inherits.
    fn features(&self, of: &Definition) -> impl Iterator<Item = &Definition> {
        let ancestors = self.repository.ancestors(&of.id);
        let places = ancestors.into_iter().filter_map(|id| self.repository.definition(&id));
        let places = std::iter::once(of.contents.clone()).chain(places.map(|it| it.contents.clone()));
        places.flatten().map(|place| self.repository.at(place))
    }

    fn all_operations(&self, of: &Definition) -> Failable<Vec<CORBA::OperationDescription>> {
        let operations = self.features(of).filter_map(|feature| match &feature.content {
            Content::Operation(it) => Some(self.operation(feature, &it.signature)),
            _ => None,
        });
        operations.collect()
    }

    fn all_attributes<T>(
        &self,
        of: &Definition,
        describe: impl Fn(&Self, &Definition, &AttributeContent) -> T,
    ) -> Vec<T> {
        let attributes = self.features(of).filter_map(|feature| match &feature.content {
            Content::Attribute(it) => Some(describe(self, feature, it)),
            _ => None,
        });
        attributes.collect()
    }

    pub(super) fn interface(
        &self,
        of: &Definition,
        bases: &[String],
    ) -> Failable<CORBA::interface_def::FullInterfaceDescription> {
        let Head { name, id, defined_in, version } = self.head(of);
        Ok(CORBA::interface_def::FullInterfaceDescription {
            name,
            id,
            defined_in,
            version,
            operations: self.all_operations(of)?,
            attributes: self.all_attributes(of, Self::attribute),
            base_interfaces: bases.to_vec(),
            r#type: of.type_code().cloned().unwrap_or_default(),
        })
    }

    pub(super) fn ext_interface(
        &self,
        of: &Definition,
        bases: &[String],
    ) -> Failable<CORBA::interface_attr_extension::ExtFullInterfaceDescription> {
        let Head { name, id, defined_in, version } = self.head(of);
        Ok(CORBA::interface_attr_extension::ExtFullInterfaceDescription {
            name,
            id,
            defined_in,
            version,
            operations: self.all_operations(of)?,
            attributes: self.all_attributes(of, Self::ext_attribute),
            base_interfaces: bases.to_vec(),
            r#type: of.type_code().cloned().unwrap_or_default(),
        })
    }

    pub(super) fn value(
        &self,
        of: &Definition,
        it: &ValueContent,
    ) -> Failable<CORBA::value_def::FullValueDescription> {
        let Head { name, id, defined_in, version } = self.head(of);
        let members = 0..it.ty.member_count().unwrap_or(0);
        Ok(CORBA::value_def::FullValueDescription {
            name,
            id,
            is_abstract: it.ty.type_modifier() == Some(2),
            is_custom: it.ty.type_modifier() == Some(1),
            defined_in,
            version,
            operations: self.all_operations(of)?,
            attributes: self.all_attributes(of, Self::attribute),
            members: members.map(|index| self.value_member(of, index)).collect::<Failable<_>>()?,
            initializers: self.initializers(it)?,
            supported_interfaces: it.supports.clone(),
            abstract_base_values: it.abstract_bases.clone(),
            is_truncatable: it.ty.type_modifier() == Some(3),
            base_value: it.base.clone().unwrap_or_default(),
            r#type: it.ty.clone(),
        })
    }

    pub(super) fn initializers(&self, it: &ValueContent) -> Failable<Vec<CORBA::Initializer>> {
        let described = |initializer: &Arc<Signature>| {
            let members = initializer.parameters.iter().map(|it| self.member(&it.name, it.ty.clone()));
            Ok(CORBA::Initializer {
                members: members.collect::<Failable<_>>()?,
                name: initializer.operation.clone(),
            })
        };
        it.initializers.iter().map(described).collect()
    }

    fn value_member(&self, of: &Definition, index: usize) -> Failable<CORBA::ValueMember> {
        let ty = of.type_code().cloned().unwrap_or_default();
        let r#type = ty.member_type(index).unwrap_or_default();
        let name = ty.member_name(index).unwrap_or_default().to_owned();
        Ok(CORBA::ValueMember {
            id: value_member_id(of, &name),
            name,
            defined_in: of.id.clone(),
            version: of.version.clone(),
            type_def: self.type_def(&r#type)?,
            r#type,
            access: ty.member_visibility(index).unwrap_or(CORBA::PUBLIC_MEMBER),
        })
    }

    fn member(&self, name: &str, r#type: TypeCode) -> Failable<CORBA::StructMember> {
        let type_def = self.type_def(&r#type)?;
        Ok(CORBA::StructMember { name: name.to_owned(), r#type, type_def })
    }

    /// Of a struct or an exception.
    pub(super) fn members(&self, ty: &TypeCode) -> Failable<Vec<CORBA::StructMember>> {
        let members = 0..ty.member_count().unwrap_or(0);
        let described = |index| {
            self.member(ty.member_name(index).unwrap_or_default(), ty.member_type(index).unwrap_or_default())
        };
        members.map(described).collect()
    }

    pub(super) fn union_members(&self, ty: &TypeCode) -> Failable<Vec<CORBA::UnionMember>> {
        let switched = ty.discriminator_type().unwrap_or_default();
        let members = 0..ty.member_count().unwrap_or(0);
        let described = |index: usize| {
            let r#type = ty.member_type(index).unwrap_or_default();
            let label = match ty.default_index() == i32::try_from(index).ok() {
                true => any(&0_u8),
                false => {
                    let label = Label(ty.member_label(index).unwrap_or(0), switched.unaliased().kind());
                    Any::with_type_code(switched.clone(), &label).unwrap_or_default()
                }
            };
            Ok(CORBA::UnionMember {
                name: ty.member_name(index).unwrap_or_default().to_owned(),
                label,
                type_def: self.type_def(&r#type)?,
                r#type,
            })
        };
        members.map(described).collect()
    }
}

/// A union's label, of a discriminator of this kind.
struct Label(i64, TCKind);

impl Encode for Label {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        write_label(self.0, self.1, to)
    }
}

pub(super) fn operation_mode(signature: &Signature) -> OperationMode {
    if signature.oneway { OperationMode::OP_ONEWAY } else { OperationMode::OP_NORMAL }
}

pub(super) fn attribute_mode(it: &AttributeContent) -> AttributeMode {
    if it.set.is_some() { AttributeMode::ATTR_NORMAL } else { AttributeMode::ATTR_READONLY }
}

/// A member has an id as any definition has: `IDL:Account/owner:1.0`.
pub(super) fn value_member_id(of: &Definition, name: &str) -> String {
    match of.id.strip_prefix("IDL:").and_then(|id| id.rsplit_once(':')) {
        Some((path, version)) => format!("IDL:{path}/{name}:{version}"),
        None => format!("{}/{name}", of.id),
    }
}
