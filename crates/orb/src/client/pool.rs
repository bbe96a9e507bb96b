//! The connections to one endpoint that speak one protocol: the idle private ones, and the shared one.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{io, mem};

use parking_lot::{Mutex, MutexGuard};
use zorb_giop::{Protocol, ResponseFlags};

use super::Settings;
use super::end::End;
use super::failure::{Failure, Step};
use super::joint::Joint;
use super::joint::trial::{Trial, Way};
use super::message::{Course, Outgoing};
use super::private::{Private, TRUSTED_IDLE};
use super::reactor::Reactor;
use super::shared::{Posted, Reading, Shared, Ticket};
use super::{straight, unsettled};
use crate::bidirectional::{Bidir, BothWays, CarriesBothWays};
use crate::object::route::Candidate;
use crate::object::undecoded::UndecodedRequest;
use crate::policy::Buffering;
use crate::transport::{Carries, Channel, Endpoint, Transport};

/// All connections of one ORB to one endpoint by one messaging protocol.
pub(crate) struct Pool {
    endpoint: Endpoint,
    transport: Arc<dyn Transport>,
    messaging: Protocol,
    settings: Arc<Settings>,
    /// Least recently used first. Taken from the end, so that what is not needed grows old and is closed.
    idle: Mutex<IdleConnections>,
    /// Private connections, idle or lent: each has a [`Seat`].
    open: Arc<Places>,
    /// The transport carries oneways alone, of at most so many octets.
    largest_oneway: Option<usize>,
    shared: Mutex<Option<Arc<Shared>>>,
    crowd: Mutex<Crowd>,
    /// Held by who opens that one.
    opens_joint: Mutex<()>,
    /// Calls under way there.
    joined: AtomicUsize,
    /// How the last connect ended, if not well: for people who ask.
    unreached: Mutex<Option<Unreached>>,
    /// Its one connection carries requests both ways.
    both: Option<Arc<dyn CarriesBothWays>>,
}

/// What many callers have in common.
struct Crowd {
    /// The connection that they share.
    connection: Option<Arc<Joint>>,
    /// Whether they get more done there.
    trial: Trial,
    /// When the last of their calls began.
    last: Instant,
}

/// A connect that failed.
#[derive(Clone, Debug)]
pub(crate) struct Unreached {
    pub(crate) at: SystemTime,
    pub(crate) cause: String,
}

/// Boxed: each goes from here to a call and back, and a pointer is less to move than its some hundred octets.
#[allow(clippy::vec_box, reason = "taken out and put back with every call")]
type IdleConnections = Vec<Box<Private>>;

/// A call's part in the connection that several callers share.
pub(crate) struct Joined {
    pool: Arc<Pool>,
    pub(crate) connection: Arc<Joint>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.pool.joined.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Private connections of one endpoint.
#[derive(Default)]
struct Places {
    taken: AtomicUsize,
    /// Of these, those whose connection stands.
    standing: AtomicUsize,
}

/// A private connection's place among those that an endpoint may have; free again when dropped.
pub(crate) struct Seat {
    places: Arc<Places>,
    stands: bool,
}

impl Seat {
    fn take(places: &Arc<Places>, most: usize) -> Option<Seat> {
        let seat = Seat { places: places.clone(), stands: false };
        (places.taken.fetch_add(1, Ordering::Relaxed) < most).then_some(seat)
    }

