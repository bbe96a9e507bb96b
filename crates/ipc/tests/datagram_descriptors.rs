//! Running out of descriptors, with datagrams and messages. Alone in its process, whose limit it lowers.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_ipc::{
    BroadcastSocket, ConnectedUdpSocket, ConnectedUnixDatagramSocket, Error, MulticastReceiver,
    MulticastSender, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, Step, UdpSocket, UnixAddress,
    UnixDatagramSocket, Wake, interfaces,
};

fn name(of: &str) -> UnixAddress {
    UnixAddress::abstract_name(format!("zorb-ipc-{}-{of}", std::process::id()).as_bytes()).unwrap()
}

#[test]
fn exhausted_descriptors_are_told_apart_and_nothing_is_lost() {
    let deadline = Instant::now() + Duration::from_secs(30);
    let any: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let udp = UdpSocket::bind(any).unwrap();
    let unix = UnixDatagramSocket::bind(name("datagrams")).unwrap();
    let (udp_at, unix_at) = (*udp.local().unwrap(), unix.local().unwrap().clone());
    let acceptor = SeqpacketAcceptor::bind(name("messages"), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(acceptor.local().clone(), deadline).unwrap();
    client.send(&[IoSlice::new(b"waiting")]).unwrap();
    let loopback =
        interfaces().unwrap().into_iter().find(|one| one.is_loopback && one.address.is_ipv4()).unwrap();
    let group = format!("239.255.0.1:5000%{}", loopback.index).parse().unwrap();

    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
    let mut fill = Vec::new();
    while let Ok(wake) = Wake::new() {
        fill.push(wake);
    }
    let errors: [Error; 8] = [
        UdpSocket::bind(any).unwrap_err(),
        ConnectedUdpSocket::connect(udp_at).unwrap_err(),
        UnixDatagramSocket::bind(name("more")).unwrap_err(),
        ConnectedUnixDatagramSocket::connect(unix_at.clone()).unwrap_err(),
        BroadcastSocket::to_network(&loopback, 5000).unwrap_err(),
        MulticastReceiver::new(group).unwrap_err(),
        MulticastSender::new(group).unwrap_err(),
        Seqpacket::connect(acceptor.local().clone(), deadline).unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_descriptors_exhausted() && error.step() == Step::Open, "{error}");
        assert!(error.address().is_some(), "{error}");
    }
    for error in [acceptor.accept_now().unwrap_err(), acceptor.accept_by(deadline).unwrap_err()] {
        assert!(error.is_descriptors_exhausted() && error.step() == Step::Accept, "{error}");
    }
    // What is open goes on.
    udp.send_to(&[IoSlice::new(b"still")], &udp_at).unwrap();
    assert_eq!(udp.receive_from_by(&mut [0; 8], deadline).unwrap().octets, 5);

    // The peer is still there once a descriptor is, with what it sent.
    fill.pop();
    let server = acceptor.accept_by(deadline).unwrap();
    assert_eq!(server.receive_by(&mut [0; 16], deadline).unwrap(), 7);
    drop((fill, server, client));

    // Neither success nor failure leaks a descriptor: far more operations than the limit.
    for _ in 0..200 {
        assert!(UdpSocket::bind(udp_at).unwrap_err().is_address_in_use());
        assert!(UnixDatagramSocket::bind(unix_at.clone()).unwrap_err().is_address_in_use());
        ConnectedUdpSocket::connect(udp_at).unwrap();
        ConnectedUnixDatagramSocket::connect(unix_at.clone()).unwrap();
        let client = Seqpacket::connect(acceptor.local().clone(), deadline).unwrap();
        drop((acceptor.accept_by(deadline).unwrap(), client));
        assert!(MulticastReceiver::of_source(group, "::1".parse().unwrap()).is_err());
        drop(BroadcastSocket::to_network(&loopback, 5000).unwrap());
    }
}
