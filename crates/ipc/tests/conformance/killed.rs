//! A peer in another process that is killed, at each step of a connection's life.

use std::fmt::{Debug, Display};
use std::io::IoSlice;
use std::str::FromStr;
use std::thread;

use zorb_ipc::{ByteStream, Error, Idle};

use super::other_process::{Elsewhere, Other, role, say};
use super::streams::{Tried, receive, send};
use super::{LONG, SHORT, eventually, within};

/// Never a multiple of what moves at once, so that an octet lost or doubled shows.
const PERIOD: usize = 251;

fn octets(from: usize, count: usize) -> Vec<u8> {
    (from..from + count).map(|at| (at % PERIOD) as u8).collect()
}

/// What the other process does, if this is it.
pub(crate) fn play<T: Tried>()
where
    T::Address: FromStr<Err: Debug> + Display,
{
    let Some((role, address)) = role() else { return };
    let address: T::Address = address.parse().unwrap();
    match role.as_str() {
        "connect" => {
            let _stream = T::connect(address, within(LONG)).unwrap();
            say("connected");
            thread::sleep(2 * LONG);
        }
        "send half" => {
            let stream = T::connect(address, within(LONG)).unwrap();
            send(&stream, b"half");
            say("sent");
            thread::sleep(2 * LONG);
        }
        "send on" => {
            let stream = T::connect(address, within(LONG)).unwrap();
            for from in (0..).step_by(10_000) {
                send(&stream, &octets(from, 10_000));
            }
        }
        "listen" => {
            let acceptor = T::listen(address).unwrap();
            say(T::address(&acceptor));
            thread::sleep(2 * LONG);
        }
        "accept" => {
            let acceptor = T::listen(address).unwrap();
            say(T::address(&acceptor));
            let _stream = T::accept_by(&acceptor, within(LONG)).unwrap();
            say("accepted");
            thread::sleep(2 * LONG);
        }
        role => panic!("{role}?"),
    }
}

/// Whether a connection is over, in whichever way.
fn is_over(received: &Result<usize, Error>) -> bool {
    match received {
        Ok(octets) => *octets == 0,
        Err(error) => error.is_connection_reset(),
    }
}

/// The other end of a connection of this process.
fn accepted<T: Tried>(module: &str, role: &str) -> (T::Stream, Other)
where
    T::Address: Display,
{
    let acceptor = T::listen(T::fresh()).unwrap();
    let other = Other::start(module, role, &T::address(&acceptor));
    (T::accept_by(&acceptor, within(LONG)).unwrap(), other)
}

fn elsewhere<T: Tried>(module: &str, role: &str) -> (Elsewhere<T::Address>, Other)
where
    T::Address: FromStr<Err: Debug> + Display,
{
    let mut other = Other::start(module, role, &T::fresh());
    (Elsewhere(other.says().parse().unwrap()), other)
}

pub(crate) fn killed_before_it_is_accepted_it_does_no_harm<T: Tried>(module: &str)
where
    T::Address: Display,
{
    let acceptor = T::listen(T::fresh()).unwrap();
    let mut other = Other::start(module, "connect", &T::address(&acceptor));
    assert_eq!(other.says(), "connected");
    drop(other);
    let next = T::connect(T::address(&acceptor), within(LONG)).unwrap();
    send(&next, b"here");
    // The dead one is met, already at its end, or is passed over.
    let mut buffer = [0; 4];
    match T::accept_by(&acceptor, within(LONG)).unwrap().receive_exact(&mut buffer, within(LONG)) {
        Ok(()) => assert_eq!(&buffer, b"here"),
        Err(error) => {
            assert!(error.is_unexpected_end() || error.is_connection_reset(), "{error}");
            assert_eq!(receive(&T::accept_by(&acceptor, within(LONG)).unwrap(), 4), b"here");
        }
    }
}

pub(crate) fn killed_while_it_is_waited_for_it_ends_the_wait<T: Tried>(module: &str)
where
    T::Address: FromStr<Err: Debug> + Display,
{
    let (stream, other) = accepted::<T>(module, "connect");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| stream.receive_by(&mut [0; 8], within(LONG)));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        other.kill();
        let received = waiting.join().unwrap();
        assert!(is_over(&received), "{received:?}");
    });
    let (address, mut other) = elsewhere::<T>(module, "accept");
    let stream = T::connect(address.0.clone(), within(LONG)).unwrap();
    assert_eq!(other.says(), "accepted");
    assert_eq!(stream.idle(), Idle::Quiet);
    other.kill();
    let received = stream.receive_by(&mut [0; 8], within(LONG));
    assert!(is_over(&received), "{received:?}");
    assert_eq!(stream.idle(), Idle::Closed);
}

pub(crate) fn killed_in_the_middle_of_a_message_it_leaves_a_half<T: Tried>(module: &str)
where
    T::Address: Display,
{
    let (stream, mut other) = accepted::<T>(module, "send half");
    assert_eq!(other.says(), "sent");
    other.kill();
    let mut buffer = [0; 8];
    let error = stream.receive_exact(&mut buffer, within(LONG)).unwrap_err();
    assert!(error.is_unexpected_end() || error.is_connection_reset(), "{error}");
    assert_eq!((error.transferred(), &buffer[..4]), (4, &b"half"[..]));
}

pub(crate) fn killed_while_it_sends_it_leaves_the_beginning<T: Tried>(module: &str)
where
    T::Address: Display,
{
    let (stream, other) = accepted::<T>(module, "send on");
    let mut total = 1 << 20;
    assert!(receive(&stream, total) == octets(0, total));
    other.kill();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let received = stream.receive_by(&mut buffer, within(LONG));
        if is_over(&received) {
            return;
        }
        let count = received.unwrap();
        assert!(buffer[..count] == octets(total, count));
        total += count;
    }
}

pub(crate) fn killed_while_it_is_sent_to_it_ends_the_transfer<T: Tried>(module: &str)
where
    T::Address: Display,
{
    let (stream, other) = accepted::<T>(module, "connect");
    let whole = vec![1; 64 << 20];
    thread::scope(|scope| {
        let sending = scope.spawn(|| stream.send_all(&mut [IoSlice::new(&whole)], within(LONG)));
        thread::sleep(SHORT);
        other.kill();
        let error = sending.join().unwrap().unwrap_err();
        assert!(error.is_connection_reset() && error.transferred() < whole.len(), "{error}");
    });
    assert!(stream.send_now(&[IoSlice::new(b"x")]).unwrap_err().is_connection_reset());
}

pub(crate) fn killed_while_it_listens_it_refuses<T: Tried>(module: &str)
where
    T::Address: FromStr<Err: Debug> + Display,
{
    let (address, other) = elsewhere::<T>(module, "listen");
    let queued = T::connect(address.0.clone(), within(LONG)).unwrap();
    send(&queued, b"for nobody");
    other.kill();
    eventually(|| queued.idle() == Idle::Closed);
    let error = T::connect(address.0.clone(), within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
}
