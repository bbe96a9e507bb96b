//! Running out of descriptors, with datagrams and messages. Alone in its process, whose limit it lowers.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_ipc::{
    BroadcastSocket, ConnectedDatagramSocket, DatagramSocket, Error, MulticastReceiver, MulticastSender,
    Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, Step, Wake, interfaces,
};

use conformance::datagrams::Tried;
use conformance::families::tried_datagrams;
use conformance::{LONG, unused_path, within};

/// Takes all that there are.
fn exhaust() -> Vec<Wake> {
    let mut fill = Vec::new();
    while let Ok(wake) = Wake::new() {
        fill.push(wake);
    }
    fill
}

fn is_told(error: &Error, step: Step) {
    assert!(error.is_descriptors_exhausted() && error.step() == step, "{error}");
    assert!(error.address().is_some(), "{error}");
}

fn family<F: Tried>() {
    let socket = DatagramSocket::<F::Family>::bind(F::fresh()).unwrap();
    let at = socket.local().unwrap().clone();
    let fill = exhaust();
    is_told(&DatagramSocket::<F::Family>::bind(F::fresh()).unwrap_err(), Step::Open);
    is_told(&ConnectedDatagramSocket::<F::Family>::connect(at.clone()).unwrap_err(), Step::Open);
    // What is open goes on.
    socket.send_to(&[IoSlice::new(b"still")], &at).unwrap();
    assert_eq!(socket.receive_from_by(&mut [0; 8], within(LONG)).unwrap().octets, 5);
    drop(fill);
    // Neither success nor failure leaks a descriptor: far more operations than the limit.
    for _ in 0..200 {
        assert!(DatagramSocket::<F::Family>::bind(at.clone()).unwrap_err().is_address_in_use());
        ConnectedDatagramSocket::<F::Family>::connect(at.clone()).unwrap();
        drop(DatagramSocket::<F::Family>::bind(F::fresh()).unwrap().connect(at.clone()).unwrap());
    }
}

#[test]
fn exhausted_descriptors_are_told_apart_and_nothing_is_lost() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
    macro_rules! exhausting {
        ($name:ident: $family:ty) => {
            tried_datagrams::<$family>(stringify!($name), family::<$family>);
        };
    }
    every_datagram_family!(exhausting);
    to_many();
    messages();
}

/// Broadcast and multicast.
fn to_many() {
    let loopback =
        interfaces().unwrap().into_iter().find(|one| one.is_loopback && one.address.is_ipv4()).unwrap();
    let group = format!("239.255.0.1:5000%{}", loopback.index).parse().unwrap();
    let fill = exhaust();
    is_told(&BroadcastSocket::to_network(&loopback, 5000).unwrap_err(), Step::Open);
    is_told(&MulticastReceiver::new(group).unwrap_err(), Step::Open);
    is_told(&MulticastSender::new(group).unwrap_err(), Step::Open);
    drop(fill);
    for _ in 0..200 {
        assert!(MulticastReceiver::of_source(group, "::1".parse().unwrap()).is_err());
        drop(BroadcastSocket::to_network(&loopback, 5000).unwrap());
    }
}

fn messages() {
    let acceptor = SeqpacketAcceptor::bind(unused_path(), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
    client.send(&[IoSlice::new(b"waiting")]).unwrap();
    let mut fill = exhaust();
    is_told(&Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap_err(), Step::Open);
    for error in [acceptor.accept_now().unwrap_err(), acceptor.accept_by(within(LONG)).unwrap_err()] {
        assert!(error.is_descriptors_exhausted() && error.step() == Step::Accept, "{error}");
    }
    // The peer is still there once a descriptor is, with what it sent.
    fill.pop();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    assert_eq!(server.receive_by(&mut [0; 16], within(LONG)).unwrap(), 7);
    drop((fill, server, client));
    for _ in 0..200 {
        let client = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
        drop((acceptor.accept_by(within(LONG)).unwrap(), client));
    }
}
