//! Every datagram family does the same: the conformance suite, and those in `conformance/lists.rs` are tried.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use zorb_ipc::{
    BroadcastSocket, Interface, MulticastGroup, MulticastReceiver, MulticastSender, ReceiveBatch, Step, Udp,
    UdpSocket, interfaces,
};

use conformance::datagrams::Tried;
use conformance::left_out::left_out;
use conformance::{LONG, within};

every_datagram_family!(datagram_family);

#[test]
fn an_ipv6_wildcard_serves_both() {
    let Ok(both) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0).into()) else {
        left_out("IPv6 on this machine", "it cannot be bound");
        return;
    };
    let four = UdpSocket::bind(Udp::fresh()).unwrap();
    let port = both.local().unwrap().port();
    four.send_to(&[IoSlice::new(b"x")], &(Ipv4Addr::LOCALHOST, port).into()).unwrap();
    let received = both.receive_from_by(&mut [0; 4], within(LONG)).unwrap();
    assert_eq!(received.from().unwrap(), *four.local().unwrap(), "under its own address");
}

fn loopback() -> Interface {
    interfaces().unwrap().into_iter().find(|one| one.is_loopback && one.address.is_ipv4()).unwrap()
}

fn raw(errno: rustix::io::Errno) -> Option<i32> {
    Some(errno.raw_os_error())
}

#[test]
fn only_a_broadcast_socket_broadcasts() {
    let receiver = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0).into()).unwrap();
    let port = receiver.local().unwrap().port();
    let text = [IoSlice::new(b"everybody")];
    let sender = BroadcastSocket::to_network(&loopback(), port).unwrap();
    assert_eq!(sender.to(), (Ipv4Addr::new(127, 255, 255, 255), port).into());
    sender.send(&text).unwrap();
    let received = receiver.receive_from_by(&mut [0; 16], within(LONG)).unwrap();
    assert_eq!((received.octets, received.from().map(Into::into)), (9, Some(sender.local())));
    receiver.send_to(&text, &sender.local()).unwrap();
    assert_eq!(sender.receive_from_by(&mut [0; 16], within(LONG)).unwrap().from().unwrap().port(), port);

    let error = receiver.send_to(&text, &sender.to()).unwrap_err();
    assert!(error.is_permission_denied() && error.address().is_some(), "{error}");
    assert!(error.to_string().ends_with("a broadcast address takes a BroadcastSocket"), "{error}");
}

#[test]
fn where_there_is_no_broadcast_it_is_refused() {
    use rustix::io::Errno;
    let mut interface = loopback();
    assert_eq!(BroadcastSocket::to_network(&interface, 0).unwrap_err().raw_os_error(), raw(Errno::INVAL));
    for prefix_length in [31, 32, 200] {
        interface.prefix_length = prefix_length;
        let error = BroadcastSocket::to_network(&interface, 9).unwrap_err();
        assert_eq!(error.raw_os_error(), raw(Errno::ADDRNOTAVAIL), "{error}");
    }
    interface.prefix_length = 0;
    assert_eq!(BroadcastSocket::to_network(&interface, 9).unwrap().to().ip(), Ipv4Addr::BROADCAST);
    interface.address = Ipv6Addr::LOCALHOST.into();
    for refused in [BroadcastSocket::to_network(&interface, 9), BroadcastSocket::to_link(&interface, 9)] {
        let error = refused.unwrap_err();
        assert_eq!(error.raw_os_error(), raw(Errno::AFNOSUPPORT), "{error}");
    }
}

/// By the loopback, and of no other test, in this process or another one.
fn group_here(first: u8, test: u8) -> MulticastGroup {
    let [.., high, low] = std::process::id().to_be_bytes();
    let interface = std::num::NonZeroU32::new(loopback().index);
    MulticastGroup::new((Ipv4Addr::new(first, test, high, low), 5007).into(), interface).unwrap()
}

#[test]
fn a_group_is_heard_by_its_members_in_batches_too() {
    let group = group_here(239, 1);
    let members = [MulticastReceiver::new(group).unwrap(), MulticastReceiver::new(group).unwrap()];
    let sender = MulticastSender::new(group).unwrap();
    for text in ["one", "two", "three"] {
        sender.send(&[IoSlice::new(text.as_bytes())]).unwrap();
    }
    for member in members {
        let mut batch = ReceiveBatch::new(2, 16);
        assert_eq!(member.receive_many_by(&mut batch, within(LONG)).unwrap(), 2);
        assert_eq!(batch.datagram(1).unwrap().octets(), b"two");
        assert_eq!(batch.datagram(1).unwrap().from().unwrap().port(), sender.local().port());
        assert_eq!(member.receive_from_by(&mut [0; 16], within(LONG)).unwrap().octets, 5);
        assert!(member.receive_many_now(&mut batch).unwrap_err().is_would_block());
    }
}

#[test]
fn a_source_is_heard_alone() {
    let group = group_here(232, 2);
    let [one, other] = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)];
    let receiver = MulticastReceiver::of_source(group, one.into()).unwrap();
    for source in [other, one] {
        let sender = MulticastSender::from((source, 0).into(), group).unwrap();
        sender.send(&[IoSlice::new(b"x")]).unwrap();
    }
    let received = receiver.receive_from_by(&mut [0; 16], within(LONG)).unwrap();
    assert_eq!(received.from().unwrap().ip(), one);
}

#[test]
fn what_cannot_be_joined_is_told() {
    let group = group_here(239, 3);
    let nowhere = group.by(std::num::NonZeroU32::new(u32::MAX));
    let error = MulticastReceiver::new(nowhere).unwrap_err();
    assert!(error.step() == Step::Join && error.to_string().contains(&nowhere.to_string()), "{error}");
    assert_eq!(MulticastSender::new(nowhere).unwrap_err().step(), Step::Configure);
    let error = MulticastSender::from((Ipv6Addr::LOCALHOST, 0).into(), group).unwrap_err();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Bind, raw(rustix::io::Errno::INVAL)));
    let receiver = MulticastReceiver::new(group).unwrap();
    let six: MulticastGroup = format!("[ff15::7]:{}", group.address().port()).parse().unwrap();
    for error in [receiver.join(six), receiver.join_source(six, Ipv6Addr::LOCALHOST.into())] {
        assert_eq!(error.unwrap_err().raw_os_error(), raw(rustix::io::Errno::INVAL));
    }
    // Who has the port for itself keeps it.
    let owner = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0).into()).unwrap();
    let taken =
        MulticastGroup::new((Ipv4Addr::new(239, 255, 7, 8), owner.local().unwrap().port()).into(), None);
    let error = MulticastReceiver::new(taken.unwrap()).unwrap_err();
    assert!(error.is_address_in_use() && error.step() == Step::Bind, "{error}");
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
