//! A request in progress, as a guard.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::active_map::ActiveObject;
use super::adapter::Adapter;
use super::handle::Poa;
use super::id::ObjectId;
use super::servant_manager::{Cookie, ServantLocator};
use super::traffic::{Counted, Upcall};
use crate::server::request::panic_exception;
use crate::skeleton::Servant;

/// Counts a request in progress until dropped, in whatever thread: as long as it lives its object is not
/// etherealized and its adapter's end waits for it. To be dropped after the reply.
pub(crate) struct Active {
    /// What nearly all hold, apart from the rest, of which the compiler then need not think.
    object: Option<Arc<ActiveObject>>,
    other: Option<Holds>,
    counted: Counted,
}

/// Where a request is that has no active object.
enum Holds {
    Adapter(Arc<Adapter>),
    Located(Arc<Adapter>, Box<Located>),
}

/// What a servant locator is told after the request.
pub(crate) struct Located {
    pub(crate) locator: Arc<dyn ServantLocator>,
    pub(crate) poa: Poa,
    pub(crate) id: ObjectId,
    pub(crate) operation: Box<str>,
    pub(crate) cookie: Cookie,
    pub(crate) servant: Servant,
}

impl Active {
    /// A request on an object of the active object map.
    #[inline(always)]
    pub(crate) fn object(object: Arc<ActiveObject>, counted: Counted) -> Active {
        Active { object: Some(object), other: None, counted }
    }

    /// A request in an adapter, so far on no object.
    pub(crate) fn adapter(adapter: Arc<Adapter>, counted: Counted) -> Active {
        Active { object: None, other: Some(Holds::Adapter(adapter)), counted }
    }

    /// The request has found its object.
    pub(crate) fn on_object(mut self, object: Arc<ActiveObject>) -> Active {
        (self.object, self.other) = (Some(object), None);
        self
    }

    /// The request is served by what a servant locator gave.
    pub(crate) fn on_located(mut self, adapter: Arc<Adapter>, located: Located) -> Active {
        (self.object, self.other) = (None, Some(Holds::Located(adapter, Box::new(located))));
        self
    }

    /// The request has ended: as dropping it, for who has ended requests all the time.
    #[inline(always)]
    pub(crate) fn end(mut self) {
        if self.other.is_none()
            && let Some(object) = self.object.take()
        {
            let counted = self.counted;
            mem::forget(self);
            leave_object(object, counted);
        }
    }

    /// The object, if it is an active one.
    pub(crate) fn on(&self) -> Option<&ActiveObject> {
        self.object.as_deref()
    }

    /// This thread is in the request's upcall, until what is returned is dropped.
    pub(crate) fn enter(&self) -> Upcall {
        let adapter = match (&self.object, &self.other) {
            (Some(object), _) => &object.adapter,
            (None, Some(Holds::Adapter(adapter) | Holds::Located(adapter, _))) => adapter,
            (None, None) => unreachable!("a request in no adapter"),
        };
        Upcall::enter(adapter.shared.run)
    }
}

/// Looks at the adapter afterwards, so that requests of living ones pay for no call.
#[inline(always)]
fn leave(adapter: &Arc<Adapter>, counted: Counted) {
    adapter.traffic.leave(counted);
    if !adapter.is_alive() {
        adapter.settle();
    }
}

#[inline(always)]
fn leave_object(object: Arc<ActiveObject>, counted: Counted) {
    leave(&object.adapter, counted);
    object.release();
}

impl Drop for Active {
    #[inline]
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            leave_object(object, self.counted);
        }
        if let Some(other) = self.other.take() {
            other.leave(self.counted);
        }
    }
}

impl Holds {
    #[inline(never)]
    fn leave(self, counted: Counted) {
        match self {
            Holds::Adapter(adapter) => leave(&adapter, counted),
            Holds::Located(adapter, located) => {
                let Located { locator, poa, id, operation, cookie, servant } = *located;
                let after = || locator.postinvoke(&poa, &id, &operation, cookie, servant);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(after)) {
                    let exception = panic_exception("postinvoke", &*panic);
                    tracing::error!(adapter = &*adapter.name, %exception);
                }
                leave(&adapter, counted);
            }
        }
    }
}
