//! By how much a flood is read at once.
//!
//! A peer that always has more to give than the buffer holds, as who floods with oneways, is read by larger steps: the fewer reads a message
//! takes, the better. A step ends where a message does that is as long as the last one, so that little has to move.
//!
//! ```text
//! reads    │16 KiB│16 KiB│16 KiB│        128 KiB         │        128 KiB         │ 9 KiB │  16 KiB  …
//!          ├── each left no room ┤├─ a step: ├─┼─┼─┼─┼─┼─┤                        └ room was left; the memory stays for a while
//! ```
//!
//! Large messages are read so where they are known to be wanted here, and nowhere else. What has yet to be brought to another place would have to be copied
//! from a step.

use core::array;

/// Reads in a row that left no room, after which more is read at once: two may be one large message.
const FULL_READS_BEFORE_FLOOD: u32 = 3;

/// The same after a message that is too large to be one of a flood: what the next such one brings is not to lie in a step of small ones,
/// where it would have to be copied from, and so many small ones are not a pause between two of it.
const FULL_READS_AFTER_BULK: u32 = 16;

/// How many times an ordinary read a step is: as much as a few dozen small messages have, and no more than what a second-level cache holds beside
/// other things.
const FLOOD: usize = 8;

/// How many messages a step has to bring.
const MESSAGES_IN_A_STEP: usize = 4;

/// The same of bulk: two would bring nothing.
const BULK_IN_A_STEP: usize = 3;

/// How many times what may be [granted first](crate::Limits::first_grant) a step of bulk has at most, and by that which messages are too large: as few times as
/// hold enough messages, from the shortest on. An ordinary read's octets are beside them for heads. By the default that is three messages of 256 KiB.
const GRANTS_IN_A_STEP: usize = 3;

/// How many times it has at least: by the default eight messages of 64 KiB. Over TCP such a step takes a fifth less time than one of four: who finds nothing
/// less often sleeps less often.
const SHORTEST: usize = 2;

/// The same where the system holds little of what is on its way: by the default four messages of 64 KiB. A longer step is filled too, since the sender goes on
/// meanwhile, but the two take turns no less often, and its memory is more than stays in a second-level cache beside the system's own.
const SHORTEST_OF_LITTLE: usize = 1;

/// What has been seen of a flood.
pub(super) struct Steps {
    /// What is read at once of small ones.
    small: usize,
    /// The same of bulk, by how many grants that is.
    bulk: [usize; GRANTS_IN_A_STEP],
    /// How many those are at least.
    shortest: usize,
    /// Reads in a row that left no room.
    full_reads: u32,
    /// How many of them are a flood.
    before_flood: u32,
    /// Octets of each message of a flood that is read by steps, as far as they are known; 0: there is none.
    stride: usize,
    /// What the values of bulk that is wanted here, and nowhere else, want to lie at multiples of; 0: the last large message was none of such.
    bulk_alignment: usize,
}

/// What memory the next step wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What there is.
    Same,
    /// So many octets, in which steps then [begin](Steps::begin).
    Step(usize),
    /// No more than ordinary: the flood is over.
    Ordinary,
}

impl Steps {
    /// An ordinary read takes so many octets, and so many are granted a large message first.
    pub(super) fn new(ordinary: usize, first_grant: usize) -> Steps {
        Steps {
            small: ordinary.saturating_mul(FLOOD).min(first_grant),
            bulk: array::from_fn(|before| first_grant.saturating_mul(before + 1).saturating_add(ordinary)),
            shortest: SHORTEST,
            full_reads: 0,
            before_flood: FULL_READS_BEFORE_FLOOD,
            stride: 0,
            bulk_alignment: 0,
        }
    }

    /// There are to be none: the memory is others' too.
    pub(super) fn refuse(&mut self) {
        (self.small, self.bulk, self.stride) = (0, Default::default(), 0);
    }

    /// Of what is on its way the system holds little.
    pub(super) fn expect_little(&mut self) {
        self.shortest = SHORTEST_OF_LITTLE;
    }

