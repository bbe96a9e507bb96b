//! A connection that carries requests both ways: one that this ORB opened and offered, or one whose client has offered it. CORBA 3.4
//! part 2, §9.8.
//!
//! It is read like any other, by whichever thread of the server's has the turn; replies to this side's calls go to the sending half of the
//! client's ([`Shared`]), whose channel is [`Outward`]: what that sends goes where replies go, so that messages stay whole.
//!
//! What differs from other connections, and why:
//!
//! | | |
//! |---|---|
//! | it is read while its peer takes nothing | otherwise two sides that both have much to send would wait for each other |
//! | oneways beyond its limits are dropped, not waited for | what would make room for them may wait for a reply on it |
//! | a server that stops reads it while upcalls run and calls of ours wait | the upcalls may be waiting for those |
//! | it is not closed for being idle | nobody could call back any more |

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{Inbound, decode_listen_points};

use super::{Connection, Reading, Sent, ServerRequest};
use crate::client::end::End;
use crate::client::failure::Step;
use crate::client::reactor::Reactor;
use crate::client::shared::Shared;
use crate::exception::SystemException;
use crate::orb::Orb;
use crate::transport::{Armed, Channel, Endpoint, Idle, Received, Wanted};

/// Offers of one client that are looked at. 16: clients say the same with every request, or their few addresses one after the other.
const MOST_OFFERS: usize = 16;

/// How long a send that the transport does not take holds up other senders, before the rest waits in memory. As for replies.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often a thread that no keeper sends for looks for room.
const LOOK: Duration = Duration::from_millis(2);

/// The other half of a connection, by which this side calls.
pub(super) struct Both {
    shared: Arc<Shared>,
    reactor: Reactor,
    room: Mutex<()>,
    has_room: Condvar,
    /// The connection ends by its own rules, and the calls because of that.
    ends: AtomicBool,
}

/// What the client has said of where it is.
#[derive(Default)]
pub(super) struct Heard {
    last: Mutex<Option<Bytes>>,
    offers: AtomicUsize,
}

impl Connection {
    /// Whether requests go both ways.
    pub(in crate::server) fn is_both_ways(&self) -> bool {
        self.both.get().is_some()
    }

    /// Whether this ORB opened it.
    pub(in crate::server) fn is_opened_here(&self) -> bool {
        self.opened_here
    }

    /// Lets `shared` send its requests by this connection, from now on.
    pub(in crate::server) fn carry(self: &Arc<Self>, shared: &Arc<Shared>, reactor: &Reactor) -> bool {
        let both = Both {
            shared: shared.clone(),
            reactor: reactor.clone(),
            room: Mutex::default(),
            has_room: Condvar::new(),
            ends: AtomicBool::new(false),
        };
        // It is not closed for being idle.
        self.channel.stay();
        self.both.set(both).is_ok()
    }

    /// What `shared` sends by.
    pub(in crate::server) fn outward(self: &Arc<Self>) -> Arc<dyn Channel> {
        Arc::new(Outward { connection: Arc::downgrade(self), channel: self.channel.clone() })
    }

    /// The client has told where it is, by a context of a request.
    ///
    /// # Errors
    /// The context makes no sense.
    #[cold]
    pub(in crate::server) fn hear_offer(
        self: &Arc<Self>,
        orb: &Orb,
        data: &Bytes,
    ) -> Result<(), SystemException> {
        let Some(both_ways) = orb.both_ways().filter(|both_ways| both_ways.believes_anybody()) else {
            return Ok(());
        };
        if self.opened_here || self.channel.is_one_way() || !self.engine.has_keeper() {
            return Ok(());
        }
        let mut last = self.heard.last.lock();
        if last.as_ref() == Some(data) {
            return Ok(());
        }
        let points =
            decode_listen_points(data).map_err(|error| SystemException::Marshal(error.to_string()))?;
        // Not a view of the message, which it would keep.
        *last = Some(Bytes::copy_from_slice(data));
        drop(last);
        if self.heard.offers.fetch_add(1, Ordering::Relaxed) >= MOST_OFFERS {
            tracing::debug!(peer = %self.peer(), "a peer says again and again where it is, each time something else");
            return Ok(());
        }
        both_ways.take_down(orb, self.peer(), &points, &|| self.calls_back(orb));
        Ok(())
    }

