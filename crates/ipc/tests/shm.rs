//! Streams over shared memory: how they are set up, and what they do in a set of descriptors.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_add_seals};
use zorb_ipc::{
    AcceptorOptions, Address, Armed, Epoll, Error, Events, Interest, Memfd, RingSize, Segment,
    SegmentOptions, ShmAcceptor, ShmConnector, ShmOptions, ShmRole, ShmStream, Slabs, Spinning, Trigger,
    UnixAddress, UnixStream,
};

const LONG: Duration = Duration::from_secs(30);
const RING: usize = 4096;

fn soon() -> Instant {
    Instant::now() + LONG
}

fn small() -> ShmOptions {
    ShmOptions::new().ring(RingSize::SMALLEST)
}

fn sockets() -> (UnixStream, UnixStream) {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    (UnixStream::adopt(one).unwrap(), UnixStream::adopt(other).unwrap())
}

fn words(words: [u32; 4]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

const MAGIC: u32 = u32::from_ne_bytes(*b"zrbS");

fn memory(octets: usize, first: [u32; 3], seal: bool) -> OwnedFd {
    let options = SegmentOptions::new().words32(0..4096);
    let segment = Segment::create("channel", octets, &options).unwrap();
    for (at, word) in first.iter().enumerate() {
        segment.word32(at * 4).unwrap().store(*word, std::sync::atomic::Ordering::Relaxed);
    }
    if seal {
        fcntl_add_seals(segment.memory(), SealFlags::SEAL).unwrap();
    }
    segment.into_memory().into()
}

/// What the responder says to such a message.
fn responded(hello: &[u8], passed: &[BorrowedFd<'_>]) -> Result<ShmStream, Error> {
    let (one, other) = sockets();
    one.send_passing(hello, passed, soon()).unwrap();
    drop(one);
    let options = ShmOptions::new().largest_ring(RingSize::new(2 * RING).unwrap());
    Ok(ShmStream::over(other, ShmRole::Responder, &options, soon())?)
}

/// Whatever the Unix socket beneath it has to do with it.
#[test]
fn errors_name_the_channels_address() {
    let name = format!("zorb-ipc-shm-named-{}", std::process::id());
    let at = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let named = |error: Error| {
        assert_eq!(error.address(), Some(&Address::Shm(at.clone())), "{error}");
        assert!(error.to_string().contains(&format!("shm:@{name}")), "{error}");
    };
    let connector = ShmConnector::new(&small());
    named(connector.connect(at.clone(), soon()).unwrap_err());
    let bind = || ShmAcceptor::bind(at.clone(), &AcceptorOptions::new(), &small());
    let acceptor = bind().unwrap();
    named(bind().unwrap_err());
    named(acceptor.accept_now().unwrap_err());
    named(acceptor.accept_by(Instant::now()).unwrap_err());
    let stream = connector.connect(at.clone(), soon()).unwrap();
    named(stream.receive_now(&mut [0]).unwrap_err());
    named(stream.receive_by(&mut [0], Instant::now()).unwrap_err());
    named(stream.send_all(&mut [IoSlice::new(&[0; 2 * RING])], Instant::now()).unwrap_err());
    drop(acceptor);
    named(stream.send_now(&[IoSlice::new(b"x")]).unwrap_err());
}

#[test]
fn only_what_is_right_in_all_points_is_mapped() {
    let octets = 4096 + 2 * RING;
    let ring = RING as u32;
    let right = memory(octets, [MAGIC, 1, ring], true);
    let hello = words([MAGIC, 1, ring, 0]);
    responded(&hello, &[right.as_fd()]).expect("all is right");

    let refused = |hello: &[u8], passed: &[BorrowedFd<'_>]| responded(hello, passed).unwrap_err();
    for strange in [
        [0, 1, ring, 0],
        [MAGIC, 2, ring, 0],
        [MAGIC, 1, ring, 1],
        [MAGIC, 1, ring + 1, 0],
        [MAGIC, 1, 2048, 0],
        [MAGIC, 1, 0, 0],
        [MAGIC, 1, u32::MAX, 0],
        [MAGIC, 1, 4 * ring, 0],
    ] {
        let error = refused(&words(strange), &[right.as_fd()]);
        assert!(error.is_broken_by_peer(), "{strange:?}: {error}");
    }
    assert!(refused(&hello, &[]).is_broken_by_peer(), "nothing passed");
    // Two are more than one, though they ride on different octets.
    let (one, other) = sockets();
    one.send_passing(&hello[..1], &[right.as_fd()], soon()).unwrap();
    one.send_passing(&hello[1..], &[right.as_fd()], soon()).unwrap();
    let error = ShmStream::over(other, ShmRole::Responder, &ShmOptions::new(), soon()).unwrap_err();
    assert!(error.error().is_broken_by_peer(), "{error}");
    assert!(refused(&hello, &[right.as_fd(), right.as_fd()]).is_broken_by_peer(), "two at once");

    for cut in [1, 15] {
        let error = refused(&hello[..cut], &[right.as_fd()]);
        assert!(error.is_unexpected_end() || error.is_connection_reset(), "{error}");
    }
    let unlike = |memory: &dyn AsFd| {
        let error = refused(&hello, &[memory.as_fd()]);
        assert!(error.is_broken_by_peer() || error.is_of_another_kind(), "{error}");
    };
    unlike(&memory(octets, [MAGIC, 1, ring], false));
    unlike(&memory(octets, [MAGIC, 1, 2 * ring], true));
    unlike(&memory(octets, [MAGIC, 2, ring], true));
    unlike(&memory(octets, [0, 0, 0], true));
    unlike(&memory(octets + 4096, [MAGIC, 1, ring], true));
    unlike(&memory(octets - 4096, [MAGIC, 1, ring], true));
    unlike(&Memfd::create("unsealed", octets as u64).unwrap());
    unlike(&Memfd::create("all sealed", octets as u64).unwrap().seal().unwrap());
    unlike(&sockets().0);
}

#[test]
fn who_waits_to_be_told_waits_no_longer_than_asked() {
    let (_silent, other) = sockets();
    let refused = ShmStream::over(other, ShmRole::Responder, &ShmOptions::new(), Instant::now()).unwrap_err();
    assert!(refused.error().is_timeout(), "{refused}");
    // The socket comes back as usable as it was.
    assert!(refused.into_handle().receive_now(&mut [0]).unwrap_err().is_would_block());
}

#[test]
fn peers_that_say_nothing_or_nonsense_keep_nobody() {
    let name = format!("zorb-ipc-shm-{}", std::process::id());
    let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let acceptor = ShmAcceptor::bind(address.clone(), &AcceptorOptions::new(), &small()).unwrap();
    let raw = || UnixStream::connect(address.clone(), soon()).unwrap();
    let silent: Vec<_> = (0..100).map(|_| raw()).collect();
    let nonsense = raw();
    let _ = nonsense.send(&[IoSlice::new(&[7; 16])]).unwrap();
    let half = raw();
    let memory = memory(4096 + 2 * RING, [MAGIC, 1, RING as u32], true);
    let hello = words([MAGIC, 1, RING as u32, 0]);
    half.send_passing(&hello[..9], &[memory.as_fd()], soon()).unwrap();
    let client = ShmConnector::new(&small()).connect(address.clone(), soon()).unwrap();
    let _ = client.send_now(&[IoSlice::new(b"here")]).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    let mut octets = [0; 4];
    server.receive_exact(&mut octets, soon()).unwrap();
    assert_eq!(&octets, b"here");
    assert_eq!(server.peer_credentials().unwrap().process, Some(std::process::id()));
    assert_eq!(client.peer(), Some(&address));
    // Who was too slow is accepted when it has said all.
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    half.send_passing(&hello[9..], &[], soon()).unwrap();
    acceptor.accept_by(soon()).unwrap();
    // Nobody has to be told apart from who was refused but by the end of the connection.
    assert_eq!(nonsense.receive(&mut [0]).unwrap_or(0), 0);
    drop(silent);
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    // Rings that are too large are met as a connection that ends.
    let large = ShmOptions::new().ring(RingSize::new(32 << 20).unwrap());
    let client = ShmConnector::new(&large).connect(address, soon()).unwrap();
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    assert!(client.receive_by(&mut [0], soon()).is_ok_and(|octets| octets == 0));
}

#[test]
fn scattered_octets_go_round_the_ring() {
    let (one, other) = ShmStream::pair(&small()).unwrap();
    let octets: Vec<u8> = (0..997_u32).map(|at| at as u8).collect();
    for _ in 0..50 {
        let (front, back) = octets.split_at(400);
        one.send_all(&mut [IoSlice::new(front), IoSlice::new(&[]), IoSlice::new(back)], soon()).unwrap();
        let (mut first, mut second, mut third) = ([0; 5], [0; 0], [0; 2000]);
        let mut into = [&mut first[..], &mut second[..], &mut third[..]].map(IoSliceMut::new);
        assert_eq!(other.receive_slices_by(&mut into, soon()).unwrap(), 997);
        assert_eq!([&first[..], &third[..992]].concat(), octets);
    }
}

#[test]
fn who_sends_is_told_that_this_end_was_ended_meanwhile() {
    let (one, _other) = ShmStream::pair(&small()).unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(|| one.send_all(&mut [IoSlice::new(&[0; 2 * RING])], soon()));
        while one.send_now(&[IoSlice::new(b"x")]).is_ok() {}
        thread::sleep(Duration::from_millis(20)); // either order is right; this one is the interesting one
        one.shutdown_send().unwrap();
        let error = sending.join().unwrap().unwrap_err();
        assert!(error.is_connection_reset(), "{error}");
    });
}

/// A set that watches one channel.
struct Watching<'a> {
    stream: &'a ShmStream,
    set: Epoll,
    events: Events,
}

