//! The other end of a connection over shared memory, in a process of its own and, where that can be, of another user. It
//! does its work up to a step, says `@STEP`, and holds what it has until it is killed; or it does it all wrong.

use std::env;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_add_seals, ftruncate};
use zorb_ipc::{
    AcceptorOptions, Credentials, Memfd, RingSize, Segment, SegmentOptions, ShmOptions, ShmRole, ShmStream,
    Slabs, UnixAcceptor, UnixAddress, UnixStream,
};
use zorb_tests::copy_program;
use zorb_tests::servant::PATIENCE;
use zorb_tests::wire::{Order, Wire};

use crate::heard::take_message;

/// `nobody`, by the number that all systems give it.
const NOBODY: u32 = 65_534;
const TASK: &str = "ZORB_MEMORY_PEER";

/// Octets of an argument that takes several slabs and more than the ring.
pub(super) const MUCH: usize = 100_000;

/// What the memory of a connection is: small, and of a size that no other test's has, by which it is found again.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) count: usize,
    pub(super) slab: usize,
}

impl Geometry {
    pub(super) const RING: usize = 4096;

    /// Octets of both directions' slabs.
    pub(super) fn octets(self) -> usize {
        2 * self.count * self.slab
    }

    fn options(self) -> ShmOptions {
        let slabs = Slabs::new(self.count, self.slab).expect("such can be");
        ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(slabs))
    }
}

fn soon() -> Instant {
    Instant::now() + PATIENCE
}

/// A peer's process; killed when dropped.
pub(super) struct Peer {
    child: Child,
    said: BufReader<ChildStdout>,
    program: Option<PathBuf>,
}

