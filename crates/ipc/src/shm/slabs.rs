//! Slabs: memory beside the rings for what is too much for them. Who sends copies much data into a free slab, and puts
//! one octet into the ring in its place, to which a reference belongs: where that octet stands, and how much the slab
//! holds. All that is said of octets in the ring holds for that one: order, doorbells, ends, and the room it takes.
//!
//! ```text
//! ring     … o o o o S o o …        S: one octet, taken when all of the slab was
//!                    │
//! reference   position, slab and length       the k-th handed over is in the k-th place, modulo their number
//! ```
//!
//! Slabs are taken in the order in which they were handed over, so each is given back by the position of who receives, which
//! has passed its octet: no message, no further word. Each side counts on its own. References and slabs are released (Release) with `posted`, before the octet is; who receives
//! acquires `posted` (Acquire) after it saw the octet.
//!
//! Which slab is filled follows from what the processor has in its caches. Who has heard from the other since it last filled
//! one begins with the first again: calls one after the other use the same slabs, which stay in the cache, and no
//! more take memory. Who sends on and on goes round all of them: to write what another processor has just read takes
//! longer than to write what that has let go of.
//!
//! Their memory is a second memfd, sealed as the first. Its pages are taken when a slab is used for the first time, by
//! who sends; who receives sees to it on its own, so that no access finds a hole. Who sends may give the pages of free slabs
//! back while nothing is to be sent: nobody looks into them before they are filled again.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use std::sync::{Mutex, PoisonError};

use super::ring::Broken;
use super::word::Word;
use super::{ShmRole, Slabs};
use crate::{Error, Segment};

/// What is said about a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) position: u32,
    pub(super) slab: usize,
    pub(super) length: u32,
}

/// Bits of a length: slabs have up to 2²⁴ octets. Those above say which slab it is.
const LENGTH_BITS: u32 = 25;

/// The words of one reference.
pub(super) struct ReferenceWords<'w, W> {
    pub(super) position: &'w W,
    pub(super) content: &'w W,
}

/// The books of the side that fills slabs.
#[derive(Debug)]
pub(super) struct Filling {
    /// How many were handed over, and how many of these came back, modulo 2³².
    posted: u32,
    returned: u32,
    /// Where the octet of each that was handed over stands, and which slab it is.
    out: Vec<(u32, usize)>,
    /// A bit for each that is free.
    free: u64,
    /// Which is looked at first, and what of the other direction had been taken when the last was filled.
    next: usize,
    heard: u32,
}

impl Filling {
    pub(super) fn new(count: u32) -> Self {
        let free = u64::MAX >> (64 - count.clamp(1, 64));
        Self { posted: 0, returned: 0, out: vec![(0, 0); count as usize], free, next: 0, heard: 0 }
    }

    /// How far this end has come in what the other sends: it begins with the first slab again if that is further than it was.
    pub(super) fn hear(&mut self, position: u32) {
        if self.heard != position {
            (self.heard, self.next) = (position, 0);
        }
    }

    /// A slab that is free, if one is: the ring's positions say what was taken.
    pub(super) fn free(&mut self, head: u32, tail: u32) -> Option<usize> {
        let unread = head.wrapping_sub(tail);
        while self.returned != self.posted {
            let (position, slab) = self.out[self.place(self.returned)];
            // One that stands in the ring is never further back than what is unread.
            if head.wrapping_sub(position) <= unread {
                break;
            }
            self.free |= 1 << slab;
            self.returned = self.returned.wrapping_add(1);
        }
        let ahead = self.free & (u64::MAX << self.next);
        let first = if ahead != 0 { ahead } else { self.free };
        (first != 0).then(|| first.trailing_zeros() as usize)
    }

    /// Hands the slab over that [`free`](Self::free) named. The octet at its position must follow.
    pub(super) fn post<'w, W: Word + 'w>(
        &mut self,
        posted: &W,
        words: impl FnOnce(usize) -> ReferenceWords<'w, W>,
        said: Reference,
    ) {
        let place = self.place(self.posted);
        self.out[place] = (said.position, said.slab);
        self.free &= !(1 << said.slab);
        self.next = (said.slab + 1) & (self.out.len() - 1);
        let words = words(place);
        words.position.store(said.position, Relaxed);
        words.content.store((said.slab as u32) << LENGTH_BITS | said.length, Relaxed);
        self.posted = self.posted.wrapping_add(1);
        posted.store(self.posted, Release);
    }

    /// They are a power of two, so the count may go round.
    fn place(&self, number: u32) -> usize {
        number as usize & (self.out.len() - 1)
    }
}

/// The books of the side that empties them.
#[derive(Debug)]
pub(super) struct Emptying {
    size: u32,
    count: u32,
    taken: u32,
    /// What was said of the next one: read once. And how much of it was taken.
    current: Option<Reference>,
    done: u32,
}

