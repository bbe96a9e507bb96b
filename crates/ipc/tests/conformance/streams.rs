//! What every stream transport has to do, as tests that are generic over it: [`stream_transport!`] runs them all for one.

use std::io::{IoSlice, IoSliceMut};
use std::thread;
use std::time::{Duration, Instant};

use super::{LONG, SHORT, eventually, within};

use zorb_ipc::{ByteStream, Idle, Step, StreamTransport};

/// A transport, and the addresses that tests need.
pub(crate) trait Tried: StreamTransport {
    /// What keeps an address as it is while it is held.
    type Held;

    /// Why this machine cannot try it.
    fn left_out() -> Option<String> {
        None
    }

    /// An address that nobody else listens on.
    fn fresh() -> Self::Address;

    /// An address that refuses everybody.
    fn refusing() -> (Self::Held, Self::Address);

    /// An acceptor whose queue takes few peers.
    fn listen_for_few() -> Self::Acceptor;

    /// Whether one whose queue is full refuses further peers instead of letting them wait.
    const FULL_REFUSES: bool = false;
}

pub(crate) fn pair<T: Tried>() -> (T::Stream, T::Stream) {
    let acceptor = T::listen(T::fresh()).unwrap();
    let client = T::connect(T::address(&acceptor), within(LONG)).unwrap();
    let server = T::accept_by(&acceptor, within(LONG)).unwrap();
    (client, server)
}

pub(crate) fn receive(stream: &impl ByteStream, octets: usize) -> Vec<u8> {
    let mut buffer = vec![0; octets];
    stream.receive_exact(&mut buffer, within(LONG)).unwrap();
    buffer
}

pub(crate) fn send(stream: &impl ByteStream, octets: &[u8]) {
    stream.send_all(&mut [IoSlice::new(octets)], within(LONG)).unwrap();
}

/// Fills its queue until nobody gets in any more.
pub(crate) fn crowded<T: Tried>() -> (T::Acceptor, Vec<T::Stream>) {
    let acceptor = T::listen_for_few();
    let mut queued = Vec::new();
    loop {
        assert!(queued.len() < 100, "the queue has no end");
        match T::connect(T::address(&acceptor), within(Duration::from_millis(300))) {
            Ok(stream) => queued.push(stream),
            Err(error) if error.is_timeout() => return (acceptor, queued),
            Err(error) if T::FULL_REFUSES && error.is_connection_refused() => return (acceptor, queued),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn slices_arrive_in_order_as_one<T: Tried>() {
    let (client, server) = pair::<T>();
    assert_eq!(client.send_now(&[]).unwrap(), 0);
    assert_eq!(client.send_now(&[IoSlice::new(b"one")]).unwrap(), 3);
    let slices = [IoSlice::new(b"two"), IoSlice::new(b""), IoSlice::new(b"three")];
    assert_eq!(client.send_now(&slices).unwrap(), 8);
    client.send_all(&mut [IoSlice::new(b"a"), IoSlice::new(b"ll")], within(LONG)).unwrap();
    assert_eq!(receive(&server, 14), b"onetwothreeall");
    send(&server, b"back");
    assert_eq!(receive(&client, 4), b"back");
}

pub(crate) fn what_comes_fills_slices_one_after_the_other<T: Tried>() {
    let (client, server) = pair::<T>();
    let octets: Vec<u8> = (0..5000_u32).map(|i| i as u8).collect();
    send(&client, &octets);
    // More slices than one call fills, some of them empty.
    let mut received = vec![0; octets.len()];
    let mut filled = 0;
    while filled < received.len() {
        let mut slices = vec![IoSliceMut::new(&mut [])];
        slices.extend(received[filled..].chunks_mut(3).map(IoSliceMut::new));
        filled += server.receive_slices_by(&mut slices, within(LONG)).unwrap();
    }
    assert_eq!(received, octets);
    let mut octet = [0];
    let mut slices = [IoSliceMut::new(&mut octet)];
    assert!(server.receive_slices_by(&mut slices, within(SHORT)).unwrap_err().is_timeout());
    client.shutdown_send().unwrap();
    assert_eq!(server.receive_slices_by(&mut slices, within(LONG)).unwrap(), 0);
}

pub(crate) fn nothing_is_sent_and_received_at_once<T: Tried>() {
    let (client, server) = pair::<T>();
    client.send_all(&mut [], within(Duration::ZERO)).unwrap();
    client.send_all(&mut [IoSlice::new(b""), IoSlice::new(b"")], within(Duration::ZERO)).unwrap();
    server.receive_exact(&mut [], within(Duration::ZERO)).unwrap();
    assert_eq!(server.idle(), Idle::Quiet);
    assert!(server.receive_now(&mut [0]).unwrap_err().is_would_block());
}

pub(crate) fn more_slices_than_one_call_takes_all_arrive<T: Tried>() {
    let (client, server) = pair::<T>();
    let octets: Vec<u8> = (0..5000_u32).map(|i| i as u8).collect();
    let mut slices: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    client.send_all(&mut slices, within(LONG)).unwrap();
    assert_eq!(receive(&server, 5000), octets);
}

pub(crate) fn a_transfer_larger_than_the_queues_goes_through_whole<T: Tried>() {
    let (client, server) = pair::<T>();
    let octets: Vec<u8> = (0..8 << 20_u32).map(|i| (i / 251) as u8).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (head, tail) = octets.split_at(12);
            client.send_all(&mut [IoSlice::new(head), IoSlice::new(tail)], within(LONG)).unwrap();
        });
        assert!(receive(&server, octets.len()) == octets);
    });
}

