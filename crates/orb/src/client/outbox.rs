//! The sending half of a shared connection: messages leave whole and in the order in which they were given.
//!
//! A blocking sender writes on its own thread, in turn. A sender that must not block leaves what the transport does
//! not take in the queue, and the reactor sends it on. A message of which a part has left is finished by whoever
//! comes next, even when its call has been given up: otherwise the connection would be lost for all. One of which nothing
//! has left is withdrawn.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};
use zorb_cdr::Encoder;

use super::slot::{Outcome, Slot};
use crate::transport::Channel;
use crate::transport::gather::send_all;

/// Parts handed to one system call by [`Outbox::flush`], of one message or of many: few enough for the stack.
const PARTS: usize = 32;

/// The messages on their way out of one connection.
pub(crate) struct Outbox {
    state: Mutex<State>,
    turn: Condvar,
    most_queued: usize,
}

struct State {
    /// A thread is connecting, or writes without holding the lock.
    busy: bool,
    ended: bool,
    queue: VecDeque<Queued>,
    octets: usize,
    /// No oneway in the queue has an earlier deadline.
    soonest: Option<Instant>,
    /// Memory of a message that has left, and [returns](Queued::returns).
    spare: Vec<u8>,
}

/// A message that waits.
pub(crate) struct Queued {
    pub(crate) message: Encoder<'static>,
    /// Octets of it that have left.
    pub(crate) sent: usize,
    /// The request's; a CancelRequest has none.
    pub(crate) id: Option<u32>,
    /// It tells the server the code sets, which those behind it leave out: it leaves in any case.
    pub(crate) announces: bool,
    /// Who waits until it has left (oneways).
    pub(crate) notify: Option<Sender>,
    /// Its memory serves again, once it has left.
    pub(crate) returns: bool,
}

impl fmt::Debug for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Queued { id, sent, .. } = self;
        f.debug_struct("Queued").field("id", id).field("sent", sent).finish_non_exhaustive()
    }
}

/// Who waits until a message has left.
#[derive(Clone)]
pub(crate) struct Sender {
    pub(crate) slot: Arc<Slot>,
    pub(crate) started: Instant,
    /// It waits no longer.
    pub(crate) deadline: Instant,
}

/// Why a message was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The connection has ended; nothing of this message was sent.
    Ended,
    /// The deadline passed before its turn came.
    Late,
    /// So many octets wait already.
    Full(usize),
}

/// What a flush left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flushed {
    /// Nothing.
    Everything,
    /// The transport takes nothing more now.
    Blocked,
    /// Another thread is sending; it flushes when it is done.
    Busy,
}

