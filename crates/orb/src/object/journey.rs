//! One call's way through candidates, forwards and retries: decides, and does no I/O. The blocking call and
//! the future both travel by it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use zorb_cdr::{Decode, Decoder, Format};
use zorb_giop::{
    AddressingDisposition, Giop, Ior, Messaging, ProtocolError, Reply, ReplyStatus, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target,
};

use super::ObjectRef;
use super::route::{Candidate, Destination};
use crate::client::failure::{Failure, Step};
use crate::client::message::Course;
use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::marshal::{decode_exception, received_exception};
use crate::policy::invocation::telling;
use crate::policy::{Rebind, thread_chooses};
use crate::probes::{Point, passed};
use crate::protocols::Protocols;
use crate::skeleton::Operation;

/// Forwards that one call follows. 16: real chains have one or two; two servers that forward to each other would
/// otherwise never end.
const MOST_FORWARDS: u32 = 16;

/// Times that one call is sent again because the server closed the connection in order. 1,000: under a server
/// that was asked to close all the time a call met more than 32 in a row; one that only ever closes is found out soon,
/// not by keeping a core busy until the deadline.
const MOST_REPEATS: u32 = 1000;

/// Endpoints whose failures an exception tells. 16: more nobody reads.
const MOST_UNREACHED: usize = 16;

/// A call on its way.
pub(crate) struct Journey {
    operation: &'static Operation,
    /// It waits for something to come back.
    waits: bool,
    pub(crate) started: Instant,
    pub(crate) deadline: Instant,
    /// From the start on, a connection must stand within this.
    connect_within: Duration,
    fragment_size: usize,
    destination: Arc<Destination>,
    by_forward: bool,
    /// Index of the candidate in use.
    candidate: usize,
    /// Candidates of this destination that were tried and not reached.
    unreached: usize,
    forwards: u32,
    repeats: u32,
    detours: Option<Box<Detours>>,
}

/// What few calls come to have.
#[derive(Default)]
struct Detours {
    /// The longer form in which the server asked for the object.
    addressed: Option<(AddressingDisposition, Target)>,
    /// The thread's choice when the call was made.
    protocols: Option<Protocols>,
    /// Endpoints that were not reached, and why.
    unreached: Vec<String>,
    /// From the start on, the request must have left within this.
    request_within: Option<Duration>,
    /// What the server is told of that.
    policies: Option<Bytes>,
    /// A reference that may be bound once alone.
    binds: Option<ObjectRef>,
    /// Replies that are not for the caller are kept account of.
    watched: bool,
    witness: Option<Witness>,
}

/// What interceptors learn of a reply that is not for the caller.
pub(crate) struct Witness {
    pub(crate) status: ReplyStatus,
    pub(crate) contexts: ServiceContexts,
}

/// What an attempt that failed has found unusable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unreached {
    /// The endpoint, by whatever protocol.
    Endpoint,
    /// The messaging protocol there.
    Protocol,
}

/// What to do after one attempt.
pub(crate) enum Next<T> {
    /// The call is over.
    Done(T),
    /// Try again, by the journey's new state.
    Again,
}

/// Whether a reply of this status is read by who made the call, and not by the journey.
#[inline]
pub(super) fn is_for_the_caller(status: ReplyStatus) -> bool {
    matches!(status, ReplyStatus::NO_EXCEPTION | ReplyStatus::USER_EXCEPTION)
}

/// The deadline, the time for a connection, and what few calls have.
type Bounds = (Instant, Duration, Option<Box<Detours>>);

