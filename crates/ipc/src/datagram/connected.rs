//! Datagrams to and from one peer.

use super::earlier::Earlier;
use super::taking::{Ended, Length, Wait, take};
use super::{DatagramFamily, MOST_SLICES, concerns_earlier, receive_after, send_after, with_fewer};
use crate::portable::NO_SIGNAL;
use crate::{Error, Step, counts};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, connect, send, sendmsg};
use std::fmt;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The most reports that are taken for one that is told: those that came between two calls.
const MOST_REPORTS: usize = 64;

/// A socket that sends to one peer and receives from it: a datagram takes no address.
///
/// The system tells it what came back instead of an answer: that nobody receives there
/// ([`Error::is_connection_refused`]), that there is no way there ([`Error::is_host_unreachable`],
/// [`Error::is_network_unreachable`]), that a datagram was too large for a part of its way
/// ([`Error::is_too_large_for_path`]), and who said so ([`Error::said_by`]). Such an error belongs to an
/// earlier datagram, and is told once, by whichever call comes next; of several that came between two calls
/// the last is told.
pub struct ConnectedDatagramSocket<F: DatagramFamily> {
    /// Goes first: until the socket is closed nobody else gets what identifies its file.
    held: Option<F::Held>,
    fd: OwnedFd,
    peer: F::Address,
    earlier: Earlier<F>,
}

impl<F: DatagramFamily> ConnectedDatagramSocket<F> {
    /// From an address that the system chooses, to `peer`.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`] or [`Step::Connect`], naming the address.
    pub fn connect(peer: F::Address) -> Result<Self, Error> {
        let fd = F::open(&peer).map_err(|errno| Error::os(Step::Open, errno).with(F::address(&peer)))?;
        give_peer::<F>(fd.as_fd(), &peer)?;
        Ok(Self { held: None, fd, peer, earlier: Earlier::none() })
    }

    /// Of a socket that was [given](give_peer) its peer, and received from anybody before.
    pub(super) fn of(fd: OwnedFd, held: Option<F::Held>, peer: F::Address) -> Self {
        let earlier = Earlier::of(fd.as_fd());
        Self { held, fd, peer, earlier }
    }

    /// `fd` is a socket that is connected to `peer`, in blocking mode.
    #[cfg(target_os = "linux")]
    pub(crate) fn adopted(fd: OwnedFd, peer: F::Address) -> Self {
        Self::of(fd, None, peer)
    }

    /// The peer's address.
    pub fn peer(&self) -> &F::Address {
        &self.peer
    }

