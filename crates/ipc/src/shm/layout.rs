//! Where everything lies in the memory. Words are of 32 bits in the machine's byte order, as the memory never leaves it.
//!
//! ```text
//! offset            written by
//!      0  magic     initiator, before it passes the memory on
//!      4  version   initiator, likewise
//!      8  octets of each ring: initiator, likewise
//!    128  lane from initiator to responder
//!    640  lane from responder to initiator
//!   2048  references to slabs from the initiator: 64 of two words, position, and slab and length: initiator
//!   2560  references to slabs from the responder: responder
//!   3072  records of loans from the initiator: 16 of four words (`loans/mod.rs`): initiator
//!   3328  records of loans from the responder: responder
//!   3584  how many loans of each of 64 places came back from the responder: responder
//!   3840  how many of each came back from the initiator: initiator
//!   4096  ring from initiator to responder
//!   4096 + ring     ring from responder to initiator
//!
//! a lane, of 512 octets; each group on two cache lines of its own, as processors fetch them in pairs
//!      0  head      producer: position behind the last octet put in
//!      4  ended     producer: 1 when there will be no more
//!      8  posted    producer: how many slabs it has handed over
//!     12  lent      producer: how many loans it has handed over
//!    128  tail      consumer: position behind the last octet taken out
//!    132  takes     consumer: how many MiB of loans it maps at the most
//!    256  data      consumer sets its bits, producer clears them: doorbell for octets
//!    260  gone      consumer: 1 when it takes no more
//!    384  room      producer sets its bits, consumer clears them: doorbell for room
//! ```

use std::sync::atomic::AtomicU32;

use super::RingSize;
use super::loans::{PLACES, RECORDS};
use crate::{Error, Segment, SegmentOptions, SharedFutex};

pub(super) const MAGIC: u32 = u32::from_ne_bytes(*b"zrbS");
pub(super) const VERSION: u32 = 1;

const MAGIC_AT: usize = 0;
const VERSION_AT: usize = 4;
const RING_AT: usize = 8;
const LANES_AT: usize = 128;
const LANE: usize = 512;
const REFERENCES_AT: usize = 2048;
/// Octets of the references of one direction, and of one of them.
const REFERENCES: usize = 512;
const REFERENCE: usize = 8;
/// How many slabs one direction has at the most.
pub(super) const MOST_SLABS: usize = REFERENCES / REFERENCE;
/// Where the records of loans are, octets of those of one direction, and of one of them.
const RECORDS_AT: usize = 3072;
const RECORDS_OF_ONE: usize = RECORDS * RECORD;
const RECORD: usize = 16;
/// Where is counted what came back of them, and octets of one direction.
const RETURNED_AT: usize = RECORDS_AT + 2 * RECORDS_OF_ONE;
const RETURNED_OF_ONE: usize = PLACES * 4;
const RINGS_AT: usize = 4096;

const _: () = assert!(RETURNED_AT + 2 * RETURNED_OF_ONE == RINGS_AT);

const HEAD: usize = 0;
const ENDED: usize = 4;
const POSTED: usize = 8;
const LENT: usize = 12;
const TAIL: usize = 128;
const TAKES: usize = 132;
const DATA: usize = 256;
const GONE: usize = 260;
const ROOM: usize = 384;

/// Octets of the memory whose rings have that size. `None`: more than this process could address.
pub(super) fn octets(ring: RingSize) -> Option<usize> {
    ring.octets().checked_mul(2)?.checked_add(RINGS_AT)
}

/// All of the control page is words.
pub(super) fn mapped() -> SegmentOptions {
    SegmentOptions::new().words32(0..RINGS_AT).populate(true)
}

/// Says what the memory is.
pub(super) fn inscribe(segment: &Segment, ring: RingSize) {
    use std::sync::atomic::Ordering::Relaxed;
    word(segment, MAGIC_AT).store(MAGIC, Relaxed);
    word(segment, VERSION_AT).store(VERSION, Relaxed);
    word(segment, RING_AT).store(ring.octets() as u32, Relaxed);
}

