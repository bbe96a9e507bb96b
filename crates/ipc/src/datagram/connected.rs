//! Datagrams to and from one peer.

use super::{DatagramFamily, MOST_SLICES, concerns_earlier, received, send_until, with_fewer};
use crate::ready::events_by;
use crate::{Error, Step, counts};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, connect, recv, send, sendmsg};
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
    fd: OwnedFd,
    peer: F::Address,
    _held: Option<F::Held>,
}

impl<F: DatagramFamily> ConnectedDatagramSocket<F> {
    /// From an address that the system chooses, to `peer`.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`] or [`Step::Connect`], naming the address.
    pub fn connect(peer: F::Address) -> Result<Self, Error> {
        let fd = F::open(&peer).map_err(|errno| Error::os(Step::Open, errno).with(F::address(&peer)))?;
        Self::of(fd, None, peer)
    }

    pub(super) fn of(fd: OwnedFd, held: Option<F::Held>, peer: F::Address) -> Result<Self, Error> {
        let asked = F::ask_for_reports(fd.as_fd());
        asked.map_err(|errno| Error::os(Step::Configure, errno).with(F::address(&peer)))?;
        let connected = F::to_kernel(&peer).and_then(|address| connect(&fd, &address));
        connected.map_err(|errno| Error::os(Step::Connect, errno).with(F::address(&peer)))?;
        Ok(Self { fd, peer, _held: held })
    }

    /// `fd` is a socket that is connected to `peer`, in blocking mode.
    pub(crate) fn adopted(fd: OwnedFd, peer: F::Address) -> Self {
        Self { fd, peer, _held: None }
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
        self.receive_with(into, RecvFlags::TRUNC)
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.receive_with(into, RecvFlags::TRUNC.union(RecvFlags::DONTWAIT))
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        match self.receive_now(into) {
            Err(error) => self.receive_after(error, into, deadline),
            done => done,
        }
    }

    /// What came of an attempt to receive decides whether to wait for another.
    #[cold]
    fn receive_after(&self, error: Error, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        if !error.is_would_block() {
            return Err(error);
        }
        self.wait_to_receive(deadline)?;
        self.receive_until(deadline, || self.receive_now(into))
    }

    #[inline]
    pub(super) fn receive_until<T>(
        &self,
        deadline: Instant,
        mut attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            match attempt() {
                Err(error) if error.is_would_block() => self.wait_to_receive(deadline)?,
                done => return done,
            }
        }
    }

    #[cold]
    fn wait_to_receive(&self, deadline: Instant) -> Result<(), Error> {
        let events = events_by(self.as_fd(), PollFlags::IN, Some(deadline))
            .map_err(|errno| self.failed(Step::Receive, errno))?;
        if events.is_empty() {
            return Err(Error::out_of_time(Step::Receive).with(F::address(&self.peer)));
        }
        // Where many datagrams were sent at once the system may have told nobody of what came back
        // meanwhile.
        if events.contains(PollFlags::ERR)
            && !events.contains(PollFlags::IN)
            && let Some(error) = self.reported(Step::Receive)
        {
            return Err(error);
        }
        Ok(())
    }

    #[inline]
    fn receive_with(&self, into: &mut [u8], flags: RecvFlags) -> Result<usize, Error> {
        let room = into.len();
        loop {
            counts::enter();
            match recv(&self.fd, &mut *into, flags) {
                // The second number is the datagram's whole length.
                Ok((_, length)) if length <= room => return Ok(length),
                Ok((_, length)) => {
                    return received(length, room).map_err(|error| error.with(F::address(&self.peer)));
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Step::Receive, errno)),
            }
        }
    }

    // ---- sending ----

    /// Sends the slices as one datagram, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_too_large`], and what was reported of an earlier datagram.
    #[inline]
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.send_with(slices, SendFlags::NOSIGNAL)
    }

    /// Sends the slices as one datagram if there is room.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_would_block`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.send_with(slices, SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT))
    }

    /// Sends the slices as one datagram, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_timeout`]: nothing was sent.
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        let sent = send_until(self.as_fd(), deadline, || self.send_now(slices));
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
                Err(errno) => return Err(self.failed(Step::Send, errno)),
            }
        }
    }

    #[cold]
    pub(super) fn failed(&self, step: Step, errno: Errno) -> Error {
        let reported = if concerns_earlier(errno) { self.reported(step) } else { None };
        match reported {
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

impl<F: DatagramFamily> fmt::Debug for ConnectedDatagramSocket<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedDatagramSocket").field("fd", &self.fd).field("peer", &self.peer).finish()
    }
}

impl<F: DatagramFamily> AsFd for ConnectedDatagramSocket<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
