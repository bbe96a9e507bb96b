//! Dynamic calls: a [`Request`] is made of a reference and a [`Signature`], and called as often as one likes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use zorb_cdr::{Any, DecodeError, Decoder, Encode as _, EncodeError, Encoder, Format};
use zorb_giop::{Reply, ReplyStatus, ResponseFlags};

use super::signature::check;
use super::{DynamicError, Results, Signature, names};
use crate::client::slot::Outcome;
use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::object::asynchronous::{Flight, wait_for};
use crate::object::invoke::{ReadReply, oneway_response, travel};
use crate::object::journey::Journey;
use crate::properties::{Properties, properties};
use crate::skeleton::Operation;

/// An operation of an object, ready to be called with arguments.
///
/// All calls go by message, also those to objects of this ORB. Policies are those of the reference.
#[derive(Clone, Debug)]
pub struct Request {
    target: ObjectRef,
    signature: Arc<Signature>,
    operation: &'static Operation,
    /// Those of its `context` clause; `None` if it has none.
    properties: Option<Properties>,
}

impl Request {
    /// The operation `signature` of `target`.
    ///
    /// # Errors
    /// `BAD_PARAM`: a signature that no operation can have. `IMP_LIMIT`: names of 4 MiB are kept, and no more.
    pub fn new(target: &ObjectRef, signature: Arc<Signature>) -> Result<Request, SystemException> {
        signature.check()?;
        let operation = names::operation(&signature)?;
        let properties = (!signature.contexts.is_empty()).then(Properties::new);
        Ok(Request { target: target.clone(), signature, operation, properties })
    }

    /// The same with these properties, of which those go out that the operation's `context` clause names.
    #[must_use]
    pub fn with_properties(mut self, given: &Properties) -> Request {
        let clause: Vec<&str> = self.signature.contexts.iter().map(String::as_str).collect();
        self.properties = self.properties.map(|_| properties(given, &clause));
        self
    }

    /// The object.
    pub fn target(&self) -> &ObjectRef {
        &self.target
    }

    /// The operation.
    pub fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// Calls, and blocks this thread until the results are there or the call's deadline has passed. `arguments` are those of
    /// the `in` and `inout` parameters, in order. A oneway returns when its scope is reached, with nothing.
    ///
    /// # Errors
    /// The exceptions that the signature names. `BAD_PARAM`: arguments that do not fit the signature. Otherwise as any call.
    pub fn invoke(&self, arguments: &[Any]) -> Result<Results, DynamicError> {
        if self.signature.oneway {
            return Ok(self.send_oneway(arguments).map(|()| Results::nothing())?);
        }
        self.check(arguments)?;
        let mut outcome = None;
        let mut read = |journey: &Journey, reply: &Reply, format| {
            outcome = Some(results(&self.signature, journey, &self.target, reply, format));
        };
        let (target, operation) = (&self.target, self.operation);
        let response = ResponseFlags::WITH_TARGET;
        let properties = self.properties.as_ref();
        travel(
            target,
            operation,
            response,
            &mut |to| write(operation, arguments, properties, to),
            &mut read,
            None,
        )?;
        outcome.unwrap_or_else(|| {
            let text = format!("{}: a two-way call ended without a reply", self.operation.name);
            Err(SystemException::Internal(text).into())
        })
    }

    /// Sends the call as a oneway, whether or not it was declared as one: results and exceptions do not come back
    /// (`send_oneway`). Returns when the scope is reached that the policies choose.
    ///
    /// # Errors
    /// As for any oneway; `BAD_PARAM`: arguments that do not fit the signature.
    pub fn send_oneway(&self, arguments: &[Any]) -> Result<(), SystemException> {
        self.check(arguments)?;
        let (target, operation) = (&self.target, self.operation);
        let response = oneway_response(target);
        let read: &mut ReadReply<'_> = &mut |_, _, _| ();
        let properties = self.properties.as_ref();
        travel(target, operation, response, &mut |to| write(operation, arguments, properties, to), read, None)
    }

    /// Makes the call now, without blocking, and gives what waits for its results (`send_deferred`).
    ///
    /// What goes wrong is learnt by waiting.
    pub fn send_deferred(&self, arguments: Vec<Any>) -> Deferred {
        let operation = self.operation;
        let response = match self.signature.oneway {
            true => oneway_response(&self.target),
            false => ResponseFlags::WITH_TARGET,
        };
        let flight = self.check(&arguments).and_then(|()| {
            let properties = self.properties.clone();
            let write = move |to: &mut Encoder<'static>| {
                write_owned(operation, &arguments, to)?;
                properties.clone().map_or(Ok(()), |properties| properties.encode_owned(to))
            };
            Flight::start(&self.target, operation, response, Box::new(write))
        });
        Deferred { flight: Some(flight), signature: self.signature.clone(), ended: None }
    }

    fn check(&self, arguments: &[Any]) -> Result<(), SystemException> {
        check(self.operation.name, arguments, self.signature.given())
    }
}

