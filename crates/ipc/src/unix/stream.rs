//! Unix stream sockets: connections within a machine.

use std::fs;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketType, connect};

use super::file::{SocketFile, bind_file, errno};
use crate::portable::socket;
use crate::stream::{Acceptor, AcceptorOptions, Begun, Calls, Connector, Stream};
use crate::{Address, Error, Step, UnixAddress};

/// The family of Unix stream sockets; see [`StreamFamily`](crate::StreamFamily).
#[derive(Debug)]
pub enum Unix {}

/// A listening Unix socket. Its file, if it has one, is removed when this is dropped.
pub type UnixAcceptor = Acceptor<Unix>;
/// How to make connections to Unix sockets.
pub type UnixConnector = Connector<Unix>;
/// A connection between two processes of this machine.
pub type UnixStream = Stream<Unix>;

/// What only Unix acceptors are told.
#[derive(Clone, Debug, Default)]
pub struct Listening {
    pub(super) replace_abandoned: bool,
    pub(super) mode: Option<u32>,
    /// See unix/credentials.rs.
    #[cfg(target_os = "linux")]
    pub(super) credentials: bool,
}

/// Nothing is told to Unix connectors alone.
#[derive(Clone, Debug, Default)]
pub struct Connecting;

/// Neither kind blocks until it is connected.
pub(super) fn open(kind: SocketType) -> Result<OwnedFd, Errno> {
    socket(AddressFamily::UNIX, kind, None)
}

/// Whether the file of a socket is there that nobody listens on any more.
fn is_abandoned(at: &UnixAddress, kind: SocketType) -> Result<bool, Errno> {
    let probe = open(kind)?;
    Ok(connect(&probe, &at.to_kernel()?) == Err(Errno::CONNREFUSED))
}

/// Binds a socket of that kind that is going to listen.
pub(super) fn bind_listening(
    fd: BorrowedFd<'_>,
    kind: SocketType,
    at: &UnixAddress,
    own: &Listening,
) -> Result<Option<SocketFile>, Error> {
    let held = bind_file(fd, at, || Ok(own.replace_abandoned && is_abandoned(at, kind)?))?;
    if let (Some(mode), Some(path)) = (own.mode, at.as_path()) {
        // Nobody can connect yet: it does not listen.
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(path, permissions).map_err(|error| Error::os(Step::Configure, errno(&error)))?;
    }
    Ok(held)
}

impl Calls for Unix {
    type Address = UnixAddress;
    /// `None` of one that has no name, as those that connect usually have none.
    type Peer = Option<UnixAddress>;
    type Listening = Listening;
    type Connecting = Connecting;
    type Held = Option<SocketFile>;

    fn open(_: &UnixAddress) -> Result<OwnedFd, Errno> {
        open(SocketType::STREAM)
    }

    #[cfg(target_os = "linux")]
    fn prepare_listening(fd: BorrowedFd<'_>, _: &UnixAddress, own: &Listening) -> Result<(), Error> {
        use crate::options::Give;
        if own.credentials { super::ReceiveCredentials(true).give(fd) } else { Ok(()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn prepare_listening(_: BorrowedFd<'_>, _: &UnixAddress, _: &Listening) -> Result<(), Error> {
        Ok(())
    }

    fn bind(fd: BorrowedFd<'_>, at: &UnixAddress, own: &Listening) -> Result<Option<SocketFile>, Error> {
        bind_listening(fd, SocketType::STREAM, at, own)
    }

    fn prepare_connecting(_: BorrowedFd<'_>, _: &Connecting) -> Result<(), Error> {
        Ok(())
    }

    fn begin(fd: BorrowedFd<'_>, to: &UnixAddress) -> Result<Begun, Errno> {
        loop {
            match connect(fd, &to.to_kernel()?) {
                Ok(()) => return Ok(Begun::Connected),
                Err(Errno::AGAIN) => return Ok(Begun::Full),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<UnixAddress>, Errno> {
        let local = rustix::net::getsockname(fd).and_then(SocketAddrUnix::try_from)?;
        Ok(UnixAddress::of_kernel(&local))
    }

    fn connected(to: &UnixAddress) -> Option<UnixAddress> {
        Some(to.clone())
    }

    fn accepted(from: Option<SocketAddrAny>) -> Result<Option<Option<UnixAddress>>, Errno> {
        // Without a name there is no address at all, or an empty one.
        let named = from.map(SocketAddrUnix::try_from).transpose()?;
        Ok(Some(named.and_then(|address| UnixAddress::of_kernel(&address))))
    }

    fn address(address: &UnixAddress) -> Address {
        Address::Unix(address.clone())
    }

    fn peer(peer: &Option<UnixAddress>) -> Option<Address> {
        peer.clone().map(Address::Unix)
    }
}

impl AcceptorOptions<Unix> {
    /// Whether the file of a socket that nobody listens on any more, because its process died, is replaced. Otherwise it is
    /// in the way ([`Error::is_address_in_use`](crate::Error::is_address_in_use)) until somebody removes it. A file that is no
    /// socket, or that somebody listens on, stays. Default: no.
    ///
    /// Two that replace the same file at the same moment may both believe to listen: only the later one is reached.
    pub fn replace_abandoned(mut self, yes: bool) -> Self {
        self.own.replace_abandoned = yes;
        self
    }

    /// Who may connect, as permissions of the socket's file: to write is to connect (unix(7)). In force before anybody can.
    /// Default: what the process's mask leaves of `0o777`.
    pub fn mode(mut self, mode: u32) -> Self {
        self.own.mode = Some(mode);
        self
    }
}

impl Stream<Unix> {
    /// The address that the peer listens on, if this end made the connection, or one that it chose to have.
    pub fn peer_address(&self) -> Option<&UnixAddress> {
        self.peer().as_ref()
    }
}
