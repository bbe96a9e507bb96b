//! What waits for a thread, and the threads that wait for work.
//!
//! One thread at a time is on its way to new work; when it arrives it sends for the next if more is left. A burst of short
//! requests is thus done by whoever is awake, and of long ones each gets a thread, before its neighbour's upcall starts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::super::connection::Connection;
use super::super::request::ServerRequest;
use super::super::settings::ThreadModel;
use super::{Engine, worker};

/// A thread without work ends after this, if the model is not a pool; also one that has just had some, where another was idle all that time.
/// 10 s: long enough that bursts find threads.
const KEPT: Duration = Duration::from_secs(10);

/// Work for a thread.
pub(super) enum Task {
    /// Read this connection: its turn is with the task.
    Read(Arc<Connection>),
    /// Run this request.
    Run(ServerRequest),
    /// Something else.
    Job(Box<dyn FnOnce() + Send>),
}

pub(super) struct Queue {
    state: Mutex<State>,
    available: Condvar,
    /// As in `state`, for looks without the lock.
    waiting: AtomicUsize,
    idle: AtomicUsize,
    threads: AtomicUsize,
    /// Threads whose servants wait for replies.
    outside: AtomicUsize,
    most_threads: usize,
    most_waiting: usize,
    kept: Option<Duration>,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<(Task, Instant)>,
    idle: usize,
    threads: usize,
    /// Since when somebody has been idle all the time.
    idle_since: Option<Instant>,
    /// A thread is on its way here.
    coming: bool,
    finished: bool,
}

