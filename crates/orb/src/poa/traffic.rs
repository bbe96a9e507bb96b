//! Which requests are in progress: counted without a line of memory that all threads write.
//!
//! Each thread counts in one of a few cells; only who waits for the requests to end adds them up. The order
//! that makes it right: a request counts itself *first* and looks at the adapter's state *second*; who closes the
//! adapter changes the state first and adds up second. So one of the two sees the other.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// As many threads as may count without meeting; more share cells. A cell takes a cache line, so eight cost 512 octets
/// an adapter.
const CELLS: usize = 8;

/// Requests in progress in one adapter.
#[derive(Default)]
pub(crate) struct Traffic {
    cells: [Line; CELLS],
    watchers: AtomicUsize,
    changes: Mutex<()>,
    changed: Condvar,
}

#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicUsize);

/// Which cell a request is counted in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted(u8);

impl Traffic {
    /// Counts a request in. The state of the adapter is to be looked at afterwards.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Counted {
        let cell = (thread() % CELLS as u64) as u8;
        // SeqCst, here and in `is_idle`: count-then-look against change-then-add-up.
        self.cells[usize::from(cell)].0.fetch_add(1, Ordering::SeqCst);
        Counted(cell)
    }

    /// Counts a request out, in any thread.
    #[inline(always)]
    pub(crate) fn leave(&self, cell: Counted) {
        self.cells[usize::from(cell.0)].0.fetch_sub(1, Ordering::SeqCst);
        self.notify();
    }

    /// No request is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.cells.iter().all(|cell| cell.0.load(Ordering::SeqCst) == 0)
    }

    /// Something changed that a watcher may wait for.
    pub(crate) fn notify(&self) {
        if self.watchers.load(Ordering::SeqCst) != 0 {
            // Taken so that a watcher is either before its look or in its wait.
            drop(self.changes.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until `done`; false if `deadline` comes first.
    pub(crate) fn wait_until(&self, deadline: Instant, done: impl Fn() -> bool) -> bool {
        self.watchers.fetch_add(1, Ordering::SeqCst);
        let mut changes = self.changes.lock();
        let reached = loop {
            if done() {
                break true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break false;
            }
            self.changed.wait_for(&mut changes, left);
        };
        drop(changes);
        self.watchers.fetch_sub(1, Ordering::SeqCst);
        reached
    }
}

/// A number that this thread has alone.
#[inline]
pub(crate) fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static THREAD: Cell<u64> = const { Cell::new(0) };
    }
    THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        thread.get()
    })
}

thread_local! {
    /// The run of the ORB whose upcall this thread is in, the innermost; 0: in none.
    static INNERMOST: Cell<u64> = const { Cell::new(0) };
    /// Those around it, innermost last.
    static AROUND: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// This thread is in an upcall, until dropped, in this thread: it must not wait for upcalls to end.
pub(crate) struct Upcall {
    run: u64,
    /// What it was in before.
    outer: u64,
}

impl Upcall {
    #[inline(always)]
    pub(crate) fn enter(run: u64) -> Upcall {
        let outer = INNERMOST.replace(run);
        if outer != 0 {
            AROUND.with_borrow_mut(|around| around.push(outer));
        }
        Upcall { run, outer }
    }

    /// Whether this thread is in an upcall of that ORB.
    pub(crate) fn is_in(run: u64) -> bool {
        // At the thread's very end it is in none.
        INNERMOST.get() == run || AROUND.try_with(|around| around.borrow().contains(&run)).unwrap_or(false)
    }

    /// The end of one that is not simply the only one.
    #[cold]
    fn leave_nested(&self) {
        AROUND.with_borrow_mut(|around| {
            if INNERMOST.get() == self.run {
                INNERMOST.set(around.pop().unwrap_or(0));
            } else if let Some(at) = around.iter().rposition(|&run| run == self.run) {
                around.remove(at);
            }
        });
    }
}

impl Drop for Upcall {
    #[inline(always)]
    fn drop(&mut self) {
        if self.outer == 0 && INNERMOST.get() == self.run {
            INNERMOST.set(0);
        } else {
            self.leave_nested();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_watcher_wakes_when_the_last_request_leaves_in_whatever_thread() {
        let traffic = Traffic::default();
        let cells = [traffic.enter(), traffic.enter()];
        assert!(!traffic.is_idle());
        assert!(!traffic.wait_until(Instant::now(), || traffic.is_idle()));
        let last = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                traffic.leave(cells[0]);
                last.store(true, Ordering::SeqCst);
                traffic.leave(cells[1]);
            });
            assert!(traffic.wait_until(Instant::now() + Duration::from_secs(10), || traffic.is_idle()));
            assert!(last.load(Ordering::SeqCst));
        });
    }

    #[test]
    fn upcalls_nest_across_orbs() {
        let outer = Upcall::enter(1);
        let inner = Upcall::enter(2);
        assert!(Upcall::is_in(1) && Upcall::is_in(2) && !Upcall::is_in(3));
        drop(inner);
        assert!(Upcall::is_in(1) && !Upcall::is_in(2));
        drop(outer);
        assert!(!Upcall::is_in(1));
    }

    #[test]
    fn each_thread_has_a_number_of_its_own() {
        let here = thread();
        assert_eq!(thread(), here);
        let there = std::thread::spawn(thread).join().expect("no panic");
        assert_ne!(here, there);
    }
}
