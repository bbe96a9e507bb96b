//! Vsock streams: between a virtual machine and its host (vsock(7)).

#![allow(
    unsafe_code,
    reason = "rustix has no type for these addresses, so they are given and taken as memory"
)]

use std::os::fd::{BorrowedFd, OwnedFd};

use libc::sockaddr_vm;
use rustix::io::Errno;
use rustix::net::addr::SocketAddrLen;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, bind, connect, getsockname, socket_with,
};

use crate::stream::{Acceptor, Begun, Calls, Connector, Stream};
use crate::{Address, Error, Step, VsockAddress};

/// The family of vsock's stream sockets; see [`StreamFamily`](crate::StreamFamily).
///
/// A connection that nobody answers is given up by the kernel after two seconds, however late the deadline
/// ([`Error::is_timeout`]).
#[derive(Debug)]
pub enum Vsock {}

/// A listening vsock socket.
pub type VsockAcceptor = Acceptor<Vsock>;
/// How to make connections to virtual machines and their host.
pub type VsockConnector = Connector<Vsock>;
/// A connection between a virtual machine and its host, or within either.
pub type VsockStream = Stream<Vsock>;

/// Nothing is told to vsock acceptors alone.
#[derive(Clone, Debug, Default)]
pub struct Listening;

/// Nothing is told to vsock connectors alone.
#[derive(Clone, Debug, Default)]
pub struct Connecting;

/// How many octets an address of this family has.
const LENGTH: SocketAddrLen = size_of::<sockaddr_vm>() as SocketAddrLen;

fn to_kernel(address: &VsockAddress) -> SocketAddrAny {
    // SAFETY: it consists of integers.
    let mut kernel: sockaddr_vm = unsafe { std::mem::zeroed() };
    kernel.svm_family = AddressFamily::VSOCK.as_raw();
    kernel.svm_cid = address.context;
    kernel.svm_port = address.port;
    // SAFETY: so many octets are there, all of them with a value, and they begin with their family.
    unsafe { SocketAddrAny::read((&raw const kernel).cast(), LENGTH) }
}

fn of_kernel(address: &SocketAddrAny) -> Result<VsockAddress, Errno> {
    if address.address_family() != AddressFamily::VSOCK || address.addr_len() < LENGTH {
        return Err(Errno::AFNOSUPPORT);
    }
    // SAFETY: so many octets are there, all of them with a value, and any value is one of an integer.
    let kernel = unsafe { address.as_ptr().cast::<sockaddr_vm>().read_unaligned() };
    Ok(VsockAddress { context: kernel.svm_cid, port: kernel.svm_port })
}

impl Calls for Vsock {
    type Address = VsockAddress;
    type Peer = VsockAddress;
    type Listening = Listening;
    type Connecting = Connecting;
    type Held = ();

    fn open(_: &VsockAddress) -> Result<OwnedFd, Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::VSOCK, SocketType::STREAM, flags, None)
    }

    fn prepare_listening(_: BorrowedFd<'_>, _: &VsockAddress, _: &Listening) -> Result<(), Error> {
        Ok(())
    }

    fn bind(fd: BorrowedFd<'_>, at: &VsockAddress, _: &Listening) -> Result<(), Error> {
        bind(fd, &to_kernel(at)).map_err(|errno| Error::os(Step::Bind, errno))
    }

    fn prepare_connecting(_: BorrowedFd<'_>, _: &Connecting) -> Result<(), Error> {
        Ok(())
    }

    fn begin(fd: BorrowedFd<'_>, to: &VsockAddress) -> Result<Begun, Errno> {
        match connect(fd, &to_kernel(to)) {
            Ok(()) => Ok(Begun::Connected),
            Err(Errno::INPROGRESS | Errno::INTR) => Ok(Begun::Pending),
            Err(errno) => Err(errno),
        }
    }

    /// Where nobody listens the other machine resets; where there is no such machine the kernel finds no
    /// device, or none that goes there.
    fn refusal(errno: Errno) -> Errno {
        match errno {
            Errno::CONNRESET => Errno::CONNREFUSED,
            Errno::NODEV | Errno::SOCKTNOSUPPORT => Errno::NETUNREACH,
            errno => errno,
        }
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<VsockAddress>, Errno> {
        getsockname(fd).and_then(|address| of_kernel(&address)).map(Some)
    }

    fn connected(to: &VsockAddress) -> VsockAddress {
        *to
    }

    fn accepted(from: Option<SocketAddrAny>) -> Result<Option<VsockAddress>, Errno> {
        from.map(|from| of_kernel(&from)).transpose()
    }

    fn address(address: &VsockAddress) -> Address {
        Address::Vsock(*address)
    }

    fn peer(peer: &VsockAddress) -> Option<Address> {
        Some(Address::Vsock(*peer))
    }
}

impl Stream<Vsock> {
    /// The peer's address. No system call.
    pub fn peer_address(&self) -> VsockAddress {
        *self.peer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_form_is_the_same_address() {
        for text in ["any:4294967295", "local:0", "3:2809"] {
            let address: VsockAddress = text.parse().unwrap();
            assert_eq!(of_kernel(&to_kernel(&address)), Ok(address));
        }
        let other = SocketAddrAny::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
        assert_eq!(of_kernel(&other), Err(Errno::AFNOSUPPORT));
    }
}
