//! The way of a call whose result has a place to be received into. It is that of [`travel`](super::invoke::travel) but for the wait; apart, since
//! calls without such a place are not to become longer by it.

use std::cell::RefCell;
use std::mem;

use zorb_giop::ResponseFlags;

use super::ObjectRef;
use super::intercepted::travel_seen;
use super::invoke::{ReadReply, Seen, arrived, attempt_on_shared, attempt_with_others, is_seen};
use super::journey::{Journey, Next};
use crate::client::failure::Failure;
use crate::client::message::{Outgoing, WriteArguments};
use crate::client::private::ResultLanding;
use crate::exception::SystemException;
use crate::skeleton::Operation;

/// As [`travel`](super::invoke::travel), of a two-way call.
pub(super) fn travel_into<'a>(
    target: &ObjectRef,
    operation: &'static Operation,
    arguments: &mut WriteArguments<'_, 'a>,
    read: &mut ReadReply<'_>,
    seen: Option<Seen<'_>>,
    landing: &RefCell<dyn ResultLanding + '_>,
) -> Result<(), SystemException> {
    let response = ResponseFlags::WITH_TARGET;
    let mut own;
    let (journey, contexts) = match seen {
        Some(seen) => (seen.journey, seen.contexts),
        None if is_seen(target) => {
            return travel_seen(target, operation, response, arguments, read, Some(landing));
        }
        None => {
            own = Journey::new(target, operation, response)?;
            (&mut own, None)
        }
    };
    let mut outgoing = Outgoing { operation, response, arguments, contexts };
    let mut may_join = landing.borrow().may_join();
    loop {
        match attempt(target, journey, &mut outgoing, read, &mut may_join, landing) {
            Ok(Next::Done(ended)) => return ended,
            Ok(Next::Again) => {}
            Err(failure) => journey.failed(target, *failure)?,
        }
        if journey.has_witness() {
            return Ok(());
        }
    }
}

/// Sends once, and waits for what comes back.
fn attempt<'a>(
    target: &ObjectRef,
    journey: &mut Journey,
    outgoing: &mut Outgoing<'_, 'a>,
    read: &mut ReadReply<'_>,
    may_join: &mut bool,
    landing: &RefCell<dyn ResultLanding + '_>,
) -> Result<Next<Result<(), SystemException>>, Box<Failure>> {
    let course = journey.course();
    let pool = course.candidate.pool.clone();
    let Some(mut connection) = pool.lend(&course, *may_join, || journey.connect_by())? else {
        return match mem::take(may_join) {
            true => attempt_with_others(target, journey, outgoing, read),
            false => attempt_on_shared(target, journey, outgoing, read),
        };
    };
    if connection.is_new() {
        target.orb().client().opened();
    }
    match connection.call_into(&course, outgoing, landing) {
        Ok((reply, format)) => {
            let next = arrived(target, journey, &reply, format, read);
            // Its memory has been read.
            drop(reply);
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