impl Outbox {
    /// An outbox that is busy connecting until [`Outbox::open`]. At most `most_queued` octets will wait in it.
    pub(crate) fn connecting(most_queued: usize) -> Outbox {
        Outbox {
            state: Mutex::new(State {
                busy: true,
                ended: false,
                queue: VecDeque::new(),
                octets: 0,
                soonest: None,
                spare: Vec::new(),
            }),
            turn: Condvar::new(),
            most_queued,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The connection stands: waiting senders may go on.
    pub(crate) fn open(&self) {
        self.lock().busy = false;
        self.turn.notify_all();
    }

    /// Waits for this thread's turn, then lets `write`, which is told whether it had to wait, send the message; whether others wait
    /// for a flush then.
    #[inline(always)]
    pub(crate) fn in_turn<E>(
        &self,
        deadline: Instant,
        write: impl FnOnce(bool) -> Result<(), E>,
    ) -> Result<bool, Turn<E>> {
        let mut state = self.lock();
        let waits = !state.is_free();
        if waits {
            self.wait_until_free(&mut state, deadline).map_err(Turn::Refused)?;
        }
        state.busy = true;
        drop(state);
        let written = write(waits);
        let mut state = self.lock();
        state.busy = false;
        let has_waiting = !state.queue.is_empty();
        drop(state);
        self.turn.notify_one();
        written.map(|()| has_waiting).map_err(Turn::Failed)
    }

    /// Waits for its turn.
    #[cold]
    fn wait_until_free(&self, state: &mut MutexGuard<'_, State>, deadline: Instant) -> Result<(), Refused> {
        while !state.ended {
            if state.is_free() {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refused::Late);
            }
            self.turn.wait_for(state, left);
        }
        Err(Refused::Ended)
    }

    /// Takes a message to be sent without blocking: now if it is its turn, by a later [`Outbox::flush`] otherwise. Refused, it comes back.
    pub(crate) fn take(&self, message: Queued) -> Result<(), (Refused, Box<Queued>)> {
        let mut state = self.lock();
        if state.ended {
            return Err((Refused::Ended, Box::new(message)));
        }
        if state.octets.saturating_add(message.message.len()) > self.most_queued && !state.queue.is_empty() {
            return Err((Refused::Full(state.octets), Box::new(message)));
        }
        state.octets += message.message.len();
        let due = message.notify.as_ref().map(|sender| sender.deadline);
        state.soonest = state.soonest.into_iter().chain(due).min();
        state.queue.push_back(message);
        Ok(())
    }

    /// Memory of a message that has left and returned it, empty; none if there was none.
    pub(crate) fn spare(&self) -> Vec<u8> {
        let mut spare = std::mem::take(&mut self.lock().spare);
        spare.clear();
        spare
    }

    /// Keeps memory for the next who asks.
    pub(crate) fn keep(&self, spare: Vec<u8>) {
        self.lock().spare = spare;
    }

    /// Sends what waits, as far as the transport takes it now.
    pub(crate) fn flush(&self, channel: &dyn Channel) -> io::Result<Flushed> {
        let mut left = Vec::new();
        let flushed = self.flush_and_collect(channel, &mut left);
        // Without the lock: whoever is woken may send at once.
        for sender in left {
            sender.slot.fill(Ok(Outcome::Sent));
        }
        flushed
    }

    /// The same; those who wait for what has left are put into `left`.
    fn flush_and_collect(&self, channel: &dyn Channel, left: &mut Vec<Sender>) -> io::Result<Flushed> {
        let mut state = self.lock();
        if state.busy {
            return Ok(Flushed::Busy);
        }
        while !state.queue.is_empty() {
            let mut taken = send_some(channel, &state.queue)?;
            if taken == 0 {
                return Ok(Flushed::Blocked);
            }
            while let Some(front) = state.queue.front_mut() {
                let total = front.message.len();
                let of_it = taken.min(total - front.sent);
                front.sent += of_it;
                taken -= of_it;
                if front.sent < total {
                    break;
                }
                state.octets -= total;
                let Some(message) = state.queue.pop_front() else { break };
                if message.returns {
                    state.spare = message.message.into_buffer();
                }
                left.extend(message.notify);
            }
        }
        drop(state);
        self.turn.notify_one();
        Ok(Flushed::Everything)
    }

    /// The same; where the transport takes nothing more, this thread waits for it until the deadline, for as long as nobody waits to be
    /// told of the message that comes first.
    pub(crate) fn flush_by(&self, channel: &dyn Channel, deadline: Instant) -> io::Result<Flushed> {
        loop {
            match self.flush(channel)? {
                Flushed::Blocked if self.send_first(channel, deadline)? => {}
                flushed => return Ok(flushed),
            }
        }
    }

    /// Sends the first message on, without the lock: others may be put behind it meanwhile. False: no octet has left.
    fn send_first(&self, channel: &dyn Channel, deadline: Instant) -> io::Result<bool> {
        let mut state = self.lock();
        let may_wait = !state.busy && state.queue.front().is_some_and(|first| first.notify.is_none());
        let Some(mut first) = may_wait.then(|| state.queue.pop_front()).flatten() else { return Ok(false) };
        state.busy = true;
        drop(state);
        let parts = first.message.slices();
        let (sent, error) = match send_all(channel, skipping(first.sent, parts), deadline) {
            Ok(()) => (first.message.len() - first.sent, None),
            Err(unsent) => match unsent.error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => (unsent.sent, None),
                _ => (unsent.sent, Some(unsent.error)),
            },
        };
        let mut state = self.lock();
        state.busy = false;
        first.sent += sent;
        match first.message.len() {
            // Its octets were forgotten with the others.
            _ if state.ended => {}
            // Also where the connection is lost: what it means for a call depends on what has left of it.
            total if first.sent < total => state.queue.push_front(first),
            total => {
                state.octets -= total;
                if first.returns {
                    state.spare = first.message.into_buffer();
                }
            }
        }
        drop(state);
        self.turn.notify_one();
        error.map_or(Ok(sent > 0), Err)
    }