    fn stands(mut self) -> Seat {
        self.stands = true;
        self.places.standing.fetch_add(1, Ordering::Relaxed);
        self
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.places.taken.fetch_sub(1, Ordering::Relaxed);
        self.places.standing.fetch_sub(usize::from(self.stands), Ordering::Relaxed);
    }
}

impl Pool {
    pub(crate) fn new(
        endpoint: Endpoint,
        transport: Arc<dyn Transport>,
        messaging: Protocol,
        settings: Arc<Settings>,
    ) -> Arc<Pool> {
        let largest_oneway = match transport.carries() {
            Carries::Streams => None,
            Carries::Oneways { largest } => Some(messaging.by_datagrams().unwrap_or(largest)),
        };
        let bidir = (&*transport as &dyn Any).downcast_ref::<Bidir>();
        let both = bidir.map(|bidir| bidir.0.clone() as Arc<dyn CarriesBothWays>);
        let settings = match &both {
            // All calls share the one connection, which stays for those of the other side.
            Some(_) => Arc::new(Settings {
                private_connections: 0,
                joint_beyond: usize::MAX,
                idle: Duration::MAX,
                ..(*settings).clone()
            }),
            None => settings,
        };
        let now = Instant::now();
        Arc::new(Pool {
            both,
            endpoint,
            transport,
            messaging,
            largest_oneway,
            settings,
            idle: Mutex::default(),
            open: Arc::default(),
            shared: Mutex::default(),
            crowd: Mutex::new(Crowd { connection: None, trial: Trial::new(now), last: now }),
            opens_joint: Mutex::default(),
            joined: AtomicUsize::new(0),
            unreached: Mutex::default(),
        })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What its transport was told.
    pub(crate) fn properties(&self) -> Vec<(&'static str, String)> {
        self.transport.properties()
    }

    /// What is spoken there.
    #[inline]
    pub(crate) fn messaging(&self) -> &Protocol {
        &self.messaging
    }

    /// The largest message, where only oneways can be sent.
    #[inline]
    pub(crate) fn largest_oneway(&self) -> Option<usize> {
        self.largest_oneway
    }

    /// Whether this thread's next call to the object has to follow what it sent there before.
    #[inline]
    pub(crate) fn must_follow(&self, candidate: &Candidate) -> bool {
        unsettled::precedes(candidate.recipient, |connection| {
            self.shared.lock().as_ref().is_some_and(|shared| Arc::ptr_eq(shared, connection))
        })
    }

    /// A private connection for one call, to be [given back](Self::give_back); `None` if this call must or should travel
    /// on one that others use: if it `may_join` them, also where many are under way.
    #[inline]
    pub(crate) fn lend(
        &self,
        course: &Course<'_>,
        may_join: bool,
        connect_by: impl FnOnce() -> Instant,
    ) -> Result<Option<Box<Private>>, Box<Failure>> {
        if self.must_follow(course.candidate) {
            return Ok(None);
        }
        loop {
            let mut idle = self.idle();
            if may_join && self.is_crowded(&idle) {
                return Ok(None);
            }
            let Some(connection) = idle.pop() else { break };
            drop(idle);
            if connection.is_usable(course.started) {
                return Ok(Some(connection));
            }
        }
        self.open(*course, connect_by())
    }

    /// Whether so many calls are under way that they should share a connection.
    #[inline]
    fn is_crowded(&self, idle: &IdleConnections) -> bool {
        let under_way = self.open.taken.load(Ordering::Relaxed) + self.joined.load(Ordering::Relaxed);
        under_way >= self.settings.joint_beyond.saturating_add(idle.len())
    }

    /// The connection that several callers share; `None`: there are few, or it cannot be had now.
    pub(crate) fn join(
        self: &Arc<Self>,
        course: &Course<'_>,
        connect_by: Instant,
    ) -> Result<Option<Joined>, Box<Failure>> {
        // Without a look at those that are idle: where calls are alone none is, or this is not asked.
        let under_way = self.open.taken.load(Ordering::Relaxed) + self.joined.load(Ordering::Relaxed);
        if under_way < self.settings.joint_beyond {
            return Ok(None);
        }
        let mut crowd = self.crowd.lock();
        if crowd.trial.way(course.started) == Way::Alone {
            return Ok(None);
        }
        let rested = course.started > mem::replace(&mut crowd.last, course.started) + TRUSTED_IDLE;
        let usable = crowd.connection.as_ref().filter(|joint| match rested {
            true => joint.is_usable(course.started),
            false => !joint.has_ended(),
        });
        let usable = usable.cloned();
        drop(crowd);
        let connection = match usable {
            Some(connection) => connection,
            None => {
                // One caller opens it; the others do without meanwhile.
                let Some(_opens) = self.opens_joint.try_lock() else { return Ok(None) };
                let channel = self
                    .connect(connect_by)
                    .map_err(|cause| Failure::not_connected(cause, course.started.elapsed()))?;
                if let Some(spinners) = &self.settings.spinners {
                    channel.spin(spinners);
                }
                let connection = Arc::new(Joint::new(channel, &self.messaging, &self.settings));
                self.crowd.lock().connection = Some(connection.clone());
                connection
            }
        };
        self.joined.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Joined { pool: self.clone(), connection }))
    }

    /// A new private connection, unless there are as many as may be.
    #[cold]
    fn open(&self, course: Course<'_>, connect_by: Instant) -> Result<Option<Box<Private>>, Box<Failure>> {
        let Some(seat) = Seat::take(&self.open, self.settings.private_connections) else { return Ok(None) };
        let channel = self
            .connect(connect_by)
            .map_err(|cause| Failure::not_connected(cause, course.started.elapsed()))?;
        if let Some(spinners) = &self.settings.spinners {
            channel.spin(spinners);
        }
        Ok(Some(Box::new(Private::new(channel, &self.messaging, &self.settings, seat.stands()))))
    }

