//! The end of a pipe that writes.
//!
//! Writing to a pipe that nobody reads raises `SIGPIPE`, which ends a process that has not asked otherwise,
//! besides the error. Sockets have a flag against that; pipes have one since Linux 6.18 (`RWF_NOSIGNAL`,
//! pwritev2(2)), which is used where there is one. On older systems it is up to the process: Rust programs
//! ignore the signal from their start, others have to do so (`signal(SIGPIPE, SIG_IGN)`) before they call in
//! here. Blocking it around each write would take three more system calls. Other systems are as those older ones.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use rustix::event::PollFlags;
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use rustix::io::{Errno, writev};
#[cfg(target_os = "linux")]
use rustix::io::{ReadWriteFlags, pwritev2};

use super::end::End;
use crate::ready::resumed;
use crate::{Error, Refused, Sent, Step};

/// The end of a pipe or a FIFO that writes. It cannot receive.
///
/// Calls are named as those of a [`Stream`](crate::Stream) are. All take `&self`. Of several threads or
/// processes that send at once, what one call sends stays together up to [`TOGETHER`](Self::TOGETHER) octets.
///
/// It cannot be read:
///
/// ```compile_fail,E0599
/// # fn wrong(writer: &zorb_ipc::PipeWriter) {
/// writer.receive_now(&mut [0; 16]); // no method `receive_now`
/// # }
/// ```
#[derive(Debug)]
pub struct PipeWriter(pub(super) End);

impl PipeWriter {
    /// So many octets of one call are sent all or none, and are not mixed with those of others (`PIPE_BUF`,
    /// pipe(7)).
    #[cfg(not(target_os = "illumos"))]
    pub const TOGETHER: usize = rustix::pipe::PIPE_BUF;
    /// So many octets of one call are sent all or none, and are not mixed with those of others (POSIX,
    /// `_POSIX_PIPE_BUF`).
    #[cfg(target_os = "illumos")]
    pub const TOGETHER: usize = 512;

