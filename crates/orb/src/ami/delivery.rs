//! Replies to closures: no thread waits for them, and the reactor, which must not run users' code, has others run it.
//!
//! ```text
//! reactor ── wakes ──► Errand ── Deliveries::run ──► a server thread, or the deliveries' own: polls, then calls the closure
//! ```

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::exception::SystemException;
use crate::object::asynchronous::Pending;
use crate::orb::Orb;
use crate::raised::OperationError;

/// How long a thread waits for more to deliver before it ends. Half a second: who makes calls without end keeps it; an ORB that
/// makes none has no thread for it.
const LINGER: Duration = Duration::from_millis(500);

type Job = Box<dyn FnOnce() + Send>;

/// What delivers replies in an ORB that serves nothing: one thread, while there is something to deliver.
#[derive(Default)]
pub(crate) struct Deliveries {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    has_thread: bool,
}

impl Deliveries {
    /// Runs `job` soon, after those that were given before. Without a thread to be had it is run here.
    fn run(&self, job: Job) {
        let mut state = self.queue.state.lock();
        state.jobs.push_back(job);
        if state.has_thread {
            self.queue.filled.notify_one();
            return;
        }
        state.has_thread = true;
        drop(state);
        let queue = self.queue.clone();
        let builder = thread::Builder::new().name("zorb-deliveries".into());
        if let Err(error) = builder.spawn(move || queue.work(LINGER)) {
            tracing::warn!(%error, "no thread can be started to deliver replies; the reactor does it");
            self.queue.work(Duration::ZERO);
        }
    }
}

impl Queue {
    fn work(&self, linger: Duration) {
        let mut state = self.state.lock();
        loop {
            while let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic of the user's closure is his own; what waits behind it is not.
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
                    tracing::error!("a reply's closure panicked");
                }
                state = self.state.lock();
            }
            if self.filled.wait_for(&mut state, linger).timed_out() && state.jobs.is_empty() {
                state.has_thread = false;
                return;
            }
        }
    }
}

/// Runs a job where users' code may run: a thread of the server's if the ORB serves.
fn run(orb: &Orb, job: Job) {
    match orb.server().serves() {
        true => orb.server().spawn(job),
        false => orb.deliveries().run(job),
    }
}

/// What is done with an outcome.
type Handle<R, E> = Box<dyn FnOnce(Result<R, E>) + Send>;

/// A call that is under way, and what is done with its outcome.
type Waiting<R, E> = (Pending<R, E>, Handle<R, E>);

/// A call whose outcome is to be delivered.
struct Errand<R, E> {
    orb: Orb,
    waiting: Mutex<Option<Waiting<R, E>>>,
}

impl<R: Send + 'static, E: OperationError> Errand<R, E> {
    fn go(self: Arc<Self>) {
        let mut waiting = self.waiting.lock();
        let Some((mut pending, handle)) = waiting.take() else { return };
        let waker = self.clone().into();
        match Pin::new(&mut pending).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => *waiting = Some((pending, handle)),
            Poll::Ready(outcome) => {
                drop(waiting);
                handle(outcome);
            }
        }
    }
}

impl<R: Send + 'static, E: OperationError> Wake for Errand<R, E> {
    fn wake(self: Arc<Self>) {
        let orb = self.orb.clone();
        run(&orb, Box::new(move || self.go()));
    }
}

impl<R: Send + 'static, E: OperationError> Pending<R, E> {
    /// Has `handle` called with the outcome, by another thread, when it is there or the call's deadline has passed. Nothing waits,
    /// and nothing can cancel the call any more.
    ///
    /// It is called by a thread of the server's as an upcall is, where the ORB serves: it may block as upcalls may. In an
    /// ORB that only calls, one thread delivers all replies, one after the other.
    ///
    /// # Errors
    /// The call could not be begun; `handle` is not called then.
    pub fn deliver(self, handle: impl FnOnce(Result<R, E>) + Send + 'static) -> Result<(), E> {
        let orb = self.begun()?.clone();
        let errand = Arc::new(Errand { orb, waiting: Mutex::new(Some((self, Box::new(handle)))) });
        // The reply may be there, and then is delivered by another thread all the same.
        errand.wake();
        Ok(())
    }

    /// The ORB of a call that is under way.
    fn begun(&self) -> Result<&Orb, SystemException> {
        self.target().map(|target| target.orb())
    }
}
