//! Where an object's interface is learnt: IDL, an interface repository, or the object's server.

use std::collections::HashMap;
use std::sync::Mutex;

use zorb::{Interface as _, Kind, ObjectRef, Orb, SystemException};
use zorb_dynamic::{Interface, Repository, ifr};

use super::{Arguments, reference};
use crate::failure::Failure;
use crate::repository;

/// What was learnt.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// The types that anys can name.
    pub(super) repository: Repository,
    /// What can be called.
    pub(super) interface: Interface,
    /// The interface repository that it was learnt from, which may know more types.
    pub(super) source: Option<ObjectRef>,
}

impl Learnt {
    /// Lets the ORB know the valuetypes: those of the IDL, or those that the interface repository has when a value turns up.
    pub(super) fn describe_values(&self, orb: &Orb) {
        let (repository, source) = (self.repository.clone(), self.source.clone());
        let asked = Mutex::new(HashMap::new());
        orb.describe_values(move |name| {
            if let Some(definition) = repository.named(name) {
                return definition.type_code().cloned();
            }
            let source = source.as_ref()?;
            if let Some(known) = asked.lock().ok()?.get(name) {
                return Option::clone(known);
            }
            if asked.lock().ok()?.len() == MOST_LOOKED_UP || name.len() > LONGEST_NAME {
                return None;
            }
            let found = ifr::value_type(source, name).ok().flatten();
            asked.lock().ok()?.insert(name.to_owned(), found.clone());
            found
        });
    }
}

/// How many types are looked up that no signature has: a peer may send any number of names.
const MOST_LOOKED_UP: usize = 256;
const LONGEST_NAME: usize = 1024;

pub(super) fn interface(arguments: &Arguments, orb: &Orb, object: &ObjectRef) -> Result<Learnt, Failure> {
    if !arguments.idl.is_empty() {
        let repository = repository::of_idl(&arguments.idl, &arguments.include, &arguments.define)
            .map_err(Failure::of_command_line)?;
        let interface = match &arguments.interface {
            Some(name) => repository
                .interface(name)
                .ok_or_else(|| Failure::usage(format!("the IDL declares no interface {name}")))?,
            None => of_object(&repository, object)?,
        };
        return Ok(Learnt { repository, interface, source: None });
    }
    let (definition, source) = match (&arguments.repository, &arguments.interface) {
        (Some(reference), name) => {
            let repository = reference::object(orb, reference).map_err(|error| error.of("--repository"))?;
            let wanted = name.as_deref().unwrap_or_else(|| object.type_id());
            (in_repository(&repository, wanted)?, Some(repository))
        }
        (None, None) => {
            let definition = of_server(object)?;
            // Where its repository is not to be had, what it says itself must do.
            let source = containing(&definition).ok().flatten();
            (definition, source)
        }
        (None, Some(name)) => {
            // The object's server knows the repository: that of the interface which it names itself.
            match containing(&of_server(object)?).map_err(unread)? {
                Some(repository) => (in_repository(&repository, name)?, Some(repository)),
                None => return Err(Failure::new("the object's server tells of no interface repository")),
            }
        }
    };
    let interface = ifr::interface(&definition)
        .map_err(unread)?
        .ok_or_else(|| Failure::new("what the interface repository has under this name is no interface"))?;
    let mut repository = Repository::new();
    repository.learn(&interface);
    Ok(Learnt { repository, interface, source })
}

/// The interface repository in which a definition is.
fn containing(definition: &ObjectRef) -> Result<Option<ObjectRef>, SystemException> {
    let Some(definition) = ifr::CORBA::Contained::narrow(definition)? else { return Ok(None) };
    Ok(definition.containing_repository()?.map(|repository| repository.as_object().clone()))
}

fn unread(exception: SystemException) -> Failure {
    Failure::system_exception(format!("cannot read the interface repository: {exception}"), exception)
}

fn in_repository(repository: &ObjectRef, wanted: &str) -> Result<ObjectRef, Failure> {
    if wanted.is_empty() {
        return Err(Failure::usage("the reference names no interface; --interface does"));
    }
    let found = ifr::lookup(repository, wanted).map_err(unread)?;
    found.ok_or_else(|| Failure::new(format!("the interface repository does not know {wanted}")))
}

/// What the object's server answers to `_get_interface`.
fn of_server(object: &ObjectRef) -> Result<ObjectRef, Failure> {
    match object.get_interface() {
        Ok(Some(definition)) => Ok(definition),
        Ok(None) => Err(Failure::new(
            "the object's server does not know its interface; --idl or --repository tells it",
        )),
        Err(exception)
            if matches!(exception.kind, Kind::IntfRepos | Kind::NoImplement | Kind::BadOperation) =>
        {
            Err(Failure::new(format!(
                "the object's server has no interface repository; --idl or --repository tells the interface ({exception})"
            )))
        }
        Err(exception) => Err(Failure::system_exception(format!("_interface: {exception}"), exception)),
    }
}

/// The most interfaces that an object is asked for. A file of more is called with `--interface`.
const MOST_ASKED: usize = 100;

/// The interface that the reference names. Where the IDL does not declare that one, or no one is named, the object is asked
/// for those that it does declare, the most derived first.
fn of_object(repository: &Repository, object: &ObjectRef) -> Result<Interface, Failure> {
    let id = object.type_id();
    if let Some(interface) = repository.interface(id) {
        return Ok(interface);
    }
    let declared = repository.interfaces().filter_map(|it| repository.interface(&it.id));
    let mut declared: Vec<_> = declared.collect();
    declared.sort_by_key(|interface| std::cmp::Reverse(interface.ancestors.len()));
    for interface in declared.iter().take(MOST_ASKED) {
        let is_a = object.is_a(&interface.id);
        if is_a.map_err(|exception| Failure::system_exception(format!("_is_a: {exception}"), exception))? {
            return Ok(interface.clone());
        }
    }
    let which = if id.is_empty() { "names no interface".to_owned() } else { format!("is of {id}") };
    Err(Failure::usage(format!(
        "the reference {which}, and the object has none of the IDL; --interface names one"
    )))
}
