//! Datagrams to and from anybody.

use super::connected::give_peer;
use super::sender::Origin;
use super::taking::{Ended, Length, Wait, take_from};
use super::{
    ConnectedDatagramSocket, DatagramFamily, MOST_SLICES, Sender, concerns_earlier, receive_after,
    send_after, with_fewer,
};
use crate::portable::NO_SIGNAL;
use crate::stream::QueueSizes;
use crate::{Address, Error, Refused, Step, counts};
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg_addr, sendto};
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
/// assert_eq!((received.octets, received.from().map(|sender| sender.address())), (12, one.local().copied()));
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
pub struct Received<F: DatagramFamily> {
    /// Its octets, at the beginning of that memory.
    pub octets: usize,
    from: Origin<F>,
}

impl<F: DatagramFamily> Received<F> {
    #[inline(always)]
    pub(crate) fn of(octets: usize, from: Origin<F>) -> Self {
        Self { octets, from }
    }

    /// Who sent it; `None` if the sender has no address, as a Unix socket may.
    #[inline]
    pub fn from(&self) -> Option<Sender<F>> {
        self.from.sender()
    }
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
    #[inline(always)]
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Received<F>, Error> {
        // The system's own wait does not end with a report that a call for sending has passed by.
        let flags = if self.reporting { RecvFlags::DONTWAIT } else { RecvFlags::empty() };
        self.attempt(into, flags).or_else(|ended| self.receive_ended(ended, into, flags, Wait::Ever))
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_would_block`].
    #[inline(always)]
    pub fn receive_from_now(&self, into: &mut [u8]) -> Result<Received<F>, Error> {
        let flags = RecvFlags::DONTWAIT;
        self.attempt(into, flags).or_else(|ended| self.receive_ended(ended, into, flags, Wait::Not))
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_timeout`].
    #[inline(always)]
    pub fn receive_from_by(&self, into: &mut [u8], deadline: Instant) -> Result<Received<F>, Error> {
        let flags = RecvFlags::DONTWAIT;
        self.attempt(into, flags)
            .or_else(|ended| self.receive_ended(ended, into, flags, Wait::Until(deadline)))
    }

    /// One system call: all that there is to it where a datagram comes.
    #[inline(always)]
    fn attempt(&self, into: &mut [u8], flags: RecvFlags) -> Result<Received<F>, Ended> {
        counts::enter();
        match take_from(self.as_fd(), into, flags) {
            Ok((Length::Fits(octets), from)) => Ok(Received::of(octets, from)),
            Ok((Length::Cut(whole), _)) => Err(Ended::Cut(whole)),
            Err(errno) => Err(Ended::Os(errno)),
        }
    }

