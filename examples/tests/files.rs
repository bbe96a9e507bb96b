//! Sends files by the example's programs, as a reader would, and takes one of the two away.

mod process;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use process::{PATIENCE, Process, vsock};

const SENDER: &str = env!("CARGO_BIN_EXE_file-sender");
const RECEIVER: &str = env!("CARGO_BIN_EXE_file-receiver");
const TCP: &str = "tcp:127.0.0.1:0";

/// A folder of a test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("cargo's folder for tests can be written to");
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("cargo's folder is text").to_owned()
    }

    /// More than is moved at a time and than any queue holds, and no whole number of parts.
    fn sent(&self) -> (String, Vec<u8>) {
        let octets: Vec<u8> = (0..9_000_001_u32).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect();
        let path = self.file("sent");
        fs::write(&path, &octets).expect("there is room");
        (path, octets)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A receiver, and the host and port where it listens.
fn receiver(target: &str) -> (Process, String) {
    let mut receiver = Process::start_heard(RECEIVER, &[TCP, target]);
    let address = receiver.first_line();
    let at = address.strip_prefix("tcp:").expect("it listens on TCP").to_owned();
    (receiver, at)
}

/// What a receiver complains of when a sender has sent just that and is gone; it leaves nothing behind.
fn complaint_about(test: &str, octets: &[u8]) -> String {
    let folder = Folder::new(test);
    let target = folder.file("received");
    let (receiver, at) = receiver(&target);
    TcpStream::connect(at).and_then(|mut stream| stream.write_all(octets)).expect("it listens");
    let complaint = receiver.complaint();
    let left: Vec<_> = fs::read_dir(&folder.0).expect("it is there").collect();
    assert!(left.is_empty(), "{left:?}");
    complaint
}

fn head(length: u64) -> Vec<u8> {
    [*b"zorbfile", length.to_be_bytes()].concat()
}

#[test]
fn files_arrive_whole() {
    let folder = Folder::new("whole");
    let (path, octets) = folder.sent();
    let empty = folder.file("empty");
    fs::write(&empty, []).expect("there is room");
    let target = folder.file("received");
    let [unix, shm] = ["unix", "shm"].map(|family| format!("{family}:{}", folder.file(family)));
    for address in [TCP, &unix, &shm].into_iter().chain(vsock()) {
        for (sent, expected) in [(&path, &octets[..]), (&empty, &[])] {
            for how in [&[][..], &["copied"]] {
                let mut receiver = Process::start(RECEIVER, &[address, &target]);
                let address = receiver.first_line();
                let arguments = [&[&*address, sent], how].concat();
                let said = Process::start(SENDER, &arguments).output();
                assert_eq!(said, format!("{} octets sent\n", expected.len()));
                assert!(receiver.0.wait().expect("it is our child").success());
                assert!(fs::read(&target).expect("it is there") == expected, "{address} {sent} {how:?}");
                fs::remove_file(&target).expect("it is there");
            }
        }
    }
}

#[test]
fn a_full_disk_is_told_to_both() {
    let folder = Folder::new("full");
    let (receiver, at) = receiver("/dev/full");
    let sender = Process::start_heard(SENDER, &[&format!("tcp:{at}"), &folder.sent().0]);
    let complaint = sender.complaint();
    assert!(complaint.contains("the receiver says: the disk is full"), "{complaint}");
    let complaint = receiver.complaint();
    assert!(complaint.contains("/dev/full: the disk is full"), "{complaint}");
}

#[test]
fn a_sender_that_dies_midway_leaves_no_file() {
    let complaint = complaint_about("dies", &[head(1 << 20), vec![7; 200_000]].concat());
    assert!(complaint.contains("truncated: the sender ended after 200000 octets"), "{complaint}");
    let complaint = complaint_about("dies-early", &head(1 << 20)[..11]);
    assert!(complaint.contains("truncated"), "{complaint}");
    let complaint = complaint_about("dies-late", &[head(3), b"all".to_vec()].concat());
    assert!(
        complaint.contains("truncated: the sender ended after 3 octets, before the checksum"),
        "{complaint}"
    );
}

#[test]
fn a_damaged_file_is_none() {
    let complaint = complaint_about("damaged", &[head(3), b"all".to_vec(), vec![1, 2, 3, 4]].concat());
    assert!(complaint.contains("damaged") && complaint.contains("01020304 was sent"), "{complaint}");
}

#[test]
fn a_stranger_sends_no_file() {
    let complaint = complaint_about("stranger", b"GET / HTTP/1.1\r\n\r\n");
    assert!(complaint.contains("does not send files"), "{complaint}");
}

/// Shared memory has no socket that says what was not taken.
#[test]
fn a_full_disk_is_told_over_shared_memory() {
    let folder = Folder::new("full-shm");
    let shm = format!("shm:{}", folder.file("shm"));
    let mut receiver = Process::start_heard(RECEIVER, &[&shm, "/dev/full"]);
    let address = receiver.first_line();
    let complaint = Process::start_heard(SENDER, &[&address, &folder.sent().0]).complaint();
    assert!(complaint.contains("the receiver says: the disk is full"), "{complaint}");
    let complaint = receiver.complaint();
    assert!(complaint.contains("/dev/full: the disk is full"), "{complaint}");
}

/// Once it has read some, and once it has not even begun.
#[test]
fn a_receiver_that_dies_midway_is_missed() {
    let folder = Folder::new("missed");
    let (path, _) = folder.sent();
    for read in [0, 100_000] {
        for how in [&[][..], &["copied"]] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("the system has a free port");
            let address = format!("tcp:{}", listener.local_addr().expect("it is bound"));
            let sender = Process::start_heard(SENDER, &[&[&*address, &path], how].concat());
            let (mut stream, _) = listener.accept().expect("the sender connects");
            stream.set_read_timeout(Some(PATIENCE)).expect("a time that can be set");
            stream.read_exact(&mut vec![0; read]).expect("the sender sends");
            drop(stream);
            let complaint = sender.complaint();
            assert!(complaint.contains("the receiver is gone") || complaint.contains("reset"), "{complaint}");
        }
    }
}

#[test]
fn what_cannot_be_sent_is_said() {
    let folder = Folder::new("missing");
    let missing = folder.file("missing");
    let complaint = Process::start_heard(SENDER, &["tcp:127.0.0.1:1", &missing]).complaint();
    assert!(complaint.contains(&missing) && complaint.contains("No such file"), "{complaint}");
    let complaint = Process::start_heard(SENDER, &["tcp:127.0.0.1:1", "/dev/null"]).complaint();
    assert!(complaint.contains("not a file"), "{complaint}");
    // Bound, and nobody listens.
    let (path, _) = folder.sent();
    for family in ["unix", "shm"] {
        let address = format!("{family}:{}", folder.file("nobody"));
        let complaint = Process::start_heard(SENDER, &[&address, &path]).complaint();
        assert!(complaint.contains(&address), "{complaint}");
    }
    let complaint = Process::start_heard(SENDER, &["udp:127.0.0.1:7", &path]).complaint();
    assert!(complaint.contains("no streams go there"), "{complaint}");
}
