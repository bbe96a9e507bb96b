//! The client's one thread: it reads shared connections, sends on what they could not send at once, and ends
//! `_async` calls whose deadline has passed.

use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use zorb_ipc::{Epoll, Events, Interest, Trigger, Wake};

use super::end::End;
use super::failure::Step;
use super::shared::{Reading, Shared};
use crate::transport::Armed;

/// The token of the reactor's own wake-up descriptor.
const WAKE: u64 = 0;

/// A job for later, run on the reactor's thread: it must not block.
type Job = Box<dyn FnOnce(&Reactor) + Send>;

/// A handle on the reactor thread. Cloning is a count; [`Reactor::stop`] ends the thread.
#[derive(Clone)]
pub(crate) struct Reactor(Arc<Inner>);

struct Inner {
    epoll: Epoll,
    wake: Wake,
    next_token: AtomicU64,
    members: Mutex<HashMap<u64, Arc<Shared>>>,
    timers: Mutex<BinaryHeap<Timer>>,
    /// Members to be read whatever their descriptors tell.
    unread: Mutex<Vec<u64>>,
    sleep: Mutex<Sleep>,
    stopped: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Whether the thread has to be woken for a deadline.
enum Sleep {
    /// It is awake, and will see to this one before it sleeps.
    Awake { soonest: Option<Instant> },
    /// It sleeps until then, or without end.
    Until(Option<Instant>),
}

struct Timer {
    due: Instant,
    job: Job,
}

impl Reactor {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Reactor> {
        let wake = Wake::new().map_err(io::Error::from)?;
        let epoll = Epoll::new().map_err(io::Error::from)?;
        epoll.add(&wake, WAKE, Interest::RECEIVE, Trigger::Level).map_err(io::Error::from)?;
        let reactor = Reactor(Arc::new(Inner {
            epoll,
            wake,
            next_token: AtomicU64::new(WAKE + 1),
            members: Mutex::default(),
            timers: Mutex::default(),
            unread: Mutex::default(),
            sleep: Mutex::new(Sleep::Awake { soonest: None }),
            stopped: AtomicBool::new(false),
            thread: Mutex::default(),
        }));
        let running = reactor.clone();
        let thread =
            std::thread::Builder::new().name("zorb-client-reactor".into()).spawn(move || running.run())?;
        *reactor.0.thread.lock() = Some(thread);
        Ok(reactor)
    }

    /// Sees to the deadlines of calls on `shared` from now on, also while it is being connected.
    pub(crate) fn enroll(&self, shared: &Arc<Shared>) {
        let token = self.0.next_token.fetch_add(1, Ordering::Relaxed);
        shared.set_token(token);
        self.members().insert(token, shared.clone());
        if self.0.stopped.load(Ordering::Acquire) {
            // The thread may have seen to its members for the last time.
            shared.end(End::Closed);
        }
        // A call may have been given to it before this.
        let _ = self.0.wake.wake();
    }

    /// Reads `shared`, which is connected, from now on.
    pub(crate) fn watch(&self, shared: &Arc<Shared>) -> io::Result<()> {
        let Some(channel) = shared.channel() else { return Ok(()) };
        let token = shared.token();
        self.0
            .epoll
            .add(channel.descriptor(), token, Interest::RECEIVE, Trigger::Level)
            .map_err(io::Error::from)?;
        // It is read once without being asked to: what is there already no descriptor may tell of.
        self.read_soon(token);
        Ok(())
    }

    /// Calls `shared.flush` when its transport has room, which its descriptor tells so.
    pub(crate) fn waits_for_room(&self, shared: &Arc<Shared>, how: Armed) {
        if how == Armed::Writable {
            self.change_interest(shared, Interest::BOTH);
        }
    }

    /// Reads it before the next wait: its channel may hold more than its descriptor tells.
    pub(super) fn read_soon(&self, token: u64) {
        self.0.unread.lock().push(token);
        let _ = self.0.wake.wake();
    }

    /// Members may have ended of which no descriptor tells.
    pub(super) fn look_again(&self) {
        let _ = self.0.wake.wake();
    }

    /// Runs `job` at `due`, or soon after.
    pub(crate) fn at(&self, due: Instant, job: impl FnOnce(&Reactor) + Send + 'static) {
        let mut timers = self.timers();
        let first = timers.peek().is_none_or(|timer| due < timer.due);
        timers.push(Timer { due, job: Box::new(job) });
        drop(timers);
        if first {
            let _ = self.0.wake.wake();
        }
    }

