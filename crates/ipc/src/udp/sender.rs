//! Sending to a multicast group.

use std::fmt;
use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::sockopt;

use super::receiver::index;
use super::{Udp, UdpSocket};
use crate::datagram::{Received, Sender};
use crate::{Address, Error, MulticastGroup, Step, counts};

/// A socket that sends to one multicast group, by the group's interface, and receives what its members answer
/// to it.
///
/// It need not be a member. Its datagrams do not leave the network of the interface, unless
/// [`set_hops`](Self::set_hops) lets them, and come to members on this host too, unless
/// [`set_loopback`](Self::set_loopback) forbids it.
pub struct MulticastSender {
    socket: UdpSocket,
    group: MulticastGroup,
    to: Sender<Udp>,
}

impl MulticastSender {
    /// From an address and a port that the system chooses.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Bind`] or [`Step::Configure`], naming the group; no such device.
    pub fn new(group: MulticastGroup) -> Result<Self, Error> {
        let any: IpAddr =
            if group.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        Self::from((any, 0).into(), group)
    }

    /// From that address, which members may have joined for as their source, and port; port 0: one that the
    /// system chooses.
    ///
    /// # Errors
    /// As [`new`](Self::new); an invalid argument if address and group are not of one version of IP.
    pub fn from(local: SocketAddr, group: MulticastGroup) -> Result<Self, Error> {
        let named = |error: Error| error.with(Address::Multicast(group));
        let configured = |errno| named(Error::os(Step::Configure, errno));
        if local.is_ipv4() != group.is_ipv4() {
            return Err(named(Error::os(Step::Bind, Errno::INVAL)));
        }
        let socket = UdpSocket::bind(local).map_err(named)?;
        let any = Ipv4Addr::UNSPECIFIED;
        match index(group) {
            0 => Ok(()),
            index if group.is_ipv4() => sockopt::set_ip_multicast_if_with_ifindex(&socket, &any, &any, index),
            index => sockopt::set_ipv6_multicast_if(&socket, index),
        }
        .map_err(configured)?;
        let to =
            Sender::to(&group.address()).ok_or_else(|| named(Error::os(Step::Open, Errno::AFNOSUPPORT)))?;
        Ok(Self { socket, group, to })
    }

    /// Whom it sends to.
    pub fn group(&self) -> MulticastGroup {
        self.group
    }

    /// Where it receives answers, with what the system chose.
    pub fn local(&self) -> SocketAddr {
        *self.socket.local().expect("a UDP socket that is bound has an address")
    }

    // ---- options ----

    /// How many networks its datagrams may enter, one router after the other (RFC 1112, section 6.1; RFC
    /// 3493, section 5.2): with 0 they stay on this host, with 1, as a sender is born, on the interface's
    /// network.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_hops(&self, hops: u8) -> Result<(), Error> {
        counts::enter();
        let set = match self.group.is_ipv4() {
            true => sockopt::set_ip_multicast_ttl(&self.socket, hops.into()),
            false => sockopt::set_ipv6_multicast_hops(&self.socket, hops.into()),
        };
        set.map_err(|errno| self.named(Error::os(Step::Configure, errno)))
    }

    /// Whether members on this host receive its datagrams too, as they do of a sender as it is born.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_loopback(&self, yes: bool) -> Result<(), Error> {
        counts::enter();
        let set = match self.group.is_ipv4() {
            true => sockopt::set_ip_multicast_loop(&self.socket, yes),
            false => sockopt::set_ipv6_multicast_loop(&self.socket, yes),
        };
        set.map_err(|errno| self.named(Error::os(Step::Configure, errno)))
    }

    // ---- sending ----

    /// Sends the slices as one datagram to the group, and waits for room in the queue as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`], naming the group: [`Error::is_too_large`], [`Error::is_unreachable`] if no route
    /// leads to groups.
    #[inline]
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.socket.reply(slices, &self.to).map_err(|error| self.named(error))
    }

    /// Sends the slices as one datagram to the group if there is room.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_would_block`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<(), Error> {
        self.socket.reply_now(slices, &self.to).map_err(|error| self.named(error))
    }

    /// Sends the slices as one datagram to the group, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::is_timeout`].
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        self.socket.reply_by(slices, &self.to, deadline).map_err(|error| self.named(error))
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

    fn named(&self, error: Error) -> Error {
        error.with(Address::Multicast(self.group))
    }
}

impl fmt::Debug for MulticastSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sender = f.debug_struct("MulticastSender");
        sender.field("socket", &self.socket).field("group", &self.group).finish()
    }
}

impl From<MulticastSender> for OwnedFd {
    fn from(socket: MulticastSender) -> Self {
        socket.socket.into()
    }
}

impl AsFd for MulticastSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
