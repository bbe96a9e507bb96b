//! Signals: a vanished peer kills nobody, and an interrupted call goes on. Alone in its process, whose signal
//! dispositions it changes.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use conformance::signals::{
    do_not_cut_short, finish_interrupted, interrupted_to_its_end, interrupting_handler,
};
use conformance::streams::{Tried, pair};
use conformance::{LONG, within};
use zorb_ipc::{
    ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Shm, Stream, StreamFamily, Tcp, Udp, Unix,
    UnixDatagram, Vsock, ZeroCopyStream,
};

#[test]
fn signals_neither_kill_nor_cut_short() {
    // A Rust program ignores SIGPIPE from its start; a C program that calls into this crate does not.
    // SAFETY: restores the default disposition, which involves no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    interrupting_handler();
    family::<Tcp>();
    family::<Unix>();
    do_not_cut_short::<Shm>();
    match Vsock::left_out() {
        None => family::<Vsock>(),
        Some(why) => conformance::left_out::left_out("vsock", &why),
    }
    passing();
    other_ways_to_send();
    completing();
    datagrams::<Udp>(|| "127.0.0.1:0".parse().unwrap());
    datagrams::<UnixDatagram>(conformance::unused_path);
}

fn family<F: StreamFamily + Tried<Stream = Stream<F>>>() {
    do_not_cut_short::<F>();
    timeouts::<F>();
    a_peer_that_is_gone::<F>();
}

/// The calls that wait by the stream's own timeout.
fn timeouts<F: StreamFamily + Tried<Stream = Stream<F>>>() {
    let (client, server) = pair::<F>();
    let server = Arc::new(server);
    server.set_receive_timeout(Some(LONG)).unwrap();
    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receiver.receive(&mut [0; 4]).unwrap());
    let sent = || assert_eq!(client.send(&[IoSlice::new(b"abc")]).unwrap(), 3);
    assert_eq!(finish_interrupted(receiving, sent), 3);

    // However many come, it passes.
    let timeout = Duration::from_millis(100);
    server.set_receive_timeout(Some(timeout)).unwrap();
    server.set_send_timeout(Some(timeout)).unwrap();
    let receiver = Arc::clone(&server);
    let begun = Instant::now();
    let receiving = thread::spawn(move || receiver.receive(&mut [0; 4]));
    assert!(interrupted_to_its_end(receiving).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= timeout);
    let sending = thread::spawn(move || {
        let block = vec![0; 1 << 20];
        loop {
            if let Err(error) = server.send(&[IoSlice::new(&block)]) {
                return error;
            }
        }
    });
    assert!(interrupted_to_its_end(sending).is_timeout());
}

/// Every way of sending says so, and the process lives.
fn a_peer_that_is_gone<F: StreamFamily + Tried<Stream = Stream<F>>>() {
    let (client, server) = pair::<F>();
    drop(client);
    let deadline = within(LONG);
    let mut failures = 0;
    while failures < 20 {
        assert!(Instant::now() < deadline);
        let one = [IoSlice::new(b"x")];
        let two = [IoSlice::new(b"x"), IoSlice::new(b"y")];
        for result in [server.send(&one), server.send(&two), server.send_now(&one), server.send_now(&two)] {
            if let Err(error) = result {
                assert!(error.is_connection_reset(), "{error}");
                failures += 1;
            }
        }
        if let Err(error) = server.send_all(&mut two.clone(), deadline) {
            assert!(error.is_connection_reset(), "{error}");
        }
    }
}

fn passing() {
    let (client, server) = pair::<Unix>();
    let receiving = thread::spawn(move || server.receive_passed(&mut [0; 4], within(LONG)).unwrap().octets);
    assert_eq!(finish_interrupted(receiving, || client.send_passing(b"abc", &[], within(LONG)).unwrap()), 3);
}

/// Nor do the other ways to send kill who sends to nobody.
fn other_ways_to_send() {
    let (client, server) = pair::<Unix>();
    drop(server);
    let error = client.send_passing(b"abc", &[client.as_fd()], within(LONG)).unwrap_err();
    assert!(error.is_connection_reset() && error.transferred() == 0, "{error}");
    let error = client.send_passing(b"abc", &[], within(LONG)).unwrap_err();
    assert!(error.is_connection_reset(), "{error}");

    let (client, server) = pair::<Tcp>();
    let mut sender = ZeroCopyStream::new(client).unwrap();
    drop(server);
    let until = within(LONG);
    while sender.send_all(vec![1; 100], within(LONG)).is_ok() {
        assert!(Instant::now() < until);
    }
    assert!(sender.send_all(vec![1; 100], within(LONG)).unwrap_err().is_connection_reset());
}

fn completing() {
    let (client, server) = pair::<Tcp>();
    let mut sender = ZeroCopyStream::new(client).unwrap();
    let octets = 16 << 20;
    let sending = thread::spawn(move || {
        sender.send_all(vec![1; octets], within(LONG)).unwrap();
        sender.completed_by(within(LONG)).unwrap().unwrap().buffer.len()
    });
    let received = || server.receive_exact(&mut vec![0; octets], within(LONG)).unwrap();
    assert_eq!(finish_interrupted(sending, received), octets);
}

fn datagrams<F: DatagramFamily>(fresh: impl Fn() -> F::Address) {
    let (one, other) =
        (DatagramSocket::<F>::bind(fresh()).unwrap(), DatagramSocket::<F>::bind(fresh()).unwrap());
    let (at_one, at_other) = (one.local().unwrap().clone(), other.local().unwrap().clone());
    let one = Arc::new(one);
    let send = || other.send_to(&[IoSlice::new(b"abc")], &at_one).unwrap();
    let receiver = Arc::clone(&one);
    let receiving = thread::spawn(move || receiver.receive_from(&mut [0; 4]).unwrap().octets);
    assert_eq!(finish_interrupted(receiving, send), 3);
    let receiver = Arc::clone(&one);
    let receiving =
        thread::spawn(move || receiver.receive_from_by(&mut [0; 4], within(LONG)).unwrap().octets);
    assert_eq!(finish_interrupted(receiving, send), 3);
    let receiver = Arc::clone(&one);
    let receiving = thread::spawn(move || {
        let stamped = receiver.receive_from_stamped_by(&mut [0; 4], within(LONG)).unwrap();
        stamped.received.octets
    });
    assert_eq!(finish_interrupted(receiving, send), 3);

    let one: Arc<ConnectedDatagramSocket<F>> =
        Arc::new(Arc::into_inner(one).unwrap().connect(at_other).unwrap());
    let receiver = Arc::clone(&one);
    let receiving = thread::spawn(move || receiver.receive(&mut [0; 4]).unwrap());
    assert_eq!(finish_interrupted(receiving, send), 3);
    let receiving = thread::spawn(move || one.receive_by(&mut [0; 4], within(LONG)).unwrap());
    assert_eq!(finish_interrupted(receiving, send), 3);
}
