//! Unix stream sockets: connections within a machine.

use std::fs;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketType, connect};

use super::file::{ListeningFile, Turn, bind_file, errno, is_abandoned};
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

/// Binds a socket of that kind that is going to listen.
pub(super) fn bind_listening(
    fd: BorrowedFd<'_>,
    kind: SocketType,
    at: &UnixAddress,
    own: &Listening,
) -> Result<Option<ListeningFile>, Error> {
    let failed = |errno| Error::os(Step::Bind, errno);
    let path = at.as_path();
    let turn = path.map_or(Ok(None), Turn::take).map_err(failed)?;
    // Without a turn what seems abandoned may be somebody who is about to listen.
    let replaces = own.replace_abandoned && turn.is_some();
    let file = bind_file(fd, at, || match path {
        Some(path) if replaces => is_abandoned(path, at, kind),
        _ => Ok(false),
    })?;
    if let (Some(mode), Some(path)) = (own.mode, path) {
        // Nobody can connect yet: it does not listen.
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(path, permissions).map_err(|error| Error::os(Step::Configure, errno(&error)))?;
    }
    Ok(file.map(|file| ListeningFile::new(file, turn)))
}

impl Calls for Unix {
    type Address = UnixAddress;

    const QUEUES_ARE_INHERITED: bool = false;
    /// `None` of one that has no name, as those that connect usually have none.
    type Peer = Option<UnixAddress>;
    type Listening = Listening;
    type Connecting = Connecting;
    type Held = Option<ListeningFile>;

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

    fn bind(fd: BorrowedFd<'_>, at: &UnixAddress, own: &Listening) -> Result<Option<ListeningFile>, Error> {
        bind_listening(fd, SocketType::STREAM, at, own)
    }

    fn listens(held: &mut Option<ListeningFile>) {
        held.iter_mut().for_each(ListeningFile::listens);
    }

    fn give_up(held: Option<ListeningFile>) {
        held.into_iter().for_each(ListeningFile::keep);
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
    /// Those that bind in one directory do so one after the other, by a lock on that directory (flock(2)): so of two that
    /// replace the same file one has it, and none takes another for abandoned that is about to listen. Who may not read the
    /// directory replaces nothing. Programs that bind by other means take no part in that; they are given ten milliseconds
    /// from binding to listening.
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
