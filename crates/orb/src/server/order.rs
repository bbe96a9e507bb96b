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

/// Objects that are remembered when nothing runs for them, so that a flood of oneways makes nothing new for each. Eight: few
/// objects of a connection have floods at a time, and each is some hundred octets.
const REMEMBERED: usize = 8;

/// Requests for which the place of an object that is remembered has room. 64: as many as one thread takes up at a time.
const ROOM: usize = 64;

/// What takes a place in the order.
pub(super) trait Ordered {
    /// Its caller does not wait for its end.
    fn is_oneway(&self) -> bool;
    /// The object that it is for.
    fn key(&self) -> &[u8];
}

/// The oneways that run on one connection, and what waits for them.
pub(super) struct Order<R> {
    /// Objects for which one runs, so that a two-way call finds without the lock that there is none.
    running: AtomicUsize,
    chains: Mutex<BTreeMap<Bytes, Chain<R>>>,
}

/// What has come for one object.
struct Chain<R> {
    /// A oneway does.
    runs: bool,
    /// In the order of their arrival; empty if none runs.
    waiting: VecDeque<R>,
}

/// What may start now, in order.
#[derive(Debug)]
pub(super) struct Released<R> {
    pub(super) first: Option<R>,
    pub(super) others: Vec<R>,
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
        // Only the thread that reads the connection makes chains run, and it is the one that calls this.
        if !request.is_oneway() && self.running.load(Ordering::Acquire) == 0 {
            return Some(request);
        }
        self.admit_behind(request)
    }

    #[inline(never)]
    fn admit_behind(&self, request: R) -> Option<R> {
        let mut chains = self.chains();
        match chains.get_mut(request.key()) {
            Some(chain) if chain.runs => {
                chain.waiting.push_back(request);
                return None;
            }
            _ if !request.is_oneway() => return Some(request),
            Some(chain) => chain.runs = true,
            None => self.begin_chain(&mut chains, request.key()),
        }
        self.running.fetch_add(1, Ordering::Release);
        Some(request)
    }

    /// Of an object that is not remembered.
    #[cold]
    fn begin_chain(&self, chains: &mut BTreeMap<Bytes, Chain<R>>, key: &[u8]) {
        if chains.len() >= self.running.load(Ordering::Relaxed) + REMEMBERED {
            chains.retain(|_, chain| chain.runs);
        }
        // A copy: the key as it came would keep the receive buffer from being used again.
        chains.insert(Bytes::copy_from_slice(key), Chain { runs: true, waiting: VecDeque::new() });
    }

    /// A oneway to `key` has ended. `None`: nothing waited for that. One that was refused before it had a place, where none
    /// runs, releases nothing.
    pub(super) fn returned(&self, key: &[u8]) -> Option<Released<R>> {
        let mut chains = self.chains();
        let chain = chains.get_mut(key).filter(|chain| chain.runs)?;
        let next_oneway = chain.waiting.iter().position(Ordered::is_oneway);
        let count = next_oneway.map_or(chain.waiting.len(), |at| at + 1);
        if next_oneway.is_none() {
            chain.runs = false;
            self.running.fetch_sub(1, Ordering::Release);
        }
        (count > 0).then(|| {
            let mut released = chain.waiting.drain(..count);
            let released = Released { first: released.next(), others: released.collect() };
            if !chain.runs {
                chain.waiting.shrink_to(ROOM);
            }
            released
        })
    }

    fn chains(&self) -> MutexGuard<'_, BTreeMap<Bytes, Chain<R>>> {
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

    fn names(released: Option<Released<Fake>>) -> Vec<&'static str> {
        let Some(released) = released else { return Vec::new() };
        assert!(released.first.is_some(), "who releases nothing says so");
        released.first.into_iter().chain(released.others).map(|fake| fake.0).collect()
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

    #[test]
    fn few_objects_are_remembered_when_nothing_runs() {
        let order = Order::default();
        let keys: Vec<Bytes> = (0..100u8).map(|number| Bytes::copy_from_slice(&[number])).collect();
        for key in &keys {
            assert!(order.admit(Fake("o", key.clone())).is_some());
            assert!(names(order.returned(key)).is_empty());
        }
        assert!(order.chains().len() <= REMEMBERED + 1, "{}", order.chains().len());
        for key in &keys {
            assert!(order.admit(Fake("o", key.clone())).is_some());
        }
        assert!(keys.iter().all(|key| order.admit(Fake("t", key.clone())).is_none()), "all run");
        for key in &keys {
            assert_eq!(names(order.returned(key)), ["t"]);
        }
        assert_eq!(order.running.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_was_refused_before_it_had_a_place_changes_nothing() {
        let order = Order::default();
        let key = Bytes::from_static(b"a");
        assert!(names(order.returned(&key)).is_empty(), "the object is not known");
        assert!(order.admit(fake("o1", "a")).is_some());
        assert!(names(order.returned(&key)).is_empty());
        assert!(names(order.returned(&key)).is_empty(), "it is remembered, and none runs");
        assert_eq!(order.running.load(Ordering::Relaxed), 0);
        assert!(order.admit(fake("o2", "a")).is_some());
        assert!(order.admit(fake("t3", "a")).is_none());
        assert_eq!(names(order.returned(&key)), ["t3"]);
    }
}
