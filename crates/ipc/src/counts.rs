//! How many system calls are made: a count for measuring, built in by the feature `probes`.

use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);

/// Counts a system call; without the feature it does nothing.
#[inline(always)]
pub(crate) fn enter() {
    if cfg!(feature = "probes") {
        MADE.fetch_add(1, Ordering::Relaxed);
    }
}

/// System calls that this crate has made in this process: receiving, sending, waiting, waking, accepting, shutting down,
/// and setting a stream's options, each time that the kernel is entered. Those that open and close a descriptor are not
/// among them, nor are those of locks and of memory, which are not this crate's. 0 without the feature `probes`.
pub fn system_calls() -> u64 {
    MADE.load(Ordering::Relaxed)
}

#[cfg(all(test, feature = "probes"))]
mod tests {
    use super::*;
    use crate::Wake;

    #[test]
    fn each_entry_into_the_kernel_is_counted() {
        let wake = Wake::new().expect("a descriptor");
        let before = system_calls();
        wake.wake().expect("open");
        assert!(wake.drain().expect("open"));
        // Other tests may be under way.
        assert!(system_calls() >= before + 2);
    }
}
