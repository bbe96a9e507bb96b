//! A connection that many calls share: any thread writes in its turn, the reactor reads and hands each reply to
//! the call that waits for it.
//!
//! One that carries requests both ways ([`BothWays`]) is read by the server's threads instead, which hand replies to it, and its channel is what that
//! connection sends by.

mod both_ways;
mod ticket;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::{Encoder, Format, Version};
use zorb_giop::{Inbound, Message, Protocol, ProtocolError, Reply, ResponseFlags};

use super::Settings;
use super::end::End;
use super::failure::{Failure, Step};
use super::gathered::Gathered;
use super::message::{Course, Form, MessageBuffer, Outgoing, Terms, compose, fragmented, send};
use super::outbox::{Flushed, Outbox, Queued, Refused, Sender, Turn};
use super::private::{RESTS_AFTER, TRUSTED_IDLE, closed};
use super::reactor::Reactor;
use super::slot::{Outcome, Slot};
use crate::object::undecoded::UndecodedRequest;
use crate::transport::lent::receive_lent;
use crate::transport::{Armed, Channel, Endpoint, Received, Wanted};
use both_ways::BothWays;
pub(crate) use ticket::Ticket;

/// Reads of one connection before the reactor looks at the others: a flood on one must not starve the rest.
const READS_IN_A_ROW: usize = 16;

/// What calls came to, with their slots: to be put in when nothing is locked, since that may run whoever waits.
type Outcomes = Vec<(Arc<Slot>, Result<Outcome, Failure>)>;

fn fill(outcomes: Outcomes) {
    for (slot, outcome) in outcomes {
        slot.fill(outcome);
    }
}

fn too_large(message: &Encoder<'_>, largest: Option<usize>) -> Option<Failure> {
    let (octets, largest) = (message.len(), largest?);
    (octets > largest).then_some(Failure::TooLarge { octets, largest })
}

/// The connection.
pub(crate) struct Shared {
    endpoint: Endpoint,
    pub(super) messaging: Protocol,
    channel: OnceLock<Arc<dyn Channel>>,
    pub(super) outbox: Outbox,
    /// What messages that leave on their senders' threads are written into, unless somebody else does.
    pub(super) buffer: Mutex<MessageBuffer>,
    /// Oneways that have yet to be given to the outbox.
    pub(super) gathered: Arc<Gathered>,
    calls: Mutex<Calls>,
    inbound: Mutex<Inbound>,
    token: AtomicU64,
    /// The server has answered in the messaging protocol.
    is_understood: AtomicBool,
    /// The transport took nothing, and the channel was asked to tell of room.
    wants_room: AtomicBool,
    both: Option<BothWays>,
}

/// How a look at what has arrived ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The descriptor will tell of more.
    Waits,
    /// There may be more, of which no descriptor tells.
    HasMore,
    /// The connection has.
    Ended,
}

struct Calls {
    terms: Terms,
    waiting: HashMap<u32, Waiting>,
    /// Deadlines of the calls that no thread watches, soonest first.
    deadlines: BTreeSet<(Instant, u32)>,
    end: Option<End>,
    last_used: Instant,
}

struct Waiting {
    slot: Arc<Slot>,
    started: Instant,
    /// Set when no thread watches the deadline, so that the reactor must.
    deadline: Option<Instant>,
    /// The request's.
    format: Format,
}

impl Calls {
    fn remove(&mut self, id: u32) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(waiting)
    }
}

/// What became of a message that was sent on its sender's thread.
pub(crate) enum Posted {
    /// It has left, and nothing comes back.
    Left,
    /// It has left, and something may come.
    Asked(Ticket),
}

impl Shared {
    /// A connection that is about to be opened; messages may be given to it at once.
    pub(crate) fn connecting(endpoint: Endpoint, messaging: Protocol, settings: &Settings) -> Arc<Shared> {
        Self::made(endpoint, messaging, settings, None)
    }

