//! Every datagram family does the same: the conformance suite, a line for each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use zorb_ipc::{Udp, UnixAddress, UnixDatagram};

use conformance::datagrams::Tried;
use conformance::unused_path;

datagram_family!(udp: zorb_ipc::Udp);
datagram_family!(unix: zorb_ipc::UnixDatagram);

impl Tried for Udp {
    fn fresh() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    /// 64 KiB less the heads of IPv4 and UDP, and one (RFC 791, RFC 768).
    const LONGEST: usize = 65_507;
}

impl Tried for UnixDatagram {
    fn fresh() -> UnixAddress {
        unused_path()
    }

    /// The sender's queue of 212,992 octets (`net.core.wmem_default`) less 32, which the kernel keeps for itself.
    const LONGEST: usize = 212_960;
}

#[test]
fn an_ipv6_wildcard_serves_both() {
    use zorb_ipc::UdpSocket;
    let Ok(both) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0).into()) else {
        eprintln!("skipped: this host has no IPv6");
        return;
    };
    let four = UdpSocket::bind(Udp::fresh()).unwrap();
    let port = both.local().unwrap().port();
    four.send_to(&[std::io::IoSlice::new(b"x")], &(Ipv4Addr::LOCALHOST, port).into()).unwrap();
    let received = both.receive_from_by(&mut [0; 4], conformance::within(conformance::LONG)).unwrap();
    assert_eq!(received.from.as_ref(), four.local(), "under its own address");
}
