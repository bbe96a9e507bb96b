//! A TCP port that is kept and never listened on.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{bind, getsockname, sockopt};

use crate::portable::socket;
use crate::tcp::socket_family;
use crate::{Address, Error, Step};

/// A TCP port that no other socket of this machine can have while this value lives, and that refuses every connection: for who
/// has to name an address of his own that nobody reaches, such as one that peers know him by.
///
/// ```
/// use zorb_ipc::{ReservedPort, TcpConnector};
///
/// let reserved = ReservedPort::bind("127.0.0.1:0".parse().unwrap())?;
/// let soon = std::time::Instant::now() + std::time::Duration::from_secs(1);
/// assert!(TcpConnector::new().connect(reserved.address(), soon).is_err());
/// # Ok::<(), zorb_ipc::Error>(())
/// ```
#[derive(Debug)]
pub struct ReservedPort {
    _socket: OwnedFd,
    address: SocketAddr,
}

impl ReservedPort {
    /// Keeps the port of `address`, or one that the system picks for port 0. A wildcard keeps it on all of the machine's addresses, `[::]` with
    /// those of IPv4.
    ///
    /// # Errors
    /// At [`Step::Bind`]: somebody has it, or this process may not.
    pub fn bind(address: SocketAddr) -> Result<ReservedPort, Error> {
        let at = |step| move |errno| Error::os(step, errno).with(Address::Tcp(address));
        let family = socket_family(&address);
        let kept = socket(family, rustix::net::SocketType::STREAM, Some(rustix::net::ipproto::TCP))
            .map_err(at(Step::Open))?;
        // Without SO_REUSEADDR, by which two sockets that do not listen may have the same port.
        if address.is_ipv6() {
            sockopt::set_ipv6_v6only(kept.as_fd(), false).map_err(at(Step::Configure))?;
        }
        bind(&kept, &address).map_err(at(Step::Bind))?;
        let address = getsockname(&kept).and_then(SocketAddr::try_from).map_err(at(Step::Inspect))?;
        Ok(ReservedPort { _socket: kept, address })
    }

    /// The address, with the port in force. A wildcard stays a wildcard; see [`reachable_address`](crate::reachable_address).
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{AcceptorOptions, TcpAcceptor, TcpConnector};

    #[test]
    fn nobody_else_has_it_and_nobody_reaches_it() {
        let reserved = ReservedPort::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = reserved.address();
        assert_ne!(address.port(), 0);
        let taken = ReservedPort::bind(address).unwrap_err();
        assert!(taken.is_address_in_use(), "{taken}");
        let taken = TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap_err();
        assert!(taken.is_address_in_use(), "{taken}");
        let refused = TcpConnector::new().connect(address, Instant::now() + Duration::from_secs(10));
        assert!(refused.is_err());
        drop(reserved);
        TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap();
    }
}
