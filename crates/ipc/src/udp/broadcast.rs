//! Broadcast: a datagram for everybody on a network.

use std::fmt;
use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::sockopt;

use super::{Udp, UdpSocket};
use crate::datagram::{Received, Sender};
use crate::{Address, Error, Interface, Step, interfaces};

/// A socket that sends to everybody on the network of one interface, and receives what they answer to it. It
/// is the only one that may: to any other socket a broadcast address is refused
/// ([`Error::is_permission_denied`]).
///
/// It sends from the interface's address. Whoever wants to hear it binds a [`UdpSocket`] to the wildcard
/// address and the port. IPv6 has no broadcast: the group of all hosts, `ff02::1`, takes its place.
///
/// ```no_run
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::BroadcastSocket;
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let deadline = Instant::now() + Duration::from_secs(1);
/// for network in BroadcastSocket::to_every_network(5000)? {
///     network.send(&[IoSlice::new(b"who is there?")])?;
///     let mut answer = [0; 1500];
///     let first = network.receive_from_by(&mut answer, deadline)?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct BroadcastSocket {
    socket: UdpSocket,
    to: SocketAddr,
    /// The same, as the kernel wants it.
    form: Sender<Udp>,
}

impl BroadcastSocket {
    /// To that port of everybody on the interface's network: to the last address of it, 192.0.2.255 for
    /// 192.0.2.7/24 (RFC 919), which routers on the way there may pass on or not.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`] or [`Step::Bind`], naming the address: an unsupported family,
    /// if the interface's address is an IPv6 one; an address that is not available, if so small a network has
    /// no last one to spare (RFC 3021); an invalid argument for port 0.
    pub fn to_network(interface: &Interface, port: u16) -> Result<Self, Error> {
        let from = ipv4(interface)?;
        let host = u32::MAX.checked_shr(interface.prefix_length.into()).unwrap_or(0);
        if host <= 1 {
            return Err(refused(Errno::ADDRNOTAVAIL, from.into(), port));
        }
        Self::open(from, Ipv4Addr::from_bits(from.to_bits() | host), port)
    }

    /// To that port of everybody whom the interface reaches without a router, whatever their addresses: to
    /// 255.255.255.255 (RFC 919).
    ///
    /// # Errors
    /// As [`to_network`](Self::to_network), but that the network's size does not matter.
    pub fn to_link(interface: &Interface, port: u16) -> Result<Self, Error> {
        Self::open(ipv4(interface)?, Ipv4Addr::BROADCAST, port)
    }

    /// One for each network that this host is on, the loopback left out: to that port of all their hosts.
    ///
    /// # Errors
    /// As [`to_network`](Self::to_network), and [`interfaces()`].
    pub fn to_every_network(port: u16) -> Result<Vec<Self>, Error> {
        let mut sockets: Vec<Self> = Vec::new();
        for interface in interfaces()? {
            // Smaller networks have no broadcast address.
            let has_one = interface.address.is_ipv4() && interface.prefix_length < 31;
            if !has_one || !interface.is_running || interface.is_loopback {
                continue;
            }
            let socket = Self::to_network(&interface, port)?;
            // This host may have several addresses in it.
            if sockets.iter().all(|other| other.to != socket.to) {
                sockets.push(socket);
            }
        }
        Ok(sockets)
    }

    fn open(from: Ipv4Addr, to: Ipv4Addr, port: u16) -> Result<Self, Error> {
        if port == 0 {
            return Err(refused(Errno::INVAL, to.into(), port));
        }
        // An address, not the wildcard: the system then sends to 255.255.255.255 by the interface that has
        // it.
        let socket = UdpSocket::bind((from, 0).into())?;
        let to = (to, port).into();
        let allowed = sockopt::set_socket_broadcast(&socket, true);
        allowed.map_err(|errno| Error::os(Step::Configure, errno).with(Address::Udp(to)))?;
        let form = Sender::to(&to)
            .ok_or_else(|| Error::os(Step::Open, Errno::AFNOSUPPORT).with(Address::Udp(to)))?;
        Ok(Self { socket, to, form })
    }

    /// Where it sends to.
    pub fn to(&self) -> SocketAddr {
        self.to
    }

    /// Where it sends from, and receives answers.
    pub fn local(&self) -> SocketAddr {
        *self.socket.local().expect("a UDP socket that is bound has an address")
    }

    // ---- sending ----

    /// Sends the slices as one datagram to everybody, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`], naming the address: [`Error::is_too_large`], [`Error::is_unreachable`].
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.socket.reply(slices, &self.form)
    }

    /// Sends the slices as one datagram to everybody if there is room.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_would_block`].
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.socket.reply_now(slices, &self.form)
    }

    /// Sends the slices as one datagram to everybody, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_timeout`].
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        self.socket.reply_by(slices, &self.form, deadline)
    }

    // ---- receiving ----

    /// Receives the next answer, and waits for it as long as it takes.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from`].
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Received<Udp>, Error> {
        self.socket.receive_from(into)
    }

    /// Receives the next answer if one is there.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from_now`].
    pub fn receive_from_now(&self, into: &mut [u8]) -> Result<Received<Udp>, Error> {
        self.socket.receive_from_now(into)
    }

    /// Receives the next answer, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from_by`].
    pub fn receive_from_by(&self, into: &mut [u8], deadline: Instant) -> Result<Received<Udp>, Error> {
        self.socket.receive_from_by(into, deadline)
    }
}

fn ipv4(interface: &Interface) -> Result<Ipv4Addr, Error> {
    match interface.address {
        IpAddr::V4(address) => Ok(address),
        other => Err(refused(Errno::AFNOSUPPORT, other, 0)),
    }
}

fn refused(errno: Errno, address: IpAddr, port: u16) -> Error {
    Error::os(Step::Open, errno).with(Address::Udp((address, port).into()))
}

impl fmt::Debug for BroadcastSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastSocket").field("socket", &self.socket).field("to", &self.to).finish()
    }
}

impl From<BroadcastSocket> for OwnedFd {
    fn from(socket: BroadcastSocket) -> Self {
        socket.socket.into()
    }
}

impl AsFd for BroadcastSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
