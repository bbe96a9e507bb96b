//! The keeper: the one thread that waits for everything that no other thread waits for.
//!
//! It accepts, reports parked connections that have something to read, sends on what transports did not take, ends what is
//! overdue, and takes the turn from readers whose upcall lasts. It sleeps without end while there is nothing of that
//! kind. In the reactor model it runs the upcalls as well.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{io, mem};

use zorb_ipc::{Events, Interest, Trigger};

use super::super::connection::{Connection, Farewell, begin_round};
use super::super::turn::{Look, Turn};
use super::pace::{Found, Pace};
use super::queue::Task;
use super::waits::ReactorWait;
use super::worker::{self, Patience};
use super::{Engine, FIRST_CONNECTION, IMPATIENT, WAKE};
use crate::transport::Acceptor;
use crate::upcall;

/// How long accepting pauses when descriptors have run out or the limit of connections is reached.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections accepted in a row before others have their turn.
const ACCEPTS_IN_A_ROW: usize = 64;

/// Connections that are accepted when the server stops, only to be closed in order: as many as systems let wait.
const MOST_LAST: usize = 4096;

/// Events taken at once.
const EVENTS: usize = 256;

/// Waits of servants, from the token space above all connections'.
const FIRST_WAIT: u64 = 1 << 63;

/// How often overdue connections are looked for while the server stops and somebody may be waiting for that.
const STOP_SWEEP: Duration = Duration::from_millis(20);

/// The stack of a reactor, which holds all nested upcalls: 64 levels of the 2 MiB that Rust gives a thread. Pages that are
/// not used cost nothing.
const REACTOR_STACK: usize = 64 * (2 << 20);

/// Starts the thread.
pub(super) fn start(engine: &Arc<Engine>) -> io::Result<()> {
    let stack = if engine.is_reactor() { Some(REACTOR_STACK) } else { None };
    engine.start_thread("zorb-keeper", stack, |engine| Keeper::new(engine).keep())
}

/// The keeper's own state; it never leaves its thread.
pub(super) struct Keeper {
    engine: Arc<Engine>,
    acceptors: RefCell<Vec<Arc<dyn Acceptor>>>,
    accept_again: Cell<Option<Instant>>,
    sweep_at: Cell<Instant>,
    pace: Pace,
    /// Waits of servants whose descriptor is readable.
    woken: RefCell<HashSet<u64>>,
    next_wait: Cell<u64>,
    /// How many servants are waiting, one within the other.
    depth: Cell<usize>,
    /// Memory for what the next wait brings.
    tokens: Cell<Vec<u64>>,
    /// A reactor's last turn and its wait, for the next event of the same connection.
    last: Cell<Option<(Arc<Turn>, Rc<ReactorWait>)>>,
}

