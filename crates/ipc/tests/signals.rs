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

use conformance::families::tried;
use conformance::interruptions::{finish_interrupted, interrupted_to_its_end, interrupting_handler};
use conformance::signals::do_not_cut_short;
use conformance::streams::{Tried, pair};
use conformance::{LONG, within};
use zorb_ipc::{ByteStream, Error, Sent, Stream, StreamFamily, Tcp, Unix, ZeroCopyStream};

#[test]
fn signals_neither_kill_nor_cut_short() {
    // A Rust program ignores SIGPIPE from its start; a C program that calls into this crate does not.
    // SAFETY: restores the default disposition, which involves no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    interrupting_handler();
    macro_rules! signalled {
        ($name:ident: $transport:ty) => {
            tried::<$transport>(stringify!($name), || {
                do_not_cut_short::<$transport>();
                a_peer_that_is_gone::<$transport>(|stream, slices| stream.send_now(slices));
            });
        };
    }
    every_stream_transport!(signalled);
    macro_rules! signalled_sockets {
        ($name:ident: $family:ty) => {
            tried::<$family>(stringify!($name), || {
                timeouts::<$family>();
                a_peer_that_is_gone::<$family>(|stream, slices| stream.send(slices));
            });
        };
    }
    every_stream_family!(signalled_sockets);
    passing();
    other_ways_to_send();
    completing();
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
fn a_peer_that_is_gone<T: Tried>(send: impl Fn(&T::Stream, &[IoSlice<'_>]) -> Result<Sent, Error>) {
    let (client, server) = pair::<T>();
    drop(client);
    let deadline = within(LONG);
    let mut failures = 0;
    while failures < 20 {
        assert!(Instant::now() < deadline);
        let one = [IoSlice::new(b"x")];
        let two = [IoSlice::new(b"x"), IoSlice::new(b"y")];
        for result in [send(&server, &one), send(&server, &two)] {
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
