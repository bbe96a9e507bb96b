//! A process that datagrams come from or go to, and that is killed at each step: nothing ends, and whoever sends to where
//! it was is told.

use std::fmt::{Debug, Display};
use std::io::IoSlice;
use std::str::FromStr;
use std::thread;

use zorb_ipc::{ConnectedDatagramSocket, DatagramSocket, Error};

use super::datagrams::Tried;
use super::other_process::{Elsewhere, Other, role, say};
use super::{LONG, SHORT, eventually, within};

/// What the other process does, if this is it.
pub(crate) fn play<F: Tried>()
where
    F::Address: FromStr<Err: Debug> + Display,
{
    let Some((role, address)) = role() else { return };
    let address: F::Address = address.parse().unwrap();
    let socket = DatagramSocket::<F::Family>::bind(F::fresh()).unwrap();
    match role.as_str() {
        "be there" => {
            say(socket.local().unwrap());
            thread::sleep(2 * LONG);
        }
        "send two" => {
            for text in ["one", "two"] {
                socket.send_to(&[IoSlice::new(text.as_bytes())], &address).unwrap();
            }
            say(socket.local().unwrap());
            thread::sleep(2 * LONG);
        }
        "send on" => {
            say(socket.local().unwrap());
            for number in 0_u32.. {
                let octets = number.to_ne_bytes().repeat(256);
                socket.send_to(&[IoSlice::new(&octets)], &address).unwrap();
            }
        }
        role => panic!("{role}?"),
    }
}

/// A socket of ours that is connected to another process's, which has been told of where ours is.
fn connected<F: Tried>(
    module: &str,
    role: &str,
) -> (ConnectedDatagramSocket<F::Family>, Elsewhere<F::Address>, Other)
where
    F::Address: FromStr<Err: Debug> + Display,
{
    let socket = DatagramSocket::<F::Family>::bind(F::fresh()).unwrap();
    let mut other = Other::start(module, role, socket.local().unwrap());
    let there: F::Address = other.says().parse().unwrap();
    (socket.connect(there.clone()).unwrap(), Elsewhere(there), other)
}

/// What sending to where nobody is any more ends in, sooner or later: a datagram that has left is no failure of the call.
fn refused<F: Tried>(socket: &ConnectedDatagramSocket<F::Family>) -> Error {
    let mut told = None;
    eventually(|| {
        told = socket.send(&[IoSlice::new(b"x")]).err();
        told.is_some()
    });
    told.unwrap()
}

pub(crate) fn killed_before_it_receives_it_is_told_to_whoever_sends<F: Tried>(module: &str)
where
    F::Address: FromStr<Err: Debug> + Display,
{
    let (socket, there, other) = connected::<F>(module, "be there");
    socket.send(&[IoSlice::new(b"for nobody")]).unwrap();
    other.kill();
    let error = refused::<F>(&socket);
    assert!(error.is_connection_refused() && !error.is_connection_reset(), "{error}");
    // A socket that is not connected goes on, whoever of those that it sends to is gone.
    let (next, sender) = (
        DatagramSocket::<F::Family>::bind(F::fresh()).unwrap(),
        DatagramSocket::<F::Family>::bind(F::fresh()).unwrap(),
    );
    match sender.send_to(&[IoSlice::new(b"for nobody")], &there.0) {
        Ok(()) => assert!(!F::WAITS, "within a machine that is known at once"),
        Err(error) => assert!(error.is_connection_refused() && error.address().is_some(), "{error}"),
    }
    sender.send_to(&[IoSlice::new(b"here")], next.local().unwrap()).unwrap();
    assert_eq!(next.receive_from_by(&mut [0; 8], within(LONG)).unwrap().octets, 4);
}

pub(crate) fn killed_while_it_is_waited_for_it_leaves_what_it_sent_and_then_silence<F: Tried>(module: &str)
where
    F::Address: FromStr<Err: Debug> + Display,
{
    // It sends before it is known where from, and so to a socket that is not connected.
    let socket = DatagramSocket::<F::Family>::bind(F::fresh()).unwrap();
    let mut other = Other::start(module, "send two", socket.local().unwrap());
    let _there = Elsewhere(other.says().parse::<F::Address>().unwrap());
    other.kill();
    let mut buffer = [0; 8];
    for text in [b"one", b"two"] {
        let received = socket.receive_from_by(&mut buffer, within(LONG)).unwrap();
        assert_eq!(&buffer[..received.octets], text);
    }
    let (socket, _there, other) = connected::<F>(module, "be there");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| socket.receive_by(&mut [0; 8], within(4 * SHORT)));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        other.kill();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(error.is_timeout(), "{error}");
    });
}

pub(crate) fn killed_while_it_sends_it_leaves_whole_datagrams<F: Tried>(module: &str)
where
    F::Address: FromStr<Err: Debug> + Display,
{
    let socket = DatagramSocket::<F::Family>::bind(F::fresh()).unwrap();
    let mut other = Other::start(module, "send on", socket.local().unwrap());
    let _there = Elsewhere(other.says().parse::<F::Address>().unwrap());
    let mut buffer = [0; 2048];
    let mut last = None;
    let mut check = |octets: &[u8]| {
        assert_eq!(octets.len(), 1024);
        let words = octets.as_chunks::<4>().0;
        assert!(words.iter().all(|word| *word == words[0]), "it is mixed of two");
        let number = u32::from_ne_bytes(words[0]);
        let expected = last.map_or(0, |last| last + 1);
        assert!(number == expected || !F::WAITS && number > expected, "{number} instead of {expected}");
        last = Some(number);
    };
    for _ in 0..100 {
        let received = socket.receive_from_by(&mut buffer, within(LONG)).unwrap();
        check(&buffer[..received.octets]);
    }
    other.kill();
    loop {
        match socket.receive_from_by(&mut buffer, within(4 * SHORT)) {
            Ok(received) => check(&buffer[..received.octets]),
            Err(error) => return assert!(error.is_timeout(), "{error}"),
        }
    }
}

pub(crate) fn killed_while_it_is_sent_to_it_ends_the_wait_for_room<F: Tried>(module: &str)
where
    F::Address: FromStr<Err: Debug> + Display,
{
    let (socket, _there, other) = connected::<F>(module, "be there");
    let whole = [7; 1024];
    thread::scope(|scope| {
        // Where senders wait for room it soon waits; where datagrams are lost instead, the answers to them are told.
        let sending = scope.spawn(|| {
            loop {
                if let Err(error) = socket.send_by(&[IoSlice::new(&whole)], within(LONG)) {
                    return error;
                }
            }
        });
        thread::sleep(SHORT);
        other.kill();
        let error = sending.join().unwrap();
        assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
    });
}