impl<'a> Watching<'a> {
    fn new(stream: &'a ShmStream) -> Self {
        let set = Epoll::new().unwrap();
        set.add(stream, 1, Interest::RECEIVE, Trigger::Level).unwrap();
        Self { stream, set, events: Events::with_capacity(4) }
    }

    fn is_reported(&mut self) -> bool {
        self.set.wait(&mut self.events, Some(Duration::from_millis(30))).unwrap();
        !self.events.is_empty()
    }

    fn wait(&mut self) {
        self.set.wait_by(&mut self.events, soon()).unwrap();
        assert!(!self.events.is_empty(), "a wake-up was lost");
        self.stream.quiet();
    }

    /// Receives by waiting in the set alone.
    fn receive(&mut self, mut into: &mut [u8]) {
        while !into.is_empty() {
            match self.stream.receive_now(into) {
                Ok(0) => panic!("ended"),
                Ok(received) => into = &mut into[received..],
                Err(error) if error.is_would_block() => {
                    if self.stream.arm().unwrap() == Armed::Waiting {
                        self.wait();
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn an_armed_channel_is_reported_once_there_is_something() {
    let (one, other) = ShmStream::pair(&small()).unwrap();
    let mut watching = Watching::new(&other);
    let _ = one.send_now(&[IoSlice::new(b"a")]).unwrap();
    assert!(!watching.is_reported(), "nobody asked");
    assert_eq!(other.arm().unwrap(), Armed::Ready);
    assert_eq!(other.receive_now(&mut [0; 4]).unwrap(), 1);
    assert_eq!(other.arm().unwrap(), Armed::Waiting);
    assert!(!watching.is_reported());
    let _ = one.send_now(&[IoSlice::new(b"b")]).unwrap();
    watching.wait();
    assert_eq!(other.receive_now(&mut [0; 4]).unwrap(), 1);
    assert_eq!(other.arm().unwrap(), Armed::Waiting);
    assert!(!watching.is_reported(), "it was made quiet");
    one.shutdown_send().unwrap();
    watching.wait();
    assert_eq!(other.arm().unwrap(), Armed::Ready);
    assert_eq!(other.receive_now(&mut [0; 4]).unwrap(), 0);

    // Room.
    while other.send_now(&[IoSlice::new(&[0; 100])]).is_ok() {}
    assert_eq!(other.arm_to_send().unwrap(), Armed::Waiting);
    assert!(!watching.is_reported());
    assert!(one.receive_now(&mut [0; 100]).unwrap() > 0);
    watching.wait();
    assert_eq!(other.arm_to_send().unwrap(), Armed::Ready);
    assert_eq!(other.arm_for_both().unwrap(), Armed::Ready);
    while other.send_now(&[IoSlice::new(&[0; 100])]).is_ok() {}
    assert_eq!(other.arm_to_send().unwrap(), Armed::Waiting);
    drop(one);
    watching.wait();
    assert_eq!(other.arm_to_send().unwrap(), Armed::Ready);
    assert!(other.send_now(&[IoSlice::new(b"x")]).unwrap_err().is_connection_reset());
}

#[test]
fn what_is_armed_stays_so_when_this_end_ends_its_direction() {
    let (one, other) = ShmStream::pair(&small()).unwrap();
    let mut watching = Watching::new(&other);
    assert_eq!(other.arm().unwrap(), Armed::Waiting);
    other.shutdown_send().unwrap();
    assert!(!watching.is_reported());
    let _ = one.send_now(&[IoSlice::new(b"x")]).unwrap();
    watching.wait();
    assert_eq!(other.receive_now(&mut [0; 4]).unwrap(), 1);
    // Its own end is reported like the other's.
    assert_eq!(other.arm().unwrap(), Armed::Waiting);
    other.shutdown_both().unwrap();
    watching.wait();
    assert_eq!(other.arm().unwrap(), Armed::Ready);
    assert_eq!(other.receive_now(&mut [0; 4]).unwrap(), 0);
}

#[test]
fn no_wake_up_is_lost_between_two_sets() {
    let (one, other) = ShmStream::pair(&small()).unwrap();
    let rounds = 5000_u32;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut watching = Watching::new(&other);
            for _ in 0..rounds {
                let mut octets = [0; 4];
                watching.receive(&mut octets);
                other.send_all(&mut [IoSlice::new(&octets)], soon()).unwrap();
            }
        });
        let mut watching = Watching::new(&one);
        for round in 0..rounds {
            one.send_all(&mut [IoSlice::new(&round.to_ne_bytes())], soon()).unwrap();
            let mut octets = [0; 4];
            watching.receive(&mut octets);
            assert_eq!(u32::from_ne_bytes(octets), round);
        }
    });
}

#[test]
fn either_way_of_spinning_moves_all() {
    for spinning in [Spinning::none(), Spinning::bounded(Duration::from_micros(50)), Spinning::adaptive()] {
        let (one, other) = ShmStream::pair(&small().spinning(spinning)).unwrap();
        let octets: Vec<u8> = (0..1_000_000_u32).map(|at| (at % 251) as u8).collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                for piece in octets.chunks(1777) {
                    one.send_all(&mut [IoSlice::new(piece)], soon()).unwrap();
                }
            });
            let mut received = vec![0; octets.len()];
            other.receive_exact(&mut received, soon()).unwrap();
            assert!(received == octets);
        });
    }
}