    /// The sending half of a connection that carries requests both ways, by GIOP; `opened_here`: this side opens it.
    pub(crate) fn both_ways(endpoint: Endpoint, settings: &Settings, opened_here: bool) -> Arc<Shared> {
        Self::made(endpoint, Protocol::Giop, settings, Some(BothWays::new(opened_here)))
    }

    fn made(
        endpoint: Endpoint,
        messaging: Protocol,
        settings: &Settings,
        both: Option<BothWays>,
    ) -> Arc<Shared> {
        Arc::new(Shared {
            endpoint,
            channel: OnceLock::new(),
            outbox: Outbox::connecting(settings.outbox),
            buffer: Mutex::default(),
            gathered: Arc::default(),
            calls: Mutex::new(Calls {
                terms: Terms::default(),
                waiting: HashMap::new(),
                deadlines: BTreeSet::new(),
                end: None,
                last_used: Instant::now(),
            }),
            inbound: Mutex::new(settings.inbound(&messaging)),
            // To datagrams nobody answers: what the reference says has to do.
            is_understood: AtomicBool::new(messaging.by_datagrams().is_some()),
            messaging,
            token: AtomicU64::new(0),
            wants_room: AtomicBool::new(false),
            both,
        })
    }

    /// The connection stands: what waits is sent, and the reactor reads from now on.
    pub(crate) fn connected(self: &Arc<Self>, channel: Arc<dyn Channel>, reactor: &Reactor) {
        if self.channel.set(channel).is_err() {
            return;
        }
        if self.has_ended() {
            // Given up while it was opened: the reactor has it among its members, and no descriptor to be told by.
            self.close();
            return reactor.look_again();
        }
        if self.both.is_none()
            && let Err(error) = reactor.watch(self)
        {
            self.end(End::Unusable { step: Step::Watch, kind: error.kind() });
            return;
        }
        self.outbox.open();
        self.flush(reactor);
        if self.channel.get().is_some_and(|channel| channel.driver().is_some()) {
            // They did not know yet that they are to serve the other end.
            self.calls().waiting.values().for_each(|waiting| waiting.slot.look_again());
        }
    }

    /// The number by which the reactor knows it.
    pub(crate) fn token(&self) -> u64 {
        self.token.load(Ordering::Relaxed)
    }

    pub(crate) fn set_token(&self, token: u64) {
        self.token.store(token, Ordering::Relaxed);
    }

    pub(crate) fn channel(&self) -> Option<&Arc<dyn Channel>> {
        self.channel.get()
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.calls().end.is_some()
    }

    /// Whether it stands; `None`: it has been unused for so long that the server may have closed it.
    pub(crate) fn is_usable(&self, now: Instant) -> Option<bool> {
        let calls = self.calls();
        (now <= calls.last_used + TRUSTED_IDLE).then_some(calls.end.is_none())
    }

    /// Gives back what is only there to be quick, if it has not been used for some time.
    pub(crate) fn rest_if_unused(&self, now: Instant) {
        let last_used = self.calls().last_used;
        if now > last_used + RESTS_AFTER
            && let Some(channel) = self.channel.get()
        {
            // Who reads holds it, and does not rest.
            if let Some(mut inbound) = self.inbound.try_lock() {
                inbound.release_memory();
            }
            if let Some(mut buffer) = self.buffer.try_lock() {
                buffer.rest();
            }
            self.gathered.rest();
            self.outbox.keep(Vec::new());
            channel.rest();
        }
    }

    /// Ends the connection if it has not been used since `limit` ago and nothing is under way.
    pub(crate) fn end_if_idle(&self, now: Instant, limit: Duration) -> bool {
        let mut calls = self.calls();
        let is_idle = calls.end.is_none()
            && calls.waiting.is_empty()
            && now.saturating_duration_since(calls.last_used) >= limit
            && !self.gathered.has_any()
            && self.outbox.end_if_unused();
        if is_idle {
            calls.end = Some(End::Idle);
            drop(calls);
            self.close();
        }
        is_idle
    }

