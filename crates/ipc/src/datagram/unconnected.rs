//! Datagrams to and from anybody.

use super::connected::give_peer;
use super::taking::{Length, take_from};
use super::{
    ConnectedDatagramSocket, DatagramFamily, MOST_SLICES, concerns_earlier, receive_after, send_after,
    with_fewer,
};
use crate::portable::NO_SIGNAL;
use crate::stream::QueueSizes;
use crate::{Error, Refused, Step, counts};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmsg_addr};
use std::fmt;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// How many errors of earlier datagrams a datagram is sent past, one after the other, before the last of them
/// is taken for its own. More than one takes reports that arrive between two calls.
const REPORTS_PASSED: usize = 3;

/// A socket that has an address, and sends to any other: each datagram says where to.
///
/// A datagram arrives whole or not at all. All calls take `&self`; any number of threads may send and receive at once.
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::{Outgoing, ReceiveBatch, SendBatch, UdpSocket};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let one = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let other = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let to = *other.local().unwrap();
/// let deadline = Instant::now() + Duration::from_secs(5);
///
/// one.send_to(&[IoSlice::new(b"hello, "), IoSlice::new(b"world")], &to)?;
/// let mut datagram = [0; 64];
/// let received = other.receive_from_by(&mut datagram, deadline)?;
/// assert_eq!((received.octets, received.from.as_ref()), (12, one.local()));
///
/// // Many by one system call: the batches are made once, and used again and again.
/// let (mut outgoing, mut incoming) = (SendBatch::new(16), ReceiveBatch::new(16, 64));
/// let slices = [IoSlice::new(b"again")];
/// one.send_many(&[Outgoing { slices: &slices, to: &to }; 2], &mut outgoing)?;
/// other.receive_many_by(&mut incoming, deadline)?;
/// assert!(incoming.iter().all(|datagram| datagram.octets() == b"again"));
/// # Ok(())
/// # }
/// ```
pub struct DatagramSocket<F: DatagramFamily> {
    /// Goes first: until the socket is closed nobody else gets what identifies its file.
    held: Option<F::Held>,
    fd: OwnedFd,
    local: Option<F::Address>,
    /// Whether the system reports what comes back of its datagrams.
    reporting: bool,
}

/// A datagram that was received into a caller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<A> {
    /// Its octets, at the beginning of that memory.
    pub octets: usize,
    /// Who sent it; `None` if the sender has no address, as a Unix socket may.
    pub from: Option<A>,
}

impl<F: DatagramFamily> DatagramSocket<F> {
    /// Receives at `address`. Where the system chooses a part of it, such as for port 0, [`local`](Self::local) tells.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`] or [`Step::Bind`], naming the address; [`Error::is_address_in_use`].
    pub fn bind(address: F::Address) -> Result<Self, Error> {
        Self::bind_with(address, QueueSizes::default())
    }

