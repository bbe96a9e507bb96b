//! A connection: send, receive, look, close.
//!
//! Every transfer is one system call. What a call's name says:
//!
//! ```text
//! receive  send          wait, at most for the timeout set on the stream
//! …_now                  do not wait
//! …_by  …_all  …_exact   wait until a deadline; the last two repeat until all is through
//! ```

use super::{Connector, StreamFamily};
use crate::error::ENDED;
use crate::portable::NO_SIGNAL;
use crate::ready::{Waiting, attempt_by, receiving};
use crate::{Error, Sent, Step, counts};
use rustix::event::PollFlags;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown};
use std::fmt;
use std::io::IoSlice;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The most slices that one system call takes (`IOV_MAX`, uio(7)). More are not an error: the call sends
/// these and says how much that was.
pub(super) const MOST_SLICES: usize = 1024;

/// A connected socket, in blocking mode.
///
/// It is born connected, from [`Stream::connect`], a [`Connector`] or an [`Acceptor`](super::Acceptor). All calls take `&self`: one thread may send while another receives.
/// Of two threads that send at once each call's octets stay together only if they all fit, so take turns.
pub struct Stream<F: StreamFamily> {
    fd: OwnedFd,
    peer: F::Peer,
}

/// What an idle connection's peer has been up to; see [`Stream::idle`].
#[must_use = "asking changes nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Connected, and nothing to receive.
    Quiet,
    /// Something waits to be received.
    Readable,
    /// The peer closed or reset the connection, and nothing is left to receive.
    Closed,
}

impl<F: StreamFamily> Stream<F> {
    /// Connects to `address` by `deadline`, with the options of [`Connector::new`].
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub fn connect(address: F::Address, deadline: Instant) -> Result<Self, Error> {
        Connector::new().connect(address, deadline)
    }

    /// `fd` is a connected socket in blocking mode: what tells a timeout from "nothing right now".
    pub(crate) fn of_connected(fd: OwnedFd, peer: F::Peer) -> Self {
        Self { fd, peer }
    }

    // ---- receiving ----

    /// Receives what is there, at least one octet, and waits for it up to the [receive
    /// timeout](Self::set_receive_timeout). 0: the peer has ended its direction (or `into` is empty).
    ///
    /// How many octets came is a plain number, for `&into[..received]`; ignoring it takes the old rest of `into` for
    /// octets received. Who knows how many have to come calls [`receive_exact`](Self::receive_exact).
    ///
    /// The first signal that interrupts the wait begins the timeout anew, further ones do not.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`], [`Error::is_connection_reset`].
    #[inline]
    pub fn receive(&self, into: &mut [u8]) -> Result<usize, Error> {
        counts::enter_to_receive();
        match recv(&self.fd, &mut *into, RecvFlags::empty()) {
            Ok((received, _)) => Ok(received),
            Err(errno) => self.receive_after(errno, into),
        }
    }

    #[cold]
    fn receive_after(&self, errno: Errno, into: &mut [u8]) -> Result<usize, Error> {
        let deadline = self.goes_on(Step::Receive, errno, Timeout::Recv)?;
        let received = attempt_by(self.as_fd(), Step::Receive, PollFlags::IN, deadline, || {
            receiving(|| recv(&self.fd, &mut *into, RecvFlags::DONTWAIT))
        });
        received.map(|(received, _)| received).map_err(|error| self.naming(error))
    }

