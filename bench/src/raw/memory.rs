//! The floor of shared memory: a place for octets each way in memory that both processes have, and a bare futex for each.
//!
//! ```text
//! word: 0, nothing there │ n, so many octets │ top bit: who sends waits for room
//! ```
//!
//! Whoever waits sleeps; nobody looks twice. As bare as it is, a peer that dies leaves the other one asleep.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use rustix::thread::futex::{self, Flags};
use zorb_ipc::{RingSize, Segment, SegmentOptions, ShmOptions, ShmRole, ShmStream, UnixStream};

use super::floor::Shm;
use super::stream::{Side, Stream};

/// Octets of one place: more than any message of a round trip that is measured.
const PLACE: usize = 1 << 20;
/// The words, and where the places begin.
const WORDS: [usize; 2] = [0, 256];
const PLACES: usize = 4096;
const WHOLE: usize = PLACES + 2 * PLACE;

/// Who sends waits until the place is free.
const WANTED: u32 = 1 << 31;

/// How long setting up may take.
const WITHIN: Duration = Duration::from_secs(20);

/// Memory that two processes have in common, as one of them sees it.
pub(super) struct BareMemory {
    memory: Segment,
    /// The place that this side fills, and the other one.
    out: usize,
    into: usize,
    /// Octets of what is in the other place that were taken.
    taken: usize,
    /// Neither side ever sleeps.
    pub(super) spins: bool,
    /// Whose death ends the conversation: nobody reads it.
    _socket: UnixStream,
}

impl BareMemory {
    fn word(&self, place: usize) -> io::Result<&AtomicU32> {
        Ok(self.memory.word32(WORDS[place])?)
    }
}

fn sleep(word: &AtomicU32, found: u32) {
    // Woken, interrupted or too late: whoever sleeps looks again.
    let _ = futex::wait(word, Flags::empty(), found, None);
}

impl Stream for BareMemory {
    type Family = Shm;

    fn of(socket: UnixStream, side: Side) -> io::Result<BareMemory> {
        let by = Instant::now() + WITHIN;
        let options = SegmentOptions::new().words32(0..PLACES).populate(true);
        let memory = match side {
            Side::Client => {
                let memory = Segment::create("zorb-bench", WHOLE, &options)?;
                socket.send_passing(&[0], &[memory.memory().as_fd()], by)?;
                memory
            }
            Side::Server => {
                let passed = socket.receive_passed(&mut [0], by)?.descriptors.pop();
                let passed = passed.ok_or(io::ErrorKind::InvalidData)?;
                Segment::adopt(passed, WHOLE..=WHOLE, &options)
                    .map_err(|refused| io::Error::other(refused.to_string()))?
            }
        };
        let (out, into) = if side == Side::Client { (0, 1) } else { (1, 0) };
        Ok(BareMemory { memory, out, into, taken: 0, spins: false, _socket: socket })
    }

    fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
        let word = self.word(self.out)?;
        for part in octets.chunks(PLACE) {
            loop {
                let found = word.load(Acquire);
                if found == 0 {
                    break;
                }
                if self.spins {
                    std::hint::spin_loop();
                } else if found & WANTED != 0
                    || word.compare_exchange(found, found | WANTED, Relaxed, Relaxed).is_ok()
                {
                    sleep(word, found | WANTED);
                }
            }
            self.memory.copy_in(PLACES + self.out * PLACE, part)?;
            // A place has fewer octets than that.
            word.store(part.len() as u32, Release);
            if !self.spins {
                let _ = futex::wake(word, Flags::empty(), 1);
            }
        }
        Ok(())
    }

    fn receive_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < into.len() {
            let word = self.word(self.into)?;
            let found = word.load(Acquire);
            let there = (found & !WANTED) as usize;
            if there == 0 {
                match self.spins {
                    true => std::hint::spin_loop(),
                    false => sleep(word, found),
                }
                continue;
            }
            let count = (there - self.taken).min(into.len() - filled);
            let at = PLACES + self.into * PLACE + self.taken;
            self.memory.copy_out(at, &mut into[filled..filled + count])?;
            filled += count;
            let taken = self.taken + count;
            if taken == there && word.swap(0, Release) & WANTED != 0 {
                let _ = futex::wake(word, Flags::empty(), 1);
            }
            self.taken = if taken == there { 0 } else { taken };
        }
        Ok(())
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.send_all(head)?;
        self.send_all(body)
    }

    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        self.receive_exact(body).map(|()| 0)
    }

    fn set_patience(&self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

/// The typed channel, and how long one transfer of it may take.
pub(super) struct Channel {
    stream: ShmStream,
    patience: std::cell::Cell<Duration>,
}

impl Channel {
    fn by(&self) -> Instant {
        Instant::now() + self.patience.get()
    }
}

impl Stream for Channel {
    type Family = Shm;

    fn of(socket: UnixStream, side: Side) -> io::Result<Channel> {
        // As large as zorb's.
        let options = ShmOptions::new().ring(RingSize::new(128 << 10)?);
        let role = if side == Side::Client { ShmRole::Initiator } else { ShmRole::Responder };
        let stream = ShmStream::over(socket, role, &options, Instant::now() + WITHIN)
            .map_err(|refused| io::Error::other(refused.to_string()))?;
        Ok(Channel { stream, patience: Duration::from_secs(3600).into() })
    }

    fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
        Ok(self.stream.send_all(&mut [io::IoSlice::new(octets)], self.by())?)
    }

    fn receive_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        Ok(self.stream.receive_exact(into, self.by())?)
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        Ok(self.stream.send_all(&mut [io::IoSlice::new(head), io::IoSlice::new(body)], self.by())?)
    }

    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        self.receive_exact(body).map(|()| 0)
    }

    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.patience.set(patience);
        Ok(())
    }
}
