//! The end of a pipe that reads.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::PollFlags;
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use rustix::io::{Errno, read};

use super::end::End;
use crate::error::ENDED;
use crate::ready::{ready_by, resumed};
use crate::{Error, Refused, Step};

/// The end of a pipe or a FIFO that reads. It cannot send.
///
/// Calls are named as those of a [`Stream`](crate::Stream) are. All take `&self`; several threads may receive
/// at once, and each octet goes to one of them.
///
/// It cannot be written:
///
/// ```compile_fail,E0599
/// # fn wrong(reader: &zorb_ipc::PipeReader) {
/// reader.send_now(&[std::io::IoSlice::new(b"hello")]); // no method `send_now`
/// # }
/// ```
#[derive(Debug)]
pub struct PipeReader(pub(super) End);

impl PipeReader {
    #[cfg(target_os = "linux")]
    /// Takes over a descriptor that came from elsewhere, such as standard input. The descriptor no longer
    /// blocks, for whoever shares it either, and is not inherited by other programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not the reading end of
    /// a pipe or FIFO.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        End::adopt(fd, OFlags::RDONLY, "a pipe's reading end").map(Self)
    }

    /// The descriptor, in blocking mode, as other programs expect what they inherit.
    ///
    /// # Errors
    /// At [`Step::Configure`], with this end.
    pub fn into_descriptor(self) -> Result<OwnedFd, Refused<Self>> {
        self.0.into_descriptor().map_err(|refused| refused.map(Self))
    }

    /// Receives what is there, without waiting. 0: all who could write have closed their end (or `into` is
    /// empty).
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_would_block`], also as long as nobody has opened a FIFO to write.
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.take(into).map_err(|errno| self.0.failed(Step::Receive, errno))
    }

    #[inline]
    fn take(&self, into: &mut [u8]) -> Result<usize, Errno> {
        loop {
            match resumed(|| read(self, &mut *into)) {
                Ok(0) if !into.is_empty() && !self.has_ended()? => {}
                done => return done,
            }
        }
    }

    /// Whether a pipe from which nothing was read has ended. A FIFO that nobody has opened to write yet reads
    /// as if it had: only a hang-up says that somebody has been there, and that is an error that says "not
    /// yet". False: there is something by now.
    #[cold]
    pub(super) fn has_ended(&self) -> Result<bool, Errno> {
        let found = self.0.look(PollFlags::IN)?;
        if found.contains(PollFlags::IN) {
            Ok(false)
        } else if found.contains(PollFlags::HUP) {
            Ok(true)
        } else {
            Err(Errno::AGAIN)
        }
    }

    /// Receives what is there, at least one octet, and waits for it until `deadline`. 0 as in
    /// [`receive_now`](Self::receive_now).
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`].
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        self.0.attempt_by(Step::Receive, PollFlags::IN, deadline, || self.take(into))
    }

    /// Fills `into` to its end by `deadline`, however many pieces it arrives in.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by), and [`Error::is_unexpected_end`] if the writers end first;
    /// [`Error::transferred`] octets of `into` are then valid.
    #[inline]
    pub fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        if into.is_empty() {
            return Ok(());
        }
        match self.take(into) {
            Ok(received) if received == into.len() => Ok(()),
            first => self.receive_rest(into, first, deadline),
        }
    }

    /// After the first attempt, which was no whole one.
    #[cold]
    fn receive_rest(
        &self,
        into: &mut [u8],
        first: Result<usize, Errno>,
        deadline: Instant,
    ) -> Result<(), Error> {
        // The end is told by whoever waits for more.
        let mut filled = match first {
            Ok(received) => received,
            Err(Errno::AGAIN) => 0,
            Err(errno) => return Err(self.0.failed(Step::Receive, errno)),
        };
        while filled < into.len() {
            match self.receive_by(&mut into[filled..], deadline) {
                Ok(0) => return Err(self.0.failed(Step::Receive, ENDED).with_transferred(filled)),
                Ok(received) => filled += received,
                Err(error) => return Err(error.with_transferred(filled)),
            }
        }
        Ok(())
    }

    /// Waits until there is something to receive, or the end, or `deadline`, which is what false says.
    ///
    /// # Errors
    /// At [`Step::Receive`].
    pub fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        let ready = ready_by(self.as_fd(), PollFlags::IN, Some(deadline));
        ready.map_err(|errno| self.0.failed(Step::Receive, errno))
    }

    /// How many octets wait to be received.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn queued(&self) -> Result<usize, Error> {
        self.0.queued()
    }

    /// As [`PipeWriter::capacity`](crate::PipeWriter::capacity): it is the same pipe's.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    #[cfg(target_os = "linux")]
    pub fn capacity(&self) -> Result<usize, Error> {
        self.0.capacity()
    }

    /// As [`PipeWriter::set_capacity`](crate::PipeWriter::set_capacity).
    ///
    /// # Errors
    /// At [`Step::Configure`].
    #[cfg(target_os = "linux")]
    pub fn set_capacity(&self, octets: usize) -> Result<usize, Error> {
        self.0.set_capacity(octets)
    }
}

/// It does not block; [`into_descriptor`](PipeReader::into_descriptor) gives one that does.
impl From<PipeReader> for OwnedFd {
    fn from(end: PipeReader) -> Self {
        end.0.into()
    }
}

impl AsFd for PipeReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
