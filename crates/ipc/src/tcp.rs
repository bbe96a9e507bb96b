//! TCP.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketType, bind, connect, getpeername, getsockname, ipproto, sockopt,
};

#[cfg(target_os = "linux")]
use crate::options::Give;
use crate::portable::socket;
use crate::stream::{Acceptor, AcceptorOptions, Begun, Calls, Connector, Stream};
use crate::{Address, Error, NoDelay, Step};

/// The family of TCP's stream sockets, IPv4 and IPv6; see [`StreamFamily`](crate::StreamFamily).
#[derive(Debug)]
pub enum Tcp {}

/// A listening TCP socket.
pub type TcpAcceptor = Acceptor<Tcp>;
/// How to make TCP connections.
pub type TcpConnector = Connector<Tcp>;
/// A TCP connection.
pub type TcpStream = Stream<Tcp>;

/// What only TCP's acceptors are told.
#[derive(Clone, Debug)]
pub struct Listening {
    reuse_address: bool,
    v6_only: bool,
    no_delay: bool,
}

impl Default for Listening {
    fn default() -> Self {
        Self { reuse_address: true, v6_only: false, no_delay: true }
    }
}

impl Listening {
    /// Of a socket that was not made here: what is asked of it later.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "of what was adopted"))]
    pub(crate) fn made_elsewhere(v6_only: bool) -> Self {
        Self { v6_only, ..Self::default() }
    }
}

/// What only TCP's connectors are told.
#[derive(Clone, Debug)]
pub struct Connecting {
    no_delay: bool,
    local: Option<SocketAddr>,
    #[cfg(target_os = "linux")]
    congestion_control: Option<crate::CongestionControl>,
    #[cfg(target_os = "linux")]
    receive_window: Option<crate::ReceiveWindow>,
}

impl Default for Connecting {
    fn default() -> Self {
        Self {
            no_delay: true,
            local: None,
            #[cfg(target_os = "linux")]
            congestion_control: None,
            #[cfg(target_os = "linux")]
            receive_window: None,
        }
    }
}

impl Calls for Tcp {
    type Address = SocketAddr;
    type Peer = SocketAddr;
    type Listening = Listening;
    type Connecting = Connecting;
    type Held = ();

    fn open(address: &SocketAddr) -> Result<OwnedFd, Errno> {
        socket(socket_family(address), SocketType::STREAM, Some(ipproto::TCP))
    }

    fn prepare_listening(fd: BorrowedFd<'_>, at: &SocketAddr, own: &Listening) -> Result<(), Error> {
        let prepare = || {
            sockopt::set_socket_reuseaddr(fd, own.reuse_address)?;
            if at.is_ipv6() {
                sockopt::set_ipv6_v6only(fd, own.v6_only)?;
            }
            // Accepted sockets inherit it, which saves a system call a peer.
            sockopt::set_tcp_nodelay(fd, own.no_delay)
        };
        prepare().map_err(|errno| Error::os(Step::Configure, errno))
    }

    fn bind(fd: BorrowedFd<'_>, at: &SocketAddr, _: &Listening) -> Result<(), Error> {
        bind(fd, at).map_err(|errno| Error::os(Step::Bind, errno))
    }

    fn prepare_connecting(fd: BorrowedFd<'_>, own: &Connecting) -> Result<(), Error> {
        sockopt::set_tcp_nodelay(fd, own.no_delay).map_err(|errno| Error::os(Step::Configure, errno))?;
        #[cfg(target_os = "linux")]
        if let Some(algorithm) = &own.congestion_control {
            algorithm.clone().give(fd)?;
        }
        #[cfg(target_os = "linux")]
        if let Some(window) = own.receive_window {
            window.give(fd)?;
        }
        match own.local {
            Some(local) => {
                let named = |errno| Error::os(Step::Bind, errno).with(Address::Tcp(local));
                bind(fd, &local).map_err(named)
            }
            None => Ok(()),
        }
    }

    fn begin(fd: BorrowedFd<'_>, to: &SocketAddr) -> Result<Begun, Errno> {
        match connect(fd, to) {
            Ok(()) => Ok(Begun::Connected),
            // An interrupted connect goes on in the background, just as one in progress.
            Err(Errno::INPROGRESS | Errno::INTR) => Ok(Begun::Pending),
            Err(errno) => Err(errno),
        }
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<SocketAddr>, Errno> {
        getsockname(fd).and_then(SocketAddr::try_from).map(Some)
    }

    fn is_connected_to_itself(fd: BorrowedFd<'_>, to: &SocketAddr) -> Result<bool, Errno> {
        let of = |address| SocketAddr::try_from(address);
        let local = getsockname(fd).and_then(of)?;
        // The address that was asked for may be another name of this host's, such as the wildcard.
        Ok(local.port() == to.port()
            && getpeername(fd).and_then(|peer| peer.map(of).transpose())? == Some(local))
    }

    fn connected(to: &SocketAddr) -> SocketAddr {
        canonical(*to)
    }

    fn accepted(from: Option<SocketAddrAny>) -> Result<Option<SocketAddr>, Errno> {
        from.map(|from| SocketAddr::try_from(from).map(canonical)).transpose()
    }

    fn address(address: &SocketAddr) -> Address {
        Address::Tcp(*address)
    }

    fn peer(peer: &SocketAddr) -> Option<Address> {
        Some(Address::Tcp(*peer))
    }
}

/// IPv4's or IPv6's.
pub(crate) fn socket_family(address: &SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

/// An IPv4 address that a dual-stack socket shows as `::ffff:a.b.c.d`, as what it is: equal peers compare
/// equal whichever socket met them.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
        IpAddr::V6(_) => address,
    }
}

