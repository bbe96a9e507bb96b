//! Pipes.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{PipeReader, PipeWriter, pipe};

use crate::stage::{LENGTH, OCTETS, after, before, soon};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/pipe-send", pipe_send),
    ("ipc/by-pipe-send", pipe_send_by),
    ("ipc/pipe-all", pipe_send_all),
    ("libc/pipe-send", floors_pipe_send),
    ("libc/pipe-all", floors_pipe_send_all),
    ("ipc/pipe-receive", pipe_receive),
    ("ipc/by-pipe-receive", pipe_receive_by),
    ("ipc/pipe-exact", pipe_receive_exact),
    ("libc/pipe-receive", floors_pipe_receive),
    ("libc/pipe-exact", floors_pipe_receive_exact),
];

fn pipe_sends(counted: fn(&PipeWriter, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    before(
        move || counted(&writer, deadline),
        move || reader.receive_exact(&mut into, soon()).expect("octets"),
    )
}

fn pipe_send() -> Case {
    pipe_sends(|writer, _| {
        let _ = writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room");
    })
}

fn pipe_send_by() -> Case {
    pipe_sends(|writer, deadline| {
        let _ = writer.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room");
    })
}

fn pipe_send_all() -> Case {
    pipe_sends(|writer, deadline| writer.send_all(&mut [IoSlice::new(&OCTETS)], deadline).expect("room"))
}

fn floors_pipe_send() -> Case {
    pipe_sends(|writer, _| {
        floor::write(writer.as_fd(), &OCTETS);
    })
}

fn floors_pipe_send_all() -> Case {
    pipe_sends(|writer, _| floor::write_all(writer.as_fd(), &OCTETS))
}

fn pipe_receives(counted: fn(&PipeReader, &mut [u8], Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(&reader, &mut into, deadline),
    )
}

fn pipe_receive() -> Case {
    pipe_receives(|reader, into, _| {
        reader.receive_now(into).expect("octets");
    })
}

fn pipe_receive_by() -> Case {
    pipe_receives(|reader, into, deadline| {
        reader.receive_by(into, deadline).expect("octets");
    })
}

fn pipe_receive_exact() -> Case {
    pipe_receives(|reader, into, deadline| reader.receive_exact(into, deadline).expect("octets"))
}

fn floors_pipe_receive() -> Case {
    pipe_receives(|reader, into, _| {
        floor::read(reader.as_fd(), into);
    })
}

fn floors_pipe_receive_exact() -> Case {
    pipe_receives(|reader, into, _| floor::read_exact(reader.as_fd(), into))
}
