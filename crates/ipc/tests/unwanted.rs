//! Descriptors that come where nobody asks for any are closed, whichever call receives what they ride on. Alone in its
//! process, whose descriptors it counts.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};
use zorb_ipc::{
    AcceptorOptions, ByteStream, ConnectedUnixDatagramSocket, ReceiveBatch, ReceiveTimestamps, RingSize,
    Segment, SegmentOptions, ShmAcceptor, ShmOptions, ShmRole, ShmStream, SpliceStream, UnixAddress,
    UnixDatagramSocket, UnixStream, pipe,
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

/// What an initiator says: rings of 4 KiB, and slabs or none.
fn hello(slabs: u32) -> Vec<u8> {
    let words = [u32::from_ne_bytes(*b"zrbS"), 1, 4096, slabs];
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Memory of so many octets, final in its size.
fn of_final_size(octets: usize) -> OwnedFd {
    let segment = Segment::create("unwanted", octets, &SegmentOptions::new().words32(0..16)).unwrap();
    for (at, word) in hello(0).as_chunks::<4>().0.iter().enumerate() {
        segment.word32(4 * at).unwrap().store(u32::from_ne_bytes(*word), Relaxed);
    }
    fcntl_add_seals(segment.memory(), SealFlags::SEAL).unwrap();
    segment.into_memory().into()
}

/// Memories that are not what they should be, after each was taken for a channel's.
fn by_channels_refused_late() {
    let options = ShmOptions::new().ring(RingSize::SMALLEST);
    let right = of_final_size(3 * 4096);
    let (wrong, unsealed) = (of_final_size(2 * 4096), something());
    let four_slabs = 4096 + 4;
    let offers: [(u32, &[BorrowedFd<'_>]); 6] = [
        (0, &[]),
        (0, &[unsealed.as_fd()]),
        (0, &[wrong.as_fd()]),
        (0, &[right.as_fd(), right.as_fd()]),
        (four_slabs, &[right.as_fd()]),
        (four_slabs, &[right.as_fd(), wrong.as_fd()]),
    ];
    leaves_none("a channel that is refused late", || {
        for (slabs, descriptors) in offers {
            let (one, other) = stream_ends();
            one.send_passing(&hello(slabs), descriptors, soon()).unwrap();
            ShmStream::over(other, ShmRole::Responder, &options, soon()).unwrap_err();
        }
        // And what is right is taken, and given back at its end.
        let (one, other) = stream_ends();
        one.send_passing(&hello(0), &[right.as_fd()], soon()).unwrap();
        drop(ShmStream::over(other, ShmRole::Responder, &options, soon()).unwrap());
    });
    let acceptor = ShmAcceptor::bind(name("channels"), &AcceptorOptions::new(), &options).unwrap();
    leaves_none("an acceptor of channels", || {
        for (slabs, descriptors) in offers {
            let one = UnixStream::connect(name("channels"), soon()).unwrap();
            one.send_passing(&hello(slabs), descriptors, soon()).unwrap();
            // Half of it, with a descriptor on it already.
            let half = UnixStream::connect(name("channels"), soon()).unwrap();
            half.send_passing(&hello(0)[..8], &[right.as_fd()], soon()).unwrap();
            assert!(acceptor.accept_by(brief()).unwrap_err().is_timeout());
            drop((one, half));
            // The half is at its end, which is looked at when the next is waited for.
            assert!(acceptor.accept_by(brief()).unwrap_err().is_timeout());
        }
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
        // Nor by who is told by the descriptor that something came.
        send_carrying(socket.as_fd(), &[b'!'; 300]);
        other.quiet();
        send_carrying(socket.as_fd(), b"!");
        drop((one, other));
    });
}

fn by_splicing() {
    let (one, other) = stream_ends();
    let (reader, writer) = pipe().unwrap();
    let one = SpliceStream::of(one).unwrap();
    let carry = || send_carrying(other.as_fd(), b"octets");
    leaves_none("splicing", || {
        carry();
        one.receive_exact(&mut [0; 6], soon()).unwrap();
        carry();
        assert_eq!(writer.splice_from_stream(&one, 6, soon()).unwrap(), 6);
        reader.receive_exact(&mut [0; 6], soon()).unwrap();
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
    by_channels_refused_late();
    by_splicing();
}
