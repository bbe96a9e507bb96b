//! What describes the repository's own objects: the IDL that this crate was compiled from, served beside what was given.
//!
//! ```text
//! adapter InterfaceRepository          what was given; lookup_id of an interface that it does not know ──┐
//!    └─ adapter Own                    module CORBA of idl/InterfaceRepository.idl ◄─────────────────────┘
//! ```
//!
//! It is a repository of its own, so that who reads all that a repository contains finds what was given and nothing more. The
//! IDL is read when it is first asked for.

use std::sync::{Arc, LazyLock};

use zorb_orb::SystemException;

use super::generated::CARRIED_IDL;
use crate::repository::{Content, Repository};

/// The name of its object adapter.
pub(super) const NAME: &str = "Own";

/// Either repository.
pub(super) enum Served {
    Given(Arc<Repository>),
    Own,
}

impl Served {
    pub(super) fn repository(&self) -> Result<Arc<Repository>, SystemException> {
        match self {
            Served::Given(repository) => Ok(repository.clone()),
            Served::Own => repository(),
        }
    }
}

pub(super) fn repository() -> Result<Arc<Repository>, SystemException> {
    static OWN: LazyLock<Result<Arc<Repository>, String>> = LazyLock::new(|| {
        Repository::of_carried(&[&CARRIED_IDL]).map(Arc::new).map_err(|error| error.to_string())
    });
    OWN.clone()
        .map_err(|error| SystemException::Internal(format!("the interface repository's own IDL: {error}")))
}

/// Whether it has an interface of this id. Names of other things are not answered: nobody's object is of them.
pub(super) fn has_interface(repository: &Repository, id: &str) -> bool {
    repository.definition(id).is_some_and(|it| matches!(it.content, Content::Interface(_)))
}
