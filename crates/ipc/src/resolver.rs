//! Look-ups that can be given up.
//!
//! The system's resolver cannot be interrupted, so a caller with a deadline must let another thread ask it.
//! Left to itself that leaks a thread for every name whose server never answers. Here the leak has a bound:
//! look-ups run on at most [`ResolverOptions::workers`] threads, all callers that ask for the same name share
//! one look-up, and what nobody waits for any more is not begun.

use crate::resolve::{answer, check, literal, resolved, system_lookup, with_port};
use crate::{Address, Error, Step};
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Resolves names by a deadline, on threads of its own; shared by any number of callers.
///
/// Threads are started when there is work, and end after a while without. Dropping the resolver lets idle
/// threads end at once and a busy one as soon as the system answers it: until then it stays, with nothing but
/// its stack.
///
/// ```
/// # use std::time::{Duration, Instant};
/// let resolver = zorb_ipc::Resolver::new(zorb_ipc::ResolverOptions::default());
/// let addresses = resolver.resolve_by("localhost", 2809, Instant::now() + Duration::from_secs(5))?;
/// assert!(addresses[0].ip().is_loopback());
/// # Ok::<(), zorb_ipc::Error>(())
/// ```
pub struct Resolver {
    shared: Arc<Shared>,
}

/// The bounds of a [`Resolver`].
#[derive(Clone, Copy, Debug)]
pub struct ResolverOptions {
    /// The most threads, and so the most names that can be stuck at a time before further ones have to wait.
    /// Default: 8, a handful of dead name servers without holding up the rest; at least 1.
    pub workers: usize,
    /// How long a thread without work stays. Default: 10 s, about as long as the addresses of one reference
    /// take to be tried in turn.
    pub linger: Duration,
}

impl Default for ResolverOptions {
    fn default() -> Self {
        Self { workers: 8, linger: Duration::from_secs(10) }
    }
}

type Lookup = dyn Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync;
type Outcome = Result<Vec<SocketAddr>, Error>;

struct Shared {
    lookup: Box<Lookup>,
    options: ResolverOptions,
    state: Mutex<State>,
    /// Something was queued, or the resolver was dropped.
    work: Condvar,
}

#[derive(Default)]
struct State {
    /// Look-ups that somebody waits for or a thread is at, by host.
    jobs: BTreeMap<Box<str>, Entry>,
    /// Those not begun, the oldest first.
    queue: VecDeque<Arc<Job>>,
    threads: usize,
    idle: usize,
    dropped: bool,
}

struct Entry {
    job: Arc<Job>,
    waiting: usize,
}

struct Job {
    host: Box<str>,
    outcome: OnceLock<Outcome>,
    /// The outcome is there. Used with the mutex around `State`.
    done: Condvar,
}

impl Resolver {
    /// One that asks the system.
    pub fn new(options: ResolverOptions) -> Self {
        Self::with_lookup(options, system_lookup)
    }

    /// One that asks `lookup`: a test's, or another name service. It is given the host, may take as long as
    /// it likes, and the ports in its answer mean nothing.
    pub fn with_lookup(
        options: ResolverOptions,
        lookup: impl Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    ) -> Self {
        let state = Mutex::new(State::default());
        Self { shared: Arc::new(Shared { lookup: Box::new(lookup), options, state, work: Condvar::new() }) }
    }

    /// As [`resolve`](crate::resolve), but waits no longer than until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Resolve`], naming the host; [`Error::is_timeout`] if there was no answer in time, be it
    /// that the name's server is silent or that all threads are held up by such names. That no thread can be
    /// started is an error only if none is there.
    pub fn resolve_by(&self, host: &str, port: u16, deadline: Instant) -> Result<Vec<SocketAddr>, Error> {
        if let Some(address) = literal(host, port) {
            return Ok(vec![address]);
        }
        check(host)?;
        let mut state = self.shared.lock();
        let job = self.join_or_begin(&mut state, host)?;
        while job.outcome.get().is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = job.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        match job.outcome.get() {
            Some(outcome) => outcome.clone().map(|found| with_port(found, port)),
            None => {
                state.give_up(&job);
                Err(Error::out_of_time(Step::Resolve).with_host(host))
            }
        }
    }

