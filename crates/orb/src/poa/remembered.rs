//! An object that a request has found, for the next request that asks for the same: found again without its key being taken apart, as
//! long as no object has left its adapter since.
//!
//! It keeps nobody from deactivating the object. The order is that of `traffic.rs`: the request is counted in first, and looks
//! second whether all is as it was.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::active_map::ActiveObject;
use super::gate::ManagerState;
use super::traffic::Counted;

/// An active object of an adapter whose requests run in any thread.
pub(crate) struct Remembered {
    object: Weak<ActiveObject>,
    id: Range<usize>,
    /// How many objects had left the adapter before it was found there.
    left: AtomicU64,
}

impl Clone for Remembered {
    fn clone(&self) -> Self {
        let left = self.left.load(Ordering::Relaxed).into();
        Remembered { object: self.object.clone(), id: self.id.clone(), left }
    }
}

impl Remembered {
    /// An object that was found in its adapter's map. `id`: where in the key its id stands; `left`: what the map
    /// [said](super::active_map::ActiveMap::left) before.
    pub(super) fn new(object: &Arc<ActiveObject>, id: Range<usize>, left: u64) -> Remembered {
        Remembered { object: Arc::downgrade(object), id, left: left.into() }
    }

    /// Where in the key the object id stands.
    #[inline]
    pub(super) fn id(&self) -> Range<usize> {
        self.id.clone()
    }

    /// Counts a request in, if the object is still there and its requests are let through.
    #[inline(always)]
    pub(super) fn find(&self) -> Option<(Arc<ActiveObject>, Counted)> {
        let object = self.object.upgrade()?;
        let adapter = &object.adapter;
        let counted = adapter.traffic.enter();
        if adapter.manager.gate.state() == ManagerState::Active
            && adapter.is_alive()
            && adapter.map.left() == self.left.load(Ordering::Relaxed)
        {
            return Some((object, counted));
        }
        let_go(object, counted);
        None
    }

    /// Whether all is as it was.
    pub(crate) fn holds_still(&self) -> bool {
        self.object.upgrade().is_some_and(|object| {
            let holds = self.holds(&object);
            object.release();
            holds
        })
    }

    /// Whether it is this object, for which a request is counted in, and is still there, and its requests are let through.
    #[inline(always)]
    pub(crate) fn holds(&self, object: &ActiveObject) -> bool {
        let adapter = &object.adapter;
        std::ptr::eq(self.object.as_ptr(), object)
            && adapter.manager.gate.state() == ManagerState::Active
            && adapter.is_alive()
            && adapter.map.left() == self.left.load(Ordering::Relaxed)
    }

    /// The same was found anew, perhaps. True: it is the same, and can be found again.
    pub(crate) fn renew(&self, found: &Remembered) -> bool {
        let is_same = self.object.ptr_eq(&found.object);
        if is_same {
            self.left.store(found.left.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        is_same
    }
}

#[cold]
fn let_go(object: Arc<ActiveObject>, counted: Counted) {
    let adapter = object.adapter.clone();
    adapter.traffic.leave(counted);
    object.release();
    // It was counted for a moment, in which the adapter's end may have been waiting for nobody else.
    adapter.settle();
}