    /// The same, with queues of these sizes: a datagram that finds its receiver's queue full is lost.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_with(address: F::Address, sizes: QueueSizes) -> Result<Self, Error> {
        let named = |error: Error| error.or_with(|| F::address(&address));
        let at = |step| move |errno| Error::os(step, errno);
        let fd = F::open(&address).map_err(at(Step::Open)).map_err(named)?;
        sizes.apply(fd.as_fd()).map_err(named)?;
        let held = F::bind(fd.as_fd(), &address).map_err(named)?;
        let local = F::local(fd.as_fd()).map_err(at(Step::Configure)).map_err(named)?;
        Ok(Self::of(fd, local.or(Some(address)), Some(held)))
    }

    /// `fd` is a socket without a peer, in blocking mode; it is bound already if it ever is to receive.
    pub(crate) fn of(fd: OwnedFd, local: Option<F::Address>, held: Option<F::Held>) -> Self {
        Self { fd, local, held, reporting: false }
    }

    /// From here on its reports are asked for.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_reporting(&mut self) {
        self.reporting = true;
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn is_reporting(&self) -> bool {
        self.reporting
    }

    /// Where it receives, with what the system chose.
    pub fn local(&self) -> Option<&F::Address> {
        self.local.as_ref()
    }

    /// From here on to and from `peer` only: what others send is no longer received, and what cannot be delivered is
    /// reported. What had come before is received if it is from `peer`, and dropped if it is from others.
    ///
    /// # Errors
    /// At [`Step::Connect`], naming the address, with the socket.
    pub fn connect(self, peer: F::Address) -> Result<ConnectedDatagramSocket<F>, Refused<Self>> {
        if let Err(error) = give_peer::<F>(self.as_fd(), &peer) {
            if !self.reporting {
                let _ = F::ask_for_reports(self.as_fd(), false);
            }
            return Err(Refused::new(error, self));
        }
        Ok(ConnectedDatagramSocket::of(self.fd, self.held, peer))
    }

    // ---- receiving ----

    /// Receives the next datagram, and waits for it as long as it takes. An empty datagram is one of 0 octets.
    ///
    /// # Errors
    /// At [`Step::Receive`]; [`Error::is_truncated`] if it is longer than `into`: its beginning is there, the rest is lost.
    #[inline]
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Received<F::Address>, Error> {
        if self.reporting {
            // The system's own wait does not end with a report that a call for sending has passed by.
            return match self.receive_from_now(into) {
                Err(error) => self.receive_after(error, into, None),
                done => done,
            };
        }
        self.receive_with(into, RecvFlags::empty())
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_from_now(&self, into: &mut [u8]) -> Result<Received<F::Address>, Error> {
        self.receive_with(into, RecvFlags::DONTWAIT)
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_from_by(&self, into: &mut [u8], deadline: Instant) -> Result<Received<F::Address>, Error> {
        match self.receive_from_now(into) {
            Err(error) => self.receive_after(error, into, Some(deadline)),
            done => done,
        }
    }

    #[cold]
    fn receive_after(
        &self,
        error: Error,
        into: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<Received<F::Address>, Error> {
        self.go_on_receiving(error, deadline, || self.receive_from_now(into))
    }

    /// What came of an attempt to receive decides whether to wait for another.
    pub(super) fn go_on_receiving<T>(
        &self,
        error: Error,
        deadline: Option<Instant>,
        attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        receive_after(error, self.as_fd(), deadline, attempt, || self.reporting.then(Error::reports_waiting))
    }

    #[cold]
    pub(super) fn receive_failed(&self, errno: Errno) -> Error {
        if self.reporting && concerns_earlier(errno) {
            Error::reports_waiting()
        } else {
            Error::os(Step::Receive, errno)
        }
    }

    #[inline]
    fn receive_with(&self, into: &mut [u8], flags: RecvFlags) -> Result<Received<F::Address>, Error> {
        let room = into.len();
        loop {
            counts::enter();
            match take_from(self.as_fd(), into, flags) {
                // Taken apart where it stands: room for any address is a lot to move.
                Ok((length, from)) => {
                    let octets = match length {
                        Length::Fits(octets) => octets,
                        Length::Cut(whole) => return Err(Error::truncated(whole, room)),
                    };
                    let from = F::sender(from).map_err(|errno| Error::os(Step::Receive, errno))?;
                    return Ok(Received { octets, from });
                }
                Err(Errno::INTR) => {}
                Err(errno) => return self.receive_ended(errno, into, flags),
            }
        }
    }

    /// The socket's mode belongs to all who have a duplicate of it, so that a call that waits goes on.
    #[cold]
    fn receive_ended(
        &self,
        errno: Errno,
        into: &mut [u8],
        flags: RecvFlags,
    ) -> Result<Received<F::Address>, Error> {
        let error = self.receive_failed(errno);
        if flags.contains(RecvFlags::DONTWAIT) {
            return Err(error);
        }
        self.receive_after(error, into, None)
    }

    // ---- sending ----

    /// Sends the slices as one datagram, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`], naming the address: [`Error::is_too_large`], [`Error::is_unreachable`],
    /// [`Error::is_permission_denied`] for a broadcast address, which takes a socket made for it.
    #[inline]
    pub fn send_to(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send_with(slices, to, NO_SIGNAL)
    }

    /// Sends the slices as one datagram if there is room.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and [`Error::is_would_block`].
    #[inline]
    pub fn send_to_now(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send_with(slices, to, NO_SIGNAL | SendFlags::DONTWAIT)
    }

    /// Sends the slices as one datagram, and waits for room until `deadline`.
    ///
    /// Where a Unix socket's receiver has no room this looks again every millisecond.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and [`Error::is_timeout`]: nothing was sent.
    pub fn send_to_by(
        &self,
        slices: &[IoSlice<'_>],
        to: &F::Address,
        deadline: Instant,
    ) -> Result<(), Error> {
        match self.send_to_now(slices, to) {
            Err(error) => self.send_after(error, slices, to, Some(deadline)),
            done => done,
        }
    }

    #[cold]
    fn send_after(
        &self,
        error: Error,
        slices: &[IoSlice<'_>],
        to: &F::Address,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let sent = send_after(error, self.as_fd(), deadline, || self.send_to_now(slices, to));
        sent.map_err(|error| error.or_with(|| F::address(to)))
    }

    #[inline(always)]
    fn send_with(&self, slices: &[IoSlice<'_>], to: &F::Address, flags: SendFlags) -> Result<(), Error> {
        if slices.len() > MOST_SLICES {
            return self.send_fewer(slices, to, flags);
        }
        let address: SocketAddrAny = match F::to_kernel(to) {
            Ok(address) => address,
            Err(errno) => return Err(Error::os(Step::Send, errno).with(F::address(to))),
        };
        counts::enter();
        match sendmsg_addr(&self.fd, &address, slices, &mut SendAncillaryBuffer::default(), flags) {
            // A datagram goes whole.
            Ok(_) => Ok(()),
            Err(errno) => self.send_ended(errno, &address, slices, to, flags),
        }
    }

    #[cold]
    fn send_fewer(&self, slices: &[IoSlice<'_>], to: &F::Address, flags: SendFlags) -> Result<(), Error> {
        with_fewer(slices, |few| match flags.contains(SendFlags::DONTWAIT) {
            true => self.send_to_now(few, to),
            false => self.send_to(few, to),
        })
    }

    /// The socket's mode belongs to all who have a duplicate of it, so that a call that waits goes on.
    #[cold]
    fn send_ended(
        &self,
        mut errno: Errno,
        address: &SocketAddrAny,
        slices: &[IoSlice<'_>],
        to: &F::Address,
        flags: SendFlags,
    ) -> Result<(), Error> {
        let mut again = self.again();
        while again(errno) {
            counts::enter();
            match sendmsg_addr(&self.fd, address, slices, &mut SendAncillaryBuffer::default(), flags) {
                Ok(_) => return Ok(()),
                Err(next) => errno = next,
            }
        }
        // As much as a socket is told that asked for no reports.
        if self.reporting && F::is_loss(errno) {
            return Ok(());
        }
        let errno = if F::is_full(errno) { Errno::AGAIN } else { errno };
        let error = Error::os(Step::Send, errno).with(F::address(to));
        if flags.contains(SendFlags::DONTWAIT) {
            return Err(error);
        }
        self.send_after(error, slices, to, None)
    }

    /// Whether to send again: a signal came in between, or what failed was an earlier datagram, whose report
    /// waits to be taken.
    pub(super) fn again(&self) -> impl FnMut(Errno) -> bool {
        let mut left = if self.reporting { REPORTS_PASSED } else { 0 };
        move |errno| {
            let passed = left > 0 && concerns_earlier(errno);
            left -= usize::from(passed);
            passed || errno == Errno::INTR
        }
    }
}

impl<F: DatagramFamily> fmt::Debug for DatagramSocket<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatagramSocket").field("fd", &self.fd).field("local", &self.local).finish()
    }
}

/// It keeps its address, for whoever takes it over. The file of a Unix socket stays.
impl<F: DatagramFamily> From<DatagramSocket<F>> for OwnedFd {
    fn from(socket: DatagramSocket<F>) -> Self {
        if let Some(held) = socket.held {
            F::give_up(held);
        }
        socket.fd
    }
}

impl<F: DatagramFamily> AsFd for DatagramSocket<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
