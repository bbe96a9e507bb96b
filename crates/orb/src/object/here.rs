//! Collocated calls: the object lives in this process, so its method is called and nothing is marshalled.
//!
//! ```text
//! stub ── here ──► with_home: of this ORB? ──► near: this thread calls it again and again? ──► Here ── run ──► the servant's method
//!                                               │ no
//!                                               └─► Adapters::here, by the object's key
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use zorb_ipc::InUse;

use super::ObjectRef;
use crate::exception::SystemException;
use crate::interceptors::Interceptors;
use crate::poa::ActiveObject;
use crate::poa::near::{self, Near};
use crate::raised::OperationError;
use crate::server::local::Local;
use crate::server::request::{Call, panic_exception};
use crate::skeleton::Operation;

/// A servant in this process, found and held for one call.
pub struct Here<T: ?Sized>(Found<T>);

enum Found<T: ?Sized> {
    /// Its object is near, to be called as a `T`.
    Near(InUse<Near>, &'static str),
    Anew(Arc<T>, Local),
}

/// The servant behind `target` as a `T` (`dyn AccountServant`), or `None` if it must be called by messages.
///
/// Errors are those that a message would have met: the adapter discards, the object is gone.
#[inline(always)]
pub fn here<T: ?Sized + Send + Sync + 'static>(
    target: &ObjectRef,
    operation: &'static Operation,
) -> Result<Option<Here<T>>, SystemException> {
    if target.orb().interceptors().is_some_and(Interceptors::sees_requests) {
        // Both sides' interceptors see what goes by message.
        return Ok(None);
    }
    let number = target.with_home(|home| home.map(|home| home.number));
    match number.and_then(near::find).filter(|near| near.servant::<T>().is_some()) {
        Some(near) => Ok(Some(Here(Found::Near(near, operation.name)))),
        None => anew(target, operation),
    }
}

#[inline(never)]
fn anew<T: ?Sized + Send + Sync + 'static>(
    target: &ObjectRef,
    operation: &'static Operation,
) -> Result<Option<Here<T>>, SystemException> {
    let Some(home) = target.with_home(|home| home.cloned()) else { return Ok(None) };
    let orb = target.orb();
    let Some((skeleton, local, near)) = orb.adapters().here(orb, &home, operation)? else { return Ok(None) };
    let mut servant: Option<Arc<T>> = None;
    skeleton.offer(&mut servant);
    if let (Some(servant), Some(found)) = (&servant, near) {
        // What has to make place may end, and asks about this call.
        let _upcall = local.enter();
        near::bring(home.number, servant, &found);
    }
    Ok(servant.map(|servant| Here(Found::Anew(servant, local))))
}

impl<T: ?Sized + Send + Sync + 'static> Here<T> {
    /// Calls the method; a panic in it becomes an `UNKNOWN` exception, as it would for a remote caller.
    #[inline(always)]
    pub fn run<R, E: OperationError>(self, method: impl FnOnce(&T, &Call) -> Result<R, E>) -> Result<R, E> {
        // Dropped in reverse: the servant first, then what counts the call, and last the upcall, about which is asked by what then ends.
        let (_upcall, near, call, offered);
        let servant = match self.0 {
            Found::Near(found, operation) => {
                near = found;
                _upcall = near.object().map(ActiveObject::enter);
                call = Call::local(Local::of_near(operation, near.slot()));
                near.servant()
            }
            Found::Anew(found, local) => {
                offered = found;
                _upcall = local.enter();
                call = Call::local(local);
                Some(&offered)
            }
        };
        let Some(servant) = servant else { unreachable!("it was found by its type") };
        // The servant is shared state of the user's: what a panic leaves in it is for its own locks to tell.
        catch_unwind(AssertUnwindSafe(|| method(servant, &call)))
            .unwrap_or_else(|panic| Err(panic_exception(call.operation(), &*panic).into()))
    }
}