impl Peer {
    /// Starts it, as another user where this one may.
    pub(super) fn start(task: &str, geometry: Geometry, at: &Path, key: &str) -> Peer {
        let Geometry { count, slab } = geometry;
        let program = env::current_exe().expect("this test's");
        let is_superuser = Credentials::own().user == 0;
        // Where it was built others may not be let in.
        let copied = is_superuser.then(|| {
            let copy = at.with_extension(task.replace(':', "-"));
            copy_program(&program, &copy);
            copy
        });
        let mut command = Command::new(copied.as_ref().unwrap_or(&program));
        if is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut child = command
            .args(["--exact", "memory::peer::the_other_end", "--ignored", "--nocapture"])
            .env(TASK, format!("{task} {count} {slab} {} {key}", at.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let said = BufReader::new(child.stdout.take().expect("piped"));
        Peer { child, said, program: copied }
    }

    /// Waits until it has come so far.
    pub(super) fn comes_to(&mut self, step: &str) {
        let (mut said, wanted) = (String::new(), format!("@{step}\n"));
        while !said.ends_with(&wanted) {
            let octets = self.said.read_line(&mut said).expect("it is text");
            assert_ne!(octets, 0, "it ended before {step}: {said}");
        }
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(program) = &self.program {
            let _ = fs::remove_file(program);
        }
    }
}

/// A directory in which everybody may listen.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn new(of: &str) -> Place {
        let place = env::temp_dir().join(format!("zorb-memory-{of}-{}", std::process::id()));
        // Not one that is there already: somebody else may have put something into it.
        fs::create_dir(&place).expect("a directory of our own");
        fs::set_permissions(&place, Permissions::from_mode(0o1777)).expect("it is ours");
        Place(place)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
#[ignore = "run by the other tests, as their other process"]
fn the_other_end() {
    let Ok(task) = env::var(TASK) else { return };
    let words: Vec<_> = task.split(' ').collect();
    let [task, count, slab, at, key] = words[..] else { panic!("{words:?}") };
    let geometry =
        Geometry { count: count.parse().expect("a number"), slab: slab.parse().expect("a number") };
    let address: UnixAddress = UnixAddress::path(at).expect("a path");
    // If the test dies this does.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let key = key
        .as_bytes()
        .chunks(2)
        .filter_map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
    let key: Vec<u8> = key.collect();
    match task.split_once(':').unwrap_or((task, "")) {
        ("serve", until) => serve(&address, geometry, until),
        ("serve-scribbling", _) => serve_scribbling(&address, geometry),
        ("call", until) => call(&address, geometry, &key, until),
        ("call-scribbling", _) => call_scribbling(&address, geometry, &key),
        ("call-badly", _) => call_badly(&address, geometry),
        _ => panic!("no task {task}"),
    }
}

fn say(step: &str) {
    let mut output = std::io::stdout();
    // What the harness has begun is no line of ours.
    write!(output, "\n@{step}\n").and_then(|()| output.flush()).expect("the test reads");
}

/// Keeps everything for ever, if this is where to stop.
fn stop_at(step: &str, until: &str) {
    if step == until {
        say(step);
        loop {
            std::thread::park();
        }
    }
}

fn listen(address: &UnixAddress) -> UnixAcceptor {
    let acceptor =
        UnixAcceptor::bind(address.clone(), &AcceptorOptions::new().mode(0o666)).expect("a free name");
    say("listening");
    acceptor
}

/// As a server: accepts, takes a call's request, and answers it.
fn serve(address: &UnixAddress, geometry: Geometry, until: &str) {
    let acceptor = listen(address);
    let socket = acceptor.accept_by(soon()).expect("a client");
    let options = geometry.options();
    let stream = ShmStream::over(socket, ShmRole::Responder, &options, soon()).expect("all is right");
    stop_at("connected", until);
    let mut request = vec![0; 5000];
    stream.receive_exact(&mut request, soon()).expect("the client sends");
    stop_at("part-of-request", until);
    let id = loop {
        let mut more = [0; 4096];
        match stream.receive_by(&mut more, soon()).expect("the client sends") {
            0 => panic!("the client has gone"),
            count => request.extend_from_slice(&more[..count]),
        }
        if let Some(message) = take_message(&mut request) {
            break zorb_tests::wire::request_id(&message).expect("a request");
        }
    };
    stop_at("request", until);
    let reply = Wire::reply((2, Order::Little), id, 0).sequence(&[7; MUCH]).done();
    let (first, rest) = reply.split_at(geometry.slab);
    stream.send_all(&mut [IoSlice::new(first)], soon()).expect("there is room");
    stop_at("part-of-reply", until);
    stream.send_all(&mut [IoSlice::new(rest)], soon()).expect("the client takes it");
}

/// As a client: connects, sends the request of an echo, and takes the reply.
fn call(address: &UnixAddress, geometry: Geometry, key: &[u8], until: &str) {
    let socket = UnixStream::connect(address.clone(), soon()).expect("it listens");
    let stream = ShmStream::over(socket, ShmRole::Initiator, &geometry.options(), soon()).expect("memory");
    stop_at("connected", until);
    let request = echo(key);
    let (first, rest) = request.split_at(geometry.slab);
    stream.send_all(&mut [IoSlice::new(first)], soon()).expect("there is room");
    stop_at("part-of-request", until);
    stream.send_all(&mut [IoSlice::new(rest)], soon()).expect("the server takes it");
    stop_at("request", until);
    stream.receive_exact(&mut [0; 5000], soon()).expect("the server answers");
    stop_at("part-of-reply", until);
}

fn echo(key: &[u8]) -> Vec<u8> {
    Wire::request((2, Order::Little), 5, true, key, "echo").sequence(&[7; MUCH]).done()
}

/// All of a connection that can be reached.
struct Reached {
    control: Segment,
    slabs: Segment,
    socket: UnixStream,
    random: u64,
}

impl Reached {
    fn words() -> SegmentOptions {
        SegmentOptions::new().words32(0..4096)
    }

    fn new(control: Segment, slabs: Segment, socket: UnixStream) -> Reached {
        Reached { control, slabs, socket, random: 0x9e37_79b9_7f4a_7c15 ^ u64::from(std::process::id()) }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % end
    }

    /// Writes anything anywhere until the other end has had enough of it.
    fn scribble(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) && !self.has_ended() {
            for _ in 0..64 {
                self.step();
            }
        }
    }

    /// Whether the other end has closed: what it rang before does not hide that.
    fn has_ended(&self) -> bool {
        match self.socket.receive_now(&mut [0; 64]) {
            Ok(octets) => octets == 0,
            Err(error) => !error.is_would_block(),
        }
    }

    fn step(&mut self) {
        let piece = [self.random as u8; 100];
        if self.below(4) == 0 {
            let (ring, slab) = (self.control.octets() - 4096, self.slabs.octets());
            let (in_ring, in_slab) = (self.below(ring - 100), self.below(slab - 100));
            self.control.copy_in(4096 + in_ring, &piece).expect("within");
            self.slabs.copy_in(in_slab, &piece).expect("within");
            return;
        }
        // Words that mean something, and all of them.
        let lane = 128 + 512 * self.below(2);
        let at = match self.below(4) {
            0 => 4 * self.below(1024),
            1 => 2048 + 512 * self.below(2) + 4 * self.below(16),
            _ => lane + [0, 4, 8, 128, 256, 260, 384][self.below(7)],
        };
        let word = self.control.word32(at).expect("a word");
        let old = word.load(Relaxed);
        let by = self.below(64) as u32;
        let new = match self.below(6) {
            0 => by & 1,
            1 => u32::MAX,
            2 => old.wrapping_add(by),
            3 => old.wrapping_sub(by),
            4 => old ^ (1 << (by % 32)),
            _ => self.random as u32,
        };
        self.control.word32(at).expect("a word").store(new, Relaxed);
    }
}

fn serve_scribbling(address: &UnixAddress, geometry: Geometry) {
    let acceptor = listen(address);
    loop {
        let socket = acceptor.accept_by(soon()).expect("a client");
        let mut passed = socket.receive_passed(&mut [0; 16], soon()).expect("it says what memory");
        let slabs = geometry.octets();
        let slabs = Segment::adopt(passed.descriptors.remove(1), slabs..=slabs, &SegmentOptions::new());
        let control = 4096 + 2 * Geometry::RING;
        let control = Segment::adopt(passed.descriptors.remove(0), control..=control, &Reached::words());
        Reached::new(control.expect("memory"), slabs.expect("memory"), socket).scribble();
    }
}

fn call_scribbling(address: &UnixAddress, geometry: Geometry, key: &[u8]) {
    let request = echo(key);
    for _ in 0..20 {
        let socket = UnixStream::connect(address.clone(), soon()).expect("it listens");
        let (control, slabs) = (channel(geometry), slab_memory(geometry.octets()));
        let words = Reached::words();
        let control = Segment::adopt(control, 0..=usize::MAX, &words).expect("memory");
        let slabs = Segment::adopt(slabs, 0..=usize::MAX, &SegmentOptions::new()).expect("memory");
        let passed = [control.memory().as_fd(), slabs.memory().as_fd()];
        socket.send_passing(&hello(geometry), &passed, soon()).expect("it listens");
        // The beginning of a request is there, so that something goes on.
        control.copy_in(4096, &request[..4000]).expect("within");
        control.word32(128).expect("a word").store(4000, Relaxed);
        Reached::new(control, slabs, socket).scribble();
    }
    say("scribbled");
    loop {
        std::thread::park();
    }
}

fn hello(geometry: Geometry) -> Vec<u8> {
    let words =
        [u32::from_ne_bytes(*b"zrbS"), 1, Geometry::RING as u32, (geometry.slab | geometry.count) as u32];
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Memory of a channel that says what it is.
fn channel(geometry: Geometry) -> OwnedFd {
    let segment = Segment::create("hostile", 4096 + 2 * Geometry::RING, &Reached::words()).expect("memory");
    for (at, word) in hello(geometry)[..12].chunks(4).enumerate() {
        let word = u32::from_ne_bytes(word.try_into().expect("four"));
        segment.word32(4 * at).expect("a word").store(word, Relaxed);
    }
    let _ = fcntl_add_seals(segment.memory(), SealFlags::SEAL);
    segment.into_memory().into()
}

fn slab_memory(octets: usize) -> OwnedFd {
    sealed_memory(octets, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
}

fn sealed_memory(octets: usize, seals: SealFlags) -> OwnedFd {
    let memory = OwnedFd::from(Memfd::create("hostile slabs", octets as u64).expect("memory"));
    fcntl_add_seals(&memory, seals).expect("it may be sealed");
    memory
}

/// As a client that passes what it should not, in all ways: each time the server ends the connection.
fn call_badly(address: &UnixAddress, geometry: Geometry) {
    let (right, octets) = (|| channel(geometry), geometry.octets());
    let sealed = SealFlags::SHRINK | SealFlags::GROW;
    let read_only = |memory: OwnedFd| {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        OwnedFd::from(fs::File::open(path).expect("it is open"))
    };
    let mut wrong: Vec<(&str, Vec<OwnedFd>)> = vec![
        ("nothing", vec![]),
        ("no slabs", vec![right()]),
        ("no seal", vec![right(), sealed_memory(octets, SealFlags::empty())]),
        ("slabs that can shrink", vec![right(), sealed_memory(octets, SealFlags::GROW | SealFlags::SEAL)]),
        ("slabs that can grow", vec![right(), sealed_memory(octets, SealFlags::SHRINK | SealFlags::SEAL)]),
        ("slabs that can be sealed", vec![right(), sealed_memory(octets, sealed)]),
        ("fewer slabs", vec![right(), slab_memory(octets - 4096)]),
        ("a slab's end less", vec![right(), slab_memory(octets - 1)]),
        ("no slab", vec![right(), slab_memory(0)]),
        ("more slabs", vec![right(), slab_memory(octets + 4096)]),
        ("slabs to read", vec![right(), read_only(slab_memory(octets))]),
        ("rings to read", vec![read_only(right()), slab_memory(octets)]),
        ("a smaller ring", vec![slab_memory(4096 + Geometry::RING), slab_memory(octets)]),
        ("the wrong way round", vec![slab_memory(octets), right()]),
        ("no memory", vec![right(), OwnedFd::from(fs::File::open("/dev/zero").expect("it is there"))]),
        (
            "rings that say they are others",
            vec![channel(Geometry { slab: 2 * geometry.slab, ..geometry }), slab_memory(octets)],
        ),
        ("a third", vec![right(), slab_memory(octets), slab_memory(octets)]),
    ];
    let unsealed = OwnedFd::from(Memfd::create("unsealed", 4096).expect("memory"));
    ftruncate(&unsealed, octets as u64).expect("not sealed");
    wrong.push(("slabs that grew", vec![right(), unsealed]));
    for (what, memory) in wrong {
        let socket = UnixStream::connect(address.clone(), soon()).expect("it listens");
        let passed: Vec<BorrowedFd<'_>> = memory.iter().map(AsFd::as_fd).collect();
        let message = hello(geometry);
        match passed[..] {
            [] => drop(socket.send(&[IoSlice::new(&message)])),
            _ => drop(socket.send_passing(&message, &passed, soon())),
        }
        // It may be told by a reset.
        let told = socket.receive_by(&mut [0], soon());
        let is_ended = match &told {
            Ok(octets) => *octets == 0,
            Err(error) => error.is_connection_reset(),
        };
        assert!(is_ended, "{what}: {told:?}");
        // What could shrink does now: nobody looks at it any more.
        for memory in &memory {
            let _ = ftruncate(memory, 0);
        }
    }
    say("refused");
    loop {
        std::thread::park();
    }
}