    /// As [`resolve_address`](crate::resolve_address), but waits no longer than until `deadline`.
    ///
    /// # Errors
    /// As [`resolve_by`](Self::resolve_by); and naming the whole text, if it is no address.
    pub fn resolve_address_by(&self, text: &str, deadline: Instant) -> Result<Vec<Address>, Error> {
        resolved(text, |host, port| self.resolve_by(host, port, deadline))
    }

    fn join_or_begin(&self, state: &mut State, host: &str) -> Result<Arc<Job>, Error> {
        if let Some(entry) = state.jobs.get_mut(host) {
            entry.waiting += 1;
            return Ok(Arc::clone(&entry.job));
        }
        if state.queue.len() >= state.idle && state.threads < self.shared.options.workers.max(1) {
            let shared = Arc::clone(&self.shared);
            match thread::Builder::new().name("zorb-resolver".into()).spawn(move || shared.work()) {
                Ok(_) => state.threads += 1,
                Err(_) if state.threads > 0 => {}
                Err(error) => {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
                    return Err(Error::os(Step::Resolve, errno).with_host(host));
                }
            }
        }
        let job = Arc::new(Job { host: host.into(), outcome: OnceLock::new(), done: Condvar::new() });
        state.jobs.insert(host.into(), Entry { job: Arc::clone(&job), waiting: 1 });
        state.queue.push_back(Arc::clone(&job));
        self.shared.work.notify_one();
        Ok(job)
    }
}

impl State {
    /// One caller less waits for `job`. The last one takes it out of the queue; if a thread is at it already,
    /// it stays listed, so that the next caller joins it and does not tie up a second thread with the same
    /// name.
    fn give_up(&mut self, job: &Arc<Job>) {
        let Some(entry) = self.jobs.get_mut(&job.host) else { return };
        entry.waiting -= 1;
        if entry.waiting > 0 {
            return;
        }
        if let Some(position) = self.queue.iter().position(|queued| Arc::ptr_eq(queued, job)) {
            self.queue.remove(position);
            self.jobs.remove(&job.host);
        }
    }
}