    /// The half by which calls go to the client; made when the first of its listen points is believed.
    fn calls_back(self: &Arc<Self>, orb: &Orb) -> Option<Arc<Shared>> {
        if let Some(both) = self.both.get() {
            return Some(both.shared.clone());
        }
        let reactor = match orb.client().reactor() {
            Ok(reactor) => reactor,
            Err(error) => {
                tracing::warn!(%error, "no reactor thread: nobody is called back");
                return None;
            }
        };
        let shared = orb.client().offered(self.peer().clone(), reactor);
        if !self.carry(&shared, reactor) {
            return None;
        }
        shared.connected(self.outward(), reactor);
        Some(shared)
    }

    /// The client has announced code sets, which hold for the connection: also for requests that go to it.
    pub(in crate::server) fn note_code_sets(&self, in_force: &ServerCodeSets) {
        if let Some(both) = self.both.get()
            && !self.opened_here
            && *in_force != ServerCodeSets::default()
        {
            both.shared.adopt_code_sets(in_force.in_force());
        }
    }

    /// Looks at a request on a connection that this ORB opened. False: none may come yet, or it is answered.
    #[cold]
    pub(super) fn may_be_served(
        self: &Arc<Self>,
        reading: &mut Reading,
        request: ServerRequest,
    ) -> Option<ServerRequest> {
        let Some(both) = self.both.get() else { return Some(request) };
        if reading.code_sets == ServerCodeSets::default()
            && let Some(announced) = both.shared.announced()
        {
            reading.code_sets = ServerCodeSets::fixed(announced);
        }
        let orb = request.call().orb().clone();
        if orb.adapters().serves_both_ways(request.object_key()) == Some(false) {
            request.system_exception(not_both_ways());
            return None;
        }
        Some(request)
    }

    /// Whether the peer of a connection that this ORB opened may have learnt that requests are served on it.
    pub(super) fn may_be_called(&self) -> bool {
        self.both.get().is_some_and(|both| both.shared.may_be_called())
    }

    /// Whether it may not be closed yet though its server stops: upcalls run, and calls of ours wait, perhaps theirs.
    pub(in crate::server) fn must_stay(&self) -> bool {
        self.has_waiting() && !self.flight.is_empty()
    }

    /// Whether calls of ours wait for replies.
    pub(super) fn has_waiting(&self) -> bool {
        self.both.get().is_some_and(|both| both.shared.has_waiting())
    }

    /// A reply has come; false: none can.
    pub(super) fn take_reply(&self, reply: zorb_giop::Reply) -> bool {
        let Some(both) = self.both.get() else { return false };
        both.shared.replied(reply);
        true
    }

    /// The peer has closed the connection in order.
    pub(super) fn closed_by_peer(&self, inbound: &Inbound) {
        if let Some(both) = self.both.get() {
            both.ends.store(true, Ordering::SeqCst);
            both.shared.closed_in_order(inbound);
        }
    }

    /// Our own calls end as the connection does. On the reactor's thread: whoever ends it may hold locks.
    pub(super) fn end_calls(&self, end: End) {
        let Some(both) = self.both.get() else { return };
        both.ends.store(true, Ordering::SeqCst);
        let shared = both.shared.clone();
        let engine = Arc::downgrade(&self.engine);
        both.reactor.at(Instant::now(), move |_| {
            shared.end(end);
            let orb = engine.upgrade().and_then(|engine| engine.orb());
            if let Some(both_ways) = orb.as_ref().and_then(Orb::both_ways) {
                both_ways.withdraw(&shared);
            }
        });
        self.tell_of_room();
    }