impl Keeper {
    fn new(engine: &Arc<Engine>) -> Rc<Keeper> {
        let now = Instant::now();
        Rc::new(Keeper {
            engine: engine.clone(),
            acceptors: RefCell::default(),
            accept_again: Cell::new(None),
            sweep_at: Cell::new(now),
            pace: Pace::new(now),
            woken: RefCell::default(),
            next_wait: Cell::new(FIRST_WAIT),
            depth: Cell::new(0),
            tokens: Cell::default(),
            last: Cell::default(),
        })
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Until the engine has stopped and every connection has ended.
    fn keep(self: &Rc<Self>) {
        IMPATIENT.set(true);
        *self.acceptors.borrow_mut() = self.engine.acceptors.lock().clone();
        self.watch_acceptors();
        let mut events = Events::with_capacity(EVENTS);
        let mut body = || {
            while !self.has_ended() {
                self.once(&mut events, None);
            }
        };
        match self.engine.is_reactor() {
            true => upcall::with(Rc::new(ReactorWait::new(self, None)), body),
            false => body(),
        }
        // It knows the keeper, as the keeper does it.
        self.last.take();
        self.engine.queue.finish();
    }

    /// One wait and what it brought; not beyond `until`.
    fn once(self: &Rc<Self>, events: &mut Events, until: Option<Instant>) {
        let now = Instant::now();
        let deadline = self.deadline(until);
        if let Err(error) =
            self.engine.epoll.wait(events, deadline.map(|at| at.saturating_duration_since(now)))
        {
            tracing::error!(%error, "the server's keeper cannot wait");
            std::thread::sleep(ACCEPT_PAUSE);
        }
        self.engine.asleep.store(false, Ordering::SeqCst);
        begin_round();
        // One wait may come within another, and finds none then.
        let mut tokens = self.tokens.take();
        tokens.extend(events.iter().map(|event| event.token));
        tokens.drain(..).for_each(|token| self.on_event(token));
        self.tokens.set(tokens);
        if self.engine.is_reactor() {
            self.run_queue();
        }
        self.look_at_clock();
    }

    /// When to wake without being woken. Announces to those who start upcalls that it will not look.
    fn deadline(&self, until: Option<Instant>) -> Option<Instant> {
        if self.pace.next().is_none() && !self.engine.is_reactor() {
            self.engine.asleep.store(true, Ordering::SeqCst);
            // Who began before that did not see it: looks once more.
            let found = self.look_at_turns().and(self.waiting());
            if found != Found::Nothing {
                self.engine.asleep.store(false, Ordering::SeqCst);
                self.pace.looked(Instant::now(), found);
            }
        }
        let sweep = (!self.engine.connections().is_empty()).then(|| self.sweep_at.get());
        let stop = self.engine.is_stopping().then(|| *self.engine.stop_by.lock()).flatten();
        [until, self.pace.next(), sweep, self.accept_again.get(), stop].into_iter().flatten().min()
    }

    fn on_event(self: &Rc<Self>, token: u64) {
        match token {
            WAKE => {
                let _ = self.engine.wake.drain();
                let unsorted = mem::take(&mut *self.engine.unsorted.lock());
                unsorted.into_iter().for_each(|connection| self.read(connection));
                self.pace.resume();
                if self.engine.is_stopping() {
                    self.sweep_at.set(Instant::now());
                }
            }
            FIRST_WAIT.. => {
                self.woken.borrow_mut().insert(token);
            }
            FIRST_CONNECTION.. => {
                if let Some(connection) = self.engine.connection(token)
                    && connection.on_event()
                {
                    self.read(connection);
                }
            }
            acceptor => self.accept(usize::try_from(acceptor - WAKE - 1).unwrap_or(usize::MAX)),
        }
    }

    /// The connection has something to read, and its turn is ours.
    fn read(self: &Rc<Self>, connection: Arc<Connection>) {
        if !self.engine.is_reactor() {
            if self.engine.keeper_reads(&connection) {
                return match self.engine.is_stopping() && !connection.must_stay() {
                    true => connection.close(Farewell::Close, "shutdown"),
                    false => worker::sort_requests(&self.engine, &connection),
                };
            }
            return self.engine.submit(Task::Read(connection));
        }
        if self.depth.get() >= self.engine.settings.limits.nesting {
            return worker::refuse_requests(&connection, "calls are nested too deeply (limit)");
        }
        let last = self.last.take().filter(|(turn, _)| turn.may_serve_again(&connection));
        let (turn, wait) = last.unwrap_or_else(|| {
            let turn = Arc::new(Turn::new(connection));
            let wait = Rc::new(ReactorWait::new(self, Some(turn.clone())));
            (turn, wait)
        });
        worker::serve_within(&self.engine, &turn, Patience::Returns, wait.clone());
        // One that has ended would be kept open by this.
        if turn.connection.is_open() {
            self.last.set(Some((turn, wait)));
        }
    }

    /// The reactor's share of what others put into the queue.
    fn run_queue(self: &Rc<Self>) {
        while let Some(task) = self.engine.queue.take() {
            match task {
                Task::Read(connection) => self.read(connection),
                Task::Run(request) if self.depth.get() >= self.engine.settings.limits.nesting => {
                    self.engine.refuse(Task::Run(request), "calls are nested too deeply (limit)");
                }
                Task::Run(request) => self.engine.run(request),
                Task::Job(job) => worker::run_job(job),
            }
        }
    }

    /// Serves, in the reactor model, until `descriptor` can be read.
    pub(super) fn serve_until_readable(self: &Rc<Self>, descriptor: BorrowedFd<'_>, deadline: Instant) {
        let token = self.next_wait.replace(self.next_wait.get() + 1);
        if let Err(error) = self.engine.epoll.add(descriptor, token, Interest::RECEIVE, Trigger::OneShot) {
            tracing::debug!(%error, "a servant's wait cannot be watched; it blocks the reactor");
            let _ = zorb_ipc::wait_readable(descriptor, deadline);
            return;
        }
        self.depth.set(self.depth.get() + 1);
        let mut events = Events::with_capacity(EVENTS);
        self.run_queue();
        while !self.woken.borrow_mut().remove(&token) && Instant::now() < deadline {
            self.once(&mut events, Some(deadline));
        }
        self.depth.set(self.depth.get() - 1);
        let _ = self.engine.epoll.remove(descriptor);
        self.woken.borrow_mut().remove(&token);
    }

    // ---- accepting ----

    fn watch_acceptors(&self) {
        for (token, acceptor) in (WAKE + 1..).zip(self.acceptors.borrow().iter()) {
            let watched =
                self.engine.epoll.add(acceptor.descriptor(), token, Interest::RECEIVE, Trigger::Level);
            if let Err(error) = watched {
                tracing::error!(%error, at = %acceptor.local(), "cannot be accepted from");
            }
        }
    }

    fn accept(&self, index: usize) {
        let Some(acceptor) = self.acceptors.borrow().get(index).cloned() else { return };
        for accepted in 0..ACCEPTS_IN_A_ROW {
            if self.is_full() {
                // Only of the first is it known that it waits; the others are reported again.
                if accepted > 0 {
                    return;
                }
                if !self.close_longest_idle("to make room") {
                    return self.pause_accepting("the limit of connections is reached, and none is idle");
                }
            }
            match acceptor.accept_now() {
                Ok(Some(channel)) => self.engine.adopt(channel),
                Ok(None) => return,
                Err(error) if is_exhausted(&error) => {
                    self.close_longest_idle("to free a descriptor");
                    return self.pause_accepting(&error.to_string());
                }
                Err(error) => {
                    tracing::warn!(%error, at = %acceptor.local(), "a connection could not be accepted");
                    return self.pause_accepting(&error.to_string());
                }
            }
        }
    }

    /// Whether one connection more needs another to close.
    fn is_full(&self) -> bool {
        self.engine.connections().len() >= self.engine.settings.limits.connections
    }

    /// Peers wait in the system's queue for a while.
    fn pause_accepting(&self, why: &str) {
        if self.accept_again.get().is_none() {
            tracing::warn!(why, "accepting pauses");
            for acceptor in self.acceptors.borrow().iter() {
                let _ = self.engine.epoll.remove(acceptor.descriptor());
            }
        }
        self.accept_again.set(Some(Instant::now() + ACCEPT_PAUSE));
    }

    /// False: none is idle, or so many are closing that waiting for them is better.
    fn close_longest_idle(&self, why: &str) -> bool {
        let connections = self.all_connections();
        let most = self.engine.settings.limits.connections;
        if connections.len() > most + most / 8 {
            return false;
        }
        let idle = connections.iter().filter_map(|each| Some((each.idle_since()?, each)));
        idle.min_by_key(|(since, _)| *since).is_some_and(|(_, connection)| connection.close_if_idle(why))
    }

    // ---- the clock ----

    fn look_at_clock(self: &Rc<Self>) {
        let now = Instant::now();
        if self.pace.next().is_some_and(|at| now >= at) {
            let turns = self.look_at_turns();
            self.pace.looked(now, turns.and(self.look_at_queue(turns)));
        }
        if now >= self.sweep_at.get() {
            let interval = self.engine.settings.limits.sweep_interval();
            self.sweep_at
                .set(now + if self.engine.is_stopping() { interval.min(STOP_SWEEP) } else { interval });
            let last = self.last.take().filter(|(turn, _)| turn.connection.is_open());
            self.last.set(last);
            let milliseconds = self.engine.now();
            self.all_connections().iter().for_each(|connection| connection.check_times(milliseconds));
        }
        if self.accept_again.get().is_some_and(|at| now >= at) {
            self.accept_again.set(None);
            self.watch_acceptors();
        }
        if self.engine.is_stopping() {
            self.stop(now);
        }
    }

    /// Takes the turn from readers whose upcall lasts.
    fn look_at_turns(&self) -> Found {
        let (mut found, mut taken) = (Found::Nothing, Vec::new());
        for turn in self.engine.turns.lock().iter() {
            found = found.and(match turn.look() {
                Look::Quiet => Found::Nothing,
                Look::Ended(upcalls) => Found::Ended(upcalls),
                Look::Running => Found::Running,
                Look::Taken => {
                    taken.push(turn.clone());
                    Found::Running
                }
            });
        }
        for turn in &taken {
            self.engine.hand_on(turn);
            turn.connection.park();
        }
        found
    }

    /// Refuses what has waited too long for a thread. Where upcalls begin and end, their calls to others come back.
    fn look_at_queue(&self, turns: Found) -> Found {
        let (queue, limits) = (&self.engine.queue, &self.engine.settings.limits);
        if !queue.has_waiting() {
            return Found::Nothing;
        }
        let (limit, why) = match queue.is_stalled() && turns == Found::Nothing {
            true => (limits.stall_time.min(limits.queue_time), "all wait for replies to calls of their own"),
            false => (limits.queue_time, "all are in upcalls"),
        };
        for task in queue.overdue(limit) {
            self.engine.refuse(task, why);
        }
        self.waiting()
    }

    /// Whether something waits for a thread.
    fn waiting(&self) -> Found {
        if self.engine.queue.has_waiting() { Found::Running } else { Found::Nothing }
    }

    fn all_connections(&self) -> Vec<Arc<Connection>> {
        self.engine.connections().values().cloned().collect()
    }

    // ---- the end ----

    /// Accepts no more, and closes connections as they can be closed.
    fn stop(&self, now: Instant) {
        // The last handles are those below: each listener ends as soon as nothing waits at it.
        self.engine.acceptors.lock().clear();
        for acceptor in mem::take(&mut *self.acceptors.borrow_mut()) {
            let _ = self.engine.epoll.remove(acceptor.descriptor());
            // Who has connected already may have sent a request: a connection that is closed in order says that it was not
            // executed, one that is reset with the listener says nothing.
            for _ in 0..MOST_LAST {
                let Ok(Some(channel)) = acceptor.accept_now() else { break };
                self.engine.adopt(channel);
            }
        }
        self.accept_again.set(None);
        let overdue = self.engine.stop_by.lock().is_some_and(|by| now >= by);
        for connection in self.all_connections() {
            match overdue {
                true => connection.end("shutdown, and its time was up"),
                false => connection.close_for_shutdown(),
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.engine.is_stopping()
            && self.acceptors.borrow().is_empty()
            && self.engine.connections().is_empty()
    }
}

/// Descriptors, of this process or of the machine, have run out.
fn is_exhausted(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<zorb_ipc::Error>());
    inner.is_some_and(zorb_ipc::Error::is_descriptors_exhausted)
}

const _: () = assert!(WAKE < FIRST_CONNECTION && FIRST_CONNECTION < FIRST_WAIT, "tokens do not overlap");
