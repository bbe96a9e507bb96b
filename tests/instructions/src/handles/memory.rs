//! Memory with a descriptor, and memory that processes share.

use std::os::fd::AsFd;

use zorb_ipc::{Memfd, Segment, SegmentOptions};

use crate::stage::{LENGTH, OCTETS, kept};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/read-at", read_at),
    ("libc/read-at", floors_read_at),
    ("ipc/sized-read-at", sized_read_at),
    ("ipc/sealed-read-at", sealed_read_at),
    ("ipc/write-at", write_at),
    ("libc/write-at", floors_write_at),
    ("ipc/copy-in", copy_in),
    ("ipc/copy-out", copy_out),
];

fn memory() -> &'static Memfd {
    kept(Memfd::create("zorb-instructions", 4096).expect("memory"))
}

fn read_at() -> Case {
    let (memory, mut into) = (memory(), [0; LENGTH]);
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

fn floors_read_at() -> Case {
    let (memory, mut into) = (memory(), [0; LENGTH]);
    Box::new(move |_| assert_eq!(floor::read_at(memory.as_fd(), &mut into, 64), LENGTH))
}

fn sized_read_at() -> Case {
    let memory = Memfd::create("zorb-instructions", 4096).expect("memory").fix_size().expect("our own");
    let mut into = [0; LENGTH];
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

fn sealed_read_at() -> Case {
    let memory = Memfd::create("zorb-instructions", 4096).expect("memory").seal().expect("our own");
    let mut into = [0; LENGTH];
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

fn write_at() -> Case {
    let memory = memory();
    Box::new(move |_| memory.write_at(&OCTETS, 64).expect("room"))
}

fn floors_write_at() -> Case {
    let memory = memory();
    Box::new(move |_| assert_eq!(floor::write_at(memory.as_fd(), &OCTETS, 64), LENGTH))
}

fn segment() -> Segment {
    Segment::create("zorb-instructions", 4096, &SegmentOptions::new()).expect("memory")
}

fn copy_in() -> Case {
    let segment = segment();
    Box::new(move |_| segment.copy_in(64, &OCTETS).expect("inside"))
}

fn copy_out() -> Case {
    let (segment, mut into) = (segment(), [0; LENGTH]);
    Box::new(move |_| segment.copy_out(64, &mut into).expect("inside"))
}
