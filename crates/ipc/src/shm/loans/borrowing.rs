//! The side that is lent to: whose memory has which place, what is said of the next loan, and what is read in place.

#![allow(
    unsafe_code,
    reason = "trust is given by an unsafe call, and then memory that a peer has is read in place"
)]

use std::fmt;
use std::io::IoSliceMut;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use rustix::io::Errno;

use super::super::layout::Lane;
use super::super::ring::Broken;
use super::{CLEARED, PLACED, PLACES, RECORDS, Record};
use crate::memory::OthersMemory;
use crate::{Segment, UnixStream};

/// That peers are trusted not to write memory that they have lent, as long as it was not given back.
///
/// What a peer lends may be written by the peer's process alone; who has this reads it in place
/// ([`ShmStream::receive_lent`](crate::ShmStream::receive_lent)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedPeers(());

impl TrustedPeers {
    /// Says so.
    ///
    /// # Safety
    /// Whoever can be at the other end of a channel whose options have this is a process that runs code of this crate, or such that does as it does: it
    /// writes no octet of memory that it has sent by a channel before it was given back. Where that does not hold, a slice here
    /// changes while it is borrowed, which is undefined. What does hold it: peers of one's own programs, with acceptors whose address others cannot
    /// reach, or that check [who the peer is](crate::ShmStream::peer_credentials).
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

/// What is read of the socket at once, and how often: a peer that sends on and on there keeps nobody.
const AT_ONCE: usize = 256;
const TIMES: usize = PLACES;

/// The books of one channel.
pub(in super::super) struct Borrowing {
    segment: Arc<Segment>,
    lane: Lane,
    /// Octets that are mapped at the most, and that are.
    most: usize,
    mapped: usize,
    places: Vec<Place>,
    /// Records that were read, modulo 2³².
    taken: u32,
    /// What was said of the next loan: read once. And how much of it was taken.
    current: Option<Current>,
    done: u32,
}

/// A loan that comes next.
struct Current {
    record: Record,
    memory: Arc<OthersMemory>,
}

#[derive(Default)]
struct Place {
    memory: Option<Arc<OthersMemory>>,
    edition: u16,
}

/// What the socket held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Heard {
    /// Octets, or none.
    All,
    /// The other side's end of it is closed.
    End,
}

impl Borrowing {
    pub(in super::super) fn new(segment: Arc<Segment>, lane: Lane, most: usize) -> Self {
        lane.takes(&segment).store(u32::try_from(most >> 20).unwrap_or(u32::MAX), Release);
        Self { segment, lane, most, mapped: 0, places: Vec::new(), taken: 0, current: None, done: 0 }
    }

    pub(in super::super) fn taken(&self) -> u32 {
        self.taken
    }

    /// Takes what the socket holds: doorbells, which are forgotten, and what is said of places.
    pub(in super::super) fn hear(&mut self, socket: &UnixStream) -> Heard {
        let mut octets = [0; AT_ONCE];
        for _ in 0..TIMES {
            let mut descriptors = Vec::new();
            let count = match socket.take_passed(&mut octets, &mut descriptors) {
                Err(Errno::AGAIN | Errno::NOMEM | Errno::NOBUFS) => return Heard::All,
                Ok(0) | Err(_) => return Heard::End,
                Ok(count) => count,
            };
            let is_last = count < AT_ONCE && descriptors.is_empty();
            let mut descriptors = descriptors.into_iter();
            for octet in octets.iter().take(count) {
                match octet & 0xc0 {
                    // Octets with descriptors are received together with none behind them.
                    PLACED => self.place(usize::from(octet & 0x3f), descriptors.next()),
                    CLEARED => self.clear(usize::from(octet & 0x3f)),
                    _ => {}
                }
            }
            if is_last {
                return Heard::All;
            }
        }
        Heard::All
    }

    /// Maps memory. What cannot be is left out: what is said to lie there then is not there.
    fn place(&mut self, place: usize, memory: Option<OwnedFd>) {
        self.clear(place);
        let memory = memory.and_then(|fd| OthersMemory::adopt(fd, self.most - self.mapped).ok());
        if self.places.len() <= place {
            self.places.resize_with(place + 1, Place::default);
        }
        let at = &mut self.places[place];
        at.edition = at.edition.wrapping_add(1);
        self.mapped += memory.as_ref().map_or(0, OthersMemory::octets);
        at.memory = memory.map(Arc::new);
    }

