//! A connection that the calls of several threads share while they are under way: what they say leaves together, and what comes for
//! them is read together.
//!
//! ```text
//! caller ─┐ writes its request       ┌─► one send          one receive ─┐   ┌─► caller
//! caller ─┼────────────────► octets ─┤                                  ├───┼─► caller
//! caller ─┘                          └── the reader, one of the callers ┘   └─► the reader itself; another one reads on
//! ```
//!
//! A call on a connection of its own costs two system calls on either side. Where many threads call the same endpoint at once that is
//! most of what a short call costs, and here they share it. There is no thread beside the callers: the first that finds no reader
//! becomes it, sends what others have written, receives, and hands each its reply ([`reading`]); when it has its own it makes
//! another the reader. Before it sends it gives the processor to those that it has just woken, so that their next requests leave with
//! its own.
//!
//! It is for short calls. A large request takes another way, and where answers are large or take long all calls do for
//! a while: then nothing is won by sharing, and whoever shares waits for others. Whether anything is won otherwise is tried ([`trial`]).

mod place;
mod reading;
pub(super) mod trial;

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_cdr::{Encoder, Format};
use zorb_giop::{Inbound, Protocol, Reply};

use super::Settings;
use super::end::End;
use super::failure::{Failure, Step};
use super::message::{Course, MessageBuffer, Outgoing, Terms};
use super::private::{RESTS_AFTER, TRUSTED_IDLE};
use crate::transport::{Channel, Idle};
use place::{Patience, Place, Told};

/// Octets of the largest request that travels here. 4 KiB: a larger one keeps others waiting, and its own system call is a small part of
/// what it costs.
const LARGEST: usize = 4 << 10;

/// Octets of an answer that others should not have to wait for. 16 KiB: from there on it takes longer than a short call.
const LARGE_ANSWER: usize = 16 << 10;

/// What an answer may take, of each call under way: a multiple of what short ones take.
const SHORT: Duration = Duration::from_micros(100);

/// The same, however few there are.
const SHORTEST: Duration = Duration::from_millis(1);

/// After so long in which all answers took long or were large calls take other ways, for that long. 20 ms: no mere hiccup of the machine.
const LASTING: Duration = Duration::from_millis(20);
/// So many answers at the least.
const SEVERAL: u32 = 4;
const ELSEWHERE: Duration = Duration::from_millis(200);

/// Where the transport takes nothing it is tried again after this, or as soon as something has come.
const AGAIN: Duration = Duration::from_millis(1);

/// What a call brought.
pub(super) type Answer = Result<(Reply, Format), Box<Failure>>;

/// Answers, with whose they are: told when nothing is locked.
type Answers = Vec<(Arc<Place>, Answer)>;

fn tell(answers: Answers) {
    for (place, answer) in answers {
        place.tell(Told::Answer(answer));
    }
}

/// The connection.
pub(crate) struct Joint {
    channel: Arc<dyn Channel>,
    messaging: Protocol,
    state: Mutex<State>,
    /// The reader's.
    inbound: Mutex<Inbound>,
    /// Callers who were given their answer, and may be about to call again.
    woken: AtomicU32,
    patience: Patience,
    has_ended: AtomicBool,
    made: Instant,
    /// When the last answer came that was small and did not take long: microseconds since it was made.
    last_short: AtomicU64,
}

struct State {
    terms: Terms,
    /// Where each request is written.
    buffer: MessageBuffer,
    /// Those that have yet to leave, one behind the other.
    octets: Vec<u8>,
    /// Octets that have left, of all requests.
    left: u64,
    /// In the order in which they were written.
    waiting: VecDeque<Waiting>,
    reader: Reader,
    end: Option<End>,
    last_used: Instant,
    lasting: Option<Lasting>,
    /// Until then calls take other ways.
    elsewhere: Option<Instant>,
}

/// Answers that took long or were large, with no other between them.
#[derive(Clone, Copy)]
struct Lasting {
    /// When the first of their calls was made.
    since: Instant,
    /// When the last of them came.
    last: Instant,
    answers: u32,
}

/// Who reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Nobody,
    /// Somebody, who will send what is written before he waits.
    IsAwake,
    /// Somebody, who waits in a receive: who writes sends.
    Waits,
}

/// A call under way.
struct Waiting {
    id: u32,
    place: Arc<Place>,
    format: Format,
    /// Octets of all requests before it, and its own.
    before: u64,
    octets: usize,
    /// It tells the server the code sets, which those behind it leave out.
    announces: bool,
}

impl Waiting {
    /// Whether an octet of it has left.
    fn has_begun(&self, left: u64) -> bool {
        left > self.before
    }
}

