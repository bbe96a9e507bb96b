//! What every datagram family has to do.

use std::fmt::{Debug, Display};
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;
use std::time::Instant;

use zorb_ipc::{
    ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Outgoing, ReceiveBatch, SendBatch, Step,
};

use super::{LONG, SHORT, eventually, within};

/// A family, or one kind of its addresses, and those that tests need.
pub(crate) trait Tried {
    type Address: Clone + Debug + Display + PartialEq + Send + Sync + 'static;
    type Family: DatagramFamily<Address = Self::Address>;

    /// Why this machine cannot try it.
    fn left_out() -> Option<String> {
        None
    }

    /// An address that nobody else receives at.
    fn fresh() -> Self::Address;

    /// The longest datagram that it sends.
    fn longest() -> usize;

    /// Whether senders wait for room in a receiver's full queue, where others lose what they send.
    const WAITS: bool;
}

fn bound<F: Tried>() -> DatagramSocket<F::Family> {
    DatagramSocket::bind(F::fresh()).unwrap()
}

fn address<A: Clone, D: DatagramFamily<Address = A>>(socket: &DatagramSocket<D>) -> A {
    socket.local().unwrap().clone()
}

/// Two sockets, each connected to the other.
fn pair<F: Tried>() -> (ConnectedDatagramSocket<F::Family>, ConnectedDatagramSocket<F::Family>) {
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
    assert_eq!(&buffer[..first.octets], b"hello, world");
    assert_eq!(first.from().map(|sender| sender.address()).as_ref(), one.local());
    let second = other.receive_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..second.octets], b"again");
    other.send_to(&[IoSlice::new(b"back")], &second.from().unwrap().address()).unwrap();
    assert_eq!(one.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 4);
}

