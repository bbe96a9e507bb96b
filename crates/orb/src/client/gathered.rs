//! Oneways that leave together: gathered on a shared connection until a condition of [`Buffering`] holds, then sent as one run of
//! octets.
//!
//! ```text
//! oneway, oneway, oneway …  ──▶ │ message │ message │ message │ …   so many, so many octets, or so long
//!                                        │ release
//! any other message of the connection ───┴──▶ outbox ──▶ one system call
//! ```
//!
//! A oneway that repeats the one before it is added the [short way](again). Messages that are not gathered release what was before them, so all leave in the order in which they were made.

pub(crate) mod again;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::{Encoder, Format};

use super::failure::Failure;
use super::message::{Course, MessageBuffer, Outgoing};
use super::outbox::{Queued, Refused, Turn};
use super::reactor::Reactor;
use super::shared::Shared;
use crate::policy::Buffering;

/// After so long what was due and could not be handed over is tried again.
const AGAIN: Duration = Duration::from_millis(1);

/// What was gathered on one connection.
#[derive(Default)]
pub(super) struct Gathered {
    /// Whether there is anything: who gathers knows it of its own messages.
    any: AtomicBool,
    messages: Mutex<Messages>,
}

#[derive(Default)]
struct Messages {
    /// Where each is written.
    buffer: MessageBuffer,
    /// All of them, one after the other.
    octets: Vec<u8>,
    count: u32,
    /// When they leave at the latest.
    due: Option<Instant>,
    /// How often they have left: those that are here together are of one batch.
    batch: u64,
    /// Ids that nothing else on the connection gets, from this one on: for those that are added the short way.
    next_id: u32,
    ids_left: u32,
    /// Of the one that was added last.
    format: Format,
}

impl Messages {
    /// None is here any more.
    fn begin_batch(&mut self) {
        (self.count, self.due) = (0, None);
        self.batch += 1;
    }
}

impl Gathered {
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Who holds it may wait for room, until a deadline of its own.
    fn lock_by(&self, deadline: Instant) -> Option<MutexGuard<'_, Messages>> {
        self.messages.try_lock_until(deadline)
    }

    /// Gives memory back that nothing is in.
    pub(super) fn rest(&self) {
        if let Some(mut messages) = self.messages.try_lock()
            && messages.count == 0
        {
            messages.octets = Vec::new();
            messages.buffer.rest();
        }
    }

    /// What was gathered is lost with its connection, whose outbox has ended; how many messages.
    pub(super) fn forget(&self) -> u32 {
        let mut messages = self.messages.lock();
        self.any.store(false, Ordering::Release);
        messages.octets = Vec::new();
        let count = messages.count;
        messages.begin_batch();
        count
    }
}

