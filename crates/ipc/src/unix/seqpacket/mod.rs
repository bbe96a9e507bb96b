//! Sequenced packets: connections within a machine that carry messages, each of which stays whole (unix(7),
//! `SOCK_SEQPACKET`).
//!
//! They are listened for, connected and accepted as Unix streams are, and by the same code: [`Messages`] is a
//! family as [`Unix`](super::Unix) is, known to nobody outside, as a [`Stream`](crate::Stream) of it would
//! cut messages.

mod connection;
mod ends;
mod passing;

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketType};

use super::file::ListeningFile;
use super::stream::{Connecting, Listening, Unix, bind_listening, open};
use crate::adopt::{Adoptable, AdoptableAcceptor};
use crate::kind::SocketKind;
use crate::stream::{Begun, Calls};
use crate::{Address, Error, UnixAddress};

pub use connection::Seqpacket;
pub use ends::{SeqpacketAcceptor, SeqpacketAcceptorOptions, SeqpacketConnector};

/// As [`Unix`], of the other type of sockets.
#[derive(Debug)]
enum Messages {}

impl Calls for Messages {
    type Address = UnixAddress;
    type Peer = Option<UnixAddress>;
    type Listening = Listening;
    type Connecting = Connecting;
    type Held = Option<ListeningFile>;

    const QUEUES_ARE_INHERITED: bool = false;

    fn open(_: &UnixAddress) -> Result<OwnedFd, Errno> {
        open(SocketType::SEQPACKET)
    }

    fn prepare_listening(fd: BorrowedFd<'_>, at: &UnixAddress, own: &Listening) -> Result<(), Error> {
        Unix::prepare_listening(fd, at, own)
    }

    fn bind(fd: BorrowedFd<'_>, at: &UnixAddress, own: &Listening) -> Result<Option<ListeningFile>, Error> {
        bind_listening(fd, SocketType::SEQPACKET, at, own)
    }

    fn listens(held: &mut Option<ListeningFile>) {
        Unix::listens(held);
    }

    fn give_up(held: Option<ListeningFile>) {
        Unix::give_up(held);
    }

    fn prepare_connecting(fd: BorrowedFd<'_>, own: &Connecting) -> Result<(), Error> {
        Unix::prepare_connecting(fd, own)
    }

    fn begin(fd: BorrowedFd<'_>, to: &UnixAddress) -> Result<Begun, Errno> {
        Unix::begin(fd, to)
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<UnixAddress>, Errno> {
        Unix::local(fd)
    }

    fn connected(to: &UnixAddress) -> Option<UnixAddress> {
        Unix::connected(to)
    }

    fn accepted(from: Option<SocketAddrAny>) -> Result<Option<Option<UnixAddress>>, Errno> {
        Unix::accepted(from)
    }

    fn address(address: &UnixAddress) -> Address {
        Unix::address(address)
    }

    fn peer(peer: &Option<UnixAddress>) -> Option<Address> {
        Unix::peer(peer)
    }
}

impl Adoptable for Messages {
    const KIND: SocketKind = SocketKind::UNIX_SEQPACKET;
}

impl AdoptableAcceptor for Messages {
    fn made_elsewhere(_: BorrowedFd<'_>) -> Result<(Listening, Option<ListeningFile>), Errno> {
        Ok((Listening::default(), None))
    }
}