    /// Takes back the request of a call that has been given up. False if it leaves all the same, or has left.
    pub(crate) fn withdraw(&self, id: u32) -> bool {
        let mut state = self.lock();
        let Some(at) = state.queue.iter().position(|message| message.id == Some(id)) else { return false };
        let withdrawn = state.withdraw(at);
        drop(state);
        self.turn.notify_one();
        withdrawn
    }

    /// Oneways that have not left by their deadline are withdrawn: gives back who waits for them, and whether they leave all the
    /// same. Last, the next deadline.
    pub(crate) fn expire(&self, now: Instant) -> (Vec<(Sender, bool)>, Option<Instant>) {
        let (mut expired, mut next) = (Vec::new(), None);
        let mut state = self.lock();
        if state.soonest.is_none_or(|soonest| soonest > now) {
            return (expired, state.soonest);
        }
        let mut at = 0;
        while let Some(message) = state.queue.get_mut(at) {
            let due = message.notify.as_ref().map(|sender| sender.deadline);
            match due {
                Some(due) if due <= now => {
                    let sender = message.notify.take();
                    let withdrawn = state.withdraw(at);
                    expired.extend(sender.map(|sender| (sender, !withdrawn)));
                    if withdrawn {
                        continue;
                    }
                }
                Some(due) => next = Some(next.map_or(due, |next: Instant| next.min(due))),
                None => {}
            }
            at += 1;
        }
        state.soonest = next;
        drop(state);
        self.turn.notify_one();
        (expired, next)
    }

    /// Whether messages wait for a flush.
    #[cfg(test)]
    fn has_waiting(&self) -> bool {
        !self.lock().queue.is_empty()
    }

    /// Nothing more will leave, if nothing waits and nobody connects or sends.
    pub(crate) fn end_if_unused(&self) -> bool {
        let mut state = self.lock();
        let is_unused = !state.busy && state.queue.is_empty();
        state.ended |= is_unused;
        drop(state);
        self.turn.notify_all();
        is_unused
    }

    /// Nothing more will leave. Gives back the messages that wait.
    pub(crate) fn end(&self) -> VecDeque<Queued> {
        let mut state = self.lock();
        state.ended = true;
        state.octets = 0;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        self.turn.notify_all();
        left
    }
}

impl State {
    /// Whether who comes may send.
    #[inline]
    fn is_free(&self) -> bool {
        !self.busy && self.queue.is_empty() && !self.ended
    }

    /// Takes the message at `at` out, unless a part of it has left or others need it.
    fn withdraw(&mut self, at: usize) -> bool {
        let may_go = self.queue.get(at).is_some_and(|message| message.sent == 0 && !message.announces);
        if let Some(message) = may_go.then(|| self.queue.remove(at)).flatten() {
            self.octets -= message.message.len();
        }
        may_go
    }
}

/// How a turn failed.
#[derive(Debug)]
pub(crate) enum Turn<E> {
    /// It never came.
    Refused(Refused),
    /// The sender's own error.
    Failed(E),
}

/// What of the slices is behind so many octets.
fn skipping<'s>(octets: usize, slices: impl Iterator<Item = &'s [u8]>) -> impl Iterator<Item = &'s [u8]> {
    let mut skip = octets;
    slices.filter_map(move |slice| {
        let left = slice.get(skip..).filter(|left| !left.is_empty());
        skip = skip.saturating_sub(slice.len());
        left
    })
}