/// What few calls have: ends to the time in which request and reply are wanted, and a reference that may not be bound anew.
#[cold]
fn constrain(
    target: &ObjectRef,
    operation: &Operation,
    started: Instant,
    (mut deadline, mut connect_within, detours): Bounds,
) -> Result<Bounds, SystemException> {
    let special = target.standing().special();
    let now = SystemTime::now();
    let left = |end: SystemTime, what: &str| match end.duration_since(now) {
        Ok(left) if !left.is_zero() => Ok(left),
        _ => Err(SystemException::Timeout(format!("{}: the {what} end time has passed", operation.name))),
    };
    let request_end = special.request_end(now);
    let request_within = request_end.map(|end| left(end, "request")).transpose()?;
    let reply_within = special.reply_end.map(|end| left(end, "reply")).transpose()?;
    let mut detours = detours.unwrap_or_default();
    if let Some(within) = reply_within {
        deadline = deadline.min(started.checked_add(within).unwrap_or(deadline));
    }
    if let Some(within) = request_within {
        connect_within = connect_within.min(within);
        detours.request_within = Some(within);
        detours.policies = request_end.and_then(telling);
    }
    if special.rebind == Rebind::NoRebind {
        detours.binds = Some(target.clone());
    }
    Ok((deadline, connect_within, Some(detours)))
}

impl Detours {
    /// An answer has come: the reference is bound to who gave it.
    #[cold]
    fn bind(&self) {
        if let Some(target) = &self.binds {
            target.standing().set_bound(true);
        }
    }
}

impl Journey {
    /// [`new`](Self::new), where speed is no concern.
    #[inline(never)]
    pub(crate) fn begin(
        target: &ObjectRef,
        operation: &'static Operation,
        response: ResponseFlags,
    ) -> Result<Journey, SystemException> {
        Self::new(target, operation, response)
    }

    /// Sets out: the deadline begins to run.
    #[inline(always)]
    pub(crate) fn new(
        target: &ObjectRef,
        operation: &'static Operation,
        response: ResponseFlags,
    ) -> Result<Journey, SystemException> {
        target.orb().check_alive()?;
        let limits = target.limits();
        let started = Instant::now();
        passed(Point::Deadline);
        let (destination, by_forward, detours) = if thread_chooses() {
            Self::set_out_by_thread(target)
        } else {
            let (destination, by_forward) = target.route();
            (destination, by_forward, None)
        };
        passed(Point::Route);
        let waits = response.expects_reply();
        let Some(candidate) = destination.first(waits) else {
            return Err(destination.unreachable().context(operation.name));
        };
        let (deadline, connect_within) = (started + limits.call_timeout, limits.connect_timeout);
        let (deadline, connect_within, detours) = match limits.special {
            true => constrain(target, operation, started, (deadline, connect_within, detours))?,
            false => (deadline, connect_within, detours),
        };
        // Made where it is to stay.
        Ok(Journey {
            operation,
            waits,
            started,
            deadline,
            connect_within,
            fragment_size: limits.fragment_size,
            candidate,
            destination,
            by_forward,
            unreached: 0,
            forwards: 0,
            repeats: 0,
            detours,
        })
    }

    /// Refuses what would lead a reference elsewhere that may not be bound anew.
    fn may_rebind(&self) -> Result<(), SystemException> {
        match self.detours.as_ref().and_then(|detours| detours.binds.as_ref()) {
            Some(target) if target.standing().is_bound() => {
                let text = format!(
                    "{} at {}: the object has moved, and the reference may not be bound anew (policy)",
                    self.operation.name,
                    self.candidate().pool.endpoint()
                );
                Err(SystemException::Rebind(text))
            }
            _ => Ok(()),
        }
    }

    /// The route on a thread that has policies of its own.
    #[cold]
    fn set_out_by_thread(target: &ObjectRef) -> (Arc<Destination>, bool, Option<Box<Detours>>) {
        let protocols = target.protocols_of_thread();
        let (destination, by_forward) = target.route_under(protocols.as_ref());
        let detours = protocols.is_some().then(|| Box::new(Detours { protocols, ..Detours::default() }));
        (destination, by_forward, detours)
    }

    /// From now on [`take_witness`](Self::take_witness) tells of replies.
    pub(crate) fn watch(&mut self) {
        self.detours.get_or_insert_default().watched = true;
    }

    /// Whether a reply has come that was not for the caller.
    pub(crate) fn has_witness(&self) -> bool {
        self.detours.as_ref().is_some_and(|detours| detours.witness.is_some())
    }

    /// The last reply that was not for the caller, once.
    pub(crate) fn take_witness(&mut self) -> Option<Witness> {
        self.detours.as_mut()?.witness.take()
    }

