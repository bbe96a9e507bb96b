//! Transferring allocates nothing. Alone in its process, whose allocations it counts.

use std::alloc::System;
use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use zorb_ipc::{
    Acceptor, AcceptorOptions, DatagramFamily, DatagramSocket, Idle, Outgoing, ReceiveBatch, SendBatch,
    Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, ShmOptions, ShmStream, Stream, StreamFamily, Tcp,
    Udp, Unix, UnixAddress, UnixDatagram,
};

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(30);

fn within(time: Duration) -> Instant {
    Instant::now() + time
}

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The fewest allocations that `work` made in one of several times: other threads of the process make some
/// now and then.
fn allocations(mut work: impl FnMut()) -> usize {
    let counted = (0..10).map(|_| {
        let before = ALLOCATOR.stats().allocations;
        work();
        ALLOCATOR.stats().allocations - before
    });
    counted.min().unwrap()
}

fn datagrams<F: DatagramFamily>(fresh: impl Fn(&str) -> F::Address) {
    let (one, other) = (DatagramSocket::<F>::bind(fresh("one")), DatagramSocket::<F>::bind(fresh("other")));
    let (one, other) = (one.unwrap(), other.unwrap());
    let (at_one, to) = (one.local().unwrap().clone(), other.local().unwrap().clone());
    let slices = [IoSlice::new(b"hello, "), IoSlice::new(b"world")];
    let many = [Outgoing { slices: &slices, to: &to }; 8];
    let (mut outgoing, mut incoming) = (SendBatch::new(8), ReceiveBatch::<F>::new(8, 64));
    let made = allocations(|| {
        assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 8);
        let mut received = 0;
        while received < 8 {
            received += other.receive_many(&mut incoming).unwrap();
            assert!(incoming.iter().all(|datagram| datagram.octets() == b"hello, world"));
        }
    });
    assert_eq!(made, 0, "unconnected");

    let (one, other) = (one.connect(to).unwrap(), other.connect(at_one).unwrap());
    let many = [&slices[..]; 8];
    let mut buffer = [0; 64];
    let made = allocations(|| {
        one.send(&slices).unwrap();
        assert_eq!(other.receive(&mut buffer).unwrap(), 12);
        assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 8);
        let mut received = 0;
        while received < 8 {
            received += other.receive_many(&mut incoming).unwrap();
        }
    });
    assert_eq!(made, 0, "connected");
}

fn name(of: &str) -> UnixAddress {
    UnixAddress::abstract_name(format!("zorb-ipc-{}-{of}", std::process::id()).as_bytes()).unwrap()
}

/// Also where there is nothing to receive, and an error says whom from.
fn streams<F: StreamFamily>(fresh: F::Address) {
    let acceptor = Acceptor::<F>::bind(fresh, &AcceptorOptions::new()).unwrap();
    let client = Stream::<F>::connect(acceptor.local().clone(), within(LONG)).unwrap();
    let server = acceptor.accept().unwrap();
    let mut buffer = [0; 12];
    let made = allocations(|| {
        assert!(acceptor.accept_now().unwrap_err().is_would_block());
        assert!(acceptor.accept_by(within(SHORT)).unwrap_err().is_timeout());
        for stream in [&client, &server] {
            assert!(stream.receive_now(&mut buffer).unwrap_err().is_would_block());
            assert!(stream.receive_by(&mut buffer, within(SHORT)).unwrap_err().is_timeout());
            assert!(stream.receive_exact(&mut buffer, within(SHORT)).unwrap_err().is_timeout());
            assert_eq!(stream.idle(), Idle::Quiet);
        }
        for (one, other) in [(&client, &server), (&server, &client)] {
            let mut slices = [IoSlice::new(b"hello, "), IoSlice::new(b"world")];
            assert_eq!(one.send(&slices).unwrap(), 12);
            other.receive_exact(&mut buffer, within(LONG)).unwrap();
            one.send_all(&mut slices, within(LONG)).unwrap();
            other.receive_exact(&mut buffer, within(LONG)).unwrap();
        }
    });
    assert_eq!(made, 0, "streams");
}

#[test]
fn transferring_allocates_nothing() {
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) > 0, "allocations are counted");
    streams::<Tcp>(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    streams::<Unix>(name("stream"));
    datagrams::<Udp>(|_| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    datagrams::<UnixDatagram>(name);

    let (one, other) = ShmStream::pair(&ShmOptions::new()).unwrap();
    let mut buffer = [0; 64];
    let made = allocations(|| {
        let _ = one.send_now(&[IoSlice::new(b"hello, "), IoSlice::new(b"world")]).unwrap();
        assert_eq!(other.receive_now(&mut buffer).unwrap(), 12);
        assert!(other.receive_now(&mut buffer).unwrap_err().is_would_block());
        assert!(other.receive_by(&mut buffer, Instant::now()).unwrap_err().is_timeout());
        assert_eq!(other.arm().unwrap(), zorb_ipc::Armed::Waiting);
    });
    assert_eq!(made, 0, "shared memory");

    let acceptor = SeqpacketAcceptor::bind(name("messages"), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(name("messages"), Instant::now()).unwrap();
    let server = acceptor.accept().unwrap();
    let mut buffer = [0; 64];
    let made = allocations(|| {
        client.send(&[IoSlice::new(b"hello, "), IoSlice::new(b"world")]).unwrap();
        assert_eq!(server.receive(&mut buffer).unwrap(), 12);
    });
    assert_eq!(made, 0, "messages");
}
