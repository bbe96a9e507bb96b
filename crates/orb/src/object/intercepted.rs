//! Calls that client interceptors see: a request for each forward, and what interceptors make of its end.

use zorb_cdr::Format;
use zorb_giop::{Reply, ReplyStatus, ResponseFlags, ServiceContexts};

use super::ObjectRef;
use super::invoke::{ReadReply, Seen, Travels};
use super::journey::Journey;
use crate::client::message::WriteArguments;
use crate::exception::SystemException;
use crate::interceptors::{Intervention, Outcome, Passage};
use crate::policy::Policies;
use crate::skeleton::Operation;

/// How a request ended.
pub(super) enum Ended {
    /// The call is over.
    Over(Result<(), SystemException>),
    /// The call goes on where its journey leads.
    Again,
    /// An interceptor has it go to another object.
    Elsewhere(ObjectRef),
}

impl Ended {
    /// What interceptors put in the place of `otherwise`.
    pub(super) fn by(intervention: Option<Intervention>, otherwise: Ended) -> Ended {
        match intervention {
            None => otherwise,
            Some(Intervention::Raise(exception)) => Ended::Over(Err(exception)),
            Some(Intervention::ForwardRequest(to)) => Ended::Elsewhere(to),
        }
    }
}

/// As [`travel`](super::invoke::travel), past interceptors.
#[cold]
#[inline(never)]
pub(super) fn travel_seen<'a, 'l, L: Travels<'l>>(
    target: &ObjectRef,
    operation: &'static Operation,
    response: ResponseFlags,
    arguments: &mut WriteArguments<'_, 'a>,
    read: &mut ReadReply<'_>,
    landing: L,
) -> Result<(), SystemException> {
    let Some(mut passage) = Passage::of(target, || operation.name.into(), response, ServiceContexts::new)
    else {
        return Err(SystemException::Internal("interceptors that are not there were to see a call"));
    };
    let mut target = target.clone();
    let mut time = None;
    loop {
        let ended = match Journey::begin(&target, operation, response) {
            Err(exception) => Ended::by(Some(passage.fail(&target, exception)), Ended::Again),
            Ok(mut journey) => {
                let time = *time.get_or_insert((journey.started, journey.deadline));
                journey.continue_from(time);
                journey.watch();
                loop {
                    match request(&mut passage, &target, &mut journey, response, arguments, read, landing) {
                        Ended::Again => {}
                        ended => break ended,
                    }
                }
            }
        };
        match ended {
            Ended::Over(ended) => return ended,
            Ended::Elsewhere(to) => target = to,
            Ended::Again => {}
        }
    }
}

/// One request, in as many attempts as it takes to have it answered.
fn request<'a, 'l, L: Travels<'l>>(
    passage: &mut Passage,
    target: &ObjectRef,
    journey: &mut Journey,
    response: ResponseFlags,
    arguments: &mut WriteArguments<'_, 'a>,
    read: &mut ReadReply<'_>,
    landing: L,
) -> Ended {
    if let Err(intervention) = passage.begin(target, journey.forwarded_to().cloned()) {
        return Ended::by(Some(intervention), Ended::Again);
    }
    let contexts = passage.contexts().clone();
    let operation = journey.operation();
    let contexts = Some(&contexts).filter(|contexts| !contexts.is_empty());
    let mut by_reply = None;
    let mut see = |journey: &Journey, reply: &Reply, format: Format| {
        let intervention = passage.end_by_reply(reply, format);
        if intervention.is_none() {
            read(journey, reply, format);
        }
        by_reply = Some(intervention);
    };
    let seen = Some(Seen { journey: &mut *journey, contexts });
    let ended = landing.travel(target, operation, response, arguments, &mut see, seen);
    match (by_reply, ended) {
        (Some(intervention), _) => Ended::by(intervention, Ended::Over(Ok(()))),
        (None, Err(exception)) => end_in(passage, journey, exception),
        (None, Ok(())) => match end_for_another(passage, target, journey) {
            Some(ended) => ended,
            None => Ended::by(passage.end(Outcome::Sent), Ended::Over(Ok(()))),
        },
    }
}

/// The request ends in an exception, which a reply has brought or has been made here.
pub(super) fn end_in(passage: &mut Passage, journey: &mut Journey, exception: SystemException) -> Ended {
    if let Some(witness) = journey.take_witness() {
        passage.note_contexts(&witness.contexts);
    }
    let intervention = passage.end(Outcome::System(exception.clone()));
    Ended::by(intervention, Ended::Over(Err(exception)))
}

/// The request ends, if a reply asks for another.
pub(super) fn end_for_another(
    passage: &mut Passage,
    target: &ObjectRef,
    journey: &mut Journey,
) -> Option<Ended> {
    let witness = journey.take_witness()?;
    passage.note_contexts(&witness.contexts);
    let outcome = match (witness.status, journey.forwarded_to()) {
        (ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM, Some(ior)) => {
            Outcome::Forward(ObjectRef::bound(target.orb().clone(), ior.clone(), Policies::new()))
        }
        _ => Outcome::Retry,
    };
    Some(Ended::by(passage.end(outcome), Ended::Again))
}
