//! More of what handles transfer: into several slices, with descriptors and times beside the octets, to groups and
//! networks, and memory that is given away instead of copied; each beside the same loop over `libc`.

use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use zorb_ipc::{
    AcceptorOptions, BroadcastSocket, ConnectedUdpSocket, Memfd, MulticastGroup, MulticastSender, Pages,
    PipeReader, PipeWriter, ReceiveTimestamps, TcpAcceptor, TcpStream, UnixStream, ZeroCopyStream,
    interfaces, pipe,
};

use crate::stage::{LENGTH, OCTETS, after, before, elsewhere, kept, soon, streams, udp};
use crate::{Case, floor};

// ---- into several slices

pub(crate) fn scatters(counted: fn(&UnixStream, &mut [u8], &mut [u8], Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let (mut head, mut body) = ([0; 16], [0; LENGTH - 16]);
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || counted(near, &mut head, &mut body, deadline),
    )
}

pub(crate) fn receive_scattered() -> Case {
    scatters(|near, head, body, _| {
        near.receive_slices_now(&mut [IoSliceMut::new(head), IoSliceMut::new(body)]).expect("octets");
    })
}

pub(crate) fn receive_scattered_by() -> Case {
    scatters(|near, head, body, deadline| {
        near.receive_slices_by(&mut [IoSliceMut::new(head), IoSliceMut::new(body)], deadline)
            .expect("octets");
    })
}

pub(crate) fn floors_receive_scattered() -> Case {
    scatters(|near, head, body, _| {
        floor::receive_scattered(near.as_fd(), [head, body]);
    })
}

// ---- beside the octets

/// The stream's own descriptor is as good as any.
fn passes(counted: fn(&UnixStream, Instant)) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    before(
        move || counted(near, deadline),
        move || {
            let passed = far.receive_passed(&mut [0; LENGTH], soon()).expect("octets");
            assert_eq!((passed.octets, passed.descriptors.len()), (LENGTH, 1));
        },
    )
}

pub(crate) fn send_passing() -> Case {
    passes(|near, deadline| near.send_passing(&OCTETS, &[near.as_fd()], deadline).expect("room"))
}

pub(crate) fn floors_send_passing() -> Case {
    passes(|near, _| {
        floor::send_passing(near.as_fd(), &OCTETS, near.as_fd());
    })
}

/// Closing them is no transfer.
fn passed(counted: fn(&UnixStream, &mut [u8], Instant) -> Vec<OwnedFd>) -> Case {
    let [near, far] = streams().map(kept);
    let deadline = soon();
    let mut into = [0; LENGTH];
    Box::new(move |_| {
        elsewhere(&mut || far.send_passing(&OCTETS, &[far.as_fd()], soon()).expect("room"));
        let mut descriptors = counted(near, &mut into, deadline);
        elsewhere(&mut || {
            assert_eq!(descriptors.len(), 1);
            descriptors = Vec::new();
        });
    })
}

pub(crate) fn receive_passed() -> Case {
    passed(|near, into, deadline| {
        let passed = near.receive_passed(into, deadline).expect("octets");
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

pub(crate) fn floors_receive_passed() -> Case {
    passed(|near, into, _| {
        let passed = floor::receive_passed(near.as_fd(), into, 0);
        assert_eq!((passed.octets, passed.credentials), (LENGTH, None));
        passed.descriptors
    })
}

fn stamps(counted: fn(&ConnectedUdpSocket, &mut [u8], Instant) -> bool) -> Case {
    let [near, far] = udp();
    near.set(ReceiveTimestamps(true)).expect("sockets have them");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || far.send(&[IoSlice::new(&OCTETS)]).expect("room"),
        move || assert!(counted(near, &mut into, deadline)),
    )
}

pub(crate) fn receive_stamped() -> Case {
    stamps(|near, into, deadline| near.receive_stamped_by(into, deadline).expect("a datagram").at.is_some())
}

pub(crate) fn floors_receive_stamped() -> Case {
    stamps(|near, into, _| floor::receive_stamped(near.as_fd(), into).1.is_some())
}

// ---- to many. Nobody listens: what is counted ends with the system call.

fn loopback() -> zorb_ipc::Interface {
    let found = interfaces().expect("they can be listed").into_iter();
    found
        .filter(|interface| interface.is_loopback)
        .find(|one| one.address.is_ipv4())
        .expect("a loopback interface")
}

fn form(to: SocketAddr) -> libc::sockaddr_in {
    let SocketAddr::V4(to) = to else { panic!("the floor speaks IPv4") };
    libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
        sin_zero: [0; 8],
    }
}

pub(crate) fn to_group() -> &'static MulticastSender {
    let to = (Ipv4Addr::new(239, 255, 80, 79), 9).into();
    let group = MulticastGroup::new(to, NonZeroU32::new(loopback().index)).expect("a group's address");
    let sender = MulticastSender::new(group).expect("descriptors are left");
    sender.set_loopback(false).expect("an option");
    kept(sender)
}

