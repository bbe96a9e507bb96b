//! Waiting to send and to receive: attempts that do not wait, and waits in between ([`Waiting`]).

use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::PollFlags;

use crate::ready::Waiting;
use crate::{Error, Step};

/// Attempts to send, which does not wait, until there is room for it, or `deadline` (`None`: as long as it
/// takes). An error that says so names nobody.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn send_until<T>(
    fd: BorrowedFd<'_>,
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    match attempt() {
        Err(error) => send_after(error, fd, deadline, attempt),
        done => done,
    }
}

/// The same, where one attempt was made: what came of it decides whether to go on.
///
/// Where it is the receiver's queue that is full, an unconnected socket cannot wait for that: each datagram may
/// go to another one. It looks again every millisecond then.
#[cold]
pub(crate) fn send_after<T>(
    error: Error,
    fd: BorrowedFd<'_>,
    deadline: Option<Instant>,
    attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    go_on(error, fd, (Step::Send, PollFlags::OUT), deadline, attempt, |_| None)
}

/// Goes on attempting to receive, which does not wait, after one attempt of which this came, until there is
/// something, or `deadline` (`None`: as long as it takes). `reported` is asked what came back where a wait ends
/// with nothing but that.
#[cold]
pub(crate) fn receive_after<T>(
    error: Error,
    fd: BorrowedFd<'_>,
    deadline: Option<Instant>,
    attempt: impl FnMut() -> Result<T, Error>,
    mut reported: impl FnMut() -> Option<Error>,
) -> Result<T, Error> {
    go_on(error, fd, (Step::Receive, PollFlags::IN), deadline, attempt, |events| {
        if events.contains(PollFlags::ERR) && !events.contains(PollFlags::IN) { reported() } else { None }
    })
}

fn go_on<T>(
    mut error: Error,
    fd: BorrowedFd<'_>,
    (step, what): (Step, PollFlags),
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> Result<T, Error>,
    mut found: impl FnMut(PollFlags) -> Option<Error>,
) -> Result<T, Error> {
    let mut waiting = Waiting::new(what, deadline);
    while error.is_would_block() {
        match waiting.next(fd) {
            Ok(Some(events)) => {
                if let Some(error) = found(events) {
                    return Err(error);
                }
            }
            Ok(None) => return Err(Error::out_of_time(step)),
            Err(errno) => return Err(Error::os(step, errno)),
        }
        match attempt() {
            Err(again) => error = again,
            done => return done,
        }
    }
    Err(error)
}