impl Joint {
    pub(crate) fn new(channel: Arc<dyn Channel>, messaging: &Protocol, settings: &Settings) -> Joint {
        Joint {
            channel,
            messaging: messaging.clone(),
            state: Mutex::new(State {
                terms: Terms::default(),
                buffer: MessageBuffer::default(),
                octets: Vec::new(),
                left: 0,
                waiting: VecDeque::new(),
                reader: Reader::Nobody,
                end: None,
                last_used: Instant::now(),
                lasting: None,
                elsewhere: None,
            }),
            inbound: Mutex::new(settings.inbound(messaging)),
            woken: AtomicU32::new(0),
            patience: Patience::new(settings.spinners.as_ref()),
            has_ended: AtomicBool::new(false),
            made: Instant::now(),
            last_short: AtomicU64::new(0),
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Whether a call may be tried on it though it was not used just now: the server has neither closed it nor said that it will.
    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        if state.end.is_none()
            && state.waiting.is_empty()
            && now > state.last_used + TRUSTED_IDLE
            && self.channel.state() != Idle::Quiet
        {
            self.close(&mut state, End::InOrder);
        }
        state.end.is_none()
    }

    /// Ends it if nothing was under way for so long; true: it has ended, by this or otherwise.
    pub(crate) fn end_if_idle(&self, now: Instant, limit: Duration) -> bool {
        let mut state = self.state.lock();
        let is_idle = state.waiting.is_empty() && now.saturating_duration_since(state.last_used) >= limit;
        if is_idle && state.end.is_none() {
            self.close(&mut state, End::Idle);
        }
        state.end.is_some()
    }

    /// Gives back what is only there to be quick, if it has not been used for some time.
    pub(crate) fn rest_if_unused(&self, now: Instant) {
        let last_used = self.state.lock().last_used;
        // Who reads holds it, and does not rest.
        if now > last_used + RESTS_AFTER
            && let Some(mut inbound) = self.inbound.try_lock()
        {
            inbound.release_memory();
            self.channel.rest();
        }
    }

    /// Ends it: every call on it learns why.
    pub(crate) fn end(&self, end: End) {
        let mut answers = Vec::new();
        self.ended(end, &mut answers);
        tell(answers);
    }

    /// The same; what the calls come to is put into `answers`.
    fn ended(&self, end: End, answers: &mut Answers) {
        let mut state = self.state.lock();
        if state.end.is_some() {
            return;
        }
        tracing::debug!(peer = %self.channel.peer(), ?end, "a connection of several callers ended");
        let left = state.left;
        for waiting in mem::take(&mut state.waiting) {
            let failure = end.failure(waiting.has_begun(left));
            answers.push((waiting.place, Err(failure.into())));
        }
        self.close(&mut state, end);
    }

    fn close(&self, state: &mut State, end: End) {
        state.end = Some(end);
        state.octets = Vec::new();
        self.has_ended.store(true, Ordering::Release);
        self.channel.close();
    }

    /// Makes a call. `None`: it has to take another way, and nothing has left.
    pub(crate) fn call(&self, course: &Course<'_>, outgoing: &mut Outgoing<'_, '_>) -> Option<Answer> {
        let mut state = self.state.lock();
        if let Some(end) = &state.end {
            return Some(Err(end.failure(false).into()));
        }
        if state.elsewhere.is_some_and(|until| course.started < until) {
            return None;
        }
        let form = state.terms.next(course.candidate);
        let before = state.left + state.octets.len() as u64;
        let State { buffer, octets: waiting, .. } = &mut *state;
        let join = |message: &Encoder<'_>| {
            let octets = message.len();
            let fits = octets <= LARGEST.min(course.fragment_size);
            if fits {
                message.slices().for_each(|slice| waiting.extend_from_slice(slice));
            }
            fits.then_some(octets)
        };
        let octets = match buffer.compose(&form, course, outgoing, join) {
            Ok(octets) => octets?,
            Err(error) => return Some(Err(Failure::Encode(error).into())),
        };
        // All leave in the order in which they are written here.
        state.terms.sent(&form);
        state.last_used = course.started;
        let (id, format, announces) = (form.id, form.format, !form.contexts.is_empty());
        let place = Place::take();
        state.waiting.push_back(Waiting { id, place: place.clone(), format, before, octets, announces });
        // One of those who were woken has come back.
        let _ = self.woken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |woken| woken.checked_sub(1));
        let reads = state.reader == Reader::Nobody;
        let sent = match state.reader {
            Reader::Nobody => {
                state.reader = Reader::IsAwake;
                Ok(true)
            }
            Reader::IsAwake => Ok(true),
            Reader::Waits => state.send_out(&*self.channel),
        };
        let callers = state.waiting.len();
        drop(state);
        if !matches!(sent, Ok(true)) {
            self.go_on_sending(sent, course.deadline);
        }
        let answer = self.wait(&place, id, reads, callers, course);
        place.give_back();
        self.note(&answer, callers, course);
        Some(answer)
    }

    /// The transport has not taken all, and the reader waits: sees to it that the rest leaves, or that all learn why it cannot.
    #[cold]
    fn go_on_sending(&self, mut sent: io::Result<bool>, deadline: Instant) {
        loop {
            match sent {
                Ok(true) => return,
                Ok(false) if Instant::now() >= deadline => return,
                Ok(false) => thread::sleep(AGAIN),
                Err(error) => return self.end(End::Broken { step: Step::Send, kind: error.kind() }),
            }
            let mut state = self.state.lock();
            if state.end.is_some() || state.reader != Reader::Waits {
                return;
            }
            sent = state.send_out(&*self.channel);
        }
    }

    fn wait(
        &self,
        place: &Arc<Place>,
        id: u32,
        mut reads: bool,
        callers: usize,
        course: &Course<'_>,
    ) -> Answer {
        loop {
            if reads && let Some(answer) = self.read(place, course) {
                return answer;
            }
            reads = false;
            match place.wait(course.deadline, &self.patience, callers) {
                Some(Told::Answer(answer)) => return answer,
                Some(Told::Reads) => reads = true,
                None => {
                    if let Some(overdue) = self.give_up(place, id, course) {
                        return overdue;
                    }
                    // Its answer is about to be told.
                    thread::yield_now();
                }
            }
        }
    }

    /// Calls take other ways for a time where answers take long or are large.
    fn note(&self, answer: &Answer, callers: usize, course: &Course<'_>) {
        let Ok((reply, _)) = answer else { return };
        let short = SHORTEST.max(SHORT * u32::try_from(callers).unwrap_or(u32::MAX).min(10_000));
        let now = Instant::now();
        let lasts = reply.body.len() > LARGE_ANSWER || now.saturating_duration_since(course.started) > short;
        if !lasts {
            let since = now.saturating_duration_since(self.made).as_micros();
            return self.last_short.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        let last_short = self.made + Duration::from_micros(self.last_short.load(Ordering::Relaxed));
        let mut state = self.state.lock();
        // A pause is not part of it, nor what was before an answer that was short.
        let goes_on = state.lasting.filter(|lasting| course.started < lasting.last + LASTING);
        let (since, answers) =
            goes_on.map_or((course.started, 0), |lasting| (lasting.since, lasting.answers));
        let lasting = Lasting { since: since.max(last_short), last: now, answers: answers + 1 };
        state.lasting = Some(lasting);
        if lasting.answers >= SEVERAL && now.saturating_duration_since(lasting.since) > LASTING {
            (state.lasting, state.elsewhere) = (None, Some(now + ELSEWHERE));
        }
    }

    /// The deadline has passed. `None`: the call was answered all the same.
    #[cold]
    fn give_up(&self, place: &Place, id: u32, course: &Course<'_>) -> Option<Answer> {
        let mut state = self.state.lock();
        let at = state.waiting.iter().position(|waiting| waiting.id == id)?;
        let sent = match state.take_back(at) {
            true => false,
            false => {
                let version = state.waiting.remove(at)?.format.version;
                let mut message = Encoder::new(Format { version, ..Format::default() });
                self.messaging.cancel_request(&mut message, id);
                state.octets.extend_from_slice(&message.into_buffer());
                true
            }
        };
        if let Some(Told::Reads) = place.hear() {
            state.pass_on();
        }
        let broken = match state.reader {
            Reader::IsAwake => None,
            Reader::Nobody | Reader::Waits => state.send_out(&*self.channel).err(),
        };
        drop(state);
        if let Some(error) = broken {
            self.end(End::Broken { step: Step::Send, kind: error.kind() });
        }
        let after = course.started.elapsed();
        Some(Err(Failure::Timeout { step: Step::WaitForReply, sent, after }.into()))
    }
}

