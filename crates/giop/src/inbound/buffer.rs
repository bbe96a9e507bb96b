//! The memory that a connection reads into.
//!
//! One buffer, read into at its end, parsed from its front, and handed out as ranges that share it. When the last
//! handle on it is dropped it is written again from the front: the steady state allocates nothing and clears nothing.
//! While a handle lives the buffer is left alone, and the next read begins a new one.
//!
//! ```text
//!   base                start                end                 capacity
//!    │ messages handed out │ received, unparsed │ where the next octets go │
//! ```
//!
//! `base` is the first address that is a multiple of a cache's line or of a page, and the message that a read begins with starts there, so that
//! its CDR alignment is the memory's. What is left of an incomplete message moves to the front of the next read; with
//! a message larger than the buffer, a buffer of the message's size takes over, granted piece by piece as
//! octets really arrive ([`Limits::first_grant`](crate::Limits::first_grant)).
//!
//! A flood is read by larger steps (`steps.rs`).

use alloc::sync::Arc;
use alloc::vec;

use zorb_cdr::copies::copied;
use zorb_cdr::{Body, Memory, Octets};

use super::Storage;
use super::steps::{Steps, Wanted};

/// CDR's largest alignment.
const ALIGNMENT: usize = 8;

/// What ordinary memory begins at a multiple of: the line of a cache, into which systems copy faster from its beginning on.
const LINE: usize = 64;

/// What large memory begins at a multiple of: a page, as what systems copy from mostly does. Processors by AMD take up to thirteen times as long for a copy to where the place
/// in a page is 1 to 15 octets behind that of the source (`rep movsb`).
const PAGE: usize = 4096;

/// Reads in a row without a message larger than the ordinary buffer, after which a larger one is given back: long enough
/// that a mix of small and large calls keeps it, short enough that it is soon gone.
pub(super) const SMALL_READS_BEFORE_SHRINKING: u32 = 64;

/// Octets of a message's head that are copied if the rest of it comes later. More are seldom, and hold the memory.
const SMALL_HEAD: usize = 1024;

/// How much larger than what has arrived of a message the memory may be that it is granted next. 256: a message of the default
/// [`Limits::max_message`](crate::Limits::max_message) is moved once, when it has filled its first grant, and what stays behind to
/// be moved is a 256th of it. Until octets arrive such an allocation is addresses, not memory: systems give out large zeroed
/// blocks page by page as they are written. If its sender falls silent it is given back ([`ReceiveBuffer::release`]).
const EARNED_BY_EACH_OCTET: usize = 256;

/// What one connection has received and nobody has taken yet: a [`Parser`](crate::Parser) reads it from the front.
pub struct ReceiveBuffer {
    memory: Memory,
    /// Octets of the memory: asked for several times in a call, and so at hand.
    limit: usize,
    /// Where the next read ends: at the limit, unless messages end before it.
    until: usize,
    base: usize,
    start: usize,
    end: usize,
    ordinary: usize,
    first_grant: usize,
    /// Octets of the message that is unparsed, as far as they are known.
    expected: usize,
    /// Something of a message may be missing.
    misses: bool,
    /// Octets of the last message that needed a larger buffer than the ordinary one.
    large: usize,
    /// Reads into such a buffer since a message needed it.
    small_reads: u32,
    /// Of a flood.
    steps: Steps,
    /// What memory larger than the ordinary is taken from.
    storage: Option<Arc<dyn Storage>>,
}

impl ReceiveBuffer {
    /// Allocates nothing until the first [`space`](Self::space).
    pub(crate) fn new(ordinary: usize, first_grant: usize) -> Self {
        let (ordinary, first_grant) = (ordinary.max(64), first_grant.max(64));
        Self {
            memory: Memory::new(),
            limit: 0,
            until: 0,
            base: 0,
            start: 0,
            end: 0,
            ordinary,
            first_grant,
            expected: 0,
            misses: false,
            large: 0,
            small_reads: 0,
            steps: Steps::new(ordinary, first_grant),
            storage: None,
        }
    }

    pub(super) fn set_storage(&mut self, storage: Arc<dyn Storage>) {
        self.storage = Some(storage);
        self.steps.refuse();
    }

    /// Of what is on its way to here the system holds little.
    pub(super) fn expect_little(&mut self) {
        self.steps.expect_little();
    }

    pub(super) fn storage(&self) -> Option<&Arc<dyn Storage>> {
        self.storage.as_ref()
    }