    /// Nothing has come for a while: only how soon a flood begins is remembered.
    pub(super) fn pause(&mut self) {
        (self.full_reads, self.stride, self.bulk_alignment) = (0, 0, 0);
    }

    /// A read left no room, or some.
    #[inline(always)]
    pub(super) fn read(&mut self, left_no_room: bool) {
        self.full_reads = if left_no_room { self.full_reads.saturating_add(1) } else { 0 };
    }

    /// Messages are kept: who keeps small ones is not to keep much beside them.
    pub(super) fn kept(&mut self) {
        self.full_reads = 0;
    }

    /// The memory was replaced: a step that was begun is over.
    pub(super) fn replaced(&mut self) {
        self.stride = 0;
    }

    /// A large message was taken. One of a flood of bulk wants its values at multiples of the alignment: not, then, behind one of another length. 0: it is
    /// none. Steps that have begun are of messages as long as this one from here on.
    #[inline]
    pub(super) fn took_large(&mut self, message: usize, bulk_alignment: usize) {
        self.bulk_alignment = if message.is_multiple_of(bulk_alignment) { bulk_alignment } else { 0 };
        if self.are_on() {
            self.stride = message;
        }
    }

    /// If a message of so many octets is too large for a flood, the next one is expected soon.
    #[inline]
    pub(super) fn note_bulk(&mut self, message: usize) {
        if self.step_for(message).is_none() {
            (self.before_flood, self.full_reads) = (FULL_READS_AFTER_BULK, 0);
        }
    }

    /// Octets that are read at once of a flood of messages as long as this one; `None`: they are too large.
    #[inline]
    fn step_for(&self, message: usize) -> Option<usize> {
        let holds = |step: usize, messages| message.saturating_mul(messages) <= step;
        match self.bulk_alignment {
            _ if holds(self.small, MESSAGES_IN_A_STEP) => Some(self.small),
            0 => None,
            _ => self.bulk.into_iter().skip(self.shortest - 1).find(|step| holds(*step, BULK_IN_A_STEP)),
        }
    }

    /// Whether steps have begun.
    #[inline]
    pub(super) fn are_on(&self) -> bool {
        self.stride > 0
    }

    /// How long each message of the flood is, if steps have begun.
    #[inline]
    pub(super) fn stride(&self) -> Option<usize> {
        self.are_on().then_some(self.stride)
    }

    /// Whether reads are full, so that it goes on as it is or with larger steps.
    #[inline]
    pub(super) fn are_wanted(&self) -> bool {
        self.full_reads >= self.before_flood
    }

    /// Whether the last read was full.
    pub(super) fn was_full(&self) -> bool {
        self.full_reads > 0
    }

    /// What a message of bulk is to lie at multiples of, which goes on where it lies in a step; `None`: it is no such.
    #[inline]
    pub(super) fn bulk_alignment(&self) -> Option<usize> {
        (self.bulk_alignment > 0 && self.are_on()).then_some(self.bulk_alignment)
    }

    /// They are of messages as long as this one from here on.
    pub(super) fn begin(&mut self, message: usize) {
        self.stride = message;
    }

    /// Has the next read take several messages as long as this one, if they come in a flood and are not too large. There are so many octets of memory, and
    /// no part of a message in it if it is empty.
    pub(super) fn next(&mut self, message: usize, memory: usize, is_empty: bool) -> Wanted {
        let Some(step) = self.step_for(message) else {
            let were_on = core::mem::take(&mut self.stride) > 0;
            return if were_on && is_empty { Wanted::Ordinary } else { Wanted::Same };
        };
        if self.are_wanted() && (!self.are_on() || memory < step) {
            let is_too_large = memory > step && is_empty;
            if memory < step || is_too_large {
                return Wanted::Step(step);
            }
            self.begin(message);
        }
        if !is_empty {
            self.begin(message);
        }
        Wanted::Same
    }

