//! A peer in bad faith: it writes whatever it likes over all the memory it can reach, and into the socket, while the
//! other end of the channel works. That end gets errors; it does not panic, and no call lasts beyond its deadline.

use std::env;
use std::io::{IoSlice, Read};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_add_seals};
use zorb_ipc::{
    AcceptorOptions, Error, RingSize, Segment, SegmentOptions, ShmAcceptor, ShmOptions, ShmRole, ShmStream,
    Slabs, UnixAddress, UnixStream,
};

const RING: usize = 4096;
const OCTETS: usize = 4096 + 2 * RING;
/// Slabs of each direction, of 4 KiB: what the honest end sends and receives at once is often worth one.
const SLABS: usize = 4;
const SLABS_OCTETS: usize = 2 * SLABS * 4096;
const ADDRESS: &str = "ZORB_IPC_HOSTILE";
/// Each call of the honest end may take so long.
const EACH: Duration = Duration::from_millis(5);
/// What a busy machine may add to that. A call that hangs takes for ever.
const SLACK: Duration = Duration::from_secs(20);

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// Numbers that look like any.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }
}

/// What the hostile end can reach.
struct Reached {
    memory: Segment,
    slabs: Segment,
    socket: UnixStream,
}

impl Reached {
    fn options() -> SegmentOptions {
        SegmentOptions::new().words32(0..4096)
    }

    /// As the initiator: what it says when the channel is set up is as it should be.
    fn initiate(socket: UnixStream) -> Self {
        let memory = Segment::create("hostile", OCTETS, &Self::options()).unwrap();
        fcntl_add_seals(memory.memory(), SealFlags::SEAL).unwrap();
        let slabs = Segment::create("hostile slabs", SLABS_OCTETS, &SegmentOptions::new()).unwrap();
        fcntl_add_seals(slabs.memory(), SealFlags::SEAL).unwrap();
        let words = [u32::from_ne_bytes(*b"zrbS"), 1, RING as u32, (4096 + SLABS) as u32];
        for (at, word) in words.iter().enumerate() {
            memory.word32(at * 4).unwrap().store(*word, Relaxed);
        }
        let hello: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        socket.send_passing(&hello, &[memory.memory().as_fd(), slabs.memory().as_fd()], soon()).unwrap();
        Self { memory, slabs, socket }
    }

    /// As the responder.
    fn respond(socket: UnixStream) -> Self {
        let mut passed = socket.receive_passed(&mut [0; 16], soon()).unwrap();
        let slabs = passed.descriptors.pop().unwrap();
        let slabs = Segment::adopt(slabs, SLABS_OCTETS..=SLABS_OCTETS, &SegmentOptions::new()).unwrap();
        let memory = passed.descriptors.pop().unwrap();
        Self { memory: Segment::adopt(memory, OCTETS..=OCTETS, &Self::options()).unwrap(), slabs, socket }
    }

    /// Until told to stop. `mostly` says which words of the control page it is about: all, or only those that do not give
    /// it away at once.
    fn scribble(&self, random: &mut Random, all: bool, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            for _ in 0..64 {
                self.step(random, all);
            }
            // Some of the time the other end should have the processor, too.
            thread::yield_now();
        }
    }

    fn step(&self, random: &mut Random, all: bool) {
        let lane = 128 + 512 * random.below(2);
        // Bits of doorbells, ends, and what gives the peer away: positions.
        let words = [256, 384, 256, 384, 4, 260, 8, 8, 0, 128];
        let at = match random.below(10) {
            0..8 => lane + words[random.below(if all { words.len() } else { 4 })],
            8 if all && random.below(2) == 0 => 4 * random.below(1024),
            8 if all => 2048 + 512 * random.below(2) + 4 * random.below(2 * SLABS),
            _ => {
                let piece = [random.next() as u8; 100];
                self.memory.copy_in(4096 + random.below(2 * RING - piece.len()), &piece).unwrap();
                self.slabs.copy_in(random.below(SLABS_OCTETS - piece.len()), &piece).unwrap();
                return;
            }
        };
        let word = self.memory.word32(at).unwrap();
        let old = word.load(Relaxed);
        let new = match random.below(8) {
            0 => 0,
            1 => 1,
            2 => 3,
            3 => u32::MAX,
            4 => old.wrapping_add(random.below(64) as u32),
            5 => old.wrapping_sub(1),
            6 => old ^ (1 << random.below(32)),
            _ => random.next() as u32,
        };
        word.store(new, Relaxed);
        match random.below(256) {
            0 => drop(self.socket.send_now(&[IoSlice::new(&[0; 300][..1 + random.below(299)])])),
            1 => drop(self.socket.receive_now(&mut [0; 300])),
            _ => {}
        }
    }
}

/// What the honest end met.
#[derive(Default)]
struct Met {
    broken: AtomicU64,
    reset: AtomicU64,
    transferred: AtomicU64,
    out_of_time: AtomicU64,
}

impl Met {
    /// Whether it is over.
    fn note<T>(&self, begun: Instant, what: &str, result: Result<T, Error>) -> bool {
        assert!(begun.elapsed() < EACH + SLACK, "{what} took {:?}", begun.elapsed());
        let count = |count: &AtomicU64| count.fetch_add(1, Relaxed);
        match result {
            Ok(_) => count(&self.transferred),
            Err(error) if error.is_broken_by_peer() => {
                count(&self.broken);
                return true;
            }
            Err(error) if error.is_connection_reset() => {
                count(&self.reset);
                return true;
            }
            Err(error) if error.is_timeout() || error.is_would_block() => count(&self.out_of_time),
            Err(error) => panic!("{what}: {error}"),
        };
        false
    }

