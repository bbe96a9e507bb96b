//! A connection that carries messages: send, receive, close.

use std::fmt;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::{Errno, ioctl_fionread};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use super::Messages;
use super::ends::SeqpacketConnector;
use crate::datagram::{MOST_SLICES, receive_after, send_after, with_fewer};
use crate::ready::events_by;
use crate::stream::{QueueSizes, Stream};
use crate::{Error, Refused, Step, UnixAddress, counts};

/// The kernel then tells a message's whole length, and does not wait.
const NOW: RecvFlags = RecvFlags::TRUNC.union(RecvFlags::DONTWAIT);

/// The most empty messages that one call passes over: more than there are in a queue.
const MOST_EMPTY: usize = 1024;

/// A connection within a machine that carries messages, in order, none lost, each whole: what is sent by one
/// call is received by one call.
///
/// A message has at least one octet: to who receives, an empty one looks like the end of the connection, and so
/// none is sent, and one that another program sends is passed over. It has no more than the queue of who sends it takes (`SO_SNDBUF`, some 200 KiB unless
/// [set](SeqpacketConnector::queue_sizes)). All calls take `&self`; any number of threads may send and
/// receive at once.
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, UnixAddress};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// # let name = format!("zorb-ipc-seqpacket-{}", std::process::id());
/// # let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
/// let deadline = Instant::now() + Duration::from_secs(5);
/// let acceptor = SeqpacketAcceptor::bind(address.clone(), &SeqpacketAcceptorOptions::new())?;
/// let client = Seqpacket::connect(address, deadline)?;
/// let server = acceptor.accept_by(deadline)?;
///
/// client.send(&[IoSlice::new(b"hello, "), IoSlice::new(b"world")])?;
/// client.send(&[IoSlice::new(b"again")])?;
/// let mut message = [0; 64];
/// assert_eq!(server.receive_by(&mut message, deadline)?, 12);
/// assert_eq!(server.receive_by(&mut message, deadline)?, 5);
/// # Ok(())
/// # }
/// ```
pub struct Seqpacket {
    /// Its octets are never moved as a stream's.
    stream: Stream<Messages>,
}

impl Seqpacket {
    /// Connects to `address` by `deadline`, with the options of [`SeqpacketConnector::new`].
    ///
    /// # Errors
    /// As [`SeqpacketConnector::connect`].
    pub fn connect(address: UnixAddress, deadline: Instant) -> Result<Self, Error> {
        SeqpacketConnector::new().connect(address, deadline)
    }

