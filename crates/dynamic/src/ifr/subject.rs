//! What an object of the repository stands for, and the object id that says it.
//!
//! | object id | what |
//! |---|---|
//! | empty | the repository |
//! | `d` and a repository id | a definition |
//! | `m`, a number, a space and a repository id | a member of a valuetype |
//! | `t` and a type's name in IDL | a type without a definition |
//!
//! An id says all: the repository keeps nothing for each object, and references outlive its process.

use zorb_cdr::{TCKind, TypeCode};
use zorb_orb::Interface as _;
use zorb_orb::skeleton::InterfaceInfo;

use super::CORBA::{self, DefinitionKind, PrimitiveKind};
use crate::repository::{Content, Definition, Place, Repository};

#[derive(Clone, Debug)]
pub(super) enum Subject {
    Repository,
    Definition(Place),
    /// A member of the valuetype, by its position.
    ValueMember(Place, usize),
    /// A basic type, or one that is made of others.
    Type(TypeCode),
}

impl Subject {
    pub(super) fn of_id(id: &str, repository: &Repository) -> Option<Subject> {
        if id.is_empty() {
            return Some(Subject::Repository);
        }
        match id.split_at_checked(1)? {
            ("d", id) => repository.place_of(id).map(Subject::Definition),
            ("m", rest) => {
                let (index, id) = rest.split_once(' ')?;
                // One spelling for each number: an id of another is nothing's.
                let spelt = index;
                let (place, index) = (repository.place_of(id)?, index.parse::<usize>().ok()?);
                if index.to_string() != spelt {
                    return None;
                }
                let members = repository.at(place).type_code()?.member_count()?;
                (index < members && repository.at(place).is_value())
                    .then_some(Subject::ValueMember(place, index))
            }
            ("t", name) => {
                let ty = repository.type_named(name).ok()?;
                (Self::of_type(&ty, repository)?.id(repository) == id).then_some(Subject::Type(ty))
            }
            _ => None,
        }
    }

    pub(super) fn id(&self, repository: &Repository) -> String {
        match self {
            Subject::Repository => String::new(),
            Subject::Definition(place) => format!("d{}", repository.at(*place).id),
            Subject::ValueMember(place, index) => format!("m{index} {}", repository.at(*place).id),
            Subject::Type(ty) => format!("t{}", repository.type_name(ty)),
        }
    }

    /// What stands for a type; `None` for a named one that is not known, and what has no name in IDL.
    pub(super) fn of_type(ty: &TypeCode, repository: &Repository) -> Option<Subject> {
        if primitive(ty).is_some() {
            return Some(Subject::Type(ty.clone()));
        }
        match ty.kind() {
            TCKind::Sequence | TCKind::Array => {
                let mut element = ty.content_type()?;
                while let TCKind::Sequence | TCKind::Array = element.kind() {
                    element = element.content_type()?;
                }
                Self::of_type(&element, repository).map(|_| Subject::Type(ty.clone()))
            }
            TCKind::String | TCKind::WString | TCKind::Fixed => Some(Subject::Type(ty.clone())),
            _ => repository.place_of(ty.id()?).map(Subject::Definition),
        }
    }