    /// Works as who knows nothing of it, for a while.
    fn work(&self, stream: &ShmStream, random: &mut Random, receives: bool, until: Instant) {
        let mut octets = [0; 3000];
        while Instant::now() < until {
            let begun = Instant::now();
            let by = begun + EACH;
            let length = 1 + random.below(octets.len() - 1);
            let piece = &mut octets[..length];
            let over = match (receives, random.below(6)) {
                (true, 0) => self.note(begun, "receive_now", stream.receive_now(piece)),
                (true, 1) => self.note(begun, "peek_now", stream.peek_now(piece)),
                (true, 2) => self.note(begun, "wait_readable", stream.wait_readable(by)),
                (true, 3) => self.note(begun, "arm_for_both", stream.arm_for_both()),
                (true, _) => self.note(begun, "receive_by", stream.receive_by(piece, by)),
                (false, 0) => self.note(begun, "send_now", stream.send_now(&[IoSlice::new(piece)])),
                (false, 1) => {
                    stream.idle();
                    false
                }
                (false, _) => self.note(begun, "send_all", stream.send_all(&mut [IoSlice::new(piece)], by)),
            };
            if over {
                return;
            }
        }
    }

    /// Both directions at once.
    fn use_up(&self, stream: &ShmStream, random: &mut Random, until: Instant) {
        let mut other = Random(random.next() | 1);
        thread::scope(|scope| {
            scope.spawn(|| self.work(stream, &mut other, false, until));
            self.work(stream, random, true, until);
        });
    }
}

fn for_a_while(seed: u64, all: bool, role: ShmRole) -> Met {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let met = Met::default();
    let mut random = Random(seed);
    let (until, latest) =
        (Instant::now() + Duration::from_millis(700), Instant::now() + Duration::from_secs(60));
    let options = ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(SLABS, 4096).unwrap()));
    // Who scribbles may hardly get a processor meanwhile: then it takes until something was found.
    let finds_nothing = || all && met.broken.load(Relaxed) == 0 && Instant::now() < latest;
    while Instant::now() < until || finds_nothing() {
        let until = until.max(Instant::now() + Duration::from_millis(100));
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        let (honest, hostile) = (UnixStream::adopt(one).unwrap(), UnixStream::adopt(other).unwrap());
        let (stream, reached) = match role {
            ShmRole::Initiator => {
                let stream = ShmStream::over(honest, role, &options, soon()).unwrap();
                (stream, Reached::respond(hostile))
            }
            ShmRole::Responder => {
                let reached = Reached::initiate(hostile);
                (ShmStream::over(honest, role, &options, soon()).unwrap(), reached)
            }
        };
        let stop = AtomicBool::new(false);
        let mut scribbling = Random(random.next() | 1);
        thread::scope(|scope| {
            scope.spawn(|| reached.scribble(&mut scribbling, all, &stop));
            met.use_up(&stream, &mut random, until);
            stop.store(true, Relaxed);
        });
    }
    met
}

#[test]
fn a_thread_that_scribbles_over_everything_is_found_out() {
    for role in [ShmRole::Initiator, ShmRole::Responder] {
        let met = for_a_while(0x9e37_79b9_7f4a_7c15, true, role);
        assert!(met.broken.into_inner() > 0, "{role:?}: positions that cannot be were believed");
    }
}

#[test]
fn a_thread_that_plays_with_the_doorbells_delays_at_most() {
    let met = for_a_while(0x0123_4567_89ab_cdef, false, ShmRole::Responder);
    assert_eq!(met.broken.into_inner() + met.reset.into_inner(), 0);
    assert!(met.transferred.into_inner() > 0 && met.out_of_time.into_inner() > 0);
}

#[test]
fn a_process_that_scribbles_over_everything_is_found_out() {
    let name = format!("zorb-ipc-hostile-{}", std::process::id());
    let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let options = ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(SLABS, 4096).unwrap()));
    let acceptor = ShmAcceptor::bind(address, &AcceptorOptions::new(), &options).unwrap();
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_hostile_process", "--ignored", "--nocapture"])
        .env(ADDRESS, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let met = Met::default();
    let mut random = Random(0xfeed_beef_dead_cafe);
    let until = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < until {
        let stream = acceptor.accept_by(soon()).unwrap();
        met.use_up(&stream, &mut random, until);
    }
    drop(process.stdin.take());
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(met.broken.into_inner() > 0, "positions that cannot be were believed");
}

#[test]
#[ignore = "run by the test above, as its other process"]
fn the_hostile_process() {
    let Ok(name) = env::var(ADDRESS) else { return };
    // If this test's process dies nobody scribbles on.
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let mut random = Random(0x5151_5151_1234_4321);
    loop {
        let socket = UnixStream::connect(address.clone(), soon()).unwrap();
        let reached = Reached::initiate(socket);
        let begun = Instant::now();
        // On to the next when the other end has found out.
        while begun.elapsed() < Duration::from_millis(200) && !reached.socket.is_closed_by_peer() {
            for _ in 0..64 {
                reached.step(&mut random, true);
            }
        }
    }
}
