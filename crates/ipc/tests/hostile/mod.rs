//! The end of a channel that is in bad faith: it has the memory as its peer has, and the socket, and no manners.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_add_seals};
use zorb_ipc::{Memfd, RingSize, Segment, SegmentOptions, ShmOptions, Slabs, UnixStream};

pub(crate) const RING: usize = 4096;
const OCTETS: usize = 4096 + 2 * RING;
/// Slabs of each direction, of 4 KiB: what the honest end sends and receives at once is often worth one.
const SLABS: usize = 4;
const SLABS_OCTETS: usize = 2 * SLABS * 4096;

/// What both ends are set up with.
pub(crate) fn options() -> ShmOptions {
    ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(Slabs::new(SLABS, 4096).unwrap()))
}

/// Octets of the memory that it lends.
const LENT_OCTETS: usize = 3 * 4096;
/// Places that it uses for it.
const PLACES: usize = 3;

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// Numbers that look like any.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }
}

/// What it is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// All memory there is, words of all kinds most of all. Found out at once.
    Everything,
    /// Positions, ends and references to slabs, by values that could be: the honest end goes on for long.
    Lies,
    /// Doorbells and data alone, which nobody can find out.
    Doorbells,
}

impl Aim {
    pub(crate) const ALL: [Aim; 3] = [Aim::Everything, Aim::Lies, Aim::Doorbells];
}

// The lanes and the words of one, as the library's layout has them.
const LANES: usize = 128;
const HEAD: usize = 0;
const ENDED: usize = 4;
const POSTED: usize = 8;
const LENT: usize = 12;
const TAIL: usize = 128;
const DATA: usize = 256;
const GONE: usize = 260;
const ROOM: usize = 384;
/// Above the length of what a slab holds: which slab.
const SLAB_SHIFT: u32 = 25;

/// What the hostile end can reach.
pub(crate) struct Reached {
    memory: Segment,
    slabs: Segment,
    /// What it lends, and how often it was passed on in each place.
    lent: OwnedFd,
    editions: [AtomicU32; PLACES],
    pub(crate) socket: UnixStream,
    /// Its lanes: the one that it fills, and the one that it empties.
    outgoing: usize,
    incoming: usize,
}

/// Memory as it is lent, but that nobody has anything in it.
fn lent() -> OwnedFd {
    let memory = Memfd::create("hostile loan", LENT_OCTETS as u64).unwrap().fix_size().unwrap();
    fcntl_add_seals(&memory, SealFlags::FUTURE_WRITE | SealFlags::SEAL).unwrap();
    memory.into()
}

impl Reached {
    fn options() -> SegmentOptions {
        SegmentOptions::new().words32(0..4096)
    }

    /// As the initiator: what it says when the channel is set up is as it should be.
    pub(crate) fn initiate(socket: UnixStream) -> Self {
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
        Self {
            memory,
            slabs,
            lent: lent(),
            editions: Default::default(),
            socket,
            outgoing: LANES,
            incoming: LANES + 512,
        }
    }

    /// As the responder.
    pub(crate) fn respond(socket: UnixStream) -> Self {
        let mut passed = socket.receive_passed(&mut [0; 16], soon()).unwrap();
        let slabs = passed.descriptors.pop().unwrap();
        let slabs = Segment::adopt(slabs, SLABS_OCTETS..=SLABS_OCTETS, &SegmentOptions::new()).unwrap();
        let memory = passed.descriptors.pop().unwrap();
        let memory = Segment::adopt(memory, OCTETS..=OCTETS, &Self::options()).unwrap();
        Self {
            memory,
            slabs,
            lent: lent(),
            editions: Default::default(),
            socket,
            outgoing: LANES + 512,
            incoming: LANES,
        }
    }

