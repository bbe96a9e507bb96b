//! The repository's objects: one servant for each request, which knows what the object stands for.

use std::sync::Arc;

use zorb_cdr::{Decode, Encode, EncodeError, Encoder, TCKind, TypeCode};
use zorb_orb::dynamic::{DynamicRequest, DynamicServant, dynamic_servant};
use zorb_orb::poa::{Cookie, Declined, ObjectId, Poa, PoaError, PoaPolicies, ServantLocator};
use zorb_orb::server::request::ServerRequest;
use zorb_orb::skeleton::Servant;
use zorb_orb::{ObjectRef, Orb, SystemException};

use super::CORBA::{self, DefinitionKind, PrimitiveKind};
use super::describe::{Describing, attribute_mode, operation_mode, value_member_id};
use super::own::{self, Served};
use super::subject::{Subject, primitive, primitive_type};
use crate::repository::{Content, Place, Repository};

/// The repository's name: as an initial reference, as a well-known key, and of its object adapter.
pub const NAME: &str = "InterfaceRepository";

/// Serves a repository with this ORB, and gives the reference to it.
///
/// It becomes the ORB's initial reference of the name [`NAME`], so that the ORB answers `_interface` of its objects by it, and is
/// reached as `corbaloc::host:port/InterfaceRepository`. References to its objects last as long as the repository ids do.
/// Its own objects answer `_interface`, too: by definitions that are none of its contents.
///
/// # Errors
/// There is an adapter of that name under the root adapter; the ORB cannot listen, or has been shut down.
pub fn serve(orb: &Orb, repository: Arc<Repository>) -> Result<ObjectRef, PoaError> {
    let policies = PoaPolicies::new().persistent().user_ids().non_retain().servant_manager();
    let poa = orb.root_poa()?.create_child(NAME, policies.clone())?;
    poa.set_servant_locator(Arc::new(Locator { served: Served::Given(repository.clone()) }))?;
    let own = poa.create_child_with(own::NAME, policies, &poa.manager())?;
    own.set_servant_locator(Arc::new(Locator { served: Served::Own }))?;
    poa.manager().activate()?;
    let served = poa.create_reference_of("", Subject::Repository.info(&repository).id)?;
    orb.register_initial_reference(NAME, &served);
    orb.bind_key(NAME, &served);
    Ok(served)
}

struct Locator {
    served: Served,
}

impl ServantLocator for Locator {
    fn preinvoke(&self, poa: &Poa, id: &ObjectId, _: &str) -> Result<(Servant, Cookie), Declined> {
        let repository = self.served.repository()?;
        let subject = id.as_text().and_then(|id| Subject::of_id(id, &repository));
        let subject = subject.ok_or_else(|| {
            SystemException::ObjectNotExist(format!("the interface repository has nothing under {id:?}"))
        })?;
        let poa = poa.clone();
        let servant = dynamic_servant(Arc::new(Object { repository, poa, subject }));
        Ok((servant, Box::new(())))
    }
}

struct Object {
    repository: Arc<Repository>,
    poa: Poa,
    subject: Subject,
}

/// What an operation gives.
type Answer = Result<Box<dyn Encode>, SystemException>;

fn answer<T: Encode + 'static>(value: T) -> Answer {
    Ok(Box::new(value))
}

/// References as they are sent.
struct Reference(Option<ObjectRef>);

impl Encode for Reference {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        ObjectRef::encode(self.0.as_ref(), to)
    }
}

struct References(Vec<ObjectRef>);

impl Encode for References {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_length(self.0.len())?;
        self.0.iter().try_for_each(|reference| ObjectRef::encode(Some(reference), to))
    }
}

impl DynamicServant for Object {
    fn repository_id(&self) -> &str {
        self.subject.info(&self.repository).id
    }

    fn is_a(&self, id: &str) -> bool {
        self.subject.is_a(&self.repository, id)
    }

    fn invoke(&self, request: DynamicRequest) {
        let operation = request.operation().to_owned();
        let request = request.into_inner();
        // What changes a repository is refused, whatever its arguments are.
        let writes = ["_set_", "create_"].iter().any(|start| operation.starts_with(start));
        if writes || matches!(&*operation, "destroy" | "move") {
            let text = format!("{operation}: this interface repository is read-only");
            return request.system_exception(SystemException::NoPermission(text));
        }
        self.with_arguments(&operation, request);
    }
}

/// Answers by what the arguments give.
fn serve_with<A: Decode>(request: ServerRequest, serve: impl FnOnce(A) -> Answer) {
    if let Some((request, arguments)) = request.arguments(A::decode) {
        finish(request, serve(arguments));
    }
}