impl Queue {
    pub(super) fn new(model: ThreadModel) -> Queue {
        let (most_threads, most_waiting, kept) = match model {
            ThreadModel::PerConnection { most } => (most.max(1), usize::MAX, Some(KEPT)),
            ThreadModel::Pool { threads, queue } => (threads.max(1), queue, None),
            ThreadModel::Reactor | ThreadModel::Caller => (0, usize::MAX, None),
        };
        Queue {
            state: Mutex::default(),
            available: Condvar::new(),
            waiting: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            threads: AtomicUsize::new(0),
            outside: AtomicUsize::new(0),
            most_threads,
            most_waiting,
            kept,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Puts a task in and sends for a thread. Gives the task back if the queue is full.
    pub(super) fn put(&self, engine: &Arc<Engine>, task: Task) -> Option<Task> {
        let mut state = self.state();
        let full = state.tasks.len() >= self.most_waiting
            && state.idle == 0
            && state.threads >= self.most_threads
            && !matches!(task, Task::Job(_));
        if full {
            return Some(task);
        }
        state.tasks.push_back((task, Instant::now()));
        self.send_for_thread(engine, state);
        None
    }

    /// Sees to it that a thread comes for the tasks, if one can be had and none is coming.
    fn send_for_thread(&self, engine: &Arc<Engine>, mut state: MutexGuard<'_, State>) {
        // Sequentially consistent: the keeper looks here after it has said that it sleeps.
        self.waiting.store(state.tasks.len(), Ordering::SeqCst);
        if state.coming || state.tasks.is_empty() {
            return;
        }
        if state.idle > 0 {
            state.coming = true;
            drop(state);
            self.available.notify_one();
        } else if state.threads < self.most_threads {
            state.coming = true;
            state.threads += 1;
            self.threads.store(state.threads, Ordering::Relaxed);
            drop(state);
            if let Err(error) = engine.start_thread("zorb-server", None, worker::work) {
                tracing::error!(%error, "no further server thread");
                let mut state = self.state();
                state.coming = false;
                state.threads -= 1;
                self.threads.store(state.threads, Ordering::Relaxed);
            }
        } else {
            drop(state);
            // Nobody can come now: the keeper sees to it that they do not wait for ever.
            engine.watch_upcall();
        }
    }

    /// A new thread is here.
    pub(super) fn arrived(&self) {
        self.state().coming = false;
    }

    /// The next task for a thread that has none; waits for it. `None`: the thread is to end.
    pub(super) fn next(&self, engine: &Arc<Engine>) -> Option<Task> {
        let mut state = self.state();
        loop {
            if let Some((task, _)) = state.tasks.pop_front() {
                self.send_for_thread(engine, state);
                return Some(task);
            }
            if state.finished || self.is_one_too_many(&mut state) {
                return self.leave(state);
            }
            state.idle += 1;
            self.idle.store(state.idle, Ordering::Relaxed);
            let timed_out = match self.kept {
                Some(kept) => self.available.wait_for(&mut state, kept).timed_out(),
                None => {
                    self.available.wait(&mut state);
                    false
                }
            };
            state.idle -= 1;
            self.idle.store(state.idle, Ordering::Relaxed);
            // This may be the thread that was sent for, even where its time ran out at the same moment. If it is not,
            // one more is sent for than needed.
            state.coming = false;
            if timed_out && state.tasks.is_empty() {
                return self.leave(state);
            }
        }
    }

    /// Whether a thread that has nothing to do was not needed for as long as one is kept: others were idle all that time. A request now and
    /// then, for which who has waited longest wakes, would keep all of them.
    fn is_one_too_many(&self, state: &mut State) -> bool {
        let Some(kept) = self.kept else { return false };
        if state.idle == 0 {
            state.idle_since = Some(Instant::now());
            return false;
        }
        state.idle_since.is_some_and(|since| since.elapsed() >= kept)
    }

    fn leave(&self, mut state: MutexGuard<'_, State>) -> Option<Task> {
        state.threads -= 1;
        self.threads.store(state.threads, Ordering::Relaxed);
        None
    }

    /// The next task if it is a request, for a thread that has just run one.
    #[inline]
    pub(super) fn next_request(&self) -> Option<ServerRequest> {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut state = self.state();
        let (Task::Run(_), _) = state.tasks.front()? else { return None };
        let Some((Task::Run(request), _)) = state.tasks.pop_front() else { return None };
        self.waiting.store(state.tasks.len(), Ordering::Relaxed);
        Some(request)
    }

    /// The next task of any kind, without waiting.
    pub(super) fn take(&self) -> Option<Task> {
        if !self.has_waiting() {
            return None;
        }
        let mut state = self.state();
        let (task, _) = state.tasks.pop_front()?;
        self.waiting.store(state.tasks.len(), Ordering::Relaxed);
        Some(task)
    }

    /// Those that have waited longer than `limit` allows. Jobs are left: they cannot be refused.
    pub(super) fn overdue(&self, limit: Duration) -> Vec<Task> {
        let mut overdue = Vec::new();
        let now = Instant::now();
        let mut state = self.state();
        while let Some((Task::Read(_) | Task::Run(_), since)) = state.tasks.front()
            && now.duration_since(*since) >= limit
        {
            overdue.extend(state.tasks.pop_front().map(|(task, _)| task));
        }
        self.waiting.store(state.tasks.len(), Ordering::Relaxed);
        overdue
    }

    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Whether a reader may wait for octets in the receive: nothing waits for a thread, and one could still be had.
    #[inline]
    pub(super) fn can_spare_thread(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
            && (self.threads.load(Ordering::Relaxed) < self.most_threads
                || self.idle.load(Ordering::Relaxed) > 0)
    }

    /// A servant of this thread begins or ends to wait for the reply to a call of its own.
    pub(super) fn waits_outside(&self, begins: bool) {
        match begins {
            true => self.outside.fetch_add(1, Ordering::Relaxed),
            false => self.outside.fetch_sub(1, Ordering::Relaxed),
        };
    }

    /// Whether every thread that there may be waits for a reply.
    pub(super) fn is_stalled(&self) -> bool {
        self.outside.load(Ordering::Relaxed) >= self.most_threads
    }

    /// No task will come: threads end as they become idle.
    pub(super) fn finish(&self) {
        self.state().finished = true;
        self.available.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_one_too_many_where_another_has_been_idle_for_as_long_as_one_is_kept() {
        for (kept, is_one_too_many) in
            [(Some(Duration::ZERO), true), (Some(Duration::from_secs(3600)), false), (None, false)]
        {
            let queue = Queue { kept, ..Queue::new(ThreadModel::per_connection()) };
            let mut state = queue.state();
            assert!(!queue.is_one_too_many(&mut state), "nobody else is idle");
            state.idle = 1;
            assert_eq!(queue.is_one_too_many(&mut state), is_one_too_many, "{kept:?}");
        }
    }
}
