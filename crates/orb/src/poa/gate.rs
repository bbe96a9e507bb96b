//! The four states of an adapter manager, and the requests that wait in front of one that holds them.
//!
//! ```text
//!                     activate                    deactivate
//!  (new) → HOLDING ─────────────→ ACTIVE ─────────────────────────→ INACTIVE, for good
//!             ↑  ↖ hold ────────────┘  ↘ discard       ↑ (from any)
//!             └──────── hold ── DISCARDING ── activate → ACTIVE
//! ```
//!
//! CORBA 3.4 part 1 §11.3.2. Nothing here knows what a request is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;

/// What a manager does with requests for its adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ManagerState {
    /// It keeps them until it is told what to do with them. The state of a new manager.
    Holding = 0,
    /// It lets them through.
    Active = 1,
    /// It turns them away with `TRANSIENT` (OMG 1): the client may try again.
    Discarding = 2,
    /// It turns them away with `OBJ_ADAPTER` (OMG 1), for good.
    Inactive = 3,
}

/// A state, and the requests held.
pub(crate) struct Gate<T> {
    state: AtomicU8,
    held: Mutex<VecDeque<T>>,
    limit: usize,
}

/// What became of a request that did not come through at once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stopped<T> {
    /// It waits.
    Held,
    /// As many wait as may.
    Full(T),
    /// Meanwhile the gate has another state: look again.
    Look(T),
}

impl<T> Gate<T> {
    /// A gate that holds at most `limit` requests.
    pub(crate) fn new(limit: usize) -> Self {
        Gate { state: AtomicU8::new(ManagerState::Holding as u8), held: Mutex::default(), limit }
    }

    /// The state now.
    pub(crate) fn state(&self) -> ManagerState {
        // SeqCst: see `traffic`.
        match self.state.load(Ordering::SeqCst) {
            0 => ManagerState::Holding,
            1 => ManagerState::Active,
            2 => ManagerState::Discarding,
            _ => ManagerState::Inactive,
        }
    }

    /// Keeps a request that found the gate holding.
    pub(crate) fn hold(&self, request: T) -> Stopped<T> {
        let mut held = self.held.lock();
        if self.state() != ManagerState::Holding {
            Stopped::Look(request)
        } else if held.len() == self.limit {
            Stopped::Full(request)
        } else {
            held.push_back(request);
            Stopped::Held
        }
    }

    /// Changes the state and gives out what was held, oldest first, unless it is to be held on. `None`: the gate is
    /// inactive, and stays so.
    pub(crate) fn change(&self, to: ManagerState) -> Option<VecDeque<T>> {
        let mut held = self.held.lock();
        if self.state() == ManagerState::Inactive {
            return None;
        }
        self.state.store(to as u8, Ordering::SeqCst);
        Some(if to == ManagerState::Holding { VecDeque::new() } else { std::mem::take(&mut *held) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_gate_holds_and_gives_out_in_order() {
        let gate = Gate::new(2);
        assert_eq!(gate.state(), ManagerState::Holding);
        assert_eq!([gate.hold('a'), gate.hold('b')], [Stopped::Held, Stopped::Held]);
        assert_eq!(gate.hold('c'), Stopped::Full('c'));
        assert_eq!(gate.change(ManagerState::Holding), Some(VecDeque::new()));
        assert_eq!(gate.change(ManagerState::Active), Some(VecDeque::from(['a', 'b'])));
        assert_eq!(gate.hold('d'), Stopped::Look('d'));
    }

    #[test]
    fn an_inactive_gate_stays_inactive() {
        let gate = Gate::<()>::new(1);
        assert!(gate.change(ManagerState::Discarding).is_some());
        assert_eq!(gate.state(), ManagerState::Discarding);
        assert!(gate.change(ManagerState::Inactive).is_some());
        for state in
            [ManagerState::Holding, ManagerState::Active, ManagerState::Discarding, ManagerState::Inactive]
        {
            assert_eq!(gate.change(state), None);
            assert_eq!(gate.state(), ManagerState::Inactive);
        }
    }
}
