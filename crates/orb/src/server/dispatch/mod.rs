//! Which thread serves: the [`Engine`] that all connections of a server share.
//!
//! ```text
//!             keeper: epoll ─── readable ──► queue ──► a thread: has the turn, reads, runs upcalls, replies
//!               ▲  ▲                          ▲                       │        │
//!               │  └────── parked ────────────┼───────────────────────┘        │
//!               │                             └── the rest of a burst ─────────┤
//!               └── an upcall that lasts: the turn is taken, the connection armed for another thread
//! ```
//!
//! All thread models are this one machine. With a thread per busy connection a reader that finds nothing more waits in the
//! receive itself, and the keeper and the queue have no part in a call. A pool has fewer threads. A reactor's
//! keeper does everything itself, also from within the waits of its servants ([`waits`]).

pub(super) mod flood;
mod keeper;
mod pace;
mod queue;
pub(super) mod train;
mod waits;
mod worker;

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use zorb_ipc::{Epoll, Interest, Trigger, Wake};

use super::connection::Connection;
use super::order::Released;
use super::request::ServerRequest;
use super::settings::{Settings, ThreadModel};
use super::turn::Turn;
use crate::client::reactor::Reactor;
use crate::client::shared::Shared;
use crate::exception::{Minor, SystemException};
use crate::orb::{Core, Orb};
use crate::poa::{Adapters, Located};
use crate::rt::Arriving;
use crate::transport::Acceptor;
use queue::{Queue, Task};

/// Connections beyond which silent ones keep no receive buffer. 512: their buffers take 8 MiB, and no more than so many
/// threads serve.
const CROWD: usize = 512;

/// The keeper's own wake-up descriptor; acceptors have the tokens after it, connections those from [`FIRST_CONNECTION`].
const WAKE: u64 = 0;

/// More than any number of acceptors, fewer than tokens ever given out.
const FIRST_CONNECTION: u64 = 1 << 20;

/// How long a thread waits for a transport that takes no more of a reply, before it leaves the rest to the keeper. 100 ms:
/// a bulk reply to a live peer is through by then, and copies nothing; a peer that does not read holds a thread no longer.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is left of [`ServerLimits::drain`](super::ServerLimits::drain) at shutdown. Half a second: whatever was on its way
/// has arrived, and clients that hold idle connections, and so notice nothing, do not keep a program from ending.
const SHUTDOWN_DRAIN: Duration = Duration::from_millis(500);

/// Who knows the servants: the ORB's object adapters, or a test.
pub(super) trait Handler: Send + Sync {
    /// Runs a request and sees to its answer.
    fn serve(&self, request: ServerRequest);
    /// Runs a oneway, and those that `next` gives as soon as the one before has ended: they have the same head.
    fn serve_train(&self, first: ServerRequest, next: &mut dyn FnMut() -> Option<ServerRequest>) {
        self.serve(first);
        while let Some(request) = next() {
            self.serve(request);
        }
    }
    /// Answers a LocateRequest.
    fn locate(&self, orb: &Orb, key: &[u8]) -> Located;
    /// Asks the servant where the bulk argument goes of a request that begins to come.
    fn ask(&self, orb: &Orb, key: &[u8], arriving: &mut Arriving<'_>) {
        let _ = (orb, key, arriving);
    }
}

/// The ORB's object adapters.
pub(super) struct ToAdapters;

impl Handler for ToAdapters {
    #[inline]
    fn serve(&self, request: ServerRequest) {
        Adapters::serve(request);
    }

    fn serve_train(&self, first: ServerRequest, next: &mut dyn FnMut() -> Option<ServerRequest>) {
        Adapters::serve_train(first, next);
    }

    fn locate(&self, orb: &Orb, key: &[u8]) -> Located {
        orb.adapters().locate(key)
    }

    fn ask(&self, orb: &Orb, key: &[u8], arriving: &mut Arriving<'_>) {
        orb.adapters().ask(key, arriving);
    }
}