/// Whether the memory says that it is such.
pub(super) fn is_inscribed(segment: &Segment, ring: RingSize) -> bool {
    use std::sync::atomic::Ordering::Relaxed;
    let read = |at| word(segment, at).load(Relaxed);
    read(MAGIC_AT) == MAGIC && read(VERSION_AT) == VERSION && read(RING_AT) == ring.octets() as u32
}

/// One direction: its words, and its ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    words: usize,
    references: usize,
    records: usize,
    returned: usize,
    ring: usize,
    capacity: usize,
}

impl Lane {
    pub(super) fn from_initiator(ring: RingSize) -> Self {
        Self {
            words: LANES_AT,
            references: REFERENCES_AT,
            records: RECORDS_AT,
            returned: RETURNED_AT,
            ring: RINGS_AT,
            capacity: ring.octets(),
        }
    }

    pub(super) fn from_responder(ring: RingSize) -> Self {
        let capacity = ring.octets();
        Self {
            words: LANES_AT + LANE,
            references: REFERENCES_AT + REFERENCES,
            records: RECORDS_AT + RECORDS_OF_ONE,
            returned: RETURNED_AT + RETURNED_OF_ONE,
            ring: RINGS_AT + capacity,
            capacity,
        }
    }

    /// Octets of the ring.
    #[inline]
    pub(super) fn capacity(self) -> usize {
        self.capacity
    }

    #[inline]
    pub(super) fn head(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + HEAD)
    }

    #[inline]
    pub(super) fn ended(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + ENDED)
    }

    #[inline]
    pub(super) fn posted(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + POSTED)
    }

    #[inline]
    pub(super) fn lent(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + LENT)
    }

    #[inline]
    pub(super) fn takes(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + TAKES)
    }

    /// The words of a loan's record.
    pub(super) fn record(self, segment: &Segment, number: usize) -> [&AtomicU32; 4] {
        let at = self.records + number % RECORDS * RECORD;
        [0, 4, 8, 12].map(|offset| word(segment, at + offset))
    }

    /// How many loans of a place came back.
    pub(super) fn returned(self, segment: &Segment, place: usize) -> &AtomicU32 {
        word(segment, self.returned + place % PLACES * 4)
    }

    /// Where the words of a reference to a slab are: position, slab and length.
    pub(super) fn reference(self, place: usize) -> (usize, usize) {
        let at = self.references + place % MOST_SLABS * REFERENCE;
        (at, at + 4)
    }

    #[inline]
    pub(super) fn tail(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + TAIL)
    }

    #[inline]
    pub(super) fn gone(self, segment: &Segment) -> &AtomicU32 {
        word(segment, self.words + GONE)
    }

    #[inline]
    pub(super) fn data(self, segment: &Segment) -> SharedFutex<'_> {
        SharedFutex::of(word(segment, self.words + DATA))
    }

    #[inline]
    pub(super) fn room(self, segment: &Segment) -> SharedFutex<'_> {
        SharedFutex::of(word(segment, self.words + ROOM))
    }

    /// Copies into the ring from a place on, and round its end.
    #[inline]
    pub(super) fn put(self, segment: &Segment, place: usize, from: &[u8]) -> Result<(), Error> {
        let (to_end, round) = from.split_at(from.len().min(self.capacity - place));
        segment.copy_in(self.ring + place, to_end)?;
        if round.is_empty() { Ok(()) } else { segment.copy_in(self.ring, round) }
    }

    /// Copies out of the ring from a place on, and round its end.
    #[inline]
    pub(super) fn take(self, segment: &Segment, place: usize, into: &mut [u8]) -> Result<(), Error> {
        let (to_end, round) = into.split_at_mut(into.len().min(self.capacity - place));
        segment.copy_out(self.ring + place, to_end)?;
        if round.is_empty() { Ok(()) } else { segment.copy_out(self.ring, round) }
    }
}

/// One of the words above, which were declared when the memory was mapped, all of them.
#[inline]
pub(super) fn word(segment: &Segment, at: usize) -> &AtomicU32 {
    segment.word32(at).expect("the control page was mapped as words")
}
