//! What a client sends: every prefix of every message, mutations, and messages made to hurt. Each ends in an answer, a
//! MessageError or a close, and a healthy client is served all the while.

use std::io::Write;
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};

use zorb::giop::Message;
use zorb_tests::mutation::{mutations, mutations_of_each};
use zorb_tests::seeds::to_server;
use zorb_tests::vectors;
use zorb_tests::wire::{DIALECTS, Order, Wire, kind};

use crate::heard::Heard;
use crate::rig::{Healthy, Reader, Server, answers, until};

/// What a server that accepts messages of up to 1 MiB may have taken at its worst: itself, its threads, and many times
/// what one connection may hold. Debug builds need some 20 MiB.
const MEMORY: usize = 128 << 20;

/// Messages of up to 1 MiB; who does not complete one is closed after a second.
fn server() -> Server {
    Server::start(&["largest_message=1048576", "receive_time=1000", "drain=1000"])
}

/// The server has let go of every connection, has not panicked, and never took much memory.
fn is_unharmed(mut server: Server, healthy: Healthy, descriptors: usize) {
    healthy.is_served();
    until("connections are let go of", || server.descriptors() <= descriptors);
    healthy.finish();
    assert!(server.is_alive());
    assert!(server.peak_memory() < MEMORY, "{} octets", server.peak_memory());
}

/// Sends `octets`, says that nothing follows, and reads what comes until the server closes.
fn tell(server: &Server, octets: &[u8], what: &str) -> Vec<Message> {
    let mut stream = server.connect();
    // It may close before it has read all: that is an answer too.
    let _ = stream.write_all(octets).and_then(|()| stream.shutdown(Shutdown::Write));
    answers(&stream, what)
}

#[test]
fn every_prefix_then_the_end() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for seed in to_server(&server.key) {
        for end in 1..seed.octets.len() {
            tell(&server, &seed.octets[..end], &format!("{}, {end} octets", seed.name));
        }
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn every_prefix_then_silence() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    let seeds = to_server(&server.key);
    let prefixes: Vec<_> =
        seeds.iter().flat_map(|seed| (1..seed.octets.len()).map(move |end| (seed, end))).collect();
    for batch in prefixes.chunks(2000) {
        let streams: Vec<_> = batch
            .iter()
            .map(|(seed, end)| {
                let mut stream = server.connect();
                let _ = stream.write_all(&seed.octets[..*end]);
                stream
            })
            .collect();
        for (stream, (seed, end)) in streams.iter().zip(batch) {
            answers(stream, &format!("{}, {end} octets, and silence", seed.name));
        }
    }
    is_unharmed(server, healthy, descriptors);
}

/// Mutations of each message, under each thread model.
const EACH: usize = 500;

/// Mutations of captured messages, which are many and much alike, and of two messages in a row.
const MIXED: usize = 6_000;

/// Connections that bring mutations at the same time: more than a pool of two threads can serve.
const CONNECTIONS: usize = 4;

#[test]
fn mutations_of_every_message() {
    mutations_to(server());
}

#[test]
fn mutations_of_every_message_to_a_pool() {
    mutations_to(Server::start(&["largest_message=1048576", "receive_time=1000", "drain=1000", "pool=2"]));
}

#[test]
fn mutations_of_every_message_to_a_reactor() {
    mutations_to(Server::start(&["largest_message=1048576", "receive_time=1000", "drain=1000", "reactor=1"]));
}

fn mutations_to(server: Server) {
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    let seeds: Vec<_> = to_server(&server.key).into_iter().map(|seed| seed.octets).collect();
    let mut all = seeds.clone();
    all.extend(vectors::messages());
    let cases: Vec<_> =
        mutations_of_each(&seeds, EACH, 0x5e7e).chain(mutations(&all, MIXED, 0x5e7f)).collect();
    let runs = runs(&cases);
    let replies = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for first in 0..CONNECTIONS {
            let (server, runs, replies) = (&server, &runs, &replies);
            scope.spawn(move || {
                for run in runs.iter().skip(first).step_by(CONNECTIONS) {
                    let octets = run.concat();
                    let messages = tell(server, &octets, &format!("{run:02x?}"));
                    for message in &messages {
                        assert!(
                            !matches!(message, Message::Request(_) | Message::LocateRequest(_)),
                            "{message:?} to {run:02x?}"
                        );
                    }
                    let count =
                        messages.iter().filter(|message| matches!(message, Message::Reply(_))).count();
                    replies.fetch_add(count, Ordering::Relaxed);
                }
            });
        }
    });
    // So many get as far as an object, or to where there is none.
    let replies = replies.into_inner();
    assert!(replies * 8 > cases.len(), "{replies} replies to {} mutations", cases.len());
    is_unharmed(server, healthy, descriptors);
}

/// The mutations, in order, in runs that one connection can bring: a run ends with the first that may end its connection,
/// so that all are read.
fn runs(cases: &[Vec<u8>]) -> Vec<&[Vec<u8>]> {
    cases.split_inclusive(|octets| !Heard::in_octets(octets).others_may_follow()).collect()
}

/// Whether the server's last word was MessageError.
fn ends_in_error(messages: &[Message]) -> bool {
    matches!(messages.last(), Some(Message::MessageError))
}

