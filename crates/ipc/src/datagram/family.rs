//! What differs from one kind of datagram sockets to the next.

use std::fmt::{Debug, Display};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::SocketAddrAny;
use rustix::net::addr::SocketAddrLen;

use crate::error::Reported;
use crate::{Address, Error};

/// A kind of datagram sockets: [`Udp`](crate::Udp), [`UnixDatagram`](crate::UnixDatagram). Only ever named, as a
/// [`StreamFamily`](crate::StreamFamily) is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a family of datagrams",
    label = "not a family of datagrams",
    note = "the families of datagrams are `Udp` and `UnixDatagram`"
)]
pub trait DatagramFamily: Calls {}

/// The family's own part, for this crate.
#[doc(hidden)]
pub trait Calls: Sized + Send + Sync + 'static {
    /// Where to receive, and where to send to.
    type Address: Clone + Debug + Display + PartialEq + Send + Sync + 'static;
    /// Octets that any address of a sender fits in, in the kernel's form: an array of them.
    type Form: Copy + Send + Sync + 'static;
    /// What a bound socket holds besides its descriptor, until it is dropped.
    type Held: Debug + Send + Sync + 'static;

    /// A socket for addresses of the same kind as this one, close-on-exec, blocking.
    fn open(like: &Self::Address) -> Result<OwnedFd, Errno>;

    /// Gives it its address.
    fn bind(fd: BorrowedFd<'_>, at: &Self::Address) -> Result<Self::Held, Error>;

    /// The socket's own address; `None` if it has none.
    fn local(fd: BorrowedFd<'_>) -> Result<Option<Self::Address>, Errno>;

    /// Whether the kernel's form of a sender's address has such a length.
    fn is_sender(length: SocketAddrLen) -> bool;

    /// A sender's address, of the kernel's form of one, which has a length that [`is_sender`](Self::is_sender) admits.
    fn address_of(form: &[u8]) -> Self::Address;

    /// An address in the kernel's form.
    fn to_kernel(address: &Self::Address) -> Result<SocketAddrAny, Errno>;

    /// An address as errors name it.
    fn address(address: &Self::Address) -> Address;

    /// Leaves what a socket holds to whoever takes over its descriptor.
    fn give_up(_: Self::Held) {}

    /// Asks the system to report what comes back of datagrams instead of answers, or no longer, where the family has that.
    fn ask_for_reports(_: BorrowedFd<'_>, _yes: bool) -> Result<(), Errno> {
        Ok(())
    }

    /// Takes the next report, without waiting.
    fn next_report(_: BorrowedFd<'_>) -> Result<Option<Report<Self::Address>>, Errno> {
        Ok(None)
    }

    /// Whether sending fails with this where the receiver has no room, as else with `EAGAIN`.
    fn is_full(_: Errno) -> bool {
        false
    }

    /// Whether sending fails with this where a socket that asked for no reports is told nothing.
    fn is_loss(_: Errno) -> bool {
        false
    }
}

/// What came back of a datagram.
#[derive(Debug)]
pub struct Report<A> {
    /// Where it was sent to.
    pub to: Option<A>,
    /// What became of it.
    pub what: Reported,
}

#[diagnostic::do_not_recommend]
impl<F: Calls> DatagramFamily for F {}
