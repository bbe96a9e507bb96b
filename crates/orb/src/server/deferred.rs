//! Replies of typed servants that are given later, from any thread.
//!
//! ```text
//! by message:    request ── arguments ──► servant.method(reply, …)      the thread is free; the reply is kept
//!                                             … later, anywhere:  reply.finish(Ok(…))  ──► the caller
//! in this ORB:   stub ── deferred_here ──► servant.method(reply, …)     the stub's thread waits for `finish`
//! ```
//!
//! Which operations are answered so is chosen where their code is generated (`deferred` of `zorb-build`).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use parking_lot::Mutex;
use zorb_cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

use super::call::Call;
use super::request::{ServerRequest, named_arguments};
use super::undecoded::CancelWatch;
use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::object::ObjectRef;
use crate::object::asynchronous::wait_until;
use crate::raised::OperationError;

/// How a result is written.
type WriteResult<R> = for<'r> fn(&'r R, &mut Encoder<'r>) -> Result<(), EncodeError>;

/// The reply that an operation owes: results of type `R`, or an error of type `E`. It may be kept, moved to another thread, and
/// [finished](Self::finish) when the servant likes.
///
/// As long as it is kept, the request counts as under way: it counts against the limits of its connection, a oneway holds its
/// place in the order, and shut-down waits for it until its own deadline.
///
/// Dropped unfinished it answers with `NO_RESPONSE`, so that no caller waits in vain; dropped by a panic, with `UNKNOWN`.
#[must_use = "dropped, it answers with NO_RESPONSE"]
pub struct DeferredReply<R, E> {
    to: To<R, E>,
}

#[allow(clippy::large_enum_variant, reason = "a local call stays on one stack or the other, and is rare")]
enum To<R, E> {
    /// A message's sender.
    Caller { request: ServerRequest, encode: WriteResult<R> },
    /// A stub of this ORB, which waits.
    Here { call: Call, answer: Answer<R, E> },
}

impl<R, E: OperationError> DeferredReply<R, E> {
    /// Answers with what a method would return. What cannot be written becomes an exception for the caller. If the caller has
    /// given up it does nothing.
    ///
    /// It may take as long as the connection takes to accept the reply; what it does not take within 100 ms is kept and sent on by
    /// the server.
    pub fn finish(self, outcome: Result<R, E>) {
        match self.to {
            To::Caller { request, encode } => request.finish(outcome, encode),
            To::Here { answer, .. } => answer.give(outcome),
        }
    }

    /// Answers with a result.
    pub fn reply(self, result: R) {
        self.finish(Ok(result));
    }

    /// Answers with an exception.
    pub fn raise(self, error: impl Into<E>) {
        self.finish(Err(error.into()));
    }
}

impl<R, E> DeferredReply<R, E> {
    /// What is known of the call.
    pub fn call(&self) -> &Call {
        match &self.to {
            To::Caller { request, .. } => request.call(),
            To::Here { call, .. } => call,
        }
    }

    /// Whether the caller waits no more: it has cancelled the call, its connection has ended, or, in this ORB, its deadline has
    /// passed. Who sent a oneway never waited.
    pub fn is_abandoned(&self) -> bool {
        match &self.to {
            To::Caller { request, .. } => !request.expects_reply() || request.call().is_cancelled(),
            To::Here { answer, .. } => answer.0.strong_count() == 0,
        }
    }

    /// Has `tell` called once when the caller gives the call up (CancelRequest, or its connection has ended), at once if it has, by
    /// the thread that learns of it: it must not block. It is called no more when what this returns is dropped, but for a call that
    /// has begun. `None` for a call from within this ORB, of which [`is_abandoned`](Self::is_abandoned) tells.
    pub fn when_abandoned(&self, tell: impl FnOnce() + Send + 'static) -> Option<CancelWatch> {
        match &self.to {
            To::Caller { request, .. } => request.when_cancelled(tell),
            To::Here { .. } => None,
        }
    }
}

impl ServerRequest {
    /// Has `begin` work on the arguments; it is given what answers, now or later.
    pub fn defer<A: Decode, R: Encode, E: OperationError>(self, begin: impl FnOnce(DeferredReply<R, E>, A)) {
        self.defer_by(A::decode, R::encode, begin);
    }

    /// The same of arguments that have these names in errors.
    pub fn defer_named<A: Decode, R: Encode, E: OperationError>(
        self,
        names: &'static [&'static str],
        begin: impl FnOnce(DeferredReply<R, E>, A),
    ) {
        self.defer_by(named_arguments(names, A::decode), R::encode, begin);
    }

    /// The same, where `decode` reads the arguments and `encode` writes the result.
    #[inline(never)]
    pub fn defer_by<A, R, E: OperationError>(
        self,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<A, DecodeError>,
        encode: WriteResult<R>,
        begin: impl FnOnce(DeferredReply<R, E>, A),
    ) {
        let Some((request, arguments)) = self.arguments(decode) else { return };
        begin(DeferredReply { to: To::Caller { request, encode } }, arguments);
    }
}

/// A call of an object in this ORB whose servant answers later: gives it the reply, and blocks this thread until it has answered
/// or the deadline of the reference's calls has passed (`TIMEOUT`). A thread in an upcall goes on serving meanwhile.
pub fn deferred_here<R, E: OperationError>(
    object: &ObjectRef,
    context: &Call,
    begin: impl FnOnce(DeferredReply<R, E>),
) -> Result<R, E> {
    let deadline = Instant::now() + object.limits().call_timeout;
    let waiting = Waiting(Arc::default());
    let call = context.again();
    let what = format!("{} in this ORB", call.operation());
    begin(DeferredReply { to: To::Here { call, answer: Answer(Arc::downgrade(&waiting.0)) } });
    wait_until(waiting, deadline, &what).unwrap_or_else(|late| Err(late.into()))
}

/// Where a stub of this ORB waits for its answer.
type Place<R, E> = Mutex<State<R, E>>;

struct State<R, E> {
    outcome: Option<Result<R, E>>,
    /// Nobody will answer any more.
    dropped: bool,
    waker: Option<Waker>,
}

impl<R, E> Default for State<R, E> {
    fn default() -> Self {
        State { outcome: None, dropped: false, waker: None }
    }
}

/// The servant's end.
struct Answer<R, E>(Weak<Place<R, E>>);

impl<R, E> Answer<R, E> {
    fn give(self, outcome: Result<R, E>) {
        if let Some(place) = self.0.upgrade() {
            place.lock().outcome = Some(outcome);
        }
    }
}

impl<R, E> Drop for Answer<R, E> {
    fn drop(&mut self) {
        let Some(place) = self.0.upgrade() else { return };
        let mut state = place.lock();
        state.dropped = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The stub's end.
struct Waiting<R, E>(Arc<Place<R, E>>);

impl<R, E: OperationError> Future for Waiting<R, E> {
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        if state.dropped {
            let text = "the servant dropped the reply unanswered";
            let unanswered = SystemException::new(Kind::NoResponse, Minor::NONE, Completion::Maybe, text);
            return Poll::Ready(Err(unanswered.into()));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