/// Sends what comes first in the queue, of as many messages as one system call takes.
fn send_some(channel: &dyn Channel, queue: &VecDeque<Queued>) -> io::Result<usize> {
    let mut parts = [IoSlice::new(&[]); PARTS];
    let mut count = 0;
    // A channel of datagrams sends each message as one.
    let at_once = if channel.is_one_way() { 1 } else { PARTS };
    'messages: for queued in queue.iter().take(at_once) {
        for slice in skipping(queued.sent, queued.message.slices()) {
            if count == PARTS {
                break 'messages;
            }
            parts[count] = IoSlice::new(slice);
            count += 1;
        }
    }
    channel.send_now(&parts[..count])
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use zorb_cdr::Format;

    use super::*;
    use crate::client::failure::Failure;
    use crate::transport::scripted::Scripted;

    /// Takes three octets at a time, while it is open.
    fn narrow(open: &AtomicBool) -> Scripted<impl Fn(bool, usize) -> io::Result<usize> + Send + Sync> {
        Scripted::new(move |_, octets| Ok(if open.load(Ordering::Relaxed) { octets.min(3) } else { 0 }))
    }

    /// Takes nothing without waiting, and so many octets of what waits, three at a time; none of them left, that ends as `end` says.
    fn slow(
        room: &AtomicUsize,
        end: io::ErrorKind,
    ) -> Scripted<impl Fn(bool, usize) -> io::Result<usize> + Send + Sync> {
        Scripted::new(move |may_wait, octets| {
            let count = octets.min(3).min(room.load(Ordering::Relaxed));
            match may_wait {
                false => Ok(0),
                true if count == 0 => Err(end.into()),
                true => {
                    room.fetch_sub(count, Ordering::Relaxed);
                    Ok(count)
                }
            }
        })
    }

    #[test]
    fn messages_that_wait_leave_together() {
        let calls = AtomicUsize::new(0);
        let channel = Scripted::new(|_, octets| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(octets)
        });
        let outbox = Outbox::connecting(1 << 20);
        for number in 0..20 {
            outbox.take(queued(&[number; 5], None)).unwrap();
        }
        outbox.open();
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Everything);
        assert_eq!(channel.taken(), (0..20).flat_map(|number| [number; 5]).collect::<Vec<_>>());
        assert_eq!(calls.load(Ordering::Relaxed), 1, "system calls");
    }

    fn queued(octets: &[u8], slot: Option<Arc<Slot>>) -> Queued {
        let started = Instant::now();
        let notify = slot.map(|slot| Sender { slot, started, deadline: started + Duration::from_secs(60) });
        let mut message = Encoder::new(Format::default());
        message.write_octets(octets);
        Queued { message, sent: 0, id: Some(u32::from(octets[0])), announces: false, notify, returns: false }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(20)
    }

    #[test]
    fn messages_leave_whole_and_in_the_order_given() {
        let (outbox, open) = (Outbox::connecting(1 << 20), AtomicBool::new(true));
        let channel = narrow(&open);
        let slot = Arc::new(Slot::default());
        outbox.take(queued(&[1; 10], Some(slot.clone()))).unwrap();
        outbox.take(queued(&[2; 4], None)).unwrap();
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Busy, "it is still connecting");
        outbox.open();
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Everything);
        assert_eq!(channel.taken(), [[1; 10].as_slice(), &[2; 4]].concat());
        assert!(matches!(slot.wait(soon()), Some(Ok(Outcome::Sent))));
        assert!(!outbox.has_waiting());
    }

    #[test]
    fn a_transport_that_takes_nothing_keeps_the_rest_for_later() {
        let (outbox, open) = (Outbox::connecting(1 << 20), AtomicBool::new(false));
        let channel = narrow(&open);
        outbox.open();
        outbox.take(queued(&[1; 10], None)).unwrap();
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Blocked);
        let turn = outbox.in_turn(soon(), |_| Ok::<(), Failure>(()));
        assert!(
            matches!(turn, Err(Turn::Refused(Refused::Late))),
            "a blocking sender may not pass it: {turn:?}"
        );
        open.store(true, Ordering::Relaxed);
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Everything);
        outbox.in_turn(soon(), |_| Ok::<(), Failure>(())).unwrap();
    }

    #[test]
    fn who_may_wait_sends_on_what_waits_until_the_deadline_and_nothing_is_lost_then() {
        let (outbox, room) = (Outbox::connecting(1 << 20), AtomicUsize::new(7));
        let channel = slow(&room, io::ErrorKind::TimedOut);
        outbox.open();
        outbox.take(Queued { returns: true, ..queued(&[1; 10], None) }).unwrap();
        outbox.take(queued(&[2; 4], None)).unwrap();
        assert_eq!(outbox.flush_by(&channel, soon()).unwrap(), Flushed::Blocked, "out of time");
        assert_eq!(channel.taken(), [1; 7]);
        outbox.take(queued(&[3; 4], None)).unwrap();
        assert!(outbox.spare().is_empty());
        room.store(100, Ordering::Relaxed);
        assert_eq!(outbox.flush_by(&channel, soon()).unwrap(), Flushed::Everything);
        assert_eq!(channel.taken(), [[1; 10].as_slice(), &[2; 4], &[3; 4]].concat());
        assert!(outbox.spare().capacity() >= 10, "its memory has come back");
        outbox.in_turn(soon(), |_| Ok::<(), Failure>(())).unwrap();
        assert!(outbox.end().is_empty());
    }

    #[test]
    fn a_message_that_was_being_sent_when_the_connection_was_lost_is_given_back_with_what_had_left_of_it() {
        let (outbox, room) = (Outbox::connecting(1 << 20), AtomicUsize::new(7));
        let channel = slow(&room, io::ErrorKind::ConnectionReset);
        outbox.open();
        outbox.take(queued(&[1; 10], None)).unwrap();
        let lost = outbox.flush_by(&channel, soon()).unwrap_err();
        assert_eq!(lost.kind(), io::ErrorKind::ConnectionReset);
        let left: Vec<_> = outbox.end().iter().map(|message| (message.id, message.sent)).collect();
        assert_eq!(left, [(Some(1), 7)]);
    }

    #[test]
    fn what_somebody_waits_for_is_left_to_whom_its_deadline_is_known() {
        let (outbox, room) = (Outbox::connecting(1 << 20), AtomicUsize::new(100));
        let channel = slow(&room, io::ErrorKind::TimedOut);
        outbox.open();
        let slot = Arc::new(Slot::default());
        outbox.take(queued(&[1; 10], Some(slot))).unwrap();
        assert_eq!(outbox.flush_by(&channel, soon()).unwrap(), Flushed::Blocked);
        assert_eq!(channel.taken(), [], "it may be withdrawn");
    }

    #[test]
    fn it_holds_no_more_than_it_may_and_one_message_of_any_size() {
        let outbox = Outbox::connecting(16);
        outbox.take(queued(&[1; 100], None)).unwrap();
        assert!(matches!(outbox.take(queued(&[2; 1], None)), Err((Refused::Full(100), _))));
    }

    #[test]
    fn a_request_is_withdrawn_unless_a_part_of_it_has_left() {
        let (outbox, open) = (Outbox::connecting(1 << 20), AtomicBool::new(false));
        let channel = narrow(&open);
        outbox.open();
        outbox.take(queued(&[1; 10], None)).unwrap();
        outbox.take(queued(&[2; 10], None)).unwrap();
        outbox.take(Queued { id: None, ..queued(&[3; 2], None) }).unwrap();
        outbox.take(Queued { announces: true, ..queued(&[4; 2], None) }).unwrap();
        outbox.lock().queue[0].sent = 3;
        assert!(!outbox.withdraw(1), "it is completed");
        assert!(outbox.withdraw(2));
        assert!(!outbox.withdraw(2), "it is gone");
        assert!(!outbox.withdraw(4), "what follows needs it");
        open.store(true, Ordering::Relaxed);
        assert_eq!(outbox.flush(&channel).unwrap(), Flushed::Everything);
        assert_eq!(channel.taken(), [[1; 7].as_slice(), &[3; 2], &[4; 2]].concat());
        assert_eq!(outbox.lock().octets, 0);
    }

    #[test]
    fn oneways_wait_until_their_deadline() {
        let outbox = Outbox::connecting(1 << 20);
        let slots: Vec<_> = (0..3).map(|_| Arc::new(Slot::default())).collect();
        for (number, slot) in (1..).zip(&slots) {
            outbox.take(queued(&[number; 10], Some(slot.clone()))).unwrap();
        }
        outbox.lock().queue[0].sent = 3;
        let last = outbox.lock().queue[2].notify.clone().unwrap().deadline;
        let second = outbox.lock().queue[1].notify.clone().unwrap().deadline;
        assert_eq!(outbox.expire(second - Duration::from_secs(60)).0.len(), 0);
        let (expired, next) = outbox.expire(second);
        assert_eq!(expired.iter().map(|(_, begun)| *begun).collect::<Vec<_>>(), [true, false]);
        assert_eq!(next, Some(last));
        let waiting: Vec<_> = outbox.lock().queue.iter().map(|message| message.id).collect();
        assert_eq!(waiting, [Some(1), Some(3)], "what has begun to leave stays");
    }

    #[test]
    fn what_waits_when_it_ends_is_given_back() {
        let outbox = Outbox::connecting(1 << 20);
        outbox.take(queued(&[7; 10], None)).unwrap();
        let left = outbox.end();
        assert_eq!(left.iter().map(|queued| (queued.id, queued.sent)).collect::<Vec<_>>(), [(Some(7), 0)]);
        assert!(matches!(outbox.take(queued(&[8; 1], None)), Err((Refused::Ended, _))));
        let turn = outbox.in_turn(soon(), |_| Ok::<(), Failure>(()));
        assert!(matches!(turn, Err(Turn::Refused(Refused::Ended))), "{turn:?}");
    }
}