impl Shared {
    /// Gathers a oneway, and releases all when a condition holds. False: it is none that is gathered, and has to be sent.
    pub(crate) fn gather(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        conditions: Buffering,
        reactor: &Reactor,
    ) -> Result<bool, Failure> {
        if course.candidate.pool.largest_oneway().is_some() || !self.is_understood() || self.has_to_offer() {
            return Ok(false);
        }
        let mut messages = self
            .gathered
            .lock_by(course.deadline)
            .ok_or_else(|| self.refusal(Refused::Late, course.started))?;
        // Those that follow in the batch have theirs set aside.
        let more = if messages.ids_left == 0 { conditions.most_messages().min(again::MOST_IDS) } else { 0 };
        let (form, more) = self.next_forms(course, more)?;
        if more > 0 {
            (messages.next_id, messages.ids_left) = (form.id.wrapping_add(1), more);
        }
        let Messages { buffer, octets: gathered, .. } = &mut *messages;
        let gather = |message: &Encoder<'_>| {
            let octets = message.len();
            let fits = octets <= conditions.most_octets() && octets <= course.fragment_size;
            if fits {
                message.slices().for_each(|slice| gathered.extend_from_slice(slice));
            }
            fits
        };
        let fits = buffer.compose(&form, course, outgoing, gather).map_err(Failure::Encode)?;
        if !fits {
            return Ok(false);
        }
        self.note_sent(&form);
        messages.count += 1;
        if messages.due.is_none() {
            let due = course.started + conditions.longest_time();
            messages.due = Some(due);
            self.gathered.any.store(true, Ordering::Release);
            reactor.deadline(due);
        }
        messages.format = form.format;
        if course.candidate.pool.messaging().writer().is_giop() {
            again::note(&self.gathered, messages.batch, course.candidate.identity, outgoing.operation);
        }
        if messages.count >= conditions.most_messages() || messages.octets.len() >= conditions.most_octets() {
            self.release_by(messages, course, reactor)?;
        }
        Ok(true)
    }

    /// Hands over what was gathered, before another message of this connection is: where there is no room it waits for its turn.
    pub(super) fn release_before(
        self: &Arc<Self>,
        course: &Course<'_>,
        reactor: &Reactor,
    ) -> Result<(), Failure> {
        if !self.gathered.has_any() {
            return Ok(());
        }
        let messages = self.gathered.lock_by(course.deadline);
        self.release_by(messages.ok_or_else(|| self.refusal(Refused::Late, course.started))?, course, reactor)
    }

    /// The same without blocking: where there is no room it is refused.
    pub(super) fn release_now(&self) -> Result<(), Refused> {
        if !self.gathered.has_any() {
            return Ok(());
        }
        // Who holds it waits for room.
        let mut messages = self.gathered.messages.try_lock().ok_or(Refused::Late)?;
        self.hand_over(&mut messages)
    }

    fn release_by(
        self: &Arc<Self>,
        mut messages: MutexGuard<'_, Messages>,
        course: &Course<'_>,
        reactor: &Reactor,
    ) -> Result<(), Failure> {
        while let Err(refused) = self.hand_over(&mut messages) {
            let Refused::Full(_) = refused else { return Err(self.refusal(refused, course.started)) };
            // Until the queue is empty.
            if let Err(Turn::Refused(refused)) = self.outbox.in_turn(course.deadline, |_| Ok::<(), ()>(())) {
                return Err(self.refusal(refused, course.started));
            }
        }
        drop(messages);
        // As a oneway that goes alone waits for room: what piles up instead is memory that no cache holds.
        self.flush_by(course.deadline, reactor);
        Ok(())
    }

    /// Puts what was gathered into the queue. Refused, it stays.
    fn hand_over(&self, messages: &mut Messages) -> Result<(), Refused> {
        if messages.count == 0 {
            return Ok(());
        }
        let length = messages.octets.len();
        let octets = std::mem::replace(&mut messages.octets, self.outbox.spare());
        let message = Encoder::continuing(octets, length, Format::default());
        // What announces the code sets may be among them.
        let queued = Queued { message, sent: 0, id: None, announces: true, notify: None, returns: true };
        match self.outbox.take(queued) {
            Ok(()) => {
                messages.begin_batch();
                self.gathered.any.store(false, Ordering::Release);
                Ok(())
            }
            Err((refused, queued)) => {
                let spare = std::mem::replace(&mut messages.octets, queued.message.into_buffer());
                self.outbox.keep(spare);
                Err(refused)
            }
        }
    }

    /// Releases what is due; when the rest is. Never blocks.
    pub(super) fn release_due(self: &Arc<Self>, now: Instant, reactor: &Reactor) -> Option<Instant> {
        if !self.gathered.has_any() {
            return None;
        }
        let Some(mut messages) = self.gathered.messages.try_lock() else { return Some(now + AGAIN) };
        let due = messages.due?;
        if due > now {
            return Some(due);
        }
        match self.hand_over(&mut messages) {
            Ok(()) => {
                drop(messages);
                self.note_used(now);
                self.flush(reactor);
                None
            }
            // The queue is sent on meanwhile.
            Err(_) => Some(now + AGAIN),
        }
    }

    /// Releases what was gathered, and waits until nothing waits to be sent, or the deadline; false: that came first, or the connection has ended.
    pub(crate) fn release(self: &Arc<Self>, deadline: Instant, reactor: &Reactor) -> bool {
        loop {
            let Some(mut messages) = self.gathered.lock_by(deadline) else { return false };
            let handed_over = self.hand_over(&mut messages);
            drop(messages);
            self.flush(reactor);
            let turn = self.outbox.in_turn(deadline, |_| Ok::<(), ()>(()));
            match (handed_over, turn) {
                (Ok(()), Ok(_)) => return true,
                (Err(Refused::Full(_)), Ok(_)) => {}
                _ => return false,
            }
        }
    }
}