    #[cfg(target_os = "linux")]
    /// Takes over a descriptor that came from elsewhere, such as standard output. The descriptor no longer
    /// blocks, for whoever shares it either, and is not inherited by other programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not the writing end of
    /// a pipe or FIFO.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        End::adopt(fd, OFlags::WRONLY, "a pipe's writing end").map(Self)
    }

    /// The descriptor, in blocking mode, as other programs expect what they inherit.
    ///
    /// # Errors
    /// At [`Step::Configure`], with this end.
    pub fn into_descriptor(self) -> Result<OwnedFd, Refused<Self>> {
        self.0.into_descriptor().map_err(|refused| refused.map(Self))
    }

    /// Sends as much of the slices as there is room for, without waiting, and says how many octets that was.
    /// Of no more than [`TOGETHER`](Self::TOGETHER) octets all are sent or none.
    ///
    /// # Errors
    /// At [`Step::Send`], when nothing was taken: [`Error::is_would_block`]; [`Error::is_connection_reset`]
    /// if nobody reads any more.
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        match write_without_signal(self.as_fd(), slices) {
            Ok(sent) => Ok(Sent::of(sent)),
            Err(errno) => Err(self.0.failed(Step::Send, errno)),
        }
    }

    /// The same, and waits for room until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`].
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<Sent, Error> {
        match self.send_now(slices) {
            Err(error) => self.send_after(error, slices, deadline),
            done => done,
        }
    }

    /// What came of an attempt to send decides whether to wait for another.
    #[cold]
    fn send_after(&self, error: Error, slices: &[IoSlice<'_>], deadline: Instant) -> Result<Sent, Error> {
        if !error.is_would_block() {
            return Err(error);
        }
        self.attempt_by(deadline, || write_without_signal(self.as_fd(), slices)).map(Sent::of)
    }

    /// Sends the slices to their end by `deadline`. The slices are used up as they are sent.
    ///
    /// # Errors
    /// As [`send_by`](Self::send_by); [`Error::transferred`] says how many octets had gone.
    #[inline]
    pub fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        // As many octets as there are numbers for are more than one call takes, however often a slice repeats.
        let total = slices.iter().fold(0_usize, |total, slice| total.saturating_add(slice.len()));
        // Of nothing the kernel says nothing, not even that nobody reads any more.
        if total == 0 {
            return Ok(());
        }
        match self.send_now(slices) {
            Ok(sent) if sent == total => Ok(()),
            Ok(sent) => self.send_rest(slices, sent.count(), deadline),
            Err(error) if error.is_would_block() => self.send_rest(slices, 0, deadline),
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn send_rest(&self, mut slices: &mut [IoSlice<'_>], sent: usize, deadline: Instant) -> Result<(), Error> {
        let mut total = sent;
        IoSlice::advance_slices(&mut slices, sent);
        while !slices.is_empty() {
            let sent = self.send_by(slices, deadline).map_err(|error| error.with_transferred(total))?;
            total += sent;
            IoSlice::advance_slices(&mut slices, sent.count());
        }
        Ok(())
    }

    /// Whether nobody reads any more.
    ///
    /// # Errors
    /// At [`Step::Send`].
    pub fn is_closed_by_peer(&self) -> Result<bool, Error> {
        let found = self.0.look(PollFlags::OUT).map_err(|errno| self.0.failed(Step::Send, errno))?;
        Ok(found.contains(PollFlags::ERR))
    }

    /// How many octets the pipe holds at most. It keeps them in pages, so that many small pieces may fill it
    /// sooner.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    #[cfg(target_os = "linux")]
    pub fn capacity(&self) -> Result<usize, Error> {
        self.0.capacity()
    }

    /// Changes how many octets the pipe holds, and says what came of it: the kernel rounds up, to a power of
    /// two of pages.
    ///
    /// # Errors
    /// At [`Step::Configure`]: fewer than are queued, or more than `fs.pipe-max-size` allows this user
    /// ([`Error::is_permission_denied`]).
    #[cfg(target_os = "linux")]
    pub fn set_capacity(&self, octets: usize) -> Result<usize, Error> {
        self.0.set_capacity(octets)
    }

    /// Attempts it until there is room.
    #[inline]
    pub(super) fn attempt_by(
        &self,
        deadline: Instant,
        attempt: impl FnMut() -> Result<usize, Errno>,
    ) -> Result<usize, Error> {
        self.0.attempt_by(Step::Send, PollFlags::OUT, deadline, attempt)
    }
}

/// It does not block; [`into_descriptor`](PipeWriter::into_descriptor) gives one that does.
impl From<PipeWriter> for OwnedFd {
    fn from(end: PipeWriter) -> Self {
        end.0.into()
    }
}

impl AsFd for PipeWriter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(target_os = "linux")]
/// `RWF_NOSIGNAL`, which rustix does not name yet (linux/fs.h).
const NO_SIGNAL: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x100);

#[cfg(target_os = "linux")]
/// Whether this kernel knows it, as far as known.
static HAS_NO_SIGNAL: AtomicBool = AtomicBool::new(true);

#[cfg(target_os = "linux")]
#[inline]
fn write_without_signal(fd: BorrowedFd<'_>, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
    if HAS_NO_SIGNAL.load(Relaxed) {
        // The offset says that there is none.
        match resumed(|| pwritev2(fd, slices, u64::MAX, NO_SIGNAL)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => HAS_NO_SIGNAL.store(false, Relaxed),
            done => return done,
        }
    }
    resumed(|| writev(fd, slices))
}

#[cfg(not(target_os = "linux"))]
fn write_without_signal(fd: BorrowedFd<'_>, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
    resumed(|| writev(fd, slices))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::pipe;
    use std::time::Duration;

    #[test]
    fn kernels_without_the_flag_are_served_too() {
        HAS_NO_SIGNAL.store(false, Relaxed);
        let (reader, writer) = pipe().expect("a pipe");
        let sent = writer.send_now(&[IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"c")]);
        assert_eq!(sent, Ok(Sent::of(3)));
        let mut text = [0; 3];
        reader.receive_exact(&mut text, Instant::now() + Duration::from_secs(30)).expect("it was sent");
        assert_eq!(&text, b"abc");
        drop(reader);
        assert!(writer.send_now(&[IoSlice::new(b"x")]).is_err_and(|error| error.is_connection_reset()));
        HAS_NO_SIGNAL.store(true, Relaxed);
    }
}
