//! How much the kernel holds for a socket.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, ipproto, sockopt};

use super::{Give, Read, Socket, SocketFact, SocketOption, failed};
use crate::portable::socket;
use crate::{Error, Step, counts};

/// How many octets the kernel may hold that were sent from this side and have not yet left, or are not yet
/// acknowledged (`SO_SNDBUF`, socket(7)). Unset, the kernel adapts it to the traffic, which is right for
/// nearly everyone.
///
/// Linux adds as much again for its own bookkeeping, of which this type does not speak: what was set is what
/// is read. It also clips the figure between a KiB or two and `net.core.wmem_max`; setting it says what was
/// granted.
///
/// Of all sockets; streams of an acceptor are born with its own, but for Unix sockets' (on Linux), which [are given
/// them](crate::AcceptorOptions::queue_sizes). (A vsock stream has queues besides that this
/// does not reach.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SendQueue(pub usize);

/// How many octets the kernel may hold that have been received and not yet taken (`SO_RCVBUF`, socket(7));
/// otherwise as [`SendQueue`], with `net.core.rmem_max`. TCP announces its size in the handshake, so a
/// stream's beyond 64 KiB may not be used to the full: better set it on the acceptor or [the
/// connector](crate::Connector::queue_sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiveQueue(pub usize);

impl<H: Socket> SocketFact<H> for SendQueue {}
impl<H: Socket> SocketOption<H> for SendQueue {}
impl<H: Socket> SocketFact<H> for ReceiveQueue {}
impl<H: Socket> SocketOption<H> for ReceiveQueue {}

impl ReceiveQueue {
    /// What of it the kernel grants a new TCP socket.
    ///
    /// # Errors
    /// At [`Step::Open`], such as [`Error::is_descriptors_exhausted`]: a socket is made to be asked. At [`Step::Configure`].
    pub fn of_new_sockets(self) -> Result<ReceiveQueue, Error> {
        self.give(new_socket()?.as_fd())
    }
}

/// A TCP socket, to be asked what its kind has.
pub(super) fn new_socket() -> Result<OwnedFd, Error> {
    counts::enter();
    let open = |family| socket(family, SocketType::STREAM, Some(ipproto::TCP));
    let socket = open(AddressFamily::INET).or_else(|_| open(AddressFamily::INET6));
    socket.map_err(|errno| Error::os(Step::Open, errno))
}

impl Read for SendQueue {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        let octets = sockopt::socket_send_buffer_size(fd).map_err(failed)?;
        Ok(SendQueue(without_bookkeeping(octets)))
    }
}

impl Give for SendQueue {
    type Granted = SendQueue;

    fn give(self, fd: BorrowedFd<'_>) -> Result<SendQueue, Error> {
        set_send(fd, self.0)?;
        Self::read(fd)
    }
}

impl Read for ReceiveQueue {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        let octets = sockopt::socket_recv_buffer_size(fd).map_err(failed)?;
        Ok(ReceiveQueue(without_bookkeeping(octets)))
    }
}

impl Give for ReceiveQueue {
    type Granted = ReceiveQueue;

    fn give(self, fd: BorrowedFd<'_>) -> Result<ReceiveQueue, Error> {
        set_receive(fd, self.0)?;
        Self::read(fd)
    }
}

pub(crate) fn set_send(fd: BorrowedFd<'_>, octets: usize) -> Result<(), Error> {
    counts::enter();
    sockopt::set_socket_send_buffer_size(fd, octets).map_err(refused)
}

pub(crate) fn set_receive(fd: BorrowedFd<'_>, octets: usize) -> Result<(), Error> {
    counts::enter();
    sockopt::set_socket_recv_buffer_size(fd, octets).map_err(refused)
}

fn without_bookkeeping(octets: usize) -> usize {
    if cfg!(target_os = "linux") { octets / 2 } else { octets }
}

/// The kernel counts in a C `int`, which is the only thing it finds wrong with a number.
fn refused(errno: Errno) -> Error {
    match errno {
        Errno::INVAL => Error::out_of_range("a queue has at most 2,147,483,647 octets"),
        errno => failed(errno),
    }
}
