//! TCP: a listener, a way to connect, and a connection are three types.

mod acceptor;
mod connector;
mod stream;

pub use acceptor::{AcceptorOptions, TcpAcceptor};
pub use connector::TcpConnector;
pub use stream::{Idle, TcpStream};

use crate::{Error, Step};
use rustix::net::sockopt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};

/// How many octets the kernel may hold for a connection in each direction; `None` leaves it to the kernel,
/// which adapts the size to the traffic and is right for nearly everyone.
///
/// Linux doubles the figure for its own bookkeeping, caps it by `net.core.wmem_max` and `rmem_max`, and stops
/// adapting once it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSizes {
    /// Octets accepted from this side and not yet acknowledged by the peer.
    pub send: Option<usize>,
    /// Octets received and not yet taken.
    pub receive: Option<usize>,
}

impl QueueSizes {
    fn apply(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        if let Some(octets) = self.send {
            sockopt::set_socket_send_buffer_size(fd, octets).map_err(|e| Error::os(Step::Configure, e))?;
        }
        if let Some(octets) = self.receive {
            sockopt::set_socket_recv_buffer_size(fd, octets).map_err(|e| Error::os(Step::Configure, e))?;
        }
        Ok(())
    }
}

/// A socket of the family of `address`, close-on-exec, not blocking until it is connected or for good.
fn open(address: SocketAddr) -> Result<OwnedFd, Error> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with};
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
        .map_err(|e| Error::os(Step::Open, e).with_address(address))
}

/// An IPv4 address that a dual-stack socket shows as `::ffff:a.b.c.d`, as what it is: equal peers compare
/// equal whichever socket met them.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
        IpAddr::V6(_) => address,
    }
}

fn local_address(fd: BorrowedFd<'_>) -> Result<SocketAddr, Error> {
    rustix::net::getsockname(fd).and_then(SocketAddr::try_from).map_err(|e| Error::os(Step::Configure, e))
}
