//! Waiting for one descriptor until an absolute time.

use crate::{Error, Step, counts};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Waits until there is something to receive or accept on a descriptor, or its end to report, at the latest until
/// `deadline`. False: the deadline came first. A deadline in the past still looks once.
///
/// For descriptors whose owner is known only by what it lends; streams have a call of their own.
///
/// # Errors
/// At [`Step::Wait`].
pub fn wait_readable(descriptor: impl AsFd, deadline: Instant) -> Result<bool, Error> {
    ready_by(descriptor.as_fd(), PollFlags::IN, Some(deadline)).map_err(|errno| Error::os(Step::Wait, errno))
}

/// Waits until `fd` is ready for `what` (or has an error to report), at the latest until `deadline`; `None`
/// waits as long as it takes. False: the deadline came first. A deadline in the past still looks once.
pub(crate) fn ready_by(
    fd: BorrowedFd<'_>,
    what: PollFlags,
    deadline: Option<Instant>,
) -> Result<bool, Errno> {
    events_by(fd, what, deadline).map(|events| !events.is_empty())
}

/// The same, and says what it found; nothing: the deadline came first.
pub(crate) fn events_by(
    fd: BorrowedFd<'_>,
    what: PollFlags,
    deadline: Option<Instant>,
) -> Result<PollFlags, Errno> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.map(timespec);
        let mut waiting = [PollFd::from_borrowed_fd(fd, what)];
        counts::enter();
        match poll(&mut waiting, timeout.as_ref()) {
            // The kernel's clock may end the wait a little before ours says so.
            Ok(0) if left.is_some_and(|left| left.is_zero()) => return Ok(PollFlags::empty()),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(waiting[0].revents()),
            Err(errno) => return Err(errno),
        }
    }
}

/// Makes a system call, and makes it again if a signal interrupted it.
#[inline]
pub(crate) fn resumed<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        counts::enter();
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// A duration as the kernel takes it; one beyond its range becomes the longest it can wait.
pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}