#[test]
fn two_that_receive_at_once_are_both_woken() {
    let (one, other) = ShmStream::pair(&small()).unwrap();
    for _ in 0..200 {
        thread::scope(|scope| {
            let receivers = [0, 1].map(|_| scope.spawn(|| other.receive_by(&mut [0; 1], soon()).unwrap()));
            let _ = one.send_now(&[IoSlice::new(b"x")]).unwrap();
            thread::yield_now();
            let _ = one.send_now(&[IoSlice::new(b"y")]).unwrap();
            assert_eq!(receivers.map(|receiver| receiver.join().unwrap()), [1, 1]);
        });
    }
}

#[test]
fn rings_have_sizes_that_rings_can_have() {
    for octets in [4096, 8192, 1 << 20, 1 << 30] {
        assert_eq!(RingSize::new(octets).unwrap().octets(), octets);
    }
    for octets in [0, 1, 2048, 4097, 12288, 1 << 31] {
        assert!(RingSize::new(octets).unwrap_err().is_out_of_range(), "{octets}");
    }
}

/// Octets that say where they belong.
fn pattern(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at * 31 + (at >> 12)) as u8).collect()
}

#[test]
fn slabs_and_ring_keep_the_order_of_much_and_little() {
    let options = ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(2, 4096).unwrap()));
    let (one, other) = ShmStream::pair(&options).unwrap();
    let sent = pattern(1 << 20);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut rest, mut step) = (&sent[..], 0);
            while !rest.is_empty() {
                step = (step * 5 + 7) % 9001;
                let (now, later) = rest.split_at(rest.len().min(1 + step));
                let (head, body) = now.split_at(now.len() / 3);
                one.send_all(&mut [IoSlice::new(head), IoSlice::new(body)], soon()).unwrap();
                rest = later;
            }
        });
        let mut received = vec![0; sent.len()];
        let (mut at, mut step) = (0, 0);
        while at < received.len() {
            step = (step * 3 + 11) % 7001;
            let end = received.len().min(at + 1 + step);
            at += other.receive_by(&mut received[at..end], soon()).unwrap();
        }
        assert!(received == sent);
    });
}

