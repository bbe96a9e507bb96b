//! Descriptors on their way to another process: they ride on octets of a Unix stream.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, ReturnFlags, SendFlags};

use super::{Credentials, UnixStream, credentials};
use crate::control::{self, room};
use crate::ready::attempt_by;
use crate::{Error, Step};

/// The most that the kernel takes with one message (`SCM_MAX_FD`).
pub(super) use crate::control::MOST_RIGHTS as AT_ONCE;

const AT_ONE_GO: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

/// Octets of all that can come with one message: descriptors, credentials, and what somebody may have asked for
/// by the stream's descriptor: the sender's process as a descriptor, a security label, times.
pub(super) const BESIDE: usize =
    room(AT_ONCE * size_of::<RawFd>()) + room(credentials::OCTETS) + room(size_of::<RawFd>()) + 512;

/// What was received together. Dropped, it closes the descriptors.
#[must_use = "the descriptors that came are closed with it, and how many octets came it alone says"]
#[derive(Debug)]
pub struct Passed {
    /// Octets of it, at the beginning of the caller's memory. 0: the peer has ended its direction.
    pub octets: usize,
    /// The descriptors that rode on them, in their order, each close-on-exec.
    pub descriptors: Vec<OwnedFd>,
    /// Who sent them, if [`ReceiveCredentials`](crate::ReceiveCredentials) asked for it. The kernel has checked
    /// them: a process without privileges cannot claim to be another. Octets of two senders are never received
    /// together.
    pub credentials: Option<Credentials>,
}

impl UnixStream {
    /// Sends the octets to their end by `deadline`, and descriptors with them: any number, of which the first 253 ride on the
    /// first octet, the next 253 on the second, and so on, as the kernel takes no more at once. The peer gets descriptors
    /// of its own to what these lead to; this end keeps its own.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`], with [`Error::transferred`]; an invalid argument, of
    /// which nothing is sent, if there are fewer octets than it takes; [`Error::is_too_many_in_flight`].
    #[inline(always)]
    pub fn send_passing(
        &self,
        octets: &[u8],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), Error> {
        if octets.is_empty() || descriptors.len() > AT_ONCE {
            return self.send_groups(octets, descriptors, deadline);
        }
        match control::send_riding(self.as_fd(), &[IoSlice::new(octets)], descriptors, AT_ONE_GO) {
            Ok(sent) if sent == octets.len() => Ok(()),
            Ok(sent) => self.send_unaccompanied(octets, sent, deadline),
            Err(Errno::AGAIN) => self.send_groups(octets, descriptors, deadline),
            Err(errno) => Err(self.failed(Step::Send, errno)),
        }
    }

    #[cold]
    #[inline(never)]
    fn send_groups(
        &self,
        octets: &[u8],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), Error> {
        let groups = descriptors.len().div_ceil(AT_ONCE);
        if octets.len() < groups {
            return Err(self.failed(Step::Send, Errno::INVAL));
        }
        for (at, group) in descriptors.chunks(AT_ONCE).enumerate() {
            // The last group rides on all that is left.
            let riding = if at + 1 == groups { &octets[at..] } else { &octets[at..=at] };
            let sent =
                self.send_group(riding, group, deadline).map_err(|error| error.with_transferred(at))?;
            if at + 1 == groups {
                if sent == riding.len() {
                    // To send nothing more would find out whether the peer is still there.
                    return Ok(());
                }
                return self.send_unaccompanied(octets, at + sent, deadline);
            }
        }
        self.send_all(&mut [IoSlice::new(octets)], deadline)
    }

    /// What is left of octets whose descriptors have gone.
    #[cold]
    #[inline(never)]
    fn send_unaccompanied(&self, octets: &[u8], sent: usize, deadline: Instant) -> Result<(), Error> {
        self.send_all(&mut [IoSlice::new(&octets[sent..])], deadline).map_err(|error| {
            let transferred = sent + error.transferred();
            error.with_transferred(transferred)
        })
    }

    /// Sends at least one octet, with all of the descriptors.
    fn send_group(
        &self,
        octets: &[u8],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<usize, Error> {
        let sent = attempt_by(self.as_fd(), Step::Send, PollFlags::OUT, Some(deadline), || {
            control::send_riding(self.as_fd(), &[IoSlice::new(octets)], descriptors, AT_ONE_GO)
        });
        sent.map_err(|error| self.naming(error))
    }

    /// Receives what is there, at least one octet, with the descriptors that ride on it, and waits for it until `deadline`.
    /// Octets that carry descriptors are never joined with later ones, so each call brings those of one message at most.
    ///
    /// Descriptors that are received without being wanted, by [`receive`](Self::receive) and the other calls, are closed by the
    /// kernel.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`], [`Error::is_connection_reset`]; [`Error::is_descriptors_exhausted`] if this process could not
    /// take all of them. [`Error::transferred`] octets of `into` are then valid; descriptors that did arrive have been
    /// closed again, the others by the kernel: none is left open anywhere.
    #[inline]
    pub fn receive_passed(&self, into: &mut [u8], deadline: Instant) -> Result<Passed, Error> {
        let mut credentials = None;
        let received =
            control::receive_passed::<BESIDE>(self.as_fd(), into, RecvFlags::empty(), deadline, |rider| {
                credentials = credentials.or_else(|| Credentials::riding(rider));
            });
        let (message, descriptors) = received.map_err(|error| self.naming(error))?;
        if message.flags.contains(ReturnFlags::CTRUNC) {
            // There is space for all that can come: what the kernel left out it could not make.
            return Err(self.failed(Step::Receive, Errno::MFILE).with_transferred(message.octets));
        }
        // With an end come the kernel's own, which are nobody's.
        let credentials = credentials.filter(|_| message.octets > 0);
        Ok(Passed { octets: message.octets, descriptors, credentials })
    }

    /// Sends one octet, and a descriptor that rides on it, if there is room for it now.
    pub(crate) fn pass_now(&self, octet: u8, descriptor: BorrowedFd<'_>) -> bool {
        control::send_riding(self.as_fd(), &[IoSlice::new(&[octet])], &[descriptor], AT_ONE_GO).is_ok()
    }

    /// Takes octets that are there now, and the descriptors that ride on them; 0: the peer has ended its direction.
    pub(crate) fn take_passed(
        &self,
        into: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
    ) -> Result<usize, Errno> {
        let message = control::receive_passed_now::<BESIDE>(self.as_fd(), into, descriptors)?;
        Ok(message.octets)
    }
}