    pub(super) fn definition<'r>(&self, repository: &'r Repository) -> Option<&'r Definition> {
        match self {
            Subject::Definition(place) => Some(repository.at(*place)),
            _ => None,
        }
    }

    pub(super) fn kind(&self, repository: &Repository) -> DefinitionKind {
        match self {
            Subject::Repository => DefinitionKind::dk_Repository,
            Subject::ValueMember(..) => DefinitionKind::dk_ValueMember,
            Subject::Type(ty) if primitive(ty).is_some() => DefinitionKind::dk_Primitive,
            Subject::Type(ty) => match ty.kind() {
                TCKind::String => DefinitionKind::dk_String,
                TCKind::WString => DefinitionKind::dk_Wstring,
                TCKind::Fixed => DefinitionKind::dk_Fixed,
                TCKind::Array => DefinitionKind::dk_Array,
                _ => DefinitionKind::dk_Sequence,
            },
            Subject::Definition(place) => kind_of(repository.at(*place)),
        }
    }

    /// The interface of its object.
    pub(super) fn info(&self, repository: &Repository) -> &'static InterfaceInfo {
        match self.kind(repository) {
            DefinitionKind::dk_Repository => CORBA::Repository::INFO,
            DefinitionKind::dk_Module => CORBA::ModuleDef::INFO,
            DefinitionKind::dk_Constant => CORBA::ConstantDef::INFO,
            DefinitionKind::dk_Struct => CORBA::StructDef::INFO,
            DefinitionKind::dk_Union => CORBA::UnionDef::INFO,
            DefinitionKind::dk_Enum => CORBA::EnumDef::INFO,
            DefinitionKind::dk_Alias => CORBA::AliasDef::INFO,
            DefinitionKind::dk_Native => CORBA::NativeDef::INFO,
            DefinitionKind::dk_ValueBox => CORBA::ValueBoxDef::INFO,
            DefinitionKind::dk_Exception => CORBA::ExceptionDef::INFO,
            DefinitionKind::dk_Attribute => CORBA::ExtAttributeDef::INFO,
            DefinitionKind::dk_Operation => CORBA::OperationDef::INFO,
            DefinitionKind::dk_Interface => CORBA::ExtInterfaceDef::INFO,
            DefinitionKind::dk_AbstractInterface => CORBA::ExtAbstractInterfaceDef::INFO,
            DefinitionKind::dk_LocalInterface => CORBA::ExtLocalInterfaceDef::INFO,
            DefinitionKind::dk_Value => CORBA::ValueDef::INFO,
            DefinitionKind::dk_ValueMember => CORBA::ValueMemberDef::INFO,
            DefinitionKind::dk_Primitive => CORBA::PrimitiveDef::INFO,
            DefinitionKind::dk_String => CORBA::StringDef::INFO,
            DefinitionKind::dk_Wstring => CORBA::WstringDef::INFO,
            DefinitionKind::dk_Fixed => CORBA::FixedDef::INFO,
            DefinitionKind::dk_Sequence => CORBA::SequenceDef::INFO,
            DefinitionKind::dk_Array => CORBA::ArrayDef::INFO,
            _ => CORBA::IRObject::INFO,
        }
    }

    pub(super) fn is_a(&self, repository: &Repository, interface: &str) -> bool {
        let info = self.info(repository);
        interface == info.id
            || info.ancestors.contains(&interface)
            || interface == "IDL:omg.org/CORBA/Object:1.0"
    }

    pub(super) fn is_container(&self, repository: &Repository) -> bool {
        self.is_a(repository, CORBA::Container::INFO.id)
    }

    /// Its TypeCode, if it is a type.
    pub(super) fn type_code(&self, repository: &Repository) -> Option<TypeCode> {
        match self {
            Subject::Repository => None,
            Subject::Type(ty) => Some(ty.clone()),
            Subject::ValueMember(place, index) => repository.at(*place).type_code()?.member_type(*index),
            Subject::Definition(place) => match &repository.at(*place).content {
                Content::Constant { value } => Some(value.type_code().clone()),
                Content::Attribute(attribute) => Some(attribute.get.result.clone()),
                _ => repository.at(*place).type_code().cloned(),
            },
        }
    }

    /// What it contains, in order; inherited definitions behind its own.
    pub(super) fn contents(&self, repository: &Repository, exclude_inherited: bool) -> Vec<Subject> {
        let (place, definition) = match self {
            Subject::Repository => {
                return repository.top_level().iter().copied().map(Subject::Definition).collect();
            }
            Subject::Definition(place) => (*place, repository.at(*place)),
            _ => return Vec::new(),
        };
        let mut found: Vec<Subject> = definition.contents.iter().copied().map(Subject::Definition).collect();
        if definition.is_value() {
            let members = definition.type_code().and_then(TypeCode::member_count).unwrap_or(0);
            found.extend((0..members).map(|index| Subject::ValueMember(place, index)));
        }
        if !exclude_inherited {
            for ancestor in repository.ancestors(&definition.id) {
                // What a value supports it does not inherit.
                let inherited = repository.place_of(&ancestor);
                let inherited = inherited.filter(|it| repository.at(*it).is_value() == definition.is_value());
                found.extend(
                    inherited.iter().flat_map(|it| Subject::Definition(*it).contents(repository, true)),
                );
            }
        }
        found
    }
}