    /// What was received and not yet taken.
    #[inline]
    #[must_use]
    pub fn unparsed(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// The same, to be written, if nobody has a handle on what was taken before.
    pub(super) fn unparsed_mut(&mut self) -> Option<&mut [u8]> {
        self.memory.get_mut()?.get_mut(self.start..self.end)
    }

    /// Whether all that was received was taken.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// `n` octets of what is unparsed, from `at` on, to be kept.
    ///
    /// # Panics
    /// There are not so many.
    #[must_use]
    pub fn share(&self, at: usize, n: usize) -> Octets {
        let unparsed = self.end - self.start;
        assert!(at <= unparsed && n <= unparsed - at, "{n} octets at {at} of {unparsed}");
        self.part(at, n)
    }

    /// The same, of octets that the caller has looked at.
    #[inline]
    pub(crate) fn part(&self, at: usize, n: usize) -> Octets {
        self.memory.octets(self.start + at, n)
    }

    /// Makes `body` what [`part`](Self::part) gives.
    #[inline]
    pub(super) fn move_body(&self, body: &mut Body, at: usize, n: usize) {
        body.move_to(&self.memory, self.start + at, n);
    }

    /// The first `n` octets of what is unparsed, to be kept while more is received behind them: if they are few as a copy, which keeps no memory from
    /// being received into.
    pub(super) fn head(&self, n: usize) -> Octets {
        match n {
            0..SMALL_HEAD => Octets::from(&self.unparsed()[..n]),
            _ => self.part(0, n),
        }
    }

    /// Goes past `n` octets of what is unparsed, where the caller has seen them: there must be so many.
    #[inline]
    pub fn take(&mut self, n: usize) {
        self.start += n;
        if n > self.ordinary {
            self.note_large(n, 0);
        }
    }

    /// The same of one that may be followed by more such, as if they were small: nobody waits for an answer before sending the next, and what is
    /// large in them is wanted where it is received, and nowhere else, at multiples of `alignment`: not, then, behind one of another length.
    #[inline]
    pub(super) fn take_bulk(&mut self, n: usize, alignment: usize) {
        self.start += n;
        if n > self.ordinary {
            self.note_large(n, alignment);
        }
    }

    #[inline]
    fn note_large(&mut self, message: usize, bulk_alignment: usize) {
        (self.large, self.small_reads) = (message, 0);
        self.steps.took_large(message, bulk_alignment);
        // What a smaller one was expected to take, every memory has.
        self.expected = 0;
    }

    /// What others may want is not kept for a next large message, which may never come: who has the message has its memory.
    #[cold]
    pub(super) fn part_with_storage(&mut self) {
        if self.start == self.end && self.capacity() > self.ordinary {
            self.memory = Memory::new();
            (self.limit, self.until, self.base, self.start, self.end) = (0, 0, 0, 0, 0);
        }
    }

    /// Says how many octets the message has that `unparsed` begins with: the next read may then take all of it into one
    /// memory, once and no further than its end.
    #[inline]
    pub fn expect(&mut self, message: usize) {
        self.misses = true;
        self.expected = message;
        self.steps.note_bulk(message);
    }

    /// Whether something of a message may be missing: it was said since nothing was.
    #[inline]
    pub(super) fn may_miss(&self) -> bool {
        self.misses
    }

    pub(super) fn may_miss_something(&mut self) {
        self.misses = true;
    }

    pub(super) fn misses_nothing(&mut self) {
        self.misses = false;
    }

    /// How many octets are missing of the message that is unparsed, as far as is known.
    #[inline]
    pub(super) fn missing(&self) -> usize {
        if self.start == self.end { 0 } else { self.expected.saturating_sub(self.end - self.start) }
    }

    /// Where the next octets go; never empty. For those that have no storage.
    #[cfg(test)]
    pub(crate) fn space(&mut self) -> &mut [u8] {
        assert_eq!(self.make_ready(), None);
        self.room()
    }

    /// Whether there is [room](Self::room) as it is: nothing lies before the next message, and nobody has a handle on the memory.
    #[inline(always)]
    pub(super) fn is_ready(&mut self) -> bool {
        if self.start == self.end {
            self.start = self.base;
            self.end = self.base;
        }
        self.end == self.base && self.capacity() == self.ordinary && !self.memory.is_shared()
    }

    /// Sees to it that there is room. `Some`: so many octets were wanted, and the storage has not got them; there is room then
    /// after [`begin_small`](Self::begin_small).
    pub(super) fn make_ready(&mut self) -> Option<usize> {
        if self.is_ready() { None } else { self.prepare(self.expected).err() }
    }

    /// Where the next octets go.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        match self.memory.get_mut() {
            Some(memory) => &mut memory[self.end..self.until],
            None => unreachable!("made ready before"),
        }
    }

    /// Says that the first `n` octets of the last [`space`](Self::space) now hold what arrived.
    #[inline]
    pub(crate) fn received(&mut self, n: usize) {
        self.end = self.until.min(self.end.saturating_add(n));
        self.steps.read(self.end == self.until);
    }

    /// Begins anew with ordinary memory, without what is unparsed.
    pub(super) fn begin_small(&mut self) {
        self.discard();
        self.allocate(self.ordinary);
    }

    /// Forgets what is unparsed.
    pub(super) fn discard(&mut self) {
        self.start = self.end;
        self.expected = 0;
    }

    /// Gives the memory back but for what lies in it.
    pub(super) fn release(&mut self) {
        let pending = self.end - self.start;
        if pending == 0 {
            let new = Self::new(self.ordinary, self.first_grant);
            let old = core::mem::replace(self, new);
            (self.expected, self.misses, self.storage, self.steps) =
                (old.expected, old.misses, old.storage, old.steps);
            self.steps.pause();
        } else if pending.saturating_mul(2) < self.capacity() {
            // Where there is no memory to move to, the message stays where it is.
            let _ = self.replace(pending, |storage, octets| storage.take_apart(octets));
        }
    }

    /// Octets from `base` to the end of the memory.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.limit - self.base
    }

    /// Makes memory that only we see, with an aligned start for what is unparsed, and room behind it.
    #[inline(never)]
    fn prepare(&mut self, message: usize) -> Result<(), usize> {
        if self.memory.is_shared() {
            self.steps.kept();
            self.begin_anew()?;
        }
        let pending = self.end - self.start;
        let capacity = self.capacity();
        let is_small = message <= self.ordinary && self.storage.is_some();
        let must_shrink = is_small || self.small_reads >= SMALL_READS_BEFORE_SHRINKING;
        let follows_large = self.small_reads == 0;
        if follows_large {
            self.steps.note_bulk(self.large);
        }
        let shrinks = pending == 0 && capacity > self.ordinary && must_shrink;
        self.small_reads = self.small_reads.saturating_add(1);
        // At least an octet of room, also when the caller has left complete messages lying.
        let message = message.max(pending + 1);
        let fits = message <= capacity;
        if shrinks || !fits {
            self.make_room(message, shrinks)?;
        } else if self.start != self.base {
            let (before, alignment) = (self.start - self.base, self.alignment(message));
            if !before.is_multiple_of(alignment) || before + message > capacity {
                self.move_to_front();
            }
        }
        if self.steps.are_wanted() || self.steps.are_on() {
            self.step_further(message);
        }
        if !self.steps.are_on() {
            self.until = self.end_of_large(message, follows_large);
        }
        Ok(())
    }

    /// What a message of so many octets is to lie at multiples of, which goes on where it lies.
    #[inline]
    fn alignment(&self, message: usize) -> usize {
        self.steps.bulk_alignment().filter(|_| message > self.ordinary).unwrap_or(ALIGNMENT)
    }

    /// Where the next read ends outside of floods. A large message is read to its end and no further, and so is what follows one, as if it
    /// were as large: of a row of them each then takes one read, and not another one for the little that the last read left.
    fn end_of_large(&self, message: usize, follows_large: bool) -> usize {
        let may_be_another = follows_large && self.start == self.end;
        let message = if may_be_another { message.max(self.large) } else { message };
        let end = self.start.saturating_add(message);
        if message > self.ordinary && (self.end + 1..=self.limit).contains(&end) { end } else { self.limit }
    }

    /// Has the next read take several messages, if they come in a flood and are small.
    #[cold]
    fn step_further(&mut self, message: usize) {
        let (is_empty, memory) = (self.start == self.end, self.capacity());
        // Where there is memory beyond the ordinary the next may be as large as the last one of the flood, or the last large one.
        let may_be_large = is_empty && memory > self.ordinary;
        let message =
            if may_be_large { message.max(self.steps.stride().unwrap_or(self.large)) } else { message };
        match self.steps.next(message, memory, is_empty) {
            Wanted::Step(size) => {
                self.allocate(size);
                self.steps.begin(message);
            }
            Wanted::Ordinary => self.allocate(self.ordinary),
            Wanted::Same => {}
        }
        if self.steps.are_on() {
            // It goes on as long as steps are filled.
            if self.steps.was_full() {
                self.small_reads = 0;
            }
            self.until = self.steps.end(self.start, self.end, self.limit);
        }
    }

    /// Leaves the memory to who has handles on it.
    fn begin_anew(&mut self) -> Result<(), usize> {
        // After a large message, room for another, so that it is read in place: as large as may be granted to one that
        // has only been announced.
        let again = if self.small_reads == 0 { self.capacity().min(self.first_grant) } else { 0 };
        let needed = self.ordinary.max(self.end - self.start);
        if again > needed && self.replace(again, |storage, octets| storage.take(octets)).is_ok() {
            return Ok(());
        }
        self.replace(needed, |storage, octets| storage.take(octets))
    }

    /// Grows (or shrinks) to what the message needs and its sender has so far earned.
    #[cold]
    fn make_room(&mut self, message: usize, shrinks: bool) -> Result<(), usize> {
        let (pending, capacity) = (self.end - self.start, self.capacity());
        let granted = if capacity < self.first_grant { 0 } else { pending };
        let earned = self.first_grant.max(granted.saturating_mul(EARNED_BY_EACH_OCTET));
        let size = self.ordinary.max(message.min(earned));
        // Not yet filled what it was granted before. Others share what a storage has, so it is asked for nothing before the sender
        // has filled half of the ordinary memory.
        let has_room = match &self.storage {
            Some(_) if granted == 0 => pending.saturating_mul(2) < capacity,
            _ => granted > 0 && pending < capacity,
        };
        if !shrinks && (size <= capacity || has_room) {
            if self.start != self.base {
                self.move_to_front();
            }
            return Ok(());
        }
        self.replace(size, |storage, octets| storage.take(octets))
    }

    /// New memory that begins with what is unparsed, which it has room for, taken from the storage so if it is large. An error: so many
    /// octets are not to be had.
    #[cold]
    fn replace(
        &mut self,
        size: usize,
        take: impl Fn(&dyn Storage, usize) -> Option<Memory>,
    ) -> Result<(), usize> {
        if let Some(storage) = self.storage.as_ref().filter(|_| size > self.ordinary) {
            let memory = take(&**storage, size + LINE);
            let memory = memory.filter(|memory| memory.len() >= size + LINE && !memory.is_shared());
            let memory = memory.ok_or(size)?;
            self.replace_with(memory, LINE);
            return Ok(());
        }
        self.allocate(size);
        Ok(())
    }

    /// New memory for so many octets, and no more, that begins with what is unparsed.
    fn allocate(&mut self, size: usize) {
        let alignment = if size > self.ordinary { PAGE } else { LINE };
        let mut octets = vec![0; size + alignment];
        octets.truncate(base_of(&octets, alignment) + size);
        self.replace_with(octets.into(), alignment);
    }

    /// Memory that nobody else sees, with room for what is unparsed behind an aligned start.
    fn replace_with(&mut self, mut memory: Memory, alignment: usize) {
        self.steps.replaced();
        let base = base_of(&memory, alignment);
        let pending = self.unparsed();
        let end = base + pending.len();
        if let Some(octets) = memory.get_mut() {
            octets[base..end].copy_from_slice(pending);
        }
        copied(pending.len());
        (self.limit, self.until, self.memory) = (memory.len(), memory.len(), memory);
        (self.base, self.start, self.end) = (base, base, end);
    }

    #[cold]
    fn move_to_front(&mut self) {
        if let Some(memory) = self.memory.get_mut() {
            memory.copy_within(self.start..self.end, self.base);
            copied(self.end - self.start);
            self.end = self.base + (self.end - self.start);
            self.start = self.base;
        }
    }
}