pub(crate) fn multicast_send() -> Case {
    let sender = to_group();
    Box::new(move |_| sender.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn floors_multicast_send() -> Case {
    let sender = to_group();
    let to = form(sender.group().address());
    Box::new(move |_| floor::send_to_form(sender.as_fd(), &OCTETS, &to))
}

pub(crate) fn to_network() -> &'static BroadcastSocket {
    kept(BroadcastSocket::to_network(&loopback(), 9).expect("a network"))
}

pub(crate) fn broadcast_send() -> Case {
    let sender = to_network();
    Box::new(move |_| sender.send(&[IoSlice::new(&OCTETS)]).expect("room"))
}

pub(crate) fn floors_broadcast_send() -> Case {
    let sender = to_network();
    let to = form(sender.to());
    Box::new(move |_| floor::send_to_form(sender.as_fd(), &OCTETS, &to))
}

// ---- without a copy

/// What there is stays there.
fn tees(counted: fn(&PipeReader, &PipeWriter, Instant)) -> Case {
    let [(from, writer), (reader, to)] = [(); 2].map(|()| pipe().expect("descriptors are left"));
    let writer = kept(writer);
    assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    let deadline = soon();
    before(
        move || counted(&from, &to, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

pub(crate) fn tee() -> Case {
    tees(|from, to, deadline| {
        from.tee(to, LENGTH, deadline).expect("octets and room");
    })
}

pub(crate) fn floors_tee() -> Case {
    tees(|from, to, _| {
        floor::tee(from.as_fd(), to.as_fd(), LENGTH);
    })
}

fn lends(counted: fn(&PipeWriter, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    before(
        move || counted(&writer, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

pub(crate) fn send_static() -> Case {
    lends(|writer, deadline| writer.send_static(&OCTETS, deadline).expect("room"))
}

pub(crate) fn floors_send_static() -> Case {
    lends(|writer, _| {
        floor::lend(writer.as_fd(), &OCTETS);
    })
}

/// Of a pipe, which holds several.
const PAGE: usize = 4096;

fn gifts(counted: fn(&PipeWriter, &mut Pages, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = vec![0; PAGE];
    Box::new(move |_| {
        let mut pages = None;
        elsewhere(&mut || {
            let mut fresh = Pages::new(PAGE).expect("memory");
            fresh.fill(0x5A);
            pages = Some(fresh);
        });
        let mut pages = pages.expect("made before");
        counted(&writer, &mut pages, deadline);
        // What is left of the first is nothing, and of the second no longer mapped.
        std::mem::forget(pages);
        elsewhere(&mut || reader.receive_exact(&mut into, soon()).expect("octets"));
    })
}

pub(crate) fn gift() -> Case {
    gifts(|writer, pages, deadline| writer.gift(pages, deadline).expect("room"))
}

pub(crate) fn floors_gift() -> Case {
    gifts(|writer, pages, _| floor::gift(writer.as_fd(), pages.as_mut_ptr().cast(), PAGE))
}

pub(crate) fn tcp() -> [TcpStream; 2] {
    let acceptor =
        TcpAcceptor::bind((Ipv4Addr::LOCALHOST, 0).into(), &AcceptorOptions::new()).expect("a port");
    let near = TcpStream::connect(acceptor.local_address(), soon()).expect("it listens");
    [near, acceptor.accept_by(soon()).expect("a peer waits")]
}

/// A buffer that came back, and whether it was copied after all.
type Done = Option<(&'static [u8], bool)>;

/// A buffer that goes out, and its completion, which the loopback interface gives as soon as it has been received.
fn uncopied<S: 'static>(
    mut sender: S,
    far: TcpStream,
    send: fn(&mut S, Instant),
    complete: fn(&mut S) -> Done,
) -> Case {
    let deadline = soon();
    Box::new(move |_| {
        send(&mut sender, deadline);
        elsewhere(&mut || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"));
        assert!(complete(&mut sender).is_some());
    })
}

pub(crate) fn send_uncopied() -> Case {
    let [near, far] = tcp();
    let near = ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets");
    uncopied(
        near,
        far,
        |near, deadline| near.send_all(&OCTETS, deadline).expect("room"),
        |near| {
            near.completed_now().expect("completions").map(|completed| (completed.buffer, completed.copied))
        },
    )
}

pub(crate) fn floors_send_uncopied() -> Case {
    let [near, far] = tcp();
    // For its option.
    let near = kept(ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets"));
    uncopied(
        (floor::Uncopied::default(), near),
        far,
        |(noted, near), _| assert_eq!(noted.send(near.as_fd(), &OCTETS), LENGTH),
        |(noted, near)| noted.completed(near.as_fd()),
    )
}

// ---- memory with a descriptor

fn memory() -> &'static Memfd {
    kept(Memfd::create("zorb-instructions", 4096).expect("memory"))
}

pub(crate) fn read_at() -> Case {
    let (memory, mut into) = (memory(), [0; LENGTH]);
    Box::new(move |_| assert_eq!(memory.read_at(&mut into, 64).expect("octets"), LENGTH))
}

pub(crate) fn floors_read_at() -> Case {
    let (memory, mut into) = (memory(), [0; LENGTH]);
    Box::new(move |_| assert_eq!(floor::read_at(memory.as_fd(), &mut into, 64), LENGTH))
}

pub(crate) fn write_at() -> Case {
    let memory = memory();
    Box::new(move |_| memory.write_at(&OCTETS, 64).expect("room"))
}

pub(crate) fn floors_write_at() -> Case {
    let memory = memory();
    Box::new(move |_| assert_eq!(floor::write_at(memory.as_fd(), &OCTETS, 64), LENGTH))
}