    /// What waited has been sent.
    pub(super) fn tell_of_room(&self) {
        let Some(both) = self.both.get() else { return };
        drop(both.room.lock());
        both.has_room.notify_all();
        if both.shared.room_may_have_come() {
            // Elsewhere: this thread may hold locks that sending takes.
            let shared = both.shared.clone();
            both.reactor.at(Instant::now(), move |reactor| shared.flush(reactor));
        }
    }

    /// Sends a request, or says why not: `Ok(false)`: others wait to be sent. What the transport does not take in time waits, too.
    fn send_out(self: &Arc<Self>, parts: &mut [IoSlice<'_>], patience: Duration) -> io::Result<bool> {
        if self.writing.is_blocked() {
            return Ok(false);
        }
        let whole = parts.iter().map(|part| part.len()).sum();
        let now = || self.engine.now();
        match self.writing.send(&*self.channel, parts, whole, || patience, usize::MAX, now) {
            Sent::Whole | Sent::Queued => Ok(true),
            Sent::Failed(error) => {
                let kind = error.kind();
                self.sent_not_all(Sent::Failed(error));
                Err(kind.into())
            }
            unusual => {
                self.sent_not_all(unusual);
                Ok(true)
            }
        }
    }
}

/// The exception of a request that an adapter does not serve on a connection that its ORB opened.
pub(crate) fn not_both_ways() -> SystemException {
    SystemException::NoPermission(
        "the object's adapter serves no requests over connections that its ORB opened (PoaPolicies::bidirectional)",
    )
}

/// The channel of a [`Shared`] that sends by a connection of the server's and does not receive.
struct Outward {
    connection: Weak<Connection>,
    channel: Arc<dyn Channel>,
}

impl Outward {
    fn connection(&self) -> io::Result<Arc<Connection>> {
        self.connection.upgrade().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Channel for Outward {
    fn receive(&self, _: &mut [u8], _: Instant) -> io::Result<Received> {
        Ok(Received::Empty)
    }

    fn receive_now(&self, _: &mut [u8]) -> io::Result<Received> {
        Ok(Received::Empty)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        let connection = self.connection()?;
        let whole = parts.iter().map(|part| part.len()).sum();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if connection.send_out(&mut parts.to_vec(), left.min(PATIENCE))? {
                return Ok(whole);
            }
            if connection.engine.patience().is_zero() {
                // The keeper itself, which nobody else wakes when there is room.
                connection.flush();
                std::thread::sleep(LOOK.min(left));
                continue;
            }
            let Some(both) = connection.both.get() else { return Err(io::ErrorKind::NotConnected.into()) };
            let mut room = both.room.lock();
            if connection.writing.is_blocked() {
                both.has_room.wait_for(&mut room, left);
            }
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let whole = parts.iter().map(|part| part.len()).sum();
        let sent = self.connection()?.send_out(&mut parts.to_vec(), Duration::ZERO)?;
        Ok(if sent { whole } else { 0 })
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.channel.descriptor()
    }

    /// Room is told of by the connection itself.
    fn arm(&self, wanted: Wanted) -> Armed {
        let is_blocked =
            || self.connection.upgrade().is_some_and(|connection| connection.writing.is_blocked());
        match wanted {
            Wanted::Room if !is_blocked() => Armed::Ready,
            _ => Armed::Readable,
        }
    }

    fn shutdown_send(&self) {}

    fn close(&self) {
        let connection = self.connection.upgrade();
        let ends = |it: &Arc<Connection>| it.both.get().is_some_and(|both| both.ends.load(Ordering::SeqCst));
        if let Some(connection) = connection.filter(|connection| !ends(connection)) {
            connection.end("the calls on it have ended");
        }
    }

    fn state(&self) -> Idle {
        Idle::Quiet
    }

    fn peer(&self) -> &Endpoint {
        self.channel.peer()
    }
}

/// How calls of ours end with a connection that broke.
pub(super) fn broken(kind: io::ErrorKind) -> End {
    End::Broken { step: Step::Receive, kind }
}
