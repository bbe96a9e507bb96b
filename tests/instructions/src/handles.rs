//! The data-transfer operations of `zorb-ipc`, and the same loops over `libc`: what the handles add to a system call.
//!
//! Each case is one operation on one end of a connection; what its other end does so that there is always room, or
//! something to receive, is not counted.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use zorb_ipc::{
    AcceptorOptions, ByteStream, ConnectedUdpSocket, UdpSocket, UnixAcceptor, UnixAddress, UnixStream,
};

use crate::{Case, floor};

/// Of every transfer, in octets; a gathered one has them in two halves.
const LENGTH: usize = 64;

/// What is sent.
static OCTETS: [u8; LENGTH] = [0x5A; LENGTH];

/// What a case does with the two ends of a connection.
type Operation = fn(&UnixStream, &mut [u8; LENGTH], Instant);

/// Who takes what has been sent, or puts there what is to be received, uncounted.
#[derive(Clone, Copy)]
enum Peer {
    Takes,
    Puts,
}

pub(crate) fn send() -> Case {
    stream(Peer::Takes, |near, _, _| {
        let _ = near.send(&[IoSlice::new(&OCTETS)]).expect("room");
    })
}

pub(crate) fn floors_send() -> Case {
    stream(Peer::Takes, |near, _, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

pub(crate) fn send_gathered() -> Case {
    stream(Peer::Takes, |near, _, _| {
        let (head, body) = OCTETS.split_at(LENGTH / 2);
        let _ = near.send(&[IoSlice::new(head), IoSlice::new(body)]).expect("room");
    })
}

pub(crate) fn floors_send_gathered() -> Case {
    stream(Peer::Takes, |near, _, _| {
        let (head, body) = OCTETS.split_at(LENGTH / 2);
        floor::send_gathered(near.as_fd(), [head, body]);
    })
}

pub(crate) fn send_all() -> Case {
    stream(Peer::Takes, |near, _, deadline| {
        near.send_all(&mut [IoSlice::new(&OCTETS)], deadline).expect("room");
    })
}

pub(crate) fn floors_send_all() -> Case {
    stream(Peer::Takes, |near, _, _| floor::send_all(near.as_fd(), &OCTETS))
}

pub(crate) fn receive() -> Case {
    stream(Peer::Puts, |near, into, _| {
        near.receive(into).expect("octets");
    })
}

pub(crate) fn floors_receive() -> Case {
    stream(Peer::Puts, |near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

pub(crate) fn receive_exact() -> Case {
    stream(Peer::Puts, |near, into, deadline| near.receive_exact(into, deadline).expect("octets"))
}

/// One function for every family, by its parameter: that must cost nothing.
pub(crate) fn receive_generic() -> Case {
    fn generic<S: ByteStream>(near: &S, into: &mut [u8], deadline: Instant) {
        near.receive_exact(into, deadline).expect("octets");
    }
    stream(Peer::Puts, |near, into, deadline| generic(near, into, deadline))
}

pub(crate) fn floors_receive_exact() -> Case {
    stream(Peer::Puts, |near, into, _| floor::receive_exact(near.as_fd(), into))
}

/// A connection, and an operation on its near end.
fn stream(peer: Peer, operation: Operation) -> Case {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let deadline = Instant::now() + Duration::from_secs(3600);
    let name = format!("zorb-instructions-{}-{}", process::id(), NEXT.fetch_add(1, Relaxed));
    let name = UnixAddress::abstract_name(name.as_bytes()).expect("a name");
    let acceptor = UnixAcceptor::bind(name.clone(), &AcceptorOptions::new()).expect("a name of our own");
    let near = UnixStream::connect(name, deadline).expect("it listens");
    let far = acceptor.accept_by(deadline).expect("a peer waits");
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        if matches!(peer, Peer::Puts) {
            put(&far);
        }
        operation(&near, &mut into, deadline);
        if matches!(peer, Peer::Takes) {
            take(&far);
        }
    })
}

/// Not counted: `run` knows the name.
#[inline(never)]
fn put(far: &UnixStream) {
    assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
}

/// Not counted: `run` knows the name.
#[inline(never)]
fn take(far: &UnixStream) {
    let mut into = [0; LENGTH];
    far.receive_exact(&mut into, Instant::now() + Duration::from_secs(60)).expect("what was sent");
    assert_eq!(into, OCTETS);
}

/// What a case does with one end of a pair of connected datagram sockets.
type Datagram = fn(&ConnectedUdpSocket, &mut [u8; LENGTH]);

pub(crate) fn datagram_send() -> Case {
    datagrams(Peer::Takes, |near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn floors_datagram_send() -> Case {
    datagrams(Peer::Takes, |near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

pub(crate) fn datagram_receive() -> Case {
    datagrams(Peer::Puts, |near, into| {
        near.receive(into).expect("a datagram");
    })
}

pub(crate) fn floors_datagram_receive() -> Case {
    datagrams(Peer::Puts, |near, into| {
        floor::receive(near.as_fd(), into);
    })
}

/// Two sockets that are connected to each other, and an operation on the near one.
fn datagrams(peer: Peer, operation: Datagram) -> Case {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port"));
    let [at_one, at_other] = [&one, &other].map(|socket| *socket.local().expect("it is bound"));
    let near = one.connect(at_other).expect("a route");
    let far = other.connect(at_one).expect("a route");
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        if matches!(peer, Peer::Puts) {
            put_datagram(&far);
        }
        operation(&near, &mut into);
        if matches!(peer, Peer::Takes) {
            take_datagram(&far);
        }
    })
}

/// Not counted: `run` knows the name.
#[inline(never)]
fn put_datagram(far: &ConnectedUdpSocket) {
    far.send(&[IoSlice::new(&OCTETS)]).expect("room");
}

/// Not counted: `run` knows the name.
#[inline(never)]
fn take_datagram(far: &ConnectedUdpSocket) {
    let mut into = [0; LENGTH];
    let deadline = Instant::now() + Duration::from_secs(60);
    assert_eq!(far.receive_by(&mut into, deadline).expect("what was sent"), LENGTH);
    assert_eq!(into, OCTETS);
}

/// To anybody, with an address for each.
pub(crate) fn datagram_send_to() -> Case {
    unconnected(|near, to| near.send_to(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

pub(crate) fn floors_datagram_send_to() -> Case {
    unconnected(|near, to| floor::send_to(near.as_fd(), &OCTETS, to))
}

fn unconnected(operation: fn(&UdpSocket, &std::net::SocketAddr)) -> Case {
    let [near, far] = [(); 2].map(|()| UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port"));
    let to = *far.local().expect("it is bound");
    Box::new(move |_| {
        operation(&near, &to);
        take_from(&far);
    })
}

/// Not counted: `run` knows the name.
#[inline(never)]
fn take_from(far: &UdpSocket) {
    let mut into = [0; LENGTH];
    let received =
        far.receive_from_by(&mut into, Instant::now() + Duration::from_secs(60)).expect("it was sent");
    assert_eq!((received.octets, into), (LENGTH, OCTETS));
}