    /// What came of an attempt instead of a datagram decides whether there is another. The socket's mode belongs to all
    /// who have a duplicate of it, so that a call that waits goes on.
    #[cold]
    #[inline(never)]
    fn receive_ended(
        &self,
        mut ended: Ended,
        into: &mut [u8],
        flags: RecvFlags,
        wait: Wait,
    ) -> Result<Received<F>, Error> {
        let error = loop {
            match ended {
                Ended::Earlier | Ended::Os(Errno::INTR) => {}
                Ended::Os(errno) => break self.receive_failed(errno),
                Ended::Cut(whole) => return Err(Error::truncated(whole, into.len())),
            }
            match self.attempt(into, flags) {
                Ok(received) => return Ok(received),
                Err(again) => ended = again,
            }
        };
        match wait {
            Wait::Not => Err(error),
            Wait::Ever => self.go_on_receiving(error, None, || self.receive_from_now(into)),
            Wait::Until(deadline) => {
                self.go_on_receiving(error, Some(deadline), || self.receive_from_now(into))
            }
        }
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

    // ---- sending ----

    /// Sends the slices as one datagram, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`], naming the address: [`Error::is_too_large`], [`Error::is_unreachable`],
    /// [`Error::is_permission_denied`] for a broadcast address, which takes a socket made for it.
    #[inline]
    pub fn send_to(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send_encoded(slices, to, Wait::Ever)
    }

    /// Sends the slices as one datagram if there is room.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and [`Error::is_would_block`].
    #[inline]
    pub fn send_to_now(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send_encoded(slices, to, Wait::Not)
    }

    /// Sends the slices as one datagram, and waits for room until `deadline`.
    ///
    /// Where a Unix socket's receiver has no room this looks again every millisecond.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and [`Error::is_timeout`]: nothing was sent.
    #[inline]
    pub fn send_to_by(
        &self,
        slices: &[IoSlice<'_>],
        to: &F::Address,
        deadline: Instant,
    ) -> Result<(), Error> {
        self.send_encoded(slices, to, Wait::Until(deadline))
    }

    /// Sends the slices as one datagram to who sent another one, as [`send_to`](Self::send_to) does. The address stays in
    /// the kernel's form.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to).
    #[inline]
    pub fn reply(&self, slices: &[IoSlice<'_>], to: &Sender<F>) -> Result<(), Error> {
        self.send_form(slices, to, &|| F::address(&to.address()), Wait::Ever)
    }

    /// The same if there is room, as [`send_to_now`](Self::send_to_now).
    ///
    /// # Errors
    /// As [`send_to_now`](Self::send_to_now).
    #[inline]
    pub fn reply_now(&self, slices: &[IoSlice<'_>], to: &Sender<F>) -> Result<(), Error> {
        self.send_form(slices, to, &|| F::address(&to.address()), Wait::Not)
    }

    /// The same, waiting for room until `deadline`, as [`send_to_by`](Self::send_to_by).
    ///
    /// # Errors
    /// As [`send_to_by`](Self::send_to_by).
    #[inline]
    pub fn reply_by(&self, slices: &[IoSlice<'_>], to: &Sender<F>, deadline: Instant) -> Result<(), Error> {
        self.send_form(slices, to, &|| F::address(&to.address()), Wait::Until(deadline))
    }

    #[inline(always)]
    fn send_encoded(&self, slices: &[IoSlice<'_>], to: &F::Address, wait: Wait) -> Result<(), Error> {
        let named = || F::address(to);
        match F::to_kernel(to) {
            Ok(form) => self.send_form(slices, &form, &named, wait),
            Err(errno) => Err(Error::os(Step::Send, errno).with(named())),
        }
    }

    /// To an address in the kernel's form, which errors name so.
    #[inline(always)]
    fn send_form(
        &self,
        slices: &[IoSlice<'_>],
        to: &impl SocketAddrArg,
        named: &dyn Fn() -> Address,
        wait: Wait,
    ) -> Result<(), Error> {
        if slices.len() > MOST_SLICES {
            // As if a signal had kept the first attempt from beginning.
            return with_fewer(slices, |few| self.send_ended(Errno::INTR, few, to, named, wait));
        }
        match self.attempt_to_send(slices, to, wait) {
            Ok(()) => Ok(()),
            Err(errno) => self.send_ended(errno, slices, to, named, wait),
        }
    }

    /// One system call: all that there is to it where there is room.
    #[inline(always)]
    fn attempt_to_send(
        &self,
        slices: &[IoSlice<'_>],
        to: &impl SocketAddrArg,
        wait: Wait,
    ) -> Result<(), Errno> {
        let flags = if let Wait::Ever = wait { NO_SIGNAL } else { NO_SIGNAL.union(SendFlags::DONTWAIT) };
        counts::enter();
        // A datagram goes whole.
        match slices {
            [slice] => sendto(&self.fd, slice, flags, to).map(drop),
            slices => {
                sendmsg_addr(&self.fd, to, slices, &mut SendAncillaryBuffer::default(), flags).map(drop)
            }
        }
    }

    /// What an attempt ended with decides whether there is another. The socket's mode belongs to all who have a duplicate
    /// of it, so that a call that waits goes on.
    #[cold]
    #[inline(never)]
    fn send_ended(
        &self,
        mut errno: Errno,
        slices: &[IoSlice<'_>],
        to: &impl SocketAddrArg,
        named: &dyn Fn() -> Address,
        wait: Wait,
    ) -> Result<(), Error> {
        let mut again = self.again();
        while again(errno) {
            match self.attempt_to_send(slices, to, wait) {
                Ok(()) => return Ok(()),
                Err(next) => errno = next,
            }
        }
        // As much as a socket is told that asked for no reports.
        if self.reporting && F::is_loss(errno) {
            return Ok(());
        }
        let errno = if F::is_full(errno) { Errno::AGAIN } else { errno };
        let error = Error::os(Step::Send, errno).of_slices(slices).with(named());
        let deadline = match wait {
            Wait::Not => return Err(error),
            Wait::Ever => None,
            Wait::Until(deadline) => Some(deadline),
        };
        let sent = send_after(error, self.as_fd(), deadline, || {
            self.send_ended(Errno::INTR, slices, to, named, Wait::Not)
        });
        sent.map_err(|error| error.or_with(named))
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

impl<F: DatagramFamily> Clone for Received<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: DatagramFamily> Copy for Received<F> {}

impl<F: DatagramFamily> PartialEq for Received<F> {
    fn eq(&self, other: &Self) -> bool {
        (self.octets, self.from()) == (other.octets, other.from())
    }
}

impl<F: DatagramFamily> Eq for Received<F> {}

impl<F: DatagramFamily> fmt::Debug for Received<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("octets", &self.octets).field("from", &self.from()).finish()
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