#[test]
fn slabs_take_memory_only_when_they_are_used() {
    let slab = 1 << 20;
    let options = ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(8, slab).unwrap()));
    let (one, other) = ShmStream::pair(&options).unwrap();
    let taken = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
        let slabs = links.filter(|link| {
            let to = std::fs::read_link(link.path()).unwrap_or_default();
            let is_ours = |at: std::fs::Metadata| at.len() == 16 << 20;
            to.to_string_lossy().contains("zorb-slabs") && std::fs::metadata(link.path()).is_ok_and(is_ours)
        });
        let blocks = slabs
            .map(|link| std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(link.path()).unwrap()));
        blocks.max().expect("its memory is open") * 512
    };
    one.send_all(&mut [IoSlice::new(&pattern(1000))], soon()).unwrap();
    assert_eq!(taken(), 0);
    one.send_all(&mut [IoSlice::new(&pattern(slab))], soon()).unwrap();
    assert_eq!(taken(), slab as u64);
    other.receive_exact(&mut vec![0; slab + 1000], soon()).unwrap();
    // Both ends use what is there.
    assert_eq!(taken(), slab as u64);
}

#[test]
fn slabs_that_nobody_gives_back_are_as_a_full_ring() {
    let options = ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(2, 4096).unwrap()));
    let (one, other) = ShmStream::pair(&options).unwrap();
    let much = pattern(3 * 4096);
    let mut sent = 0;
    while sent < much.len() {
        match one.send_now(&[IoSlice::new(&much[sent..])]) {
            Ok(octets) => sent += octets,
            Err(error) => {
                assert!(error.is_would_block(), "{error}");
                break;
            }
        }
    }
    // Two slabs, their two octets in the ring, and what else fits it.
    assert_eq!(sent, 2 * 4096 + 4096 - 2);
    let late = one.send_by(&[IoSlice::new(&much)], Instant::now()).unwrap_err();
    assert!(late.is_timeout(), "{late}");
    let mut received = vec![0; sent];
    other.receive_exact(&mut received, soon()).unwrap();
    assert!(received == much[..sent]);
    assert_eq!(one.send_now(&[IoSlice::new(&much)]).unwrap(), 4096, "a slab is free again");
}

#[test]
fn slabs_are_looked_at_before_they_are_accepted() {
    let pair = |least: usize| {
        let address =
            UnixAddress::abstract_name(format!("zorb-ipc-slabs-{}-{least}", std::process::id()).as_bytes());
        let accepts = ShmOptions::new().largest_slabs(least);
        let acceptor = ShmAcceptor::bind(address.unwrap(), &AcceptorOptions::new(), &accepts).unwrap();
        let options = ShmOptions::new().slabs(Some(Slabs::new(2, 4096).unwrap()));
        let _stream = ShmConnector::new(&options).connect(acceptor.local().clone(), soon()).unwrap();
        acceptor.accept_by(Instant::now() + Duration::from_millis(50)).map(drop)
    };
    pair(8192).unwrap();
    assert!(pair(8191).unwrap_err().is_timeout(), "more than is accepted");
    for (count, octets) in
        [(0, 4096), (3, 4096), (128, 4096), (1, 4095), (1, 2048), (1, 32 << 20), (64, 2 << 20)]
    {
        assert!(Slabs::new(count, octets).unwrap_err().is_out_of_range(), "{count} of {octets}");
    }
}