    /// Sends on this thread, blocking until the message has left.
    pub(crate) fn send_blocking(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        reactor: &Reactor,
    ) -> Result<Posted, Failure> {
        self.release_before(course, reactor)?;
        let contexts = self.with_offer(outgoing.contexts);
        let outgoing = &mut self.confirmed(outgoing);
        outgoing.contexts = contexts.as_ref().or(outgoing.contexts);
        let (form, ticket) = match outgoing.response.expects_reply() {
            true => self.enter(course, outgoing, None).map(|(form, ticket)| (form, Some(ticket)))?,
            false => (self.next_form(course)?, None),
        };
        match self.send_in_turn(&form, course, outgoing) {
            Ok(more) => {
                self.note_sent(&form);
                self.note_offered(contexts.is_some());
                if more {
                    self.flush(reactor);
                }
                Ok(ticket.map_or(Posted::Left, Posted::Asked))
            }
            Err(unsent) => {
                if let Some(ticket) = &ticket {
                    self.calls().remove(ticket.id);
                }
                Err(self.not_sent(unsent, course.started, reactor))
            }
        }
    }

    /// Writes the message and sends it when its turn comes; whether others wait behind it.
    fn send_in_turn(
        &self,
        form: &Form<'_>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
    ) -> Result<bool, Turn<Box<Failure>>> {
        let failed = |failure| Turn::Failed(Box::new(failure));
        let largest = course.candidate.pool.largest_oneway();
        // A fragment that is lost would cost the whole message, and nobody would know.
        let course = &if largest.is_some() { course.whole() } else { *course };
        // Who finds it taken writes elsewhere: what waits for its turn must not keep others from writing.
        let mut common = self.buffer.try_lock();
        let mut own = MessageBuffer::default();
        let buffer = common.as_deref_mut().unwrap_or(&mut own);
        let sent = buffer.compose(form, course, outgoing, |message| match too_large(message, largest) {
            Some(failure) => Err(failed(failure)),
            None => self.outbox.in_turn(course.deadline, |_| {
                let channel = self.channel.get().expect("the outbox is open, so the channel is there");
                send(&**channel, message, course)
            }),
        });
        sent.map_err(|error| failed(Failure::Encode(error)))?
    }

    /// Why a message has not left, and what that means for the connection.
    #[cold]
    pub(super) fn not_sent(
        self: &Arc<Self>,
        unsent: Turn<Box<Failure>>,
        started: Instant,
        reactor: &Reactor,
    ) -> Failure {
        let failure = match unsent {
            Turn::Refused(refused) => return self.refusal(refused, started),
            Turn::Failed(failure) => *failure,
        };
        match &failure {
            Failure::Encode(_) | Failure::TooLarge { .. } => {}
            Failure::Timeout { sent: false, .. } => self.flush(reactor),
            Failure::NotConnected { cause, .. }
            | Failure::NotSent { cause, .. }
            | Failure::Lost { cause, .. } => {
                self.end(End::Broken { step: Step::Send, kind: cause.kind() });
            }
            // A message that has left in part is of no use to the server, and no other can follow it.
            _ => self.end(End::Broken { step: Step::Send, kind: io::ErrorKind::TimedOut }),
        }
        failure
    }

