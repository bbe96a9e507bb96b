//! The queue of the main thread: upcalls of adapters that run in the thread that is in `Orb::run`.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use zorb_ipc::Wake;

use super::traffic::thread;

/// Requests that wait for the main thread, of all adapters together: what one adapter's turn holds too.
const LIMIT: usize = super::adapter::WAITING_LIMIT;

/// What waits for the main thread, and that thread.
pub(crate) struct MainThread<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    /// The first thread that is in `run`.
    thread: Option<u64>,
    /// Rung when something is queued, while upcalls of the main thread wait for descriptors.
    bells: Vec<Arc<Wake>>,
    stopped: bool,
}

impl<T> MainThread<T> {
    pub(crate) fn new() -> Self {
        let state = State { queue: VecDeque::new(), thread: None, bells: Vec::new(), stopped: false };
        MainThread { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Whether this is the main thread.
    pub(crate) fn is_here(&self) -> bool {
        self.state.lock().thread == Some(thread())
    }

    /// Leaves a request for the main thread; gives it back if too many wait, or none will be run any more.
    pub(crate) fn push(&self, request: T) -> Result<(), T> {
        let mut state = self.state.lock();
        if state.stopped || state.queue.len() == LIMIT {
            return Err(request);
        }
        state.queue.push_back(request);
        for bell in &state.bells {
            // An eventfd write fails only when its counter is full, and then it is readable already.
            let _ = bell.wake();
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// The next request, if there is one.
    pub(crate) fn pop(&self) -> Option<T> {
        self.state.lock().queue.pop_front()
    }

    /// Blocks until [`stop`](Self::stop). The first thread in here is the main thread and runs what comes.
    pub(crate) fn run(&self, serve: impl Fn(T)) {
        let mut state = self.state.lock();
        let mine = state.thread.is_none();
        if mine {
            state.thread = Some(thread());
        }
        while !state.stopped {
            match if mine { state.queue.pop_front() } else { None } {
                Some(request) => {
                    drop(state);
                    serve(request);
                    state = self.state.lock();
                }
                None => self.changed.wait(&mut state),
            }
        }
        if mine {
            state.thread = None;
        }
    }

    /// Ends `run` in all threads. What is still queued is dropped, which answers it.
    pub(crate) fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let dropped = std::mem::take(&mut state.queue);
        drop(state);
        self.changed.notify_all();
        drop(dropped);
    }

    /// Rings `bell` whenever a request is queued, until the guard is dropped.
    pub(crate) fn ring<'m>(&'m self, bell: &'m Arc<Wake>) -> Ringing<'m, T> {
        self.state.lock().bells.push(bell.clone());
        Ringing { main: self, bell }
    }
}

/// See [`MainThread::ring`].
pub(crate) struct Ringing<'m, T> {
    main: &'m MainThread<T>,
    bell: &'m Arc<Wake>,
}

impl<T> Drop for Ringing<'_, T> {
    fn drop(&mut self) {
        let mut state = self.main.state.lock();
        state.bells.retain(|bell| !Arc::ptr_eq(bell, self.bell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_in_run_serves_in_order_until_it_is_stopped() {
        let main = MainThread::new();
        assert_eq!([main.push(1), main.push(2)], [Ok(()), Ok(())]);
        let served = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                main.run(|request| {
                    assert!(main.is_here());
                    served.lock().push(request);
                    if request == 3 {
                        main.stop();
                    }
                });
            });
            assert!(!main.is_here());
            main.push(3).expect("it runs");
        });
        assert_eq!(*served.lock(), [1, 2, 3]);
        assert_eq!(main.push(4), Err(4));
        main.run(|_| panic!("it has stopped"));
    }

    #[test]
    fn a_bell_rings_while_it_is_wanted() {
        let main = MainThread::new();
        let bell = Arc::new(Wake::new().expect("an eventfd"));
        let ringing = main.ring(&bell);
        main.push(()).expect("room");
        assert_eq!(bell.drain().ok(), Some(true));
        drop(ringing);
        main.push(()).expect("room");
        assert_eq!(bell.drain().ok(), Some(false));
    }

    #[test]
    fn a_queue_has_an_end() {
        let main = MainThread::new();
        for request in 0..LIMIT {
            assert_eq!(main.push(request), Ok(()));
        }
        assert_eq!(main.push(7), Err(7));
        assert_eq!(main.pop(), Some(0));
    }
}