impl Emptying {
    pub(super) fn new(size: u32, count: u32) -> Self {
        Self { size, count, taken: 0, current: None, done: 0 }
    }

    /// How many octets of the ring come before the next slab's, if one was handed over.
    pub(super) fn ahead<'w, W: Word + 'w>(
        &mut self,
        posted: u32,
        tail: u32,
        capacity: u32,
        words: impl FnOnce(usize) -> ReferenceWords<'w, W>,
    ) -> Result<Option<u32>, Broken> {
        let waiting = posted.wrapping_sub(self.taken);
        if waiting == 0 {
            return Ok(None);
        }
        if waiting > self.count {
            return Err(Broken);
        }
        let current = match self.current {
            Some(current) => current,
            None => {
                let words = words(self.taken as usize & (self.count as usize - 1));
                let (position, content) = (words.position.load(Relaxed), words.content.load(Relaxed));
                let (slab, length) = (content >> LENGTH_BITS, content & ((1 << LENGTH_BITS) - 1));
                // One that is named twice holds what it holds twice: that harms nobody.
                if slab >= self.count || length == 0 || length > self.size {
                    return Err(Broken);
                }
                *self.current.insert(Reference { position, slab: slab as usize, length })
            }
        };
        let ahead = current.position.wrapping_sub(tail);
        if ahead < capacity { Ok(Some(ahead)) } else { Err(Broken) }
    }

    /// Which slab it is, what of it was taken, and what is left.
    pub(super) fn rest(&self) -> (usize, u32, u32) {
        let (slab, length) = self.current.map_or((0, 0), |current| (current.slab, current.length));
        (slab, self.done, length - self.done)
    }

    /// That much was taken; true when that was all, and its octet is to be taken from the ring.
    pub(super) fn take(&mut self, octets: u32) -> bool {
        self.done += octets;
        if self.rest().2 > 0 {
            return false;
        }
        (self.current, self.done) = (None, 0);
        self.taken = self.taken.wrapping_add(1);
        true
    }

    pub(super) fn taken(&self) -> u32 {
        self.taken
    }
}

/// The slabs of a channel, both ways, and this end's books of them.
pub(super) struct Bulk {
    memory: Segment,
    slabs: Slabs,
    outgoing: Mutex<Half<Filling>>,
    incoming: Mutex<Half<Emptying>>,
    /// As the books of the incoming ones say, for a look without the lock.
    taken: AtomicU32,
}

/// One direction.
struct Half<B> {
    books: B,
    /// Where its first slab begins.
    at: usize,
    /// A bit for each whose pages are known to be there.
    there: u64,
}

impl Bulk {
    pub(super) fn new(memory: Segment, slabs: Slabs, role: ShmRole) -> Self {
        let (count, size) = (slabs.count() as u32, slabs.octets() as u32);
        let (out, in_) = match role {
            ShmRole::Initiator => (0, slabs.total()),
            ShmRole::Responder => (slabs.total(), 0),
        };
        Self {
            memory,
            slabs,
            outgoing: Mutex::new(Half { books: Filling::new(count), at: out, there: 0 }),
            incoming: Mutex::new(Half { books: Emptying::new(size, count), at: in_, there: 0 }),
            taken: AtomicU32::new(0),
        }
    }

    /// From how many octets on a slab is used: half of one. A smaller part would waste what it holds.
    pub(super) fn threshold(&self) -> u32 {
        (self.slabs.octets() / 2) as u32
    }

    /// How much a slab takes.
    pub(super) fn size(&self) -> usize {
        self.slabs.octets()
    }

    /// Fills a slab, if one is free, by `copy`, which puts octets at an offset of its memory, and hands it over.
    /// False: none is free, or there is no memory for it.
    pub(super) fn fill(
        &self,
        (head, tail, heard): (u32, u32, u32),
        length: u32,
        posted: &AtomicU32,
        words: impl FnOnce(usize) -> ReferenceWordsOfMemory,
        segment: &Segment,
        copy: impl FnOnce(&Segment, usize) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let mut half = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        half.books.hear(heard);
        let Some(slab) = half.books.free(head, tail) else { return Ok(false) };
        let at = half.at + slab * self.slabs.octets();
        if half.there & (1 << slab) == 0 {
            if self.memory.fill(at, self.slabs.octets()).is_err() {
                return Ok(false);
            }
            half.there |= 1 << slab;
        }
        copy(&self.memory, at)?;
        let words = |place| reference_words(segment, words(place));
        half.books.post(posted, words, Reference { position: head, slab, length });
        Ok(true)
    }

