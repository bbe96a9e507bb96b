//! Calls: what every stub ends in. A `Journey` decides where to try and whether to try again; this file sends,
//! waits, and turns the reply into the operation's result.

use zorb_cdr::{DecodeError, Decoder, EncodeError, Encoder, Format};
use zorb_giop::{Reply, ReplyStatus, ResponseFlags};

use super::ObjectRef;
use super::asynchronous::{Flight, Pending};
use super::journey::{Journey, Next};
use crate::client::failure::Failure;
use crate::client::message::{Outgoing, WriteArguments};
use crate::client::pool::Lease;
use crate::client::slot::Outcome;
use crate::exception::SystemException;
use crate::policy::SyncScope;
use crate::skeleton::{Operation, OperationError};

/// A two-way call. `encode` may run more than once (after a forward or a safe retry).
pub fn call<'a, R, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
) -> Result<R, E> {
    let mut journey = Journey::new(target, operation.name)?;
    let answer = travel(target, &mut journey, ResponseFlags::WITH_TARGET, &mut |to| encode(to))?;
    match answer {
        Some(answer) => {
            let (reply, format) = answer.parts();
            result(&journey, target, reply, format, decode)
        }
        None => Err(no_reply(operation).into()),
    }
}

/// A oneway call: returns when the policy's scope is reached.
pub fn oneway<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
) -> Result<(), SystemException> {
    let mut journey = Journey::new(target, operation.name)?;
    travel(target, &mut journey, oneway_response(target), &mut |to| encode(to))?;
    Ok(())
}

/// A two-way call that is made now and waited for later. `encode` owns the arguments.
pub fn call_async<R: Send + 'static, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'static>) -> Result<(), EncodeError> + Send + 'static,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError> + Send + 'static,
) -> Pending<R, E> {
    let flight = Flight::start(target, operation.name, ResponseFlags::WITH_TARGET, Box::new(encode));
    Pending::new(flight, Box::new(decode))
}

/// A oneway call that never blocks the caller.
pub fn oneway_async(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'static>) -> Result<(), EncodeError> + Send + 'static,
) -> Pending<(), SystemException> {
    let flight = Flight::start(target, operation.name, oneway_response(target), Box::new(encode));
    Pending::new(flight, Box::new(|_| Ok(())))
}

fn oneway_response(target: &ObjectRef) -> ResponseFlags {
    match target.limits().sync_scope {
        SyncScope::None | SyncScope::WithTransport => ResponseFlags::NONE,
        SyncScope::WithServer => ResponseFlags::WITH_SERVER,
        SyncScope::WithTarget => ResponseFlags::WITH_TARGET,
    }
}

fn no_reply(operation: &Operation) -> SystemException {
    SystemException::Internal(format!("{}: a two-way call ended without a reply", operation.name))
}

/// A reply, where it lies.
enum Answer {
    /// In the connection that it came on, which others get when the body has been read.
    Private(Lease),
    /// In memory of its own, given up by the shared connection.
    Shared(Box<(Reply, Format)>),
}

impl Answer {
    fn parts(&self) -> (&Reply, Format) {
        match self {
            Answer::Private(lease) => lease.answer(),
            Answer::Shared(shared) => (&shared.0, shared.1),
        }
    }
}

/// Attempts until there is an answer or nothing is left to try. `None`: a oneway has left.
fn travel<'a>(
    target: &ObjectRef,
    journey: &mut Journey,
    response: ResponseFlags,
    arguments: &mut WriteArguments<'_, 'a>,
) -> Result<Option<Answer>, SystemException> {
    loop {
        match attempt(target, journey, response, arguments) {
            Ok(None) => return Ok(None),
            Ok(Some(answer)) => {
                let (reply, format) = answer.parts();
                match journey.arrived(target, reply, format)? {
                    Next::Done(()) => return Ok(Some(answer)),
                    Next::Again => {}
                }
            }
            Err(failure) => journey.failed(target, failure)?,
        }
    }
}

fn attempt<'a>(
    target: &ObjectRef,
    journey: &Journey,
    response: ResponseFlags,
    arguments: &mut WriteArguments<'_, 'a>,
) -> Result<Option<Answer>, Failure> {
    let course = journey.course();
    let pool = &course.candidate.pool;
    let mut outgoing = Outgoing { operation: journey.operation(), response, arguments };
    if response.expects_reply()
        && let Some(mut lease) = pool.lease(course, || journey.connect_by())?
    {
        if lease.is_new {
            target.orb().client().opened();
        }
        lease.call(course, &mut outgoing)?;
        return Ok(Some(Answer::Private(lease)));
    }
    let reactor = target.orb().reactor()?;
    let ticket = pool.send_shared(course, &mut outgoing, journey.connect_by(), reactor)?;
    match ticket.wait(course.deadline) {
        Some(Ok(Outcome::Sent)) => Ok(None),
        Some(Ok(Outcome::Reply(reply, format))) => Ok(Some(Answer::Shared(Box::new((reply, format))))),
        Some(Err(failure)) => Err(failure),
        None => {
            ticket.cancel(reactor);
            let after = course.started.elapsed();
            Err(Failure::Timeout { step: "wait for the reply", sent: true, after })
        }
    }
}

/// What the operation's caller gets of a reply that carries a result or a user exception.
pub(super) fn result<R, E: OperationError>(
    journey: &Journey,
    target: &ObjectRef,
    reply: &Reply,
    format: Format,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
) -> Result<R, E> {
    let mut body = Decoder::over(&reply.body, format).with_context(target.orb());
    if reply.status == ReplyStatus::NO_EXCEPTION {
        return decode(&mut body).map_err(|error| journey.unreadable(&error).into());
    }
    let id = body.read_string().map_err(|error| journey.unreadable(&error))?;
    match E::decode_user(&id, &mut body) {
        Some(Ok(exception)) => Err(exception),
        Some(Err(error)) => Err(journey.unreadable(&error).into()),
        None => Err(journey.undeclared(&id).into()),
    }
}
