//! More of what handles transfer, each beside the same loop over `libc`: pipes, events, messages, many datagrams at once,
//! calls by a deadline, what goes without a copy.

use std::fs::File;
use std::io::IoSlice;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use zorb_ipc::{
    ConnectedDatagramSocket, ConnectedUdpSocket, DatagramFamily, DatagramSocket, EventCounter, ReceiveBatch,
    SendBatch, Sender, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, SpliceStream, Udp, UdpSocket,
    UnixDatagram, UnixStream, pipe,
};

use crate::stage::{LENGTH, OCTETS, after, before, connected, kept, name, soon, streams, udp};
use crate::{Case, floor};

/// Of many datagrams at once.
pub(crate) const MANY: usize = 16;

// ---- pipes

fn pipe_sends(counted: fn(&zorb_ipc::PipeWriter, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    before(
        move || counted(&writer, deadline),
        move || reader.receive_exact(&mut into, soon()).expect("octets"),
    )
}

fn pipe_receives(counted: fn(&zorb_ipc::PipeReader, &mut [u8], Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(&reader, &mut into, deadline),
    )
}

pub(crate) fn pipe_send() -> Case {
    pipe_sends(|writer, _| {
        let _ = writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room");
    })
}

pub(crate) fn pipe_send_by() -> Case {
    pipe_sends(|writer, deadline| {
        let _ = writer.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room");
    })
}

pub(crate) fn pipe_send_all() -> Case {
    pipe_sends(|writer, deadline| writer.send_all(&mut [IoSlice::new(&OCTETS)], deadline).expect("room"))
}

pub(crate) fn floors_pipe_send() -> Case {
    pipe_sends(|writer, _| {
        floor::write(writer.as_fd(), &OCTETS);
    })
}

pub(crate) fn pipe_receive() -> Case {
    pipe_receives(|reader, into, _| {
        reader.receive_now(into).expect("octets");
    })
}

pub(crate) fn pipe_receive_by() -> Case {
    pipe_receives(|reader, into, deadline| {
        reader.receive_by(into, deadline).expect("octets");
    })
}

pub(crate) fn pipe_receive_exact() -> Case {
    pipe_receives(|reader, into, deadline| reader.receive_exact(into, deadline).expect("octets"))
}

pub(crate) fn floors_pipe_receive() -> Case {
    pipe_receives(|reader, into, _| {
        floor::read(reader.as_fd(), into);
    })
}

pub(crate) fn floors_pipe_send_all() -> Case {
    pipe_sends(|writer, _| floor::write_all(writer.as_fd(), &OCTETS))
}

pub(crate) fn floors_pipe_receive_exact() -> Case {
    pipe_receives(|reader, into, _| floor::read_exact(reader.as_fd(), into))
}

// ---- events

pub(crate) fn adds(counted: fn(&EventCounter)) -> Case {
    let counter = kept(EventCounter::new(0).expect("descriptors are left"));
    before(move || counted(counter), || assert_eq!(counter.take_now().expect("a number"), 7))
}

pub(crate) fn takes(counted: fn(&EventCounter) -> u64) -> Case {
    let counter = kept(EventCounter::new(0).expect("descriptors are left"));
    after(|| counter.add_now(7).expect("room"), move || assert_eq!(counted(counter), 7))
}

pub(crate) fn event_add() -> Case {
    adds(|counter| counter.add_now(7).expect("room"))
}

pub(crate) fn floors_event_add() -> Case {
    adds(|counter| {
        floor::write(counter.as_fd(), &7_u64.to_ne_bytes());
    })
}

pub(crate) fn event_take() -> Case {
    takes(|counter| counter.take_now().expect("a number"))
}

pub(crate) fn floors_event_take() -> Case {
    takes(|counter| {
        let mut number = [0; 8];
        floor::read(counter.as_fd(), &mut number);
        u64::from_ne_bytes(number)
    })
}

// ---- messages that stay whole

pub(crate) fn messages() -> [&'static Seqpacket; 2] {
    let name = name();
    let acceptor =
        SeqpacketAcceptor::bind(name.clone(), &SeqpacketAcceptorOptions::new()).expect("our own name");
    let near = Seqpacket::connect(name, soon()).expect("it listens");
    [near, acceptor.accept_by(soon()).expect("a peer waits")].map(kept)
}

pub(crate) fn message_sends(counted: fn(&Seqpacket, Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || assert_eq!(far.receive(&mut [0; LENGTH]).expect("a message"), LENGTH),
    )
}

pub(crate) fn message_receives(counted: fn(&Seqpacket, &mut [u8], Instant)) -> Case {
    let [near, far] = messages();
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || counted(near, &mut into, deadline),
    )
}

