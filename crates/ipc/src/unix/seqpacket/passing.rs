//! Descriptors on their way to another process: they ride on a message.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, ReturnFlags, SendFlags};

use super::Seqpacket;
use crate::control::{self, Message};
use crate::datagram::{MOST_SLICES, send_until, with_fewer};
use crate::unix::credentials::{Credentials, groups_of_peer};
use crate::unix::passing::{AT_ONCE, BESIDE, Passed};
use crate::{Error, Step};

const SEND_NOW: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

impl Seqpacket {
    /// Sends the slices as one message by `deadline`, and descriptors with it, at most 253, as the kernel
    /// takes no more. The peer gets descriptors of its own to what these lead to; this end keeps its own.
    ///
    /// # Errors
    /// At [`Step::Send`], and nothing was sent: as [`send_by`](Self::send_by); an invalid argument also if
    /// there are more descriptors; [`Error::is_too_many_in_flight`].
    #[inline(always)]
    pub fn send_passing(
        &self,
        slices: &[IoSlice<'_>],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), Error> {
        if descriptors.len() > AT_ONCE || slices.iter().all(|slice| slice.is_empty()) {
            return Err(self.failed(Step::Send, Errno::INVAL));
        }
        if slices.len() > MOST_SLICES {
            return self.send_passing_on(None, slices, descriptors, deadline);
        }
        match control::send_riding(self.as_fd(), slices, descriptors, SEND_NOW) {
            // A message goes whole.
            Ok(_) => Ok(()),
            Err(errno) => self.send_passing_on(Some(errno), slices, descriptors, deadline),
        }
    }

    /// Nothing has gone yet. What came of an attempt, if there was one, decides whether to wait for another.
    #[cold]
    #[inline(never)]
    fn send_passing_on(
        &self,
        mut attempt: Option<Errno>,
        slices: &[IoSlice<'_>],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), Error> {
        let sent = send_until(self.as_fd(), Some(deadline), || match attempt.take() {
            Some(errno) => Err(self.failed(Step::Send, errno)),
            None => self.send_riding(slices, descriptors),
        });
        sent.map_err(|error| self.naming(error))
    }

    fn send_riding(&self, slices: &[IoSlice<'_>], descriptors: &[BorrowedFd<'_>]) -> Result<(), Error> {
        if slices.len() > MOST_SLICES {
            return with_fewer(slices, |few| self.send_riding(few, descriptors));
        }
        let sent = control::send_riding(self.as_fd(), slices, descriptors, SEND_NOW);
        sent.map(drop).map_err(|errno| self.failed(Step::Send, errno))
    }

    /// Receives the next message, with the descriptors that ride on it, and waits for it until `deadline`. 0
    /// octets: the peer has ended its direction.
    ///
    /// Descriptors that are received without being wanted, by [`receive`](Self::receive) and the other calls,
    /// are closed by the kernel.
    ///
    /// # Errors
    /// At [`Step::Receive`]: as [`receive_by`](Self::receive_by), truncation included, and
    /// [`Error::is_descriptors_exhausted`] if this process could not take all of them: [`Error::transferred`]
    /// octets of `into` are then valid. Descriptors that did arrive with what is an error have been closed
    /// again: none is left open.
    #[inline]
    pub fn receive_passed(&self, into: &mut [u8], deadline: Instant) -> Result<Passed, Error> {
        let room = into.len();
        let mut credentials = None;
        let (message, descriptors) = loop {
            let received =
                control::receive_passed::<BESIDE>(self.as_fd(), into, RecvFlags::TRUNC, deadline, |rider| {
                    credentials = Credentials::riding(rider).or(credentials);
                });
            let (message, descriptors) = received.map_err(|error| self.naming(error))?;
            // What rides on a message without octets is closed again.
            if message.octets > 0 || self.has_ended() {
                break (message, descriptors);
            }
            if Instant::now() >= deadline {
                return Err(self.naming(Error::out_of_time(Step::Receive)));
            }
        };
        if message.octets > room || message.flags.contains(ReturnFlags::CTRUNC) {
            return Err(self.not_whole(message, room));
        }
        // With an end come the kernel's own, which are nobody's.
        let credentials = credentials.filter(|_| message.octets > 0);
        Ok(Passed { octets: message.octets, descriptors, credentials })
    }

    #[cold]
    fn not_whole(&self, message: Message, room: usize) -> Error {
        match message.octets > room {
            true => self.naming(Error::truncated(message.octets, room)),
            // There is space for all that can come: what the kernel left out it could not make.
            false => self.failed(Step::Receive, Errno::MFILE).with_transferred(message.octets),
        }
    }

    /// Who is at the other end, as [`UnixStream::peer_credentials`](crate::UnixStream::peer_credentials) tells.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn peer_credentials(&self) -> Result<Credentials, Error> {
        Credentials::of_peer(self.as_fd()).map_err(|errno| self.failed(Step::Configure, errno))
    }

    /// The other groups of that process, as [`UnixStream::peer_groups`](crate::UnixStream::peer_groups) tells.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn peer_groups(&self) -> Result<Vec<u32>, Error> {
        groups_of_peer(self.as_fd()).map_err(|errno| self.failed(Step::Configure, errno))
    }
}