pub(crate) fn a_sender_is_replied_to_as_it_came<F: Tried>() {
    let (one, other, third) = (bound::<F>(), bound::<F>(), bound::<F>());
    let mut buffer = [0; 2048];
    let mut received = |from: &DatagramSocket<F::Family>| {
        from.send_to(&[IoSlice::new(b"hello")], &address(&other)).unwrap();
        other.receive_from_by(&mut buffer, within(LONG)).unwrap()
    };
    let [first, again, third] = [&one, &one, &third].map(&mut received);
    assert_eq!(first, again);
    assert_ne!(first, third);
    let sender = first.from().unwrap();
    assert_eq!(sender.to_string(), address(&one).to_string());

    let octets = [b'x'; 1500];
    let many: Vec<_> = octets.iter().map(|octet| IoSlice::new(std::slice::from_ref(octet))).collect();
    other.reply(&many[..2], &sender).unwrap();
    other.reply_now(&many[..3], &sender).unwrap();
    other.reply_by(&many, &sender, within(LONG)).unwrap();
    let answers = [(); 3].map(|()| one.receive_from_by(&mut buffer, within(LONG)).unwrap());
    assert_eq!(answers.map(|answer| answer.octets), [2, 3, 1500]);
    for answer in answers {
        assert_eq!(answer.from().unwrap().address(), address(&other));
    }
    let error = other.reply(&[IoSlice::new(&vec![0; 1 << 24])], &sender).unwrap_err();
    assert!(error.is_too_large(), "{error}");
    assert!(error.to_string().contains(&sender.to_string()), "{error}");
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
    let longest = F::longest();
    let octets: Vec<u8> = (0..longest + 1).map(|i| (i / 251) as u8).collect();
    one.send_to(&[IoSlice::new(&octets[..longest])], &address(&other)).unwrap();
    let mut buffer = vec![0; longest + 1];
    let received = other.receive_from_by(&mut buffer, within(LONG)).unwrap();
    assert!(buffer[..received.octets] == octets[..longest]);
    let error = one.send_to(&[IoSlice::new(&octets)], &address(&other)).unwrap_err();
    assert!(error.is_too_large() && error.step() == Step::Send && error.address().is_some(), "{error}");
    assert_eq!(error.whole_length(), Some(longest + 1));
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

/// Sends until there is no room left, and says how many that were.
fn fill(mut send: impl FnMut() -> Result<(), zorb_ipc::Error>) -> usize {
    for sent in 0..1_000_000 {
        match send() {
            Ok(()) => {}
            Err(error) if error.is_would_block() => {
                assert_eq!((error.step(), error.address().is_some()), (Step::Send, true), "{error}");
                return sent;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the queue has no end");
}

pub(crate) fn sending_ends_by_the_deadline<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    let slices = [IoSlice::new(b"full")];
    let mut buffer = [0; 16];
    // With room it is sent at once, whatever the deadline.
    one.send_to_by(&slices, &to, Instant::now()).unwrap();
    assert_eq!(other.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 4);
    let (left, right) = pair::<F>();
    left.send_by(&slices, Instant::now()).unwrap();
    assert_eq!(right.receive_by(&mut buffer, within(LONG)).unwrap(), 4);
    if !F::WAITS {
        return;
    }
    let sent = fill(|| one.send_to_now(&slices, &to));
    let begun = Instant::now();
    let error = one.send_to_by(&slices, &to, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && !error.is_would_block() && error.address().is_some(), "{error}");
    assert!(begun.elapsed() >= SHORT);
    let mut outgoing = SendBatch::new(4);
    let many = [Outgoing { slices: &slices, to: &to }; 2];
    assert!(one.send_many_now(&many, &mut outgoing).unwrap_err().is_would_block());
    let error = one.send_many_by(&many, &mut outgoing, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.address().is_some(), "{error}");

    // Who waits goes on when there is room.
    thread::scope(|scope| {
        let waiting = scope.spawn(|| one.send_to_by(&slices, &to, within(LONG)));
        thread::sleep(SHORT);
        assert!(!waiting.is_finished());
        for _ in 0..sent {
            assert_eq!(other.receive_from(&mut buffer).unwrap().octets, 4);
        }
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(other.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 4);

    let sent = fill(|| left.send_now(&slices));
    let error = left.send_by(&slices, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.address().is_some(), "{error}");
    let error = left.send_many_by(&[&slices], &mut outgoing, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.address().is_some(), "{error}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| left.send_by(&slices, within(LONG)));
        for _ in 0..sent {
            assert_eq!(right.receive(&mut buffer).unwrap(), 4);
        }
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(right.receive_by(&mut buffer, within(LONG)).unwrap(), 4);
}

/// Receives so many in batches, and says of each its octets, its whole length, and whether its sender is this
/// one.
fn receive_all<F: Tried>(
    count: usize,
    from: Option<&F::Address>,
    mut receive: impl FnMut() -> Vec<(Vec<u8>, usize, Option<F::Address>)>,
) -> Vec<(Vec<u8>, usize)> {
    let mut all = Vec::new();
    while all.len() < count {
        for (octets, whole, sender) in receive() {
            assert_eq!(sender.as_ref(), from);
            all.push((octets, whole));
        }
    }
    all
}

fn listed<F: Tried>(batch: &ReceiveBatch<F::Family>) -> Vec<(Vec<u8>, usize, Option<F::Address>)> {
    let each = batch.iter().map(|one| {
        assert_eq!(one.is_truncated(), one.whole_length() > one.octets().len());
        (one.octets().to_vec(), one.whole_length(), one.from().map(|sender| sender.address()))
    });
    each.collect()
}

pub(crate) fn many_go_and_come_in_one_call<F: Tried>() {
    // As many as fit any receiver's queue; the middle one is empty, the last one longer than its room.
    let texts: [&[u8]; 5] = [b"a", b"bb", b"", b"four", b"too long!"];
    let slices = texts.map(|text| [IoSlice::new(text), IoSlice::new(b"")]);
    let expected: Vec<_> =
        texts.iter().map(|text| (text[..text.len().min(4)].to_vec(), text.len())).collect();
    let (mut outgoing, mut incoming) = (SendBatch::new(8), ReceiveBatch::<F::Family>::new(3, 4));
    assert_eq!((outgoing.most(), incoming.most(), incoming.len()), (8, 3, 0));

    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    let many = slices.each_ref().map(|slices| Outgoing { slices, to: &to });
    // The same two batches again and again.
    for _ in 0..3 {
        assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 5);
        let received = receive_all::<F>(5, one.local(), || {
            let received = other.receive_many_by(&mut incoming, within(LONG)).unwrap();
            assert!((1..=3).contains(&received) && received == incoming.len());
            listed::<F>(&incoming)
        });
        assert_eq!(received, expected);
    }
    assert_eq!(one.send_many_now(&many[..2], &mut outgoing).unwrap(), 2);
    other.receive_many(&mut incoming).unwrap();
    assert_eq!(incoming.datagram(0).unwrap().octets(), b"a");
    assert!(incoming.datagram(3).is_none());

    let (one, other) = pair::<F>();
    let many = slices.each_ref().map(|slices| &slices[..]);
    assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 5);
    let received = receive_all::<F>(5, Some(other.peer()), || {
        other.receive_many(&mut incoming).unwrap();
        listed::<F>(&incoming)
    });
    assert_eq!(received, expected);
}

pub(crate) fn a_batch_takes_what_it_has_room_for<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    let slices = [IoSlice::new(b"x")];
    let many = [Outgoing { slices: &slices, to: &to }; 5];
    let mut outgoing = SendBatch::new(2);
    assert_eq!(one.send_many(&[], &mut outgoing).unwrap(), 0);
    assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 2);
    assert_eq!(one.send_many_by(&many[2..], &mut outgoing, within(LONG)).unwrap(), 2);
    assert_eq!(one.send_many_now(&many[4..], &mut outgoing).unwrap(), 1);
    // Room for none is room for one, and for no octets still takes datagrams.
    assert_eq!((SendBatch::new(0).most(), ReceiveBatch::<F::Family>::new(0, 0).most()), (1, 1));
    assert_eq!(ReceiveBatch::<F::Family>::new(100_000, 0).most(), 1024);
    let mut incoming = ReceiveBatch::<F::Family>::new(1, 0);
    for _ in 0..5 {
        assert_eq!(other.receive_many_by(&mut incoming, within(LONG)).unwrap(), 1);
        let only = incoming.datagram(0).unwrap();
        assert_eq!((only.octets(), only.whole_length(), only.is_truncated()), (&b""[..], 1, true));
    }
    assert!(other.receive_many_now(&mut incoming).unwrap_err().is_would_block());
    assert!(incoming.is_empty() && incoming.datagram(0).is_none(), "what was received before is gone");
    let error = other.receive_many_by(&mut incoming, within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Receive, "{error}");
    let (one, _other) = pair::<F>();
    assert!(one.receive_many_now(&mut incoming).unwrap_err().is_would_block());
    assert!(one.receive_many_by(&mut incoming, within(SHORT)).unwrap_err().is_timeout());
}

pub(crate) fn a_batch_stops_at_what_cannot_be_sent<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    let long = vec![7; F::longest() + 1];
    let (good, bad) = ([IoSlice::new(b"good")], [IoSlice::new(&long)]);
    let many = [&good, &good, &bad, &good].map(|slices| Outgoing { slices, to: &to });
    let mut outgoing = SendBatch::new(8);
    assert_eq!(one.send_many(&many, &mut outgoing).unwrap(), 2, "up to the one that is too large");
    let error = one.send_many(&many[2..], &mut outgoing).unwrap_err();
    assert!(error.is_too_large() && error.address().is_some(), "{error}");
    assert_eq!(error.whole_length(), Some(long.len()));
    assert_eq!(one.send_many(&many[3..], &mut outgoing).unwrap(), 1);
    let mut buffer = [0; 8];
    for _ in 0..3 {
        assert_eq!(other.receive_from_by(&mut buffer, within(LONG)).unwrap().octets, 4);
    }
    let (one, _other) = pair::<F>();
    let error = one.send_many(&[&bad], &mut outgoing).unwrap_err();
    assert!(error.is_too_large() && error.address().is_some(), "{error}");
    assert_eq!(error.whole_length(), Some(long.len()));
}

pub(crate) fn any_number_of_slices_is_one_datagram<F: Tried>() {
    let octets: Vec<u8> = (0..3000_u32).map(|i| i as u8).collect();
    let slices: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    let mut buffer = vec![0; 4000];
    let (one, other) = (bound::<F>(), bound::<F>());
    let (at_one, at_other) = (address(&one), address(&other));
    for count in [1023, 1024, 1025, 3000] {
        one.send_to(&slices[..count], &at_other).unwrap();
        let received = other.receive_from_by(&mut buffer, within(LONG)).unwrap();
        assert!(buffer[..received.octets] == octets[..count], "{count}");
    }
    let (one, other) = (one.connect(at_other).unwrap(), other.connect(at_one).unwrap());
    for count in [1024, 1025, 3000] {
        one.send(&slices[..count]).unwrap();
        let received = other.receive_by(&mut buffer, within(LONG)).unwrap();
        assert!(buffer[..received] == octets[..count], "{count}");
    }
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

pub(crate) fn what_came_from_others_before_is_not_the_peers<F: Tried>() {
    for in_batches in [false, true] {
        let (one, other, third) = (bound::<F>(), bound::<F>(), bound::<F>());
        let (at_one, at_other) = (address(&one), address(&other));
        for (socket, text) in [(&third, &b"stranger"[..]), (&other, b"early"), (&third, b"again")] {
            socket.send_to(&[IoSlice::new(text)], &at_one).unwrap();
        }
        let one = one.connect(at_other).unwrap();
        other.send_to(&[IoSlice::new(b"late")], &at_one).unwrap();
        let (mut buffer, mut batch) = ([0; 16], ReceiveBatch::<F::Family>::new(4, 16));
        for text in [&b"early"[..], b"late"] {
            if in_batches {
                assert_eq!(one.receive_many_by(&mut batch, within(LONG)).unwrap(), 1);
                assert_eq!(batch.datagram(0).unwrap().octets(), text);
            } else {
                let octets = one.receive(&mut buffer).unwrap();
                assert_eq!(&buffer[..octets], text);
            }
        }
        assert!(one.receive_many_now(&mut batch).unwrap_err().is_would_block() && batch.is_empty());
        other.send_to(&[IoSlice::new(b"on")], &at_one).unwrap();
        assert_eq!(one.receive_by(&mut buffer, within(LONG)).unwrap(), 2);
    }
}

/// A socket's mode belongs to all who have a duplicate of it.
pub(crate) fn calls_wait_whatever_another_owner_sets<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let (left, right) = pair::<F>();
    for fd in [one.as_fd(), other.as_fd(), left.as_fd(), right.as_fd()] {
        rustix::io::ioctl_fionbio(fd, true).unwrap();
    }
    let to = address(&other);
    let slices = [IoSlice::new(b"late")];
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let mut batch = ReceiveBatch::<F::Family>::new(1, 16);
            other.receive_from(&mut [0; 16]).unwrap();
            other.receive_many(&mut batch).unwrap();
            right.receive(&mut [0; 16]).unwrap();
            right.receive_many(&mut batch).unwrap();
        });
        for _ in 0..2 {
            thread::sleep(SHORT);
            one.send_to(&slices, &to).unwrap();
        }
        for _ in 0..2 {
            thread::sleep(SHORT);
            left.send(&slices).unwrap();
        }
        receiving.join().unwrap();
    });
    if !F::WAITS {
        return;
    }
    let sent = fill(|| one.send_to_now(&slices, &to));
    let also = fill(|| left.send_now(&slices));
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let mut batch = SendBatch::new(1);
            one.send_to(&slices, &to).unwrap();
            let _ = one.send_many(&[Outgoing { slices: &slices, to: &to }], &mut batch).unwrap();
            left.send(&slices).unwrap();
            let _ = left.send_many(&[&slices], &mut batch).unwrap();
        });
        for _ in 0..sent + 2 {
            other.receive_from_by(&mut [0; 16], within(LONG)).unwrap();
        }
        for _ in 0..also + 2 {
            right.receive_by(&mut [0; 16], within(LONG)).unwrap();
        }
        sending.join().unwrap();
    });
}

