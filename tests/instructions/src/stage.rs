//! What the cases of transfers stand on: connections, what is sent, and what is done outside the count.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use zorb_ipc::{
    AcceptorOptions, ConnectedDatagramSocket, ConnectedUdpSocket, DatagramFamily, DatagramSocket, UdpSocket,
    UnixAcceptor, UnixAddress, UnixStream,
};

use crate::Case;

pub(crate) const LENGTH: usize = 64;
pub(crate) static OCTETS: [u8; LENGTH] = [0x5A; LENGTH];

/// Not counted: `run` knows the name.
#[inline(never)]
pub(crate) fn elsewhere(action: &mut dyn FnMut()) {
    action();
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

pub(crate) fn name() -> UnixAddress {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-transfers-{}-{}", process::id(), NEXT.fetch_add(1, Relaxed));
    UnixAddress::abstract_name(name.as_bytes()).expect("a name")
}

/// A case of two things: one is done elsewhere, before or after the other, which is counted.
pub(crate) fn after(mut first: impl FnMut() + 'static, mut counted: impl FnMut() + 'static) -> Case {
    Box::new(move |_| {
        elsewhere(&mut first);
        counted();
    })
}

pub(crate) fn before(mut counted: impl FnMut() + 'static, mut then: impl FnMut() + 'static) -> Case {
    Box::new(move |_| {
        counted();
        elsewhere(&mut then);
    })
}

/// What it is done with lives as long as the program, which ends soon.
pub(crate) fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(crate) fn streams() -> [UnixStream; 2] {
    let name = name();
    let acceptor = UnixAcceptor::bind(name.clone(), &AcceptorOptions::new()).expect("our own name");
    let near = UnixStream::connect(name, soon()).expect("it listens");
    [near, acceptor.accept_by(soon()).expect("a peer waits")]
}

pub(crate) fn connected<F: DatagramFamily>(
    sockets: [DatagramSocket<F>; 2],
) -> [&'static ConnectedDatagramSocket<F>; 2] {
    let [one, other] = sockets;
    let [at_one, at_other] = [&one, &other].map(|socket| socket.local().expect("it is bound").clone());
    [one.connect(at_other), other.connect(at_one)].map(|end| kept(end.expect("a way")))
}

pub(crate) fn udp() -> [&'static ConnectedUdpSocket; 2] {
    connected([(); 2].map(|()| UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port")))
}
