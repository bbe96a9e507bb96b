//! Calls: what every stub ends in. A `Journey` decides where to try and whether to try again; this file sends,
//! waits, and turns the reply into the operation's result.

use std::mem;

use zorb_cdr::{DecodeError, Decoder, EncodeError, Encoder, Format};
use zorb_giop::{Reply, ReplyStatus, ResponseFlags, ServiceContexts};

use super::ObjectRef;
use super::asynchronous::{Flight, Pending};
use super::intercepted::travel_seen;
use super::journey::{Journey, Next, is_for_the_caller};
use crate::client::failure::{Failure, Step};
use crate::client::gathered::again::again;
use crate::client::message::{Outgoing, Repeated, WriteArguments};
use crate::client::shared::Posted;
use crate::client::slot::Outcome;
use crate::client::straight::straight;
use crate::client::unsettled;
use crate::exception::SystemException;
use crate::policy::{Buffering, SyncScope};
use crate::probes::{Point, passed};
use crate::raised::{OperationError, Raises};
use crate::skeleton::Operation;
use crate::upcall;

/// A two-way call. `encode` may run more than once (after a forward or a safe retry).
pub fn call<'a, R, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
) -> Result<R, E> {
    let mut decode = Some(decode);
    let mut outcome = None;
    let mut read = |journey: &Journey, reply: &Reply, format| {
        outcome = decode.take().map(|decode| result(journey, target, reply, format, decode));
    };
    travel(target, operation, ResponseFlags::WITH_TARGET, &mut |to| encode(to), &mut read, None)?;
    outcome.unwrap_or_else(|| Err(no_reply(operation).into()))
}

/// A oneway call: returns when the policy's scope is reached.
pub fn oneway<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
) -> Result<(), SystemException> {
    let arguments: &mut WriteArguments<'_, 'a> = &mut |to| encode(to);
    if let Some(conditions) = target.standing().gathers_simply() {
        if gathered_again(target, operation, conditions, arguments) {
            return Ok(());
        }
    } else if target.standing().sends_simply()
        && let Some(ended) = sent_again(target, operation, arguments)
    {
        return ended;
    }
    travel(target, operation, oneway_response(target), arguments, &mut |_, _, _| (), None)
}

/// Gathers a oneway behind one that this thread has made before, if nothing has to be looked at for it that was not looked at for
/// that. False: nothing was done.
#[inline(never)]
fn gathered_again<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    conditions: &Buffering,
    arguments: &mut WriteArguments<'_, 'a>,
) -> bool {
    if !goes_simply(target) {
        return false;
    }
    let Some((whose, by_number)) = target.best_candidate() else { return false };
    let fragment_size = target.standing().fragment_size();
    again(&Repeated { whose, by_number, operation, fragment_size }, conditions, arguments)
}

/// Sends one, if nothing has to be looked at for it either. `None`: nothing was done.
#[inline(never)]
fn sent_again<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    arguments: &mut WriteArguments<'_, 'a>,
) -> Option<Result<(), SystemException>> {
    if !goes_simply(target) {
        return None;
    }
    let reactor = target.orb().reactor().ok()?;
    let (fragment_size, timeout) = (target.standing().fragment_size(), target.standing().call_timeout());
    let (this, format) = target.with_best_candidate(|to| {
        let (whose, by_number) = (to.identity, to.knows_numbers());
        (Repeated { whose, by_number, operation, fragment_size }, to.format)
    })?;
    let sent = straight(&this, format, timeout, arguments, reactor)?;
    Some(sent.or_else(|failure| travel_on(target, operation, arguments, *failure)))
}

/// Whether nobody sees its calls, and its ORB lives.
#[inline(always)]
fn goes_simply(target: &ObjectRef) -> bool {
    let orb = target.orb();
    orb.interceptors().is_none() && orb.check_alive().is_ok()
}

/// The journey of a oneway whose first attempt has failed.
#[cold]
fn travel_on<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    arguments: &mut WriteArguments<'_, 'a>,
    mut failure: Failure,
) -> Result<(), SystemException> {
    let response = ResponseFlags::NONE;
    let mut journey = Journey::begin(target, operation, response)?;
    let mut outgoing = Outgoing { operation, response, arguments, contexts: None };
    loop {
        journey.failed(target, failure)?;
        loop {
            match attempt_on_shared(target, &mut journey, &mut outgoing, &mut |_, _, _| ()) {
                Ok(Next::Done(ended)) => return ended,
                Ok(Next::Again) => {}
                Err(again) => {
                    failure = *again;
                    break;
                }
            }
        }
    }
}

