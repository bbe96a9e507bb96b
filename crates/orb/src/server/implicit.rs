//! The operations that every object has without its IDL saying so (CORBA 3.4 part 1 §8.3, part 2 §9.4.2).

use std::num::NonZeroU64;

use zorb_giop::{Ior, operation_number};

use super::request::ServerRequest;
use crate::exception::{Minor, SystemException};
use crate::object::{ObjectRef, invoke};
use crate::orb::Orb;
use crate::skeleton::{Operation, Skeleton};

/// An operation of `CORBA::Object` that is answered by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implicit {
    IsA,
    NonExistent,
    Interface,
    Component,
    DomainManagers,
    RepositoryId,
}

impl Implicit {
    /// By the name on the wire. All begin with an underscore, which few other names do.
    pub(super) fn named(operation: &str) -> Option<Implicit> {
        Some(match operation {
            "_is_a" => Implicit::IsA,
            // GIOP 1.0 and 1.1 spelt it with "not".
            "_non_existent" | "_not_existent" => Implicit::NonExistent,
            "_interface" => Implicit::Interface,
            "_component" => Implicit::Component,
            "_domain_managers" | "_get_domain_managers" => Implicit::DomainManagers,
            "_repository_id" => Implicit::RepositoryId,
            _ => return None,
        })
    }

    /// By the number that stands for the name in GIOPlite.
    pub(super) fn numbered(number: NonZeroU64) -> Option<Implicit> {
        const IS_A: u64 = operation_number(b"_is_a");
        const NON_EXISTENT: u64 = operation_number(b"_non_existent");
        const INTERFACE: u64 = operation_number(b"_interface");
        const COMPONENT: u64 = operation_number(b"_component");
        const DOMAIN_MANAGERS: u64 = operation_number(b"_domain_managers");
        const REPOSITORY_ID: u64 = operation_number(b"_repository_id");
        Some(match number.get() {
            IS_A => Implicit::IsA,
            NON_EXISTENT => Implicit::NonExistent,
            INTERFACE => Implicit::Interface,
            COMPONENT => Implicit::Component,
            DOMAIN_MANAGERS => Implicit::DomainManagers,
            REPOSITORY_ID => Implicit::RepositoryId,
            _ => return None,
        })
    }

    /// Answers for an object that exists and has this servant.
    pub(super) fn answer(self, servant: &dyn Skeleton, request: ServerRequest) {
        match self {
            Implicit::IsA => {
                let Some((request, id)) = request.arguments(|from| from.read_string()) else { return };
                let is_a = servant.is_a(&id);
                request.reply(|to| {
                    to.write_bool(is_a);
                    Ok(())
                });
            }
            Implicit::NonExistent => request.reply(|to| {
                to.write_bool(false);
                Ok(())
            }),
            Implicit::Interface => {
                let orb = request.call().orb().clone();
                match describe(&orb, &servant.repository_id()) {
                    Ok(definition) => request.reply(|to| ObjectRef::encode(definition.as_ref(), to)),
                    Err(exception) => request.system_exception(exception),
                }
            }
            Implicit::Component => {
                // The object is no part of a component: nil.
                let nil = Ior::nil();
                request.reply(|to| zorb_cdr::Encode::encode(&nil, to));
            }
            Implicit::DomainManagers => request.reply(|to| to.write_length(0)),
            Implicit::RepositoryId => request.reply(|to| to.write_string(&servant.repository_id())),
        }
    }
}

/// What this ORB's interface repository, its initial reference of that name, has on an interface.
fn describe(orb: &Orb, id: &str) -> Result<Option<ObjectRef>, SystemException> {
    static LOOKUP_ID: Operation = Operation::new("lookup_id");
    let repository = orb.resolve_initial_references("InterfaceRepository").map_err(|exception| {
        let detail = format!("this ORB has no interface repository: {exception}");
        SystemException::IntfRepos(detail).minor(Minor::omg(1))
    })?;
    invoke::call(&repository, &LOOKUP_ID, |to| to.write_string(id), ObjectRef::decode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_not_implicit() {
        assert_eq!(Implicit::named("_is_a"), Some(Implicit::IsA));
        assert_eq!(Implicit::named("_not_existent"), Some(Implicit::NonExistent));
        let numbered = |number| NonZeroU64::new(number).and_then(Implicit::numbered);
        assert_eq!(numbered(operation_number(b"_interface")), Some(Implicit::Interface));
        assert_eq!(numbered(1), None);
        for name in ["_get_owner", "_set_owner", "deposit", "", "_"] {
            assert_eq!(Implicit::named(name), None, "{name}");
        }
    }
}
