//! Where an object's interface is learnt: IDL, an interface repository, or the object's server.

use std::io::IsTerminal;

use zorb::{ObjectRef, Orb};
use zorb_dynamic::{Interface, Repository};

use super::Arguments;
use crate::failure::Failure;

/// What was learnt.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// The types that anys can name.
    pub(super) repository: Repository,
    /// What can be called.
    pub(super) interface: Interface,
}

pub(super) fn interface(arguments: &Arguments, orb: &Orb, object: &ObjectRef) -> Result<Learnt, Failure> {
    let _ = orb;
    let repository = of_idl(arguments)?;
    let interface = match &arguments.interface {
        Some(name) => repository
            .interface(name)
            .ok_or_else(|| Failure::usage(format!("the IDL declares no interface {name}")))?,
        None => of_object(&repository, object)?,
    };
    Ok(Learnt { repository, interface })
}

/// What the IDL files declare, each compiled by itself.
pub(crate) fn of_idl(arguments: &Arguments) -> Result<Repository, Failure> {
    let mut options = zorb_idl::Options::default();
    options.defines.clone_from(&arguments.define);
    let files = zorb_build::Disk::new(arguments.include.iter().cloned());
    let mut repository = Repository::new();
    for path in &arguments.idl {
        let colour = std::io::stderr().is_terminal();
        let model = zorb_idl::compile(&files, &path.to_string_lossy(), &options).map_err(|found| {
            eprint!("{}", found.render(colour));
            Failure::new(format!("{} is not correct IDL, for the reasons above", path.display()))
        })?;
        repository.add(&model).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    Ok(repository)
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
    let mut declared: Vec<_> =
        repository.interfaces().filter_map(|it| repository.interface(&it.id)).collect();
    declared.sort_by_key(|interface| std::cmp::Reverse(interface.ancestors.len()));
    for interface in declared.iter().take(MOST_ASKED) {
        let is_a = object.is_a(&interface.id);
        if is_a.map_err(|exception| Failure::system_exception(format!("_is_a: {exception}")))? {
            return Ok(interface.clone());
        }
    }
    let which = if id.is_empty() { "names no interface".to_owned() } else { format!("is of {id}") };
    Err(Failure::usage(format!(
        "the reference {which}, and the object has none of the IDL; --interface names one"
    )))
}
