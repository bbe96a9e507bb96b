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
use zorb_giop::{Reply, ReplyStatus, ResponseFlags, ServiceContexts};

use super::ObjectRef;
use super::intercepted::{Ended, end_for_another, end_in};
use super::invoke::result;
use super::journey::{Journey, Next, is_for_the_caller};
use super::undecoded::{UNDECODED, UndecodedRequest};
use crate::client::failure::Failure;
use crate::client::message::Outgoing;
use crate::client::shared::Ticket;
use crate::client::slot::{Outcome, Slot};
use crate::exception::{Completion, SystemException};
use crate::interceptors::{self, Intervention, Passage};
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
    /// Where interceptors see it.
    passage: Option<Box<Passage>>,
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
        let name = || match &undecoded {
            Some(request) => request.operation.clone().into(),
            None => operation.name.into(),
        };
        let contexts =
            || undecoded.as_ref().map_or_else(ServiceContexts::new, |request| request.contexts.clone());
        let mut passage = Passage::of(target, name, response, contexts);
        let (target, journey) = set_out(passage.as_deref_mut(), target.clone(), operation, response, None)?;
        let mut flight = Flight { target, journey, response, encode, undecoded, ticket: None, passage };
        flight.send()?;
        Ok(flight)
    }

    /// Sends until a connection has taken the message.
    fn send(&mut self) -> Result<(), SystemException> {
        loop {
            self.begin_request()?;
            match self.attempt() {
                Ok(ticket) => {
                    self.ticket = Some(ticket);
                    return Ok(());
                }
                Err(failure) => self.failed(failure)?,
            }
        }
    }

    fn attempt(&self) -> Result<Ticket, Failure> {
        let course = self.journey.course();
        let mut arguments = |to: &mut Encoder<'static>| (self.encode)(to);
        let contexts = self.passage.as_ref().map(|passage| passage.contexts());
        let mut outgoing = Outgoing {
            operation: self.journey.operation(),
            response: self.response,
            arguments: &mut arguments,
            contexts: contexts.filter(|contexts| !contexts.is_empty()),
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
                Ok(Outcome::Reply(reply, format)) => match self.arrived_seen(&reply, format) {
                    Ok(Next::Done(())) => return Poll::Ready(Ok(Outcome::Reply(reply, format))),
                    Ok(Next::Again) => Ok(()),
                    Err(exception) => Err(exception),
                },
                Ok(Outcome::Sent) => {
                    self.journey.prefer();
                    match self.end_sent() {
                        Ok(Next::Done(())) => return Poll::Ready(Ok(Outcome::Sent)),
                        Ok(Next::Again) => Ok(()),
                        Err(exception) => Err(exception),
                    }
                }
                Err(failure) => self.failed(failure),
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

/// What interceptors see of it. Without any all of these are what they call.
impl Flight {
    /// Begins a request, if none is under way, and goes where interceptors send it.
    fn begin_request(&mut self) -> Result<(), SystemException> {
        loop {
            let Some(passage) = self.passage.as_mut().filter(|passage| !passage.is_under_way()) else {
                return Ok(());
            };
            let begun = passage.begin(&self.target, self.journey.forwarded_to().cloned());
            if let Some(request) = &mut self.undecoded {
                request.contexts = passage.contexts().clone();
            }
            match begun {
                Ok(()) => return Ok(()),
                Err(intervention) => {
                    self.go(Ended::by(Some(intervention), Ended::Again))?;
                }
            }
        }
    }

    /// Judges an attempt that brought no reply.
    fn failed(&mut self, failure: Failure) -> Result<(), SystemException> {
        let Err(exception) = self.journey.failed(&self.target, failure) else { return Ok(()) };
        match &mut self.passage {
            None => Err(exception),
            Some(passage) => {
                let ended = end_in(passage, &mut self.journey, exception);
                self.go(ended).map(|_| ())
            }
        }
    }

    /// Judges a reply, and has interceptors see it.
    fn arrived_seen(&mut self, reply: &Reply, format: Format) -> Result<Next<()>, SystemException> {
        let judged = self.arrived(reply, format);
        let Some(passage) = &mut self.passage else { return judged };
        let ended = match judged {
            Ok(Next::Done(())) if is_for_the_caller(reply.status) => {
                Ended::by(passage.end_by_reply(reply, format), Ended::Over(Ok(())))
            }
            Ok(Next::Done(())) => {
                self.journey.take_witness();
                Ended::by(passage.end_by_undecoded(reply, format), Ended::Over(Ok(())))
            }
            Ok(Next::Again) => {
                end_for_another(passage, &self.target, &mut self.journey).unwrap_or(Ended::Again)
            }
            Err(exception) => end_in(passage, &mut self.journey, exception),
        };
        self.go(ended)
    }

    /// A oneway has left.
    fn end_sent(&mut self) -> Result<Next<()>, SystemException> {
        let Some(passage) = &mut self.passage else { return Ok(Next::Done(())) };
        let ended = Ended::by(passage.end(interceptors::Outcome::Sent), Ended::Over(Ok(())));
        self.go(ended)
    }

    /// Does what follows from a request's end.
    fn go(&mut self, ended: Ended) -> Result<Next<()>, SystemException> {
        match ended {
            Ended::Over(ended) => ended.map(Next::Done),
            Ended::Again => Ok(Next::Again),
            Ended::Elsewhere(to) => {
                let time = (self.journey.started, self.journey.deadline);
                let operation = self.journey.operation();
                let passage = self.passage.as_deref_mut();
                (self.target, self.journey) = set_out(passage, to, operation, self.response, Some(time))?;
                Ok(Next::Again)
            }
        }
    }
}

/// A journey to `target`, or to where interceptors send the call if there is none.
fn set_out(
    mut passage: Option<&mut Passage>,
    mut target: ObjectRef,
    operation: &'static Operation,
    response: ResponseFlags,
    time: Option<(Instant, Instant)>,
) -> Result<(ObjectRef, Journey), SystemException> {
    loop {
        match (Journey::begin(&target, operation, response), &mut passage) {
            (Ok(journey), None) => return Ok((target, journey)),
            (Ok(mut journey), Some(_)) => {
                journey.watch();
                if let Some(time) = time {
                    journey.continue_from(time);
                }
                return Ok((target, journey));
            }
            (Err(exception), None) => return Err(exception),
            (Err(exception), Some(passage)) => match passage.fail(&target, exception) {
                Intervention::Raise(exception) => return Err(exception),
                Intervention::ForwardRequest(to) => target = to,
            },
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let (Some(ticket), Ok(reactor)) = (&self.ticket, self.target.orb().reactor()) {
            ticket.cancel(reactor);
        }
        if let Some(passage) = self.passage.as_mut().filter(|passage| passage.is_under_way()) {
            // Nobody is left to learn what interceptors make of it.
            let _ = passage.end(interceptors::Outcome::Unknown);
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

impl<R, E> Pending<R, E> {
    /// Interceptors see that a poller asks for the outcome; what one of them raises is it.
    pub(crate) fn polled(&mut self) -> Result<(), SystemException> {
        let Some(Ok(flight)) = &mut self.flight else { return Ok(()) };
        match flight.passage.as_mut().filter(|passage| passage.is_under_way()) {
            Some(passage) => passage.poll(),
            None => Ok(()),
        }
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
