//! Servers that want more than an object key (GIOP 1.2's addressing modes), played by a few lines of GIOP.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use zorb::cdr::{Encoder, Format, Version};
use zorb::giop::{
    AddressingDisposition, Inbound, Limits, Message, ReplyHead, ReplyStatus, Request, ServiceContexts,
    Target, begin_reply, finish,
};
use zorb::{Kind, Orb};
use zorb_tests::servant::PATIENCE;

use crate::fixture::probe;

/// Answers each request of one connection with what `answer` writes after the reply's head.
fn play(
    requests: usize,
    answer: impl Fn(&Request) -> (ReplyStatus, Vec<u8>) + Send + 'static,
) -> (String, JoinHandle<Vec<Target>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("corbaloc:iiop:1.2@{}/key", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut inbound = Inbound::new(Limits::default());
        let mut targets = Vec::new();
        while targets.len() < requests {
            let request = receive(&mut stream, &mut inbound);
            let (status, body) = answer(&request);
            let mut reply = Encoder::new(Format::new(Version::V1_2));
            let contexts = ServiceContexts::new();
            begin_reply(
                &mut reply,
                &ReplyHead { id: request.id, status, by_number: false, contexts: &contexts },
            )
            .unwrap();
            reply.write_octets(&body);
            finish(&mut reply).unwrap();
            stream.write_all(&reply.to_bytes()).unwrap();
            targets.push(request.target);
        }
        targets
    });
    (url, server)
}

fn receive(stream: &mut TcpStream, inbound: &mut Inbound) -> Request {
    loop {
        if let Some(message) = inbound.next().unwrap() {
            match message {
                Message::Request(request) => return request,
                other => panic!("not a request: {other:?}"),
            }
        }
        let count = stream.read(inbound.space()).unwrap();
        assert_ne!(count, 0, "the client closed");
        inbound.received(count);
    }
}

#[test]
fn a_server_gets_the_addressing_that_it_asks_for() {
    for how in [AddressingDisposition::PROFILE_ADDR, AddressingDisposition::REFERENCE_ADDR] {
        let (url, server) = play(2, move |request| match request.target {
            Target::ObjectKey(_) => (ReplyStatus::NEEDS_ADDRESSING_MODE, how.0.to_ne_bytes().to_vec()),
            _ => (ReplyStatus::NO_EXCEPTION, Vec::new()),
        });
        let client = Orb::builder().build();
        probe(&client, &url).nothing().unwrap();
        let targets = server.join().unwrap();
        match &targets[..] {
            [Target::ObjectKey(key), Target::Profile(_)] if how == AddressingDisposition::PROFILE_ADDR => {
                assert_eq!(&key[..], b"key");
            }
            [Target::ObjectKey(_), Target::Reference { selected: 0, ior }] => {
                assert_eq!(ior.profiles.len(), 1)
            }
            other => panic!("{how}: {other:?}"),
        }
    }
}

#[test]
fn a_server_that_is_never_content_ends_in_an_exception() {
    let how = AddressingDisposition::PROFILE_ADDR.0.to_ne_bytes().to_vec();
    let (url, server) = play(2, move |_| (ReplyStatus::NEEDS_ADDRESSING_MODE, how.clone()));
    let client = Orb::builder().build();
    let exception = probe(&client, &url).nothing().unwrap_err();
    assert_eq!(exception.kind, Kind::Marshal, "{exception}");
    assert!(exception.detail().contains("addressing"), "{exception}");
    server.join().unwrap();
}

#[test]
fn a_reply_status_that_nobody_knows_is_an_exception() {
    let (url, server) = play(1, |_| (ReplyStatus(77), Vec::new()));
    let client = Orb::builder().build();
    let exception = probe(&client, &url).nothing().unwrap_err();
    assert_eq!(exception.kind, Kind::Marshal, "{exception}");
    server.join().unwrap();
}
