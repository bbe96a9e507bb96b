//! Streams: sending, receiving, looking; into and out of several slices; without waiting and by a deadline.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{ByteStream, UnixStream};

use crate::stage::{LENGTH, OCTETS, after, before, kept, soon, streams};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/send", send),
    ("libc/send", floors_send),
    ("ipc/now-send", send_now),
    ("ipc/send-gathered", send_gathered),
    ("libc/send-gathered", floors_send_gathered),
    ("ipc/send-all", send_all),
    ("libc/send-all", floors_send_all),
    ("ipc/receive", receive),
    ("libc/receive", floors_receive),
    ("ipc/now-receive", receive_now),
    ("ipc/if-there-receive", receive_if_there),
    ("ipc/receive-by", receive_by),
    ("libc/receive-by", floors_receive_by),
    ("ipc/receive-exact", receive_exact),
    ("ipc/receive-generic", receive_generic),
    ("libc/receive-exact", floors_receive_exact),
    ("ipc/peek", peek),
    ("libc/peek", floors_peek),
    ("ipc/receive-scattered", receive_scattered),
    ("ipc/by-receive-scattered", receive_scattered_by),
    ("libc/receive-scattered", floors_receive_scattered),
    ("ipc/exact-receive-scattered", receive_scattered_exact),
];

fn stream_sends(counted: fn(&UnixStream, Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn send() -> Case {
    stream_sends(|near, _| {
        let _ = near.send(&[IoSlice::new(&OCTETS)]).expect("room");
    })
}

fn floors_send() -> Case {
    stream_sends(|near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

fn send_now() -> Case {
    stream_sends(|near, _| assert_eq!(near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH))
}

fn send_gathered() -> Case {
    stream_sends(|near, _| {
        let (head, body) = OCTETS.split_at(LENGTH / 2);
        let _ = near.send(&[IoSlice::new(head), IoSlice::new(body)]).expect("room");
    })
}

fn floors_send_gathered() -> Case {
    stream_sends(|near, _| {
        let (head, body) = OCTETS.split_at(LENGTH / 2);
        floor::send_gathered(near.as_fd(), [head, body]);
    })
}

fn send_all() -> Case {
    stream_sends(|near, deadline| {
        near.send_all(&mut [IoSlice::new(&OCTETS)], deadline).expect("room");
    })
}

fn floors_send_all() -> Case {
    stream_sends(|near, _| floor::send_all(near.as_fd(), &OCTETS))
}

fn stream_receives(counted: fn(&UnixStream, &mut [u8], Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(near, &mut into, deadline),
    )
}

fn receive() -> Case {
    stream_receives(|near, into, _| {
        near.receive(into).expect("octets");
    })
}

fn floors_receive() -> Case {
    stream_receives(|near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

fn receive_now() -> Case {
    stream_receives(|near, into, _| {
        near.receive_now(into).expect("octets");
    })
}

fn receive_if_there() -> Case {
    stream_receives(|near, into, _| {
        near.receive_if_there(into).expect("a stream").expect("octets");
    })
}

fn receive_by() -> Case {
    stream_receives(|near, into, deadline| {
        near.receive_by(into, deadline).expect("octets");
    })
}

fn floors_receive_by() -> Case {
    stream_receives(|near, into, _| {
        floor::receive_now(near.as_fd(), into);
    })
}

fn receive_exact() -> Case {
    stream_receives(|near, into, deadline| near.receive_exact(into, deadline).expect("octets"))
}

/// One function for every family, by its parameter: that must cost nothing.
fn receive_generic() -> Case {
    fn generic<S: ByteStream>(near: &S, into: &mut [u8], deadline: Instant) {
        near.receive_exact(into, deadline).expect("octets");
    }
    stream_receives(generic)
}

fn floors_receive_exact() -> Case {
    stream_receives(|near, into, _| floor::receive_exact(near.as_fd(), into))
}

/// What is looked at stays there, so that nobody has to put more.
fn peeks(counted: fn(&UnixStream, &mut [u8])) -> Case {
    let [near, far] = streams().map(kept);
    assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    let mut into = [0; LENGTH];
    before(move || counted(near, &mut into), || ())
}

fn peek() -> Case {
    peeks(|near, into| {
        near.peek_now(into).expect("octets");
    })
}

fn floors_peek() -> Case {
    peeks(|near, into| {
        floor::peek_now(near.as_fd(), into);
    })
}

fn scatters(counted: fn(&UnixStream, &mut [u8], &mut [u8], Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let (mut head, mut body) = ([0; 16], [0; LENGTH - 16]);
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(near, &mut head, &mut body, deadline),
    )
}

fn receive_scattered() -> Case {
    scatters(|near, head, body, _| {
        near.receive_slices_now(&mut [IoSliceMut::new(head), IoSliceMut::new(body)]).expect("octets");
    })
}

fn receive_scattered_by() -> Case {
    scatters(|near, head, body, deadline| {
        near.receive_slices_by(&mut [IoSliceMut::new(head), IoSliceMut::new(body)], deadline)
            .expect("octets");
    })
}

fn floors_receive_scattered() -> Case {
    scatters(|near, head, body, _| {
        floor::receive_scattered(near.as_fd(), [head, body]);
    })
}

fn receive_scattered_exact() -> Case {
    scatters(|near, head, body, deadline| {
        near.receive_slices_exact(&mut [IoSliceMut::new(head), IoSliceMut::new(body)], deadline)
            .expect("octets");
    })
}
