//! What a server's process holds while it serves 16 MiB images to eight clients at once, and after: `docs/limits.md` has the figures.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zorb::{Interface, Orb, Sequence};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Gallery, Probe};

use crate::fixture::{Place, probe};

const CLIENTS: usize = 8;
const IMAGE: usize = 16 << 20;
const MIB: usize = 1 << 20;

/// Slabs of a connection over shared memory, both ways, and its rings; nothing over others.
const SLABS: usize = 9 << 20;

/// Whatever else a process takes for eight connections: threads, and what the allocator has not given back to the system.
const SPARE: usize = 32 << 20;

/// What idle connections may hold, but for slabs. An image is 16 MiB, and each connection has had ten.
const IDLE: usize = 4 << 20;

/// The C library's allocator gives large blocks back as soon as they are freed. By itself it learns that blocks of 16 MiB
/// come and go, and keeps up to two for each of its arenas (mallopt(3), `M_MMAP_THRESHOLD`): here the server is weighed.
const AT_ONCE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

/// One test at a time weighs its server: a server may hold a quarter of a gigabyte, and its clients as much.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of eight connections.
fn slabs(at: Place) -> usize {
    if at.is_shared_memory() { CLIENTS * SLABS } else { 0 }
}

/// A server in a process of its own, which ends with it.
struct Server {
    child: Child,
    probe: String,
    gallery: String,
}

impl Server {
    fn start(endpoint: &str) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_probe-server"))
            .args([format!("listen={endpoint}"), "gallery=1".to_owned()])
            .envs([AT_ONCE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let [probe, gallery] = [(); 2].map(|()| lines.next().unwrap().unwrap());
        Server { child, probe, gallery }
    }

    /// A figure of its process's memory, in octets: `VmRSS` now, `VmHWM` at the most.
    fn weighs(&self, figure: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(figure)).unwrap();
        line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<usize>().unwrap() << 10
    }

    /// Waits until it weighs less than so much more than it did before.
    fn gives_back(&self, before: usize, but_for: usize) {
        let end = Instant::now() + PATIENCE;
        while self.weighs("VmRSS") > before + but_for {
            let more = self.weighs("VmRSS").saturating_sub(before) / MIB;
            assert!(Instant::now() < end, "it holds {more} MiB still");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets eight clients make ten calls each at once, and gives what keeps their connections.
fn at_once<T>(at: Place, object: impl Fn(&Orb) -> T + Sync, call: impl Fn(&T) + Sync) -> Vec<Orb> {
    let start = Barrier::new(CLIENTS);
    thread::scope(|scope| {
        let run = || {
            let orb = at.client().build();
            let object = object(&orb);
            start.wait();
            (0..10).for_each(|_| call(&object));
            orb
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(run)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

fn images_that_are_sent_are_sent_from_where_they_lie(at: Place) {
    let _alone = alone();
    let server = Server::start(at.endpoint());
    let gallery = |orb: &Orb| Gallery::from_object(orb.string_to_object(&server.gallery).unwrap().unwrap());
    // The servant makes one, and gives it to whoever asks.
    let paint = |gallery: &Gallery| assert_eq!(gallery.paint((IMAGE / 8) as u32).unwrap().len(), IMAGE / 8);
    let orb = at.client().build();
    paint(&gallery(&orb));
    let before = server.weighs("VmRSS");
    let clients = at_once(at, gallery, paint);
    let most = server.weighs("VmHWM").saturating_sub(before);
    // The one image, and a copy of what is left of it for each client that does not read for a while.
    assert!(most < CLIENTS * (IMAGE + SLABS) + SPARE, "{} MiB more", most / MIB);
    server.gives_back(before, slabs(at) + IDLE);
    drop(clients);
}

fn images_that_are_received_hold_one_message_each(at: Place) {
    let _alone = alone();
    let server = Server::start(at.endpoint());
    let image: Sequence<u8> = vec![7; IMAGE].into();
    let echo = |probe: &Probe| assert_eq!(probe.echo(&image).unwrap().len(), IMAGE);
    let before = server.weighs("VmRSS");
    let clients = at_once(at, |orb| probe(orb, &server.probe), echo);
    let most = server.weighs("VmHWM").saturating_sub(before);
    // A message each, from which it is sent as well, and such a copy.
    assert!(most < CLIENTS * (2 * IMAGE + SLABS) + SPARE, "{} MiB more", most / MIB);
    server.gives_back(before, slabs(at) + IDLE);
    drop(clients);
}

over! {
    by giop between processes:
    images_that_are_sent_are_sent_from_where_they_lie,
    images_that_are_received_hold_one_message_each,
}