    /// Receives what is there, without waiting. 0: the peer has ended its direction (or `into` is empty).
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_would_block`], [`Error::is_connection_reset`].
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        match receiving(|| recv(&self.fd, &mut *into, RecvFlags::DONTWAIT)) {
            Ok((received, _)) => Ok(received),
            Err(errno) => Err(self.failed(Step::Receive, errno)),
        }
    }

    /// Receives what is there, without waiting; `None`: nothing is, which is no error here. For who looks again and again, as
    /// a [`Spinner`](crate::Spinner) does. `Some(0)`: as [`receive_now`](Self::receive_now)'s 0.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_connection_reset`].
    #[inline]
    pub fn receive_if_there(&self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        match receiving(|| recv(&self.fd, &mut *into, RecvFlags::DONTWAIT)) {
            Ok((received, _)) => Ok(Some(received)),
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(self.failed(Step::Receive, errno)),
        }
    }

    /// Receives what is there, at least one octet, and waits for it until `deadline`. 0 as in
    /// [`receive`](Self::receive).
    ///
    /// Where it has to wait this takes three system calls; [`receive`](Self::receive) with a timeout takes
    /// one.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`], [`Error::is_connection_reset`].
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        match receiving(|| recv(&self.fd, &mut *into, RecvFlags::DONTWAIT)) {
            Ok((received, _)) => Ok(received),
            Err(Errno::AGAIN) => self.receive_later(into, deadline),
            Err(errno) => Err(self.failed(Step::Receive, errno)),
        }
    }

    /// There was nothing to receive yet.
    #[cold]
    fn receive_later(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        let mut first = true;
        let received = attempt_by(self.as_fd(), Step::Receive, PollFlags::IN, Some(deadline), || {
            if mem::take(&mut first) {
                return Err(Errno::AGAIN);
            }
            receiving(|| recv(&self.fd, &mut *into, RecvFlags::DONTWAIT))
        });
        received.map(|(received, _)| received).map_err(|error| self.naming(error))
    }

    /// Fills `into` to its end by `deadline`, however many pieces it arrives in.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by), and [`Error::is_unexpected_end`] if the peer ends first;
    /// [`Error::transferred`] octets of `into` are then valid.
    #[inline]
    pub fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        if into.is_empty() {
            return Ok(());
        }
        match self.receive_now(into) {
            Ok(received) if received == into.len() => Ok(()),
            Ok(received @ 1..) => self.receive_rest(into, received, deadline),
            Err(error) if !error.is_would_block() => Err(error),
            // The peer's end is told by whoever waits for more.
            _ => self.receive_rest(into, 0, deadline),
        }
    }

    #[cold]
    fn receive_rest(&self, into: &mut [u8], received: usize, deadline: Instant) -> Result<(), Error> {
        let mut filled = received;
        while filled < into.len() {
            match self.receive_by(&mut into[filled..], deadline) {
                Ok(0) => return Err(self.failed(Step::Receive, ENDED).with_transferred(filled)),
                Ok(received) => filled += received,
                Err(error) => return Err(error.with_transferred(filled)),
            }
        }
        Ok(())
    }

    /// Waits until there is something to receive, or the peer's end of the connection, or `deadline`, which
    /// is what false says.
    ///
    /// # Errors
    /// At [`Step::Receive`].
    pub fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        let mut waiting = Waiting::new(PollFlags::IN, Some(deadline));
        loop {
            match waiting.next(self.as_fd()).map_err(|errno| self.failed(Step::Receive, errno))? {
                None => return Ok(false),
                // An error that is the connection's own is received; what is in the queue of errors is not.
                Some(PollFlags::ERR) if self.idle() == Idle::Quiet => {}
                Some(_) => return Ok(true),
            }
        }
    }

    /// Copies what is there without taking it, and without waiting. 0: the peer has ended its direction.
    ///
    /// # Errors
    /// As [`receive_now`](Self::receive_now).
    pub fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        match receiving(|| recv(&self.fd, &mut *into, RecvFlags::PEEK | RecvFlags::DONTWAIT)) {
            Ok((received, _)) => Ok(received),
            Err(errno) => Err(self.failed(Step::Receive, errno)),
        }
    }

    /// What became of a connection that nobody watched: to be asked before an idle one is used again. One
    /// system call, takes nothing from the stream.
    ///
    /// [`Quiet`](Idle::Quiet) is no promise: the peer's close may be under way.
    pub fn idle(&self) -> Idle {
        match self.peek_now(&mut [0]) {
            Ok(0) => Idle::Closed,
            Ok(_) => Idle::Readable,
            Err(error) if error.is_would_block() => Idle::Quiet,
            Err(_) => Idle::Closed,
        }
    }

    /// Whether nothing can come from the peer any more; see [`idle`](Self::idle).
    pub fn is_closed_by_peer(&self) -> bool {
        self.idle() == Idle::Closed
    }

    // ---- sending ----

    /// Sends the slices, one after the other, as if they were one, and waits for room up to the
    /// [send timeout](Self::set_send_timeout). Says how many octets the kernel took: all, unless the
    /// timeout or a signal came in between or there are more than 1024 slices. What is to go whole takes
    /// [`send_all`](Self::send_all).
    ///
    /// # Errors
    /// At [`Step::Send`], when nothing was taken: [`Error::is_timeout`], [`Error::is_connection_reset`].
    #[inline]
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        match self.send_once(slices, NO_SIGNAL) {
            Ok(sent) => Ok(Sent::of(sent)),
            Err(errno) => self.send_after(errno, slices),
        }
    }

    #[cold]
    fn send_after(&self, errno: Errno, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        let deadline = self.goes_on(Step::Send, errno, Timeout::Send)?;
        let flags = NO_SIGNAL.union(SendFlags::DONTWAIT);
        let sent =
            attempt_by(self.as_fd(), Step::Send, PollFlags::OUT, deadline, || self.send_with(slices, flags));
        sent.map(Sent::of).map_err(|error| self.naming(error))
    }

    /// Sends as much of the slices as there is room for, without waiting, and says how many octets that was.
    ///
    /// # Errors
    /// At [`Step::Send`], when nothing was taken: [`Error::is_would_block`], [`Error::is_connection_reset`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        match self.send_with(slices, NO_SIGNAL.union(SendFlags::DONTWAIT)) {
            Ok(sent) => Ok(Sent::of(sent)),
            Err(errno) => Err(self.failed(Step::Send, errno)),
        }
    }

    /// Sends the slices to their end by `deadline`. One system call where there is room, which is the usual
    /// case; the clock is read only where there is not. The slices are used up as they are sent: what they hold afterwards
    /// means nothing.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`]; [`Error::transferred`] says
    /// how many octets had gone.
    #[inline]
    pub fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        // As many octets as there are numbers for are more than one call takes, however often a slice repeats.
        let total = slices.iter().fold(0_usize, |total, slice| total.saturating_add(slice.len()));
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
        let mut sent = sent;
        loop {
            IoSlice::advance_slices(&mut slices, sent);
            if slices.is_empty() {
                return Ok(());
            }
            let left = &*slices;
            let flags = NO_SIGNAL.union(SendFlags::DONTWAIT);
            sent = attempt_by(self.as_fd(), Step::Send, PollFlags::OUT, Some(deadline), || {
                self.send_with(left, flags)
            })
            .map_err(|error| self.naming(error).with_transferred(total))?;
            total += sent;
        }
    }

    /// For one slice `send`, which spares the kernel reading a message header and a list.
    #[inline]
    fn send_with(&self, slices: &[IoSlice<'_>], flags: SendFlags) -> Result<usize, Errno> {
        loop {
            match self.send_once(slices, flags) {
                Err(Errno::INTR) => {}
                done => return done,
            }
        }
    }

    #[inline]
    fn send_once(&self, slices: &[IoSlice<'_>], flags: SendFlags) -> Result<usize, Errno> {
        counts::enter_to_send();
        if let [slice] = slices {
            return send(&self.fd, slice, flags);
        }
        let slices = &slices[..slices.len().min(MOST_SLICES)];
        sendmsg(&self.fd, slices, &mut SendAncillaryBuffer::default(), flags)
    }

    // ---- closing ----

    /// Ends the sending direction: the peer receives what was sent, then 0. Receiving goes on.
    ///
    /// # Errors
    /// At [`Step::Shutdown`], if the connection is gone already.
    pub fn shutdown_send(&self) -> Result<(), Error> {
        counts::enter();
        shutdown(&self.fd, Shutdown::Write).map_err(|e| self.failed(Step::Shutdown, e))
    }

    /// Ends both directions, whichever threads are sending or receiving: they are woken, and receive 0.
    ///
    /// # Errors
    /// At [`Step::Shutdown`], if the connection is gone already.
    pub fn shutdown_both(&self) -> Result<(), Error> {
        counts::enter();
        shutdown(&self.fd, Shutdown::Both).map_err(|e| self.failed(Step::Shutdown, e))
    }

    /// The other end. No system call.
    pub fn peer(&self) -> &F::Peer {
        &self.peer
    }

    // ---- failing ----

    #[cold]
    pub(crate) fn failed(&self, step: Step, errno: Errno) -> Error {
        self.naming(Error::os(step, errno))
    }

    /// Names the peer, where it has a name.
    #[cold]
    pub(crate) fn naming(&self, error: Error) -> Error {
        match F::peer(&self.peer) {
            Some(address) => error.with(address),
            None => error,
        }
    }

    /// Until when a call that waits by the stream's timeout goes on which has ended so (`None`: as long as it
    /// takes), if it does. A signal a moment, such as a profiler's, must not begin the timeout again and again,
    /// so there is a deadline from here on.
    #[cold]
    fn goes_on(&self, step: Step, errno: Errno, which: Timeout) -> Result<Option<Instant>, Error> {
        let at = |step| move |errno| self.failed(step, errno);
        match errno {
            Errno::INTR => {}
            // Somebody who shares the socket has set it not to block. That is for all who do.
            Errno::AGAIN if self.has_become_nonblocking().map_err(at(step))? => {}
            // In blocking mode it has one meaning left.
            Errno::AGAIN => return Err(self.naming(Error::out_of_time(step))),
            errno => return Err(self.failed(step, errno)),
        }
        counts::enter();
        let timeout = sockopt::socket_timeout(&self.fd, which).map_err(at(Step::Configure))?;
        Ok(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    fn has_become_nonblocking(&self) -> Result<bool, Errno> {
        counts::enter();
        fcntl_getfl(&self.fd).map(|flags| flags.contains(OFlags::NONBLOCK))
    }
}

impl<F: StreamFamily> fmt::Debug for Stream<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("fd", &self.fd).field("peer", &self.peer).finish()
    }
}

/// The connection goes on; it is in blocking mode.
impl<F: StreamFamily> From<Stream<F>> for OwnedFd {
    fn from(stream: Stream<F>) -> Self {
        stream.fd
    }
}

impl<F: StreamFamily> AsFd for Stream<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
