//! A call that waits on a shared connection: for its outcome, or until it is given up.
//!
//! Who waits for nothing but the outcome sleeps: the reactor reads, and wakes it. Where the other end has no thread it is served here
//! ([`Channel::driver`](crate::transport::Channel::driver)), before each look at what came of it.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::{Reading, Shared};
use crate::client::failure::Failure;
use crate::client::reactor::Reactor;
use crate::client::slot::{Outcome, Slot};

/// How long who waits leaves the other end alone that it serves itself: another thread may have been serving it, or the reply comes later.
const BETWEEN_SERVICES: Duration = Duration::from_millis(1);

/// A message given to a shared connection: what to wait on, and how to give up.
pub(crate) struct Ticket {
    pub(super) slot: Arc<Slot>,
    pub(super) shared: Arc<Shared>,
    pub(super) id: u32,
    /// The connection was being opened, or stood, for another call.
    pub(in crate::client) joined: bool,
}

impl Ticket {
    /// What the message was given to.
    pub(crate) fn connection(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Blocks until the message has ended; `None` when `deadline` passes first.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Result<Outcome, Failure>> {
        loop {
            let until = match self.serve_peer() {
                true => deadline.min(Instant::now() + BETWEEN_SERVICES),
                false => deadline,
            };
            let outcome = self.slot.wait(until);
            if outcome.is_some() || Instant::now() >= deadline {
                return outcome;
            }
        }
    }

    /// How the message ended, if it has; otherwise `waker` is called when it does.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Result<Outcome, Failure>> {
        let serves = self.serve_peer();
        let outcome = self.slot.poll(waker);
        if serves && outcome.is_pending() {
            waker.wake_by_ref();
        }
        match outcome {
            Poll::Ready(Err(failure)) if self.joined => Poll::Ready(Err(failure.of_another())),
            outcome => outcome,
        }
    }

    /// Gives the call up: nobody waits for its reply any more. A request that has not begun to leave is taken back; otherwise
    /// the connection completes it, and the server is told. A oneway leaves all the same.
    pub(crate) fn cancel(&self, reactor: &Reactor) {
        let given_up = self.shared.calls().remove(self.id);
        if let Some(waiting) = given_up {
            self.shared.give_up(self.id, &waiting, reactor);
        }
    }

    /// Serves the other end, if that is left to who waits here, and reads what comes back.
    fn serve_peer(&self) -> bool {
        let driver = self.shared.channel.get().and_then(|channel| channel.driver());
        let Some(serve) = driver else { return false };
        serve();
        while matches!(self.shared.readable(), Reading::HasMore) {}
        true
    }
}
