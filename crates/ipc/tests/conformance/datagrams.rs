//! What every datagram family has to do.

use std::io::IoSlice;
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Step};

use super::{LONG, SHORT, eventually, within};

/// A family, and the addresses that tests need.
pub(crate) trait Tried: DatagramFamily {
    /// An address that nobody else receives at.
    fn fresh() -> Self::Address;

    /// The longest datagram that it sends.
    const LONGEST: usize;
}

fn bound<F: Tried>() -> DatagramSocket<F> {
    DatagramSocket::bind(F::fresh()).unwrap()
}

fn address<F: Tried>(socket: &DatagramSocket<F>) -> F::Address {
    socket.local().unwrap().clone()
}

/// Two sockets, each connected to the other.
fn pair<F: Tried>() -> (ConnectedDatagramSocket<F>, ConnectedDatagramSocket<F>) {
    let (one, other) = (bound::<F>(), bound::<F>());
    let (at_one, at_other) = (address(&one), address(&other));
    (one.connect(at_other).unwrap(), other.connect(at_one).unwrap())
}

pub(crate) fn datagrams_arrive_whole_and_with_their_sender<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    one.send_to(&[IoSlice::new(b"hello, "), IoSlice::new(b""), IoSlice::new(b"world")], &address(&other))
        .unwrap();
    one.send_to_now(&[IoSlice::new(b"again")], &address(&other)).unwrap();
    let mut buffer = [0; 64];
    let first = other.receive_from_by(&mut buffer, within(LONG)).unwrap();
    assert_eq!((&buffer[..first.octets], first.from.as_ref()), (&b"hello, world"[..], one.local()));
    let second = other.receive_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..second.octets], b"again");
    other.send_to(&[IoSlice::new(b"back")], &second.from.unwrap()).unwrap();
    assert_eq!(one.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 4);
}

pub(crate) fn an_empty_datagram_is_one<F: Tried>() {
    let (one, other) = pair::<F>();
    one.send(&[]).unwrap();
    one.send(&[IoSlice::new(b"")]).unwrap();
    one.send(&[IoSlice::new(b"x")]).unwrap();
    let mut buffer = [7; 4];
    let lengths = [0; 3].map(|_| other.receive_by(&mut buffer, within(LONG)).unwrap());
    assert_eq!((lengths, buffer), ([0, 0, 1], [b'x', 7, 7, 7]));
}

pub(crate) fn what_is_longer_than_its_memory_is_told<F: Tried>() {
    let (one, other) = pair::<F>();
    one.send(&[IoSlice::new(b"0123456789")]).unwrap();
    one.send(&[IoSlice::new(b"next")]).unwrap();
    let mut buffer = [0; 4];
    let error = other.receive_by(&mut buffer, within(LONG)).unwrap_err();
    assert!(error.is_truncated() && !error.is_too_large(), "{error}");
    assert_eq!((error.transferred(), error.whole_length(), &buffer), (4, Some(10), b"0123"));
    assert_eq!(other.receive_by(&mut buffer, within(LONG)).unwrap(), 4, "what is exactly as long fits");

    let (one, other) = (bound::<F>(), bound::<F>());
    one.send_to(&[IoSlice::new(b"0123456789")], &address(&other)).unwrap();
    let error = other.receive_from_by(&mut buffer, within(LONG)).unwrap_err();
    assert_eq!((error.transferred(), error.whole_length()), (4, Some(10)), "{error}");
}

pub(crate) fn the_longest_datagram_passes_and_a_longer_one_is_told<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let octets: Vec<u8> = (0..F::LONGEST + 1).map(|i| (i / 251) as u8).collect();
    one.send_to(&[IoSlice::new(&octets[..F::LONGEST])], &address(&other)).unwrap();
    let mut buffer = vec![0; F::LONGEST + 1];
    let received = other.receive_from_by(&mut buffer, within(LONG)).unwrap();
    assert!(buffer[..received.octets] == octets[..F::LONGEST]);
    let error = one.send_to(&[IoSlice::new(&octets)], &address(&other)).unwrap_err();
    assert!(error.is_too_large() && error.step() == Step::Send && error.address().is_some(), "{error}");
    assert!(other.receive_from_now(&mut buffer).unwrap_err().is_would_block(), "nothing of it was sent");
}

