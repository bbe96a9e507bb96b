//! Sleeping until the other side has moved, and waking who sleeps: without a system call while nobody does.
//!
//! A doorbell is a word of the memory with two bits, which who waits sets and who moves clears:
//!
//! | bit | who waits | how it is woken |
//! |---|---|---|
//! | [`SLEEPING`] | threads, in the kernel, on the word itself (futex) | a futex wake-up |
//! | [`ARMED`] | a set of descriptors | an octet on the Unix socket |
//!
//! ```text
//! who waits                              who moves
//! 1 set its bit                          1 store the position (Release)
//! 2 fence                                2 fence
//! 3 look at the position (Acquire)       3 look at the bits
//! 4 not moved: futex wait while the      4 set: clear them, then wake
//!   word is what step 1 left
//! ```
//!
//! **No wake-up is lost.** The two fences are in one order. If that of who moves comes first, the position is seen in
//! the look of who waits, who then does not sleep. If that of who waits comes first, its bit is seen by who moves, who
//! clears it before waking: either the futex wait finds a word that has changed and returns at once, or it was in the
//! kernel's queue by then, and the wake-up reaches it. What is armed needs no queue: the octet stays in the socket.
//!
//! Several threads may sleep on one doorbell. One that leaves without having been woken clears the bit, which may be
//! another's, too; so it wakes the others, which then set it anew. Their number is private: `sleepers`.

use std::sync::atomic::Ordering::Relaxed;

use super::word::Word;

/// Threads sleep on this word.
pub(super) const SLEEPING: u32 = 1;
/// A set of descriptors waits for an octet on the socket.
pub(super) const ARMED: u32 = 2;

/// To be called after a position was stored: which of the bits were set. They are cleared, and who waits is now to be
/// woken.
#[inline]
pub(super) fn ring<W: Word>(bell: &W) -> u32 {
    W::fence();
    if bell.load(Relaxed) & (SLEEPING | ARMED) == 0 {
        return 0;
    }
    bell.clear(SLEEPING | ARMED) & (SLEEPING | ARMED)
}

/// The same for this side's own threads, after it has changed what they wait for: whether any sleep. What is armed stays so.
pub(super) fn ring_own<W: Word>(bell: &W) -> bool {
    W::fence();
    bell.load(Relaxed) & SLEEPING != 0 && bell.clear(SLEEPING) & SLEEPING != 0
}

/// Waits by `wait`, which sleeps while the word holds the value it is given, unless `came` says that there is nothing
/// to wait for any more, which is what `None` says. `wake_all` wakes all who sleep on the word.
pub(super) fn sleep<W: Word, T>(
    bell: &W,
    sleepers: &W,
    came: impl Fn() -> bool,
    wait: impl FnOnce(u32) -> T,
    wake_all: impl FnOnce(),
) -> Option<T> {
    sleepers.add(1);
    let value = bell.set(SLEEPING) | SLEEPING;
    W::fence();
    let waited = if came() { None } else { Some(wait(value)) };
    let unrung = bell.load(Relaxed) & SLEEPING != 0;
    if unrung {
        bell.clear(SLEEPING);
    }
    let others = sleepers.subtract(1) > 1;
    if unrung && others {
        wake_all();
    }
    waited
}

/// Asks for an octet on the socket at the next move. False: `came` says that there has been one, and none is asked for.
pub(super) fn arm<W: Word>(bell: &W, came: impl FnOnce() -> bool) -> bool {
    bell.set(ARMED);
    W::fence();
    let came = came();
    if came {
        bell.clear(ARMED);
    }
    !came
}
