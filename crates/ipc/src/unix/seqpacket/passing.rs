//! Descriptors on their way to another process: they ride on a message.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::Seqpacket;
use crate::control::{self, Space};
use crate::datagram::{MOST_SLICES, send_until, with_fewer};
use crate::unix::credentials::{Credentials, groups_of_peer};
use crate::unix::passing::{AT_ONCE, BESIDE, Passed};
use crate::{Error, Step, counts};

impl Seqpacket {
    /// Sends the slices as one message by `deadline`, and descriptors with it, at most 253, as the kernel
    /// takes no more. The peer gets descriptors of its own to what these lead to; this end keeps its own.
    ///
    /// # Errors
    /// At [`Step::Send`], and nothing was sent: as [`send_by`](Self::send_by); an invalid argument also if
    /// there are more descriptors; [`Error::is_too_many_in_flight`].
    pub fn send_passing(
        &self,
        slices: &[IoSlice<'_>],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), Error> {
        if descriptors.len() > AT_ONCE || slices.iter().all(|slice| slice.is_empty()) {
            return Err(self.failed(Step::Send, Errno::INVAL));
        }
        let sent = send_until(self.as_fd(), Some(deadline), || self.send_riding(slices, descriptors));
        sent.map_err(|error| self.naming(error))
    }

    fn send_riding(&self, slices: &[IoSlice<'_>], descriptors: &[BorrowedFd<'_>]) -> Result<(), Error> {
        if slices.len() > MOST_SLICES {
            return with_fewer(slices, |few| self.send_riding(few, descriptors));
        }
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(AT_ONCE))];
        loop {
            let mut riding = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() {
                // There is space for as many.
                riding.push(SendAncillaryMessage::ScmRights(descriptors));
            }
            counts::enter();
            match sendmsg(self, slices, &mut riding, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                // A message goes whole.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Step::Send, errno)),
            }
        }
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
    pub fn receive_passed(&self, into: &mut [u8], deadline: Instant) -> Result<Passed, Error> {
        let room = into.len();
        let mut space = Space::<BESIDE>::new();
        let message = loop {
            let message = control::receive_by(self.as_fd(), into, &mut space, RecvFlags::TRUNC, deadline);
            let message = message.map_err(|error| self.naming(error))?;
            // What rides on a message without octets is closed again.
            if message.octets > 0 || self.has_ended() {
                break message;
            }
            if Instant::now() >= deadline {
                return Err(self.naming(Error::out_of_time(Step::Receive)));
            }
        };
        if message.octets > room {
            return Err(self.naming(Error::truncated(message.octets, room)));
        }
        if message.flags.contains(ReturnFlags::CTRUNC) {
            // There is space for all that can come: what the kernel left out it could not make.
            return Err(self.failed(Step::Receive, Errno::MFILE).with_transferred(message.octets));
        }
        // With an end come the kernel's own, which are nobody's.
        let mut riders = space.riders().filter(|_| message.octets > 0);
        let credentials = riders.find_map(|rider| Credentials::riding(&rider));
        Ok(Passed { octets: message.octets, descriptors: message.descriptors, credentials })
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
