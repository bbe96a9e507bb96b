//! Requests that their callers have given up (CORBA 3.4 part 2 §9.4.4).
//!
//! Only the given up are written down, not all that run, so that a call pays one look at a flag.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

/// How many are remembered of one connection. 256: a cancellation for a request that has ended is remembered in vain, and
/// the oldest makes room.
const REMEMBERED: usize = 256;

/// The given up requests of one connection.
#[derive(Default)]
pub(super) struct Cancelled {
    any: AtomicBool,
    all: AtomicBool,
    ids: Mutex<VecDeque<u32>>,
}

impl Cancelled {
    /// The caller of `id` waits no more.
    pub(super) fn cancel(&self, id: u32) {
        let mut ids = self.ids();
        if ids.len() == REMEMBERED {
            ids.pop_front();
        }
        ids.push_back(id);
        self.any.store(true, Ordering::Release);
    }

    /// No caller on this connection waits any more.
    pub(super) fn cancel_all(&self) {
        self.all.store(true, Ordering::Release);
        self.any.store(true, Ordering::Release);
    }

    /// A request arrives: what was said of an earlier one with this id no longer counts.
    #[inline]
    pub(super) fn begins(&self, id: u32) {
        if self.any.load(Ordering::Acquire) {
            let mut ids = self.ids();
            ids.retain(|&cancelled| cancelled != id);
            self.any.store(!ids.is_empty() || self.all.load(Ordering::Acquire), Ordering::Release);
        }
    }

    /// Whether `id` was given up.
    #[inline]
    pub(super) fn has(&self, id: u32) -> bool {
        self.any.load(Ordering::Acquire) && (self.all.load(Ordering::Acquire) || self.ids().contains(&id))
    }

    fn ids(&self) -> MutexGuard<'_, VecDeque<u32>> {
        self.ids.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_used_again_is_not_cancelled() {
        let cancelled = Cancelled::default();
        cancelled.cancel(7);
        assert!(cancelled.has(7) && !cancelled.has(8));
        cancelled.begins(7);
        assert!(!cancelled.has(7));
        cancelled.cancel_all();
        cancelled.begins(9);
        assert!(cancelled.has(9));
    }

    #[test]
    fn cancellations_in_vain_do_not_pile_up() {
        let cancelled = Cancelled::default();
        (0..10_000).for_each(|id| cancelled.cancel(id));
        assert_eq!(cancelled.ids().len(), REMEMBERED);
        assert!(cancelled.has(9_999) && !cancelled.has(0));
    }
}