    /// Where a step ends that begins at `start`, whose memory ends at `limit`, and of which all before `end` was received.
    pub(super) fn end(&self, start: usize, end: usize, limit: usize) -> usize {
        let whole = (limit - start).checked_div(self.stride).unwrap_or_default() * self.stride;
        if start + whole > end { start + whole } else { limit }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::inbound::buffer::tests::{put, take};
    use crate::inbound::buffer::{ReceiveBuffer, SMALL_READS_BEFORE_SHRINKING};

    /// A peer that always has more: what each read brings, as far as there is room.
    fn flood(buffer: &mut ReceiveBuffer, message: usize, reads: usize) -> Vec<usize> {
        flood_taken(buffer, message, reads, ReceiveBuffer::take)
    }

    /// The same of bulk that is wanted where it is received, at multiples of `alignment`.
    fn flood_of_bulk(buffer: &mut ReceiveBuffer, message: usize, alignment: usize) -> Vec<usize> {
        flood_taken(buffer, message, 40, |buffer, n| buffer.take_bulk(n, alignment))
    }

    fn flood_taken(
        buffer: &mut ReceiveBuffer,
        message: usize,
        reads: usize,
        take: impl Fn(&mut ReceiveBuffer, usize),
    ) -> Vec<usize> {
        let mut brought = Vec::new();
        for _ in 0..reads {
            let pending = buffer.unparsed().len();
            if pending > 0 {
                buffer.expect(message);
            }
            let n = buffer.space().len();
            buffer.received(n);
            while buffer.unparsed().len() >= message {
                drop(buffer.share(0, message));
                take(buffer, message);
            }
            brought.push(n);
        }
        brought
    }

    #[test]
    fn a_flood_is_read_by_steps_that_end_with_messages() {
        let mut buffer = ReceiveBuffer::new(1024, 1 << 20);
        let brought = flood(&mut buffer, 600, 100);
        assert!(brought[..3].iter().all(|&n| n <= 1024), "{brought:?}");
        assert!(brought[5..].iter().all(|&n| n == 8192 / 600 * 600), "{brought:?}");
        // Other messages: the steps follow them.
        let brought = flood(&mut buffer, 1000, 100);
        assert!(brought[2..].iter().all(|&n| n == 8000), "{brought:?}");
        // Rows that fill one step each, and a part of another.
        for _ in 0..10 * SMALL_READS_BEFORE_SHRINKING {
            assert_eq!(flood(&mut buffer, 1000, 1), [8000]);
            put(&mut buffer, &[1; 1000], 1000);
            drop(take(&mut buffer, 1000));
        }
        // It ebbs.
        for _ in 0..=SMALL_READS_BEFORE_SHRINKING {
            put(&mut buffer, b"small", 5);
            drop(take(&mut buffer, 5));
        }
        assert_eq!(buffer.space().len(), 1024);
    }

    #[test]
    fn bulk_that_goes_nowhere_else_is_read_several_messages_at_a_time() {
        // A step has three messages at the least, and 11,024 octets or 16,024.
        let fresh = || ReceiveBuffer::new(1024, 5_000);
        for (message, alignment, step) in
            [(3_600, 8, 10_800), (5_001, 1, 15_003), (4_000, 8, 16_000), (4_004, 4, 16_016)]
        {
            let mut buffer = fresh();
            let brought = flood_of_bulk(&mut buffer, message, alignment);
            let alone = brought.iter().take_while(|&&n| n <= message).count();
            assert!((16..24).contains(&alone), "only of a long row: {alone} {brought:?}");
            assert!(brought[24..].iter().all(|&n| n == step), "{brought:?}");
        }
        for (message, alignment) in [(6_000, 1), (5_001, 8), (4_004, 8)] {
            let brought = flood_of_bulk(&mut fresh(), message, alignment);
            assert!(brought.iter().all(|&n| n <= message), "too large, or out of place: {brought:?}");
        }
        let brought = flood(&mut fresh(), 4_000, 40);
        assert!(brought.iter().all(|&n| n <= 4_000), "it may be wanted elsewhere: {brought:?}");

        // Where the system holds little of what is on its way, no more than holds three.
        for (message, step) in
            [(1_400, 5_600), (2_008, 6_024), (2_016, 10_080), (3_600, 10_800), (4_000, 16_000)]
        {
            let mut buffer = fresh();
            buffer.expect_little();
            assert_eq!(flood_of_bulk(&mut buffer, message, 8)[39], step);
        }

        // Larger bulk, whose messages end where the steps of smaller ones did.
        let mut buffer = fresh();
        assert_eq!(flood_of_bulk(&mut buffer, 2_500, 1)[39], 10_000);
        assert_eq!(flood_of_bulk(&mut buffer, 5_000, 1)[39], 15_000);

        // Another kind of bulk, then one that is wanted elsewhere, and what was so much larger that its memory is.
        let mut buffer = fresh();
        assert_eq!(flood_of_bulk(&mut buffer, 4_000, 8)[39], 16_000);
        assert_eq!(flood_of_bulk(&mut buffer, 3_000, 8)[39], 15_000);
        assert!(flood(&mut buffer, 4_000, 40)[1..].iter().all(|&n| n <= 4_000));
        flood(&mut buffer, 100_000, 40);
        assert!(buffer.capacity() >= 100_000);
        assert_eq!(flood_of_bulk(&mut buffer, 4_000, 8)[39], 16_000);
        assert!(buffer.capacity() < 20_000);
    }

    #[test]
    fn a_part_of_bulk_stays_where_it_was_read_if_it_lies_well_there() {
        for (alignment, next, stays) in [(1, 5_000, true), (2, 5_000, false), (1, 500, false)] {
            let mut buffer = ReceiveBuffer::new(1024, 5_000);
            flood_of_bulk(&mut buffer, 5_000, alignment);
            put(&mut buffer, &[1; 5_001 + 400], 0);
            let part = buffer.unparsed()[5_001..].as_ptr();
            drop(buffer.share(0, 5_001));
            buffer.take(1);
            buffer.take_bulk(5_000, alignment);
            buffer.expect(next);
            assert!(buffer.space().len() >= next - 400);
            assert_eq!(buffer.unparsed().as_ptr() == part, stays);
        }
    }

    #[test]
    fn a_flood_behind_many_small_messages_keeps_its_memory() {
        let mut buffer = ReceiveBuffer::new(1024, 1 << 20);
        for _ in 0..10 * SMALL_READS_BEFORE_SHRINKING {
            put(&mut buffer, b"small", 5);
            drop(take(&mut buffer, 5));
        }
        let brought = flood(&mut buffer, 600, 100);
        assert!(brought[5..].iter().all(|&n| n == 8192 / 600 * 600), "{brought:?}");
    }

    #[test]
    fn there_are_none_for_large_messages_for_what_is_kept_and_where_memory_is_shared() {
        let mut buffer = ReceiveBuffer::new(1024, 1 << 20);
        let brought = flood(&mut buffer, 3000, 100);
        assert!(brought[1..].iter().all(|&n| n <= 3000), "{brought:?}");

        let mut buffer = ReceiveBuffer::new(1024, 1 << 20);
        let mut kept = Vec::new();
        for _ in 0..100 {
            assert!(flood(&mut buffer, 600, 1)[0] <= 1024);
            buffer.may_miss_something();
            if let Some(octets) = (!buffer.is_empty()).then(|| buffer.share(0, 1)) {
                kept.push(octets);
            }
        }

        // Where bulk has come, the next may come soon.
        let mut buffer = ReceiveBuffer::new(1024, 1 << 20);
        assert!(flood(&mut buffer, 600, 10)[9] > 7000);
        put(&mut buffer, &[1; 600], 5000);
        put(&mut buffer, &[1; 4400], 5000);
        drop(take(&mut buffer, 5000));
        let brought = flood(&mut buffer, 600, 200);
        let ordinary = brought.iter().take_while(|&&n| n <= 5000).count();
        assert!(
            (16..64).contains(&ordinary),
            "no more than that one needed, for long: {ordinary} {brought:?}"
        );
        assert!(brought[100..].iter().all(|&n| n > 7000), "{brought:?}");

        let mut buffer = ReceiveBuffer::new(1024, 2048);
        assert!(flood(&mut buffer, 100, 100).iter().all(|&n| n <= 2048));
    }
}