    /// Hands the message over without blocking; it leaves now or when the reactor can send it. It is `undecoded`, if that is
    /// given, and then `outgoing` writes no arguments.
    pub(crate) fn send_later(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, 'static>,
        undecoded: Option<&UndecodedRequest>,
        reactor: &Reactor,
    ) -> Result<Ticket, Failure> {
        self.release_now().map_err(|refused| self.refusal(refused, course.started))?;
        let contexts = self.with_offer(outgoing.contexts);
        let outgoing = &mut self.confirmed(outgoing);
        outgoing.contexts = contexts.as_ref().or(outgoing.contexts);
        let (form, ticket) = self.enter(course, outgoing, Some(course.deadline))?;
        let largest = course.candidate.pool.largest_oneway();
        // A fragment that is lost would cost the whole message, and nobody would know. What is undecoded was cut by its sender.
        let is_whole = largest.is_some() || undecoded.is_some();
        let course = &if is_whole { course.whole() } else { *course };
        let mut message = Encoder::new(form.format);
        let composed = match undecoded {
            Some(undecoded) => undecoded.compose(&mut message, &form, course, contexts.as_ref()),
            None => compose(&mut message, &form, course, outgoing),
        };
        if let Err(error) = composed {
            return Err(self.leave(&ticket, Failure::Encode(error)));
        }
        if let Some(failure) = too_large(&message, largest) {
            return Err(self.leave(&ticket, failure));
        }
        let message = match message.len() > course.fragment_size {
            true => fragmented(&self.messaging, &message, course.fragment_size).unwrap_or(message),
            false => message,
        };
        let announces = !form.contexts.is_empty() || contexts.is_some();
        let notify = (!outgoing.response.expects_reply()).then(|| Sender {
            slot: ticket.slot.clone(),
            started: course.started,
            deadline: course.deadline,
        });
        match self.outbox.take(Queued {
            message,
            sent: 0,
            id: Some(form.id),
            announces,
            notify,
            returns: false,
        }) {
            Ok(()) => {
                let mut calls = self.calls();
                calls.terms.sent(&form);
                self.note_offered(contexts.is_some());
                let given_up = outgoing.response.expects_reply() && !calls.waiting.contains_key(&form.id);
                drop(calls);
                if given_up {
                    self.outbox.withdraw(form.id);
                }
                self.flush(reactor);
                Ok(ticket)
            }
            Err((refused, _)) => Err(self.leave(&ticket, self.refusal(refused, course.started))),
        }
    }

    /// The same message, its receipt to be confirmed where nobody would learn that the server did not understand it: a oneway
    /// by another protocol than GIOP, before the server has answered in that. What comes instead leads to a repetition by GIOP.
    fn confirmed<'o, 'a>(&self, outgoing: &'o mut Outgoing<'_, 'a>) -> Outgoing<'o, 'a> {
        let is_sure = outgoing.response.expects_reply() || self.is_understood();
        let response = if is_sure { outgoing.response } else { ResponseFlags::WITH_SERVER };
        Outgoing {
            operation: outgoing.operation,
            response,
            arguments: &mut *outgoing.arguments,
            contexts: outgoing.contexts,
        }
    }

    /// Whether the server surely speaks the messaging protocol.
    pub(super) fn is_understood(&self) -> bool {
        matches!(self.messaging, Protocol::Giop) || self.is_understood.load(Ordering::Relaxed)
    }

