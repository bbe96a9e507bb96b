//! One client's connection: octets to requests, requests counted until they are answered, and the end of it all.
//!
//! A connection is read by one thread at a time, the one that has the *turn*; nobody has it while the connection is
//! parked in the keeper's set. Requests live on by themselves: each holds its connection, and any thread may answer.
//!
//! ```text
//! Open ──► Closing ──────────────► Draining ───────────────────────► Ended
//!          not read any more;      CloseConnection (or MessageError) the peer closed,
//!          requests are answered   is sent; input is thrown away     or a deadline passed
//! ```
//!
//! Closing this way loses nothing: what was read is answered first, what was not read was not executed, and the client,
//! which knows that from the CloseConnection (CORBA 3.4 part 2 §9.4.7), sends it again elsewhere.

pub(crate) mod both_ways;
pub(super) mod bulk;
mod closing;
mod reading;

use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::{Encoder, Version};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{Inbound, Protocol};
use zorb_ipc::Interest;

use super::cancel::Cancelled;
use super::dispatch::Engine;
use super::dispatch::flood::Flood;
use super::flight::Flight;
use super::known::Heads;
use super::order::Order;
use super::request::ServerRequest;
use super::writing::{Sent, Writing};
use crate::transport::{Armed, Channel, Endpoint, Wanted};
use both_ways::{Both, Heard};
use bulk::Arrival;
pub(super) use closing::begin_round;

const OPEN: u8 = 0;
const CLOSING: u8 = 1;
const DRAINING: u8 = 2;
const ENDED: u8 = 3;

/// In place of an index.
const GIOP: u8 = 0;

/// No GIOP version: nothing was received yet.
const UNKNOWN: u8 = u8::MAX;

/// A connection that a client opened, or one [in both directions](both_ways) that this ORB did.
pub(crate) struct Connection {
    engine: Arc<Engine>,
    token: u64,
    channel: Arc<dyn Channel>,
    /// What the client speaks, as soon as its first octets have told: the index among the settings' protocols, plus one.
    /// [`GIOP`]: nothing else.
    messaging: AtomicU8,
    reading: Mutex<Reading>,
    watch: Mutex<Watch>,
    writing: Writing,
    order: Order<ServerRequest>,
    flight: Flight,
    cancelled: Cancelled,
    stage: AtomicU8,
    /// Not read until requests have ended: `Flight` is above its limits.
    paused: AtomicBool,
    /// Messages were received and not yet looked at, so a reader is needed though nothing more may arrive.
    buffered: AtomicBool,
    /// The GIOP version 1.x of the last message, in which the closing one is sent; [`UNKNOWN`] before the first.
    minor: AtomicU8,
    times: Times,
    opened_here: bool,
    /// Requests of ours go by it, too.
    both: OnceLock<Both>,
    heard: Heard,
}

/// Moments, in the engine's milliseconds.
#[derive(Default)]
struct Times {
    /// When it was parked last.
    parked: AtomicU64,
    /// When the message began that is incomplete, plus one; 0: none is.
    message: AtomicU64,
    /// Octets of it that have arrived.
    octets: AtomicU64,
    /// When draining began.
    draining: AtomicU64,
}

/// What only the thread that has the turn touches.
pub(super) struct Reading {
    pub(super) inbound: Inbound,
    code_sets: ServerCodeSets,
    /// What its requests have in common.
    heads: Heads,
    /// [`Connection::messaging`] says what the client speaks.
    is_told: bool,
    /// Each message stands for itself, or this ORB opened the connection: requests are looked at once more.
    is_special: bool,
    incomplete: bool,
    /// Complete messages may lie in `inbound`: what [`Connection::buffered`] says.
    buffered: bool,
    /// A oneway went beyond a limit.
    saturated: bool,
    /// Bulk that is received elsewhere.
    arrival: Arrival,
    /// Small oneways, and how they are waited for.
    pub(super) flood: Flood,
}

/// How the keeper's set sees the connection.
struct Watch {
    /// Nobody has the turn: input is to be reported.
    free: bool,
    /// It is in the set.
    added: bool,
    farewell: Farewell,
}

/// The last message to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Farewell {
    /// We close; unanswered requests were not executed.
    Close,
    /// The peer's last message made no sense.
    Error(Version),
    /// None: the peer has closed already.
    Silence,
}

/// What reading found.
pub(super) enum Next {
    /// A request that may start now.
    Request(ServerRequest),
    /// More octets are needed.
    Nothing,
    /// No more will be read.
    Closed,
}