impl State {
    /// Sends what was written, as far as the transport takes it now; false: not all.
    fn send_out(&mut self, channel: &dyn Channel) -> io::Result<bool> {
        if self.octets.is_empty() {
            return Ok(true);
        }
        let sent = channel.send_now(&[IoSlice::new(&self.octets)])?;
        self.left += sent as u64;
        let is_whole = sent == self.octets.len();
        match is_whole {
            true => self.octets.clear(),
            false => drop(self.octets.drain(..sent)),
        }
        Ok(is_whole)
    }

    /// Another caller reads on, if one waits.
    fn pass_on(&mut self) {
        match self.waiting.front() {
            Some(next) => {
                self.reader = Reader::IsAwake;
                next.place.tell(Told::Reads);
            }
            None => self.reader = Reader::Nobody,
        }
    }

    /// Takes a request back of which nothing has left, unless others need it.
    fn take_back(&mut self, at: usize) -> bool {
        let Some(waiting) = self.waiting.get(at) else { return false };
        if waiting.has_begun(self.left) || waiting.announces {
            return false;
        }
        let (from, octets) = ((waiting.before - self.left) as usize, waiting.octets);
        self.octets.drain(from..from + octets);
        self.waiting.remove(at);
        for behind in self.waiting.iter_mut().skip(at) {
            behind.before -= octets as u64;
        }
        true
    }
}
