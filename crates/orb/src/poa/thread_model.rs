//! One request at a time: the turn of a single-threaded adapter.
//!
//! Who has the turn runs an upcall. Requests that come meanwhile are queued, not blocked: their server threads go
//! on. While a servant waits for a call of its own, the turn is lent to whoever is next, and taken back before the
//! servant goes on. Nothing here knows what a request is.

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex};

use super::traffic::thread;

/// The turn, and what waits for it.
pub(crate) struct Turn<T> {
    state: Mutex<State<T>>,
    free: Condvar,
    limit: usize,
}

struct State<T> {
    taken: bool,
    /// The thread that runs an upcall; 0 while the turn is on its way to one.
    holder: u64,
    /// Servants whose own calls have ended: they go before new requests.
    returning: usize,
    queue: VecDeque<T>,
}

/// What became of a request that asked for the turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked<T> {
    /// It is its turn, in this thread.
    Yours(T),
    /// It waits; [`Turn::pass`] gives it out.
    Queued,
    /// As many wait as may.
    Full(T),
}

impl<T> Turn<T> {
    /// A free turn that keeps at most `limit` requests waiting.
    pub(crate) fn new(limit: usize) -> Self {
        let state = State { taken: false, holder: 0, returning: 0, queue: VecDeque::new() };
        Turn { state: Mutex::new(state), free: Condvar::new(), limit }
    }

    /// Asks for the turn.
    pub(crate) fn ask(&self, request: T) -> Asked<T> {
        let mut state = self.state.lock();
        if !state.taken && state.returning == 0 {
            state.taken = true;
            state.holder = thread();
            Asked::Yours(request)
        } else if state.queue.len() == self.limit {
            Asked::Full(request)
        } else {
            state.queue.push_back(request);
            Asked::Queued
        }
    }

    /// Whether this thread has the turn.
    pub(crate) fn is_mine(&self) -> bool {
        let state = self.state.lock();
        state.taken && state.holder == thread()
    }

    /// This thread takes over a turn that [`pass`](Self::pass) gave out.
    pub(crate) fn adopt(&self) {
        self.state.lock().holder = thread();
    }

    /// Gives the turn up. If a request is next it has the turn already: run it, anywhere.
    pub(crate) fn pass(&self) -> Option<T> {
        let mut state = self.state.lock();
        state.holder = 0;
        if state.returning == 0
            && let Some(next) = state.queue.pop_front()
        {
            return Some(next);
        }
        state.taken = false;
        drop(state);
        self.free.notify_one();
        None
    }

    /// Takes the turn back after it was lent: waits for the upcall that has it to end or to lend it in its turn.
    pub(crate) fn take_back(&self) {
        let mut state = self.state.lock();
        state.returning += 1;
        while state.taken {
            self.free.wait(&mut state);
        }
        state.returning -= 1;
        state.taken = true;
        state.holder = thread();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn requests_that_find_the_turn_taken_are_given_out_in_order() {
        let turn = Turn::new(2);
        assert_eq!(turn.ask('a'), Asked::Yours('a'));
        assert!(turn.is_mine());
        assert_eq!(
            [turn.ask('b'), turn.ask('c'), turn.ask('d')],
            [Asked::Queued, Asked::Queued, Asked::Full('d')]
        );
        assert_eq!(turn.pass(), Some('b'));
        assert!(!turn.is_mine());
        turn.adopt();
        assert!(turn.is_mine());
        assert_eq!(turn.pass(), Some('c'));
        assert_eq!(turn.pass(), None);
        assert_eq!(turn.ask('e'), Asked::Yours('e'));
    }

    #[test]
    fn a_lent_turn_comes_back_before_new_requests() {
        let turn = Turn::new(8);
        assert_eq!(turn.ask("outer"), Asked::Yours("outer"));
        assert_eq!(turn.pass(), None);
        assert_eq!(turn.ask("nested"), Asked::Yours("nested"));
        assert_eq!(turn.ask("later"), Asked::Queued);
        std::thread::scope(|scope| {
            let outer = scope.spawn(|| {
                turn.take_back();
                assert!(turn.is_mine());
                turn.pass()
            });
            // Until the outer upcall is seen to wait for its turn.
            while turn.state.lock().returning == 0 {
                std::thread::yield_now();
            }
            assert_eq!(turn.pass(), None, "the outer upcall goes before the later request");
            assert_eq!(outer.join().expect("no panic"), Some("later"));
        });
    }

    #[test]
    fn upcalls_never_overlap() {
        let turn = Turn::new(usize::MAX);
        let (inside, most, served) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let upcall = || {
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
            served.fetch_add(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Asked::Yours(()) = turn.ask(()) {
                            upcall();
                            while let Some(()) = turn.pass() {
                                turn.adopt();
                                upcall();
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert_eq!(served.load(Ordering::SeqCst), 800);
    }
}
