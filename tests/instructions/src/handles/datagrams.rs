//! Datagrams between two that are connected, and with what was received about them.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{
    ConnectedDatagramSocket, ConnectedUdpSocket, DatagramFamily, DatagramSocket, ReceiveTimestamps,
    UnixDatagram,
};

use crate::stage::{LENGTH, OCTETS, after, before, connected, name, soon, udp};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/datagram-send", datagram_send),
    ("ipc/now-datagram-send", datagram_send_now),
    ("ipc/by-datagram-send", datagram_send_by),
    ("libc/datagram-send", floors_datagram_send),
    ("ipc/unix-datagram-send", unix_datagram_send),
    ("ipc/by-unix-datagram-send", unix_datagram_send_by),
    ("libc/unix-datagram-send", floors_unix_datagram_send),
    ("ipc/datagram-receive", datagram_receive),
    ("ipc/now-datagram-receive", datagram_receive_now),
    ("ipc/by-datagram-receive", datagram_receive_by),
    ("libc/datagram-receive", floors_datagram_receive),
    ("ipc/unix-datagram-receive", unix_datagram_receive),
    ("ipc/by-unix-datagram-receive", unix_datagram_receive_by),
    ("libc/unix-datagram-receive", floors_unix_datagram_receive),
    ("ipc/receive-stamped", receive_stamped),
    ("libc/receive-stamped", floors_receive_stamped),
];

fn unix() -> [&'static ConnectedDatagramSocket<UnixDatagram>; 2] {
    connected([(); 2].map(|()| DatagramSocket::bind(name()).expect("our own name")))
}

fn sends<F: DatagramFamily>(
    [near, far]: [&'static ConnectedDatagramSocket<F>; 2],
    counted: fn(&ConnectedDatagramSocket<F>, Instant),
) -> Case {
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || assert_eq!(far.receive(&mut [0; LENGTH]).expect("a datagram"), LENGTH),
    )
}

fn datagram_send() -> Case {
    sends(udp(), |near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn datagram_send_now() -> Case {
    sends(udp(), |near, _| near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn datagram_send_by() -> Case {
    sends(udp(), |near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_datagram_send() -> Case {
    sends(udp(), |near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

fn unix_datagram_send() -> Case {
    sends(unix(), |near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn unix_datagram_send_by() -> Case {
    sends(unix(), |near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_unix_datagram_send() -> Case {
    sends(unix(), |near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

fn receives<F: DatagramFamily>(
    [near, far]: [&'static ConnectedDatagramSocket<F>; 2],
    counted: fn(&ConnectedDatagramSocket<F>, &mut [u8], Instant),
) -> Case {
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || counted(near, &mut into, deadline),
    )
}

fn datagram_receive() -> Case {
    receives(udp(), |near, into, _| {
        near.receive(into).expect("a datagram");
    })
}

fn datagram_receive_now() -> Case {
    receives(udp(), |near, into, _| {
        near.receive_now(into).expect("a datagram");
    })
}

fn datagram_receive_by() -> Case {
    receives(udp(), |near, into, deadline| {
        near.receive_by(into, deadline).expect("a datagram");
    })
}

fn floors_datagram_receive() -> Case {
    receives(udp(), |near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

fn unix_datagram_receive() -> Case {
    receives(unix(), |near, into, _| {
        near.receive(into).expect("a datagram");
    })
}

fn unix_datagram_receive_by() -> Case {
    receives(unix(), |near, into, deadline| {
        near.receive_by(into, deadline).expect("a datagram");
    })
}

fn floors_unix_datagram_receive() -> Case {
    receives(unix(), |near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

fn stamps(counted: fn(&ConnectedUdpSocket, &mut [u8], Instant) -> bool) -> Case {
    let [near, far] = udp();
    near.set(ReceiveTimestamps(true)).expect("sockets have them");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || assert!(counted(near, &mut into, deadline)),
    )
}

fn receive_stamped() -> Case {
    stamps(|near, into, deadline| near.receive_stamped_by(into, deadline).expect("a datagram").at.is_some())
}

fn floors_receive_stamped() -> Case {
    stamps(|near, into, _| floor::receive_stamped(near.as_fd(), into).1.is_some())
}
