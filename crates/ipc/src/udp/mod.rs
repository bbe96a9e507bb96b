//! UDP: to one, to everybody on a network, to a group.

#[cfg(target_os = "linux")]
mod broadcast;
#[cfg(target_os = "linux")]
mod receiver;
#[cfg(target_os = "linux")]
mod reports;
#[cfg(target_os = "linux")]
mod sender;

use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::addr::SocketAddrLen;
use rustix::net::{AddressFamily, SocketAddrAny, SocketType, bind, ipproto, sockopt};

#[cfg(target_os = "linux")]
use crate::datagram::Report;
use crate::datagram::{Calls, ConnectedDatagramSocket, DatagramSocket};
use crate::portable::waiting_socket;
use crate::tcp::canonical;
use crate::{Address, Error, Sender, Step};

#[cfg(target_os = "linux")]
pub use broadcast::BroadcastSocket;
#[cfg(target_os = "linux")]
pub use receiver::MulticastReceiver;
#[cfg(target_os = "linux")]
pub use sender::MulticastSender;

/// The family of UDP sockets, IPv4 and IPv6; see [`DatagramFamily`](crate::DatagramFamily).
#[derive(Debug)]
pub enum Udp {}

/// Octets of addresses in the kernel's form (`struct sockaddr_in`, `struct sockaddr_in6`), and where in both the port is;
/// behind it are an address of IPv4, or a flow label, an address of IPv6 and its scope.
const IPV4: usize = 16;
const IPV6: usize = 28;
const PORT: usize = 2;

/// The octets at `at`, of a form that has them.
#[inline]
fn word<const N: usize>(form: &[u8], at: usize) -> [u8; N] {
    let mut word = [0; N];
    word.copy_from_slice(&form[at..at + N]);
    word
}

impl Sender<Udp> {
    /// The address without its port.
    #[inline]
    pub fn ip(&self) -> IpAddr {
        self.address().ip()
    }

    /// The port.
    #[inline]
    pub fn port(&self) -> u16 {
        self.address().port()
    }
}

impl From<Sender<Udp>> for SocketAddr {
    #[inline]
    fn from(sender: Sender<Udp>) -> Self {
        sender.address()
    }
}

impl PartialEq<SocketAddr> for Sender<Udp> {
    fn eq(&self, address: &SocketAddr) -> bool {
        self.address() == *address
    }
}

/// A UDP socket that sends to anybody.
pub type UdpSocket = DatagramSocket<Udp>;
/// A UDP socket that sends to one peer.
pub type ConnectedUdpSocket = ConnectedDatagramSocket<Udp>;

impl Calls for Udp {
    type Address = SocketAddr;
    type Form = [u8; IPV6];
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
    fn is_sender(length: SocketAddrLen) -> bool {
        matches!(length as usize, IPV4 | IPV6)
    }

    #[inline]
    fn address_of(form: &[u8]) -> SocketAddr {
        let port = u16::from_be_bytes(word(form, PORT));
        if form.len() < IPV6 {
            return SocketAddr::from((word::<4>(form, PORT + 2), port));
        }
        let [flow, scope] = [PORT + 2, PORT + 22].map(|at| word(form, at));
        let ip = Ipv6Addr::from(word::<16>(form, PORT + 6));
        let [flow, scope] = [u32::from_be_bytes(flow), u32::from_ne_bytes(scope)];
        canonical(SocketAddrV6::new(ip, port, flow, scope).into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_decoded_as_the_system_wrote_it() {
        for (text, address) in [
            ("192.0.2.7:2809", "192.0.2.7:2809"),
            ("[2001:db8::7]:65535", "[2001:db8::7]:65535"),
            ("[fe80::1%7]:9", "[fe80::1%7]:9"),
            ("[::ffff:192.0.2.7]:1", "192.0.2.7:1"),
        ] {
            let sent: SocketAddr = text.parse().unwrap();
            let sender = Sender::<Udp>::of(Some(sent.into())).unwrap();
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(
                (sender.address(), sender.ip(), sender.port()),
                (address, address.ip(), address.port())
            );
            assert!(sender == address && sender == Sender::of(Some(sent.into())).unwrap(), "{sender}");
        }
        let flow = SocketAddrV6::new("2001:db8::7".parse().unwrap(), 9, 0x1_2345, 0);
        assert_eq!(Sender::<Udp>::of(Some(flow.into())).unwrap().address(), flow.into());
    }

    #[test]
    fn what_is_no_address_of_the_family_is_no_sender() {
        let unix = rustix::net::SocketAddrUnix::new("/run/x").unwrap();
        assert!(Sender::<Udp>::of(Some(unix.into())).is_none());
        assert!(Sender::<Udp>::of(None).is_none());
    }
}
