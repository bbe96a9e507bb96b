//! [`KeptMemory`]: how much memory of received messages values keep alive, and what happens when that is much.
//!
//! ```text
//! message memory, 16 MiB │ head │ sequence<double> ······ │ string │
//!                                  └ a view, 8 MiB ┘           ├ one count: 16 MiB are kept while any view lives
//!                                                └ another ┘  ─┘
//! ```
//!
//! A value that is read in place ([`Sequence`](crate::Sequence), the body of an [`Any`](crate::Any)) keeps the whole memory that its message came in, however little
//! of that it shows. Who keeps such values keeps that. So the memory is counted, once, from its first view until its last one is gone; beyond a bound
//! no more is viewed.

use core::sync::atomic::{AtomicUsize, Ordering};

/// What happens to a value that would be read in place when as much is kept as may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtBound {
    /// It is copied into memory of its own, which costs a copy, and nothing of its message is kept.
    #[default]
    Copy,
    /// It is refused ([`DecodeErrorKind::KeptMemory`](crate::DecodeErrorKind::KeptMemory)).
    Refuse,
}

/// Octets of messages' memory that values keep alive.
#[derive(Debug)]
pub struct KeptMemory {
    most: usize,
    at_bound: AtBound,
    held: AtomicUsize,
}

impl KeptMemory {
    /// Values may keep at most so many octets.
    pub const fn new(most: usize, at_bound: AtBound) -> Self {
        Self { most, at_bound, held: AtomicUsize::new(0) }
    }

    /// How many they keep now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// How many they may.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Counts so many more, if they may be kept.
    pub(crate) fn claim(&self, octets: usize) -> bool {
        let more = |held: usize| held.checked_add(octets).filter(|held| *held <= self.most);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub(crate) fn release(&self, octets: usize) {
        self.held.fetch_sub(octets, Ordering::Relaxed);
    }

    /// Whether a value that would keep so many octets more is refused.
    pub(crate) fn refuses(&self, octets: usize) -> bool {
        self.at_bound == AtBound::Refuse && self.held().saturating_add(octets) > self.most
    }
}
