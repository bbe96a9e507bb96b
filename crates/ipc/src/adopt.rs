//! Sockets that came from elsewhere: received from another process, inherited, or made by other means. Each
//! is looked at before it becomes a handle: its family, its kind, whether it listens, whether it is
//! connected.
//!
//! A socket's mode (blocking or not) belongs to all who have a duplicate of it; it is set to what the handle
//! has, so whoever keeps one sees that. Other options stay as they are.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{getpeername, sockopt};

use crate::kind::{SocketKind, Standing, adopted, failed, prepare, unlike};
use crate::{
    Acceptor, ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Error, Refused, Sender, Stream,
    StreamFamily, Tcp, Udp, Unix, UnixDatagram, Vsock, tcp,
};

/// A family whose sockets can be adopted.
#[doc(hidden)]
pub trait Adoptable {
    /// What they are to the kernel.
    const KIND: SocketKind;
}

/// A family whose listening sockets can be adopted.
#[doc(hidden)]
pub trait AdoptableAcceptor: Adoptable + StreamFamily {
    /// What such a socket was told when it was made, and what it holds: nothing, as its file is for those to
    /// remove who made it.
    fn made_elsewhere(fd: BorrowedFd<'_>) -> Result<(Self::Listening, Self::Held), Errno>;
}

impl Adoptable for Tcp {
    const KIND: SocketKind = SocketKind::TCP;
}

impl AdoptableAcceptor for Tcp {
    fn made_elsewhere(fd: BorrowedFd<'_>) -> Result<(Self::Listening, ()), Errno> {
        // IPv4 sockets do not know the option.
        let v6_only = sockopt::ipv6_v6only(fd).unwrap_or(false);
        Ok((tcp::Listening::made_elsewhere(v6_only), ()))
    }
}

impl Adoptable for Unix {
    const KIND: SocketKind = SocketKind::UNIX_STREAM;
}

impl AdoptableAcceptor for Unix {
    fn made_elsewhere(_: BorrowedFd<'_>) -> Result<(Self::Listening, Self::Held), Errno> {
        Ok((Self::Listening::default(), None))
    }
}

impl Adoptable for Vsock {
    const KIND: SocketKind = SocketKind::VSOCK;
}

impl AdoptableAcceptor for Vsock {
    fn made_elsewhere(_: BorrowedFd<'_>) -> Result<(Self::Listening, Self::Held), Errno> {
        Ok(Default::default())
    }
}

impl Adoptable for Udp {
    const KIND: SocketKind = SocketKind::UDP;
}

impl Adoptable for UnixDatagram {
    const KIND: SocketKind = SocketKind::UNIX_DATAGRAM;
}

impl<F: StreamFamily + Adoptable> Stream<F> {
    /// Takes over a descriptor that came from elsewhere, if it is a connected socket of this family. It
    /// blocks from then on, for whoever shares it too, and is not inherited by other programs. Timeouts that
    /// were set on it stay.
    ///
    /// # Errors
    /// At [`Step::Adopt`](crate::Step::Adopt), with the descriptor: [`Error::is_of_another_kind`], with what
    /// was found instead.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let (fd, peer) = adopted(fd, |fd| {
            F::KIND.check(fd, Standing::Connected)?;
            let peer = getpeername(fd).and_then(F::accepted).map_err(failed)?;
            let peer = peer.ok_or_else(|| unlike("a socket whose peer is still there", fd))?;
            prepare(fd, true)?;
            Ok(peer)
        })?;
        Ok(Self::of_connected(fd, peer))
    }
}

impl<F: AdoptableAcceptor> Acceptor<F> {
    /// Takes over a descriptor that came from elsewhere, if it is a listening socket of this family, such as
    /// the one that a service manager hands to what it starts. It no longer blocks, for whoever shares it
    /// either, and is not inherited by other programs. A Unix socket's file stays when this is dropped. (If one of
    /// them sets it to block again, accepting waits past its deadline where another takes the peer first.)
    ///
    /// # Errors
    /// At [`Step::Adopt`](crate::Step::Adopt), with the descriptor: [`Error::is_of_another_kind`], with what
    /// was found instead.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let (fd, (local, own, held)) = adopted(fd, |fd| {
            F::KIND.check(fd, Standing::Listening)?;
            let local = F::local(fd).map_err(failed)?;
            let local = local.ok_or_else(|| unlike("a socket with an address", fd))?;
            let (own, held) = F::made_elsewhere(fd).map_err(failed)?;
            prepare(fd, false)?;
            Ok((local, own, held))
        })?;
        Ok(Self::of(fd, local, own, held))
    }
}

impl<F: DatagramFamily + Adoptable> DatagramSocket<F> {
    /// Takes over a descriptor that came from elsewhere, if it is a socket of this family without a peer. It
    /// blocks from then on, for whoever shares it too, and is not inherited by other programs. A Unix
    /// socket's file stays when this is dropped.
    ///
    /// # Errors
    /// At [`Step::Adopt`](crate::Step::Adopt), with the descriptor: [`Error::is_of_another_kind`], with what
    /// was found instead.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let (fd, local) = adopted(fd, |fd| {
            F::KIND.check(fd, Standing::Unconnected)?;
            let local = F::local(fd).map_err(failed)?;
            prepare(fd, true)?;
            Ok(local)
        })?;
        Ok(Self::of(fd, local, None))
    }
}

impl<F: DatagramFamily + Adoptable> ConnectedDatagramSocket<F> {
    /// Takes over a descriptor that came from elsewhere, if it is a socket of this family with a peer that
    /// has an address. It blocks from then on, for whoever shares it too, and is not inherited by other
    /// programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`](crate::Step::Adopt), with the descriptor: [`Error::is_of_another_kind`], with what
    /// was found instead.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let (fd, peer) = adopted(fd, |fd| {
            F::KIND.check(fd, Standing::Connected)?;
            let peer = Sender::<F>::of(getpeername(fd).map_err(failed)?).map(|peer| peer.address());
            let without = || Error::unlike(crate::Step::Adopt, "a peer with an address", "one without");
            let peer = peer.ok_or_else(without)?;
            prepare(fd, true)?;
            Ok(peer)
        })?;
        Ok(Self::adopted(fd, peer))
    }
}
