//! Descriptors passed between Unix streams: they arrive, in order, and none is left open. Alone in its process, whose
//! descriptors it counts and whose limit it lowers.

mod left_out;

use std::fs::File;
use std::io::{IoSlice, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_ipc::{AcceptorOptions, Step, UnixAcceptor, UnixAddress, UnixStream};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn pair() -> (UnixStream, UnixStream) {
    let name = format!("zorb-ipc-passing-{}", std::process::id());
    let at = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let acceptor = UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()).unwrap();
    (UnixStream::connect(at, soon()).unwrap(), acceptor.accept_by(soon()).unwrap())
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

fn they_arrive_in_order_any_number_of_them() {
    let (one, other) = pair();
    for count in [0, 1, 2, 253, 254, 600] {
        let files: Vec<File> = (0..count).map(numbered).collect();
        one.send_passing(b"carrying", &lent(&files), soon()).unwrap();
        drop(files);
        let (mut octets, mut arrived) = (Vec::<u8>::new(), Vec::new());
        while octets.len() < 8 {
            let mut into = [0; 64];
            let passed = other.receive_passed(&mut into, soon()).unwrap();
            octets.extend(&into[..passed.octets]);
            arrived.extend(passed.descriptors);
        }
        assert_eq!(octets, b"carrying");
        let mut files: Vec<File> = arrived.into_iter().map(File::from).collect();
        let numbers: Vec<usize> = files.iter_mut().map(number).collect();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        for file in &files {
            assert!(rustix::io::fcntl_getfd(file).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        }
    }
    let files: Vec<File> = (0..254).map(numbered).collect();
    let error = one.send_passing(b"x", &lent(&files), soon()).unwrap_err();
    assert_eq!(
        (error.step(), error.raw_os_error()),
        (Step::Send, Some(rustix::io::Errno::INVAL.raw_os_error()))
    );
    let _ = one.send(&[IoSlice::new(b"after")]).unwrap();
    let passed = other.receive_passed(&mut [0; 64], soon()).unwrap();
    assert_eq!((passed.octets, passed.descriptors.len()), (5, 0), "nothing of it was sent");
}

fn none_is_left_open_on_any_path() {
    let before = open_descriptors();
    {
        let (one, other) = pair();
        let files: Vec<File> = (0..10).map(numbered).collect();
        // Received by who does not ask for them.
        one.send_passing(b"unwanted", &lent(&files), soon()).unwrap();
        assert_eq!(other.receive(&mut [0; 64]).unwrap(), 8);
        // Peeked at, received, and dropped.
        one.send_passing(b"dropped", &lent(&files), soon()).unwrap();
        other.peek_now(&mut [0; 64]).unwrap();
        drop(other.receive_passed(&mut [0; 64], soon()).unwrap());
        // Into less memory than there are octets.
        one.send_passing(b"short", &lent(&files), soon()).unwrap();
        assert_eq!(other.receive_passed(&mut [0; 2], soon()).unwrap().descriptors.len(), 10);
        assert_eq!(other.receive(&mut [0; 64]).unwrap(), 3);
        // Never received.
        one.send_passing(b"abandoned", &lent(&files), soon()).unwrap();
    }
    assert_eq!(open_descriptors(), before);
}

fn a_process_without_room_for_them_is_told() {
    let (one, other) = pair();
    let files: Vec<File> = (0..40).map(numbered).collect();
    one.send_passing(b"too many", &lent(&files), soon()).unwrap();
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

/// Whoever had the socket before may have asked for more than this crate does.
fn descriptors_that_nobody_asked_for_here_are_closed() {
    // linux/socket.h; SO_PASSSEC is the label's.
    const SO_PASSPIDFD: libc::c_int = 76;
    let before = open_descriptors();
    let (one, other) = pair();
    let (on, length) = (1 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
    for option in [libc::SO_PASSCRED, libc::SO_PASSSEC, SO_PASSPIDFD, libc::SO_TIMESTAMPNS] {
        let (fd, on_at) = (other.as_fd().as_raw_fd(), &raw const on);
        // SAFETY: the kernel reads a C `int`, which is there.
        let done = unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, on_at.cast(), length) };
        if done != 0 {
            left_out("a socket's option", &format!("this kernel has no {option}"));
        }
    }
    let with_pair = open_descriptors();
    let _ = one.send(&[IoSlice::new(b"plain")]).unwrap();
    let passed = other.receive_passed(&mut [0; 64], soon()).unwrap();
    assert_eq!((passed.octets, passed.descriptors.len()), (5, 0));
    assert_eq!(passed.credentials.unwrap().process, Some(std::process::id()));
    assert_eq!(open_descriptors(), with_pair);
    // As many as there may be leave room for all the rest.
    let files: Vec<File> = (0..253).map(numbered).collect();
    one.send_passing(b"full", &lent(&files), soon()).unwrap();
    let passed = other.receive_passed(&mut [0; 64], soon()).unwrap();
    assert_eq!((passed.octets, passed.descriptors.len()), (4, 253));
    assert!(passed.credentials.is_some());
    drop((passed, files));
    // And where nothing is asked for, and where there is only the end.
    let _ = one.send(&[IoSlice::new(b"plain")]).unwrap();
    assert_eq!(other.receive_by(&mut [0; 64], soon()).unwrap(), 5);
    one.shutdown_send().unwrap();
    let passed = other.receive_passed(&mut [0; 64], soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials), (0, None));
    assert_eq!(open_descriptors(), with_pair);
    drop((one, other));
    assert_eq!(open_descriptors(), before);
}

#[test]
fn descriptors_pass() {
    descriptors_that_nobody_asked_for_here_are_closed();
    they_arrive_in_order_any_number_of_them();
    none_is_left_open_on_any_path();
    a_process_without_room_for_them_is_told();
}