    /// Goes on with the time that the call had left.
    pub(crate) fn continue_from(&mut self, before: (Instant, Instant)) {
        let (started, deadline) = before;
        self.connect_within += self.started.saturating_duration_since(started);
        (self.started, self.deadline) = (started, deadline);
    }

    /// Where the call goes by a forward.
    pub(crate) fn forwarded_to(&self) -> Option<&Ior> {
        self.by_forward.then(|| self.destination.ior())
    }

    /// What is called.
    pub(crate) fn operation(&self) -> &'static Operation {
        self.operation
    }

    /// Where to try now.
    #[inline]
    pub(crate) fn candidate(&self) -> &Candidate {
        &self.destination.candidates[self.candidate]
    }

    /// The same with all that a connection has to know.
    #[inline]
    pub(crate) fn course(&self) -> Course<'_> {
        let candidate = self.candidate();
        let (target, policies, is_plain) = match &self.detours {
            Some(detours) => {
                let addressed = detours.addressed.as_ref();
                let target = addressed.map_or(&candidate.target, |addressed| &addressed.1);
                let policies = detours.policies.as_ref();
                (target, policies, addressed.is_none() && policies.is_none())
            }
            None => (&candidate.target, None, true),
        };
        let Journey { started, deadline, fragment_size, .. } = *self;
        Course { candidate, target, started, deadline, fragment_size, policies, is_plain }
    }

    /// By when a connection must stand: the connect timeout, shared out among the candidates still to try, so that a
    /// host that swallows packets leaves time for the next.
    pub(crate) fn connect_by(&self) -> Instant {
        let now = Instant::now();
        let left = self.connect_until().saturating_duration_since(now);
        let candidates = &self.destination.candidates;
        let untried = (0..candidates.len().saturating_sub(self.unreached))
            .map(|ahead| candidates[(self.candidate + ahead) % candidates.len()].pool.endpoint());
        // Protocols of one endpoint stand or fall together.
        let untried = untried.collect::<HashSet<_>>().len().max(1);
        // Who forwarded may have to be asked again.
        let untried = untried + usize::from(self.by_forward);
        now + left / u32::try_from(untried).unwrap_or(u32::MAX)
    }

    /// Judges an attempt that brought no reply.
    #[cold]
    pub(crate) fn failed(&mut self, target: &ObjectRef, failure: Failure) -> Result<(), SystemException> {
        match failure {
            // Not executed: sent again when the connection ends just as the call comes, in order or before an octet
            // has left.
            Failure::ClosedInOrder | Failure::NotSent { .. }
                if self.repeats < MOST_REPEATS && Instant::now() < self.deadline =>
            {
                target.orb().check_alive()?;
                self.repeats += 1;
                self.connect_anew(target);
                Ok(())
            }
            Failure::NotConnected { .. }
            | Failure::NotSent { .. }
            | Failure::Timeout { sent: false, step: Step::Connect, .. } => {
                target.orb().check_alive()?;
                let endpoint = self.candidate().pool.endpoint().clone();
                let unreached = &mut self.detours.get_or_insert_default().unreached;
                if unreached.len() < MOST_UNREACHED {
                    unreached.push(format!("{endpoint}: {}", failure.reason()));
                }
                self.destination.avoid(self.waits, self.started.elapsed());
                self.elsewhere(target, Unreached::Endpoint)
                    .map_err(|()| self.all_failed(failure.into_exception(&endpoint, self.operation.name)))
            }
            // Answered in GIOP where something else was spoken: the server has understood nothing.
            Failure::Protocol(ProtocolError::NotGiop { found }) if Giop.begins(found) => {
                target.orb().check_alive()?;
                self.candidate().note_unspoken();
                self.elsewhere(target, Unreached::Protocol).map_err(|()| self.exception(failure))
            }
            failure => Err(self.exception(failure)),
        }
    }

    /// A connection stood, and the next may take as long as the first was allowed to.
    fn connect_anew(&mut self, target: &ObjectRef) {
        self.connect_within = self.started.elapsed() + target.limits().connect_timeout;
        if let Some(within) = self.detours.as_ref().and_then(|detours| detours.request_within) {
            self.connect_within = self.connect_within.min(within);
        }
    }

    /// The exception of a call that no candidate took: the last one's, with what became of the others.
    fn all_failed(&self, last: SystemException) -> SystemException {
        let unreached = self.detours.as_ref().map_or(&[][..], |detours| &detours.unreached);
        let mut text = String::new();
        if let [before @ .., _] = unreached
            && !before.is_empty()
        {
            text = format!("; before that {}", before.join("; "));
        }
        for index in 0..self.destination.candidates.len() {
            if !self.destination.can_use(index, self.waits) {
                let endpoint = self.destination.candidates[index].pool.endpoint();
                text.push_str(&format!("; {endpoint}: carries oneways alone"));
            }
        }
        if let Some(protocols) = self.destination.protocols() {
            for endpoint in &self.destination.not_allowed {
                text.push_str(&format!("; {endpoint}: not among the transports {protocols}"));
            }
        }
        last.with_more(&text)
    }

    fn exception(&self, failure: Failure) -> SystemException {
        failure.into_exception(self.candidate().pool.endpoint(), self.operation.name)
    }

    /// By when a connection must stand, wherever.
    fn connect_until(&self) -> Instant {
        self.deadline.min(self.started + self.connect_within)
    }

    /// The next candidate, or back from a forward that leads nowhere.
    fn elsewhere(&mut self, target: &ObjectRef, unreached: Unreached) -> Result<(), ()> {
        let endpoint = self.candidate().pool.endpoint().clone();
        if Instant::now() >= self.connect_until() {
            if self.by_forward {
                // The next call asks who forwarded.
                target.0.route.unforward(&self.destination);
            }
            return Err(());
        }
        let count = self.destination.candidates.len();
        self.unreached += 1;
        while self.unreached < count {
            self.candidate = (self.candidate + 1) % count;
            let is_same = *self.candidate().pool.endpoint() == endpoint;
            if self.destination.can_use(self.candidate, self.waits)
                && !(is_same && unreached == Unreached::Endpoint)
            {
                return Ok(());
            }
            self.unreached += 1;
        }
        self.back(target)
    }

    /// Gives a forward up and takes the reference's own word again; counts as a forward, so that it ends.
    fn back(&mut self, target: &ObjectRef) -> Result<(), ()> {
        if !self.by_forward || self.forwards >= MOST_FORWARDS || self.may_rebind().is_err() {
            return Err(());
        }
        target.0.route.unforward(&self.destination);
        self.forwards += 1;
        self.depart(target)
    }

    fn depart(&mut self, target: &ObjectRef) -> Result<(), ()> {
        let protocols = self.detours.as_mut().and_then(|detours| {
            detours.addressed = None;
            detours.protocols.as_ref()
        });
        (self.destination, self.by_forward) = target.route_under(protocols);
        self.unreached = 0;
        self.candidate = self.destination.first(self.waits).ok_or(())?;
        Ok(())
    }

    /// The candidate in use has answered: later calls begin with it.
    #[inline]
    pub(crate) fn prefer(&self) {
        self.destination.prefer(self.candidate, self.waits);
        if let Some(detours) = &self.detours {
            detours.bind();
        }
    }

    /// Judges a reply: what the caller gets, or another attempt.
    pub(crate) fn arrived(
        &mut self,
        target: &ObjectRef,
        reply: &Reply,
        format: Format,
    ) -> Result<Next<()>, SystemException> {
        match reply.status {
            // Who forwards is not the object.
            ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM => {
                self.destination.prefer(self.candidate, self.waits);
            }
            _ => self.prefer(),
        }
        self.candidate().note_by_number(reply.by_number);
        if is_for_the_caller(reply.status) {
            return Ok(Next::Done(()));
        }
        if let Some(detours) = self.detours.as_mut().filter(|detours| detours.watched) {
            detours.witness = Some(Witness { status: reply.status, contexts: reply.contexts.clone() });
        }
        match reply.status {
            ReplyStatus::SYSTEM_EXCEPTION => {
                let exception = self.system_exception(reply, format);
                let may_be_back = exception.completed == Completion::No
                    && matches!(
                        exception.kind,
                        Kind::ObjectNotExist | Kind::Transient | Kind::CommFailure | Kind::InvObjref
                    );
                if may_be_back && self.by_forward && self.back(target).is_ok() {
                    return Ok(Next::Again);
                }
                Err(exception)
            }
            ReplyStatus::LOCATION_FORWARD => self.forwarded(target, reply, format, false),
            ReplyStatus::LOCATION_FORWARD_PERM => self.forwarded(target, reply, format, true),
            ReplyStatus::NEEDS_ADDRESSING_MODE => self.readdressed(reply, format),
            other => Err(self.bad_reply(format!("reply status {other} is none that GIOP knows"))),
        }
    }

    fn system_exception(&self, reply: &Reply, format: Format) -> SystemException {
        let endpoint = self.candidate().pool.endpoint();
        match SystemExceptionBody::decode(&mut Decoder::over(&reply.body, format)) {
            Ok(body) => received_exception(&body, format_args!("{} at {endpoint}", self.operation.name)),
            Err(error) => self.bad_reply(format!("system exception: {error}")),
        }
    }

    fn forwarded(
        &mut self,
        target: &ObjectRef,
        reply: &Reply,
        format: Format,
        permanent: bool,
    ) -> Result<Next<()>, SystemException> {
        let ior = Ior::decode(&mut Decoder::over(&reply.body, format))
            .map_err(|error| self.bad_reply(format!("reference in a location forward: {error}")))?;
        if ior.is_nil() {
            return Err(self.bad_reply("location forward to a nil reference".into()));
        }
        if self.forwards >= MOST_FORWARDS {
            let text = format!("{}: forwarded {MOST_FORWARDS} times without end", self.operation.name);
            return Err(SystemException::Transient(text));
        }
        self.may_rebind()?;
        self.forwards += 1;
        self.connect_anew(target);
        target.forward(&ior, permanent);
        match self.depart(target) {
            Ok(()) => Ok(Next::Again),
            Err(()) => Err(self.destination.unreachable().context(self.operation.name)),
        }
    }

    fn readdressed(&mut self, reply: &Reply, format: Format) -> Result<Next<()>, SystemException> {
        let how = u16::decode(&mut Decoder::over(&reply.body, format)).map(AddressingDisposition);
        let how = how.map_err(|error| self.bad_reply(format!("addressing disposition: {error}")))?;
        let before = self.detours.as_ref().and_then(|detours| detours.addressed.as_ref());
        let asked_before = before.is_some_and(|before| before.0 == how);
        match self.destination.target(self.candidate(), how) {
            Some(target) if !asked_before => {
                self.detours.get_or_insert_default().addressed = Some((how, target));
                Ok(Next::Again)
            }
            Some(_) => Err(self.bad_reply(format!("asked again for addressing by {how}"))),
            None => Err(self.bad_reply(format!("asked for addressing by {how}"))),
        }
    }

    fn bad_reply(&self, what: String) -> SystemException {
        let endpoint = self.candidate().pool.endpoint();
        SystemException::Marshal(format!("{} at {endpoint}: {what}", self.operation.name))
            .completed(Completion::Maybe)
    }

    /// The user exception's or result's bytes do not make what the interface says.
    pub(crate) fn unreadable(&self, error: &zorb_cdr::DecodeError) -> SystemException {
        let endpoint = self.candidate().pool.endpoint();
        decode_exception(error, Completion::Yes)
            .context(format_args!("{} at {endpoint}: reading the reply", self.operation.name))
    }

    /// An exception that the operation does not declare.
    pub(crate) fn undeclared(&self, id: &str) -> SystemException {
        let endpoint = self.candidate().pool.endpoint();
        let text = format!(
            "{} at {endpoint}: raised {id:?}, which the interface does not declare",
            self.operation.name
        );
        SystemException::new(Kind::Unknown, Minor::omg(1), Completion::Yes, text)
    }
}