/// A two-way call that is made now and waited for later. `encode` owns the arguments.
pub fn call_async<R: Send + 'static, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'static>) -> Result<(), EncodeError> + Send + 'static,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError> + Send + 'static,
) -> Pending<R, E> {
    let flight = Flight::start(target, operation, ResponseFlags::WITH_TARGET, Box::new(encode));
    Pending::new(flight, Box::new(decode))
}

/// A oneway call that never blocks the caller.
pub fn oneway_async(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'static>) -> Result<(), EncodeError> + Send + 'static,
) -> Pending<(), SystemException> {
    let flight = Flight::start(target, operation, oneway_response(target), Box::new(encode));
    Pending::new(flight, Box::new(|_| Ok(())))
}

pub(crate) fn oneway_response(target: &ObjectRef) -> ResponseFlags {
    match target.limits().sync_scope {
        SyncScope::None | SyncScope::WithTransport => ResponseFlags::NONE,
        SyncScope::WithServer => ResponseFlags::WITH_SERVER,
        SyncScope::WithTarget => ResponseFlags::WITH_TARGET,
    }
}

#[cold]
pub(super) fn no_reply(operation: &Operation) -> SystemException {
    SystemException::Internal(format!("{}: a two-way call ended without a reply", operation.name))
}

/// Reads a reply that carries a result or a user exception, where it lies.
pub(crate) type ReadReply<'r> = dyn FnMut(&Journey, &Reply, Format) + 'r;

/// A request of a call that interceptors see: the call's journey, and what goes with the request.
pub(crate) struct Seen<'s> {
    pub(super) journey: &'s mut Journey,
    pub(super) contexts: Option<&'s ServiceContexts>,
}

/// Attempts until a reply has been read, a oneway has left, or nothing is left to try. A `seen` request ends also when a reply asks for
/// another, which its journey then tells.
pub(crate) fn travel<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    response: ResponseFlags,
    arguments: &mut WriteArguments<'_, 'a>,
    read: &mut ReadReply<'_>,
    seen: Option<Seen<'_>>,
) -> Result<(), SystemException> {
    passed(Point::Begin);
    let mut own;
    let (journey, contexts) = match seen {
        Some(seen) => (seen.journey, seen.contexts),
        None if target.orb().interceptors().is_some() && is_seen(target) => {
            return travel_seen(target, operation, response, arguments, read, None);
        }
        None => {
            own = Journey::new(target, operation, response)?;
            (&mut own, None)
        }
    };
    let mut outgoing = Outgoing { operation, response, arguments, contexts };
    let mut may_join = true;
    loop {
        match attempt(target, journey, &mut outgoing, read, &mut may_join) {
            Ok(Next::Done(ended)) => return ended,
            Ok(Next::Again) => {}
            Err(failure) => journey.failed(target, *failure)?,
        }
        if journey.has_witness() {
            return Ok(());
        }
    }
}

/// Whether interceptors see calls of it.
#[cold]
pub(super) fn is_seen(target: &ObjectRef) -> bool {
    target.orb().interceptors().is_some_and(|interceptors| !interceptors.client.is_empty())
}

/// Sends once, and waits for what comes back. A failure leaves the journey to decide whether to try again.
#[inline(always)]
fn attempt<'a>(
    target: &ObjectRef,
    journey: &mut Journey,
    outgoing: &mut Outgoing<'_, 'a>,
    read: &mut ReadReply<'_>,
    may_join: &mut bool,
) -> Result<Next<Result<(), SystemException>>, Box<Failure>> {
    let course = journey.course();
    let pool = &course.candidate.pool;
    // Oneways, also those whose arrival the server confirms, have their order on the shared connection.
    if outgoing.response != ResponseFlags::WITH_TARGET {
        return attempt_on_shared(target, journey, outgoing, read);
    }
    let Some(mut connection) = pool.lend(&course, *may_join, || journey.connect_by())? else {
        return match mem::take(may_join) {
            true => attempt_with_others(target, journey, outgoing, read),
            false => attempt_on_shared(target, journey, outgoing, read),
        };
    };
    passed(Point::Connection);
    if connection.is_new() {
        target.orb().client().opened();
    }
    let answered = connection.call(&course, outgoing, |reply, format| {
        if !is_for_the_caller(reply.status) {
            return Some(Box::new((reply.clone(), format)));
        }
        course.candidate.note_by_number(reply.by_number);
        journey.prefer();
        read(journey, reply, format);
        passed(Point::Decoded);
        None
    });
    match answered {
        Ok(None) => {
            pool.give_back(connection);
            passed(Point::End);
            Ok(Next::Done(Ok(())))
        }
        Ok(Some(answer)) => {
            let pool = pool.clone();
            let (reply, format) = &*answer;
            let next = arrived(target, journey, reply, *format, read);
            // Its memory has been read.
            drop(answer);
            pool.give_back(connection);
            Ok(next)
        }
        Err(failure) => {
            if let Failure::Encode(_) = *failure {
                // Nothing has left, so the connection is as good as before.
                pool.give_back(connection);
            }
            Err(failure)
        }
    }
}