pub(crate) fn both_directions_flow_at_once<T: Tried>() {
    let (client, server) = pair::<T>();
    let octets = |seed: u32| -> Vec<u8> { (0..4 << 20_u32).map(|i| (i / 13 + seed) as u8).collect() };
    let (there, back) = (octets(1), octets(2));
    thread::scope(|scope| {
        scope.spawn(|| send(&client, &there));
        scope.spawn(|| send(&server, &back));
        scope.spawn(|| assert!(receive(&client, back.len()) == back));
        assert!(receive(&server, there.len()) == there);
    });
}

pub(crate) fn receiving_ends_by_the_deadline_and_the_stream_lives_on<T: Tried>() {
    let (client, server) = pair::<T>();
    let mut buffer = [0; 8];
    let begun = Instant::now();
    let error = client.receive_by(&mut buffer, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && !error.is_would_block() && error.step() == Step::Receive, "{error}");
    assert!(begun.elapsed() >= SHORT);
    assert!(!client.wait_readable(within(SHORT)).unwrap());
    let error = client.receive_now(&mut buffer).unwrap_err();
    assert!(error.is_would_block() && !error.is_timeout(), "{error}");
    send(&server, b"late");
    assert!(client.wait_readable(within(LONG)).unwrap());
    assert_eq!(client.receive_by(&mut buffer, within(LONG)).unwrap(), 4);
}

pub(crate) fn sending_ends_by_the_deadline_and_says_how_far_it_came<T: Tried>() {
    let (client, server) = pair::<T>();
    let block = vec![7; 1 << 20];
    let mut sent = 0;
    // The kernel may still be moving octets to the other end, and so make room.
    let mut full_for = 0;
    eventually(|| match client.send_now(&[IoSlice::new(&block)]) {
        Ok(octets) => {
            (sent, full_for) = (sent + octets.count(), 0);
            false
        }
        Err(error) => {
            assert!(error.is_would_block() && error.step() == Step::Send, "{error}");
            full_for += 1;
            full_for > 20
        }
    });
    // Room for a part only: the caller learns how much the peer will see.
    receive(&server, sent);
    // More than any queue grows to meanwhile: half a gigabyte, of the same piece again and again.
    let piece = vec![8; 8 << 20];
    let mut whole = [IoSlice::new(&piece); 64];
    let error = client.send_all(&mut whole, within(Duration::from_millis(200))).unwrap_err();
    assert!(
        error.is_timeout() && error.transferred() > 0 && error.transferred() < 64 * piece.len(),
        "{error}"
    );
    assert!(receive(&server, error.transferred()).iter().all(|&octet| octet == 8));
    assert!(server.receive_by(&mut [0], within(SHORT)).unwrap_err().is_timeout(), "not one octet more");
}

