//! Requests that their callers have given up (CORBA 3.4 part 2 §9.4.4).
//!
//! Only the given up are written down, not all that run, so that a call pays one look at a flag.

use std::collections::{HashMap, VecDeque};
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
    /// Who is told, by the request's id.
    watchers: Mutex<HashMap<u32, Tell>>,
}

/// Called when a request is given up.
pub(super) type Tell = Box<dyn FnOnce() + Send>;

impl Cancelled {
    /// The caller of `id` waits no more.
    pub(super) fn cancel(&self, id: u32) {
        self.remember(id);
        let watcher = self.watchers.lock().remove(&id);
        if let Some(tell) = watcher {
            tell();
        }
    }

    fn remember(&self, id: u32) {
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
        // Told when nothing is locked: they end their own calls, and may look here.
        let watchers = std::mem::take(&mut *self.watchers.lock());
        watchers.into_values().for_each(|tell| tell());
    }

    /// Has `tell` called once when `id` is given up, at once if it is. Only one is kept for an id.
    pub(super) fn watch(&self, id: u32, tell: Tell) {
        self.watchers.lock().insert(id, tell);
        if self.has(id) {
            let watcher = self.watchers.lock().remove(&id);
            if let Some(tell) = watcher {
                tell();
            }
        }
    }

    /// Nobody is to be told of `id` any more.
    pub(super) fn unwatch(&self, id: u32) {
        let watcher = self.watchers.lock().remove(&id);
        drop(watcher);
    }

    /// A request arrives: what was said of an earlier one with this id no longer counts.
    #[inline(always)]
    pub(super) fn begins(&self, id: u32) {
        if self.any.load(Ordering::Acquire) {
            self.forget(id);
        }
    }

    #[cold]
    fn forget(&self, id: u32) {
        let mut ids = self.ids();
        ids.retain(|&cancelled| cancelled != id);
        self.any.store(!ids.is_empty() || self.all.load(Ordering::Acquire), Ordering::Release);
    }

    /// Whether `id` was given up.
    #[inline(always)]
    pub(super) fn has(&self, id: u32) -> bool {
        self.any.load(Ordering::Acquire) && self.has_among(id)
    }

    #[cold]
    fn has_among(&self, id: u32) -> bool {
        self.all.load(Ordering::Acquire) || self.ids().contains(&id)
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
    fn who_watches_is_told_once_of_one_or_all() {
        let told = std::sync::Arc::new(Mutex::new(Vec::new()));
        let tell = |what: &'static str| -> Tell {
            let told = told.clone();
            Box::new(move || told.lock().push(what))
        };
        let cancelled = Cancelled::default();
        cancelled.watch(1, tell("one"));
        cancelled.watch(2, tell("two"));
        cancelled.watch(3, tell("three"));
        cancelled.unwatch(3);
        cancelled.cancel(1);
        cancelled.cancel(1);
        assert_eq!(*told.lock(), ["one"]);
        cancelled.watch(1, tell("late"));
        assert_eq!(*told.lock(), ["one", "late"]);
        cancelled.cancel_all();
        assert_eq!(*told.lock(), ["one", "late", "two"]);
    }

    #[test]
    fn cancellations_in_vain_do_not_pile_up() {
        let cancelled = Cancelled::default();
        (0..10_000).for_each(|id| cancelled.cancel(id));
        assert_eq!(cancelled.ids().len(), REMEMBERED);
        assert!(cancelled.has(9_999) && !cancelled.has(0));
    }
}