/// Refused, a socket is what it was; given up, its address goes with its descriptor.
pub(crate) fn a_socket_comes_back_and_is_given_up<F: Tried>() {
    let (one, other) = (bound::<F>(), bound::<F>());
    let (at_one, at_other) = (address(&one), address(&other));
    drop(other);
    let mut buffer = [0; 16];
    let sender = bound::<F>();
    // Where nobody is a Unix socket is refused, and a UDP socket is not.
    let one = match one.connect(at_other) {
        Ok(connected) => {
            let number = connected.as_fd().as_raw_fd();
            assert_eq!(OwnedFd::from(connected).as_raw_fd(), number);
            return;
        }
        Err(refused) => refused.into_handle(),
    };
    sender.send_to(&[IoSlice::new(b"x")], &at_one).unwrap();
    assert_eq!(one.receive_from(&mut buffer).unwrap().octets, 1);
    let fd = OwnedFd::from(one);
    sender.send_to(&[IoSlice::new(b"still there")], &at_one).unwrap();
    assert_eq!(rustix::net::recv(&fd, &mut buffer[..], rustix::net::RecvFlags::empty()).unwrap().0, 11);
    drop(fd);
    assert!(sender.send_to(&[IoSlice::new(b"x")], &at_one).unwrap_err().is_connection_refused());
}

