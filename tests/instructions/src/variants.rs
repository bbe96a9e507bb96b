//! The other ways of transferring the same: without waiting, by a deadline, of other families; beside floors that stand
//! with the cases whose ways these are.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use zorb_ipc::{
    EventSemaphore, Memfd, PipeReader, PipeWriter, ReceiveBatch, Segment, SegmentOptions, SendBatch,
    Seqpacket, SpliceStream, Udp, ZeroCopyStream, pipe,
};

use crate::beside::{scatters, tcp, to_group, to_network};
use crate::stage::{LENGTH, OCTETS, after, before, elsewhere, kept, soon, streams, udp};
use crate::transfers::{
    MANY, adds, message_receives, message_sends, messages, receives, receives_from, receives_many, replies,
    sender, sends, sends_many, stream_receives, takes, unix,
};
use crate::{Case, floor};

// ---- streams

pub(crate) fn send_now() -> Case {
    let [near, far] = streams().map(kept);
    before(
        move || assert_eq!(near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

pub(crate) fn receive_now() -> Case {
    stream_receives(|near, into, _| {
        near.receive_now(into).expect("octets");
    })
}

pub(crate) fn receive_if_there() -> Case {
    stream_receives(|near, into, _| {
        near.receive_if_there(into).expect("a stream").expect("octets");
    })
}

pub(crate) fn receive_scattered_exact() -> Case {
    scatters(|near, head, body, deadline| {
        near.receive_slices_exact(&mut [IoSliceMut::new(head), IoSliceMut::new(body)], deadline)
            .expect("octets");
    })
}

pub(crate) fn receive_beside_completions() -> Case {
    let [near, far] = tcp();
    let mut near = ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || assert_eq!(near.receive_by(&mut into, deadline).expect("octets"), LENGTH),
    )
}

// ---- datagrams

pub(crate) fn datagram_send_now() -> Case {
    sends(udp(), |near, _| near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn datagram_receive_now() -> Case {
    receives(udp(), |near, into, _| {
        near.receive_now(into).expect("a datagram");
    })
}

pub(crate) fn unix_datagram_send_by() -> Case {
    sends(unix(), |near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

pub(crate) fn unix_datagram_receive_by() -> Case {
    receives(unix(), |near, into, deadline| {
        near.receive_by(into, deadline).expect("a datagram");
    })
}

pub(crate) fn receive_from_now() -> Case {
    receives_from(|near, into, _| {
        near.receive_from_now(into).expect("a datagram").from().expect("a sender").port()
    })
}

pub(crate) fn reply_now() -> Case {
    replies(sender, |near, to, _| near.reply_now(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

pub(crate) fn datagrams_send_now() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let mut batch = SendBatch::new(MANY);
    sends_many(move |near| assert_eq!(near.send_many_now(&datagrams, &mut batch).expect("room"), MANY))
}

pub(crate) fn datagrams_send_by() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let (mut batch, deadline) = (SendBatch::new(MANY), soon());
    sends_many(move |near| {
        assert_eq!(near.send_many_by(&datagrams, &mut batch, deadline).expect("room"), MANY)
    })
}

pub(crate) fn datagrams_receive_now() -> Case {
    let mut batch = ReceiveBatch::<Udp>::new(MANY, LENGTH);
    receives_many(move |near| assert_eq!(near.receive_many_now(&mut batch).expect("datagrams"), MANY))
}

pub(crate) fn datagrams_receive_by() -> Case {
    let (mut batch, deadline) = (ReceiveBatch::<Udp>::new(MANY, LENGTH), soon());
    receives_many(move |near| {
        assert_eq!(near.receive_many_by(&mut batch, deadline).expect("datagrams"), MANY)
    })
}

pub(crate) fn multicast_send_now() -> Case {
    let group = to_group();
    Box::new(move |_| group.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn multicast_send_by() -> Case {
    let (group, deadline) = (to_group(), soon());
    Box::new(move |_| group.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

pub(crate) fn broadcast_send_now() -> Case {
    let network = to_network();
    Box::new(move |_| network.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn broadcast_send_by() -> Case {
    let (network, deadline) = (to_network(), soon());
    Box::new(move |_| network.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

// ---- messages that stay whole

pub(crate) fn message_send_now() -> Case {
    message_sends(|near, _| near.send_now(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn message_receive_now() -> Case {
    message_receives(|near, into, _| {
        near.receive_now(into).expect("a message");
    })
}

fn message_passes(counted: fn(&Seqpacket, Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || {
            let passed = far.receive_passed(&mut [0; LENGTH], soon()).expect("a message");
            assert_eq!((passed.octets, passed.descriptors.len()), (LENGTH, 1));
        },
    )
}

pub(crate) fn message_send_passing() -> Case {
    message_passes(|near, deadline| {
        near.send_passing(&[IoSlice::new(&OCTETS)], &[near.as_fd()], deadline).expect("room");
    })
}

pub(crate) fn floors_message_send_passing() -> Case {
    message_passes(|near, _| assert_eq!(floor::send_passing(near.as_fd(), &OCTETS, near.as_fd()), LENGTH))
}

fn message_passed(counted: fn(&Seqpacket, &mut [u8], Instant) -> Vec<std::os::fd::OwnedFd>) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        elsewhere(&mut || far.send_passing(&[IoSlice::new(&OCTETS)], &[far.as_fd()], soon()).expect("room"));
        let mut descriptors = counted(near, &mut into, deadline);
        elsewhere(&mut || {
            assert_eq!(descriptors.len(), 1);
            descriptors = Vec::new();
        });
    })
}

pub(crate) fn message_receive_passed() -> Case {
    message_passed(|near, into, deadline| {
        let passed = near.receive_passed(into, deadline).expect("a message");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

pub(crate) fn floors_message_receive_passed() -> Case {
    message_passed(|near, into, _| {
        // What rides on a message without octets is nobody's, and what is longer than the room is no message.
        let passed = loop {
            let passed = floor::receive_passed(near.as_fd(), into, libc::MSG_TRUNC);
            if passed.octets > 0 {
                break passed;
            }
        };
        assert!(passed.octets <= into.len(), "it was cut short");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

// ---- events

pub(crate) fn event_add_by() -> Case {
    adds(|counter| counter.add_by(7, soon_once()).expect("room"))
}

pub(crate) fn event_take_by() -> Case {
    takes(|counter| counter.take_by(soon_once()).expect("a number"))
}

/// One deadline for all: reading the clock is no part of the transfer.
fn soon_once() -> Instant {
    static SOON: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *SOON.get_or_init(soon)
}

pub(crate) fn semaphore_add() -> Case {
    let semaphore = kept(EventSemaphore::new(0).expect("descriptors are left"));
    before(|| semaphore.add_now(1).expect("room"), || semaphore.take_now().expect("one"))
}

pub(crate) fn semaphore_take() -> Case {
    let semaphore = kept(EventSemaphore::new(0).expect("descriptors are left"));
    after(|| semaphore.add_now(1).expect("room"), || semaphore.take_now().expect("one"))
}

// ---- through a pipe, without a copy

/// From a pipe, which is refilled, to what `drained` empties.
fn drains(counted: impl Fn(&PipeReader) + 'static, mut drained: impl FnMut() + 'static) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let refill = move || assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    refill();
    before(
        move || counted(&reader),
        move || {
            refill();
            drained();
        },
    )
}

fn to_pipe(counted: fn(&PipeReader, &PipeWriter, Instant)) -> Case {
    let (far, near) = pipe().expect("descriptors are left");
    let (near, deadline) = (kept(near), soon());
    drains(
        move |from| counted(from, near, deadline),
        move || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn spliced(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    assert_eq!(floor::splice(from, to, LENGTH), LENGTH);
}

pub(crate) fn splice_to_pipe() -> Case {
    to_pipe(|from, to, deadline| assert_eq!(from.splice_to_pipe(to, LENGTH, deadline).expect("room"), LENGTH))
}

pub(crate) fn floors_splice_to_pipe() -> Case {
    to_pipe(|from, to, _| spliced(from.as_fd(), to.as_fd()))
}

fn from_stream(counted: fn(&PipeWriter, &SpliceStream<zorb_ipc::Unix>, Instant)) -> Case {
    let [near, far] = streams();
    let near = SpliceStream::of(near).expect("an open descriptor");
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let refill = move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    refill();
    before(
        move || counted(&writer, &near, deadline),
        move || {
            refill();
            reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets");
        },
    )
}

pub(crate) fn splice_from_stream() -> Case {
    from_stream(|to, from, deadline| {
        assert_eq!(to.splice_from_stream(from, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

pub(crate) fn floors_splice_from_stream() -> Case {
    from_stream(|to, from, _| spliced(from.as_fd(), to.as_fd()))
}

fn from_file(counted: fn(&PipeWriter, &File, &mut u64, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    // The program's own: a file that there is.
    let file = File::open("/proc/self/exe").expect("it runs");
    let deadline = soon();
    before(
        move || counted(&writer, &file, &mut 0, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

pub(crate) fn splice_from_file() -> Case {
    from_file(|to, file, at, deadline| {
        assert_eq!(to.splice_from_file(file, at, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

pub(crate) fn floors_splice_from_file() -> Case {
    from_file(|to, file, at, _| {
        assert_eq!(floor::splice_at(file.as_fd(), Some(at), to.as_fd(), None, LENGTH), LENGTH)
    })
}

fn to_file(counted: fn(&PipeReader, &Memfd, &mut u64, Instant)) -> Case {
    let memory = kept(Memfd::create("zorb-instructions", 4096).expect("memory"));
    let deadline = soon();
    drains(move |from| counted(from, memory, &mut 0, deadline), || ())
}

pub(crate) fn splice_to_file() -> Case {
    to_file(|from, file, at, deadline| {
        assert_eq!(from.splice_to_file(file, at, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

pub(crate) fn floors_splice_to_file() -> Case {
    to_file(|from, file, at, _| {
        assert_eq!(floor::splice_at(from.as_fd(), None, file.as_fd(), Some(at), LENGTH), LENGTH)
    })
}

// ---- memory

pub(crate) fn sized_read_at() -> Case {
    let memory = Memfd::create("zorb-instructions", 4096).expect("memory").fix_size().expect("our own");
    let mut into = [0; LENGTH];
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

pub(crate) fn sealed_read_at() -> Case {
    let memory = Memfd::create("zorb-instructions", 4096).expect("memory").seal().expect("our own");
    let mut into = [0; LENGTH];
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

fn segment() -> Segment {
    Segment::create("zorb-instructions", 4096, &SegmentOptions::new()).expect("memory")
}

pub(crate) fn copy_in() -> Case {
    let segment = segment();
    Box::new(move |_| segment.copy_in(64, &OCTETS).expect("inside"))
}

pub(crate) fn copy_out() -> Case {
    let (segment, mut into) = (segment(), [0; LENGTH]);
    Box::new(move |_| segment.copy_out(64, &mut into).expect("inside"))
}