/// What stands for something has an id that stands for the same, and is of an interface.
pub(crate) fn check_object_id(id: &str, repository: &Repository) {
    let Some(subject) = Subject::of_id(id, repository) else { return };
    assert!(subject.is_a(repository, CORBA::IRObject::INFO.id), "{id:?}");
    assert_eq!(subject.id(repository), id);
    for inner in subject.contents(repository, false) {
        let inner = inner.id(repository);
        assert!(Subject::of_id(&inner, repository).is_some(), "{inner:?} in {id:?} is nothing");
    }
}

impl Definition {
    fn is_value(&self) -> bool {
        matches!(self.content, Content::Value(_))
    }
}

fn kind_of(definition: &Definition) -> DefinitionKind {
    let kind = definition.type_code().map_or(TCKind::Null, TypeCode::kind);
    match &definition.content {
        Content::Module => DefinitionKind::dk_Module,
        Content::Constant { .. } => DefinitionKind::dk_Constant,
        Content::Operation(_) => DefinitionKind::dk_Operation,
        Content::Attribute(_) => DefinitionKind::dk_Attribute,
        Content::Value(_) => DefinitionKind::dk_Value,
        Content::Interface(_) => match kind {
            TCKind::AbstractInterface => DefinitionKind::dk_AbstractInterface,
            TCKind::LocalInterface => DefinitionKind::dk_LocalInterface,
            _ => DefinitionKind::dk_Interface,
        },
        Content::Type(_) => match kind {
            TCKind::Struct => DefinitionKind::dk_Struct,
            TCKind::Union => DefinitionKind::dk_Union,
            TCKind::Enum => DefinitionKind::dk_Enum,
            TCKind::Except => DefinitionKind::dk_Exception,
            TCKind::ValueBox => DefinitionKind::dk_ValueBox,
            TCKind::Native => DefinitionKind::dk_Native,
            _ => DefinitionKind::dk_Alias,
        },
    }
}

/// The kinds that have numbers as primitives, in the order of those numbers.
const PRIMITIVES: &[(PrimitiveKind, &str)] = &[
    (PrimitiveKind::pk_null, "null"),
    (PrimitiveKind::pk_void, "void"),
    (PrimitiveKind::pk_short, "short"),
    (PrimitiveKind::pk_long, "long"),
    (PrimitiveKind::pk_ushort, "unsigned short"),
    (PrimitiveKind::pk_ulong, "unsigned long"),
    (PrimitiveKind::pk_float, "float"),
    (PrimitiveKind::pk_double, "double"),
    (PrimitiveKind::pk_boolean, "boolean"),
    (PrimitiveKind::pk_char, "char"),
    (PrimitiveKind::pk_octet, "octet"),
    (PrimitiveKind::pk_any, "any"),
    (PrimitiveKind::pk_TypeCode, "CORBA::TypeCode"),
    (PrimitiveKind::pk_Principal, "Principal"),
    (PrimitiveKind::pk_string, "string"),
    (PrimitiveKind::pk_objref, "Object"),
    (PrimitiveKind::pk_longlong, "long long"),
    (PrimitiveKind::pk_ulonglong, "unsigned long long"),
    (PrimitiveKind::pk_longdouble, "long double"),
    (PrimitiveKind::pk_wchar, "wchar"),
    (PrimitiveKind::pk_wstring, "wstring"),
    (PrimitiveKind::pk_value_base, "ValueBase"),
];

/// Which primitive a type is.
pub(super) fn primitive(ty: &TypeCode) -> Option<PrimitiveKind> {
    let is_named = ty
        .id()
        .is_some_and(|id| !matches!(id, "IDL:omg.org/CORBA/Object:1.0" | "IDL:omg.org/CORBA/ValueBase:1.0"));
    if is_named || matches!(ty.kind(), TCKind::Sequence | TCKind::Array | TCKind::Fixed) {
        return None;
    }
    let name = Repository::default().type_name(ty);
    PRIMITIVES.iter().find(|(_, of)| *of == name).map(|(kind, _)| *kind)
}

/// The type of a primitive.
pub(super) fn primitive_type(kind: PrimitiveKind) -> TypeCode {
    let name = PRIMITIVES.iter().find(|(of, _)| *of == kind).map_or("null", |(_, name)| *name);
    Repository::default().type_named(name).unwrap_or_default()
}