    /// The form of a message whose outcome nobody waits for.
    pub(super) fn next_form<'c>(&self, course: &Course<'c>) -> Result<Form<'c>, Failure> {
        self.next_forms(course, 0).map(|(form, _)| form)
    }

    /// The same, and so many ids behind its own, for more such messages: 0 where ids are of two sides.
    pub(super) fn next_forms<'c>(&self, course: &Course<'c>, more: u32) -> Result<(Form<'c>, u32), Failure> {
        let mut calls = self.calls();
        if let Some(end) = &calls.end {
            return Err(end.failure(false));
        }
        calls.last_used = course.started;
        let form = self.next_of(&mut calls, course);
        let more = if self.both.is_none() { more } else { 0 };
        calls.terms.reserve(more);
        Ok((form, more))
    }

    /// The form of the next message, whose id tells whose it is where both sides send requests.
    fn next_of<'c>(&self, calls: &mut Calls, course: &Course<'c>) -> Form<'c> {
        let mut form = calls.terms.next(course.candidate);
        if let Some(both) = &self.both {
            form.id = both.ids.next();
        }
        form
    }

    /// The id and the format of a message like the last one to a candidate of this format, if the connection stands and was in use of late.
    #[inline(always)]
    pub(super) fn next_like(&self, format: Format, now: Instant) -> Option<(u32, Format)> {
        let mut calls = self.calls();
        if calls.end.is_some() || now > calls.last_used + TRUSTED_IDLE {
            return None;
        }
        calls.last_used = now;
        calls.terms.reserve(1);
        let code_sets = calls.terms.announced().unwrap_or(format.code_sets);
        Some((calls.terms.last_id(), Format { code_sets, ..format }))
    }

    /// Something was sent, of which the last may have been given to it some time ago.
    pub(super) fn note_used(&self, now: Instant) {
        self.calls().last_used = now;
    }

    /// The message of that form leaves before any that follows.
    pub(super) fn note_sent(&self, form: &Form<'_>) {
        if !form.contexts.is_empty() {
            self.calls().terms.sent(form);
        }
    }

    /// A new id and a place for the outcome.
    fn enter<'c>(
        self: &Arc<Self>,
        course: &Course<'c>,
        outgoing: &Outgoing<'_, '_>,
        deadline: Option<Instant>,
    ) -> Result<(Form<'c>, Ticket), Failure> {
        let slot = Arc::new(Slot::default());
        let mut calls = self.calls();
        if let Some(end) = &calls.end {
            return Err(end.failure(false));
        }
        calls.last_used = course.started;
        let form = self.next_of(&mut calls, course);
        let id = form.id;
        if outgoing.response.expects_reply() {
            let (started, format) = (course.started, form.format);
            calls.waiting.insert(form.id, Waiting { slot: slot.clone(), started, deadline, format });
            calls.deadlines.extend(deadline.map(|deadline| (deadline, form.id)));
        }
        drop(calls);
        Ok((form, Ticket { slot, shared: self.clone(), id, joined: false }))
    }

    /// Takes a call back that was entered and not sent. If the connection has ended meanwhile, its reason is the better one.
    fn leave(&self, ticket: &Ticket, failure: Failure) -> Failure {
        self.calls().remove(ticket.id);
        failure
    }

    pub(super) fn refusal(&self, refused: Refused, started: Instant) -> Failure {
        match refused {
            Refused::Ended => match &self.calls().end {
                Some(end) => end.failure(false),
                None => Failure::ClosedInOrder,
            },
            Refused::Late => {
                Failure::Timeout { step: Step::WaitToSend, sent: false, after: started.elapsed() }
            }
            Refused::Full(octets) => {
                Failure::Limit(format!("{octets} octets wait to be sent already (limit: client outbox)"))
            }
        }
    }

    /// Sends on what waits; asks the reactor to go on when the transport has room again.
    pub(crate) fn flush(self: &Arc<Self>, reactor: &Reactor) {
        let Some(channel) = self.channel.get() else { return };
        loop {
            match self.outbox.flush(&**channel) {
                Ok(Flushed::Everything | Flushed::Busy) => {}
                // Before the channel is asked: from then on its descriptor may tell of room.
                Ok(Flushed::Blocked) if !self.wants_room.swap(true, Ordering::AcqRel) => {
                    match channel.arm(Wanted::Room) {
                        Armed::Ready => {
                            self.wants_room.store(false, Ordering::Release);
                            continue;
                        }
                        how => reactor.waits_for_room(self, how),
                    }
                }
                Ok(Flushed::Blocked) => {}
                Err(error) => self.end(End::Broken { step: Step::Send, kind: error.kind() }),
            }
            return;
        }
    }

    /// The same; waits for room on this thread until the deadline, and asks the reactor then.
    pub(super) fn flush_by(self: &Arc<Self>, deadline: Instant, reactor: &Reactor) {
        let Some(channel) = self.channel.get() else { return };
        match self.outbox.flush_by(&**channel, deadline) {
            Ok(Flushed::Everything | Flushed::Busy) => {}
            Ok(Flushed::Blocked) => self.flush(reactor),
            Err(error) => self.end(End::Broken { step: Step::Send, kind: error.kind() }),
        }
    }

    /// Whether its descriptor was waited for because the transport took nothing; it no longer is.
    pub(crate) fn room_may_have_come(&self) -> bool {
        self.wants_room.load(Ordering::Acquire) && self.wants_room.swap(false, Ordering::AcqRel)
    }

    /// There may be something to read.
    pub(crate) fn readable(&self) -> Reading {
        let mut outcomes = Vec::new();
        let read = self.read(&mut outcomes);
        fill(outcomes);
        read
    }

    fn read(&self, outcomes: &mut Outcomes) -> Reading {
        let Some(channel) = self.channel.get() else { return Reading::Waits };
        let mut inbound = self.inbound.lock();
        for _ in 0..READS_IN_A_ROW {
            let received = match receive_lent(&**channel, &mut inbound) {
                Ok(0) => channel.receive_now(inbound.space()),
                lent => lent.map(|_| Received::Octets(0)),
            };
            let end = match received {
                Ok(Received::Octets(count)) => {
                    inbound.received(count);
                    self.deliver(&mut inbound, outcomes)
                }
                // Nothing comes before who waits has served the other end.
                Ok(Received::Empty) if channel.driver().is_some() => return Reading::Waits,
                Ok(Received::Empty) => match channel.arm(Wanted::Input) {
                    Armed::Ready => continue,
                    _ => return Reading::Waits,
                },
                Ok(Received::Closed) => {
                    Some(End::Broken { step: Step::Receive, kind: io::ErrorKind::UnexpectedEof })
                }
                Err(error) => Some(End::Broken { step: Step::Receive, kind: error.kind() }),
            };
            if let Some(end) = end {
                self.ended(end, outcomes);
                return Reading::Ended;
            }
        }
        Reading::HasMore
    }

    fn deliver(&self, inbound: &mut Inbound, outcomes: &mut Outcomes) -> Option<End> {
        loop {
            match inbound.next() {
                Ok(Some(Message::Reply(reply))) => {
                    self.is_understood.store(true, Ordering::Relaxed);
                    outcomes.extend(self.outcome_of(reply));
                }
                Ok(Some(Message::CloseConnection)) => {
                    self.lose_begun_replies(inbound, outcomes);
                    return Some(End::InOrder);
                }
                Ok(Some(Message::MessageError)) => return Some(End::MessageError),
                Ok(Some(other)) => {
                    let (message, version) = (other.message_type(), Version::V1_2);
                    return Some(self.say_why(ProtocolError::WrongRole { message, version }));
                }
                Ok(None) => return None,
                Err(error) => return Some(self.say_why(error)),
            }
        }
    }

    /// What a reply is to the call that waits for it, if one does.
    fn outcome_of(&self, reply: Reply) -> Option<(Arc<Slot>, Result<Outcome, Failure>)> {
        let mut calls = self.calls();
        calls.last_used = Instant::now();
        let waiting = calls.remove(reply.id)?;
        drop(calls);
        let format = Format { version: reply.version, code_sets: waiting.format.code_sets };
        Some((waiting.slot, Ok(Outcome::Reply(reply, format))))
    }

    /// Calls whose answer had begun when the server closed the connection were executed, unlike the others.
    #[cold]
    fn lose_begun_replies(&self, inbound: &Inbound, outcomes: &mut Outcomes) {
        let mut calls = self.calls();
        let begun: Vec<_> =
            calls.waiting.keys().copied().filter(|&id| inbound.has_part_of_reply(id)).collect();
        for id in begun {
            outcomes.extend(calls.remove(id).map(|call| (call.slot, Err(closed(inbound, id)))));
        }
    }

    /// Tells the server that it broke the protocol, if that can be said without waiting and in between messages.
    #[cold]
    fn say_why(&self, error: ProtocolError) -> End {
        if let Some(channel) = self.channel.get() {
            let octets = self.messaging.message_error(error.answer_version());
            let now = Instant::now();
            let _ = self.outbox.in_turn(now, |_| channel.send_now(&[io::IoSlice::new(&octets)]).map(drop));
        }
        End::Protocol(error)
    }

    /// Ends the connection: every call on it learns why.
    pub(crate) fn end(&self, end: End) {
        let mut outcomes = Vec::new();
        self.ended(end, &mut outcomes);
        fill(outcomes);
    }

    /// The same; what the calls come to is put into `outcomes`.
    fn ended(&self, end: End, outcomes: &mut Outcomes) {
        let mut calls = self.calls();
        if calls.end.is_some() {
            return;
        }
        calls.end = Some(end.clone());
        let mut waiting = std::mem::take(&mut calls.waiting);
        calls.deadlines.clear();
        drop(calls);
        tracing::debug!(peer = %self.endpoint, ?end, "shared connection ended");
        for unsent in self.outbox.end() {
            let failure = || end.failure(unsent.sent > 0);
            let call = unsent.id.and_then(|id| waiting.remove(&id));
            outcomes.extend(call.map(|call| (call.slot, Err(failure()))));
            outcomes.extend(unsent.notify.as_ref().map(|sender| (sender.slot.clone(), Err(failure()))));
        }
        let lost = self.gathered.forget();
        if lost > 0 {
            tracing::warn!(peer = %self.endpoint, lost, ?end, "oneways that were gathered are lost with their connection");
        }
        outcomes.extend(waiting.into_values().map(|call| (call.slot, Err(end.failure(true)))));
        self.close();
    }

    fn close(&self) {
        if let Some(channel) = self.channel.get() {
            channel.close();
        }
    }
}

