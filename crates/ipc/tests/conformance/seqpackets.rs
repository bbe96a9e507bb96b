//! What connections that carry messages have to do, whatever they are listened for at.

use std::io::IoSlice;
use std::thread;
use std::time::Instant;

use zorb_ipc::UnixAddress;
use zorb_ipc::{
    QueueSizes, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, SeqpacketConnector, Step,
};

use super::{LONG, SHORT, within};

/// An address that nobody else listens at.
pub(crate) type Fresh = fn() -> UnixAddress;

fn listening(fresh: Fresh) -> SeqpacketAcceptor {
    SeqpacketAcceptor::bind(fresh(), &SeqpacketAcceptorOptions::new()).unwrap()
}

pub(crate) fn pair(fresh: Fresh) -> (Seqpacket, Seqpacket) {
    let acceptor = listening(fresh);
    let client = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
    (client, acceptor.accept_by(within(LONG)).unwrap())
}

fn send(connection: &Seqpacket, message: &[u8]) {
    connection.send_by(&[IoSlice::new(message)], within(LONG)).unwrap();
}

fn receive(connection: &Seqpacket) -> Vec<u8> {
    let mut message = vec![0; 1 << 18];
    let octets = connection.receive_by(&mut message, within(LONG)).unwrap();
    message.truncate(octets);
    message
}

pub(crate) fn messages_stay_whole_and_in_order(fresh: Fresh) {
    let (client, server) = pair(fresh);
    client.send(&[IoSlice::new(b"hello, "), IoSlice::new(b""), IoSlice::new(b"world")]).unwrap();
    client.send_now(&[IoSlice::new(b"again")]).unwrap();
    send(&client, b"x");
    assert_eq!(receive(&server), b"hello, world");
    let mut message = [0; 8];
    assert_eq!(server.receive(&mut message).unwrap(), 5);
    assert_eq!(server.receive_now(&mut message).unwrap(), 1);
    send(&server, b"back");
    assert_eq!(receive(&client), b"back");
}

pub(crate) fn any_number_of_slices_is_one_message(fresh: Fresh) {
    let (client, server) = pair(fresh);
    let octets: Vec<u8> = (0..5000_u32).map(|i| i as u8).collect();
    let slices: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    for count in [1, 1023, 1024, 1025, 5000] {
        client.send(&slices[..count]).unwrap();
        assert!(receive(&server) == octets[..count], "{count}");
    }
}

pub(crate) fn an_empty_message_is_refused(fresh: Fresh) {
    let (client, server) = pair(fresh);
    let empty = IoSlice::new(b"");
    let results =
        [client.send(&[]), client.send_now(&[empty]), client.send_by(&[empty, empty], within(LONG))];
    for result in results {
        let error = result.unwrap_err();
        let invalid = Some(rustix::io::Errno::INVAL.raw_os_error());
        assert_eq!((error.step(), error.raw_os_error()), (Step::Send, invalid), "{error}");
    }
    assert!(server.receive_now(&mut [0; 4]).unwrap_err().is_would_block(), "nothing was sent");
}

pub(crate) fn what_is_longer_than_its_memory_is_told(fresh: Fresh) {
    let (client, server) = pair(fresh);
    send(&client, b"0123456789");
    send(&client, b"next");
    let mut message = [0; 4];
    let error = server.receive(&mut message).unwrap_err();
    assert!(error.is_truncated() && !error.is_too_large(), "{error}");
    assert_eq!((error.transferred(), error.whole_length(), &message), (4, Some(10), b"0123"));
    assert_eq!(server.receive(&mut message).unwrap(), 4, "what is exactly as long fits");
    send(&client, b"x");
    assert_eq!(server.receive(&mut []).unwrap_err().whole_length(), Some(1), "no memory at all");
}