impl Shared {
    /// The state is consistent between any two statements that could panic, so a poisoned lock is as good as
    /// any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a thread.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                drop(state);
                let outcome = self.look_up(&job.host);
                state = self.lock();
                state.jobs.remove(&job.host);
                let _ = job.outcome.set(outcome);
                job.done.notify_all();
                continue;
            }
            if state.dropped {
                break;
            }
            state.idle += 1;
            let (guard, waited) =
                self.work.wait_timeout(state, self.options.linger).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            if waited.timed_out() && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }

    fn look_up(&self, host: &str) -> Outcome {
        match catch_unwind(AssertUnwindSafe(|| (self.lookup)(host))) {
            Ok(found) => answer(host, found),
            Err(_) => Err(Error::said(Step::Resolve, "the look-up function panicked").with_host(host)),
        }
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.shared.lock().dropped = true;
        self.shared.work.notify_all();
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Resolver")
            .field("threads", &state.threads)
            .field("idle", &state.idle)
            .field("queued", &state.queue.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    fn within(time: Duration) -> Instant {
        Instant::now() + time
    }

    /// Hosts that begin with `dead` are not answered until the sender is dropped.
    fn half_dead(workers: usize) -> (Resolver, mpsc::Sender<()>, Arc<AtomicUsize>) {
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let opener = Arc::clone(&gate);
        thread::spawn(move || {
            let _ = held.into_inner().unwrap().recv();
            *opener.0.lock().unwrap() = true;
            opener.1.notify_all();
        });
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let options = ResolverOptions { workers, ..ResolverOptions::default() };
        let resolver = Resolver::with_lookup(options, move |host| {
            count.fetch_add(1, SeqCst);
            if host.starts_with("dead") {
                let open = gate.0.lock().unwrap();
                drop(gate.1.wait_while(open, |open| !*open).unwrap());
            }
            Ok(vec!["192.0.2.1:0".parse().unwrap()])
        });
        (resolver, release, asked)
    }

    /// Asks twenty times at least, and until so many threads have come to look up: on a busy machine they begin late.
    fn ask_until(asked: &AtomicUsize, threads: usize, ask: impl Fn(usize)) {
        let latest = within(LONG);
        (0..)
            .take_while(|&i| i < 20 || (asked.load(SeqCst) < threads && Instant::now() < latest))
            .for_each(ask);
    }

    #[test]
    fn a_name_that_is_never_answered_ends_by_the_deadline() {
        let (resolver, release, _) = half_dead(2);
        let error = resolver.resolve_by("dead", 1, within(SHORT)).unwrap_err();
        assert!(error.is_timeout());
        assert_eq!(error.to_string(), "resolve \"dead\": out of time");
        assert_eq!(resolver.resolve_by("alive", 7, within(LONG)).unwrap(), ["192.0.2.1:7".parse().unwrap()]);
        drop(release);
    }

    #[test]
    fn the_same_name_holds_one_thread_however_often_it_is_asked() {
        let (resolver, release, asked) = half_dead(2);
        ask_until(&asked, 1, |_| {
            assert!(resolver.resolve_by("dead", 1, within(SHORT)).unwrap_err().is_timeout())
        });
        assert_eq!(asked.load(SeqCst), 1);
        resolver.resolve_by("alive", 1, within(LONG)).unwrap();
        drop(release);
        // The stuck look-up's late answer serves whoever waits by then, and leaves nothing behind.
        resolver.resolve_by("dead", 1, within(LONG)).unwrap();
        assert!(resolver.shared.lock().jobs.is_empty());
    }

    #[test]
    fn dead_names_never_hold_more_threads_than_there_may_be() {
        let (resolver, release, asked) = half_dead(3);
        ask_until(&asked, 3, |i| {
            assert!(resolver.resolve_by(&format!("dead{i}"), 1, within(SHORT)).unwrap_err().is_timeout());
        });
        {
            let state = resolver.shared.lock();
            assert_eq!(state.threads, 3);
            assert!(state.queue.is_empty(), "what nobody waits for is not kept");
        }
        assert!(resolver.resolve_by("alive", 1, within(SHORT)).unwrap_err().is_timeout(), "all are held up");
        drop(release);
        resolver.resolve_by("alive", 1, within(LONG)).unwrap();
        assert!(asked.load(SeqCst) <= 3 + 1);
    }

    #[test]
    fn a_panicking_lookup_is_an_error_and_costs_no_thread() {
        let resolver = Resolver::with_lookup(ResolverOptions { workers: 1, ..Default::default() }, |host| {
            if host == "bad" { panic!("on purpose") } else { Ok(vec!["192.0.2.1:0".parse().unwrap()]) }
        });
        assert!(resolver.resolve_by("bad", 1, within(LONG)).unwrap_err().to_string().contains("panicked"));
        resolver.resolve_by("good", 1, within(LONG)).unwrap();
    }

    #[test]
    fn a_text_that_names_its_host_ends_by_the_deadline_too() {
        let (resolver, release, _) = half_dead(2);
        let error = resolver.resolve_address_by("tcp:dead:7", within(SHORT)).unwrap_err();
        assert!(error.is_timeout() && error.host() == Some("dead"), "{error}");
        let found = resolver.resolve_address_by("tcp:alive:7", within(LONG)).unwrap();
        assert!(matches!(found[..], [Address::Tcp(at), ..] if at.port() == 7));
        drop(release);
    }

    #[test]
    fn idle_threads_end_and_a_dropped_resolver_keeps_none() {
        let options = ResolverOptions { workers: 2, linger: Duration::from_millis(1) };
        let resolver = Resolver::with_lookup(options, |_| Ok(vec!["192.0.2.1:0".parse().unwrap()]));
        let shared = Arc::clone(&resolver.shared);
        let none_within = |time| {
            let until = within(time);
            while shared.lock().threads > 0 && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
            shared.lock().threads == 0
        };
        resolver.resolve_by("a", 1, within(LONG)).unwrap();
        assert!(none_within(LONG));
        resolver.resolve_by("b", 1, within(LONG)).unwrap();
        drop(resolver);
        assert!(none_within(LONG));
    }

    #[test]
    fn many_callers_of_few_threads_are_all_answered() {
        let (resolver, release, _) = half_dead(2);
        thread::scope(|scope| {
            for caller in 0..16 {
                let resolver = &resolver;
                scope.spawn(move || {
                    for name in 0..50u16 {
                        let found =
                            resolver.resolve_by(&format!("host{}", name % 5), caller, within(LONG)).unwrap();
                        assert_eq!(found[0].port(), caller);
                    }
                });
            }
        });
        assert!(resolver.shared.lock().jobs.is_empty());
        drop(release);
    }
}