pub(crate) fn message_send() -> Case {
    message_sends(|near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn message_send_by() -> Case {
    message_sends(|near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

pub(crate) fn floors_message_send() -> Case {
    message_sends(|near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

pub(crate) fn message_receive() -> Case {
    message_receives(|near, into, _| {
        near.receive(into).expect("a message");
    })
}

pub(crate) fn message_receive_by() -> Case {
    message_receives(|near, into, deadline| {
        near.receive_by(into, deadline).expect("a message");
    })
}

pub(crate) fn floors_message_receive() -> Case {
    message_receives(|near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

// ---- datagrams

pub(crate) fn unix() -> [&'static ConnectedDatagramSocket<UnixDatagram>; 2] {
    connected([(); 2].map(|()| DatagramSocket::bind(name()).expect("our own name")))
}

pub(crate) fn sends<F: DatagramFamily>(
    [near, far]: [&'static ConnectedDatagramSocket<F>; 2],
    counted: fn(&ConnectedDatagramSocket<F>, Instant),
) -> Case {
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || assert_eq!(far.receive(&mut [0; LENGTH]).expect("a datagram"), LENGTH),
    )
}

pub(crate) fn receives<F: DatagramFamily>(
    [near, far]: [&'static ConnectedDatagramSocket<F>; 2],
    counted: fn(&ConnectedDatagramSocket<F>, &mut [u8], Instant),
) -> Case {
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || counted(near, &mut into, deadline),
    )
}

pub(crate) fn datagram_send_by() -> Case {
    sends(udp(), |near, deadline| near.send_by(&[IoSlice::new(&OCTETS)], deadline).expect("room"))
}

pub(crate) fn datagram_receive_by() -> Case {
    receives(udp(), |near, into, deadline| {
        near.receive_by(into, deadline).expect("a datagram");
    })
}

pub(crate) fn unix_datagram_send() -> Case {
    sends(unix(), |near, _| near.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn floors_unix_datagram_send() -> Case {
    sends(unix(), |near, _| {
        floor::send(near.as_fd(), &OCTETS);
    })
}

pub(crate) fn unix_datagram_receive() -> Case {
    receives(unix(), |near, into, _| {
        near.receive(into).expect("a datagram");
    })
}

pub(crate) fn floors_unix_datagram_receive() -> Case {
    receives(unix(), |near, into, _| {
        floor::receive(near.as_fd(), into);
    })
}

/// What is known of the sender is looked at, as else it need not be received.
pub(crate) fn receives_from(counted: fn(&UdpSocket, &mut [u8], Instant) -> u16) -> Case {
    let [near, far] =
        [(); 2].map(|()| kept(UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port")));
    let [to, from] = [near, far].map(|socket| *socket.local().expect("it is bound"));
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send_to(&[IoSlice::new(&OCTETS)], &to).expect("room"),
        move || assert_eq!(counted(near, &mut into, deadline), from.port()),
    )
}

pub(crate) fn receive_from() -> Case {
    receives_from(|near, into, _| {
        near.receive_from(into).expect("a datagram").from().expect("a sender").port()
    })
}

pub(crate) fn receive_from_by() -> Case {
    receives_from(|near, into, deadline| {
        near.receive_from_by(into, deadline).expect("a datagram").from().expect("a sender").port()
    })
}

pub(crate) fn floors_receive_from() -> Case {
    receives_from(|near, into, _| u16::from_be(floor::receive_from(near.as_fd(), into).1.sin_port))
}

/// To who sent another datagram before.
pub(crate) fn replies<T: Copy + 'static>(
    took: fn(&UdpSocket, &mut [u8]) -> T,
    counted: fn(&UdpSocket, &T, Instant),
) -> Case {
    let [near, far] =
        [(); 2].map(|()| kept(UdpSocket::bind(([127, 0, 0, 1], 0).into()).expect("a free port")));
    far.send_to(&[IoSlice::new(&OCTETS)], near.local().expect("it is bound")).expect("room");
    let sender = took(near, &mut [0; LENGTH]);
    let deadline = soon();
    before(
        move || counted(near, &sender, deadline),
        move || assert_eq!(far.receive_from(&mut [0; LENGTH]).expect("a datagram").octets, LENGTH),
    )
}

pub(crate) fn sender(socket: &UdpSocket, into: &mut [u8]) -> Sender<Udp> {
    socket.receive_from(into).expect("a datagram").from().expect("a sender")
}

pub(crate) fn reply() -> Case {
    replies(sender, |near, to, _| near.reply(&[IoSlice::new(&OCTETS)], to).expect("room"))
}

pub(crate) fn reply_by() -> Case {
    replies(sender, |near, to, deadline| near.reply_by(&[IoSlice::new(&OCTETS)], to, deadline).expect("room"))
}

pub(crate) fn send_to_by() -> Case {
    let address = |socket: &UdpSocket, into: &mut [u8]| sender(socket, into).address();
    replies(address, |near, to, deadline| {
        near.send_to_by(&[IoSlice::new(&OCTETS)], to, deadline).expect("room");
    })
}

pub(crate) fn floors_reply() -> Case {
    replies(
        |near, into| floor::receive_from(near.as_fd(), into).1,
        |near, to, _| floor::send_to_form(near.as_fd(), &OCTETS, to),
    )
}

// ---- many datagrams at once

pub(crate) fn sends_many(mut counted: impl FnMut(&ConnectedUdpSocket) + 'static) -> Case {
    let [near, far] = udp();
    let take =
        move || (0..MANY).for_each(|_| assert_eq!(far.receive(&mut [0; LENGTH]).expect("one"), LENGTH));
    before(move || counted(near), take)
}

pub(crate) fn receives_many(mut counted: impl FnMut(&ConnectedUdpSocket) + 'static) -> Case {
    let [near, far] = udp();
    let put = move || (0..MANY).for_each(|_| far.send(&[IoSlice::new(&OCTETS)]).expect("room"));
    after(put, move || counted(near))
}

pub(crate) fn datagrams_send() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let mut batch = SendBatch::new(MANY);
    sends_many(move |near| assert_eq!(near.send_many(&datagrams, &mut batch).expect("room"), MANY))
}

pub(crate) fn floors_datagrams_send() -> Case {
    let slice = libc::iovec { iov_base: OCTETS.as_ptr().cast_mut().cast(), iov_len: LENGTH };
    let (slices, mut headers) = (vec![slice; MANY], vec![empty(); MANY]);
    sends_many(move |near| floor::send_many(near.as_fd(), &slices, &mut headers))
}

pub(crate) fn datagrams_receive() -> Case {
    let mut batch = ReceiveBatch::<Udp>::new(MANY, LENGTH);
    receives_many(move |near| assert_eq!(near.receive_many(&mut batch).expect("datagrams"), MANY))
}

pub(crate) fn floors_datagrams_receive() -> Case {
    // SAFETY: an address of zeros is one of no family.
    #[allow(unsafe_code, reason = "the floor is libc itself")]
    let none: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut headers = vec![empty(); MANY];
    for header in &mut headers {
        let octets: &mut [u8; LENGTH] = Box::leak(Box::new([0; LENGTH]));
        let slice = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: LENGTH };
        header.msg_hdr.msg_name = std::ptr::from_mut(Box::leak(Box::new(none))).cast();
        header.msg_hdr.msg_iov = Box::leak(Box::new(slice));
        header.msg_hdr.msg_iovlen = 1;
    }
    receives_many(move |near| floor::receive_many(near.as_fd(), &mut headers))
}

#[allow(unsafe_code, reason = "the floor is libc itself")]
fn empty() -> libc::mmsghdr {
    // SAFETY: an `mmsghdr` of zeros is an empty one.
    unsafe { mem::zeroed() }
}

// ---- streams

pub(crate) fn stream_receives(counted: fn(&UnixStream, &mut [u8], Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(near, &mut into, deadline),
    )
}

pub(crate) fn receive_by() -> Case {
    stream_receives(|near, into, deadline| {
        near.receive_by(into, deadline).expect("octets");
    })
}

pub(crate) fn floors_receive_by() -> Case {
    stream_receives(|near, into, _| {
        floor::receive_now(near.as_fd(), into);
    })
}

/// What is looked at stays there, so that nobody has to put more.
fn peeks(counted: fn(&UnixStream, &mut [u8])) -> Case {
    let [near, far] = streams().map(kept);
    assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    let mut into = [0; LENGTH];
    before(move || counted(near, &mut into), || ())
}

pub(crate) fn peek() -> Case {
    peeks(|near, into| {
        near.peek_now(into).expect("octets");
    })
}

pub(crate) fn floors_peek() -> Case {
    peeks(|near, into| {
        floor::peek_now(near.as_fd(), into);
    })
}

// ---- without a copy

fn files(counted: fn(&SpliceStream<zorb_ipc::Unix>, &File, &mut u64, Instant)) -> Case {
    let [near, far] = streams();
    let near = kept(SpliceStream::of(near).expect("an open descriptor"));
    // The program's own: a file that there is.
    let file = kept(File::open("/proc/self/exe").expect("it runs"));
    let deadline = soon();
    let mut into = [0; LENGTH];
    before(
        move || counted(near, file, &mut 0, deadline),
        move || far.receive_exact(&mut into, soon()).expect("octets"),
    )
}

pub(crate) fn send_file() -> Case {
    files(|near, file, at, deadline| {
        near.send_file(file, at, LENGTH, deadline).expect("room");
    })
}

pub(crate) fn floors_send_file() -> Case {
    files(|near, file, at, _| {
        floor::send_file(near.as_fd(), file.as_fd(), at, LENGTH);
    })
}

fn splices(counted: fn(&zorb_ipc::PipeReader, &SpliceStream<zorb_ipc::Unix>, Instant)) -> Case {
    let [near, far] = streams();
    let near = SpliceStream::of(near).expect("an open descriptor");
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    let mut refill = move || {
        let _ = writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room");
        if let Ok(filled) = far.receive_now(&mut into) {
            assert_eq!(filled, LENGTH);
        }
    };
    refill();
    before(move || counted(&reader, &near, deadline), refill)
}

pub(crate) fn splice() -> Case {
    splices(|from, to, deadline| {
        from.splice_to_stream(to, LENGTH, deadline).expect("octets and room");
    })
}

pub(crate) fn floors_splice() -> Case {
    fn floor(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
        floor::splice(from, to, LENGTH);
    }
    splices(|from, to, _| floor(from.as_fd(), to.as_fd()))
}