#[cold]
fn named(error: EncodeError, operation: &Operation, at: usize) -> EncodeError {
    operation.parameters.get(at).map_or(error, |parameter| error.in_what(parameter))
}

fn write<'a>(
    operation: &Operation,
    arguments: &'a [Any],
    properties: Option<&'a Properties>,
    to: &mut Encoder<'a>,
) -> Result<(), EncodeError> {
    let write =
        |(at, value): (usize, &'a Any)| value.encode_value(to).map_err(|error| named(error, operation, at));
    arguments.iter().enumerate().try_for_each(write)?;
    properties.map_or(Ok(()), |properties| properties.encode(to))
}

fn write_owned(
    operation: &Operation,
    arguments: &[Any],
    to: &mut Encoder<'static>,
) -> Result<(), EncodeError> {
    let write = |(at, value): (usize, &Any)| {
        value.clone().encode_value_owned(to).map_err(|error| named(error, operation, at))
    };
    arguments.iter().enumerate().try_for_each(write)
}

/// What the caller gets of a reply that carries results or a user exception.
fn results(
    signature: &Signature,
    journey: &Journey,
    target: &ObjectRef,
    reply: &Reply,
    format: Format,
) -> Result<Results, DynamicError> {
    let mut body = Decoder::over_in(&reply.body, format, target.orb());
    if reply.status == ReplyStatus::NO_EXCEPTION {
        return read_results(signature, &mut body).map_err(|error| journey.unreadable(&error).into());
    }
    // The id stands before the members, and is a part of how an any holds an exception.
    let id = Decoder::over(&reply.body, format).read_string();
    let id = id.map_err(|error| journey.unreadable(&error))?;
    let Some(exception) = signature.exception(&id) else { return Err(journey.undeclared(&id).into()) };
    let exception =
        Any::decode_value(exception.clone(), &mut body).map_err(|error| journey.unreadable(&error))?;
    Err(DynamicError::User(exception))
}

fn read_results(signature: &Signature, body: &mut Decoder<'_>) -> Result<Results, DecodeError> {
    let result = match signature.has_result() {
        true => {
            let read = Any::decode_value(signature.result.clone(), body);
            read.map_err(|error| error.in_member("result"))?
        }
        false => Any::EMPTY,
    };
    let outputs = signature.outputs().map(|parameter| parameter.read(body));
    Ok(Results { result, outputs: outputs.collect::<Result<_, _>>()? })
}

/// A dynamic call in flight: a future of its results. Dropping it cancels the call.
#[must_use = "dropping it cancels the call"]
pub struct Deferred {
    flight: Option<Result<Flight, SystemException>>,
    signature: Arc<Signature>,
    ended: Option<Result<Results, DynamicError>>,
}

impl Deferred {
    /// Whether the results are there, or an exception (`poll_response`): then [`get_response`](Self::get_response) does not
    /// block.
    pub fn poll_response(&mut self) -> bool {
        if self.ended.is_none()
            && let Poll::Ready(ended) = self.poll_flight(Waker::noop())
        {
            self.ended = Some(ended);
        }
        self.ended.is_some()
    }

    /// Blocks this thread until the results are there or the call's deadline has passed (`get_response`).
    ///
    /// # Errors
    /// As [`Request::invoke`].
    pub fn get_response(self) -> Result<Results, DynamicError> {
        let deadline = match &self.flight {
            Some(Ok(flight)) => Some(flight.deadline()),
            _ => None,
        };
        let operation = self.signature.operation.clone();
        wait_for(self, deadline, &operation).unwrap_or_else(|late| Err(late.into()))
    }

    fn poll_flight(&mut self, waker: &Waker) -> Poll<Result<Results, DynamicError>> {
        let outcome = match &mut self.flight {
            Some(Ok(flight)) => std::task::ready!(flight.poll(waker)),
            Some(Err(exception)) => Err(exception.clone()),
            None => Err(SystemException::BadInvOrder("a call's future was polled after it was ready")),
        };
        let flight = self.flight.take();
        let (outcome, Some(Ok(flight))) = (outcome?, flight) else {
            return Poll::Ready(Err(SystemException::Internal("a call ended without having begun").into()));
        };
        Poll::Ready(match outcome {
            Outcome::Reply(reply, format) if !self.signature.oneway => {
                let (target, journey) = flight.parts();
                results(&self.signature, journey, target, &reply, format)
            }
            _ => Ok(Results::nothing()),
        })
    }
}

/// # Errors
/// As [`Request::invoke`].
impl Future for Deferred {
    type Output = Result<Results, DynamicError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.ended.take() {
            Some(ended) => Poll::Ready(ended),
            None => self.poll_flight(cx.waker()),
        }
    }
}