pub(crate) fn a_peer_that_has_gone_is_told<F: Tried>() {
    let (one, other) = pair::<F>();
    drop(other);
    let mut told = None;
    eventually(|| {
        told = one.send(&[IoSlice::new(b"x")]).err();
        told.is_some()
    });
    let error = told.take().unwrap();
    assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
    assert!(!error.is_connection_reset() && !error.is_unreachable(), "{error}");

    let (one, other) = pair::<F>();
    drop(other);
    let mut outgoing = SendBatch::new(2);
    let slices = [IoSlice::new(b"x")];
    eventually(|| {
        told = one.send_many(&[&slices], &mut outgoing).err();
        told.is_some()
    });
    assert!(told.take().unwrap().is_connection_refused());
    // Whoever goes on is told again.
    eventually(|| one.send_by(&slices, within(LONG)).is_err());
}

pub(crate) fn a_taken_address_is_said_to_be_taken<F: Tried>() {
    let first = bound::<F>();
    let error = DatagramSocket::<F::Family>::bind(address(&first)).unwrap_err();
    assert!(error.is_address_in_use() && error.address().is_some(), "{error}");
    let free = address(&first);
    drop(first);
    assert_eq!(DatagramSocket::<F::Family>::bind(free.clone()).unwrap().local(), Some(&free));
}