/// The first place in a memory that is so aligned.
fn base_of(memory: &[u8], alignment: usize) -> usize {
    memory.as_ptr().align_offset(alignment).min(alignment)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Takes a message and keeps it.
    pub(in crate::inbound) fn take(buffer: &mut ReceiveBuffer, n: usize) -> Octets {
        let octets = buffer.share(0, n);
        buffer.take(n);
        octets
    }

    /// Room for what is to come of a message of so many octets.
    fn space(buffer: &mut ReceiveBuffer, message: usize) -> &mut [u8] {
        buffer.expect(message);
        buffer.space()
    }

    pub(in crate::inbound) fn put(buffer: &mut ReceiveBuffer, octets: &[u8], message: usize) -> *const u8 {
        let space = space(buffer, message);
        space[..octets.len()].copy_from_slice(octets);
        let at = space.as_ptr();
        buffer.received(octets.len());
        at
    }

    #[test]
    fn memory_is_used_again_once_no_handle_lives() {
        let mut buffer = ReceiveBuffer::new(256, 1024);
        let first = put(&mut buffer, b"hello", 5);
        assert_eq!(first.align_offset(LINE), 0);
        let held = take(&mut buffer, 5);
        let second = put(&mut buffer, b"world", 5);
        assert_ne!(first, second, "a held message is not overwritten");
        assert_eq!(&held[..], b"hello");
        drop(take(&mut buffer, 5));
        assert_eq!(put(&mut buffer, b"again", 5), second);
    }

    #[test]
    fn a_message_that_does_not_go_on_holds_what_has_arrived_of_it() {
        let mut buffer = ReceiveBuffer::new(4096, 8192);
        put(&mut buffer, b"whole, part", 11);
        let held = take(&mut buffer, 7);
        buffer.release();
        assert!(buffer.capacity() <= 4 + ALIGNMENT, "{}", buffer.capacity());
        assert_eq!(buffer.unparsed(), b"part");
        let space = space(&mut buffer, 12);
        assert!(space.len() >= 4096 - 4, "it goes on as before: {}", space.len());
        put(&mut buffer, b" and end", 12);
        assert_eq!((&held[..], buffer.unparsed()), (&b"whole, "[..], &b"part and end"[..]));
        drop(take(&mut buffer, 12));
        buffer.release();
        assert_eq!(buffer.capacity(), 0);
    }

    #[test]
    fn what_is_left_moves_to_an_aligned_start() {
        let mut buffer = ReceiveBuffer::new(256, 1024);
        put(&mut buffer, b"onetwo", 6);
        drop(take(&mut buffer, 3));
        put(&mut buffer, b"!", 100);
        assert_eq!(buffer.unparsed(), b"two!");
        assert_eq!(buffer.unparsed().as_ptr().align_offset(8), 0);
    }

    #[test]
    fn a_large_message_earns_its_memory() {
        let mut buffer = ReceiveBuffer::new(64, 128);
        let total = 10_000;
        let mut arrived = 0;
        let mut sizes = Vec::new();
        while arrived < total {
            let space = space(&mut buffer, total);
            assert!(!space.is_empty());
            assert!(space.len() <= (256 * arrived).max(128) + ALIGNMENT, "{} after {arrived}", space.len());
            let n = space.len().min(total - arrived);
            space[..n].fill(7);
            sizes.push(n);
            buffer.received(n);
            arrived += n;
        }
        assert_eq!(sizes[1..], [total - 128], "moved once its first grant is full: {sizes:?}");
        let message = take(&mut buffer, total);
        assert!(message.iter().all(|&octet| octet == 7));
        assert_eq!(message.as_ptr().align_offset(8), 0);
    }

    #[test]
    fn large_messages_in_a_row_are_each_read_in_place() {
        for keeps in [false, true] {
            let mut buffer = ReceiveBuffer::new(64, 4096);
            let mut kept = Vec::new();
            for turn in 0..5 {
                let space = space(&mut buffer, 12);
                assert!(space.len() >= 2000 || turn == 0, "one read takes the whole message");
                if turn == 0 {
                    put(&mut buffer, &[1; 12], 12);
                    put(&mut buffer, &[1; 1988], 2000);
                    kept.push(take(&mut buffer, 2000));
                    continue;
                }
                let at = put(&mut buffer, &[1; 2000], 12);
                let message = take(&mut buffer, 2000);
                assert_eq!(message.as_ptr(), at, "nothing was moved");
                kept.push(message);
                if !keeps {
                    kept.clear();
                }
            }
        }
    }

    #[test]
    fn a_large_buffer_is_given_back_after_many_small_messages() {
        let mut buffer = ReceiveBuffer::new(64, 4096);
        put(&mut buffer, &[1; 2000], 2000);
        drop(take(&mut buffer, 2000));
        let large = space(&mut buffer, 12);
        assert!(large.len() >= 2000);
        assert_eq!(large.as_ptr().align_offset(PAGE), 0);
        for _ in 0..=SMALL_READS_BEFORE_SHRINKING {
            put(&mut buffer, b"small", 5);
            drop(take(&mut buffer, 5));
        }
        assert!(space(&mut buffer, 12).len() < 100);
    }
}
