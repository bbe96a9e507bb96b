//! The positions of one ring: how much is in it, how much fits, and whether what the peer says can be true.
//!
//! Positions count octets from the beginning of the connection, modulo 2³². Each side keeps its own privately and only
//! tells it to the other by a word of the memory, which it never reads back. The other's word is read once, compared
//! with what it may be, and remembered, so that it is read again only when more is wanted.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::word::Word;

/// The peer says what cannot be true: more in the ring than fits, or less read or written than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// The side that puts octets in.
#[derive(Debug)]
pub(super) struct Producer {
    capacity: u32,
    head: u32,
    /// The consumer's position, as last seen.
    tail: u32,
}

/// The side that takes them out.
#[derive(Debug)]
pub(super) struct Consumer {
    capacity: u32,
    tail: u32,
    /// The producer's position, as last seen.
    head: u32,
}

impl Producer {
    /// Of an empty ring. The capacity is a power of two, at most 2³¹.
    pub(super) fn new(capacity: u32) -> Self {
        debug_assert!(capacity.is_power_of_two());
        Self { capacity, head: 0, tail: 0 }
    }

    /// How many octets fit; looks anew only if that is less than `wanted`. Acquires what the consumer released: it has
    /// read what was there.
    #[inline]
    pub(super) fn room(&mut self, tail: &impl Word, wanted: u32) -> Result<u32, Broken> {
        let outstanding = self.head.wrapping_sub(self.tail);
        let room = self.capacity - outstanding;
        if room >= wanted.min(self.capacity) {
            return Ok(room);
        }
        let seen = tail.load(Acquire);
        let left = self.head.wrapping_sub(seen);
        if left > outstanding {
            return Err(Broken);
        }
        self.tail = seen;
        Ok(self.capacity - left)
    }

    /// The position of the next octet.
    #[inline]
    pub(super) fn position(&self) -> u32 {
        self.head
    }

    /// Where the next octet goes, from the beginning of the ring.
    #[inline]
    pub(super) fn place(&self) -> usize {
        (self.head & (self.capacity - 1)) as usize
    }

    /// Releases octets that were put there, no more than there was room for.
    #[inline]
    pub(super) fn publish(&mut self, head: &impl Word, octets: u32) {
        debug_assert!(octets <= self.capacity - self.head.wrapping_sub(self.tail));
        self.head = self.head.wrapping_add(octets);
        head.store(self.head, Release);
    }

    /// The consumer's position, as last seen.
    #[inline]
    pub(super) fn seen(&self) -> u32 {
        self.tail
    }

    /// Whether the consumer has not taken all, as its word says now.
    pub(super) fn is_unread(&self, tail: &impl Word) -> bool {
        tail.load(Relaxed) != self.head
    }
}

impl Consumer {
    /// Of an empty ring.
    pub(super) fn new(capacity: u32) -> Self {
        debug_assert!(capacity.is_power_of_two());
        Self { capacity, tail: 0, head: 0 }
    }

    /// How many octets are there; looks anew only if that is less than `wanted`. Acquires what the producer released:
    /// the octets.
    #[inline]
    pub(super) fn available(&mut self, head: &impl Word, wanted: u32) -> Result<u32, Broken> {
        let known = self.head.wrapping_sub(self.tail);
        if known >= wanted.min(self.capacity) {
            return Ok(known);
        }
        let seen = head.load(Acquire);
        let available = seen.wrapping_sub(self.tail);
        if available > self.capacity || available < known {
            return Err(Broken);
        }
        self.head = seen;
        Ok(available)
    }

    /// The position of the next octet.
    #[inline]
    pub(super) fn position(&self) -> u32 {
        self.tail
    }

    /// Where the next octet lies, from the beginning of the ring.
    #[inline]
    pub(super) fn place(&self) -> usize {
        (self.tail & (self.capacity - 1)) as usize
    }

    /// Gives back the room of octets that were read, no more than were available.
    #[inline]
    pub(super) fn consume(&mut self, tail: &impl Word, octets: u32) {
        debug_assert!(octets <= self.head.wrapping_sub(self.tail));
        self.tail = self.tail.wrapping_add(octets);
        tail.store(self.tail, Release);
    }

    /// The producer's position, as last seen.
    #[inline]
    pub(super) fn seen(&self) -> u32 {
        self.head
    }
}

#[cfg(all(test, not(zorb_loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn positions_go_round_and_past_the_end_of_their_numbers() {
        let (head, tail) = (AtomicU32::new(0), AtomicU32::new(0));
        let (mut producer, mut consumer) = (Producer::new(1 << 30), Consumer::new(1 << 30));
        for step in 0..10_u64 {
            assert_eq!(producer.room(&tail, 1 << 30), Ok(1 << 30));
            assert_eq!(producer.place() as u64, step * (7 << 27) % (1 << 30));
            producer.publish(&head, 7 << 27);
            assert_eq!(producer.room(&tail, 1), Ok(1 << 27), "known without looking");
            assert_eq!(consumer.available(&head, 1), Ok(7 << 27));
            assert_eq!(consumer.place() as u64, step * (7 << 27) % (1 << 30));
            consumer.consume(&tail, 7 << 27);
        }
        assert!(!producer.is_unread(&tail));
    }

    #[test]
    fn what_cannot_be_true_is_not_believed() {
        let (head, tail) = (AtomicU32::new(0), AtomicU32::new(0));
        let (mut producer, mut consumer) = (Producer::new(8), Consumer::new(8));
        producer.publish(&head, 5);
        assert_eq!(consumer.available(&head, 8), Ok(5));
        for lie in [4, 0, 9, u32::MAX, 1 << 31] {
            head.store(lie, Relaxed);
            assert_eq!(consumer.available(&head, 8), Err(Broken), "head {lie}");
            assert_eq!(consumer.seen(), 5, "nothing of it is kept");
        }
        tail.store(3, Relaxed);
        assert_eq!(producer.room(&tail, 8), Ok(6));
        for lie in [2, 6, u32::MAX, 1 << 31] {
            tail.store(lie, Relaxed);
            assert_eq!(producer.room(&tail, 8), Err(Broken), "tail {lie}");
        }
    }

    #[test]
    fn the_others_word_is_read_only_when_more_is_wanted() {
        let (head, tail) = (AtomicU32::new(6), AtomicU32::new(0));
        let mut consumer = Consumer::new(8);
        assert_eq!(consumer.available(&head, 2), Ok(6));
        head.store(8, Relaxed);
        assert_eq!(consumer.available(&head, 6), Ok(6));
        assert_eq!(consumer.available(&head, 100), Ok(8));
        consumer.consume(&tail, 8);
        assert_eq!(consumer.available(&head, 1), Ok(0));
    }
}