    /// This end's address; `None` if it has none.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn local(&self) -> Result<Option<F::Address>, Error> {
        F::local(self.as_fd()).map_err(|errno| self.failed(Step::Configure, errno))
    }

    // ---- receiving ----

    /// Receives the next datagram, and waits for it as long as it takes: how many octets it has, at the beginning of `into`.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_truncated`], and what was reported of an earlier datagram.
    #[inline]
    pub fn receive(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.attempt(into, RecvFlags::empty()).or_else(|ended| self.receive_ended(ended, into, Wait::Ever))
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.attempt(into, RecvFlags::DONTWAIT).or_else(|ended| self.receive_ended(ended, into, Wait::Not))
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        self.attempt(into, RecvFlags::DONTWAIT)
            .or_else(|ended| self.receive_ended(ended, into, Wait::Until(deadline)))
    }

    /// One system call: all that there is to it where a datagram comes.
    #[inline(always)]
    fn attempt(&self, into: &mut [u8], flags: RecvFlags) -> Result<usize, Ended> {
        if self.earlier.may_be() {
            return Err(Ended::Earlier);
        }
        self.take(into, flags)
    }

    #[inline(always)]
    fn take(&self, into: &mut [u8], flags: RecvFlags) -> Result<usize, Ended> {
        counts::enter();
        match take(self.as_fd(), into, flags) {
            Ok(Length::Fits(octets)) => Ok(octets),
            Ok(Length::Cut(whole)) => Err(Ended::Cut(whole)),
            Err(errno) => Err(Ended::Os(errno)),
        }
    }

    /// What came of an attempt instead of a datagram decides whether there is another. The socket's mode belongs to all
    /// who have a duplicate of it, so that a call that waits goes on.
    #[cold]
    #[inline(never)]
    fn receive_ended(&self, mut ended: Ended, into: &mut [u8], wait: Wait) -> Result<usize, Error> {
        let flags = if let Wait::Ever = wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let error = loop {
            match ended {
                Ended::Earlier => {
                    let take = || self.take_or_fail(into, RecvFlags::DONTWAIT);
                    if let Some(done) = self.past_earlier(take) {
                        return done;
                    }
                }
                Ended::Os(Errno::INTR) => {}
                Ended::Os(errno) => break self.failed(Step::Receive, errno),
                Ended::Cut(whole) => return Err(self.truncated(whole, into)),
            }
            match self.take(into, flags) {
                Ok(octets) => return Ok(octets),
                Err(again) => ended = again,
            }
        };
        match wait {
            Wait::Not => Err(error),
            Wait::Ever => self.go_on_receiving(error, None, || self.receive_now(into)),
            Wait::Until(deadline) => self.go_on_receiving(error, Some(deadline), || self.receive_now(into)),
        }
    }

    fn take_or_fail(&self, into: &mut [u8], flags: RecvFlags) -> Result<usize, Error> {
        loop {
            match self.take(into, flags) {
                Ok(octets) => return Ok(octets),
                Err(Ended::Cut(whole)) => return Err(self.truncated(whole, into)),
                Err(Ended::Os(errno)) if errno != Errno::INTR => {
                    return Err(self.failed(Step::Receive, errno));
                }
                Err(_) => {}
            }
        }
    }

    fn truncated(&self, whole: Option<usize>, into: &[u8]) -> Error {
        Error::truncated(whole, into.len()).with(F::address(&self.peer))
    }

    /// What came of an attempt to receive decides whether to wait for another.
    pub(super) fn go_on_receiving<T>(
        &self,
        error: Error,
        deadline: Option<Instant>,
        attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Where many datagrams were sent at once the system may have told nobody of what came back meanwhile.
        let reported = || self.reported(Step::Receive);
        let done = receive_after(error, self.as_fd(), deadline, attempt, reported);
        done.map_err(|error| error.or_with(|| F::address(&self.peer)))
    }

    /// What comes next if it is the peer's; what had come before from others is dropped. `None`: nothing is there.
    #[cold]
    pub(super) fn past_earlier<T>(
        &self,
        take: impl FnOnce() -> Result<T, Error>,
    ) -> Option<Result<T, Error>> {
        match self.earlier.pass(self.as_fd(), take) {
            Ok(taken) => taken,
            Err(errno) => Some(Err(self.failed(Step::Receive, errno))),
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn has_earlier(&self) -> bool {
        self.earlier.may_be()
    }

    // ---- sending ----

    /// Sends the slices as one datagram, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_too_large`], and what was reported of an earlier datagram.
    #[inline]
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        match self.send_with(slices, NO_SIGNAL) {
            Err(error) => self.send_after(error, slices, None),
            done => done,
        }
    }

    /// Sends the slices as one datagram if there is room.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_would_block`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.send_with(slices, NO_SIGNAL.union(SendFlags::DONTWAIT))
    }

    /// Sends the slices as one datagram, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_timeout`]: nothing was sent.
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        match self.send_now(slices) {
            Err(error) => self.send_after(error, slices, Some(deadline)),
            done => done,
        }
    }

    #[cold]
    fn send_after(
        &self,
        error: Error,
        slices: &[IoSlice<'_>],
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        self.go_on_sending(error, deadline, || self.send_now(slices))
    }

    /// What came of an attempt to send decides whether to wait for another.
    pub(super) fn go_on_sending<T>(
        &self,
        error: Error,
        deadline: Option<Instant>,
        attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sent = send_after(error, self.as_fd(), deadline, attempt);
        sent.map_err(|error| error.or_with(|| F::address(&self.peer)))
    }

    #[inline]
    fn send_with(&self, slices: &[IoSlice<'_>], flags: SendFlags) -> Result<(), Error> {
        loop {
            counts::enter();
            let sent = match slices {
                [slice] => send(&self.fd, slice, flags),
                slices if slices.len() <= MOST_SLICES => {
                    sendmsg(&self.fd, slices, &mut SendAncillaryBuffer::default(), flags)
                }
                slices => return with_fewer(slices, |few| self.send_with(few, flags)),
            };
            match sent {
                // A datagram goes whole.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                // As much as a socket is told that asked for no reports.
                Err(errno) if F::is_loss(errno) => return Ok(()),
                Err(errno) if F::is_full(errno) => return Err(self.failed(Step::Send, Errno::AGAIN)),
                Err(errno) => return Err(self.failed(Step::Send, errno).of_slices(slices)),
            }
        }
    }

    #[cold]
    pub(super) fn failed(&self, step: Step, errno: Errno) -> Error {
        let reported = if concerns_earlier(errno) { self.reported(step) } else { None };
        match reported {
            // Which is not this one, if this host itself refused it; who tries again is told of this one.
            Some(error) if error.said_by().is_some() => error,
            Some(error) if error.raw_os_error() == Some(errno.raw_os_error()) => error,
            _ => Error::os(step, errno).with(F::address(&self.peer)),
        }
    }

    /// The last report of what came back; with it go all that came before, as the system keeps one error
    /// only.
    fn reported(&self, step: Step) -> Option<Error> {
        let mut last = None;
        for _ in 0..MOST_REPORTS {
            let Ok(Some(report)) = F::next_report(self.as_fd()) else { break };
            last = Some(report);
        }
        last.map(|report| Error::reported(step, report.what).with(F::address(&self.peer)))
    }
}

/// Gives a socket its peer. One to which that cannot be done is as it was.
pub(super) fn give_peer<F: DatagramFamily>(fd: BorrowedFd<'_>, peer: &F::Address) -> Result<(), Error> {
    let failed = |step| move |errno| Error::os(step, errno).with(F::address(peer));
    let address = F::to_kernel(peer).map_err(failed(Step::Connect))?;
    F::ask_for_reports(fd, true).map_err(failed(Step::Configure))?;
    connect(fd, &address).map_err(failed(Step::Connect))
}

impl<F: DatagramFamily> fmt::Debug for ConnectedDatagramSocket<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedDatagramSocket").field("fd", &self.fd).field("peer", &self.peer).finish()
    }
}

/// It keeps its address and its peer, for whoever takes it over. The file of a Unix socket stays.
impl<F: DatagramFamily> From<ConnectedDatagramSocket<F>> for OwnedFd {
    fn from(socket: ConnectedDatagramSocket<F>) -> Self {
        if let Some(held) = socket.held {
            F::give_up(held);
        }
        socket.fd
    }
}

impl<F: DatagramFamily> AsFd for ConnectedDatagramSocket<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