impl Connection {
    pub(super) fn new(engine: Arc<Engine>, token: u64, channel: Arc<dyn Channel>) -> Arc<Connection> {
        let (limits, one_way) = (engine.settings.message_limits, channel.is_one_way());
        let inbound = match one_way {
            true => Inbound::one_of(engine.settings.messagings.by_datagrams(), limits),
            false => Inbound::one_of(engine.settings.messagings.0.clone(), limits),
        };
        let mut inbound = match &engine.settings.storage {
            Some(storage) => inbound.with_storage(storage.clone()),
            None => inbound,
        };
        inbound.offer_bulk(!one_way);
        if channel.queues_little() {
            inbound.expect_little();
        }
        Self::made(engine, token, channel, inbound, one_way, false)
    }

    /// One that this ORB opened, to be served all the same.
    pub(super) fn opened(engine: Arc<Engine>, token: u64, channel: Arc<dyn Channel>) -> Arc<Connection> {
        let inbound = Inbound::of(Protocol::Giop, engine.settings.message_limits);
        let inbound = match &engine.settings.storage {
            Some(storage) => inbound.with_storage(storage.clone()),
            None => inbound,
        };
        Self::made(engine, token, channel, inbound, true, true)
    }

    fn made(
        engine: Arc<Engine>,
        token: u64,
        channel: Arc<dyn Channel>,
        inbound: Inbound,
        is_special: bool,
        opened_here: bool,
    ) -> Arc<Connection> {
        // What carries requests both ways is GIOP 1.2.
        let minor = if opened_here { Version::V1_2.minor } else { UNKNOWN };
        let reading = Reading {
            inbound,
            code_sets: ServerCodeSets::default(),
            heads: Heads::default(),
            is_told: opened_here,
            is_special,
            incomplete: false,
            buffered: false,
            saturated: false,
            arrival: Arrival::default(),
            flood: Flood::default(),
        };
        Arc::new(Connection {
            engine,
            token,
            channel,
            messaging: AtomicU8::new(GIOP),
            reading: Mutex::new(reading),
            watch: Mutex::new(Watch { free: false, added: false, farewell: Farewell::Close }),
            writing: Writing::default(),
            order: Order::default(),
            flight: Flight::default(),
            cancelled: Cancelled::default(),
            stage: AtomicU8::new(OPEN),
            paused: AtomicBool::new(false),
            buffered: AtomicBool::new(false),
            minor: AtomicU8::new(minor),
            times: Times::default(),
            opened_here,
            both: OnceLock::new(),
            heard: Heard::default(),
        })
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(super) fn peer(&self) -> &Endpoint {
        self.channel.peer()
    }

    pub(super) fn channel(&self) -> &dyn Channel {
        &*self.channel
    }

    /// What the client speaks; before it has said a word, GIOP.
    #[inline]
    pub(super) fn messaging(&self) -> &Protocol {
        match self.messaging.load(Ordering::Relaxed) {
            GIOP => &Protocol::Giop,
            other => &self.engine.settings.messagings.0[usize::from(other - 1)],
        }
    }

    pub(super) fn fragment_size(&self) -> Option<usize> {
        self.engine.settings.fragment_size
    }

    /// Never waited for: only who has the turn reads.
    #[inline]
    pub(super) fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock()
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock()
    }

    #[inline]
    fn stage(&self) -> u8 {
        self.stage.load(Ordering::SeqCst)
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.stage() == OPEN
    }

    // ---- the turn ----

    /// Takes the turn, if nobody has it.
    #[inline]
    pub(super) fn take_turn(&self) -> bool {
        std::mem::replace(&mut self.watch().free, false)
    }

    /// Gives the turn to whoever the keeper finds when there is something to read.
    #[inline]
    pub(super) fn park(self: &Arc<Self>) {
        let mut watch = self.watch();
        watch.free = true;
        if self.engine.has_keeper() {
            self.leave_to_keeper(watch);
        }
    }

    #[inline(never)]
    fn leave_to_keeper(self: &Arc<Self>, watch: MutexGuard<'_, Watch>) {
        self.times.parked.store(self.engine.now(), Ordering::Relaxed);
        self.arm(watch);
    }

    /// As [`park`](Self::park), by the reader itself.
    pub(super) fn stop_reading(self: &Arc<Self>, mut reading: MutexGuard<'_, Reading>) {
        if std::mem::take(&mut reading.saturated) {
            self.paused.store(true, Ordering::SeqCst);
        }
        if self.engine.is_crowded() {
            reading.inbound.release_memory();
        }
        drop(reading);
        self.park();
    }