    /// Takes over a descriptor that came from elsewhere, as [`Stream::adopt`].
    ///
    /// # Errors
    /// As there.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Stream::adopt(fd).map(Self::new)
    }

    pub(super) fn new(stream: Stream<Messages>) -> Self {
        Self { stream }
    }

    // ---- receiving ----

    /// Receives the next message, and waits for it as long as it takes: how many octets it has, at the
    /// beginning of `into`. 0: the peer has ended its direction. (This type sends no empty message; one that
    /// another program sends is passed over.)
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_truncated`] if the message is longer than `into`, whose beginning is
    /// there and whose rest is lost; [`Error::is_connection_reset`].
    #[inline]
    pub fn receive(&self, into: &mut [u8]) -> Result<usize, Error> {
        match self.receive_next(into, RecvFlags::TRUNC) {
            // The socket's mode belongs to all who have a duplicate of it.
            Err(error) => self.receive_after(error, into, None),
            done => done,
        }
    }

    /// Receives the next message if one is there. 0 as in [`receive`](Self::receive).
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        match self.take(into, NOW) {
            Ok(Some(received)) => Ok(received),
            Ok(None) => self.receive_past_empty(into),
            Err(error) => Err(error),
        }
    }

    /// Receives the next message, and waits for it until `deadline`. 0 as in [`receive`](Self::receive).
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        match self.receive_next(into, NOW) {
            Err(error) => self.receive_after(error, into, Some(deadline)),
            done => done,
        }
    }

    /// As if nothing were there where an empty message is: whoever sends those without end keeps nobody beyond a
    /// deadline.
    #[inline(always)]
    fn receive_next(&self, into: &mut [u8], flags: RecvFlags) -> Result<usize, Error> {
        match self.take(into, flags)? {
            Some(received) => Ok(received),
            None => Err(self.failed(Step::Receive, Errno::AGAIN)),
        }
    }

    /// What came of an attempt to receive decides whether to wait for another.
    #[cold]
    fn receive_after(
        &self,
        error: Error,
        into: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<usize, Error> {
        let received = receive_after(error, self.as_fd(), deadline, || self.receive_next(into, NOW), || None);
        received.map_err(|error| self.naming(error))
    }

    /// Of who sends empty messages without end no more than these are taken.
    #[cold]
    fn receive_past_empty(&self, into: &mut [u8]) -> Result<usize, Error> {
        for _ in 0..MOST_EMPTY {
            if let Some(received) = self.take(into, NOW)? {
                return Ok(received);
            }
        }
        Err(self.failed(Step::Receive, Errno::AGAIN))
    }

    /// `None`: an empty message.
    #[inline(always)]
    fn take(&self, into: &mut [u8], flags: RecvFlags) -> Result<Option<usize>, Error> {
        let room = into.len();
        loop {
            counts::enter();
            match recv(&self.stream, &mut *into, flags) {
                Ok((_, 0)) if !self.has_ended() => return Ok(None),
                // The second number is the message's whole length.
                Ok((_, length)) if length <= room => return Ok(Some(length)),
                Ok((_, length)) => return Err(self.naming(Error::truncated(length, room))),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Step::Receive, errno)),
            }
        }
    }

    /// Whether nothing more comes, where nothing was received: a message of another program's may be empty.
    #[cold]
    pub(super) fn has_ended(&self) -> bool {
        let ends = PollFlags::RDHUP | PollFlags::HUP;
        let found = events_by(self.as_fd(), PollFlags::RDHUP, Some(Instant::now()));
        // The peer may have sent more before it ended.
        found.map_or(true, |found| found.intersects(ends)) && ioctl_fionread(&self.stream).unwrap_or(0) == 0
    }

    /// Waits until there is a message to receive, or the peer's end of the connection, or `deadline`, which
    /// is what false says.
    ///
    /// # Errors
    /// At [`Step::Receive`].
    pub fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        self.stream.wait_readable(deadline)
    }

    // ---- sending ----

    /// Sends the slices, however many, as one message, and waits for room in the queue as long as it takes.
    /// Where there are more than 1024 the last ones are first copied into one, as the kernel takes no more.
    ///
    /// # Errors
    /// At [`Step::Send`], and nothing was sent: an invalid argument, if the slices have no octet;
    /// [`Error::is_too_large`], [`Error::is_connection_reset`].
    #[inline]
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        match self.send_with(slices, SendFlags::NOSIGNAL) {
            Err(error) => self.send_after(error, slices, None),
            done => done,
        }
    }

    /// Sends the slices as one message if there is room.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_would_block`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.send_with(slices, SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT))
    }

    /// Sends the slices as one message, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_timeout`].
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        match self.send_now(slices) {
            Err(error) => self.send_after(error, slices, Some(deadline)),
            done => done,
        }
    }

    /// What came of an attempt to send decides whether to wait for another.
    #[cold]
    fn send_after(
        &self,
        error: Error,
        slices: &[IoSlice<'_>],
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let sent = send_after(error, self.as_fd(), deadline, || self.send_now(slices));
        sent.map_err(|error| self.naming(error))
    }

    #[inline]
    fn send_with(&self, slices: &[IoSlice<'_>], flags: SendFlags) -> Result<(), Error> {
        if slices.iter().all(|slice| slice.is_empty()) {
            return Err(self.failed(Step::Send, Errno::INVAL));
        }
        loop {
            counts::enter();
            let sent = match slices {
                [slice] => send(&self.stream, slice, flags),
                slices if slices.len() <= MOST_SLICES => {
                    sendmsg(&self.stream, slices, &mut SendAncillaryBuffer::default(), flags)
                }
                slices => return with_fewer(slices, |few| self.send_with(few, flags)),
            };
            match sent {
                // A message goes whole.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Step::Send, errno).of_slices(slices)),
            }
        }
    }

    // ---- closing ----

    /// Ends the sending direction: the peer receives what was sent, then 0. Receiving goes on.
    ///
    /// # Errors
    /// At [`Step::Shutdown`], if the connection is gone already.
    pub fn shutdown_send(&self) -> Result<(), Error> {
        self.stream.shutdown_send()
    }

    /// Ends both directions, whichever threads are sending or receiving: they are woken, and receive 0.
    ///
    /// # Errors
    /// At [`Step::Shutdown`], if the connection is gone already.
    pub fn shutdown_both(&self) -> Result<(), Error> {
        self.stream.shutdown_both()
    }

    // ---- options ----

    /// Sets the kernel's buffers.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_queue_sizes(&self, sizes: QueueSizes) -> Result<(), Error> {
        self.stream.set_queue_sizes(sizes)
    }

    /// The kernel's buffers as they are, bookkeeping included.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn queue_sizes(&self) -> Result<QueueSizes, Error> {
        self.stream.queue_sizes()
    }

    /// The other end: the address that the peer listens on, if this end made the connection, or one that it chose to
    /// have; `None` if it has none. No system call.
    pub fn peer(&self) -> &Option<UnixAddress> {
        self.stream.peer()
    }

    /// This end's address; `None` if it has none.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn local(&self) -> Result<Option<UnixAddress>, Error> {
        self.stream.local()
    }

    /// The address that the peer listens on, if this end made the connection, or one that it chose to have.
    pub fn peer_address(&self) -> Option<&UnixAddress> {
        self.stream.peer().as_ref()
    }

    // ---- failing ----

    #[cold]
    pub(super) fn failed(&self, step: Step, errno: Errno) -> Error {
        self.stream.failed(step, errno)
    }

    #[cold]
    pub(super) fn naming(&self, error: Error) -> Error {
        self.stream.naming(error)
    }
}

impl fmt::Debug for Seqpacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fd = self.as_fd();
        f.debug_struct("Seqpacket").field("fd", &fd).field("peer", &self.peer_address()).finish()
    }
}

impl From<Seqpacket> for OwnedFd {
    fn from(connection: Seqpacket) -> Self {
        connection.stream.into()
    }
}

impl AsFd for Seqpacket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