    /// As fast as it can, until told to stop.
    pub(crate) fn scribble(&self, random: &mut Random, aim: Aim, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            for _ in 0..64 {
                self.step(random, aim);
            }
        }
    }

    pub(crate) fn step(&self, random: &mut Random, aim: Aim) {
        let lane = LANES + 512 * random.below(2);
        match (random.below(16), aim) {
            (0..4, _) => self.change(lane + [DATA, ROOM][random.below(2)], random),
            (4, _) => self.overwrite(random),
            (5, _) if random.below(64) == 0 => self.disturb(random, aim),
            (_, Aim::Doorbells) => self.change(lane + [DATA, ROOM][random.below(2)], random),
            (6..12, Aim::Everything) => {
                let words = [HEAD, ENDED, POSTED, LENT, TAIL, GONE];
                self.change(lane + words[random.below(words.len())], random);
            }
            (12..14, Aim::Everything) => {
                self.change(2048 + 512 * random.below(2) + 4 * random.below(2 * SLABS), random)
            }
            (_, Aim::Everything) => self.change(4 * random.below(1024), random),
            (_, Aim::Lies) => self.lie(random),
        }
    }

    /// Any change at all.
    fn change(&self, at: usize, random: &mut Random) {
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
    }

    /// What a peer in good faith could write into its own words, though not at that time; and now and then a little more.
    fn lie(&self, random: &mut Random) {
        let read = |at: usize| self.memory.word32(at).unwrap().load(Relaxed);
        let write = |at: usize, value: u32| self.memory.word32(at).unwrap().store(value, Relaxed);
        let (out, back) = (self.outgoing, self.incoming);
        let (head, tail) = (read(out + HEAD), read(out + TAIL));
        let room = (RING as u32).saturating_sub(head.wrapping_sub(tail));
        let too_much = u32::from(random.below(20_000) == 0);
        match random.below(8) {
            // More octets than were sent.
            0 | 1 => {
                let more = random.below(room as usize + 1) as u32;
                write(out + HEAD, head.wrapping_add(more + too_much * RING as u32));
            }
            // Room where nothing was received.
            2 | 3 => {
                let (head, tail) = (read(back + HEAD), read(back + TAIL));
                let unread = head.wrapping_sub(tail).min(RING as u32) as usize;
                write(back + TAIL, tail.wrapping_add(random.below(unread + 1) as u32 + too_much));
            }
            // A loan, one at a time, of memory that was mostly passed on.
            4 if room == RING as u32 => {
                let place = random.below(PLACES);
                let edition = self.editions[place].load(Relaxed);
                let edition = if edition == 0 || random.below(4) == 0 { self.pass(place) } else { edition };
                let lent = read(out + LENT);
                let record = 3072 + (out - LANES) / 2 + 16 * (lent as usize % 16);
                let (offset, length) = (random.below(LENT_OCTETS / 2), 1 + random.below(LENT_OCTETS / 2));
                write(record, head);
                let strange = if too_much > 0 { random.next() as u32 } else { 0 };
                write(record + 4, ((edition << 16) | place as u32).wrapping_add(strange));
                write(record + 8, offset as u32);
                write(record + 12, (length as u32).wrapping_add(strange));
                write(out + LENT, lent.wrapping_add(1));
                write(out + HEAD, head.wrapping_add(1));
            }
            // A slab that nothing was put into, one at a time.
            5..7 if room == RING as u32 => {
                let posted = read(out + POSTED);
                let reference = 2048 + (out - LANES) + 8 * (posted as usize % SLABS);
                write(reference, head);
                let (slab, length) = (random.below(SLABS) as u32, 1 + random.below(4096) as u32);
                write(
                    reference + 4,
                    ((slab << SLAB_SHIFT) | length) + too_much * (random.next() as u32 >> 8),
                );
                write(out + POSTED, posted.wrapping_add(1));
                write(out + HEAD, head.wrapping_add(1));
            }
            // An end, which mostly is none.
            _ => {
                let at = [out + ENDED, back + GONE][random.below(2)];
                write(at, u32::from(random.below(1024) == 0));
            }
        }
    }

    /// Passes the memory on that it lends; how often it has.
    fn pass(&self, place: usize) -> u32 {
        match self.socket.send_passing(&[0x80 | place as u8], &[self.lent.as_fd()], Instant::now()) {
            Ok(()) => (self.editions[place].fetch_add(1, Relaxed) + 1) & 0xffff,
            Err(_) => self.editions[place].load(Relaxed),
        }
    }

    /// Octets that wait to be received.
    fn overwrite(&self, random: &mut Random) {
        let piece = [random.next() as u8; 1000];
        self.memory.copy_in(4096 + random.below(2 * RING - piece.len()), &piece).unwrap();
        self.slabs.copy_in(random.below(SLABS_OCTETS - piece.len()), &piece).unwrap();
    }

    /// What can be done by the socket: octets, descriptors that nobody asked for, reading what is for others, and, unless
    /// that would give it away, its end.
    fn disturb(&self, random: &mut Random, aim: Aim) {
        let _ = match random.below(16) {
            0..6 => self.socket.send_now(&[IoSlice::new(&[0; 300][..1 + random.below(299)])]).map(drop),
            6 if aim == Aim::Everything => {
                // Memory that is not fit for it, in some place or other, and places that are empty.
                let octet = [0x80 | random.next() as u8, 0xc0 | random.next() as u8];
                self.socket.send_passing(&octet, &[self.memory.memory().as_fd()], Instant::now()).map(drop)
            }
            6..8 => self.socket.send_passing(b"x", &[self.memory.memory().as_fd()], Instant::now()).map(drop),
            8..15 => self.socket.receive_slices_now(&mut [IoSliceMut::new(&mut [0; 300])]).map(drop),
            _ if aim != Aim::Doorbells && random.below(64) == 0 => self.socket.shutdown_both(),
            _ => Ok(()),
        };
    }
}
