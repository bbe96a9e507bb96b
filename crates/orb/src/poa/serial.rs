//! One at a time per key: what user code does for an object id or for a child's name is never done twice at once.
//!
//! Servant activators are called so per object id (CORBA 3.4 part 1 §11.3.6.1), adapter activators per child.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::traffic::thread;

/// How long a request waits for user code that another request has called: half a client's default patience, so that
/// the client still learns what it waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Keys at work, and the thread that works on each; 0 when no thread does.
pub(crate) struct Serial<K> {
    busy: Mutex<HashMap<K, u64>>,
    ended: Condvar,
}

/// Why a key could not be had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// This very thread works on it: waiting would be for ever.
    Here,
    /// It was busy until the deadline.
    Elsewhere,
}

/// A key is this one's until dropped.
pub(crate) struct Work<'s, K: Hash + Eq> {
    serial: &'s Serial<K>,
    key: Option<K>,
}

impl<K: Hash + Eq + Clone> Serial<K> {
    pub(crate) fn new() -> Self {
        Serial { busy: Mutex::new(HashMap::new()), ended: Condvar::new() }
    }

    /// Takes `key` for this thread.
    pub(crate) fn begin(&self, key: K, deadline: Instant) -> Result<Work<'_, K>, Busy> {
        let mut busy = self.busy.lock();
        while let Some(&by) = busy.get(&key) {
            if by == thread() {
                return Err(Busy::Here);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Busy::Elsewhere);
            }
            self.ended.wait_for(&mut busy, left);
        }
        busy.insert(key.clone(), thread());
        Ok(Work { serial: self, key: Some(key) })
    }

    /// Whether somebody has `key`.
    pub(crate) fn is_busy(&self, key: &K) -> bool {
        self.busy.lock().contains_key(key)
    }
}

impl<K: Hash + Eq> Serial<K> {
    /// Gives `key` back.
    pub(crate) fn end(&self, key: &K) {
        self.busy.lock().remove(key);
        self.ended.notify_all();
    }
}

impl<K: Hash + Eq> Work<'_, K> {
    /// Leaves the key taken, by no thread: until [`Serial::end`], all wait.
    pub(crate) fn leave_taken(mut self) {
        if let Some(key) = self.key.take() {
            self.serial.busy.lock().insert(key, 0);
        }
    }
}

impl<K: Hash + Eq> Drop for Work<'_, K> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.serial.end(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn work_on_one_key_never_overlaps() {
        let serial = Serial::new();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let deadline = Instant::now() + Duration::from_secs(10);
                        let _work = serial.begin("key", deadline).expect("its turn comes");
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert!(!serial.is_busy(&"key"));
    }

    #[test]
    fn a_thread_does_not_wait_for_itself_and_others_wait_until_their_deadline() {
        let serial = Serial::new();
        let work = serial.begin(1, Instant::now()).ok();
        assert_eq!(serial.begin(1, Instant::now()).err(), Some(Busy::Here));
        assert!(serial.begin(2, Instant::now()).is_ok());
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(serial.begin(1, Instant::now()).err(), Some(Busy::Elsewhere)));
        });
        drop(work);
        serial.begin(1, Instant::now()).expect("it is free").leave_taken();
        assert_eq!(serial.begin(1, Instant::now()).err(), Some(Busy::Elsewhere));
        serial.end(&1);
        assert!(serial.begin(1, Instant::now()).is_ok());
    }
}