    /// Whether there is nothing else to do than to [park](Self::park) it, for a reader that has taken all and does not wait.
    #[inline]
    pub(super) fn may_rest(&self, reading: &Reading) -> bool {
        !reading.saturated && !self.engine.is_crowded()
    }

    /// Takes the connection out of the set until it is parked again; the caller has the turn. The kernel wakes the set, too,
    /// of whatever arrives on a connection in it, even where nothing is to be reported.
    #[cold]
    pub(super) fn leave_set(&self) {
        let mut watch = self.watch();
        if watch.added && !self.writing.is_blocked() && self.is_open() {
            self.engine.disarm(self.channel.descriptor());
            watch.added = false;
        }
    }

    /// Tells the set what to report next.
    fn arm<'c>(self: &'c Arc<Self>, mut watch: MutexGuard<'c, Watch>) {
        let mut sends = self.writing.is_blocked();
        if sends && self.engine.has_keeper() {
            while sends && self.channel.arm(Wanted::Room) == Armed::Ready {
                // There is room that no descriptor will tell of.
                if !self.flush() {
                    return;
                }
                sends = self.writing.is_blocked();
            }
        }
        let receives = match self.stage() {
            OPEN => watch.free && (!sends || self.is_both_ways()) && !self.is_paused(),
            DRAINING => !sends,
            _ => false,
        };
        if !self.engine.has_keeper() {
            return;
        }
        let at_hand =
            || self.buffered.load(Ordering::Acquire) || self.channel.arm(Wanted::Input) == Armed::Ready;
        if receives && at_hand() {
            // Octets that no descriptor tells of: the next reader is sent for at once.
            if self.stage() == OPEN {
                watch.free = false;
                drop(watch);
                return self.engine.read(self);
            }
            drop(watch);
            if !self.drain_what_is_there() {
                return;
            }
            watch = self.watch();
        }
        let what = match (receives, sends) {
            (true, true) => Interest::BOTH,
            (true, false) => Interest::RECEIVE,
            (false, true) if self.channel.arm(Wanted::Room) == Armed::Readable => Interest::RECEIVE,
            (false, true) => Interest::SEND,
            (false, false) if watch.added => return,
            // So that it can be changed like any other.
            (false, false) => Interest::SEND,
        };
        let armed = self.engine.arm(self.channel.descriptor(), self.token, watch.added, what);
        match armed {
            Ok(()) => watch.added = true,
            Err(error) => {
                drop(watch);
                self.end(&format!("cannot be watched: {error}"));
            }
        }
    }

    /// Whether reading waits for requests to end; looks whether it still must.
    fn is_paused(&self) -> bool {
        if !self.paused.load(Ordering::SeqCst) {
            return false;
        }
        let goes_on = self.flight.has_room(&self.engine.settings.limits);
        if goes_on {
            self.paused.store(false, Ordering::SeqCst);
        }
        !goes_on
    }

    /// The keeper's set has something to report. True: the caller has the turn and something may be read.
    pub(super) fn on_event(self: &Arc<Self>) -> bool {
        self.channel.heard();
        if self.writing.is_blocked() {
            self.flush();
        }
        match self.stage() {
            OPEN if self.writing.is_blocked() && !self.is_both_ways() => {}
            OPEN => {
                let mut watch = self.watch();
                if !self.is_paused() {
                    let takes = std::mem::replace(&mut watch.free, false);
                    if self.writing.is_blocked() {
                        self.arm(watch);
                    }
                    return takes;
                }
            }
            DRAINING => self.drain(),
            _ => return false,
        }
        if self.stage() != ENDED {
            self.arm(self.watch());
        }
        false
    }

    /// Sends on what the transport did not take. False if it has ended by that.
    fn flush(&self) -> bool {
        match self.writing.flush(self.channel(), self.engine.now()) {
            Ok(true) => {
                if self.stage() == DRAINING {
                    self.channel.shutdown_send();
                }
                self.tell_of_room();
            }
            Ok(false) => {}
            Err(error) => {
                self.end(&format!("send: {error}"));
                return false;
            }
        }
        true
    }

    /// As [`on_event`](Self::on_event), for who drives the connection where there is no keeper.
    #[inline]
    pub(super) fn on_drive(self: &Arc<Self>) -> bool {
        let is_usual = self.is_open() && !self.writing.is_blocked() && !self.paused.load(Ordering::SeqCst);
        if is_usual { self.take_turn() } else { self.on_event() }
    }

    // ---- requests ----

    /// A request has ended and its answer, if it wanted one, has been given.
    #[inline]
    pub(super) fn finished(self: &Arc<Self>, octets: usize, ordered: Option<&[u8]>, identity: usize) {
        if let Some(released) = ordered.and_then(|key| self.order.returned(key)) {
            self.engine.release(released, identity);
        }
        let none_left = self.flight.remove(octets);
        // Sequentially consistent, as in `close`: one of the two sees that nothing is left and closing has begun.
        if none_left && self.stage() == CLOSING {
            self.say_farewell();
        }
        if self.paused.load(Ordering::SeqCst) {
            self.resume();
        }
    }

    #[cold]
    fn resume(self: &Arc<Self>) {
        let watch = self.watch();
        if watch.free && !self.is_paused() {
            self.arm(watch);
        }
    }

    /// Whether nobody waits for the request `id` any more.
    #[inline]
    pub(super) fn has_cancelled(&self, id: u32) -> bool {
        self.cancelled.has(id) || self.stage() == ENDED
    }

    /// Who is told when nobody waits for a request any more.
    pub(super) fn cancelled(&self) -> &Cancelled {
        &self.cancelled
    }

    // ---- sending ----

    /// Sends a message, in fragments if it is larger than those. It leaves by this thread, or waits; see [`Writing`].
    #[inline(always)]
    pub(super) fn send(self: &Arc<Self>, message: &Encoder<'_>) {
        match self.fragment_size() {
            Some(size) if message.len() > size => self.send_fragments(message, size),
            _ => self.send_whole(message),
        }
    }

    /// The same, never in fragments.
    #[inline(always)]
    pub(super) fn send_whole(self: &Arc<Self>, message: &Encoder<'_>) {
        match message.contiguous() {
            Some(octets) => self.send_parts(&mut [IoSlice::new(octets)], octets.len()),
            None => self.send_gathered(message),
        }
    }

    /// One of which parts lie elsewhere.
    #[inline(never)]
    fn send_gathered(self: &Arc<Self>, message: &Encoder<'_>) {
        let octets = message.len();
        match message.around_run() {
            Some([head, run, []]) => self.send_parts(&mut [head, run].map(IoSlice::new), octets),
            Some(parts) => self.send_parts(&mut parts.map(IoSlice::new), octets),
            None => self.send_parts(&mut message.slices().map(IoSlice::new).collect::<Vec<_>>(), octets),
        }
    }

    /// Small messages wait for each other from now on.
    pub(super) fn hold_replies(&self) {
        self.writing.hold();
    }

    /// Those that wait leave, in one system call, and no others wait.
    pub(super) fn release_replies(self: &Arc<Self>) {
        let most = self.engine.settings.limits.unsent_octets;
        let patience = || self.engine.patience();
        match self.writing.release(&*self.channel, patience, most, || self.engine.now()) {
            Sent::Whole | Sent::Queued => {}
            unusual => self.sent_not_all(unusual),
        }
    }

    /// The same; what the transport does not take at once is left to the keeper.
    pub(super) fn send_without_waiting(self: &Arc<Self>, message: &Encoder<'_>) {
        let mut parts: Vec<_> = message.slices().map(IoSlice::new).collect();
        let (most, whole) = (self.engine.settings.limits.unsent_octets, message.len());
        let (patience, now) = (|| Duration::ZERO, || self.engine.now());
        self.sent_not_all(self.writing.send(&*self.channel, &mut parts, whole, patience, most, now));
    }

    #[cold]
    fn send_fragments(self: &Arc<Self>, message: &Encoder<'_>, size: usize) {
        let Some(fragments) = self.messaging().fragments(message, size) else {
            return self.send_whole(message);
        };
        let pieces: Vec<_> = fragments.collect();
        let mut parts: Vec<_> = pieces.iter().flat_map(|piece| piece.slices()).map(IoSlice::new).collect();
        let whole = pieces.iter().map(|piece| piece.octets()).sum();
        self.send_parts(&mut parts, whole);
    }

    #[inline(always)]
    fn send_parts(self: &Arc<Self>, parts: &mut [IoSlice<'_>], whole: usize) {
        let most = self.engine.settings.limits.unsent_octets;
        let patience = || self.engine.patience();
        match self.writing.send(&*self.channel, parts, whole, patience, most, || self.engine.now()) {
            Sent::Whole | Sent::Queued => {}
            unusual => self.sent_not_all(unusual),
        }
    }

    #[cold]
    fn sent_not_all(self: &Arc<Self>, sent: Sent) {
        match sent {
            Sent::Blocked => self.arm(self.watch()),
            Sent::Failed(error) => self.end(&format!("send: {error}")),
            Sent::Overflow => {
                self.end("more replies wait than the limit allows: the peer does not read them")
            }
            Sent::Whole | Sent::Queued => {}
        }
    }
}