    /// A channel to the endpoint. How it went is kept.
    fn connect(&self, by: Instant) -> io::Result<Arc<dyn Channel>> {
        let connected = self.transport.connect(&self.endpoint, by);
        self.note_connect(connected.as_ref().err());
        connected
    }

    fn note_connect(&self, failed: Option<&io::Error>) {
        *self.unreached.lock() =
            failed.map(|cause| Unreached { at: SystemTime::now(), cause: cause.to_string() });
    }

    /// Whether a connection stands.
    pub(crate) fn is_open(&self) -> bool {
        let stands = |shared: &Arc<Shared>| shared.channel().is_some() && !shared.has_ended();
        let has_shared = || self.shared.lock().as_ref().is_some_and(stands);
        let has_joint = || self.crowd.lock().connection.as_ref().is_some_and(|joint| !joint.has_ended());
        self.open.standing.load(Ordering::Relaxed) > 0 || has_shared() || has_joint()
    }

    /// How the last connect ended, if not well.
    pub(crate) fn unreached(&self) -> Option<Unreached> {
        self.unreached.lock().clone()
    }

    /// The call has ended well: the connection waits for the next one.
    #[inline(always)]
    pub(crate) fn give_back(&self, connection: Box<Private>) {
        self.idle().push(connection);
    }

    /// Sends on the shared connection, blocking; the ticket of one that asks tells how it went on.
    pub(crate) fn send_shared(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        connect_by: impl FnOnce() -> Instant,
        reactor: &Reactor,
    ) -> Result<Posted, Failure> {
        let (shared, fresh) = self.shared(course.started, reactor)?;
        if fresh {
            reactor.enroll(&shared);
            self.connect_shared(&shared, connect_by(), reactor);
        }
        let posted = shared
            .send_blocking(course, outgoing, reactor)
            .map_err(|failure| if fresh { failure } else { failure.of_another() })?;
        if outgoing.response != ResponseFlags::WITH_TARGET {
            unsettled::sent(&shared, course.candidate.recipient);
        }
        if let Posted::Left = posted {
            straight::note(&shared, course.candidate, outgoing.operation);
        }
        Ok(posted)
    }

    /// Gathers a oneway on the shared connection; false: it has to be [sent](Self::send_shared).
    pub(crate) fn gather_shared(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        conditions: Buffering,
        connect_by: impl FnOnce() -> Instant,
        reactor: &Reactor,
    ) -> Result<bool, Failure> {
        let (shared, fresh) = self.shared(course.started, reactor)?;
        if fresh {
            reactor.enroll(&shared);
            self.connect_shared(&shared, connect_by(), reactor);
        }
        let gathered = shared
            .gather(course, outgoing, conditions, reactor)
            .map_err(|failure| if fresh { failure } else { failure.of_another() })?;
        if gathered {
            unsettled::sent(&shared, course.candidate.recipient);
        }
        Ok(gathered)
    }

    /// Sends what was gathered; false: not all of it by the deadline, or the connection has ended meanwhile.
    pub(crate) fn release(&self, deadline: Instant, reactor: &Reactor) -> bool {
        let shared = self.shared.lock().clone();
        shared.is_none_or(|shared| shared.has_ended() || shared.release(deadline, reactor))
    }

    /// Gives the message to the shared connection without blocking; where there is none yet, another thread connects.
    pub(crate) fn send_shared_later(
        self: &Arc<Self>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, 'static>,
        undecoded: Option<&UndecodedRequest>,
        connect_by: Instant,
        reactor: &Reactor,
    ) -> Result<Ticket, Failure> {
        let (shared, fresh) = self.shared(course.started, reactor)?;
        if fresh {
            reactor.enroll(&shared);
            let (pool, connecting, reactor) = (self.clone(), shared.clone(), reactor.clone());
            let spawned = std::thread::Builder::new()
                .name("zorb-connect".into())
                .spawn(move || pool.connect_shared(&connecting, connect_by, &reactor));
            if let Err(cause) = spawned {
                shared.end(End::Unusable { step: Step::StartConnecting, kind: cause.kind() });
            }
        }
        let mut ticket = shared.send_later(course, outgoing, undecoded, reactor)?;
        ticket.joined = !fresh;
        unsettled::sent(&shared, course.candidate.recipient);
        reactor.deadline(course.deadline);
        Ok(ticket)
    }

