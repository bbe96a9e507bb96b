//! Seqpackets: messages that stay whole.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions};

use crate::stage::{LENGTH, OCTETS, after, before, kept, name, soon};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/message-send", message_send),
    ("ipc/now-message-send", message_send_now),
    ("ipc/by-message-send", message_send_by),
    ("libc/message-send", floors_message_send),
    ("ipc/message-receive", message_receive),
    ("ipc/now-message-receive", message_receive_now),
    ("ipc/by-message-receive", message_receive_by),
    ("libc/message-receive", floors_message_receive),
];

pub(super) fn messages() -> [&'static Seqpacket; 2] {
    let name = name();
    let acceptor =
        SeqpacketAcceptor::bind(name.clone(), &SeqpacketAcceptorOptions::new()).expect("our own name");
    let near = Seqpacket::connect(name, soon()).expect("it listens");
    [near, acceptor.accept_by(soon()).expect("a peer waits")].map(kept)
}

fn message_sends(counted: fn(&Seqpacket, Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || assert_eq!(far.receive(&mut [0; LENGTH]).expect("a message"), LENGTH),
    )
}

fn message_send() -> Case {
    message_sends(|near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn message_send_now() -> Case {
    message_sends(|near, _| near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

fn message_send_by() -> Case {
    message_sends(|near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_message_send() -> Case {
    message_sends(|near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

fn message_receives(counted: fn(&Seqpacket, &mut [u8], Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || counted(near, &mut into, deadline),
    )
}

fn message_receive() -> Case {
    message_receives(|near, into, _| {
        near.receive(into).expect("a message");
    })
}

fn message_receive_now() -> Case {
    message_receives(|near, into, _| {
        near.receive_now(into).expect("a message");
    })
}

fn message_receive_by() -> Case {
    message_receives(|near, into, deadline| {
        near.receive_by(into, deadline).expect("a message");
    })
}

fn floors_message_receive() -> Case {
    message_receives(|near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}
