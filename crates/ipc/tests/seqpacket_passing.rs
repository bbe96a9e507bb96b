//! Descriptors passed with messages: they arrive, in order, with their message, and none is left open. Alone
//! in its process, whose descriptors it counts and whose limit it lowers.

use std::fs::File;
use std::io::{IoSlice, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::{Errno, FdFlags, fcntl_getfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_ipc::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, Step, UnixAddress};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn pair() -> (Seqpacket, Seqpacket) {
    let name = format!("zorb-ipc-seqpacket-passing-{}", std::process::id());
    let at = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let acceptor = SeqpacketAcceptor::bind(at.clone(), &SeqpacketAcceptorOptions::new()).unwrap();
    (Seqpacket::connect(at, soon()).unwrap(), acceptor.accept_by(soon()).unwrap())
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A file without a name that holds a number.
fn numbered(number: usize) -> File {
    let memory = rustix::fs::memfd_create("numbered", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let mut file = File::from(memory);
    write!(file, "{number}").unwrap();
    file
}

fn number(file: &mut File) -> usize {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text.parse().unwrap()
}

fn lent(files: &[File]) -> Vec<BorrowedFd<'_>> {
    files.iter().map(AsFd::as_fd).collect()
}

fn they_arrive_with_their_message() {
    let (one, other) = pair();
    let slices = [IoSlice::new(b"carry"), IoSlice::new(b"ing")];
    let mut into = [0; 64];
    for count in [0, 1, 2, 253] {
        let files: Vec<File> = (0..count).map(numbered).collect();
        one.send_passing(&slices, &lent(&files), soon()).unwrap();
        one.send(&[IoSlice::new(b"alone")]).unwrap();
        drop(files);
        let passed = other.receive_passed(&mut into, soon()).unwrap();
        assert_eq!(&into[..passed.octets], b"carrying");
        let mut files: Vec<File> = passed.descriptors.into_iter().map(File::from).collect();
        assert_eq!(files.iter_mut().map(number).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
        assert!(files.iter().all(|file| fcntl_getfd(file).unwrap().contains(FdFlags::CLOEXEC)));
        let passed = other.receive_passed(&mut into, soon()).unwrap();
        assert_eq!((passed.octets, passed.descriptors.len()), (5, 0), "each message has its own");
    }
    let many: Vec<File> = (0..254).map(numbered).collect();
    for (slices, files) in [(&slices[..], &many[..]), (&[], &many[..1])] {
        let error = one.send_passing(slices, &lent(files), soon()).unwrap_err();
        assert_eq!((error.step(), error.raw_os_error()), (Step::Send, Some(Errno::INVAL.raw_os_error())));
    }
    let error = other.receive_passed(&mut into, Instant::now()).unwrap_err();
    assert!(error.is_timeout(), "nothing of them was sent: {error}");
    drop(one);
    assert_eq!(other.receive_passed(&mut into, soon()).unwrap().octets, 0, "the end");
}

fn none_is_left_open_on_any_path() {
    let before = open_descriptors();
    {
        let (one, other) = pair();
        let files: Vec<File> = (0..10).map(numbered).collect();
        let slices = [IoSlice::new(b"message")];
        // Received by who does not ask for them, and dropped.
        one.send_passing(&slices, &lent(&files), soon()).unwrap();
        assert_eq!(other.receive(&mut [0; 64]).unwrap(), 7);
        one.send_passing(&slices, &lent(&files), soon()).unwrap();
        drop(other.receive_passed(&mut [0; 64], soon()).unwrap());
        // Of a message that is cut.
        one.send_passing(&slices, &lent(&files), soon()).unwrap();
        let error = other.receive_passed(&mut [0; 2], soon()).unwrap_err();
        assert!(error.is_truncated() && error.whole_length() == Some(7), "{error}");
        // Never received.
        one.send_passing(&slices, &lent(&files), soon()).unwrap();
    }
    assert_eq!(open_descriptors(), before);
}

fn a_process_without_room_for_them_is_told() {
    let (one, other) = pair();
    let files: Vec<File> = (0..40).map(numbered).collect();
    one.send_passing(&[IoSlice::new(b"too many")], &lent(&files), soon()).unwrap();
    drop(files);
    let open = open_descriptors();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(open as u64 + 8), maximum: limit.maximum }).unwrap();
    let mut into = [0; 64];
    let error = other.receive_passed(&mut into, soon()).unwrap_err();
    setrlimit(Resource::Nofile, limit).unwrap();
    assert!(error.is_descriptors_exhausted() && error.step() == Step::Receive, "{error}");
    assert_eq!((error.transferred(), &into[..8]), (8, &b"too many"[..]));
    assert_eq!(open_descriptors(), open, "none of those that did arrive is left");
}

#[test]
fn descriptors_pass() {
    they_arrive_with_their_message();
    none_is_left_open_on_any_path();
    a_process_without_room_for_them_is_told();
}
