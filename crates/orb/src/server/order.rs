//! The order of requests: one starts only when earlier oneways to the same object on its connection have returned.
//!
//! Nothing else is kept in order, and nothing is paid while no oneway runs.
//!
//! ```text
//! arrived   o₁  t₂  o₃  t₄        o oneway, t two-way, all to one object
//! runs      o₁
//! waits         t₂  o₃  t₄
//! o₁ ends       t₂  o₃ start      t₂ is no oneway: o₃ need not wait for it
//! o₃ ends               t₄ starts
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

/// What takes a place in the order.
pub(super) trait Ordered {
    /// Its caller does not wait for its end.
    fn is_oneway(&self) -> bool;
    /// The object that it is for.
    fn key(&self) -> &[u8];
}

/// The oneways that run on one connection, and what waits for them.
pub(super) struct Order<R> {
    /// Objects in `chains`, so that a two-way call finds without the lock that there is none.
    running: AtomicUsize,
    chains: Mutex<BTreeMap<Bytes, VecDeque<R>>>,
}

impl<R> Default for Order<R> {
    fn default() -> Self {
        Order { running: AtomicUsize::new(0), chains: Mutex::default() }
    }
}

impl<R: Ordered> Order<R> {
    /// Takes requests in the order of their arrival. Gives back one that may start now; keeps one that must wait.
    #[inline]
    pub(super) fn admit(&self, request: R) -> Option<R> {
        // Only the thread that reads the connection adds chains, and it is the one that calls this.
        if !request.is_oneway() && self.running.load(Ordering::Acquire) == 0 {
            return Some(request);
        }
        self.admit_behind(request)
    }

    #[cold]
    fn admit_behind(&self, request: R) -> Option<R> {
        let mut chains = self.chains();
        if let Some(waiting) = chains.get_mut(request.key()) {
            waiting.push_back(request);
            return None;
        }
        if request.is_oneway() {
            // A copy: the key as it came would keep the receive buffer from being used again.
            chains.insert(Bytes::copy_from_slice(request.key()), VecDeque::new());
            self.running.store(chains.len(), Ordering::Release);
        }
        Some(request)
    }

    /// The oneway to `key` that was running has returned: gives what may start now, in order.
    pub(super) fn returned(&self, key: &[u8]) -> Vec<R> {
        let mut chains = self.chains();
        let Some(waiting) = chains.get_mut(key) else { return Vec::new() };
        let next_oneway = waiting.iter().position(Ordered::is_oneway);
        let count = next_oneway.map_or(waiting.len(), |at| at + 1);
        let released = waiting.drain(..count).collect();
        if next_oneway.is_none() {
            chains.remove(key);
            self.running.store(chains.len(), Ordering::Release);
        }
        released
    }

    fn chains(&self) -> MutexGuard<'_, BTreeMap<Bytes, VecDeque<R>>> {
        self.chains.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Fake(&'static str, Bytes);

    impl Ordered for Fake {
        fn is_oneway(&self) -> bool {
            self.0.starts_with('o')
        }
        fn key(&self) -> &[u8] {
            &self.1
        }
    }

    fn fake(name: &'static str, key: &'static str) -> Fake {
        Fake(name, Bytes::from_static(key.as_bytes()))
    }

    fn names(released: Vec<Fake>) -> Vec<&'static str> {
        released.into_iter().map(|fake| fake.0).collect()
    }

    #[test]
    fn two_way_calls_alone_never_wait() {
        let order = Order::default();
        assert!(order.admit(fake("t1", "a")).is_some());
        assert!(order.admit(fake("t2", "a")).is_some());
    }

    #[test]
    fn requests_wait_for_earlier_oneways_to_the_same_object_only() {
        let order = Order::default();
        let key = Bytes::from_static(b"a");
        assert!(order.admit(fake("o1", "a")).is_some());
        assert!(order.admit(fake("t2", "a")).is_none());
        assert!(order.admit(fake("o3", "a")).is_none());
        assert!(order.admit(fake("t4", "a")).is_none());
        assert!(order.admit(fake("t5", "b")).is_some());
        assert!(order.admit(fake("o6", "b")).is_some());
        assert_eq!(names(order.returned(&key)), ["t2", "o3"]);
        assert!(order.admit(fake("t7", "a")).is_none());
        assert_eq!(names(order.returned(&key)), ["t4", "t7"]);
        assert!(order.admit(fake("t8", "a")).is_some());
        assert!(names(order.returned(&Bytes::from_static(b"b"))).is_empty());
        assert_eq!(order.running.load(Ordering::Relaxed), 0);
    }
}
