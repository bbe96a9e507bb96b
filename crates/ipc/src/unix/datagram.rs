//! Unix datagram sockets: messages within a machine, none of which is lost or overtakes another.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketType};

use super::file::{SocketFile, bind_file};
use crate::datagram::{Calls, ConnectedDatagramSocket, DatagramSocket};
use crate::portable::waiting_socket;
use crate::{Address, Error, UnixAddress};

/// The family of Unix datagram sockets; see [`DatagramFamily`](crate::DatagramFamily).
#[derive(Debug)]
pub enum UnixDatagram {}

/// A Unix datagram socket that sends to anybody. Its file, if it has one, is removed when this is dropped.
pub type UnixDatagramSocket = DatagramSocket<UnixDatagram>;
/// A Unix datagram socket that sends to one peer.
pub type ConnectedUnixDatagramSocket = ConnectedDatagramSocket<UnixDatagram>;

impl Calls for UnixDatagram {
    type Address = UnixAddress;
    type Held = Option<SocketFile>;

    fn open(_: &UnixAddress) -> Result<OwnedFd, Errno> {
        waiting_socket(AddressFamily::UNIX, SocketType::DGRAM, None)
    }

    fn bind(fd: BorrowedFd<'_>, at: &UnixAddress) -> Result<Option<SocketFile>, Error> {
        bind_file(fd, at, || Ok(false))
    }

    fn give_up(held: Option<SocketFile>) {
        if let Some(file) = held {
            file.keep();
        }
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<UnixAddress>, Errno> {
        let local = rustix::net::getsockname(fd).and_then(SocketAddrUnix::try_from)?;
        Ok(UnixAddress::of_kernel(&local))
    }

    fn sender(from: Option<SocketAddrAny>) -> Result<Option<UnixAddress>, Errno> {
        // Without a name there is no address at all, or an empty one.
        let named = from.map(SocketAddrUnix::try_from).transpose()?;
        Ok(named.and_then(|address| UnixAddress::of_kernel(&address)))
    }

    fn to_kernel(address: &UnixAddress) -> Result<SocketAddrAny, Errno> {
        address.to_kernel().map(Into::into)
    }

    /// The BSDs have no room in the receiver's queue; Linux has none in its own memory.
    #[cfg(not(target_os = "linux"))]
    fn is_full(errno: Errno) -> bool {
        errno == Errno::NOBUFS
    }

    fn address(address: &UnixAddress) -> Address {
        Address::Unix(address.clone())
    }
}
