//! Octets in one direction, within the process.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};
use zorb_ipc::Wake;

use super::super::Received;

/// Octets that a pipe holds before its sender must wait: 1 MiB, so that the messages of tests fit.
pub(super) const CAPACITY: usize = 1 << 20;

/// Octets in one direction.
pub(super) struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
    /// Rung when octets come, for whoever waits for descriptors.
    pub(super) bell: Wake,
}

#[derive(Default)]
pub(super) struct State {
    octets: Vec<u8>,
    /// Octets at the front of `octets` that have been received.
    taken: usize,
    pub(super) ended: bool,
    /// Whose bell to ring when there is room: the sender's other pipe.
    pub(super) wants_room: Option<Arc<Pipe>>,
}

impl State {
    pub(super) fn unread(&self) -> usize {
        self.octets.len() - self.taken
    }
}

impl Pipe {
    pub(super) fn new() -> io::Result<Pipe> {
        Ok(Pipe { state: Mutex::default(), changed: Condvar::new(), bell: Wake::new()? })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// What a system call does elsewhere, and so not counted among the instructions of a call: never inlined.
    #[inline(never)]
    pub(super) fn take(&self, into: &mut [u8]) -> Received {
        let mut state = self.state();
        let count = state.unread().min(into.len());
        if count == 0 {
            return if state.ended { Received::Closed } else { Received::Empty };
        }
        into[..count].copy_from_slice(&state.octets[state.taken..state.taken + count]);
        let was_full = state.unread() >= CAPACITY;
        state.taken += count;
        if state.unread() == 0 {
            state.octets.clear();
            state.taken = 0;
        }
        let wants_room = if was_full { state.wants_room.take() } else { None };
        drop(state);
        if was_full {
            self.changed.notify_all();
        }
        if let Some(other) = wants_room {
            let _ = other.bell.wake();
        }
        Received::Octets(count)
    }

    /// Takes what there is room for. `ring` if somebody may be waiting for the descriptor. Not counted, as
    /// [`take`](Self::take).
    #[inline(never)]
    pub(super) fn put(&self, parts: &[IoSlice<'_>], ring: bool) -> io::Result<usize> {
        let mut state = self.state();
        if state.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = CAPACITY.saturating_sub(state.unread());
        let mut put = 0;
        for part in parts {
            let count = part.len().min(room - put);
            state.octets.extend_from_slice(&part[..count]);
            put += count;
        }
        drop(state);
        if put > 0 && ring {
            self.announce();
        }
        Ok(put)
    }

    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let wants_room = state.wants_room.take();
        drop(state);
        self.announce();
        if let Some(other) = wants_room {
            let _ = other.bell.wake();
        }
    }

    fn announce(&self) {
        self.changed.notify_all();
        // An eventfd that is full is readable, which is what is wanted.
        let _ = self.bell.wake();
    }

    /// Blocks until `condition` or the deadline.
    pub(super) fn wait(&self, deadline: Instant, condition: impl Fn(&State) -> bool) {
        let mut state = self.state();
        while !condition(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut state, left);
        }
    }
}
