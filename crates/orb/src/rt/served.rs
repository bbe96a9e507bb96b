//! What joins an implementation to the ORB: all that is the same for every interface and every type that implements one.
//!
//! ```text
//! Arc<MyAccount>  ── activate::<Account> ──►  Serving<Account, MyAccount>    one skeleton for all, behind dyn Skeleton
//!                                              │ lend: &MyAccount as &dyn AccountServant
//!                                              ▼
//!                                             Account::dispatch(&dyn AccountServant, request)      generated, once
//! ```
//!
//! Generated code names the implementation's type in two one-line methods only ([`ServedBy`]). What an interface does with
//! requests is compiled once and not for each type that implements it.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use super::arriving::Arriving;
use crate::object::ObjectRef;
use crate::server::request::ServerRequest;
use crate::skeleton::{Interface, InterfaceInfo, IntoServant, Servant, Skeleton};

/// A reference type whose servants are known; generated for every interface.
pub trait Served: Interface {
    /// The trait object of its servants, such as `dyn AccountServant`.
    type Servant: ?Sized + Send + Sync + 'static;

    /// Finds the operation, reads its arguments, calls the method and answers through `request`, now or later.
    fn dispatch(servant: &Self::Servant, request: ServerRequest);

    /// Says where the bulk argument goes of a request that begins to come, or whether one that has come begins with structs.
    fn bulk(servant: &Self::Servant, arriving: &mut Arriving<'_>) {
        let _ = (servant, arriving);
    }

    /// Offers the servant as one of each interface that this one inherits from, as [`offer`] does.
    fn offer_to_bases(servant: Arc<Self::Servant>, slot: &mut dyn Any) -> bool {
        let _ = (servant, slot);
        false
    }
}

/// An interface that a servant of type `S` can serve; generated for every `S: AccountServant`.
pub trait ServedBy<S>: Served {
    /// The servant without its type.
    fn lend(servant: &S) -> &Self::Servant;
    /// The same, counted.
    fn share(servant: Arc<S>) -> Arc<Self::Servant>;
}

/// Fills `slot` if it is an `Option<Arc<_>>` of the servants of `I` or of an interface that `I` inherits from; says
/// whether it did.
pub fn offer<I: Served>(servant: Arc<I::Servant>, slot: &mut dyn Any) -> bool {
    match slot.downcast_mut::<Option<Arc<I::Servant>>>() {
        Some(slot) => {
            *slot = Some(servant);
            true
        }
        None => I::offer_to_bases(servant, slot),
    }
}

/// Any reference without its type.
impl<I: Served> From<I> for ObjectRef {
    fn from(object: I) -> Self {
        object.as_object().clone()
    }
}

/// The skeleton of interface `I` with a servant.
struct Serving<I, S> {
    servant: Arc<S>,
    interface: PhantomData<fn() -> I>,
}

impl<I: ServedBy<S>, S: Send + Sync + 'static> IntoServant<I> for Arc<S> {
    fn into_servant(self) -> Servant {
        Arc::new(Serving { servant: self, interface: PhantomData::<fn() -> I> })
    }
}

impl<I: ServedBy<S>, S: 'static> Skeleton for Serving<I, S> {
    fn interface(&self) -> &'static InterfaceInfo {
        I::INFO
    }

    fn dispatch(&self, request: ServerRequest) {
        I::dispatch(I::lend(&self.servant), request);
    }

    fn bulk(&self, arriving: &mut Arriving<'_>) {
        I::bulk(I::lend(&self.servant), arriving);
    }

    // Skeletons are made for each activation; the implementation is the one that an id is unique for.
    fn identity(&self) -> usize {
        Arc::as_ptr(&self.servant).addr()
    }

    fn offer(&self, slot: &mut dyn Any) {
        offer::<I>(I::share(self.servant.clone()), slot);
    }
}