#[test]
fn nonsense_is_answered_with_message_error() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for dialect in DIALECTS {
        let large = Wire::new(dialect, kind::REQUEST).announcing(1 << 20);
        let largest = Wire::new(dialect, kind::REQUEST).announcing(u32::MAX);
        let reply = Wire::reply(dialect, 1, 0).done();
        let stray = Wire::fragment(dialect, 1).done();
        let mut cases =
            vec![("too large", large), ("4 GiB", largest), ("a Reply", reply), ("a Fragment", stray)];
        cases.push(("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()));
        cases.push(("another version", Wire::new((9, dialect.1), kind::REQUEST).done()));
        cases.push(("another type", Wire::new(dialect, 77).done()));
        for (what, octets) in cases {
            let answers = tell(&server, &octets, what);
            assert!(ends_in_error(&answers), "{dialect:?} {what}: {answers:?}");
        }
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn sequences_longer_than_the_message_are_refused() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for dialect in DIALECTS {
        for count in [41, 1 << 20, u32::MAX / 2, u32::MAX] {
            let mut octets =
                Wire::request(dialect, 1, true, &server.key, "echo").u32(count).raw(&[7; 40]).done();
            octets.extend(Wire::request(dialect, 2, true, &server.key, "greet").string("on").done());
            let mut stream = server.connect();
            stream.write_all(&octets).expect("it reads");
            let _ = stream.shutdown(Shutdown::Write);
            let answers = answers(&stream, "a long sequence");
            let statuses: Vec<_> = answers
                .iter()
                .filter_map(|answer| match answer {
                    Message::Reply(reply) if reply.id == 1 => Some(reply.status),
                    _ => None,
                })
                .collect();
            // 2: a system exception, here MARSHAL. The connection lives on.
            assert!(matches!(statuses[..], [status] if status.0 == 2), "{dialect:?} {count}: {answers:?}");
            let on = |answer: &Message| matches!(answer, Message::Reply(reply) if reply.id == 2 && reply.status.0 == 0);
            assert!(answers.iter().any(on), "{dialect:?} {count}: {answers:?}");
        }
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn endless_fragments_end() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for dialect in [(1, Order::Big), (1, Order::Little), (2, Order::Big), (2, Order::Little)] {
        // One message in fragments that carry nothing.
        let mut stream = server.connect();
        let _ = stream.write_all(&Wire::request(dialect, 1, true, &server.key, "echo").more().done());
        let empty = Wire::fragment(dialect, 1).more().done().repeat(1000);
        until("endless fragments are refused", || stream.write_all(&empty).is_err());
        // One message whose fragments carry as much as they can.
        let mut stream = server.connect();
        let _ = stream.write_all(&Wire::request(dialect, 1, true, &server.key, "echo").more().done());
        let full = Wire::fragment(dialect, 1).more().raw(&[7; 60_000]).done();
        until("fragments beyond the largest message are refused", || stream.write_all(&full).is_err());
        // Many messages that begin and do not end; ids may be reused after a CancelRequest, which costs nothing.
        let mut begun = Vec::new();
        for id in 0..5_000 {
            begun.extend(Wire::request(dialect, id, true, &server.key, "echo").more().done());
        }
        let answers = tell(&server, &begun, "unfinished messages");
        assert!(ends_in_error(&answers), "{dialect:?}: {answers:?}");
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn a_storm_of_cancel_requests_changes_nothing() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for dialect in DIALECTS {
        let mut octets: Vec<u8> = Vec::new();
        for id in 0..20_000 {
            octets.extend(Wire::short(dialect, kind::CANCEL_REQUEST, Some(id)));
        }
        let mut stream = server.connect();
        stream.write_all(&octets).expect("it reads");
        // The same connection is still served.
        let greet = Wire::request(dialect, 70_000, true, &server.key, "greet").string("on").done();
        stream.write_all(&greet).expect("it reads");
        let mut reader = Reader::new(&stream);
        assert!(
            matches!(reader.next("a reply"), Some(Message::Reply(reply)) if reply.id == 70_000 && reply.status.0 == 0)
        );
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn one_id_for_many_requests_at_the_same_time_is_answered_as_often() {
    let server = server();
    let healthy = Healthy::of(&server);
    let descriptors = server.descriptors();
    for dialect in DIALECTS {
        let octets = Wire::request(dialect, 5, true, &server.key, "greet").string("on").done().repeat(100);
        let mut stream = server.connect();
        stream.write_all(&octets).expect("it reads");
        let mut reader = Reader::new(&stream);
        for _ in 0..100 {
            assert!(matches!(reader.next("a reply"), Some(Message::Reply(reply)) if reply.id == 5));
        }
    }
    is_unharmed(server, healthy, descriptors);
}

#[test]
fn announced_octets_that_do_not_come_cost_nothing() {
    let server = Server::start(&["receive_time=600000"]);
    let healthy = Healthy::of(&server);
    let before = server.memory();
    let streams: Vec<_> = (0..500)
        .map(|_| {
            let mut stream = server.connect();
            stream
                .write_all(&Wire::new((2, Order::Little), kind::REQUEST).announcing(60 << 20))
                .expect("it reads");
            stream
        })
        .collect();
    until("all are accepted", || server.descriptors() > 500);
    healthy.is_served();
    // 30 GB are announced. A connection's own memory and a moment's buffers are all that may have been taken.
    until("little memory is held", || server.memory() < before + (32 << 20));
    drop(streams);
    healthy.finish();
}