pub(crate) fn a_message_too_large_for_the_queue_is_told(fresh: Fresh) {
    let acceptor = listening(fresh);
    let connector = SeqpacketConnector::new().queue_sizes(QueueSizes { send: Some(8192), receive: None });
    let client = connector.connect(acceptor.local().clone(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    let queue = client.queue_sizes().unwrap().send.unwrap();
    let octets = vec![7; queue];
    let error = client.send(&[IoSlice::new(&octets)]).unwrap_err();
    assert!(error.is_too_large() && error.step() == Step::Send && error.address().is_some(), "{error}");
    assert_eq!(error.whole_length(), Some(octets.len()));
    send(&client, &octets[..4096]);
    assert_eq!(receive(&server).len(), 4096, "nothing of the other was sent");
}

pub(crate) fn waiting_ends_by_the_deadline(fresh: Fresh) {
    let (client, server) = pair(fresh);
    let mut message = [0; 4];
    let begun = Instant::now();
    assert!(client.receive_by(&mut message, within(SHORT)).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= SHORT);
    assert!(!client.wait_readable(within(SHORT)).unwrap());
    assert!(client.receive_now(&mut message).unwrap_err().is_would_block());
    let slices = [IoSlice::new(b"full")];
    let mut sent = 0;
    let full = loop {
        match client.send_now(&slices) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert!(full.is_would_block() && full.step() == Step::Send, "{full}");
    let error = client.send_by(&slices, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.address().is_some(), "{error}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| client.send_by(&slices, within(LONG)));
        for _ in 0..sent {
            assert_eq!(server.receive(&mut message).unwrap(), 4);
        }
        waiting.join().unwrap().unwrap();
    });
    assert!(server.wait_readable(within(LONG)).unwrap());
    assert_eq!(receive(&server), b"full");
}

pub(crate) fn an_end_is_told_after_what_was_sent(fresh: Fresh) {
    let (client, server) = pair(fresh);
    send(&client, b"last");
    client.shutdown_send().unwrap();
    assert_eq!(receive(&server), b"last");
    assert_eq!(receive(&server), b"", "the end");
    assert_eq!(server.receive_now(&mut [0; 4]).unwrap(), 0, "again");
    assert!(client.send(&[IoSlice::new(b"x")]).unwrap_err().is_connection_reset());
    send(&server, b"the other way");
    assert_eq!(receive(&client), b"the other way");
    server.shutdown_both().unwrap();
    assert_eq!(receive(&client), b"");
}

pub(crate) fn a_peer_that_has_gone_is_told(fresh: Fresh) {
    let (client, server) = pair(fresh);
    send(&server, b"farewell");
    drop(server);
    assert_eq!(receive(&client), b"farewell");
    assert_eq!(receive(&client), b"");
    let error = client.send(&[IoSlice::new(b"x")]).unwrap_err();
    assert!(error.is_connection_reset() && error.step() == Step::Send, "{error}");

    // With something that it has not received.
    let (client, server) = pair(fresh);
    send(&client, b"unheard");
    drop(server);
    match client.receive_by(&mut [0; 4], within(LONG)) {
        Ok(octets) => assert_eq!(octets, 0),
        Err(error) => assert!(error.is_connection_reset(), "{error}"),
    }
}

pub(crate) fn accepting_and_connecting_end_by_the_deadline(fresh: Fresh) {
    let acceptor = SeqpacketAcceptor::bind(fresh(), &SeqpacketAcceptorOptions::new().backlog(0)).unwrap();
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    let error = acceptor.accept_by(within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Accept, "{error}");
    let (connector, to) = (SeqpacketConnector::new(), acceptor.local().clone());
    let mut queued = Vec::new();
    let full = loop {
        assert!(queued.len() < 100, "the queue has no end");
        match connector.connect_now(to.clone()) {
            Ok(connection) => queued.push(connection),
            Err(error) => break error,
        }
    };
    assert!(full.is_would_block() && full.step() == Step::Connect && full.address().is_some(), "{full}");
    let error = connector.connect(to.clone(), within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Connect, "{error}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| connector.connect(to.clone(), within(LONG)));
        for client in &queued {
            assert_eq!(client.peer_address(), Some(acceptor.local()));
            acceptor.accept().unwrap();
        }
        waiting.join().unwrap().unwrap();
    });
    drop(acceptor);
    let error = Seqpacket::connect(to, within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() || error.raw_os_error() == Some(2), "{error}");
}

pub(crate) fn a_taken_address_is_said_to_be_taken(fresh: Fresh) {
    let first = listening(fresh);
    let at = first.local().clone();
    let error = SeqpacketAcceptor::bind(at.clone(), &SeqpacketAcceptorOptions::new()).unwrap_err();
    assert!(error.is_address_in_use() && error.address().is_some(), "{error}");
    let replacing = SeqpacketAcceptorOptions::new().replace_abandoned(true);
    assert!(SeqpacketAcceptor::bind(at.clone(), &replacing).unwrap_err().is_address_in_use(), "it is not");
    drop(first);
    assert_eq!(SeqpacketAcceptor::bind(at.clone(), &SeqpacketAcceptorOptions::new()).unwrap().local(), &at);
}

pub(crate) fn threads_may_share_a_connection(fresh: Fresh) {
    const EACH: usize = 500;
    let (client, server) = pair(fresh);
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            let client = &client;
            scope.spawn(move || (0..EACH).for_each(|_| send(client, &[thread; 100])));
        }
        let mut seen = [0; 4];
        let mut message = [0; 200];
        for _ in 0..4 * EACH {
            assert_eq!(server.receive_by(&mut message, within(LONG)).unwrap(), 100);
            assert!(message[..100].iter().all(|&octet| octet == message[0]), "none is mixed with another");
            seen[usize::from(message[0])] += 1;
        }
        assert_eq!(seen, [EACH; 4]);
    });
}

/// Runs every test above for a kind of addresses.
macro_rules! seqpackets {
    ($name:ident: $fresh:expr) => {
        mod $name {
            seqpackets! { @ $fresh;
                messages_stay_whole_and_in_order
                any_number_of_slices_is_one_message
                an_empty_message_is_refused
                what_is_longer_than_its_memory_is_told
                a_message_too_large_for_the_queue_is_told
                waiting_ends_by_the_deadline
                an_end_is_told_after_what_was_sent
                a_peer_that_has_gone_is_told
                accepting_and_connecting_end_by_the_deadline
                a_taken_address_is_said_to_be_taken
                threads_may_share_a_connection
            }
            seqpackets! { @ killed $fresh;
                killed_before_it_is_accepted_it_does_no_harm
                killed_while_it_is_waited_for_it_ends_the_wait
                killed_while_it_sends_it_leaves_whole_messages
                killed_while_it_is_sent_to_it_ends_the_wait_for_room
                killed_while_it_listens_it_refuses
            }

            #[test]
            #[ignore = "run by the tests of killed peers, as their other process"]
            fn the_other_process() {
                crate::conformance::killed_seqpackets::play($fresh);
            }
        }
    };
    (@ killed $fresh:expr; $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                crate::conformance::killed_seqpackets::$test($fresh, module_path!());
            }
        )*
    };
    (@ $fresh:expr; $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                crate::conformance::seqpackets::$test($fresh);
            }
        )*
    };
}