    /// Gives the memory of those outgoing slabs back that are free; how many octets. What is used again is filled again.
    pub(super) fn give_back(&self, (head, tail): (u32, u32)) -> Result<usize, Error> {
        let mut half = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        // What has come back is counted there.
        half.books.free(head, tail);
        let mut given = 0;
        for slab in 0..self.slabs.count() {
            if half.there & half.books.free & (1 << slab) != 0 {
                let size = self.slabs.octets();
                self.memory.give_back(half.at + slab * size, size)?;
                half.there &= !(1 << slab);
                given += size;
            }
        }
        Ok(given)
    }

    /// How many octets of the ring come before the next slab's, if one was handed over.
    #[inline]
    pub(super) fn ahead(
        &self,
        posted: &AtomicU32,
        tail: u32,
        capacity: u32,
        words: impl FnOnce(usize) -> ReferenceWordsOfMemory,
        segment: &Segment,
    ) -> Result<Option<u32>, Broken> {
        let posted = posted.load(Acquire);
        if posted == self.taken.load(Relaxed) {
            return Ok(None);
        }
        let mut half = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        half.books.ahead(posted, tail, capacity, |place| reference_words(segment, words(place)))
    }

    /// Copies out of the slab that comes next, by `copy`, which is given the memory, an offset, and how much there is,
    /// and says how much it took. True: that was the last of it.
    pub(super) fn empty(
        &self,
        keep: bool,
        copy: impl FnOnce(&Segment, usize, usize) -> Result<usize, Error>,
    ) -> Result<(usize, bool), Error> {
        let mut half = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        let (slab, done, left) = half.books.rest();
        let at = half.at + slab * self.slabs.octets();
        if half.there & (1 << slab) == 0 {
            // The peer may have left holes.
            self.memory.fill(at, self.slabs.octets())?;
            half.there |= 1 << slab;
        }
        let octets = copy(&self.memory, at + done as usize, left as usize)?;
        let all = !keep && half.books.take(octets as u32);
        if all {
            self.taken.store(half.books.taken(), Relaxed);
        }
        Ok((octets, all))
    }
}

/// Offsets of a reference's words in the control page: position, slab and length.
type ReferenceWordsOfMemory = (usize, usize);

fn reference_words(
    segment: &Segment,
    (position, content): ReferenceWordsOfMemory,
) -> ReferenceWords<'_, AtomicU32> {
    let word = |at| super::layout::word(segment, at);
    ReferenceWords { position: word(position), content: word(content) }
}

