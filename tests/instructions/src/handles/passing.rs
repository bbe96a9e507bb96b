//! Descriptors beside the octets, over streams and seqpackets.

use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use zorb_ipc::{Seqpacket, UnixStream};

use super::messages::messages;
use crate::stage::{LENGTH, OCTETS, before, elsewhere, kept, soon, streams};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/send-passing", send_passing),
    ("libc/send-passing", floors_send_passing),
    ("ipc/receive-passed", receive_passed),
    ("libc/receive-passed", floors_receive_passed),
    ("ipc/message-send-passing", message_send_passing),
    ("libc/message-send-passing", floors_message_send_passing),
    ("ipc/message-receive-passed", message_receive_passed),
    ("libc/message-receive-passed", floors_message_receive_passed),
];

/// The stream's own descriptor is as good as any.
fn passes(counted: fn(&UnixStream, Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || {
            let passed = far.receive_passed(&mut [0; LENGTH], soon()).expect("octets");
            assert_eq!((passed.octets, passed.descriptors.len()), (LENGTH, 1));
        },
    )
}

fn send_passing() -> Case {
    passes(|near, deadline| near.send_passing(&OCTETS, &[near.as_fd()], deadline).expect("room"))
}

fn floors_send_passing() -> Case {
    passes(|near, _| {
        floor::send_passing(near.as_fd(), &OCTETS, near.as_fd());
    })
}

/// Closing them is no transfer.
fn passed(counted: fn(&UnixStream, &mut [u8], Instant) -> Vec<OwnedFd>) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        elsewhere(&mut || far.send_passing(&OCTETS, &[far.as_fd()], soon()).expect("room"));
        let mut descriptors = counted(near, &mut into, deadline);
        elsewhere(&mut || {
            assert_eq!(descriptors.len(), 1);
            descriptors = Vec::new();
        });
    })
}

fn receive_passed() -> Case {
    passed(|near, into, deadline| {
        let passed = near.receive_passed(into, deadline).expect("octets");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

fn floors_receive_passed() -> Case {
    passed(|near, into, _| {
        let passed = floor::receive_passed(near.as_fd(), into, 0);
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

fn message_passes(counted: fn(&Seqpacket, Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || {
            let passed = far.receive_passed(&mut [0; LENGTH], soon()).expect("a message");
            assert_eq!((passed.octets, passed.descriptors.len()), (LENGTH, 1));
        },
    )
}

fn message_send_passing() -> Case {
    message_passes(|near, deadline| {
        near.send_passing(&[IoSlice::new(&OCTETS)], &[near.as_fd()], deadline).expect("room");
    })
}

fn floors_message_send_passing() -> Case {
    message_passes(|near, _| assert_eq!(floor::send_passing(near.as_fd(), &OCTETS, near.as_fd()), LENGTH))
}

fn message_passed(counted: fn(&Seqpacket, &mut [u8], Instant) -> Vec<OwnedFd>) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        elsewhere(&mut || far.send_passing(&[IoSlice::new(&OCTETS)], &[far.as_fd()], soon()).expect("room"));
        let mut descriptors = counted(near, &mut into, deadline);
        elsewhere(&mut || {
            assert_eq!(descriptors.len(), 1);
            descriptors = Vec::new();
        });
    })
}

fn message_receive_passed() -> Case {
    message_passed(|near, into, deadline| {
        let passed = near.receive_passed(into, deadline).expect("a message");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

fn floors_message_receive_passed() -> Case {
    message_passed(|near, into, _| {
        // What rides on a message without octets is nobody's, and what is longer than the room is no message.
        let passed = loop {
            let passed = floor::receive_passed(near.as_fd(), into, libc::MSG_TRUNC);
            if passed.octets > 0 {
                break passed;
            }
        };
        assert!(passed.octets <= into.len(), "it was cut short");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}
