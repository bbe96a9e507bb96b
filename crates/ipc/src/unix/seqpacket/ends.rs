//! Who listens for connections that carry messages, and who makes them.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;

use super::{Messages, Seqpacket};
use crate::stream::{Acceptor, AcceptorOptions, Completion, Connector};
use crate::{Address, Error, QueueSizes, Refused, Step, UnixAddress};

/// A listening socket whose connections carry messages. Its file, if it has one, is removed when this is
/// dropped.
pub struct SeqpacketAcceptor(Acceptor<Messages>);

/// How a [`SeqpacketAcceptor`] listens.
#[derive(Clone, Debug, Default)]
pub struct SeqpacketAcceptorOptions(AcceptorOptions<Messages>);

/// How to make connections that carry messages. Holds no descriptor.
#[derive(Clone, Debug, Default)]
pub struct SeqpacketConnector(Connector<Messages>);

impl SeqpacketAcceptorOptions {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many connected peers may wait to be accepted; the system caps it at `net.core.somaxconn`. Default:
    /// 4096.
    pub fn backlog(self, peers: u32) -> Self {
        Self(self.0.backlog(peers))
    }

    /// The kernel's buffers for each accepted connection, of which the one to send with bounds a message's
    /// length. Default: the kernel's choice.
    pub fn queue_sizes(self, sizes: QueueSizes) -> Self {
        Self(self.0.queue_sizes(sizes))
    }

    /// Whether the file of a socket that nobody listens on any more is replaced; see
    /// [`AcceptorOptions::replace_abandoned`]. Default: no.
    pub fn replace_abandoned(mut self, yes: bool) -> Self {
        self.0.own.replace_abandoned = yes;
        self
    }

    /// Who may connect, as permissions of the socket's file: to write is to connect (unix(7)). In force
    /// before anybody can. Default: what the process's mask leaves of `0o777`.
    pub fn mode(mut self, mode: u32) -> Self {
        self.0.own.mode = Some(mode);
        self
    }
}

impl SeqpacketAcceptor {
    /// Listens on `address`.
    ///
    /// # Errors
    /// As [`Acceptor::bind`].
    pub fn bind(address: UnixAddress, options: &SeqpacketAcceptorOptions) -> Result<Self, Error> {
        Acceptor::bind(address, &options.0).map(Self)
    }

    /// Takes over a descriptor that came from elsewhere, as [`Acceptor::adopt`].
    ///
    /// # Errors
    /// As there.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Acceptor::adopt(fd).map(Self)
    }

    /// Where it listens.
    pub fn local(&self) -> &UnixAddress {
        self.0.local()
    }

    /// Takes the next peer, and waits for one as long as it takes.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept(&self) -> Result<Seqpacket, Error> {
        self.0.accept().map(Seqpacket::new)
    }

    /// Takes the next peer, and waits for one until `deadline`.
    ///
    /// # Errors
    /// As [`Acceptor::accept_by`].
    pub fn accept_by(&self, deadline: Instant) -> Result<Seqpacket, Error> {
        self.0.accept_by(deadline).map(Seqpacket::new)
    }

    /// Takes the next peer if one is waiting.
    ///
    /// # Errors
    /// As [`Acceptor::accept_now`].
    pub fn accept_now(&self) -> Result<Seqpacket, Error> {
        self.0.accept_now().map(Seqpacket::new)
    }
}

impl SeqpacketConnector {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self::default()
    }

    /// The kernel's buffers, of which the one to send with bounds a message's length. Default: the kernel's
    /// choice.
    pub fn queue_sizes(self, sizes: QueueSizes) -> Self {
        Self(self.0.queue_sizes(sizes))
    }

    /// Connects to `address` by `deadline`.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub fn connect(&self, address: UnixAddress, deadline: Instant) -> Result<Seqpacket, Error> {
        self.0.connect(address, deadline).map(Seqpacket::new)
    }

    /// Connects to `address` if its acceptor's queue has room.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and [`Error::is_would_block`] if it has none: try again later, as
    /// nothing tells when.
    pub fn connect_now(&self, address: UnixAddress) -> Result<Seqpacket, Error> {
        let full = || Error::os(Step::Connect, Errno::AGAIN).with(Address::Unix(address.clone()));
        match self.0.begin(address.clone())?.complete_now()? {
            Completion::Connected(stream) => Ok(Seqpacket::new(stream)),
            Completion::Pending(_) => Err(full()),
        }
    }
}

impl fmt::Debug for SeqpacketAcceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SeqpacketAcceptor").field(&self.0).finish()
    }
}

/// It goes on listening, for whoever takes it over, and does not block. Its file stays.
impl From<SeqpacketAcceptor> for OwnedFd {
    fn from(acceptor: SeqpacketAcceptor) -> Self {
        acceptor.0.into()
    }
}

impl AsFd for SeqpacketAcceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
