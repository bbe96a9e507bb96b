//! Where the reply to one call on a shared connection is put, and how who waits for it learns so: a thread,
//! a future, or a thread that serves while it waits.

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use std::os::fd::AsFd;

use parking_lot::{Condvar, Mutex, MutexGuard};
use zorb_cdr::Format;
use zorb_giop::Reply;
use zorb_ipc::Wake;

use super::failure::Failure;
use crate::upcall;

/// How a message ended that did not fail.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A oneway has left.
    Sent,
    /// The reply, its body not yet read, and how that body is to be read.
    Reply(Reply, Format),
}

/// The place for one outcome; filled once, taken once.
#[derive(Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    outcome: Option<Result<Outcome, Failure>>,
    waker: Option<Waker>,
    bell: Option<Arc<Wake>>,
    /// Who waits is to look at more than the outcome.
    again: bool,
}

impl Slot {
    /// Puts the outcome in and wakes who waits. A second outcome is ignored: the first decides.
    pub(crate) fn fill(&self, outcome: Result<Outcome, Failure>) {
        let mut state = self.state.lock();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome);
        self.wake(state);
    }

    /// Has who waits return, or be polled, without an outcome.
    pub(crate) fn look_again(&self) {
        let mut state = self.state.lock();
        state.again = true;
        self.wake(state);
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let (waker, bell) = (state.waker.take(), state.bell.take());
        drop(state);
        self.filled.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(bell) = bell {
            // An eventfd write fails only when its counter is full, and then it is readable already.
            let _ = bell.wake();
        }
    }

    /// The outcome if it is there; otherwise `waker` is called when it is.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Result<Outcome, Failure>> {
        let mut state = self.state.lock();
        match state.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                match mem::take(&mut state.again) {
                    true => waker.wake_by_ref(),
                    false => state.waker = Some(waker.clone()),
                }
                Poll::Pending
            }
        }
    }

    /// Blocks until the outcome is there; `None` when `deadline` passes first, or who waits is to [look again](Self::look_again).
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Result<Outcome, Failure>> {
        match upcall::current() {
            Some(waiter) => self.wait_serving(&*waiter, deadline),
            None => self.wait_blocking(deadline),
        }
    }

    fn wait_blocking(&self, deadline: Instant) -> Option<Result<Outcome, Failure>> {
        let mut state = self.state.lock();
        loop {
            if let Some(outcome) = state.outcome.take() {
                return Some(outcome);
            }
            if mem::take(&mut state.again) {
                return None;
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.filled.wait_for(&mut state, left);
        }
    }

    fn wait_serving(
        &self,
        waiter: &dyn upcall::Waiter,
        deadline: Instant,
    ) -> Option<Result<Outcome, Failure>> {
        let bell = Arc::new(Wake::new().ok()?);
        loop {
            {
                let mut state = self.state.lock();
                if let Some(outcome) = state.outcome.take() {
                    return Some(outcome);
                }
                if mem::take(&mut state.again) {
                    return None;
                }
                state.bell = Some(bell.clone());
            }
            if Instant::now() >= deadline {
                return None;
            }
            waiter.until_readable(bell.as_fd(), deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_that_waits_gets_the_first_outcome() {
        let slot = Arc::new(Slot::default());
        let filler = std::thread::spawn({
            let slot = slot.clone();
            move || {
                slot.fill(Ok(Outcome::Sent));
                slot.fill(Err(Failure::ClosedInOrder));
            }
        });
        let outcome = slot.wait(Instant::now() + Duration::from_secs(10));
        assert!(matches!(outcome, Some(Ok(Outcome::Sent))), "{outcome:?}");
        filler.join().expect("the filler does not panic");
    }

    #[test]
    fn a_wait_ends_with_its_deadline() {
        assert!(Slot::default().wait(Instant::now() + Duration::from_millis(5)).is_none());
    }
}
