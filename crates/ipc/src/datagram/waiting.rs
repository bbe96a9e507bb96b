//! Waiting for room to send.

use std::os::fd::BorrowedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::ready::ready_by;
use crate::{Error, Step};

/// From one attempt to the next where nothing tells when a receiver's full queue has room again.
const AGAIN_AFTER: Duration = Duration::from_millis(1);

/// Attempts to send, which does not wait, until there is room for it, or `deadline`. An error that says so
/// names nobody.
#[inline]
pub(crate) fn send_until<T>(
    fd: BorrowedFd<'_>,
    deadline: Instant,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut was_ready = false;
    loop {
        match attempt() {
            Err(error) if error.is_would_block() => {}
            done => return done,
        }
        room_by(fd, deadline, was_ready)?;
        was_ready = true;
    }
}

/// Waits until a socket is ready to send. If it `was_ready` and could not it is the receiver's queue that is
/// full, which an unconnected socket cannot wait for: each datagram may go to another one.
#[cold]
fn room_by(fd: BorrowedFd<'_>, deadline: Instant, was_ready: bool) -> Result<(), Error> {
    if was_ready {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::out_of_time(Step::Send));
        }
        thread::sleep(left.min(AGAIN_AFTER));
    }
    match ready_by(fd, PollFlags::OUT, Some(deadline)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::out_of_time(Step::Send)),
        Err(errno) => Err(Error::os(Step::Send, errno)),
    }
}
