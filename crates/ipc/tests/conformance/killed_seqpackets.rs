//! A process at the other end of a connection of messages, killed at each step of its life.

use std::io::IoSlice;
use std::thread;

use zorb_ipc::{Error, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, UnixAddress};

use super::other_process::{Elsewhere, Other, role, say};
use super::seqpackets::Fresh;
use super::{LONG, SHORT, eventually, within};

/// What the other process does, if this is it.
pub(crate) fn play(_: Fresh) {
    let Some((role, address)) = role() else { return };
    let address: UnixAddress = address.parse().unwrap();
    match role.as_str() {
        "connect" => {
            let _connection = Seqpacket::connect(address, within(LONG)).unwrap();
            say("connected");
            thread::sleep(2 * LONG);
        }
        "send on" => {
            let connection = Seqpacket::connect(address, within(LONG)).unwrap();
            for number in 0_u32.. {
                let message = number.to_ne_bytes().repeat(256);
                connection.send_by(&[IoSlice::new(&message)], within(LONG)).unwrap();
            }
        }
        "listen" => {
            let acceptor = SeqpacketAcceptor::bind(address, &SeqpacketAcceptorOptions::new()).unwrap();
            say(acceptor.local());
            thread::sleep(2 * LONG);
        }
        role => panic!("{role}?"),
    }
}

fn listening(fresh: Fresh) -> SeqpacketAcceptor {
    SeqpacketAcceptor::bind(fresh(), &SeqpacketAcceptorOptions::new()).unwrap()
}

/// Our end of a connection that another process has made.
fn accepted(fresh: Fresh, module: &str, role: &str) -> (Seqpacket, Other) {
    let acceptor = listening(fresh);
    let other = Other::start(module, role, acceptor.local());
    (acceptor.accept_by(within(LONG)).unwrap(), other)
}

/// Whether a connection is over, in whichever way.
fn is_over(received: &Result<usize, Error>) -> bool {
    match received {
        Ok(octets) => *octets == 0,
        Err(error) => error.is_connection_reset() || error.is_unexpected_end(),
    }
}

pub(crate) fn killed_before_it_is_accepted_it_does_no_harm(fresh: Fresh, module: &str) {
    let acceptor = listening(fresh);
    let mut other = Other::start(module, "connect", acceptor.local());
    assert_eq!(other.says(), "connected");
    drop(other);
    let next = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
    next.send(&[IoSlice::new(b"here")]).unwrap();
    let mut message = [0; 8];
    let first = acceptor.accept_by(within(LONG)).unwrap().receive_by(&mut message, within(LONG));
    assert!(is_over(&first), "it is met at its end: {first:?}");
    let received = acceptor.accept_by(within(LONG)).unwrap().receive_by(&mut message, within(LONG)).unwrap();
    assert_eq!(&message[..received], b"here");
}

pub(crate) fn killed_while_it_is_waited_for_it_ends_the_wait(fresh: Fresh, module: &str) {
    let (connection, other) = accepted(fresh, module, "connect");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| connection.receive_by(&mut [0; 8], within(LONG)));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        other.kill();
        let received = waiting.join().unwrap();
        assert!(is_over(&received), "{received:?}");
    });
}

pub(crate) fn killed_while_it_sends_it_leaves_whole_messages(fresh: Fresh, module: &str) {
    let (connection, other) = accepted(fresh, module, "send on");
    let mut message = [0; 2048];
    let mut next = 0_u32;
    let mut check = |message: &[u8]| {
        assert!(message == next.to_ne_bytes().repeat(256), "message {next}");
        next += 1;
    };
    for _ in 0..100 {
        let received = connection.receive_by(&mut message, within(LONG)).unwrap();
        check(&message[..received]);
    }
    other.kill();
    loop {
        let received = connection.receive_by(&mut message, within(LONG));
        if is_over(&received) {
            return;
        }
        check(&message[..received.unwrap()]);
    }
}

pub(crate) fn killed_while_it_is_sent_to_it_ends_the_wait_for_room(fresh: Fresh, module: &str) {
    let (connection, other) = accepted(fresh, module, "connect");
    let whole = [7; 1024];
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            loop {
                if let Err(error) = connection.send_by(&[IoSlice::new(&whole)], within(LONG)) {
                    return error;
                }
            }
        });
        thread::sleep(SHORT);
        other.kill();
        let error = sending.join().unwrap();
        assert!(error.is_connection_reset(), "{error}");
    });
    assert!(connection.send_now(&[IoSlice::new(b"x")]).unwrap_err().is_connection_reset());
}

pub(crate) fn killed_while_it_listens_it_refuses(fresh: Fresh, module: &str) {
    let mut other = Other::start(module, "listen", &fresh());
    let address = Elsewhere(other.says().parse::<UnixAddress>().unwrap());
    let queued = Seqpacket::connect(address.0.clone(), within(LONG)).unwrap();
    queued.send(&[IoSlice::new(b"for nobody")]).unwrap();
    other.kill();
    eventually(|| is_over(&queued.receive_by(&mut [0; 8], within(LONG))));
    let error = Seqpacket::connect(address.0.clone(), within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
}