fn finish(request: ServerRequest, answer: Answer) {
    match answer {
        Ok(value) => request.reply(|to| value.encode(to)),
        Err(exception) => request.system_exception(exception),
    }
}

impl Object {
    fn describing(&self) -> Describing<'_> {
        Describing { repository: &self.repository, poa: &self.poa }
    }

    fn with_arguments(&self, operation: &str, request: ServerRequest) {
        let is_container = self.subject.is_container(&self.repository);
        let is_repository = matches!(self.subject, Subject::Repository);
        match operation {
            "lookup" if is_container => serve_with(request, |name: String| self.lookup(&name)),
            "contents" if is_container => serve_with(request, |(limit, exclude)| {
                let found = self.subject.contents(&self.repository, exclude);
                self.references(found.into_iter().filter(|it| self.is_of(it, limit)))
            }),
            "lookup_name" if is_container => {
                serve_with(request, |(name, levels, limit, exclude): (String, i32, DefinitionKind, bool)| {
                    let mut found = Vec::new();
                    self.search(&self.subject, &name, levels, exclude, &mut found);
                    self.references(found.into_iter().filter(|it| self.is_of(it, limit)))
                })
            }
            "describe_contents" if is_container => {
                serve_with(request, |(limit, exclude, most)| self.describe_contents(limit, exclude, most))
            }
            "lookup_id" if is_repository => {
                serve_with(request, |id: String| match self.repository.place_of(&id) {
                    Some(place) => self.maybe(Some(Subject::Definition(place))),
                    None => self.own_interface(&id),
                })
            }
            "get_canonical_typecode" if is_repository => serve_with(request, |ty: TypeCode| {
                let known = ty.id().and_then(|id| self.repository.definition(id)?.type_code());
                answer(known.filter(|known| known.equivalent(&ty)).unwrap_or(&ty).clone())
            }),
            "get_primitive" if is_repository => serve_with(request, |kind: PrimitiveKind| {
                self.maybe(Some(Subject::Type(primitive_type(kind))))
            }),
            "is_a" if self.is_a("IDL:omg.org/CORBA/IDLType:1.0") && is_container => {
                serve_with(request, |other: String| {
                    let id = self.subject.definition(&self.repository).map(|it| &*it.id).unwrap_or_default();
                    answer(self.repository.is_a(id, &other))
                })
            }
            _ => match self.plain(operation) {
                Some(answer) => finish(request, answer),
                None => request.unknown_operation(),
            },
        }
    }

    fn maybe(&self, subject: Option<Subject>) -> Answer {
        let reference = subject.map(|subject| self.describing().reference(&subject));
        answer(Reference(reference.transpose()?))
    }

    /// What describes objects as this one is; nil for ids of all else.
    fn own_interface(&self, id: &str) -> Answer {
        let repository = own::repository()?;
        let place = repository.place_of(id).filter(|_| own::has_interface(&repository, id));
        // It is not there where this is the own repository already, which has been asked.
        let (Some(place), Ok(poa)) = (place, self.poa.find_child(own::NAME, false)) else {
            return self.maybe(None);
        };
        let describing = Describing { repository: &repository, poa: &poa };
        answer(Reference(Some(describing.reference(&Subject::Definition(place))?)))
    }

    fn references(&self, subjects: impl Iterator<Item = Subject>) -> Answer {
        let describing = self.describing();
        let references = subjects.map(|subject| describing.reference(&subject));
        answer(References(references.collect::<Result<_, SystemException>>()?))
    }

    /// Whether a list that is limited to a kind has it.
    fn is_of(&self, subject: &Subject, limit: DefinitionKind) -> bool {
        match limit {
            DefinitionKind::dk_all => true,
            DefinitionKind::dk_Typedef => subject.is_a(&self.repository, "IDL:omg.org/CORBA/TypedefDef:1.0"),
            limit => subject.kind(&self.repository) == limit,
        }
    }

    /// By a scoped name from here, or from the repository if it begins with `::`.
    fn lookup(&self, name: &str) -> Answer {
        let (mut at, name) = match name.strip_prefix("::") {
            Some(name) => (Subject::Repository, name),
            None => (self.subject.clone(), name),
        };
        for part in name.split("::") {
            let found = at.contents(&self.repository, false);
            match found.into_iter().find(|it| self.name(it).as_deref() == Some(part)) {
                Some(found) => at = found,
                None => return answer(Reference(None)),
            }
        }
        self.maybe(Some(at))
    }

    fn name(&self, subject: &Subject) -> Option<String> {
        match subject {
            Subject::Definition(place) => Some(self.repository.at(*place).name.clone()),
            Subject::ValueMember(place, index) => {
                Some(self.repository.at(*place).type_code()?.member_name(*index)?.to_owned())
            }
            _ => None,
        }
    }

    /// All of this name, so many levels deep; -1: in all.
    fn search(&self, at: &Subject, name: &str, levels: i32, exclude_inherited: bool, to: &mut Vec<Subject>) {
        if levels == 0 {
            return;
        }
        for subject in at.contents(&self.repository, exclude_inherited) {
            if levels != 1 && subject.is_container(&self.repository) {
                self.search(&subject, name, levels.saturating_sub(1), true, to);
            }
            if self.name(&subject).as_deref() == Some(name) {
                to.push(subject);
            }
        }
    }

    fn describe_contents(&self, limit: DefinitionKind, exclude_inherited: bool, most: i32) -> Answer {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let found = self.subject.contents(&self.repository, exclude_inherited);
        let found = found.iter().filter(|it| self.is_of(it, limit)).take(most);
        let describing = self.describing();
        let described = found.map(|subject| {
            let (kind, value) = describing.describe(subject)?;
            Ok(CORBA::container::Description { contained_object: describing.typed(subject)?, kind, value })
        });
        answer(described.collect::<Result<Vec<_>, SystemException>>()?)
    }

    /// Operations without arguments: most are attributes.
    fn plain(&self, operation: &str) -> Option<Answer> {
        if operation == "_get_def_kind" {
            return Some(answer(self.subject.kind(&self.repository)));
        }
        if operation == "_get_type"
            && let Some(ty) = self.subject.type_code(&self.repository)
        {
            return Some(answer(ty));
        }
        match &self.subject {
            Subject::Repository => None,
            Subject::Definition(place) => {
                self.contained(*place, operation).or_else(|| self.own(*place, operation))
            }
            Subject::ValueMember(place, index) => self.value_member(*place, *index, operation),
            Subject::Type(ty) => self.anonymous(ty, operation),
        }
    }

    /// What all contained definitions have.
    fn contained(&self, place: Place, operation: &str) -> Option<Answer> {
        let of = self.repository.at(place);
        Some(match operation {
            "_get_id" => answer(of.id.clone()),
            "_get_name" => answer(of.name.clone()),
            "_get_version" => answer(of.version.clone()),
            "_get_absolute_name" => answer(format!("::{}", of.scoped_name)),
            "_get_containing_repository" => self.maybe(Some(Subject::Repository)),
            "_get_defined_in" => self.maybe(Some(of.parent.map_or(Subject::Repository, Subject::Definition))),
            "describe" => self.describe(),
            _ => return None,
        })
    }

    fn describe(&self) -> Answer {
        let (kind, value) = self.describing().describe(&self.subject)?;
        answer(CORBA::contained::Description { kind, value })
    }

    /// What definitions of its kind have.
    fn own(&self, place: Place, operation: &str) -> Option<Answer> {
        let of = self.repository.at(place);
        let describing = self.describing();
        Some(match (&of.content, operation) {
            (Content::Constant { value }, "_get_type_def") => self.type_def(value.type_code()),
            (Content::Constant { value }, "_get_value") => answer(value.clone()),
            (Content::Type(ty), _) => return self.ty(ty, operation),
            (Content::Attribute(it), "_get_type_def") => self.type_def(&it.get.result),
            (Content::Attribute(it), "_get_mode") => answer(attribute_mode(it)),
            (Content::Attribute(it), "_get_get_exceptions") => answer(describing.exceptions(&it.get)),
            (Content::Attribute(it), "_get_set_exceptions") => {
                answer(it.set.as_ref().map(|set| describing.exceptions(set)).unwrap_or_default())
            }
            (Content::Attribute(it), "describe_attribute") => answer(describing.ext_attribute(of, it)),
            (Content::Operation(it), "_get_result") => answer(it.signature.result.clone()),
            (Content::Operation(it), "_get_result_def") => self.type_def(&it.signature.result),
            (Content::Operation(it), "_get_params") => describing.parameters(&it.signature).and_then(answer),
            (Content::Operation(it), "_get_mode") => answer(operation_mode(&it.signature)),
            (Content::Operation(it), "_get_contexts") => answer(it.signature.contexts.clone()),
            (Content::Operation(it), "_get_exceptions") => {
                let raised = it.signature.raises.iter().filter_map(|ty| ty.id());
                let raised: Vec<String> = raised.map(str::to_owned).collect();
                describing.of_ids(&raised).map(References).and_then(answer)
            }
            (Content::Interface(it), "_get_base_interfaces") => {
                describing.of_ids(&it.bases).map(References).and_then(answer)
            }
            (Content::Interface(it), "describe_interface") => {
                describing.interface(of, &it.bases).and_then(answer)
            }
            (Content::Interface(it), "describe_ext_interface") => {
                describing.ext_interface(of, &it.bases).and_then(answer)
            }
            (Content::Value(it), "_get_supported_interfaces") => {
                describing.of_ids(&it.supports).map(References).and_then(answer)
            }
            (Content::Value(it), "_get_initializers") => describing.initializers(it).and_then(answer),
            (Content::Value(it), "_get_base_value") => {
                let base = it.base.as_deref().and_then(|id| self.repository.place_of(id));
                self.maybe(base.map(Subject::Definition))
            }
            (Content::Value(it), "_get_abstract_base_values") => {
                describing.of_ids(&it.abstract_bases).map(References).and_then(answer)
            }
            (Content::Value(it), "_get_is_custom") => answer(it.ty.type_modifier() == Some(1)),
            (Content::Value(it), "_get_is_abstract") => answer(it.ty.type_modifier() == Some(2)),
            (Content::Value(it), "_get_is_truncatable") => answer(it.ty.type_modifier() == Some(3)),
            (Content::Value(it), "describe_value") => describing.value(of, it).and_then(answer),
            _ => return None,
        })
    }

    /// What a type's TypeCode tells.
    fn ty(&self, ty: &TypeCode, operation: &str) -> Option<Answer> {
        let describing = self.describing();
        Some(match (ty.kind(), operation) {
            (TCKind::Struct | TCKind::Except, "_get_members") => describing.members(ty).and_then(answer),
            (TCKind::Union, "_get_members") => describing.union_members(ty).and_then(answer),
            (TCKind::Union, "_get_discriminator_type") => answer(ty.discriminator_type().unwrap_or_default()),
            (TCKind::Union, "_get_discriminator_type_def") => {
                self.type_def(&ty.discriminator_type().unwrap_or_default())
            }
            (TCKind::Enum, "_get_members") => {
                let names = (0..ty.member_count().unwrap_or(0)).filter_map(|index| ty.member_name(index));
                answer(names.map(str::to_owned).collect::<Vec<String>>())
            }
            (TCKind::Alias | TCKind::ValueBox, "_get_original_type_def") => {
                self.type_def(&ty.content_type().unwrap_or_default())
            }
            _ => return None,
        })
    }

    fn type_def(&self, ty: &TypeCode) -> Answer {
        self.maybe(Subject::of_type(ty, &self.repository))
    }

    fn value_member(&self, place: Place, index: usize, operation: &str) -> Option<Answer> {
        let of = self.repository.at(place);
        let ty = of.type_code()?;
        let name = ty.member_name(index)?;
        Some(match operation {
            "_get_id" => answer(value_member_id(of, name)),
            "_get_name" => answer(name.to_owned()),
            "_get_version" => answer(of.version.clone()),
            "_get_absolute_name" => answer(format!("::{}::{name}", of.scoped_name)),
            "_get_containing_repository" => self.maybe(Some(Subject::Repository)),
            "_get_defined_in" => self.maybe(Some(Subject::Definition(place))),
            "describe" => self.describe(),
            "_get_type_def" => self.type_def(&ty.member_type(index)?),
            "_get_access" => answer(ty.member_visibility(index)?),
            _ => return None,
        })
    }

    /// What types without a definition have.
    fn anonymous(&self, ty: &TypeCode, operation: &str) -> Option<Answer> {
        if let Some(kind) = primitive(ty) {
            return (operation == "_get_kind").then(|| answer(kind));
        }
        Some(match (ty.kind(), operation) {
            (TCKind::String | TCKind::WString | TCKind::Sequence, "_get_bound") => answer(ty.length()?),
            (TCKind::Array, "_get_length") => answer(ty.length()?),
            (TCKind::Sequence | TCKind::Array, "_get_element_type") => answer(ty.content_type()?),
            (TCKind::Sequence | TCKind::Array, "_get_element_type_def") => self.type_def(&ty.content_type()?),
            (TCKind::Fixed, "_get_digits") => answer(ty.fixed_digits()?),
            (TCKind::Fixed, "_get_scale") => answer(ty.fixed_scale()?),
            _ => return None,
        })
    }
}
