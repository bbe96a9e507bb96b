//! Signals interrupt datagram sockets and connections that carry messages, and their calls go on. Alone in
//! its process, whose signal dispositions it changes.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;
use std::sync::Arc;

use zorb_ipc::{
    ConnectedDatagramSocket, DatagramSocket, Outgoing, ReceiveBatch, SendBatch, Seqpacket, SeqpacketAcceptor,
    SeqpacketAcceptorOptions,
};

use conformance::datagrams::Tried;
use conformance::families::tried_datagrams;
use conformance::interruptions::{interrupted, interrupting_handler};
use conformance::{LONG, unused_path, within};

const MESSAGE: &[u8] = b"message";

fn receiving<F: Tried>() {
    let (one, other) = (bound::<F>(), Arc::new(bound::<F>()));
    let to = other.local().unwrap().clone();
    let release = || one.send_to(&[IoSlice::new(MESSAGE)], &to).unwrap();

    let waiting = Arc::clone(&other);
    assert_eq!(interrupted(move || waiting.receive_from(&mut [0; 16]).unwrap().octets, release), 7);
    let waiting = Arc::clone(&other);
    let by_deadline = move || waiting.receive_from_by(&mut [0; 16], within(LONG)).unwrap().octets;
    assert_eq!(interrupted(by_deadline, release), 7);
    let waiting = Arc::clone(&other);
    let stamped = move || waiting.receive_from_stamped_by(&mut [0; 16], within(LONG)).unwrap();
    assert_eq!(interrupted(stamped, release).received.octets, 7);
    let waiting = Arc::clone(&other);
    let many = move || waiting.receive_many(&mut ReceiveBatch::new(4, 16)).unwrap();
    assert_eq!(interrupted(many, release), 1);
    let waiting = Arc::clone(&other);
    let many = move || waiting.receive_many_by(&mut ReceiveBatch::new(4, 16), within(LONG)).unwrap();
    assert_eq!(interrupted(many, release), 1);
}

fn bound<F: Tried>() -> DatagramSocket<F::Family> {
    DatagramSocket::bind(F::fresh()).unwrap()
}

/// Two sockets, each connected to the other.
fn pair<F: Tried>() -> (ConnectedDatagramSocket<F::Family>, ConnectedDatagramSocket<F::Family>) {
    let (one, other) = (bound::<F>(), bound::<F>());
    let (at_one, at_other) = (one.local().unwrap().clone(), other.local().unwrap().clone());
    (one.connect(at_other).unwrap(), other.connect(at_one).unwrap())
}

fn receiving_connected<F: Tried>() {
    let (one, other) = pair::<F>();
    let other = Arc::new(other);
    let release = || one.send(&[IoSlice::new(MESSAGE)]).unwrap();

    let waiting = Arc::clone(&other);
    assert_eq!(interrupted(move || waiting.receive(&mut [0; 16]).unwrap(), release), 7);
    let waiting = Arc::clone(&other);
    assert_eq!(interrupted(move || waiting.receive_by(&mut [0; 16], within(LONG)).unwrap(), release), 7);
    let waiting = Arc::clone(&other);
    let many = move || waiting.receive_many(&mut ReceiveBatch::new(4, 16)).unwrap();
    assert_eq!(interrupted(many, release), 1);
    let waiting = Arc::clone(&other);
    let many = move || waiting.receive_many_by(&mut ReceiveBatch::new(4, 16), within(LONG)).unwrap();
    assert_eq!(interrupted(many, release), 1);
}

