//! What differs from one kind of datagram sockets to the next.

use std::fmt::Debug;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use crate::{Address, Error};

/// A kind of datagram sockets: [`Udp`](crate::Udp), [`UnixDatagram`](crate::UnixDatagram). Only ever named, as a
/// [`StreamFamily`](crate::StreamFamily) is.
pub trait DatagramFamily: Calls {}

/// The family's own part, for this crate.
#[doc(hidden)]
pub trait Calls: Sized + Send + Sync + 'static {
    /// Where to receive, and where to send to.
    type Address: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What a bound socket holds besides its descriptor, until it is dropped.
    type Held: Debug + Send + Sync + 'static;

    /// A socket for addresses of the same kind as this one, close-on-exec, blocking.
    fn open(like: &Self::Address) -> Result<OwnedFd, Errno>;

    /// Gives it its address.
    fn bind(fd: BorrowedFd<'_>, at: &Self::Address) -> Result<Self::Held, Error>;

    /// The socket's own address; `None` if it has none.
    fn local(fd: BorrowedFd<'_>) -> Result<Option<Self::Address>, Errno>;

    /// Who sent a datagram; `None` if that has no address.
    fn sender(from: Option<SocketAddrAny>) -> Result<Option<Self::Address>, Errno>;

    /// An address in the kernel's form.
    fn to_kernel(address: &Self::Address) -> Result<SocketAddrAny, Errno>;

    /// An address as errors name it.
    fn address(address: &Self::Address) -> Address;
}

impl<F: Calls> DatagramFamily for F {}