pub(crate) fn one_octet_at_a_time_does_not_move_the_deadline<T: Tried>() {
    let (client, server) = pair::<T>();
    thread::scope(|scope| {
        scope.spawn(|| {
            while server.send_now(&[IoSlice::new(b".")]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut buffer = [0; 1 << 16];
        let error = client.receive_exact(&mut buffer, within(Duration::from_millis(100))).unwrap_err();
        assert!(error.is_timeout(), "{error}");
        assert!(buffer[..error.transferred()].iter().all(|&octet| octet == b'.'));
        client.shutdown_both().unwrap();
        drop(client);
    });
}

pub(crate) fn half_a_close_leaves_the_other_half<T: Tried>() {
    let (client, server) = pair::<T>();
    send(&client, b"question");
    client.shutdown_send().unwrap();
    assert_eq!(receive(&server, 8), b"question");
    assert_eq!(server.receive_by(&mut [0; 8], within(LONG)).unwrap(), 0);
    send(&server, b"answer");
    assert_eq!(receive(&client, 6), b"answer");
    let error = client.send_now(&[IoSlice::new(b"more")]).unwrap_err();
    assert!(error.is_connection_reset(), "{error}");
}

pub(crate) fn an_end_before_the_last_octet_is_told_from_an_end_after_it<T: Tried>() {
    let (client, server) = pair::<T>();
    send(&server, b"half");
    drop(server);
    let mut buffer = [0; 8];
    let error = client.receive_exact(&mut buffer, within(LONG)).unwrap_err();
    assert!(error.is_unexpected_end() && !error.is_connection_reset(), "{error}");
    assert_eq!((error.transferred(), &buffer[..4]), (4, &b"half"[..]));
    assert_eq!(client.receive_by(&mut buffer, within(LONG)).unwrap(), 0);
}

pub(crate) fn what_was_not_read_before_a_close_is_told_to_its_sender<T: Tried>() {
    let (client, server) = pair::<T>();
    send(&client, b"unread");
    assert!(server.wait_readable(within(LONG)).unwrap());
    drop(server);
    let error = client.receive_by(&mut [0; 8], within(LONG)).unwrap_err();
    assert!(error.is_connection_reset() && !error.is_timeout(), "{error}");
    eventually(|| client.send_now(&[IoSlice::new(b"x")]).is_err_and(|error| error.is_connection_reset()));
    assert_eq!(client.idle(), Idle::Closed);
}

pub(crate) fn sending_to_who_has_gone_is_an_error_and_no_signal<T: Tried>() {
    let (client, server) = pair::<T>();
    drop(server);
    eventually(|| client.send_now(&[IoSlice::new(b"x")]).is_err_and(|error| error.is_connection_reset()));
    let block = vec![0; 1 << 20];
    let error = client.send_all(&mut [IoSlice::new(&block)], within(LONG)).unwrap_err();
    assert!(error.is_connection_reset() && error.transferred() == 0, "{error}");
}

pub(crate) fn a_peer_that_closes_ends_a_transfer_under_way<T: Tried>() {
    let (client, server) = pair::<T>();
    let whole = vec![1; 64 << 20];
    thread::scope(|scope| {
        let sender = scope.spawn(|| client.send_all(&mut [IoSlice::new(&whole)], within(LONG)));
        receive(&server, 1 << 20);
        drop(server);
        let error = sender.join().unwrap().unwrap_err();
        assert!(error.is_connection_reset() && error.transferred() >= 1 << 20, "{error}");
    });
}

pub(crate) fn an_idle_connection_is_judged_before_it_is_used_again<T: Tried>() {
    let (client, server) = pair::<T>();
    assert_eq!(client.idle(), Idle::Quiet);
    send(&server, b"x");
    eventually(|| client.idle() == Idle::Readable);
    let mut peeked = [0; 4];
    assert_eq!((client.peek_now(&mut peeked).unwrap(), peeked[0]), (1, b'x'));
    drop(server);
    assert_eq!(client.idle(), Idle::Readable, "what was sent before the close is still to be had");
    assert_eq!(receive(&client, 1), b"x");
    eventually(|| client.idle() == Idle::Closed);
}

pub(crate) fn looking_takes_nothing<T: Tried>() {
    let (client, server) = pair::<T>();
    let mut few = [0; 4];
    let error = client.peek_now(&mut few).unwrap_err();
    assert!(error.is_would_block() && error.step() == Step::Receive, "{error}");
    send(&server, b"0123456789");
    eventually(|| client.peek_now(&mut [0; 64]).is_ok_and(|there| there == 10));
    for _ in 0..2 {
        assert_eq!((client.peek_now(&mut few).unwrap(), &few), (4, b"0123"));
    }
    assert_eq!(receive(&client, 3), b"012");
    let mut all = [0; 64];
    assert_eq!((client.peek_now(&mut all).unwrap(), &all[..7]), (7, &b"3456789"[..]));
    drop(server);
    assert_eq!(receive(&client, 7), b"3456789");
    eventually(|| client.peek_now(&mut few).is_ok());
    assert_eq!(client.peek_now(&mut few).unwrap(), 0, "the end is seen, again and again");
}

pub(crate) fn shutting_down_wakes_whoever_receives<T: Tried>() {
    let (client, _server) = pair::<T>();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| client.receive_by(&mut [0; 8], within(LONG)));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        client.shutdown_both().unwrap();
        assert_eq!(receiver.join().unwrap().unwrap(), 0);
    });
}