pub(crate) fn threads_may_share_a_socket<F: Tried>() {
    // All of them fit a UDP receiver's queue at once (`net.core.rmem_default`, of which each takes 768
    // octets).
    const EACH: usize = 40;
    let (one, other) = (bound::<F>(), bound::<F>());
    let to = address(&other);
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (one, to) = (&one, &to);
            scope.spawn(move || {
                for _ in 0..EACH {
                    one.send_to(&[IoSlice::new(&[thread; 8])], to).unwrap();
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
                a_sender_is_replied_to_as_it_came
                an_empty_datagram_is_one
                what_is_longer_than_its_memory_is_told
                the_longest_datagram_passes_and_a_longer_one_is_told
                receiving_ends_by_the_deadline
                sending_ends_by_the_deadline
                many_go_and_come_in_one_call
                a_batch_takes_what_it_has_room_for
                a_batch_stops_at_what_cannot_be_sent
                any_number_of_slices_is_one_datagram
                a_connected_socket_hears_its_peer_only
                what_came_from_others_before_is_not_the_peers
                calls_wait_whatever_another_owner_sets
                a_socket_comes_back_and_is_given_up
                a_peer_that_has_gone_is_told
                a_taken_address_is_said_to_be_taken
                threads_may_share_a_socket
            }
            datagram_family! { @ killed $family:
                killed_before_it_receives_it_is_told_to_whoever_sends
                killed_while_it_is_waited_for_it_leaves_what_it_sent_and_then_silence
                killed_while_it_sends_it_leaves_whole_datagrams
                killed_while_it_is_sent_to_it_ends_the_wait_for_room
            }

            #[test]
            #[ignore = "run by the tests of killed peers, as their other process"]
            fn the_other_process() {
                crate::conformance::killed_datagrams::play::<$family>();
            }
        }
    };
    (@ killed $family:ty: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                crate::conformance::families::tried_datagrams::<$family>(module_path!(), || {
                    crate::conformance::killed_datagrams::$test::<$family>(module_path!());
                });
            }
        )*
    };
    (@ $family:ty: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                let suite = crate::conformance::datagrams::$test::<$family>;
                crate::conformance::families::tried_datagrams::<$family>(module_path!(), suite);
            }
        )*
    };
}
