//! Every datagram family does the same: the conformance suite, a line for each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use zorb_ipc::{ReceiveBatch, Step, Udp, UdpSocket, UnixAddress, UnixDatagram};

use conformance::datagrams::Tried;
use conformance::{LONG, unused_path, within};

datagram_family!(udp: zorb_ipc::Udp);
datagram_family!(unix: zorb_ipc::UnixDatagram);

impl Tried for Udp {
    fn fresh() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    /// 64 KiB less the heads of IPv4 and UDP, and one (RFC 791, RFC 768).
    fn longest() -> usize {
        65_507
    }

    const WAITS: bool = false;
}

impl Tried for UnixDatagram {
    fn fresh() -> UnixAddress {
        unused_path()
    }

    /// The sender's queue less 32 octets, which the kernel keeps for itself.
    fn longest() -> usize {
        let queue = std::fs::read_to_string("/proc/sys/net/core/wmem_default").unwrap();
        queue.trim().parse::<usize>().unwrap() - 32
    }

    const WAITS: bool = true;
}

#[test]
fn an_ipv6_wildcard_serves_both() {
    let Ok(both) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0).into()) else {
        eprintln!("skipped: this host has no IPv6");
        return;
    };
    let four = UdpSocket::bind(Udp::fresh()).unwrap();
    let port = both.local().unwrap().port();
    four.send_to(&[IoSlice::new(b"x")], &(Ipv4Addr::LOCALHOST, port).into()).unwrap();
    let received = both.receive_from_by(&mut [0; 4], within(LONG)).unwrap();
    assert_eq!(received.from.as_ref(), four.local(), "under its own address");
}

fn raw(errno: rustix::io::Errno) -> Option<i32> {
    Some(errno.raw_os_error())
}

/// An address of UDP that nobody receives at, as long as its holder does not receive either: it hears another
/// only.
fn refusing() -> (zorb_ipc::ConnectedUdpSocket, SocketAddr) {
    let holder = UdpSocket::bind(Udp::fresh()).unwrap();
    let at = *holder.local().unwrap();
    (holder.connect((Ipv4Addr::LOCALHOST, 9).into()).unwrap(), at)
}

#[test]
fn who_said_that_nobody_receives_is_told() {
    let (_holder, at) = refusing();
    let connected = zorb_ipc::ConnectedUdpSocket::connect(at).unwrap();
    connected.send(&[IoSlice::new(b"x")]).unwrap();
    let error = connected.receive_by(&mut [0; 4], within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() && error.step() == Step::Receive, "{error}");
    assert_eq!((error.said_by(), error.path_mtu()), (Some(Ipv4Addr::LOCALHOST.into()), None));
}

#[test]
fn an_unconnected_socket_is_told_of_whom_if_it_asks() {
    let (_holder, at) = refusing();
    let friend = UdpSocket::bind(Udp::fresh()).unwrap();
    let text = [IoSlice::new(b"x")];
    let silent = UdpSocket::bind(Udp::fresh()).unwrap();
    silent.send_to(&text, &at).unwrap();
    silent.send_to(&text, friend.local().unwrap()).unwrap();
    let error = silent.next_report().unwrap_err();
    assert_eq!(error.raw_os_error(), raw(rustix::io::Errno::INVAL), "{error}");

    let socket = UdpSocket::bind(Udp::fresh()).unwrap().reporting().unwrap();
    assert!(socket.next_report().unwrap().is_none());
    assert!(socket.receive_from_now(&mut [0; 4]).unwrap_err().is_would_block());
    for _ in 0..2 {
        socket.send_to(&text, &at).unwrap();
        // What waits to be told is no hindrance.
        socket.send_to(&text, friend.local().unwrap()).unwrap();
        let error = socket.receive_from_by(&mut [0; 4], within(LONG)).unwrap_err();
        assert!(error.has_reports_waiting() && !error.is_would_block() && !error.is_timeout(), "{error}");
        let mut batch = ReceiveBatch::new(1, 4);
        assert!(socket.receive_many_by(&mut batch, within(LONG)).unwrap_err().has_reports_waiting());
        let report = socket.next_report().unwrap().unwrap();
        assert!(report.is_connection_refused() && report.step() == Step::Send, "{report}");
        assert_eq!(report.address(), Some(&zorb_ipc::Address::Udp(at)));
        assert_eq!(report.said_by(), Some(Ipv4Addr::LOCALHOST.into()));
        assert!(socket.next_report().unwrap().is_none());
        assert!(socket.receive_from_by(&mut [0; 4], within(conformance::SHORT)).unwrap_err().is_timeout());
    }
    for _ in 0..3 {
        assert_eq!(friend.receive_from_by(&mut [0; 4], within(LONG)).unwrap().octets, 1);
    }
    // What came for it comes first.
    socket.send_to(&text, &at).unwrap();
    friend.send_to(&text, socket.local().unwrap()).unwrap();
    conformance::eventually(|| socket.receive_from_now(&mut [0; 4]).is_ok());
}
