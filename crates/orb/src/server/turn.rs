//! Whose turn it is to read a connection, while its reader runs an upcall.
//!
//! ```text
//!             begin                     end: still mine
//!  Reading ───────────► Upcall (n) ───────────────────► Reading
//!                          │ the keeper sees the same n twice, or the reader is about to wait itself
//!                          ▼
//!                        Lost: the connection is armed for another thread
//! ```
//!
//! A short upcall pays two atomic operations. A long one loses the turn, so that no call waits behind it.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::connection::Connection;
use super::request::ServerRequest;

const READING: u64 = 0;
const UPCALL: u64 = 1;
const LOST: u64 = 2;
const PHASE: u64 = 3;
const NEXT: u64 = 4;

/// The right of one thread to read one connection.
pub(super) struct Turn {
    pub(super) connection: Arc<Connection>,
    /// A phase in the lowest two bits, above it a count of upcalls.
    state: AtomicU64,
    /// What the keeper saw last.
    seen: AtomicU64,
    /// Requests that were received behind the one that runs, and are run by the same thread; the next one is the last.
    #[allow(clippy::box_collection, reason = "most turns have none, and end without a call")]
    behind: Mutex<Option<Box<Vec<ServerRequest>>>>,
}

/// Which upcall it is that ends.
#[derive(Clone, Copy)]
pub(super) struct Mark(u64);

/// What the keeper finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing has happened since the last look.
    Quiet,
    /// So many rows of upcalls have begun since the last look, and none of them has the turn now.
    Ended(u64),
    /// An upcall runs, or ran a moment ago, of which nothing says that it lasts.
    Running,
    /// The same upcall as at the last look: the turn is the keeper's now.
    Taken,
}

impl Turn {
    pub(super) fn new(connection: Arc<Connection>) -> Turn {
        Turn {
            connection,
            state: AtomicU64::new(READING),
            seen: AtomicU64::new(READING),
            behind: Mutex::default(),
        }
    }

    /// Whether it is of this connection, and over, as if it had never begun.
    pub(super) fn may_serve_again(&self, connection: &Arc<Connection>) -> bool {
        Arc::ptr_eq(&self.connection, connection)
            && self.state.load(Ordering::Acquire) & PHASE == READING
            && self.behind.lock().as_ref().is_none_or(|behind| behind.is_empty())
    }

    /// Requests that are to be run behind the first. If somebody watches whether an upcall lasts, their answers leave together.
    pub(super) fn wait_behind(&self, mut requests: Vec<ServerRequest>, is_watched: bool) {
        if is_watched {
            self.connection.hold_replies();
        }
        requests.reverse();
        *self.behind.lock() = Some(Box::new(requests));
    }

    /// The next of them.
    pub(super) fn next_behind(&self) -> Option<ServerRequest> {
        self.behind.lock().as_mut()?.pop()
    }

    /// Those that have not begun: somebody else is to run them, since an upcall lasts. What was answered leaves.
    pub(super) fn hand_on(&self) -> impl Iterator<Item = ServerRequest> + use<> {
        let rest = mem::take(&mut *self.behind.lock());
        self.connection.release_replies();
        rest.into_iter().flat_map(|rest| *rest).rev()
    }

    /// The reader is about to run upcalls.
    #[inline]
    pub(super) fn begin(&self) -> Mark {
        let mark = (self.state.load(Ordering::Relaxed) & !PHASE) + NEXT + UPCALL;
        // Sequentially consistent: pairs with the keeper's, which looks here after it has said that it sleeps.
        self.state.swap(mark, Ordering::SeqCst);
        Mark(mark)
    }

    /// The upcalls have returned. False: the turn is lost.
    #[inline]
    pub(super) fn end(&self, mark: Mark) -> bool {
        let reading = mark.0 & !PHASE;
        self.state.compare_exchange(mark.0, reading, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the turn is still this thread's, which then alone reads until it is lost. To be asked by who has locked what is read.
    #[inline]
    pub(super) fn is_still(&self, mark: Mark) -> bool {
        self.state.load(Ordering::Acquire) == mark.0
    }

    /// Gives the turn up from within an upcall that is about to wait. True for the one that did it.
    pub(super) fn give_up(&self) -> bool {
        let state = self.state.load(Ordering::Acquire);
        state & PHASE == UPCALL && self.lose(state)
    }

    /// The keeper's look.
    pub(super) fn look(&self) -> Look {
        let state = self.state.load(Ordering::SeqCst);
        match since(self.seen.swap(state, Ordering::Relaxed), state) {
            Look::Taken if !self.lose(state) => Look::Running,
            found => found,
        }
    }

    fn lose(&self, state: u64) -> bool {
        let lost = (state & !PHASE) | LOST;
        self.state.compare_exchange(state, lost, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// After a lost turn was won back.
    pub(super) fn renew(&self) {
        let state = self.state.load(Ordering::Relaxed);
        self.state.store((state & !PHASE) | READING, Ordering::Release);
    }
}

/// What a look finds that sees this state, where the last one saw another; the turn is [to be taken](Look::Taken) then.
fn since(seen: u64, state: u64) -> Look {
    match state & PHASE {
        UPCALL if state == seen => Look::Taken,
        UPCALL => Look::Running,
        _ if state == seen => Look::Quiet,
        _ => Look::Ended((state / NEXT).wrapping_sub(seen / NEXT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_tells_upcalls_that_end_from_one_that_lasts() {
        let (reading, runs, lost) =
            (|count| count * NEXT + READING, |count| count * NEXT + UPCALL, |count| count * NEXT + LOST);
        for (seen, state, found) in [
            (reading(0), reading(0), Look::Quiet),
            (reading(0), runs(1), Look::Running),
            (runs(1), runs(1), Look::Taken),
            (runs(1), lost(1), Look::Ended(0)),
            (lost(1), lost(1), Look::Quiet),
            (lost(1), reading(1), Look::Ended(0)),
            (runs(1), reading(1), Look::Ended(0)),
            (runs(1), runs(2), Look::Running),
            (reading(1), reading(4), Look::Ended(3)),
            (runs(1), reading(4), Look::Ended(3)),
            (reading(4), lost(5), Look::Ended(1)),
        ] {
            assert_eq!(since(seen, state), found, "{seen} {state}");
        }
    }
}
