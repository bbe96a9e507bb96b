//! Ten thousand connections: half open, idle, and more than there are descriptors.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_tests::wire::{Order, Wire};

use crate::rig::{Healthy, Reader, Server, until};

const NATIVE: (u8, Order) = (2, Order::Little);

/// Octets of the server's memory that a silent connection may take: what it is, the maps it stands in, and its part of
/// what the allocator keeps.
const EACH: usize = 4096;

/// Two crowds at the same time would be more than most systems allow.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Descriptors for the crowd, and for the rest of this process and of the server, which has the same limit.
const DESCRIPTORS: u64 = 10_500;

/// As many connections as a crowd is to have, or as the system allows.
fn crowd() -> usize {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    if maximum.is_some_and(|maximum| maximum < DESCRIPTORS) {
        // root may; who may not goes on with what there is.
        let _ =
            setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) });
    }
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let crowd = 10_000.min(usize::try_from(allowed).unwrap_or(usize::MAX).saturating_sub(500));
    if crowd < 10_000 {
        assert!(
            std::env::var_os("ZORB_REQUIRE_PEERS").is_none(),
            "{allowed} descriptors are allowed, and this process may not raise that: too few for a crowd of 10000"
        );
        eprintln!("{allowed} descriptors are allowed: the crowd is {crowd}, not 10000");
    }
    crowd
}

/// Opens the crowd; each connection says `opening` first. All are accepted when this returns.
fn open(server: &Server, crowd: usize, opening: &[u8]) -> Vec<TcpStream> {
    let descriptors = server.descriptors();
    let streams = (0..crowd).map(|_| {
        let mut stream = server.connect();
        stream.write_all(opening).expect("it reads");
        stream
    });
    let streams = streams.collect();
    until("all are accepted", || server.descriptors() >= descriptors + crowd);
    streams
}

#[test]
fn ten_thousand_half_open_connections_hold_nobody_up() {
    let _alone = alone();
    let crowd = crowd();
    let server = Server::start(&["receive_time=600000"]);
    let healthy = Healthy::of(&server);
    let before = server.memory();
    let whole = Wire::request(NATIVE, 1, true, &server.key, "greet").string("x").done();
    let mut streams = open(&server, crowd, &whole[..20]);
    healthy.is_served();
    let each = || server.memory().saturating_sub(before) / crowd;
    until("little memory is held", || each() < EACH);
    eprintln!("{crowd} half-open connections: {} octets each, {} threads", each(), server.threads());
    // Each may go on where it stopped.
    for stream in streams.iter_mut().step_by(997) {
        stream.write_all(&whole[20..]).expect("it reads");
        assert!(Reader::new(stream).next("a message completed late").is_some());
    }
    drop(streams);
    healthy.finish();
}

#[test]
fn ten_thousand_half_open_connections_end_by_their_deadline() {
    let _alone = alone();
    let crowd = crowd();
    let server = Server::start(&["receive_time=1500"]);
    let healthy = Healthy::of(&server);
    let before = server.descriptors();
    let streams: Vec<_> = (0..crowd)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GIOP\x01\x02").expect("it reads");
            stream
        })
        .collect();
    until("all are closed", || server.descriptors() <= before);
    assert!(Reader::new(&streams[crowd - 1]).next("half a header").is_none());
    healthy.finish();
}

#[test]
fn ten_thousand_idle_connections_cost_memory_only() {
    let _alone = alone();
    let crowd = crowd();
    let server = Server::start(&[]);
    let healthy = Healthy::of(&server);
    let before = server.memory();
    let streams =
        open(&server, crowd, &Wire::request(NATIVE, 1, true, &server.key, "greet").string("x").done());
    for stream in &streams {
        assert!(Reader::new(stream).next("the first call").is_some());
    }
    let each = || server.memory().saturating_sub(before) / crowd;
    until("little memory is held", || each() < EACH);
    eprintln!("{crowd} idle connections: {} octets each, {} threads", each(), server.threads());
    healthy.finish();
}

#[test]
fn at_the_limit_of_connections_newcomers_are_served() {
    let server = Server::start(&["connections=16", "receive_time=600000", "drain=200"]);
    // Half a message is no work under way: such connections make room like idle ones.
    let mut streams = Vec::new();
    for _ in 0..200 {
        let mut stream = server.connect();
        stream.write_all(b"GIOP\x01").expect("the system takes it");
        streams.push(stream);
    }
    Healthy::of(&server).finish();
    // Those that were asked to close and did not are closed.
    until("no more are open than allowed", || server.descriptors() < 16 + 16);
}

#[test]
fn without_descriptors_newcomers_are_served_in_time() {
    let server = Server::start(&["descriptors=40", "receive_time=600000", "drain=200"]);
    let streams: Vec<_> = (0..100).map(|_| server.connect()).collect();
    Healthy::of(&server).finish();
    drop(streams);
}