/// Where a full receiver makes senders wait.
fn sending<F: Tried>() {
    let (one, other) = (Arc::new(bound::<F>()), bound::<F>());
    let (from, to) = (one.local().unwrap().clone(), other.local().unwrap().clone());
    while one.send_to_now(&[IoSlice::new(MESSAGE)], &to).is_ok() {}
    let release = || assert_eq!(other.receive_from(&mut [0; 16]).unwrap().octets, 7);

    let (waiting, at) = (Arc::clone(&one), to.clone());
    interrupted(move || waiting.send_to(&[IoSlice::new(MESSAGE)], &at).unwrap(), release);
    let (waiting, at) = (Arc::clone(&one), to.clone());
    interrupted(move || waiting.send_to_by(&[IoSlice::new(MESSAGE)], &at, within(LONG)).unwrap(), release);
    let (waiting, at) = (Arc::clone(&one), to.clone());
    let many = move || {
        let slices = [IoSlice::new(MESSAGE)];
        waiting.send_many(&[Outgoing { slices: &slices, to: &at }], &mut SendBatch::new(1)).unwrap()
    };
    assert_eq!(interrupted(many, release), 1);
    let (waiting, at) = (Arc::clone(&one), to.clone());
    let many = move || {
        let slices = [IoSlice::new(MESSAGE)];
        let outgoing = [Outgoing { slices: &slices, to: &at }];
        waiting.send_many_by(&outgoing, &mut SendBatch::new(1), within(LONG)).unwrap()
    };
    assert_eq!(interrupted(many, release), 1);

    // A reply waits for who asked.
    other.send_to(&[IoSlice::new(MESSAGE)], &from).unwrap();
    let sender = one.receive_from(&mut [0; 16]).unwrap().from().unwrap();
    let (waiting, to) = (Arc::clone(&one), sender);
    interrupted(move || waiting.reply(&[IoSlice::new(MESSAGE)], &to).unwrap(), release);
    let waiting = Arc::clone(&one);
    interrupted(move || waiting.reply_by(&[IoSlice::new(MESSAGE)], &sender, within(LONG)).unwrap(), release);

    // Of two that are each other's peers the kernel may wake the sender only when its own queue is half empty.
    let (one, other) = pair::<F>();
    let one = Arc::new(one);
    let fill = || {
        std::iter::repeat_with(|| one.send_now(&[IoSlice::new(MESSAGE)])).take_while(Result::is_ok).count()
    };
    let drain = |queued| (0..queued).for_each(|_| assert_eq!(other.receive(&mut [0; 16]).unwrap(), 7));
    let (queued, waiting) = (fill(), Arc::clone(&one));
    interrupted(move || waiting.send(&[IoSlice::new(MESSAGE)]).unwrap(), || drain(queued));
    let (queued, waiting) = (fill(), Arc::clone(&one));
    interrupted(move || waiting.send_by(&[IoSlice::new(MESSAGE)], within(LONG)).unwrap(), || drain(queued));
}

fn messages() {
    let acceptor =
        Arc::new(SeqpacketAcceptor::bind(unused_path(), &SeqpacketAcceptorOptions::new()).unwrap());
    let to = acceptor.local().clone();
    let mut client = None;
    let server = interrupted(
        move || acceptor.accept_by(within(LONG)).unwrap(),
        || client = Some(Seqpacket::connect(to, within(LONG)).unwrap()),
    );
    let (client, server) = (client.unwrap(), Arc::new(server));
    let release = || client.send(&[IoSlice::new(MESSAGE)]).unwrap();
    let waiting = Arc::clone(&server);
    assert_eq!(interrupted(move || waiting.receive(&mut [0; 16]).unwrap(), release), 7);
    let waiting = Arc::clone(&server);
    assert_eq!(interrupted(move || waiting.receive_by(&mut [0; 16], within(LONG)).unwrap(), release), 7);

    let mut queued = 0;
    while server.send_now(&[IoSlice::new(MESSAGE)]).is_ok() {
        queued += 1;
    }
    let waiting = Arc::clone(&server);
    let drained = || (0..queued).for_each(|_| assert_eq!(client.receive(&mut [0; 16]).unwrap(), 7));
    interrupted(move || waiting.send(&[IoSlice::new(MESSAGE)]).unwrap(), drained);

    // A peer that is gone is told by an error, not by a signal.
    drop(client);
    assert!(server.send(&[IoSlice::new(MESSAGE)]).unwrap_err().is_connection_reset());
    assert!(server.send(&[IoSlice::new(b"two"), IoSlice::new(b"slices")]).unwrap_err().is_connection_reset());
}

#[test]
fn signals_neither_kill_nor_cut_short() {
    // SAFETY: restores the default disposition, which involves no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    interrupting_handler();
    macro_rules! signalled {
        ($name:ident: $family:ty) => {
            tried_datagrams::<$family>(stringify!($name), || {
                receiving::<$family>();
                receiving_connected::<$family>();
                if <$family>::WAITS {
                    sending::<$family>();
                }
            });
        };
    }
    every_datagram_family!(signalled);
    messages();
}
