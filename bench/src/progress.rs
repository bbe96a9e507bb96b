//! What a running scenario tells whoever looks on, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Looks on while something is measured. Called between measurements only, never within a timed part.
pub trait Progress: Sync {
    /// So many more steps are planned. A scenario says this once, and again if it finds more to do.
    fn expect(&self, steps: u64);

    /// One step is done, or will not be done any more.
    fn step(&self);

    /// What is being done now, in a few words, of a run that does one thing after the other.
    fn stage(&self, _text: &str) {}

    /// A line for people: a peer that is left out and why, a machine that is busy.
    fn remark(&self, text: &str);

    /// Does something that prints, with the display of progress out of the way.
    fn aside(&self, something: &mut dyn FnMut()) {
        something();
    }
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn expect(&self, _steps: u64) {}

    fn step(&self) {}

    fn remark(&self, _text: &str) {}
}

/// A wish to stop, shared by whoever receives it (a signal handler) and all who heed it: scenarios between
/// two bursts, and every child process's watch, which kills the child so that nobody waits for it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Not wished for yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// The flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Stop as soon as possible.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
