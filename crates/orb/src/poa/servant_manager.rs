//! What a program can give an adapter to find servants, and adapters, when they are asked for.
//!
//! | with the policies | trait | asked |
//! |---|---|---|
//! | servant manager, retain | [`ServantActivator`] | once for an object; the servant stays in the active object map |
//! | servant manager, non-retain | [`ServantLocator`] | for each request |
//! | any | [`AdapterActivator`] | for a child adapter that is not there |
//!
//! CORBA 3.4 part 1 §11.3.4 to §11.3.6. A panic in one of them is an `UNKNOWN` exception for the caller.

use std::any::Any;

use super::handle::Poa;
use super::id::ObjectId;
use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::skeleton::{Interface, IntoServant, Servant};

/// A servant, from an implementation of interface `I`: what servant managers return.
///
/// `servant::<Account>(Arc::new(my_account))`
pub fn servant<I: Interface>(implementation: impl IntoServant<I>) -> Servant {
    implementation.into_servant()
}

/// Makes servants when their objects are first called, and takes them back when they are deactivated.
///
/// Calls for one object id never overlap: an object is incarnated anew only when `etherealize` has returned.
pub trait ServantActivator: Send + Sync {
    /// The servant for `id`. The adapter keeps it in its active object map.
    ///
    /// # Errors
    /// The object is elsewhere, or there is none (`OBJECT_NOT_EXIST`).
    fn incarnate(&self, poa: &Poa, id: &ObjectId) -> Result<Servant, Declined>;

    /// The servant is no longer `id`: it was deactivated, and its last request has ended.
    fn etherealize(&self, poa: &Poa, id: &ObjectId, servant: Servant, circumstances: Etherealized) {
        let _ = (poa, id, servant, circumstances);
    }
}

/// Why and how an object was etherealized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Etherealized {
    /// Because the adapter or its manager ends, not because the object alone was deactivated.
    pub cleanup_in_progress: bool,
    /// The servant is still active in this adapter under another id.
    pub remaining_activations: bool,
}

/// What a [`ServantLocator`] wants to know again after the call.
pub type Cookie = Box<dyn Any + Send>;

/// Finds a servant for each request anew.
pub trait ServantLocator: Send + Sync {
    /// The servant for this request, and what [`postinvoke`](Self::postinvoke) is to be given.
    ///
    /// # Errors
    /// The object is elsewhere, or there is none (`OBJECT_NOT_EXIST`).
    fn preinvoke(&self, poa: &Poa, id: &ObjectId, operation: &str) -> Result<(Servant, Cookie), Declined>;

    /// The request has been answered. Unlike in other language mappings it is too late to change the answer.
    fn postinvoke(&self, poa: &Poa, id: &ObjectId, operation: &str, cookie: Cookie, servant: Servant) {
        let _ = (poa, id, operation, cookie, servant);
    }
}

/// Makes child adapters when a reference to one of their objects is first used, or `find_child` is asked to.
///
/// Calls for one name under one parent never overlap; requests for that child wait meanwhile.
pub trait AdapterActivator: Send + Sync {
    /// Makes the child `name` of `parent` by `create_child` and returns true, or returns false: there is none.
    ///
    /// # Errors
    /// Callers get `OBJ_ADAPTER` (OMG 1) with the exception's text.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException>;
}

/// Why a servant manager gave no servant.
#[derive(Debug)]
pub enum Declined {
    /// The object is elsewhere (`PortableServer::ForwardRequest`): the caller goes there by itself.
    Forward {
        /// Where.
        to: ObjectRef,
        /// For good: callers may forget the reference that led here.
        permanent: bool,
    },
    /// The caller gets this exception.
    System(SystemException),
}

impl Declined {
    /// Sends the caller on to `to`, this time.
    pub fn forward(to: &impl Interface) -> Declined {
        Declined::Forward { to: to.as_object().clone(), permanent: false }
    }

    /// Sends the caller on to `to`, now and for ever.
    pub fn forward_permanently(to: &impl Interface) -> Declined {
        Declined::Forward { to: to.as_object().clone(), permanent: true }
    }
}

impl From<SystemException> for Declined {
    fn from(exception: SystemException) -> Self {
        Declined::System(exception)
    }
}