/// The same where it cannot have a connection to itself, or should not, since many call at a time. If it cannot travel with others either it is to be tried
/// alone.
#[inline(never)]
pub(super) fn attempt_with_others<'a>(
    target: &ObjectRef,
    journey: &mut Journey,
    outgoing: &mut Outgoing<'_, 'a>,
    read: &mut ReadReply<'_>,
) -> Result<Next<Result<(), SystemException>>, Box<Failure>> {
    let course = journey.course();
    let pool = &course.candidate.pool;
    if pool.must_follow(course.candidate) {
        return attempt_on_shared(target, journey, outgoing, read);
    }
    // A thread in an upcall waits by its waiter.
    if upcall::current().is_none()
        && let Some(joined) = pool.join(&course, journey.connect_by())?
        && let Some(answer) = joined.connection.call(&course, outgoing)
    {
        target.orb().client().opened();
        drop(joined);
        let (reply, format) = answer?;
        course.candidate.note_by_number(reply.by_number);
        return Ok(arrived(target, journey, &reply, format, read));
    }
    Ok(Next::Again)
}

/// The same on the endpoint's shared connection.
#[inline(never)]
pub(super) fn attempt_on_shared<'a>(
    target: &ObjectRef,
    journey: &mut Journey,
    outgoing: &mut Outgoing<'_, 'a>,
    read: &mut ReadReply<'_>,
) -> Result<Next<Result<(), SystemException>>, Box<Failure>> {
    let course = journey.course();
    let reactor = target.orb().reactor()?;
    if outgoing.response == ResponseFlags::NONE
        && let Some(conditions) = target.buffering()
        && course.candidate.pool.gather_shared(
            &course,
            outgoing,
            conditions,
            || journey.connect_by(),
            reactor,
        )?
    {
        target.orb().client().opened();
        journey.prefer();
        return Ok(Next::Done(Ok(())));
    }
    let mark = unsettled::mark();
    let posted = course.candidate.pool.send_shared(&course, outgoing, || journey.connect_by(), reactor);
    target.orb().client().opened();
    let Posted::Asked(ticket) = posted? else {
        journey.prefer();
        return Ok(Next::Done(Ok(())));
    };
    match ticket.wait(course.deadline) {
        Some(Ok(Outcome::Sent)) => {
            journey.prefer();
            Ok(Next::Done(Ok(())))
        }
        Some(Ok(Outcome::Reply(reply, format))) => {
            if outgoing.response == ResponseFlags::WITH_TARGET && is_for_the_caller(reply.status) {
                unsettled::settled(ticket.connection(), course.candidate.recipient, mark);
            }
            Ok(arrived(target, journey, &reply, format, read))
        }
        Some(Err(failure)) => Err(failure.into()),
        None => {
            ticket.cancel(reactor);
            let after = course.started.elapsed();
            Err(Failure::Timeout { step: Step::WaitForReply, sent: true, after }.into())
        }
    }
}

/// Any reply: its reader gets what is for the caller, the journey the rest.
#[inline(never)]
pub(super) fn arrived(
    target: &ObjectRef,
    journey: &mut Journey,
    reply: &Reply,
    format: Format,
    read: &mut ReadReply<'_>,
) -> Next<Result<(), SystemException>> {
    match journey.arrived(target, reply, format) {
        Ok(Next::Done(())) => {
            read(journey, reply, format);
            Next::Done(Ok(()))
        }
        Ok(Next::Again) => Next::Again,
        Err(exception) => Next::Done(Err(exception)),
    }
}

/// What the operation's caller gets of a reply that carries a result or a user exception.
#[inline(always)]
pub(super) fn result<R, E: OperationError>(
    journey: &Journey,
    target: &ObjectRef,
    reply: &Reply,
    format: Format,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
) -> Result<R, E> {
    if reply.status == ReplyStatus::NO_EXCEPTION {
        let result = decode(&mut Decoder::over_in(&reply.body, format, target.orb()));
        return result.map_err(|error| journey.unreadable(&error).into());
    }
    Err(user_exception(journey, &mut Decoder::over_in(&reply.body, format, target.orb())))
}

#[cold]
fn user_exception<E: OperationError>(journey: &Journey, body: &mut Decoder<'_>) -> E {
    let id = match body.read_string() {
        Ok(id) => id,
        Err(error) => return journey.unreadable(&error).into(),
    };
    match E::Raises::decode(&id, body) {
        Some(Ok(exception)) => exception,
        Some(Err(error)) => journey.unreadable(&error).into(),
        None => journey.undeclared(&id).into(),
    }
}
