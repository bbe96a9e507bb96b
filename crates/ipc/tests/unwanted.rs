//! Descriptors that come where nobody asks for any are closed, whichever call receives what they ride on. Alone in its
//! process, whose descriptors it counts.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};
use zorb_ipc::{
    ConnectedUnixDatagramSocket, ReceiveBatch, ReceiveTimestamps, RingSize, ShmOptions, ShmRole, ShmStream,
    UnixAddress, UnixDatagramSocket, UnixStream,
};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn brief() -> Instant {
    Instant::now() + Duration::from_millis(50)
}

fn name(of: &str) -> UnixAddress {
    UnixAddress::abstract_name(format!("zorb-ipc-unwanted-{}-{of}", std::process::id()).as_bytes()).unwrap()
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn something() -> OwnedFd {
    rustix::fs::memfd_create("unwanted", rustix::fs::MemfdFlags::CLOEXEC).unwrap()
}

/// Sends octets with three descriptors on them, past what this crate offers.
fn send_carrying(fd: BorrowedFd<'_>, octets: &[u8]) {
    let carried = something();
    let carried = [carried.as_fd(); 3];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    assert!(beside.push(SendAncillaryMessage::ScmRights(&carried)));
    let sent = sendmsg(fd, &[IoSlice::new(octets)], &mut beside, SendFlags::NOSIGNAL).unwrap();
    assert_eq!(sent, octets.len());
}

/// Runs something over and over, after which as many descriptors are open as before.
fn leaves_none(what: &str, mut run: impl FnMut()) {
    run();
    let before = open_descriptors();
    (0..4).for_each(|_| run());
    assert_eq!(open_descriptors(), before, "{what}");
}

fn by_unconnected_datagrams() {
    let one = UnixDatagramSocket::bind(name("one")).unwrap();
    let other = ConnectedUnixDatagramSocket::connect(name("one")).unwrap();
    let (mut into, mut batch) = ([0; 8], ReceiveBatch::new(4, 8));
    let carry = || send_carrying(other.as_fd(), b"octets");
    leaves_none("receive_from", || {
        carry();
        assert_eq!(one.receive_from(&mut into).unwrap().octets, 6);
        carry();
        assert_eq!(one.receive_from_now(&mut into).unwrap().octets, 6);
        carry();
        assert_eq!(one.receive_from_by(&mut into, soon()).unwrap().octets, 6);
        carry();
        assert!(one.receive_from(&mut [0; 2]).unwrap_err().is_truncated());
    });
    leaves_none("receive_many", || {
        (0..3).for_each(|_| carry());
        assert_eq!(one.receive_many(&mut batch).unwrap(), 3);
        (0..3).for_each(|_| carry());
        assert_eq!(one.receive_many_by(&mut batch, soon()).unwrap(), 3);
    });
    for stamps in [false, true] {
        one.set(ReceiveTimestamps(stamps)).unwrap();
        leaves_none("receive_from_stamped_by", || {
            carry();
            assert_eq!(one.receive_from_stamped_by(&mut into, soon()).unwrap().received.octets, 6);
            carry();
            assert!(one.receive_from_stamped_by(&mut [0; 2], soon()).unwrap_err().is_truncated());
            assert!(one.receive_from_stamped_by(&mut into, brief()).unwrap_err().is_timeout());
        });
    }
}

fn by_connected_datagrams() {
    let (one, other) =
        (UnixDatagramSocket::bind(name("here")).unwrap(), UnixDatagramSocket::bind(name("there")).unwrap());
    let one = one.connect(name("there")).unwrap();
    let other = other.connect(name("here")).unwrap();
    let (mut into, mut batch) = ([0; 8], ReceiveBatch::new(4, 8));
    let carry = || send_carrying(other.as_fd(), b"octets");
    leaves_none("receive", || {
        carry();
        assert_eq!(one.receive(&mut into).unwrap(), 6);
        carry();
        assert_eq!(one.receive_now(&mut into).unwrap(), 6);
        carry();
        assert_eq!(one.receive_by(&mut into, soon()).unwrap(), 6);
    });
    leaves_none("receive_many", || {
        (0..3).for_each(|_| carry());
        assert_eq!(one.receive_many(&mut batch).unwrap(), 3);
    });
    for stamps in [false, true] {
        one.set(ReceiveTimestamps(stamps)).unwrap();
        leaves_none("receive_stamped_by", || {
            carry();
            assert_eq!(one.receive_stamped_by(&mut into, soon()).unwrap().received, 6);
            carry();
            assert!(one.receive_stamped_by(&mut [0; 2], soon()).unwrap_err().is_truncated());
        });
    }
}

fn stream_ends() -> (UnixStream, UnixStream) {
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    (UnixStream::adopt(one).unwrap(), UnixStream::adopt(other).unwrap())
}

fn by_streams() {
    let (one, other) = stream_ends();
    let carry = || send_carrying(other.as_fd(), b"octets");
    leaves_none("a stream", || {
        let (mut first, mut second) = ([0; 2], [0; 4]);
        carry();
        one.receive_exact(&mut [0; 6], soon()).unwrap();
        carry();
        let mut slices = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(one.receive_slices_by(&mut slices, soon()).unwrap(), 6);
        carry();
        let mut slices = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        one.receive_slices_exact(&mut slices, soon()).unwrap();
        carry();
        assert_eq!(one.receive_by(&mut [0; 8], soon()).unwrap(), 6);
    });
}

fn by_sending_out_of_time() {
    leaves_none("send_passing", || {
        let (one, other) = stream_ends();
        let carried = something();
        let octets = vec![0; 16 << 20];
        let error = one.send_passing(&octets, &[carried.as_fd(); 300], brief()).unwrap_err();
        assert!(error.is_timeout() && (1..octets.len()).contains(&error.transferred()), "{error}");
        // Some of what has gone is taken, the rest is given up.
        let passed = other.receive_passed(&mut [0; 4096], soon()).unwrap();
        assert_eq!(passed.descriptors.len(), 253);
    });
}

fn by_channels() {
    let options = ShmOptions::new().ring(RingSize::new(4096).unwrap());
    leaves_none("a refused channel", || {
        for octets in [&b"short"[..], &[0xff; 16], &[0; 64]] {
            let (one, other) = stream_ends();
            send_carrying(one.as_fd(), octets);
            drop(one);
            ShmStream::over(other, ShmRole::Responder, &options, soon()).unwrap_err();
        }
    });
    leaves_none("a running channel", || {
        let (one, other) = stream_ends();
        let socket = one.as_fd().try_clone_to_owned().unwrap();
        let (one, other) = std::thread::scope(|scope| {
            let responder = scope.spawn(|| ShmStream::over(other, ShmRole::Responder, &options, soon()));
            let one = ShmStream::over(one, ShmRole::Initiator, &options, soon()).unwrap();
            (one, responder.join().unwrap().unwrap())
        });
        // An octet that nobody in this channel sends, with descriptors on it.
        send_carrying(socket.as_fd(), b"!");
        let _ = other.receive_by(&mut [0; 8], brief());
        let _ = one.send_now(&[IoSlice::new(b"after")]);
        let _ = other.receive_by(&mut [0; 8], brief());
        drop((one, other));
    });
}

#[test]
fn what_nobody_asked_for_is_closed() {
    // Who does take them finds them: what is counted below would be seen.
    let (one, other) = stream_ends();
    let before = open_descriptors();
    send_carrying(other.as_fd(), b"octets");
    let passed = one.receive_passed(&mut [0; 8], soon()).unwrap();
    assert_eq!((passed.descriptors.len(), open_descriptors()), (3, before + 3));
    drop(passed);
    let _ = recv(one.as_fd(), &mut [0_u8; 1][..], RecvFlags::DONTWAIT);

    by_unconnected_datagrams();
    by_connected_datagrams();
    by_streams();
    by_sending_out_of_time();
    by_channels();
}
