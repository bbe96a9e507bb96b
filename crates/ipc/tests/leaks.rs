//! No handle leaves a descriptor or a mapping behind, whether it is made, refused or dropped. Alone in its
//! process, whose descriptors and mappings it counts.

use std::fs;
use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb_ipc::{
    Error, EventCounter, EventSemaphore, Fifo, Memfd, Pages, PipeReader, PipeWriter, SealedMemfd, Segment,
    SegmentOptions, SizedMemfd, TcpAcceptor, TcpStream, Timer, UdpSocket, WallClockTimer, pipe,
};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// How many mappings of memory with a descriptor this process has.
fn mapped() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("/memfd:")).count()
}

fn all_kinds() {
    let options = SegmentOptions::new().words32(0..8).populate(true);
    let duplicate = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().unwrap();

    let (reader, writer) = pipe().unwrap();
    let _ = writer.send_now(&[IoSlice::new(b"x")]).unwrap();
    let mut pages = Pages::new(3 << 12).unwrap();
    writer.gift(&mut pages, soon()).unwrap();
    drop(Pages::new(100_000).unwrap());

    let path = std::env::temp_dir().join(format!("zorb-ipc-leaks-{}", std::process::id()));
    let fifo = Fifo::create(&path, 0o600).unwrap();
    assert!(fifo.writer_now().is_err());
    let ends = (fifo.reader().unwrap(), fifo.writer_now().unwrap());
    assert!(Fifo::create(&path, 0o600).is_err());

    let segment = Segment::create("leaks", 10_000, &options).unwrap();
    assert_eq!(mapped(), 1);
    let again = Segment::adopt(duplicate(segment.memory()), 10_000..=10_000, &options).unwrap();
    let unmapped = again.into_memory();
    assert_eq!(mapped(), 1);
    assert!(unmapped.seal().is_err(), "busy");
    assert!(Segment::adopt(duplicate(segment.memory()), 1..=1, &options).is_err());
    assert!(Segment::create("too small", 4, &options).is_err());
    let sealed = segment.into_memory().seal().unwrap();
    let bytes = sealed.map().unwrap();
    assert!(SizedMemfd::adopt(duplicate(&sealed), 0..=1 << 20).is_err());
    assert!(Memfd::adopt(duplicate(&sealed)).is_err());
    drop(SealedMemfd::adopt(duplicate(&sealed), 0..=1 << 20).unwrap().map().unwrap());

    let counter = EventCounter::new(0).unwrap();
    let timer = Timer::new().unwrap();
    drop((EventSemaphore::new(0).unwrap(), WallClockTimer::new().unwrap()));
    // Everything is refused what it is not.
    for fd in
        [duplicate(&reader), duplicate(&writer), duplicate(&sealed), duplicate(&counter), duplicate(&timer)]
    {
        let mut fd: OwnedFd = fd;
        for attempt in 0..4 {
            let refused = match attempt {
                0 => TcpStream::adopt(fd).map(drop),
                1 => TcpAcceptor::adopt(fd).map(drop),
                2 => UdpSocket::adopt(fd).map(drop),
                _ => EventSemaphore::adopt(fd).map(drop),
            };
            fd = refused.unwrap_err().into_handle();
        }
    }
    assert!(PipeReader::adopt(duplicate(&writer)).is_err());
    assert!(PipeWriter::adopt(duplicate(&reader)).is_err());
    drop((ends, bytes, reader.into_descriptor().unwrap()));
}

#[test]
fn nothing_is_left_behind_and_exhaustion_is_told() {
    // What the first round sets up for good does not count.
    all_kinds();
    let before = open_descriptors();
    for _ in 0..50 {
        all_kinds();
    }
    assert_eq!((open_descriptors(), mapped()), (before, 0));

    let fifo =
        Fifo::create(std::env::temp_dir().join(format!("zorb-ipc-none-{}", std::process::id())), 0o600)
            .unwrap();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
    let mut held = Vec::new();
    let first = loop {
        match EventCounter::new(0) {
            Ok(counter) => held.push(counter),
            Err(error) => break error,
        }
    };
    let none = std::env::temp_dir().join(format!("zorb-ipc-no-fifo-{}", std::process::id()));
    let errors: [Error; 9] = [
        Fifo::create(&none, 0o600).unwrap_err(),
        first,
        pipe().unwrap_err(),
        fifo.reader().unwrap_err(),
        fifo.writer_by(soon()).unwrap_err(),
        Memfd::create("none", 1).unwrap_err(),
        EventSemaphore::new(0).unwrap_err(),
        Timer::new().unwrap_err(),
        WallClockTimer::new().unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_descriptors_exhausted() && error.step() == zorb_ipc::Step::Open, "{error}");
    }
    assert!(!none.exists(), "what was made of it is gone again");
    drop(held);
    all_kinds();
}
