//! Futures of calls: made when called, polled by any executor.
//!
//! The message has been handed to its connection before [`Pending`] exists; the ORB's reactor thread reads the reply
//! and wakes the task; `poll` decodes it, and sends again where a forward or a safe retry asks for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, Encoder, Format};
use zorb_giop::{Reply, ReplyStatus, ResponseFlags};

use super::ObjectRef;
use super::invoke::result;
use super::journey::{Journey, Next};
use super::undecoded::{UNDECODED, UndecodedRequest};
use crate::client::failure::Failure;
use crate::client::message::Outgoing;
use crate::client::shared::Ticket;
use crate::client::slot::{Outcome, Slot};
use crate::exception::{Completion, SystemException};
use crate::raised::OperationError;
use crate::skeleton::Operation;

type Encode = Box<dyn Fn(&mut Encoder<'static>) -> Result<(), EncodeError> + Send>;
type Decode<R> = Box<dyn FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError> + Send>;

/// A call in flight. Dropping it cancels the call: what has left in part is completed, then a CancelRequest goes out.
#[must_use = "dropping it cancels the call"]
pub struct Pending<R, E> {
    flight: Option<Result<Flight, SystemException>>,
    /// Reads the result; a oneway's reads nothing.
    decode: Option<Decode<R>>,
    error: std::marker::PhantomData<fn() -> E>,
}

/// The part of a pending call that does not depend on its types.
pub(crate) struct Flight {
    target: ObjectRef,
    journey: Journey,
    response: ResponseFlags,
    encode: Encode,
    undecoded: Option<UndecodedRequest>,
    ticket: Option<Ticket>,
}

impl Flight {
    /// Sends the request, as far as that goes without blocking.
    pub(crate) fn start(
        target: &ObjectRef,
        operation: &'static Operation,
        response: ResponseFlags,
        encode: Encode,
    ) -> Result<Flight, SystemException> {
        Flight::begin(target, operation, response, encode, None)
    }

    /// Sends a request that nobody has decoded, as far as that goes without blocking.
    pub(super) fn of_undecoded(
        target: &ObjectRef,
        request: UndecodedRequest,
    ) -> Result<Flight, SystemException> {
        let response = request.response;
        Flight::begin(target, &UNDECODED, response, Box::new(|_| Ok(())), Some(request))
    }

    fn begin(
        target: &ObjectRef,
        operation: &'static Operation,
        response: ResponseFlags,
        encode: Encode,
        undecoded: Option<UndecodedRequest>,
    ) -> Result<Flight, SystemException> {
        let journey = Journey::new(target, operation, response)?;
        let mut flight =
            Flight { target: target.clone(), journey, response, encode, undecoded, ticket: None };
        flight.send()?;
        Ok(flight)
    }

    /// Sends until a connection has taken the message.
    fn send(&mut self) -> Result<(), SystemException> {
        loop {
            match self.attempt() {
                Ok(ticket) => {
                    self.ticket = Some(ticket);
                    return Ok(());
                }
                Err(failure) => self.journey.failed(&self.target, failure)?,
            }
        }
    }

    fn attempt(&self) -> Result<Ticket, Failure> {
        let course = self.journey.course();
        let mut arguments = |to: &mut Encoder<'static>| (self.encode)(to);
        let mut outgoing = Outgoing {
            operation: self.journey.operation(),
            response: self.response,
            arguments: &mut arguments,
        };
        let reactor = self.target.orb().reactor()?;
        let pool = &course.candidate.pool;
        let ticket = pool.send_shared_later(
            &course,
            &mut outgoing,
            self.undecoded.as_ref(),
            self.journey.connect_by(),
            reactor,
        );
        self.target.orb().client().opened();
        ticket
    }

    /// The reply when it is there; sends again as often as the journey says.
    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<Result<Outcome, SystemException>> {
        loop {
            let Some(ticket) = &self.ticket else {
                return Poll::Ready(Err(SystemException::BadInvOrder("polled after it was ready")));
            };
            let outcome = std::task::ready!(ticket.poll(waker));
            self.ticket = None;
            let arrived = match outcome {
                Ok(Outcome::Reply(reply, format)) => match self.arrived(&reply, format) {
                    Ok(Next::Done(())) => return Poll::Ready(Ok(Outcome::Reply(reply, format))),
                    Ok(Next::Again) => Ok(()),
                    Err(exception) => Err(exception),
                },
                Ok(Outcome::Sent) => {
                    self.journey.prefer();
                    return Poll::Ready(Ok(Outcome::Sent));
                }
                Err(failure) => self.journey.failed(&self.target, failure),
            };
            if let Err(exception) = arrived.and_then(|()| self.send()) {
                return Poll::Ready(Err(exception));
            }
        }
    }
}

impl Flight {
    pub(crate) fn deadline(&self) -> Instant {
        self.journey.deadline
    }

    /// What a reply is read with.
    pub(crate) fn parts(&self) -> (&ObjectRef, &Journey) {
        (&self.target, &self.journey)
    }

    /// Judges a reply. Exceptions and forwards are for who sent an undecoded request to read, unless another attempt is due.
    fn arrived(&mut self, reply: &Reply, format: Format) -> Result<Next<()>, SystemException> {
        let Some(undecoded) = &self.undecoded else {
            return self.journey.arrived(&self.target, reply, format);
        };
        let is_forward =
            matches!(reply.status, ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM);
        if is_forward && !undecoded.follows_forwards {
            self.journey.prefer();
            return Ok(Next::Done(()));
        }
        match self.journey.arrived(&self.target, reply, format) {
            Err(_) if reply.status == ReplyStatus::SYSTEM_EXCEPTION => Ok(Next::Done(())),
            judged => judged,
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let (Some(ticket), Ok(reactor)) = (&self.ticket, self.target.orb().reactor()) {
            ticket.cancel(reactor);
        }
    }
}

impl<R, E: OperationError> Pending<R, E> {
    pub(super) fn new(flight: Result<Flight, SystemException>, decode: Decode<R>) -> Self {
        Pending { flight: Some(flight), decode: Some(decode), error: std::marker::PhantomData }
    }

    /// The object of a call that is under way.
    ///
    /// # Errors
    /// Why it could not be begun.
    pub(crate) fn target(&self) -> Result<&ObjectRef, SystemException> {
        match &self.flight {
            Some(Ok(flight)) => Ok(&flight.target),
            Some(Err(exception)) => Err(exception.clone()),
            None => Err(SystemException::BadInvOrder("a call's future was ready before")),
        }
    }

    /// Its name on the wire; empty where it is not under way.
    pub(crate) fn operation(&self) -> &'static str {
        match &self.flight {
            Some(Ok(flight)) => flight.journey.operation().name,
            _ => "",
        }
    }

    /// Blocks this thread until the result is there or the call's deadline has passed.
    pub fn wait(self) -> Result<R, E> {
        let (deadline, what) = match &self.flight {
            Some(Ok(Flight { journey, .. })) => {
                let what = format!("{} at {}", journey.operation().name, journey.candidate().pool.endpoint());
                (Some(journey.deadline), what)
            }
            _ => (None, "a call's future".to_owned()),
        };
        wait_for(self, deadline, &what).unwrap_or_else(|late| Err(late.into()))
    }
}

/// Blocks this thread until a call's future is ready. The reactor ends the call at its deadline, so this wait needs none of its
/// own; it has one all the same, a second later, and then ends in `TIMEOUT`, which names `what`.
pub(crate) fn wait_for<F: Future + Unpin>(
    future: F,
    deadline: Option<Instant>,
    what: &str,
) -> Result<F::Output, SystemException> {
    wait_until(future, deadline.unwrap_or_else(Instant::now) + Duration::from_secs(1), what)
}

/// Blocks this thread until a future is ready, or until `latest`; it then ends in `TIMEOUT`, which names `what`.
///
/// A thread in an upcall goes on serving while it waits here.
pub(crate) fn wait_until<F: Future + Unpin>(
    mut future: F,
    latest: Instant,
    what: &str,
) -> Result<F::Output, SystemException> {
    /// Wakes by filling a slot.
    struct Bell(Slot);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fill(Ok(Outcome::Sent));
        }
    }
    loop {
        let bell = Arc::new(Bell(Slot::default()));
        if let Poll::Ready(output) =
            Pin::new(&mut future).poll(&mut Context::from_waker(&bell.clone().into()))
        {
            return Ok(output);
        }
        if bell.0.wait(latest).is_none() && Instant::now() >= latest {
            let text = format!("{what}: wait for the reply");
            return Err(SystemException::Timeout(text).completed(Completion::Maybe));
        }
    }
}

impl<R, E> Unpin for Pending<R, E> {}

impl<R, E: OperationError> Future for Pending<R, E> {
    type Output = Result<R, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let outcome = match &mut this.flight {
            Some(Ok(flight)) => std::task::ready!(flight.poll(cx.waker())),
            Some(Err(exception)) => Err(exception.clone()),
            None => Err(SystemException::BadInvOrder("a call's future was polled after it was ready")),
        };
        let flight = this.flight.take();
        let (outcome, Some(Ok(flight))) = (outcome?, flight) else {
            return Poll::Ready(Err(SystemException::Internal("a call ended without having begun").into()));
        };
        let Some(decode) = this.decode.take() else {
            return Poll::Ready(Err(SystemException::Internal("a call's reply was read twice").into()));
        };
        Poll::Ready(match outcome {
            Outcome::Reply(reply, format) => result(&flight.journey, &flight.target, &reply, format, decode),
            Outcome::Sent => decode(&mut Decoder::from_slice(&[], ByteOrder::NATIVE, Format::default()))
                .map_err(|error| flight.journey.unreadable(&error).into()),
        })
    }
}