    /// A call that no thread watches has this deadline: the thread must not sleep beyond it.
    pub(crate) fn deadline(&self, deadline: Instant) {
        let mut sleep = self.0.sleep.lock();
        match &mut *sleep {
            Sleep::Awake { soonest } => {
                *soonest = Some(soonest.map_or(deadline, |other| other.min(deadline)))
            }
            Sleep::Until(Some(until)) if *until <= deadline => {}
            Sleep::Until(_) => {
                drop(sleep);
                let _ = self.0.wake.wake();
            }
        }
    }

    /// Ends the thread and every connection that it reads.
    pub(crate) fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
        let _ = self.0.wake.wake();
        let thread = self.0.thread.lock().take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }

    fn members(&self) -> MutexGuard<'_, HashMap<u64, Arc<Shared>>> {
        self.0.members.lock()
    }

    fn timers(&self) -> MutexGuard<'_, BinaryHeap<Timer>> {
        self.0.timers.lock()
    }

    fn change_interest(&self, shared: &Arc<Shared>, interest: Interest) {
        let Some(channel) = shared.channel() else { return };
        let changed = self.0.epoll.modify(channel.descriptor(), shared.token(), interest, Trigger::Level);
        if let Err(error) = changed {
            let error = io::Error::from(error);
            shared.end(End::Unusable { step: Step::Watch, kind: error.kind() });
        }
    }

    fn run(&self) {
        let mut events = Events::with_capacity(64);
        while !self.0.stopped.load(Ordering::Acquire) {
            let due = self.run_due();
            let due = self.fall_asleep(due);
            let unread = std::mem::take(&mut *self.0.unread.lock());
            let timeout = match unread.is_empty() {
                true => due.map(|due| due.saturating_duration_since(Instant::now())),
                false => Some(Duration::ZERO),
            };
            if let Err(error) = self.0.epoll.wait(&mut events, timeout) {
                tracing::error!(%error, "the client reactor cannot wait");
                break;
            }
            *self.0.sleep.lock() = Sleep::Awake { soonest: None };
            for event in events.iter() {
                if event.token == WAKE {
                    let _ = self.0.wake.drain();
                    continue;
                }
                let Some(shared) = self.members().get(&event.token).cloned() else { continue };
                if let Some(channel) = shared.channel() {
                    channel.heard();
                }
                if event.can_send() {
                    // Room again: RECEIVE alone from now on, unless the flush finds it full once more.
                    self.change_interest(&shared, Interest::RECEIVE);
                }
                if shared.room_may_have_come() {
                    shared.flush(self);
                }
                if event.can_receive() && !unread.contains(&event.token) {
                    self.read(&shared);
                }
            }
            for token in unread {
                let Some(shared) = self.members().get(&token).cloned() else { continue };
                self.read(&shared);
            }
        }
        let members = std::mem::take(&mut *self.members());
        for shared in members.into_values() {
            shared.end(End::Closed);
        }
    }

    fn read(&self, shared: &Arc<Shared>) {
        match shared.readable() {
            Reading::Waits => {}
            Reading::HasMore => self.0.unread.lock().push(shared.token()),
            Reading::Ended => self.forget(shared.token()),
        }
    }

    /// Until when to sleep: what is known to be due, or a deadline that was entered meanwhile.
    fn fall_asleep(&self, due: Option<Instant>) -> Option<Instant> {
        let mut sleep = self.0.sleep.lock();
        let entered = match *sleep {
            Sleep::Awake { soonest } => soonest,
            Sleep::Until(_) => None,
        };
        let until = due.into_iter().chain(entered).min();
        *sleep = Sleep::Until(until);
        until
    }

    /// Runs what is due; returns when the next is.
    fn run_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let timer = self.run_timers(now);
        // Behind the timers, which end connections: nothing else may wake the thread for long, and what is not forgotten keeps
        // its descriptor and its memory.
        let members: Vec<_> = self.members().values().cloned().collect();
        members.iter().filter(|shared| shared.has_ended()).for_each(|shared| self.forget(shared.token()));
        let calls = members.iter().filter_map(|shared| shared.expire_due(now, self)).min();
        timer.into_iter().chain(calls).min()
    }

    /// Runs the timers that are due; returns when the next is.
    fn run_timers(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut timers = self.timers();
            let next = timers.peek()?.due;
            if next > now {
                return Some(next);
            }
            let timer = timers.pop();
            drop(timers);
            if let Some(timer) = timer {
                (timer.job)(self);
            }
        }
    }

    fn forget(&self, token: u64) {
        let forgotten = self.members().remove(&token);
        if let Some(channel) = forgotten.as_ref().and_then(|shared| shared.channel()) {
            // Handles on the connection may live on: without this its closed descriptor would wake the thread for ever.
            let _ = self.0.epoll.remove(channel.descriptor());
        }
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}
impl Eq for Timer {}
impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Timer {
    /// The heap's greatest is the one that is due first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.due.cmp(&self.due)
    }
}