pub(crate) fn connecting_is_refused_at_once_where_nobody_listens<T: Tried>() {
    let (_held, gone) = T::refusing();
    let error = T::connect(gone.clone(), within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() && !error.is_timeout(), "{error}");
    assert_eq!(error.step(), Step::Connect);
    assert!(error.address().is_some(), "{error}");
}

pub(crate) fn connecting_ends_by_the_deadline_where_nobody_accepts<T: Tried>() {
    let (acceptor, queued) = crowded::<T>();
    if T::FULL_REFUSES {
        T::accept_by(&acceptor, within(LONG)).unwrap();
        T::connect(T::address(&acceptor), within(LONG)).unwrap();
        return;
    }
    let begun = Instant::now();
    let error = T::connect(T::address(&acceptor), within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Connect && error.address().is_some(), "{error}");
    assert!(begun.elapsed() >= SHORT);
    // With room in the queue it goes on.
    thread::scope(|scope| {
        let later = scope.spawn(|| T::connect(T::address(&acceptor), within(LONG)));
        for _ in 0..=queued.len() {
            T::accept_by(&acceptor, within(LONG)).unwrap();
        }
        later.join().unwrap().unwrap();
    });
}

pub(crate) fn an_acceptor_waits_for_nobody_longer_than_asked<T: Tried>() {
    let acceptor = T::listen(T::fresh()).unwrap();
    let begun = Instant::now();
    let error = T::accept_by(&acceptor, within(SHORT)).map(drop).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Accept && error.address().is_some(), "{error}");
    assert!(begun.elapsed() >= SHORT);
}

pub(crate) fn waiting_for_a_peer_ends_when_one_comes<T: Tried>() {
    let acceptor = T::listen(T::fresh()).unwrap();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| T::accept_by(&acceptor, within(LONG)).unwrap());
        thread::sleep(SHORT);
        let client = T::connect(T::address(&acceptor), within(LONG)).unwrap();
        send(&client, b"hello");
        assert_eq!(receive(&accepted.join().unwrap(), 5), b"hello");
    });
}

