//! What differs from one kind of stream sockets to the next: its addresses, and what is done between making a socket
//! and using it. Everything else is written once, in the other files of this folder.
//!
//! A new family is a type with these functions; it then has an acceptor, a connector and a stream, and joins the
//! conformance suite by one line.

use std::fmt::Debug;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use crate::{Address, Error};

/// A kind of stream sockets: [`Tcp`](crate::Tcp), [`Unix`](crate::Unix) and, on Linux, `Vsock`.
///
/// It is only ever named, in `Stream<Tcp>` or in a function that is generic over it; there are no values to be had.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a family of streams",
    label = "not a family of streams",
    note = "the families of streams are `Tcp`, `Unix` and `Vsock`"
)]
pub trait StreamFamily: Calls {}

/// How a connection stands that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It is there.
    Connected,
    /// The socket becomes ready to send when it is decided.
    Pending,
    /// The peer's queue is full and nothing tells when it no longer is: to be begun again.
    Full,
}

/// The family's own part, for this crate.
#[doc(hidden)]
pub trait Calls: Sized + Send + Sync + 'static {
    /// Where to listen, and where to connect to.
    type Address: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What is known of a connection's other end.
    type Peer: Clone + Debug + Send + Sync + 'static;
    /// The options that only this family's acceptors have.
    type Listening: Clone + Debug + Default + Send + Sync + 'static;
    /// The options that only this family's connectors have.
    type Connecting: Clone + Debug + Default + Send + Sync + 'static;
    /// What a listening socket holds besides its descriptor, until it is dropped: before that, so that nobody takes what
    /// it holds for abandoned.
    type Held: Debug + Send + Sync + 'static;

    /// Whether accepted sockets have the queues of the one that listened. Those of Unix sockets have the kernel's.
    const QUEUES_ARE_INHERITED: bool = true;

    /// A socket, close-on-exec, not blocking until it is connected or for good.
    fn open(address: &Self::Address) -> Result<OwnedFd, Errno>;

    /// Gives the options, the family's own, to a socket that is going to listen. Errors name an address only if it is not
    /// the one asked for.
    fn prepare_listening(fd: BorrowedFd<'_>, at: &Self::Address, own: &Self::Listening) -> Result<(), Error>;

    /// Gives it its address.
    fn bind(fd: BorrowedFd<'_>, at: &Self::Address, own: &Self::Listening) -> Result<Self::Held, Error>;

    /// Is told that the socket listens by now.
    fn listens(_: &mut Self::Held) {}

    /// Leaves all that to whoever takes over the descriptor.
    fn give_up(_: Self::Held) {}

    /// Gives the options to a socket that is going to connect.
    fn prepare_connecting(fd: BorrowedFd<'_>, own: &Self::Connecting) -> Result<(), Error>;

    /// Begins a connection.
    fn begin(fd: BorrowedFd<'_>, to: &Self::Address) -> Result<Begun, Errno>;

    /// What the kernel says where a connection failed, in the words that TCP has for it.
    fn refusal(errno: Errno) -> Errno {
        errno
    }

    /// The socket's own address.
    fn local(fd: BorrowedFd<'_>) -> Result<Option<Self::Address>, Errno>;

    /// Whether a socket that was to connect there is its own peer.
    fn is_connected_to_itself(_: BorrowedFd<'_>, _: &Self::Address) -> Result<bool, Errno> {
        Ok(false)
    }

    /// The other end of a connection that was made to that address.
    fn connected(to: &Self::Address) -> Self::Peer;

    /// The other end of a connection that was accepted. `None`: it is gone again.
    fn accepted(from: Option<SocketAddrAny>) -> Result<Option<Self::Peer>, Errno>;

    /// An address as errors name it.
    fn address(address: &Self::Address) -> Address;

    /// The other end as errors name it, where it has a name.
    fn peer(peer: &Self::Peer) -> Option<Address>;
}

#[diagnostic::do_not_recommend]
impl<F: Calls> StreamFamily for F {}
