//! Pollers: calls that one looks after when one likes.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::object::asynchronous::{Pending, wait_until};
use crate::raised::OperationError;

/// A call whose outcome is asked for (`Messaging::Poller`): one type for all operations, where the specification has a valuetype
/// for each interface. That a reply is read as that of another operation is an error of the compiler here.
///
/// Dropping it cancels the call if that is still under way.
#[must_use = "dropping it cancels the call"]
pub struct Poller<R, E> {
    state: State<R, E>,
}

#[allow(clippy::large_enum_variant, reason = "as large as the call that it replaces, and seldom moved")]
enum State<R, E> {
    Waiting(Box<Pending<R, E>>),
    Ready(Result<R, E>),
    Taken,
}

impl<R, E: OperationError> Pending<R, E> {
    /// The same call, to be asked for its outcome.
    pub fn poller(self) -> Poller<R, E> {
        Poller { state: State::Waiting(Box::new(self)) }
    }
}

impl<R, E: OperationError> Poller<R, E> {
    /// Whether the outcome is there, or comes within `timeout`, for which this thread is blocked. A thread in an upcall goes on
    /// serving meanwhile. After the outcome was taken: false.
    pub fn is_ready(&mut self, timeout: Duration) -> bool {
        if let State::Waiting(pending) = &mut self.state {
            let outcome = match pending.polled() {
                Ok(()) => wait(pending, timeout),
                Err(raised) => Some(Err(raised.into())),
            };
            if let Some(outcome) = outcome {
                self.state = State::Ready(outcome);
            }
        }
        matches!(self.state, State::Ready(_))
    }

    /// The outcome, which is there once: the operation of the specification's pollers. This thread is blocked for `timeout` at the
    /// most.
    ///
    /// # Errors
    /// Those of the call. `NO_RESPONSE`: it is not there, and `timeout` is zero. `TIMEOUT`: it was not there within `timeout`; in
    /// both cases one may ask again. `OBJECT_NOT_EXIST`: it was taken before.
    pub fn get(&mut self, timeout: Duration) -> Result<R, E> {
        self.is_ready(timeout);
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(outcome) => outcome,
            State::Waiting(pending) => {
                self.state = State::Waiting(pending);
                Err(not_yet(timeout).into())
            }
            State::Taken => {
                Err(SystemException::ObjectNotExist("the poller's outcome was taken before").into())
            }
        }
    }

    /// The call itself, as a future. `None` if its outcome is there already, or was taken.
    pub fn into_pending(self) -> Option<Pending<R, E>> {
        match self.state {
            State::Waiting(pending) => Some(*pending),
            _ => None,
        }
    }
}

fn wait<R, E: OperationError>(pending: &mut Pending<R, E>, timeout: Duration) -> Option<Result<R, E>> {
    if timeout.is_zero() {
        return match Pin::new(pending).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        };
    }
    // The call's own deadline ends it, and so a wait without end.
    let latest = Instant::now().checked_add(timeout);
    let latest = latest.unwrap_or_else(|| Instant::now() + Duration::from_secs(u32::MAX.into()));
    wait_until(pending, latest, "a poller").ok()
}

fn not_yet(timeout: Duration) -> SystemException {
    let (kind, text) = match timeout.is_zero() {
        true => (Kind::NoResponse, "the reply has not come".to_owned()),
        false => (Kind::Timeout, format!("the reply has not come within {timeout:?}")),
    };
    SystemException::new(kind, Minor::NONE, Completion::Maybe, text)
}
