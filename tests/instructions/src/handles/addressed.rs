//! Datagrams with an address each: to anybody, back to a sender, to groups and networks.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{BroadcastSocket, MulticastGroup, MulticastSender, Sender, Udp, UdpSocket, interfaces};

use crate::stage::{LENGTH, OCTETS, after, before, kept, soon};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/datagram-send-to", datagram_send_to),
    ("ipc/by-datagram-send-to", send_to_by),
    ("libc/datagram-send-to", floors_datagram_send_to),
    ("ipc/receive-from", receive_from),
    ("ipc/now-receive-from", receive_from_now),
    ("ipc/by-receive-from", receive_from_by),
    ("libc/receive-from", floors_receive_from),
    ("ipc/reply", reply),
    ("ipc/now-reply", reply_now),
    ("ipc/by-reply", reply_by),
    ("libc/reply", floors_reply),
    ("ipc/multicast-send", multicast_send),
    ("ipc/now-multicast-send", multicast_send_now),
    ("ipc/by-multicast-send", multicast_send_by),
    ("libc/multicast-send", floors_multicast_send),
    ("ipc/broadcast-send", broadcast_send),
    ("ipc/now-broadcast-send", broadcast_send_now),
    ("ipc/by-broadcast-send", broadcast_send_by),
    ("libc/broadcast-send", floors_broadcast_send),
];

fn unconnected(counted: fn(&UdpSocket, &SocketAddr)) -> Case {
    let [near, far] = [(); 2].map(|()| UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port"));
    let to = *far.local().expect("it is bound");
    before(
        move || counted(&near, &to),
        move || assert_eq!(far.receive_from(&mut [0; LENGTH]).expect("a datagram").octets, LENGTH),
    )
}

/// To anybody, with an address for each.
fn datagram_send_to() -> Case {
    unconnected(|near, to| near.send_to(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

fn send_to_by() -> Case {
    let address = |socket: &UdpSocket, into: &mut [u8]| sender(socket, into).address();
    replies(address, |near, to, deadline| {
        near.send_to_by(&[IoSlice::new(&OCTETS)], to, deadline).expect("room");
    })
}

fn floors_datagram_send_to() -> Case {
    unconnected(|near, to| floor::send_to(near.as_fd(), &OCTETS, to))
}

/// What is known of the sender is looked at, as else it need not be received.
fn receives_from(counted: fn(&UdpSocket, &mut [u8], Instant) -> u16) -> Case {
    let [near, far] =
        [(); 2].map(|()| kept(UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port")));
    let [to, from] = [near, far].map(|socket| *socket.local().expect("it is bound"));
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send_to(&[IoSlice::new(&OCTETS)], &to).expect("room"),
        move || assert_eq!(counted(near, &mut into, deadline), from.port()),
    )
}

fn receive_from() -> Case {
    receives_from(|near, into, _| {
        near.receive_from(into).expect("a datagram").from().expect("a sender").port()
    })
}

fn receive_from_now() -> Case {
    receives_from(|near, into, _| {
        near.receive_from_now(into).expect("a datagram").from().expect("a sender").port()
    })
}

fn receive_from_by() -> Case {
    receives_from(|near, into, deadline| {
        near.receive_from_by(into, deadline).expect("a datagram").from().expect("a sender").port()
    })
}

fn floors_receive_from() -> Case {
    receives_from(|near, into, _| u16::from_be(floor::receive_from(near.as_fd(), into).1.sin_port))
}

/// To who sent another datagram before.
fn replies<T: Copy + 'static>(
    took: fn(&UdpSocket, &mut [u8]) -> T,
    counted: fn(&UdpSocket, &T, Instant),
) -> Case {
    let [near, far] =
        [(); 2].map(|()| kept(UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port")));
    far.send_to(&[IoSlice::new(&OCTETS)], near.local().expect("it is bound")).expect("room");
    let sender = took(near, &mut [0; LENGTH]);
    let deadline = soon();
    before(
        move || counted(near, &sender, deadline),
        move || assert_eq!(far.receive_from(&mut [0; LENGTH]).expect("a datagram").octets, LENGTH),
    )
}

fn sender(socket: &UdpSocket, into: &mut [u8]) -> Sender<Udp> {
    socket.receive_from(into).expect("a datagram").from().expect("a sender")
}

fn reply() -> Case {
    replies(sender, |near, to, _| near.reply(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

fn reply_now() -> Case {
    replies(sender, |near, to, _| near.reply_now(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

fn reply_by() -> Case {
    replies(sender, |near, to, deadline| near.reply_by(&[IoSlice::new(&OCTETS)], to, deadline).expect("room"))
}

fn floors_reply() -> Case {
    replies(
        |near, into| floor::receive_from(near.as_fd(), into).1,
        |near, to, _| floor::send_to_form(near.as_fd(), &OCTETS, to),
    )
}

fn loopback() -> zorb_ipc::Interface {
    let found = interfaces().expect("they can be listed").into_iter();
    found
        .filter(|interface| interface.is_loopback)
        .find(|one| one.address.is_ipv4())
        .expect("a loopback interface")
}

fn form(to: SocketAddr) -> libc::sockaddr_in {
    let SocketAddr::V4(to) = to else { panic!("the floor speaks IPv4") };
    libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
        sin_zero: [0; 8],
    }
}

fn to_group() -> &'static MulticastSender {
    let to = (Ipv4Addr::new(239, 255, 80, 79), 9).into();
    let group = MulticastGroup::new(to, NonZeroU32::new(loopback().index)).expect("a group's address");
    let sender = MulticastSender::new(group).expect("descriptors are left");
    sender.set_loopback(false).expect("an option");
    kept(sender)
}

fn multicast_send() -> Case {
    let sender = to_group();
    Box::new(move |_| sender.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn multicast_send_now() -> Case {
    let group = to_group();
    Box::new(move |_| group.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn multicast_send_by() -> Case {
    let (group, deadline) = (to_group(), soon());
    Box::new(move |_| group.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_multicast_send() -> Case {
    let sender = to_group();
    let to = form(sender.group().address());
    Box::new(move |_| floor::send_to_form(sender.as_fd(), &OCTETS, &to))
}

fn to_network() -> &'static BroadcastSocket {
    kept(BroadcastSocket::to_network(&loopback(), 9).expect("a network"))
}

fn broadcast_send() -> Case {
    let sender = to_network();
    Box::new(move |_| sender.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn broadcast_send_now() -> Case {
    let network = to_network();
    Box::new(move |_| network.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn broadcast_send_by() -> Case {
    let (network, deadline) = (to_network(), soon());
    Box::new(move |_| network.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_broadcast_send() -> Case {
    let sender = to_network();
    let to = form(sender.to());
    Box::new(move |_| floor::send_to_form(sender.as_fd(), &OCTETS, &to))
}
