//! Datagrams to and from anybody.

use super::{ConnectedDatagramSocket, DatagramFamily, received};
use crate::ready::ready_by;
use crate::stream::QueueSizes;
use crate::{Error, Step, counts};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, recvmsg, sendmsg_addr,
};
use std::fmt;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// A socket that has an address, and sends to any other: each datagram says where to.
///
/// A datagram arrives whole or not at all. All calls take `&self`; any number of threads may send and receive at once.
pub struct DatagramSocket<F: DatagramFamily> {
    fd: OwnedFd,
    local: Option<F::Address>,
    held: Option<F::Held>,
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
        Ok(Self { fd, local: Some(local.unwrap_or(address)), held: Some(held) })
    }

    /// `fd` is a socket without a peer, in blocking mode.
    pub(crate) fn of(fd: OwnedFd, local: Option<F::Address>) -> Self {
        Self { fd, local, held: None }
    }

    /// Where it receives, with what the system chose.
    pub fn local(&self) -> Option<&F::Address> {
        self.local.as_ref()
    }

    /// From here on to and from `peer` only: what others send is no longer received, and what cannot be delivered is
    /// reported. What had come before from others is still received.
    ///
    /// # Errors
    /// At [`Step::Connect`], naming the address.
    pub fn connect(self, peer: F::Address) -> Result<ConnectedDatagramSocket<F>, Error> {
        ConnectedDatagramSocket::of(self.fd, self.held, peer)
    }

    // ---- receiving ----

    /// Receives the next datagram, and waits for it as long as it takes. An empty datagram is one of 0 octets.
    ///
    /// # Errors
    /// At [`Step::Receive`]; [`Error::is_truncated`] if it is longer than `into`: its beginning is there, the rest is lost.
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Received<F::Address>, Error> {
        self.receive(into, RecvFlags::empty())
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_would_block`].
    pub fn receive_from_now(&self, into: &mut [u8]) -> Result<Received<F::Address>, Error> {
        self.receive(into, RecvFlags::DONTWAIT)
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), and [`Error::is_timeout`].
    pub fn receive_from_by(&self, into: &mut [u8], deadline: Instant) -> Result<Received<F::Address>, Error> {
        loop {
            match self.receive_from_now(into) {
                Err(error) if error.is_would_block() => {}
                done => return done,
            }
            match ready_by(self.as_fd(), PollFlags::IN, Some(deadline)) {
                Ok(true) => {}
                Ok(false) => return Err(Error::out_of_time(Step::Receive)),
                Err(errno) => return Err(Error::os(Step::Receive, errno)),
            }
        }
    }

    fn receive(&self, into: &mut [u8], flags: RecvFlags) -> Result<Received<F::Address>, Error> {
        let room = into.len();
        let message = loop {
            counts::enter();
            let mut slices = [IoSliceMut::new(into)];
            // The kernel then tells a datagram's whole length.
            let flags = flags | RecvFlags::TRUNC;
            match recvmsg(&self.fd, &mut slices, &mut RecvAncillaryBuffer::default(), flags) {
                Err(Errno::INTR) => {}
                Ok(message) => break message,
                Err(errno) => return Err(Error::os(Step::Receive, errno)),
            }
        };
        let octets = received(message.bytes, room)?;
        let from = F::sender(message.address).map_err(|errno| Error::os(Step::Receive, errno))?;
        Ok(Received { octets, from })
    }

    // ---- sending ----

    /// Sends the slices as one datagram, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`], naming the address: [`Error::is_too_large`], [`Error::is_unreachable`],
    /// [`Error::is_permission_denied`] for a broadcast address, which takes a socket made for it.
    pub fn send_to(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send(slices, to, SendFlags::NOSIGNAL)
    }

    /// Sends the slices as one datagram if there is room.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and [`Error::is_would_block`].
    pub fn send_to_now(&self, slices: &[IoSlice<'_>], to: &F::Address) -> Result<(), Error> {
        self.send(slices, to, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }

    fn send(&self, slices: &[IoSlice<'_>], to: &F::Address, flags: SendFlags) -> Result<(), Error> {
        let failed = |errno| Error::os(Step::Send, errno).with(F::address(to));
        let address: SocketAddrAny = F::to_kernel(to).map_err(failed)?;
        loop {
            counts::enter();
            match sendmsg_addr(&self.fd, &address, slices, &mut SendAncillaryBuffer::default(), flags) {
                Err(Errno::INTR) => {}
                // A datagram goes whole.
                Ok(_) => return Ok(()),
                Err(errno) => return Err(failed(errno)),
            }
        }
    }
}

impl<F: DatagramFamily> fmt::Debug for DatagramSocket<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatagramSocket").field("fd", &self.fd).field("local", &self.local).finish()
    }
}

impl<F: DatagramFamily> AsFd for DatagramSocket<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
