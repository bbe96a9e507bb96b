//! Clients that take their time: with a message, with reading their replies, with calling at all. Each is closed by the
//! limit that says so, while others are served.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use zorb::Orb;
use zorb::giop::Message;
use zorb_tests::wire::{Order, Wire, kind};

use crate::rig::{Healthy, Reader, Server, answers, until};

const NATIVE: (u8, Order) = (2, Order::Little);

#[test]
fn half_a_message_and_no_more() {
    let server = Server::start(&["receive_time=200"]);
    let healthy = Healthy::of(&server);
    let mut stream = server.connect();
    let whole = Wire::request(NATIVE, 1, true, &server.key, "greet").string("x").done();
    stream.write_all(&whole[..whole.len() / 2]).expect("it reads");
    assert!(answers(&stream, "half a message").is_empty());
    healthy.finish();
}

#[test]
fn an_octet_now_and_then() {
    let server = Server::start(&["receive_time=200"]);
    let healthy = Healthy::of(&server);
    let mut stream = server.connect();
    stream.write_all(&Wire::new(NATIVE, kind::REQUEST).announcing(1 << 20)).expect("it reads");
    // At this rate the message would take fourteen hours.
    until("it is closed", || {
        std::thread::sleep(Duration::from_millis(49));
        stream.write_all(&[7]).is_err()
    });
    healthy.finish();
}

/// Asks for 64 KiB again and again and reads none of it, until the server closes or takes nothing more.
fn ask_and_never_read(server: &Server) -> std::net::TcpStream {
    let mut stream = server.connect();
    let request = Wire::request(NATIVE, 1, true, &server.key, "echo").sequence(&[7; 65_536]).done();
    stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a socket");
    while stream.write_all(&request).is_ok() {}
    stream
}

/// Waits until the server has closed a connection with unread replies on it.
fn is_closed(mut stream: std::net::TcpStream) {
    let closed = |error: std::io::Error| !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    until("it is closed", || stream.write(&[0]).is_err_and(closed));
}

#[test]
fn replies_that_are_never_read() {
    let server = Server::start(&["send_time=500"]);
    let healthy = Healthy::of(&server);
    let before = server.memory();
    let streams: Vec<_> = (0..4).map(|_| ask_and_never_read(&server)).collect();
    healthy.is_served();
    assert!(server.peak_memory() < before + (96 << 20), "{}", server.peak_memory());
    streams.into_iter().for_each(is_closed);
    healthy.finish();
}

#[test]
fn more_unread_replies_than_may_wait() {
    // The time alone would not close it within this test.
    let server = Server::start(&["send_time=600000", "unsent_octets=1000", "requests_per_connection=1000"]);
    let healthy = Healthy::of(&server);
    is_closed(ask_and_never_read(&server));
    healthy.finish();
}

#[test]
fn a_connection_that_nobody_uses_is_closed_in_order() {
    let server = Server::start(&["idle=200"]);
    for opening in [Vec::new(), Wire::request(NATIVE, 1, true, &server.key, "greet").string("x").done()] {
        let mut stream = server.connect();
        stream.write_all(&opening).expect("it reads");
        let answers = answers(&stream, "an idle connection");
        assert!(matches!(answers.last(), Some(Message::CloseConnection)), "{answers:?}");
    }
}

#[test]
fn who_does_not_close_after_the_last_word_is_closed() {
    let server = Server::start(&["idle=100", "drain=200"]);
    let mut stream = server.connect();
    until("CloseConnection is followed by the end", || {
        std::thread::sleep(Duration::from_millis(20));
        // What is sent now is thrown away; in the end there is nobody to send it to.
        stream.write_all(&[0; 100]).is_err()
    });
}

/// Statuses of the replies to `count` requests for a wait, sent at once on one connection.
fn replies_to_waits(server: &Server, count: u32) -> Vec<u32> {
    let mut stream = server.connect();
    for id in 0..count {
        let wait = Wire::request(NATIVE, id, true, &server.key, "wait").u32(100);
        stream.write_all(&wait.done()).expect("it reads");
    }
    let mut reader = Reader::new(&stream);
    (0..count)
        .map(|_| match reader.next("a wait") {
            Some(Message::Reply(reply)) => reply.status.0,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn requests_and_octets_beyond_a_connections_share_are_refused() {
    for limit in ["requests_per_connection=4", "octets_per_connection=16"] {
        let server = Server::start(&[limit]);
        let healthy = Healthy::of(&server);
        let statuses = replies_to_waits(&server, 40);
        // 2: a system exception, here TRANSIENT.
        assert!(statuses.contains(&2) && statuses.contains(&0), "{limit}: {statuses:?}");
        healthy.finish();
    }
}

/// The octets of a message that is never to come whole, as many as are said.
fn announcing(octets: usize) -> Vec<u8> {
    let mut message = Wire::new(NATIVE, kind::REQUEST).announcing(1 << 20);
    message.resize(octets, 7);
    message
}

#[test]
fn who_only_announces_large_messages_keeps_nothing_made_for_them_from_others() {
    // Nothing else is there for what is large, and no time runs out within this test.
    let server = Server::start(&["message_memory=0", "message_buffers=2x1048576", "receive_time=600000"]);
    let orb = Orb::builder().build();
    let large = vec![7; 1_000_000];
    let mut silent: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for stream in &mut silent {
        stream.write_all(&announcing(4096)).expect("it reads");
    }
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(100));
        assert!(server.probe(&orb).echo(&large).expect("there are two buffers")[..] == large[..]);
    }
}

#[test]
fn who_falls_silent_in_a_large_message_gives_what_was_made_for_it_back() {
    let server =
        Server::start(&["message_memory=524288", "message_buffers=1x1048576", "receive_time=600000"]);
    let orb = Orb::builder().build();
    let large = vec![7; 1_000_000];
    let mut silent: Vec<_> = (0..4).map(|_| server.connect()).collect();
    for stream in &mut silent {
        // More than the ordinary memory holds.
        stream.write_all(&announcing(20_000)).expect("it reads");
    }
    until("the buffer is free", || {
        server.probe(&orb).echo(&large).is_ok_and(|echoed| echoed[..] == large[..])
    });
    // And stay so: what is looked at each second is not moved from one to the next.
    for _ in 0..12 {
        std::thread::sleep(Duration::from_millis(250));
        assert!(server.probe(&orb).echo(&large).expect("there is a buffer")[..] == large[..]);
    }
}