    fn clear(&mut self, place: usize) {
        let memory = self.places.get_mut(place).and_then(|place| place.memory.take());
        self.mapped -= memory.map_or(0, |memory| memory.octets());
    }

    /// How many octets of the ring come before the next loan's, if one was handed over: `lent` says how many were.
    pub(in super::super) fn ahead(
        &mut self,
        lent: u32,
        tail: u32,
        socket: &UnixStream,
    ) -> Result<Option<u32>, Broken> {
        let waiting = lent.wrapping_sub(self.taken);
        if waiting == 0 {
            return Ok(None);
        }
        if waiting as usize > RECORDS {
            return Err(Broken);
        }
        if self.current.is_none() {
            let words = self.lane.record(&self.segment, self.taken as usize % RECORDS);
            let record = Record::from_words(words.map(|word| word.load(Relaxed))).ok_or(Broken)?;
            if self.memory(&record).is_none() {
                // It was said before the record was written.
                self.hear(socket);
            }
            let memory = Arc::clone(self.memory(&record).ok_or(Broken)?);
            self.current = Some(Current { record, memory });
        }
        let position = self.current.as_ref().map_or(0, |current| current.record.position);
        let ahead = position.wrapping_sub(tail);
        if (ahead as usize) < self.lane.capacity() { Ok(Some(ahead)) } else { Err(Broken) }
    }

    /// What those octets lie in, if there is such.
    fn memory(&self, record: &Record) -> Option<&Arc<OthersMemory>> {
        let place = self.places.get(record.place).filter(|place| place.edition == record.edition)?;
        let end = record.offset as usize + record.length as usize;
        place.memory.as_ref().filter(|memory| end <= memory.octets())
    }

    /// Copies what is left of the loan that [`ahead`](Self::ahead) named, as much as there is room for. And whether that was all of it: then its octet is to be taken
    /// from the ring.
    pub(in super::super) fn copy(&mut self, into: &mut [IoSliceMut<'_>], keep: bool) -> (usize, bool) {
        let Some(Current { record, memory }) = &self.current else { return (0, false) };
        let (mut at, left) = ((record.offset + self.done) as usize, (record.length - self.done) as usize);
        let mut copied = 0;
        for slice in into {
            let octets = slice.len().min(left - copied);
            if !memory.copy_out(at, &mut slice[..octets]) {
                break;
            }
            (at, copied) = (at + octets, copied + octets);
        }
        if keep {
            return (copied, false);
        }
        let place = record.place;
        self.done += copied as u32;
        let all = copied == left;
        if all {
            self.next();
            self.lane.returned(&self.segment, place).fetch_add(1, Release);
        }
        (copied, all)
    }

    fn next(&mut self) {
        (self.current, self.done) = (None, 0);
        self.taken = self.taken.wrapping_add(1);
    }

    /// All of the loan that [`ahead`](Self::ahead) named, in place, if nothing of it was taken and it is no more than that; its octet is then
    /// to be taken from the ring.
    pub(in super::super) fn lend(&mut self, most: usize, _: TrustedPeers) -> Option<LentBytes> {
        let fits = |current: &mut Current| self.done == 0 && current.record.length as usize <= most;
        let Current { record, memory } = self.current.take_if(fits)?;
        self.next();
        Some(LentBytes { memory, record, segment: Arc::clone(&self.segment), lane: self.lane })
    }
}

/// Octets that a peer has lent, in place. Dropped, they are given back: the peer may then write them.
pub struct LentBytes {
    memory: Arc<OthersMemory>,
    record: Record,
    segment: Arc<Segment>,
    lane: Lane,
}

impl Deref for LentBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: whoever made the channel's options has said, by an unsafe call, that the peer does not write what it has lent before it was given
        // back, which the drop of this does.
        unsafe { self.memory.octets_at(self.record.offset as usize, self.record.length as usize) }
    }
}

impl AsRef<[u8]> for LentBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for LentBytes {
    fn drop(&mut self) {
        self.lane.returned(&self.segment, self.record.place).fetch_add(1, Release);
    }
}

impl fmt::Debug for LentBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentBytes").field("octets", &self.record.length).finish_non_exhaustive()
    }
}
