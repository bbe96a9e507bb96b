//! Waiting on a word of memory, and waking who waits on it (futex(2)): the cheapest way to block, without a
//! descriptor.
//!
//! Who waits says which value it has seen; if the word holds another one by the time that the kernel looks,
//! it does not wait. So a change that comes with a wake-up is never missed: change the word first, then wake.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};

use crate::ready::timespec;
use crate::{Error, Step, counts};

/// A word that threads wait on. It borrows the word, which is read and written as any other atomic.
///
/// Waiters and wakers must be of the same scope: a private wake-up does not reach those who wait across
/// processes.
///
/// A segment's words are shared:
///
/// ```compile_fail,E0308
/// # fn wrong(segment: &zorb_ipc::Segment) {
/// let futex: zorb_ipc::PrivateFutex = segment.futex(0).unwrap(); // it is a `SharedFutex`
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Futex<'a, S: FutexScope> {
    word: &'a AtomicU32,
    scope: PhantomData<S>,
}

/// For threads of this process. The faster one.
pub type PrivateFutex<'a> = Futex<'a, Private>;
/// For all processes that have the memory mapped, at whichever addresses; see
/// [`Segment::futex`](crate::Segment::futex).
pub type SharedFutex<'a> = Futex<'a, Shared>;

/// Who may wait on a word, and wake others by it: [`Private`], [`Shared`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope of futexes",
    label = "not a scope",
    note = "the scopes are `Private` and `Shared`"
)]
pub trait FutexScope: sealed::Sealed {
    #[doc(hidden)]
    const IS_PRIVATE: bool;
}

/// The threads of this process.
#[derive(Clone, Copy, Debug)]
pub enum Private {}

/// The threads of all processes that share the memory.
#[derive(Clone, Copy, Debug)]
pub enum Shared {}

impl FutexScope for Private {
    const IS_PRIVATE: bool = true;
}

impl FutexScope for Shared {
    const IS_PRIVATE: bool = false;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Private {}
    impl Sealed for super::Shared {}
}

/// How a wait ended.
#[must_use = "the wait may have ended because time was up, or for nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Somebody woke it, and the word no longer holds the value.
    Woken,
    /// It was woken, but the word holds the value, still or again: by somebody who meant something else, or
    /// by nobody (the kernel may). Usually: wait on.
    Spurious,
    /// It did not wait: the word held another value from the beginning.
    Different,
    /// The deadline came first.
    OutOfTime,
}

impl<'a, S: FutexScope> Futex<'a, S> {
    const FLAGS: Flags = if S::IS_PRIVATE { Flags::PRIVATE } else { Flags::empty() };

    /// On that word.
    pub fn of(word: &'a AtomicU32) -> Self {
        Self { word, scope: PhantomData }
    }

    /// The word.
    pub fn word(self) -> &'a AtomicU32 {
        self.word
    }

    /// Waits to be woken while the word holds `value`, until `deadline`. A signal does not end the wait.
    ///
    /// # Errors
    /// At [`Step::Wait`], which no valid word gives.
    #[inline]
    pub fn wait_by(self, value: u32, deadline: Instant) -> Result<Waited, Error> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            counts::enter();
            match futex::wait(self.word, Self::FLAGS, value, Some(&timespec(left))) {
                Ok(()) if self.word.load(Relaxed) == value => return Ok(Waited::Spurious),
                Ok(()) => return Ok(Waited::Woken),
                Err(Errno::AGAIN) => return Ok(Waited::Different),
                // The kernel's clock may end the wait a little before ours says so.
                Err(Errno::TIMEDOUT) if left.is_zero() => return Ok(Waited::OutOfTime),
                Err(Errno::TIMEDOUT | Errno::INTR) => {}
                Err(errno) => return Err(Error::os(Step::Wait, errno)),
            }
        }
    }

    /// Waits to be woken while the word holds `value`, for so long at the most. A signal may end the wait, as if somebody
    /// had woken it.
    #[inline]
    pub(crate) fn wait_once(self, value: u32, most: Duration) -> Result<Waited, Error> {
        counts::enter();
        match futex::wait(self.word, Self::FLAGS, value, Some(&timespec(most))) {
            Ok(()) => Ok(Waited::Woken),
            Err(Errno::INTR) => Ok(Waited::Spurious),
            Err(Errno::AGAIN) => Ok(Waited::Different),
            Err(Errno::TIMEDOUT) => Ok(Waited::OutOfTime),
            Err(errno) => Err(Error::os(Step::Wait, errno)),
        }
    }

    /// Wakes at most so many, in no particular order, and says how many those were.
    ///
    /// # Errors
    /// At [`Step::Wake`], which no valid word gives.
    #[inline]
    pub fn wake(self, most: u32) -> Result<usize, Error> {
        if most == 0 {
            // The kernel would wake one.
            return Ok(0);
        }
        counts::enter();
        // More than a C int holds it would take for less than one.
        let most = most.min(i32::MAX.unsigned_abs());
        futex::wake(self.word, Self::FLAGS, most).map_err(|errno| Error::os(Step::Wake, errno))
    }

    /// Wakes one, and says whether one was waiting.
    ///
    /// # Errors
    /// As [`wake`](Self::wake).
    #[inline]
    pub fn wake_one(self) -> Result<bool, Error> {
        self.wake(1).map(|woken| woken > 0)
    }

    /// Wakes all who wait, and says how many those were.
    ///
    /// # Errors
    /// As [`wake`](Self::wake).
    #[inline]
    pub fn wake_all(self) -> Result<usize, Error> {
        self.wake(u32::MAX)
    }
}
