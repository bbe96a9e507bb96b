//! How many system calls are made: counts for measuring, built in by the feature `probes`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static HERE: Cell<SystemCalls> =
        const { Cell::new(SystemCalls { sends: 0, receives: 0, others: 0 }) };
}

/// System calls of one thread, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemCalls {
    /// Those that send on a stream, also where there was no room.
    pub sends: u64,
    /// Those that receive on a stream, also where nothing was there.
    pub receives: u64,
    /// All others: waiting, waking, setting options, and what is not a stream.
    pub others: u64,
}

/// Counts a system call; without the feature it does nothing.
#[inline(always)]
pub(crate) fn enter() {
    count(|here| here.others += 1);
}

/// The same of one that sends on a stream.
#[inline(always)]
pub(crate) fn enter_to_send() {
    count(|here| here.sends += 1);
}

/// The same of one that receives on a stream.
#[inline(always)]
pub(crate) fn enter_to_receive() {
    count(|here| here.receives += 1);
}

#[inline(always)]
fn count(one: impl FnOnce(&mut SystemCalls)) {
    if cfg!(feature = "probes") {
        MADE.fetch_add(1, Ordering::Relaxed);
        let mut here = HERE.get();
        one(&mut here);
        HERE.set(here);
    }
}

/// System calls that this crate has made in this process: receiving, sending, waiting, waking, accepting, shutting down,
/// and setting a stream's options, each time that the kernel is entered. Those that open and close a descriptor are not
/// among them, nor are those of locks and of memory, which are not this crate's. 0 without the feature `probes`.
pub fn system_calls() -> u64 {
    MADE.load(Ordering::Relaxed)
}

/// Those of them that the calling thread has made.
pub fn system_calls_of_thread() -> SystemCalls {
    HERE.get()
}

#[cfg(all(test, feature = "probes"))]
mod tests {
    use super::*;
    use crate::Wake;

    #[test]
    fn each_entry_into_the_kernel_is_counted() {
        let wake = Wake::new().expect("a descriptor");
        let (before, here) = (system_calls(), system_calls_of_thread());
        wake.wake().expect("open");
        assert!(wake.drain().expect("open"));
        // Other tests may be under way.
        assert!(system_calls() >= before + 2);
        assert_eq!(system_calls_of_thread(), SystemCalls { others: here.others + 2, ..here });
    }
}
