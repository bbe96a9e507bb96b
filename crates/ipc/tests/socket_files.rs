//! The files of listening Unix sockets: who may replace them, and who removes them.

use std::fs::{self, File};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use zorb_ipc::{AcceptorOptions, Error, Step, Unix, UnixAcceptor, UnixAddress, UnixStream};

const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

/// A directory of a test's own.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zorb-ipc-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> UnixAddress {
        UnixAddress::path(self.0.join(name)).unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn replacing() -> AcceptorOptions<Unix> {
    AcceptorOptions::new().replace_abandoned(true)
}

fn path(at: &UnixAddress) -> &Path {
    at.as_path().unwrap()
}

/// As another program does it that knows nothing of this crate, or is at it.
fn bound(at: &UnixAddress) -> OwnedFd {
    let fd = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddrUnix::new(path(at)).unwrap()).unwrap();
    fd
}

fn refused_as_taken(bound: Result<UnixAcceptor, Error>) {
    let error = bound.unwrap_err();
    assert!(error.is_address_in_use() && error.step() == Step::Bind && error.address().is_some(), "{error}");
}

#[test]
fn an_abandoned_file_is_replaced_by_whoever_asks_for_it() {
    let directory = Directory::new("abandoned");
    let at = directory.at("socket");
    drop(bound(&at));
    refused_as_taken(UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()));
    let acceptor = UnixAcceptor::bind(at.clone(), &replacing().mode(0o600)).unwrap();
    assert_eq!(fs::metadata(path(&at)).unwrap().permissions().mode() & 0o777, 0o600);
    UnixStream::connect(at.clone(), soon()).unwrap();
    acceptor.accept_by(soon()).unwrap();
    drop(acceptor);
    assert!(!path(&at).exists(), "it goes with its acceptor");
}

/// The kernel refuses connections to such a file as it does for a socket without an acceptor.
#[test]
fn a_file_that_is_no_socket_is_never_replaced() {
    let directory = Directory::new("no-socket");
    let at = directory.at("letter");
    fs::write(path(&at), "dear reader").unwrap();
    refused_as_taken(UnixAcceptor::bind(at.clone(), &replacing()));
    assert_eq!(fs::read(path(&at)).unwrap(), b"dear reader");

    let (link, dead) = (directory.at("link"), directory.at("dead"));
    drop(bound(&dead));
    std::os::unix::fs::symlink(path(&dead), path(&link)).unwrap();
    refused_as_taken(UnixAcceptor::bind(link.clone(), &replacing()));
    assert!(fs::symlink_metadata(path(&link)).unwrap().is_symlink() && path(&dead).exists());
    refused_as_taken(UnixAcceptor::bind(UnixAddress::path(&directory.0).unwrap(), &replacing()));
}

#[test]
fn whoever_listens_is_never_replaced() {
    let directory = Directory::new("alive");
    let at = directory.at("socket");
    let first = UnixAcceptor::bind(at.clone(), &replacing()).unwrap();
    refused_as_taken(UnixAcceptor::bind(at.clone(), &replacing()));
    // Nor if its queue is full.
    drop(first);
    let fd = bound(&at);
    listen(&fd, 0).unwrap();
    let _queued = UnixStream::connect(at.clone(), soon()).unwrap();
    refused_as_taken(UnixAcceptor::bind(at.clone(), &replacing()));
    assert!(path(&at).exists());
}

#[test]
fn whoever_is_about_to_listen_is_not_taken_for_abandoned() {
    let directory = Directory::new("about");
    let at = directory.at("socket");
    let turn = File::open(&directory.0).unwrap();
    flock(&turn, FlockOperation::LockExclusive).unwrap();
    let first = bound(&at);
    thread::scope(|scope| {
        let second = scope.spawn(|| UnixAcceptor::bind(at.clone(), &replacing()));
        thread::sleep(Duration::from_millis(100));
        assert!(path(&at).exists() && !second.is_finished(), "it waits for its turn");
        listen(&first, 1).unwrap();
        flock(&turn, FlockOperation::Unlock).unwrap();
        refused_as_taken(second.join().unwrap());
    });
    UnixStream::connect(at.clone(), soon()).unwrap();
    // Who keeps the directory locked stops nobody for good, and nothing is replaced meanwhile.
    drop(first);
    flock(&turn, FlockOperation::LockExclusive).unwrap();
    refused_as_taken(UnixAcceptor::bind(at.clone(), &replacing()));
    assert!(fs::symlink_metadata(path(&at)).unwrap().file_type().is_socket());
    UnixAcceptor::bind(directory.at("other"), &AcceptorOptions::new()).unwrap();
}

/// All have it one after the other, and nobody believes to have it who is not reached.
#[test]
fn many_that_replace_one_file_take_turns() {
    let directory = Directory::new("turns");
    let at = directory.at("socket");
    drop(bound(&at));
    thread::scope(|scope| {
        for number in 0..8_u8 {
            let at = &at;
            scope.spawn(move || {
                let until = soon();
                let acceptor = loop {
                    match UnixAcceptor::bind(at.clone(), &replacing()) {
                        Err(error) if error.is_address_in_use() => assert!(Instant::now() < until),
                        bound => break bound.unwrap(),
                    }
                    thread::sleep(Duration::from_millis(1));
                };
                let there = UnixStream::connect(at.clone(), soon()).unwrap();
                let _ = there.send(&[IoSlice::new(&[number])]).unwrap();
                let mut into = [0];
                // Others connect as well, to see whether somebody listens, and say nothing.
                while let Err(ended) = acceptor.accept_by(soon()).unwrap().receive_exact(&mut into, soon()) {
                    assert!(ended.is_unexpected_end(), "{ended}");
                }
                assert_eq!(into, [number]);
            });
        }
    });
    assert!(!path(&at).exists());
}

/// Once it no longer listens another may have made one of that name, which could have the same number.
#[test]
fn its_file_is_gone_before_it_stops_listening() {
    let directory = Directory::new("order");
    for _ in 0..200 {
        let at = directory.at("socket");
        let acceptor = UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()).unwrap();
        let queued = UnixStream::connect(at.clone(), soon()).unwrap();
        thread::scope(|scope| {
            let told = scope.spawn(|| {
                let _ = queued.receive_by(&mut [0], soon());
                path(&at).exists()
            });
            thread::sleep(Duration::from_micros(200));
            drop(acceptor);
            assert!(!told.join().unwrap());
        });
    }
}

#[test]
fn a_successors_file_stays() {
    let directory = Directory::new("successor");
    let at = directory.at("socket");
    let first = UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()).unwrap();
    fs::remove_file(path(&at)).unwrap();
    let second = UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()).unwrap();
    drop(first);
    UnixStream::connect(at.clone(), soon()).unwrap();
    second.accept_by(soon()).unwrap();
}