impl AcceptorOptions<Tcp> {
    /// Whether a port may be taken whose earlier owner's connections still linger (`SO_REUSEADDR`), which is
    /// what lets a server restart at once. A port that somebody listens on stays refused. Default: yes.
    pub fn reuse_address(mut self, yes: bool) -> Self {
        self.own.reuse_address = yes;
        self
    }

    /// Whether an acceptor on an IPv6 address refuses IPv4 peers (`IPV6_V6ONLY`). Set in either case, so that
    /// the host's settings do not decide. Default: no, `[::]` serves both.
    pub fn v6_only(mut self, yes: bool) -> Self {
        self.own.v6_only = yes;
        self
    }

    /// Whether accepted streams send small messages at once ([`TcpStream::set_no_delay`]). Default: yes.
    pub fn no_delay(mut self, yes: bool) -> Self {
        self.own.no_delay = yes;
        self
    }
}

impl Acceptor<Tcp> {
    /// Listens on the first free port of a range, in its order.
    ///
    /// # Errors
    /// As [`bind`](Self::bind). Ports that are taken, or that this process may not use, are passed over; if
    /// none is left, the last one's error is returned, and for an empty range an invalid-argument error at
    /// [`Step::Bind`].
    pub fn bind_in(
        host: IpAddr,
        ports: RangeInclusive<u16>,
        options: &AcceptorOptions<Tcp>,
    ) -> Result<Self, Error> {
        let none = Address::Tcp(SocketAddr::new(host, *ports.start()));
        let mut last = Error::os(Step::Bind, Errno::INVAL).with(none);
        for port in ports {
            match Self::bind(SocketAddr::new(host, port), options) {
                // Two processes may both bind a reusable address; the second then fails to listen.
                Err(error) if error.is_address_in_use() || error.is_permission_denied() => last = error,
                done => return done,
            }
        }
        Err(last)
    }

    /// Where it listens, with the port in force. A wildcard stays a wildcard; see
    /// [`reachable_address`](Self::reachable_address).
    pub fn local_address(&self) -> SocketAddr {
        *self.local()
    }

    /// Where others reach it, never a wildcard: [`reachable_address`](crate::reachable_address) with the port
    /// in force.
    ///
    /// # Errors
    /// At [`Step::Inspect`].
    #[cfg(target_os = "linux")]
    pub fn reachable_address(&self) -> Result<SocketAddr, Error> {
        let local = self.local_address();
        if !local.ip().is_unspecified() {
            return Ok(local);
        }
        let host = crate::reachable_address(local.ip(), self.own().v6_only)?;
        Ok(SocketAddr::new(host, local.port()))
    }
}

impl Connector<Tcp> {
    /// Whether small messages are sent at once ([`TcpStream::set_no_delay`]). Default: yes.
    pub fn no_delay(mut self, yes: bool) -> Self {
        self.own.no_delay = yes;
        self
    }

    /// The local address to connect from; port 0 for any. Default: the system's choice.
    pub fn from(mut self, local: SocketAddr) -> Self {
        self.own.local = Some(local);
        self
    }

    /// Which algorithm decides how fast to send, from the first segment on: one that paces leaves a timer with the connection for as long as
    /// that lasts, also where it has [another](crate::CongestionControl) later. Default: the system's.
    ///
    /// One that the kernel has not, or does not allow, lets connecting fail at [`Step::Configure`].
    #[cfg(target_os = "linux")]
    pub fn congestion_control(mut self, algorithm: crate::CongestionControl) -> Self {
        self.own.congestion_control = Some(algorithm);
        self
    }

    /// The largest window that is advertised to the peer: [that option](crate::ReceiveWindow), before the handshake, which says how windows are
    /// counted. Default: as much as the queue has room for.
    #[cfg(target_os = "linux")]
    pub fn receive_window(mut self, window: crate::ReceiveWindow) -> Self {
        self.own.receive_window = Some(window);
        self
    }
}

impl Stream<Tcp> {
    /// Whether a small message leaves at once: the option [`NoDelay`].
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_no_delay(&self, yes: bool) -> Result<(), Error> {
        self.set(NoDelay(yes))
    }

    /// Whether small messages leave at once.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn no_delay(&self) -> Result<bool, Error> {
        self.option().map(|NoDelay(yes)| yes)
    }

    /// The peer's address, an IPv4 one as such also where an IPv6 socket accepted it. No system call.
    pub fn peer_address(&self) -> SocketAddr {
        *self.peer()
    }

    /// This end's address.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn local_address(&self) -> Result<SocketAddr, Error> {
        self.local()
    }
}
