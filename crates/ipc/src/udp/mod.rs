//! UDP: to one, to everybody on a network, to a group.

#[cfg(target_os = "linux")]
mod broadcast;
#[cfg(target_os = "linux")]
mod receiver;
#[cfg(target_os = "linux")]
mod reports;
#[cfg(target_os = "linux")]
mod sender;

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketType, bind, ipproto, sockopt};

#[cfg(target_os = "linux")]
use crate::datagram::Report;
use crate::datagram::{Calls, ConnectedDatagramSocket, DatagramSocket};
use crate::portable::waiting_socket;
use crate::tcp::canonical;
use crate::{Address, Error, Step};

#[cfg(target_os = "linux")]
pub use broadcast::BroadcastSocket;
#[cfg(target_os = "linux")]
pub use receiver::MulticastReceiver;
#[cfg(target_os = "linux")]
pub use sender::MulticastSender;

/// The family of UDP sockets, IPv4 and IPv6; see [`DatagramFamily`](crate::DatagramFamily).
#[derive(Debug)]
pub enum Udp {}

/// A UDP socket that sends to anybody.
pub type UdpSocket = DatagramSocket<Udp>;
/// A UDP socket that sends to one peer.
pub type ConnectedUdpSocket = ConnectedDatagramSocket<Udp>;

impl Calls for Udp {
    type Address = SocketAddr;
    type Held = ();

    fn open(like: &SocketAddr) -> Result<OwnedFd, Errno> {
        let family = if like.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        waiting_socket(family, SocketType::DGRAM, Some(ipproto::UDP))
    }

    fn bind(fd: BorrowedFd<'_>, at: &SocketAddr) -> Result<(), Error> {
        if at.is_ipv6() {
            // The host's settings do not decide: `[::]` serves both.
            let set = sockopt::set_ipv6_v6only(fd, false);
            set.map_err(|errno| Error::os(Step::Configure, errno))?;
        }
        bind(fd, at).map_err(|errno| Error::os(Step::Bind, errno))
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<SocketAddr>, Errno> {
        rustix::net::getsockname(fd).and_then(SocketAddr::try_from).map(canonical).map(Some)
    }

    #[inline]
    fn sender(from: Option<SocketAddrAny>) -> Result<Option<SocketAddr>, Errno> {
        from.map(|from| SocketAddr::try_from(from).map(canonical)).transpose()
    }

    fn to_kernel(address: &SocketAddr) -> Result<SocketAddrAny, Errno> {
        Ok((*address).into())
    }

    fn address(address: &SocketAddr) -> Address {
        Address::Udp(*address)
    }

    #[cfg(target_os = "linux")]
    fn ask_for_reports(fd: BorrowedFd<'_>, yes: bool) -> Result<(), Errno> {
        reports::ask(fd, yes)
    }

    #[cfg(target_os = "linux")]
    fn next_report(fd: BorrowedFd<'_>) -> Result<Option<Report<SocketAddr>>, Errno> {
        reports::next(fd)
    }

    #[cfg(target_os = "linux")]
    /// An interface's full queue, which drops what is sent (`udp_send_skb` in Linux's net/ipv4/udp.c).
    fn is_loss(errno: Errno) -> bool {
        errno == Errno::NOBUFS
    }
}
