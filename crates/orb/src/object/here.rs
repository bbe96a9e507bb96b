//! Collocated calls: the object lives in this process, so its method is called and nothing is marshalled.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;

use super::ObjectRef;
use crate::exception::SystemException;
use crate::interceptors::Interceptors;
use crate::orb::Orb;
use crate::poa::ActiveHere;
use crate::raised::OperationError;
use crate::server::request::{Call, panic_exception};
use crate::skeleton::Operation;

/// A servant in this process, found and held for one call.
pub struct Here<T: ?Sized> {
    servant: Arc<T>,
    // What the servant is told by is made of these where it is to stay: a call is large, and would be moved on its way.
    orb: Orb,
    key: Bytes,
    object_id: Range<usize>,
    operation: &'static str,
    /// Counts the call among those in progress, so that the adapter's shutdown waits for it.
    active: ActiveHere,
}

/// The servant behind `target` as a `T` (`dyn AccountServant`), or `None` if it must be called by messages.
///
/// Errors are those that a message would have met: the adapter discards, the object is gone.
#[inline]
pub fn here<T: ?Sized + 'static>(
    target: &ObjectRef,
    operation: &'static Operation,
) -> Result<Option<Here<T>>, SystemException> {
    match target.local_key() {
        Some(key) => found(target, key, operation),
        None => Ok(None),
    }
}

fn found<T: ?Sized + 'static>(
    target: &ObjectRef,
    key: Bytes,
    operation: &'static Operation,
) -> Result<Option<Here<T>>, SystemException> {
    if target.orb().interceptors().is_some_and(Interceptors::sees_requests) {
        // Both sides' interceptors see what goes by message.
        return Ok(None);
    }
    let Some((skeleton, object_id, active)) = target.orb().adapters().here(&key, operation)? else {
        return Ok(None);
    };
    let mut servant: Option<Arc<T>> = None;
    skeleton.offer(&mut servant);
    let (orb, operation) = (target.orb().clone(), operation.name);
    Ok(servant.map(|servant| Here { servant, orb, key, object_id, operation, active }))
}

impl<T: ?Sized> Here<T> {
    /// Calls the method; a panic in it becomes an `UNKNOWN` exception, as it would for a remote caller.
    pub fn run<R, E: OperationError>(self, method: impl FnOnce(&T, &Call) -> Result<R, E>) -> Result<R, E> {
        // The last to be dropped comes first.
        let Here { active: _active, orb, key, object_id, operation, servant } = self;
        let (servant, call) = (&*servant, &Call::local(orb, key, object_id, operation));
        // The servant is shared state of the user's: what a panic leaves in it is for its own locks to tell.
        catch_unwind(AssertUnwindSafe(|| method(servant, call)))
            .unwrap_or_else(|panic| Err(panic_exception(call.operation(), &*panic).into()))
    }
}
