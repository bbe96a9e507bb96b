use super::client::{RawClient, RawExchange};
use super::equal::EqualSocket;
use super::server::Preamble;
use super::spinning::{SpinningMemory, SpinningSocket};
use super::stream::{Side, Stream};
use super::*;
use crate::flood::{Element, Flood};
use crate::system::{Call, Exchange, MessageSizes, Payload};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;

const LONG: Duration = Duration::from_secs(60);

/// Runs `client` against a server in another thread.
fn with_server<F: Floor>(system: Raw, over: Transport, client: impl FnOnce(Target<F>)) {
    let (announce, announced) = mpsc::channel::<String>();
    let (stop, stopped) = mpsc::channel::<()>();
    let server = thread::spawn(move || {
        system.serve(&Setting::over(over), &mut |address| {
            announce.send(address.to_owned()).unwrap();
            let _ = stopped.recv();
        })
    });
    let address = announced.recv().unwrap().parse().ok().unwrap();
    client(Target { address, queues: QueueSizes::default(), patience: LONG });
    drop(stop);
    server.join().unwrap().unwrap();
}

fn connect(to: Target<Tcp>) -> TcpStream {
    let stream = TcpStream::of(to.connect(false).unwrap(), Side::Client).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

fn echoes<S: Stream>(system: Raw, over: Transport) {
    with_server(system, over, |to| {
        let mut client = RawClient::<S>::new(system, to);
        let mut times = Vec::new();
        assert!(matches!(client.burst(1, &mut times), Err(BenchError::System { .. })));
        let kinds = [(64, 24), (24, 64), (1, 1), (70_000, 65_600)];
        for (request, reply) in kinds.into_iter().chain(kinds) {
            let messages = MessageSizes { request, reply };
            client.prepare(Call { payload: Payload::Null, messages }).unwrap();
            client.burst(3, &mut times).unwrap();
        }
        assert_eq!(times.len(), 24);
        assert_eq!(client.exchanges.len(), 4, "each kind keeps its connection");
    });
}

#[test]
fn echoes_with_either_side_longer() {
    echoes::<TcpStream>(Raw::Plain, Transport::Tcp);
    echoes::<zorb_ipc::TcpStream>(Raw::Ipc, Transport::Tcp);
    echoes::<UnixStream>(Raw::Plain, Transport::Unix);
    echoes::<zorb_ipc::UnixStream>(Raw::Ipc, Transport::Unix);
    echoes::<super::memory::BareMemory>(Raw::Plain, Transport::Shm);
    echoes::<super::memory::Channel>(Raw::Ipc, Transport::Shm);
    echoes::<EqualSocket<TcpStream>>(Raw::Equal, Transport::Tcp);
    echoes::<EqualSocket<UnixStream>>(Raw::Equal, Transport::Unix);
    echoes::<SpinningSocket<TcpStream>>(Raw::Spinning, Transport::Tcp);
    echoes::<SpinningSocket<UnixStream>>(Raw::Spinning, Transport::Unix);
    echoes::<SpinningMemory>(Raw::Spinning, Transport::Shm);
}

#[test]
fn an_old_reply_does_not_pass() {
    with_server(Raw::Plain, Transport::Tcp, |to: Target<Tcp>| {
        let messages = MessageSizes { request: 100, reply: 100 };
        let mut exchange = RawExchange::new(Raw::Plain, connect(to), messages).unwrap();
        exchange.round_trip().unwrap();
        let old = exchange.received.clone();
        exchange.verify().unwrap();
        exchange.received = old;
        assert!(matches!(exchange.verify(), Err(BenchError::Corrupt { system: "raw", .. })));
    });
}

fn floods<S: Stream>(system: Raw, over: Transport) {
    with_server(system, over, |to| {
        let mut client = RawClient::<S>::new(system, to);
        for element in Element::ALL {
            // More buffers than a table has windows; one; and larger than the socket's queue.
            for (octets, count) in [(100, 700), (1, 1), (1 << 20, 3)] {
                let flooded = client.flood(Flood { element, octets, count }).unwrap();
                assert!(flooded.sent.unwrap() <= flooded.confirmed);
            }
        }
    });
}

#[test]
fn floods_of_all_types_arrive_and_are_confirmed() {
    floods::<TcpStream>(Raw::Plain, Transport::Tcp);
    floods::<TcpStream>(Raw::Framed, Transport::Tcp);
    floods::<EqualSocket<TcpStream>>(Raw::Equal, Transport::Tcp);
    floods::<EqualSocket<UnixStream>>(Raw::Equal, Transport::Unix);
    floods::<zorb_ipc::TcpStream>(Raw::Ipc, Transport::Tcp);
    floods::<UnixStream>(Raw::Framed, Transport::Unix);
    floods::<zorb_ipc::UnixStream>(Raw::Ipc, Transport::Unix);
    floods::<super::memory::BareMemory>(Raw::Framed, Transport::Shm);
    floods::<super::memory::Channel>(Raw::Ipc, Transport::Shm);
}

/// Sends a flood by hand and gives the receiver's report.
fn reported(to: Target<Tcp>, flood: Flood, framed: bool, octets: &[u8]) -> (u32, String) {
    let mut stream = connect(to);
    stream.write_all(&Preamble::Flood { flood, framed }.encode()).unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream.write_all(octets).unwrap();
    let mut report = [0; 8];
    stream.read_exact(&mut report).unwrap();
    let [executed, length] = [0, 4].map(|at| u32::from_le_bytes(report[at..at + 4].try_into().unwrap()));
    let mut fault = vec![0; length as usize];
    stream.read_exact(&mut fault).unwrap();
    (executed, String::from_utf8(fault).unwrap())
}

#[test]
fn corruption_and_wrong_lengths_are_reported() {
    let flood = Flood { element: Element::Short, octets: 20, count: 2 };
    let mut windows = flood.element.windows(10);
    let good = [windows.buffer(0).to_vec(), windows.buffer(1).to_vec()].concat();
    let mut bad = good.clone();
    bad[39] ^= 0x80;
    let cut =
        [&20_u64.to_le_bytes()[..], &[0; 8], &good[..20], &18_u64.to_le_bytes(), &[0; 8], &good[20..38]];
    with_server(Raw::Framed, Transport::Tcp, |to: Target<Tcp>| {
        assert_eq!(reported(to.clone(), flood, false, &good), (2, String::new()));
        assert_eq!(reported(to.clone(), flood, false, &bad).1, "buffer 1 of 2 is wrong at element 9 of 10");
        assert_eq!(
            reported(to.clone(), flood, true, &cut.concat()).1,
            "buffer 1 of 2 has 9 elements instead of 10"
        );
    });
}

#[test]
fn a_receiver_that_ends_in_the_middle_is_an_error_that_names_the_buffer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ending = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 32]).unwrap();
        stream.write_all(&[1]).unwrap();
        stream.read_exact(&mut [0; 1 << 20]).unwrap();
    });
    let to = Target { address, queues: QueueSizes::default(), patience: LONG };
    let mut client = RawClient::<TcpStream>::new(Raw::Plain, to);
    let error = client.flood(Flood { element: Element::Octet, octets: 1 << 20, count: 1 << 20 }).unwrap_err();
    assert!(error.to_string().starts_with("cannot send buffer "), "{error}");
    ending.join().unwrap();
}

#[test]
fn absurd_preambles_close_the_connection() {
    with_server(Raw::Plain, Transport::Tcp, |to: Target<Tcp>| {
        let absurd = [[1, u64::MAX, 1, 0], [1, 1, u64::MAX, 0], [1, 0, 1, 0], [1, 1, 0, 0], [4, 1, 1, 1]];
        let absurd = absurd.into_iter().chain([[2, 8, 1, 1], [2, 0, u64::MAX, 1], [3, 0, 1, u64::MAX]]);
        for words in absurd {
            let mut stream = connect(to.clone());
            for word in words {
                stream.write_all(&u64::to_le_bytes(word)).unwrap();
            }
            assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0, "{words:?}");
        }
    });
}