pub(crate) fn a_peer_that_has_gone_before_it_is_accepted_does_no_harm<T: Tried>() {
    let acceptor = T::listen(T::fresh()).unwrap();
    drop(T::connect(T::address(&acceptor), within(LONG)).unwrap());
    let next = T::connect(T::address(&acceptor), within(LONG)).unwrap();
    send(&next, b"here");
    let first = T::accept_by(&acceptor, within(LONG)).unwrap();
    // The first is met, already at its end, or is passed over.
    let mut buffer = [0; 4];
    match first.receive_exact(&mut buffer, within(LONG)) {
        Ok(()) => assert_eq!(&buffer, b"here"),
        Err(error) => {
            assert!(error.is_unexpected_end() || error.is_connection_reset(), "{error}");
            assert_eq!(receive(&T::accept_by(&acceptor, within(LONG)).unwrap(), 4), b"here");
        }
    }
}

pub(crate) fn a_taken_address_is_said_to_be_taken<T: Tried>() {
    let first = T::listen(T::fresh()).unwrap();
    let error = T::listen(T::address(&first)).map(drop).unwrap_err();
    assert!(error.is_address_in_use() && error.address().is_some(), "{error}");
    drop(first);
}

pub(crate) fn an_address_is_free_again_when_its_acceptor_has_gone<T: Tried>() {
    let address = {
        let acceptor = T::listen(T::fresh()).unwrap();
        T::address(&acceptor)
    };
    let again = T::listen(address.clone()).unwrap();
    assert_eq!(T::address(&again), address);
    T::connect(address, within(LONG)).unwrap();
}

/// Runs every test above for a transport, and those with a peer that is killed.
macro_rules! stream_transport {
    ($name:ident: $transport:ty) => {
        mod $name {
            use crate::conformance::{killed, streams};

            stream_transport! { @ $name: $transport: streams()
                slices_arrive_in_order_as_one
                what_comes_fills_slices_one_after_the_other
                nothing_is_sent_and_received_at_once
                more_slices_than_one_call_takes_all_arrive
                a_transfer_larger_than_the_queues_goes_through_whole
                both_directions_flow_at_once
                receiving_ends_by_the_deadline_and_the_stream_lives_on
                sending_ends_by_the_deadline_and_says_how_far_it_came
                one_octet_at_a_time_does_not_move_the_deadline
                half_a_close_leaves_the_other_half
                an_end_before_the_last_octet_is_told_from_an_end_after_it
                what_was_not_read_before_a_close_is_told_to_its_sender
                sending_to_who_has_gone_is_an_error_and_no_signal
                a_peer_that_closes_ends_a_transfer_under_way
                an_idle_connection_is_judged_before_it_is_used_again
                looking_takes_nothing
                shutting_down_wakes_whoever_receives
                connecting_is_refused_at_once_where_nobody_listens
                connecting_ends_by_the_deadline_where_nobody_accepts
                an_acceptor_waits_for_nobody_longer_than_asked
                waiting_for_a_peer_ends_when_one_comes
                a_peer_that_has_gone_before_it_is_accepted_does_no_harm
                a_taken_address_is_said_to_be_taken
                an_address_is_free_again_when_its_acceptor_has_gone
            }
            stream_transport! { @ $name: $transport: killed(module_path!())
                killed_before_it_is_accepted_it_does_no_harm
                killed_while_it_is_waited_for_it_ends_the_wait
                killed_in_the_middle_of_a_message_it_leaves_a_half
                killed_while_it_sends_it_leaves_the_beginning
                killed_while_it_is_sent_to_it_ends_the_transfer
                killed_while_it_listens_it_refuses
            }

            #[test]
            #[ignore = "run by the tests of killed peers, as their other process"]
            fn the_other_process() {
                killed::play::<$transport>();
            }
        }
    };
    (@ $name:ident: $transport:ty: $suite:ident $arguments:tt $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                let suite = || $suite::$test::<$transport> $arguments;
                crate::conformance::families::tried::<$transport>(stringify!($name), suite);
            }
        )*
    };
}