pub(crate) fn receiving_ends_by_the_deadline<F: Tried>() {
    let socket = bound::<F>();
    let mut buffer = [0; 4];
    assert!(socket.receive_from_now(&mut buffer).unwrap_err().is_would_block());
    let begun = Instant::now();
    let error = socket.receive_from_by(&mut buffer, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && !error.is_would_block(), "{error}");
    assert!(begun.elapsed() >= SHORT);
    let (one, _other) = pair::<F>();
    assert!(one.receive_now(&mut buffer).unwrap_err().is_would_block());
    assert!(one.receive_by(&mut buffer, within(SHORT)).unwrap_err().is_timeout());
}

pub(crate) fn a_connected_socket_hears_its_peer_only<F: Tried>() {
    let (one, other, third) = (bound::<F>(), bound::<F>(), bound::<F>());
    let (at_one, at_other) = (address(&one), address(&other));
    let one = one.connect(at_other.clone()).unwrap();
    assert_eq!(one.peer(), &at_other);
    // A Unix socket refuses, a UDP socket passes over.
    let _ = third.send_to_now(&[IoSlice::new(b"stranger")], &at_one);
    other.send_to(&[IoSlice::new(b"peer")], &at_one).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(one.receive_by(&mut buffer, within(LONG)).unwrap(), 4);
    assert_eq!(&buffer[..4], b"peer");
    assert!(one.receive_now(&mut buffer).unwrap_err().is_would_block());
}

pub(crate) fn a_peer_that_has_gone_is_told<F: Tried>() {
    let (one, other) = pair::<F>();
    drop(other);
    let mut told = None;
    eventually(|| {
        told = one.send(&[IoSlice::new(b"x")]).err();
        told.is_some()
    });
    let error = told.unwrap();
    assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
}

pub(crate) fn a_taken_address_is_said_to_be_taken<F: Tried>() {
    let first = bound::<F>();
    let error = DatagramSocket::<F>::bind(address(&first)).unwrap_err();
    assert!(error.is_address_in_use() && error.address().is_some(), "{error}");
    let free = address(&first);
    drop(first);
    assert_eq!(DatagramSocket::<F>::bind(free.clone()).unwrap().local(), Some(&free));
}

pub(crate) fn threads_may_share_a_socket<F: Tried>() {
    const EACH: usize = 200;
    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (one, to) = (&one, &to);
            scope.spawn(move || {
                for number in 0..EACH {
                    one.send_to(&[IoSlice::new(&[thread; 8])], to).unwrap();
                    // A UDP receiver's queue has an end.
                    if number % 16 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
        let mut seen = [0; 4];
        let mut buffer = [0; 16];
        while seen.iter().sum::<usize>() < 4 * EACH {
            assert_eq!(other.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 8);
            assert!(buffer[..8].iter().all(|&octet| octet == buffer[0]), "none is mixed with another");
            seen[usize::from(buffer[0])] += 1;
        }
        assert_eq!(seen, [EACH; 4]);
    });
}

/// Runs every test above for a family.
macro_rules! datagram_family {
    ($name:ident: $family:ty) => {
        mod $name {
            datagram_family! { @ $family:
                datagrams_arrive_whole_and_with_their_sender
                an_empty_datagram_is_one
                what_is_longer_than_its_memory_is_told
                the_longest_datagram_passes_and_a_longer_one_is_told
                receiving_ends_by_the_deadline
                a_connected_socket_hears_its_peer_only
                a_peer_that_has_gone_is_told
                a_taken_address_is_said_to_be_taken
                threads_may_share_a_socket
            }
        }
    };
    (@ $family:ty: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                crate::conformance::datagrams::$test::<$family>();
            }
        )*
    };
}