    /// The shared connection, and whether it was made just now and has yet to be connected.
    fn shared(&self, now: Instant, reactor: &Reactor) -> Result<(Arc<Shared>, bool), Failure> {
        if let Some(both) = &self.both {
            return self.shared_both_ways(&**both);
        }
        let mut current = self.shared.lock();
        if let Some(shared) = &*current {
            let is_usable = match shared.is_usable(now) {
                Some(is_usable) => is_usable,
                None => {
                    let rested = shared.clone();
                    // Without the lock, since it may wake tasks, and run them.
                    drop(current);
                    look_at(&rested, reactor);
                    current = self.shared.lock();
                    current.as_ref().is_some_and(|shared| !shared.has_ended())
                }
            };
            if let Some(shared) = current.as_ref().filter(|_| is_usable) {
                return Ok((shared.clone(), false));
            }
        }
        let shared = Shared::connecting(self.endpoint.clone(), self.messaging.clone(), &self.settings);
        *current = Some(shared.clone());
        Ok((shared, true))
    }

    /// The same of a bidirectional connection: one that a client has offered, or one that is opened here.
    fn shared_both_ways(&self, both: &dyn CarriesBothWays) -> Result<(Arc<Shared>, bool), Failure> {
        let mut current = self.shared.lock();
        if let Some(point) = BothWays::listen_point(&self.endpoint) {
            let Some(shared) = both.offered(point) else {
                *current = None;
                let text = "no client has offered it over a connection that stands, or none that is believed";
                let cause = io::Error::new(io::ErrorKind::NotConnected, text);
                *self.unreached.lock() = Some(Unreached { at: SystemTime::now(), cause: cause.to_string() });
                return Err(Failure::NotConnected { step: Step::Connect, cause });
            };
            // By it a thread's calls know what they have to follow.
            *current = Some(shared.clone());
            *self.unreached.lock() = None;
            return Ok((shared, false));
        }
        if let Some(shared) = &*current
            && !shared.has_ended()
        {
            return Ok((shared.clone(), false));
        }
        let offer = both.offer().map_err(|cause| Failure::NotConnected { step: Step::Connect, cause })?;
        let shared = Shared::both_ways(self.endpoint.clone(), &self.settings, true);
        shared.offer(offer);
        *current = Some(shared.clone());
        Ok((shared, true))
    }

    fn connect_shared(&self, shared: &Arc<Shared>, connect_by: Instant, reactor: &Reactor) {
        let started = Instant::now();
        let connected = match &self.both {
            None => self.connect(connect_by).map(|channel| shared.connected(channel, reactor)),
            Some(both) => {
                let opened = both.open(&self.endpoint, shared, connect_by, reactor);
                self.note_connect(opened.as_ref().err());
                opened
            }
        };
        match connected {
            Ok(()) => {}
            Err(error) => {
                let (kind, text) = (error.kind(), error.to_string().into());
                shared.end(End::NotConnected { kind, text, after: started.elapsed() });
            }
        }
    }

    /// Closes what has been idle for longer than the settings allow, and lets the others rest that are idle; true while anything is
    /// open.
    pub(crate) fn sweep(&self, now: Instant) -> bool {
        let limit = self.settings.idle;
        let mut idle = self.idle();
        let fresh = idle.partition_point(|one| now.saturating_duration_since(one.last_used()) >= limit);
        let old: Vec<_> = idle.drain(..fresh).collect();
        idle.iter_mut().for_each(|one| one.rest_if_unused(now));
        drop(idle);
        drop(old);
        let mut crowd = self.crowd.lock();
        drop(crowd.connection.take_if(|joint| joint.end_if_idle(now, limit)));
        if let Some(joint) = &crowd.connection {
            joint.rest_if_unused(now);
        }
        let has_joint = crowd.connection.is_some();
        drop(crowd);
        let mut shared = self.shared.lock();
        // Nothing waits for it: its end wakes nobody. One that has ended otherwise is kept by nobody else, with its descriptor
        // and its memory.
        drop(shared.take_if(|shared| shared.has_ended() || shared.end_if_idle(now, limit)));
        if let Some(shared) = &*shared {
            shared.rest_if_unused(now);
        }
        shared.is_some() || has_joint || self.open.taken.load(Ordering::Relaxed) > 0
    }

    /// Closes every connection that no call is using.
    pub(crate) fn close(&self) {
        drop(mem::take(&mut *self.idle()));
        // Its callers keep it until they have their answers.
        drop(self.crowd.lock().connection.take());
        let shared = self.shared.lock().take();
        if let Some(shared) = shared {
            shared.end(End::Closed);
        }
    }

    #[inline]
    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock()
    }
}

/// As the reactor would a little later: a oneway that followed a CloseConnection would be lost, and nobody would know.
#[cold]
fn look_at(rested: &Arc<Shared>, reactor: &Reactor) {
    if rested.readable() == Reading::HasMore {
        reactor.read_soon(rested.token());
    }
}