impl Shared {
    /// Ends the calls and oneways whose deadline has passed and no thread watches; returns the next such deadline.
    pub(crate) fn expire_due(self: &Arc<Self>, now: Instant, reactor: &Reactor) -> Option<Instant> {
        let (unsent, next) = self.outbox.expire(now);
        let next = next.into_iter().chain(self.release_due(now, reactor)).min();
        for (sender, sent) in unsent {
            let after = now.saturating_duration_since(sender.started);
            sender.slot.fill(Err(Failure::Timeout { step: Step::WaitToSend, sent, after }));
        }
        loop {
            let mut calls = self.calls();
            let Some(&(due, id)) = calls.deadlines.first() else { return next };
            if due > now {
                return Some(next.map_or(due, |next| next.min(due)));
            }
            let Some(waiting) = calls.remove(id) else { return next };
            drop(calls);
            let sent = self.give_up(id, &waiting, reactor);
            let step = if sent { Step::WaitForReply } else { Step::WaitToSend };
            let after = now.saturating_duration_since(waiting.started);
            waiting.slot.fill(Err(Failure::Timeout { step, sent, after }));
        }
    }

    /// Takes a request back that has not begun to leave, or tells the server that nobody waits for its reply; whether it has
    /// left, or will.
    fn give_up(self: &Arc<Self>, id: u32, waiting: &Waiting, reactor: &Reactor) -> bool {
        if self.outbox.withdraw(id) {
            return false;
        }
        self.send_cancel(id, waiting.format.version, reactor);
        true
    }

    fn send_cancel(self: &Arc<Self>, id: u32, version: Version, reactor: &Reactor) {
        let mut message = Encoder::new(Format { version, ..Format::default() });
        self.messaging.cancel_request(&mut message, id);
        let queued = Queued { message, sent: 0, id: None, announces: false, notify: None, returns: false };
        if self.outbox.take(queued).is_ok() {
            self.flush(reactor);
        }
    }
}