/// What the connections of one server have in common: the set that idle ones are parked in, threads, limits.
pub(crate) struct Engine {
    pub(super) settings: Settings,
    orb: Weak<Core>,
    handler: Box<dyn Handler>,
    epoch: Instant,
    epoll: Epoll,
    wake: Wake,
    acceptors: Mutex<Vec<Arc<dyn Acceptor>>>,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    /// How many `connections` has, for looks without the lock.
    open: AtomicUsize,
    next_token: AtomicU64,
    /// The turns of threads that read.
    turns: Mutex<Vec<Arc<Turn>>>,
    queue: Queue,
    /// Connections that the keeper is to read, of which no descriptor tells.
    unsorted: Mutex<Vec<Arc<Connection>>>,
    /// The keeper sleeps without end: who starts an upcall wakes it, so that the upcall's length is watched.
    asleep: AtomicBool,
    stopping: AtomicBool,
    /// By when the stop must be complete.
    stop_by: Mutex<Option<Instant>>,
    /// Threads alive, keeper included.
    alive: Mutex<usize>,
    departed: Condvar,
}

thread_local! {
    /// The request that this thread runs, by its identity.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
    /// What may start because that request has ended: the same thread goes on with it.
    static NEXT: Cell<Option<ServerRequest>> = const { Cell::new(None) };
    /// This thread is one of a server's.
    static SERVES: Cell<bool> = const { Cell::new(false) };
    /// This thread may not wait for a transport.
    static IMPATIENT: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a server's, and so most probably in an upcall.
pub(super) fn on_server_thread() -> bool {
    SERVES.get()
}

impl Engine {
    pub(super) fn new(
        settings: Settings,
        orb: Weak<Core>,
        handler: Box<dyn Handler>,
    ) -> io::Result<Arc<Engine>> {
        let queue = Queue::new(settings.threads);
        let (epoll, wake) = (Epoll::new()?, Wake::new()?);
        epoll.add(&wake, WAKE, Interest::RECEIVE, Trigger::Level)?;
        Ok(Arc::new(Engine {
            settings,
            orb,
            handler,
            epoch: Instant::now(),
            epoll,
            wake,
            acceptors: Mutex::default(),
            connections: Mutex::default(),
            open: AtomicUsize::new(0),
            next_token: AtomicU64::new(FIRST_CONNECTION),
            turns: Mutex::default(),
            queue,
            unsorted: Mutex::default(),
            asleep: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            stop_by: Mutex::default(),
            alive: Mutex::default(),
            departed: Condvar::new(),
        }))
    }

    /// Begins to serve what these acceptors yield.
    pub(super) fn start(self: &Arc<Self>, acceptors: Vec<Arc<dyn Acceptor>>) -> io::Result<()> {
        *self.acceptors.lock() = acceptors.clone();
        if self.has_keeper() {
            return keeper::start(self);
        }
        for acceptor in acceptors {
            let (engine, accepting) = (Arc::downgrade(self), acceptor.clone());
            let accept = move || {
                while let (Some(engine), Ok(Some(channel))) = (engine.upgrade(), accepting.accept_now()) {
                    engine.adopt(channel);
                }
            };
            if !acceptor.drive(Arc::new(accept)) {
                let name = acceptor.local();
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    format!("{name} cannot be served without a thread (ThreadModel::Caller)"),
                ));
            }
        }
        Ok(())
    }

    /// Milliseconds since the engine was made.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    #[inline]
    pub(super) fn orb(&self) -> Option<Orb> {
        self.orb.upgrade().map(Orb)
    }

    pub(super) fn ask(&self, orb: &Orb, key: &[u8], arriving: &mut Arriving<'_>) {
        self.handler.ask(orb, key, arriving);
    }

    pub(super) fn locate(&self, key: &[u8]) -> Located {
        self.orb().map_or(Located::Unknown, |orb| self.handler.locate(&orb, key))
    }

    #[inline]
    pub(super) fn has_keeper(&self) -> bool {
        self.settings.threads != ThreadModel::Caller
    }

    /// Whether no thread but the keeper runs upcalls.
    fn is_reactor(&self) -> bool {
        self.settings.threads == ThreadModel::Reactor
    }

    /// Whether a connection can pass from one thread to another.
    fn has_threads(&self) -> bool {
        self.has_keeper() && !self.is_reactor()
    }

    /// How long the calling thread may wait for a transport that is full.
    #[inline]
    pub(super) fn patience(&self) -> Duration {
        if IMPATIENT.get() || !self.has_keeper() { Duration::ZERO } else { PATIENCE }
    }

    /// How long to wait for peers to close their end of what was closed in order.
    pub(super) fn drain_time(&self) -> Duration {
        let drain = self.settings.limits.drain;
        if self.is_stopping() { drain.min(SHUTDOWN_DRAIN) } else { drain }
    }

    #[inline]
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    // ---- connections ----

    /// Whether so many connections are open that one which falls silent gives its buffer back at once.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.open.load(Ordering::Relaxed) > CROWD
    }

    pub(super) fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock()
    }

    /// Takes in a new connection.
    fn adopt(self: &Arc<Self>, channel: Arc<dyn crate::transport::Channel>) {
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(peer = %channel.peer(), "connection opened");
        if let Some(spinners) = &self.settings.spinners {
            channel.spin(spinners);
        }
        let connection = Connection::new(self.clone(), token, channel);
        let mut connections = self.connections();
        connections.insert(token, connection.clone());
        self.open.store(connections.len(), Ordering::Relaxed);
        drop(connections);
        if !self.has_keeper() {
            let serving = Arc::downgrade(&connection);
            connection.channel().drive(Arc::new(move || {
                if let Some(connection) = serving.upgrade() {
                    worker::serve_now(connection);
                }
            }));
        }
        connection.park();
    }

    /// Takes in a connection that this ORB opened, by which `shared` sends.
    pub(super) fn adopt_opened(
        self: &Arc<Self>,
        channel: Arc<dyn crate::transport::Channel>,
        shared: &Arc<Shared>,
        reactor: &Reactor,
    ) -> io::Result<()> {
        if self.is_stopping() || !self.has_keeper() {
            return Err(io::Error::new(
                io::ErrorKind::NotConnected,
                "this ORB serves no longer, or has no thread to",
            ));
        }
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(peer = %channel.peer(), "connection opened for both directions");
        if let Some(spinners) = &self.settings.spinners {
            channel.spin(spinners);
        }
        let connection = Connection::opened(self.clone(), token, channel);
        connection.carry(shared, reactor);
        let mut connections = self.connections();
        connections.insert(token, connection.clone());
        self.open.store(connections.len(), Ordering::Relaxed);
        drop(connections);
        connection.park();
        shared.connected(connection.outward(), reactor);
        if self.is_stopping() {
            // The keeper may have seen to its connections before this one was there.
            self.ring();
        }
        Ok(())
    }

    /// What is accepted from; nothing once the server stops.
    pub(super) fn acceptors(&self) -> Vec<Arc<dyn Acceptor>> {
        self.acceptors.lock().clone()
    }

    /// What keeper events are about.
    fn connection(&self, token: u64) -> Option<Arc<Connection>> {
        self.connections().get(&token).cloned()
    }

    /// Closes, in order, every connection that is idle after use, and says how many.
    pub(super) fn close_idle(&self) -> usize {
        let connections: Vec<_> = self.connections().values().cloned().collect();
        let used = connections.iter().filter(|connection| connection.was_used());
        used.filter(|connection| connection.close_if_idle("asked to close what is idle")).count()
    }

    pub(super) fn forget(&self, token: u64) {
        let mut connections = self.connections();
        connections.remove(&token);
        self.open.store(connections.len(), Ordering::Relaxed);
        let last = connections.is_empty();
        drop(connections);
        if last && self.is_stopping() {
            self.ring();
        }
    }

    /// Watches a connection: once, for what is asked.
    pub(super) fn arm(
        &self,
        descriptor: BorrowedFd<'_>,
        token: u64,
        again: bool,
        what: Interest,
    ) -> io::Result<()> {
        match again {
            true => self.epoll.modify(descriptor, token, what, Trigger::OneShot)?,
            false => self.epoll.add(descriptor, token, what, Trigger::OneShot)?,
        }
        Ok(())
    }

    pub(super) fn disarm(&self, descriptor: BorrowedFd<'_>) {
        // It is not in the set if it was never parked.
        let _ = self.epoll.remove(descriptor);
    }

    // ---- work ----

    /// Has a connection read; the caller has taken its turn for whoever does.
    pub(super) fn read(self: &Arc<Self>, connection: &Arc<Connection>) {
        if self.keeper_reads(connection) {
            self.unsorted.lock().push(connection.clone());
            return self.ring();
        }
        self.submit(Task::Read(connection.clone()));
    }

    /// Whether the keeper reads a connection and other threads only run its requests: where all threads of a pool are in upcalls that wait for
    /// calls of their own, nobody else would read the replies.
    fn keeper_reads(&self, connection: &Connection) -> bool {
        matches!(self.settings.threads, ThreadModel::Pool { .. }) && connection.is_both_ways()
    }

    /// Runs a job on a server thread.
    pub(super) fn spawn(self: &Arc<Self>, job: Box<dyn FnOnce() + Send>) {
        self.submit(Task::Job(job));
    }

    /// The upcall of this turn's thread lasts: other threads run what waits behind it.
    fn hand_on(self: &Arc<Self>, turn: &Turn) {
        for request in turn.hand_on() {
            self.submit(Task::Run(request));
        }
    }

    fn submit(self: &Arc<Self>, task: Task) {
        if let Some(refused) = self.queue.put(self, task) {
            self.refuse(refused, "the queue for the pool's threads is full (limit)");
        }
        if self.is_reactor() && !IMPATIENT.get() {
            self.ring();
        }
    }

    /// No thread is to be had for it.
    #[cold]
    fn refuse(self: &Arc<Self>, task: Task, why: &str) {
        match task {
            Task::Run(request) => request.system_exception(no_thread(why)),
            Task::Read(connection) => worker::refuse_requests(&connection, why),
            Task::Job(job) => job(),
        }
    }

    /// Runs a request, and what may start because of its end, one after the other.
    #[inline(always)]
    fn run(&self, request: ServerRequest) {
        self.run_one(request);
        while let Some(next) = NEXT.take() {
            self.run_one(next);
        }
    }

    #[inline(always)]
    fn run_one(&self, request: ServerRequest) {
        if request.is_given_up() {
            return request.discard();
        }
        let outer = RUNNING.replace(request.identity());
        self.handler.serve(request);
        RUNNING.set(outer);
    }

    /// Starts requests that waited for the request `ended`. If the calling thread is the one that ran it, it goes on with the
    /// first as soon as it comes back; the others go to other threads.
    pub(super) fn release(self: &Arc<Self>, released: Released<ServerRequest>, ended: usize) {
        let Released { mut first, others } = released;
        if RUNNING.get() == ended {
            // One that waits there already is older.
            NEXT.set(NEXT.take().or_else(|| first.take()));
        }
        first.into_iter().chain(others).for_each(|request| self.submit(Task::Run(request)));
    }

    // ---- the keeper ----

    /// Wakes the keeper if it sleeps without end: an upcall begins.
    #[inline]
    fn watch_upcall(&self) {
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            self.ring();
        }
    }

    fn ring(&self) {
        if let Err(error) = self.wake.wake() {
            tracing::error!(%error, "the server's keeper cannot be woken");
        }
    }

    // ---- the end ----

    /// Stops accepting and closes every connection in order, the latest at `by`. Returns at once.
    pub(super) fn stop(self: &Arc<Self>, by: Instant) {
        let mut stop_by = self.stop_by.lock();
        *stop_by = Some(stop_by.map_or(by, |earlier| earlier.min(by)));
        drop(stop_by);
        self.stopping.store(true, Ordering::SeqCst);
        if self.has_keeper() {
            return self.ring();
        }
        self.acceptors.lock().clear();
        let connections: Vec<_> = self.connections().values().cloned().collect();
        connections.iter().for_each(|connection| connection.close_for_shutdown());
    }

    /// Waits until every thread has ended. False: `by` came first.
    pub(super) fn join(&self, by: Instant) -> bool {
        let mut alive = self.alive.lock();
        while *alive > 0 {
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.departed.wait_for(&mut alive, left);
        }
        true
    }

    /// Starts a thread; without a `stack` of its own choosing it has Rust's 2 MiB.
    fn start_thread(
        self: &Arc<Self>,
        name: &str,
        stack: Option<usize>,
        body: impl FnOnce(&Arc<Engine>) + Send + 'static,
    ) -> io::Result<()> {
        struct Depart(Arc<Engine>);
        impl Drop for Depart {
            fn drop(&mut self) {
                *self.0.alive.lock() -= 1;
                self.0.departed.notify_all();
            }
        }
        *self.alive.lock() += 1;
        let depart = Depart(self.clone());
        let builder = std::thread::Builder::new().name(name.into());
        let builder = match stack {
            Some(octets) => builder.stack_size(octets),
            None => builder,
        };
        builder.spawn(move || {
            SERVES.set(true);
            body(&depart.0);
        })?;
        Ok(())
    }
}

fn no_thread(why: &str) -> SystemException {
    SystemException::Transient(format!("the server has no thread for the request: {why}"))
        .minor(Minor::omg(1))
}