#[cfg(all(test, not(zorb_loom)))]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::{Memfd, SegmentOptions};

    fn words(of: &[AtomicU32; 2]) -> ReferenceWords<'_, AtomicU32> {
        ReferenceWords { position: &of[0], content: &of[1] }
    }

    /// A channel's slabs, and the blocks of memory that they take.
    fn bulk(count: usize, octets: usize) -> (Bulk, Segment) {
        let slabs = Slabs::new(count, octets).unwrap();
        let memory = Memfd::create("slabs", 2 * slabs.total() as u64).unwrap().fix_size_with_holes().unwrap();
        let words = Segment::create("words", 4096, &SegmentOptions::new().words32(0..4096)).unwrap();
        (Bulk::new(memory.map(&SegmentOptions::new()).unwrap(), slabs, ShmRole::Initiator), words)
    }

    fn blocks(bulk: &Bulk) -> i64 {
        rustix::fs::fstat(bulk.memory.memory().as_fd()).unwrap().st_blocks
    }

    #[test]
    fn the_memory_of_free_slabs_goes_back_and_comes_again() {
        let (bulk, words) = bulk(4, 8192);
        let posted = super::super::layout::word(&words, 0);
        let fill = |head, tail| {
            let references = |place| (8 + 8 * place, 12 + 8 * place);
            let copy = |memory: &Segment, at| memory.copy_in(at, &[7; 8192]);
            bulk.fill((head, tail, 0), 8192, posted, references, &words, copy).unwrap()
        };
        assert_eq!(blocks(&bulk), 0);
        assert!((0..4).all(|head| fill(head, 0)) && !fill(4, 0), "four, and no more");
        assert_eq!(blocks(&bulk), 4 * 16);
        assert_eq!(bulk.give_back((4, 0)).unwrap(), 0, "nothing was taken");
        assert_eq!(bulk.give_back((4, 3)).unwrap(), 3 * 8192);
        assert_eq!(blocks(&bulk), 16);
        assert_eq!(bulk.give_back((4, 3)).unwrap(), 0, "once");
        assert!((4..7).all(|head| fill(head, 3)) && !fill(7, 3));
        assert_eq!(blocks(&bulk), 4 * 16);
        assert_eq!(bulk.give_back((7, 7)).unwrap(), 4 * 8192);
        assert_eq!(blocks(&bulk), 0);
    }

    fn content(slab: u32, length: u32) -> u32 {
        slab << LENGTH_BITS | length
    }

    #[test]
    fn a_slab_is_free_again_when_its_octet_was_taken_even_past_the_end_of_positions() {
        let (posted, said) = (AtomicU32::new(0), [AtomicU32::new(0), AtomicU32::new(0)]);
        let mut filling = Filling::new(2);
        let from = u32::MAX - 1;
        for step in 0..2 {
            let head = from.wrapping_add(step);
            assert_eq!(filling.free(head, from), Some(step as usize));
            filling.post(
                &posted,
                |_| words(&said),
                Reference { position: head, slab: step as usize, length: 1 },
            );
        }
        let head = from.wrapping_add(2);
        assert_eq!(filling.free(head, from), None, "both are out");
        assert_eq!(filling.free(head, from.wrapping_add(1)), Some(0), "the first came back");
        assert_eq!(posted.load(Relaxed), 2);
    }

    #[test]
    fn who_has_one_out_at_a_time_and_is_answered_uses_one() {
        let (posted, said) = (AtomicU32::new(0), [AtomicU32::new(0), AtomicU32::new(0)]);
        for count in [1, 4, 64] {
            let mut filling = Filling::new(count);
            for head in 0..100 {
                filling.hear(head + 1);
                assert_eq!(filling.free(head, head), Some(0), "{head} of {count}");
                filling.post(&posted, |_| words(&said), Reference { position: head, slab: 0, length: 1 });
            }
        }
    }

    #[test]
    fn who_is_not_answered_goes_round_those_that_are_free() {
        let (posted, said) = (AtomicU32::new(0), [AtomicU32::new(0), AtomicU32::new(0)]);
        let mut filling = Filling::new(4);
        let mut post = |head, tail| {
            let slab = filling.free(head, tail).expect("one is free");
            filling.post(&posted, |_| words(&said), Reference { position: head, slab, length: 1 });
            slab
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(|head| post(head, head)), [0, 1, 2, 3, 0, 1]);
        // From 5 on none is taken.
        assert_eq!([6, 7, 8].map(|head| post(head, 5)), [2, 3, 0]);
        assert_eq!(filling.free(9, 5), None);
        assert_eq!(filling.free(9, 6), Some(1));
        filling.hear(1);
        assert_eq!(filling.free(9, 9), Some(0));
    }

    #[test]
    fn all_are_used_when_all_are_out() {
        let (posted, said) = (AtomicU32::new(0), [AtomicU32::new(0), AtomicU32::new(0)]);
        for count in [1_u32, 2, 64] {
            let mut filling = Filling::new(count);
            for head in 0..count {
                let slab = filling.free(head, 0).expect("not all are out");
                assert_eq!(slab, head as usize);
                filling.post(&posted, |_| words(&said), Reference { position: head, slab, length: 1 });
            }
            assert_eq!(filling.free(count, 0), None);
        }
    }

    #[test]
    fn what_cannot_be_true_of_a_slab_is_refused() {
        let look = |posted, position, content| {
            let said = [AtomicU32::new(position), AtomicU32::new(content)];
            Emptying::new(4096, 2).ahead(posted, 10, 4096, |_| words(&said))
        };
        assert_eq!(look(0, 10, 1), Ok(None));
        assert_eq!(look(1, 10, 4096), Ok(Some(0)));
        assert_eq!(look(2, 4105, content(1, 1)), Ok(Some(4095)));
        let wrong = [
            (3, 10, 1),
            (u32::MAX, 10, 1),
            (1, 9, 1),
            (1, 4106, 1),
            (1, 10, 0),
            (1, 10, 4097),
            (1, 10, content(2, 1)),
            (1, 10, content(127, 1)),
            (1, 10, content(1, 0)),
        ];
        for (posted, position, content) in wrong {
            assert_eq!(look(posted, position, content), Err(Broken), "{posted} {position} {content}");
        }
    }

    #[test]
    fn what_was_said_is_read_once_and_taken_in_parts() {
        let said = [AtomicU32::new(5), AtomicU32::new(content(1, 100))];
        let mut emptying = Emptying::new(4096, 2);
        assert_eq!(emptying.ahead(1, 5, 4096, |_| words(&said)), Ok(Some(0)));
        assert!(!emptying.take(60));
        said[1].store(u32::MAX, Relaxed);
        assert_eq!(emptying.ahead(1, 5, 4096, |_| words(&said)), Ok(Some(0)));
        assert_eq!(emptying.rest(), (1, 60, 40));
        assert!(emptying.take(40));
        assert_eq!(emptying.ahead(1, 6, 4096, |_| words(&said)), Ok(None));
    }
}
