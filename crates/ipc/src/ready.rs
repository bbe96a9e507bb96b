//! Waiting for one descriptor until an absolute time.

use crate::{Error, Step, counts};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

/// From one attempt to the next where nothing tells when the next one may succeed: a thousand looks a second
/// cost a core next to nothing, and nobody notices a millisecond where something is wrong already.
pub(crate) const AGAIN_AFTER: Duration = Duration::from_millis(1);

/// How often a wait may end at once, and in vain, before it rests: more than other threads that are faster will
/// see to in a row.
const IN_VAIN: u32 = 16;

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

/// Attempts what would block (`EAGAIN`) again and again until it does not, at the latest until `deadline`
/// (`None`: as long as it takes); once in any case. An attempt does not wait, and goes on by itself if a signal
/// interrupts it. Errors are at `step` and name nobody yet.
#[inline]
pub(crate) fn attempt_by<T>(
    fd: BorrowedFd<'_>,
    step: Step,
    what: PollFlags,
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Error> {
    match attempt() {
        Ok(done) => Ok(done),
        Err(Errno::AGAIN) => attempt_again(fd, step, what, deadline, attempt),
        Err(errno) => Err(Error::os(step, errno)),
    }
}

#[cold]
fn attempt_again<T>(
    fd: BorrowedFd<'_>,
    step: Step,
    what: PollFlags,
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Error> {
    let mut waiting = Waiting::new(what, deadline);
    loop {
        match waiting.next(fd) {
            Ok(None) => return Err(Error::out_of_time(step)),
            Ok(Some(_)) => {}
            Err(errno) => return Err(Error::os(step, errno)),
        }
        match attempt() {
            Err(Errno::AGAIN) => {}
            done => return done.map_err(|errno| Error::os(step, errno)),
        }
    }
}

/// Waits between attempts that may each find nothing although the wait before it said otherwise: another
/// thread was faster, or what woke it is no matter of theirs, such as a report in the queue of errors, which
/// ends every wait at once for as long as it is there. It rests where it would go round without end, and the
/// deadline holds however often it is woken.
pub(crate) struct Waiting {
    what: PollFlags,
    deadline: Option<Instant>,
    /// How often it has been woken without delay, and for nothing, as it is still asked.
    woken: u32,
}

impl Waiting {
    pub(crate) fn new(what: PollFlags, deadline: Option<Instant>) -> Self {
        Self { what, deadline, woken: 0 }
    }

    /// Waits, and says what for. `None`: the deadline came first.
    pub(crate) fn next(&mut self, fd: BorrowedFd<'_>) -> Result<Option<PollFlags>, Errno> {
        if self.woken >= IN_VAIN && !rest(self.deadline) {
            return Ok(None);
        }
        let begun = Instant::now();
        let events = events_by(fd, self.what, self.deadline)?;
        if events.is_empty() {
            return Ok(None);
        }
        // What was not asked for stays, and would end the next wait at once; what was asked for may have become
        // another thread's, as long as there were waits in between.
        if !events.intersects(self.what) {
            self.woken = IN_VAIN;
        } else if begun.elapsed() >= AGAIN_AFTER {
            self.woken = 1;
        } else {
            self.woken = self.woken.saturating_add(1);
        }
        Ok(Some(events))
    }
}

/// Rests for a moment where there is nothing to wait for. False: the deadline has passed.
pub(crate) fn rest(deadline: Option<Instant>) -> bool {
    let left = deadline.map_or(AGAIN_AFTER, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() {
        return false;
    }
    thread::sleep(left.min(AGAIN_AFTER));
    true
}

/// The same of one that receives on a stream.
#[inline]
pub(crate) fn receiving<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        counts::enter_to_receive();
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor that is ready all the time.
    fn ready() -> std::io::PipeReader {
        use std::io::Write;
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"x").unwrap();
        reader
    }

    #[test]
    fn attempts_in_vain_end_by_the_deadline_and_rest_in_between() {
        // What is asked for is there, and what is not asked for: its other end is closed.
        for what in [PollFlags::IN, PollFlags::OUT] {
            let (fd, time) = (ready(), Duration::from_millis(50));
            let mut attempts = 0;
            let begun = Instant::now();
            let ended = attempt_by(fd.as_fd(), Step::Receive, what, Some(begun + time), || {
                attempts += 1;
                Err::<(), _>(Errno::AGAIN)
            });
            assert!(ended.unwrap_err().is_timeout() && begun.elapsed() >= time);
            assert!((2..1000).contains(&attempts), "{attempts}");
        }
    }

    #[test]
    fn the_last_attempt_is_made_whatever_the_deadline() {
        let (fd, past) = (ready(), Some(Instant::now()));
        let attempt = |outcome| attempt_by(fd.as_fd(), Step::Receive, PollFlags::IN, past, || outcome);
        assert_eq!(attempt(Ok(7)), Ok(7));
        assert!(attempt(Err(Errno::AGAIN)).unwrap_err().is_timeout());
        let error = attempt(Err(Errno::CONNRESET)).unwrap_err();
        assert!(error.is_connection_reset() && error.step() == Step::Receive);
    }

    #[test]
    fn without_a_deadline_it_goes_on_until_it_succeeds() {
        let fd = ready();
        let mut left = 3 * IN_VAIN;
        let done = attempt_by(fd.as_fd(), Step::Receive, PollFlags::IN, None, || {
            left -= 1;
            if left == 0 { Ok(()) } else { Err(Errno::AGAIN) }
        });
        assert_eq!((done, left), (Ok(()), 0));
    }
}
