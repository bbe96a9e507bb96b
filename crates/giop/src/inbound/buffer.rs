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
//! `base` is the first address that is a multiple of 8, and the message that a read begins with starts there, so that
//! its CDR alignment is the memory's. What is left of an incomplete message moves to the front of the next read; with
//! a message larger than the buffer, a buffer of the message's size takes over, granted piece by piece as
//! octets really arrive ([`Limits::first_grant`](crate::Limits::first_grant)).

use core::ops::Range;

use bytes::{Bytes, BytesMut};

/// CDR's largest alignment.
const ALIGNMENT: usize = 8;

/// Messages in a row that would have fitted the ordinary buffer, after which a larger one is given back: long enough
/// that a mix of small and large calls keeps it, short enough that it is soon gone.
const SMALL_MESSAGES_BEFORE_SHRINKING: u32 = 64;

enum Storage {
    /// Only we see it.
    Writable(BytesMut),
    /// Ranges of it may be in others' hands.
    Shared(Bytes),
}

pub(super) struct ReceiveBuffer {
    storage: Storage,
    base: usize,
    start: usize,
    end: usize,
    ordinary: usize,
    first_grant: usize,
    /// Messages since one needed more than the ordinary buffer.
    small_messages: u32,
}

impl ReceiveBuffer {
    /// Allocates nothing until the first [`space`](Self::space).
    pub(super) fn new(ordinary: usize, first_grant: usize) -> Self {
        Self {
            storage: Storage::Writable(BytesMut::new()),
            base: 0,
            start: 0,
            end: 0,
            ordinary: ordinary.max(64),
            first_grant: first_grant.max(64),
            small_messages: 0,
        }
    }

    /// What was received and not yet taken.
    #[inline]
    pub(super) fn unparsed(&self) -> &[u8] {
        match &self.storage {
            Storage::Writable(bytes) => &bytes[self.start..self.end],
            Storage::Shared(bytes) => &bytes[self.start..self.end],
        }
    }

    /// Takes `n` octets from the front of what is unparsed, where the caller has seen them, and tells where in the
    /// [`memory`](Self::memory) they start.
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> usize {
        let start = self.start;
        self.start += n;
        self.small_messages = if n > self.ordinary { 0 } else { self.small_messages.saturating_add(1) };
        start
    }

    /// The memory, of which anyone may keep ranges: what was taken stays there until [`space`](Self::space).
    #[inline]
    pub(super) fn memory(&mut self) -> &Bytes {
        if let Storage::Writable(_) = &self.storage {
            self.freeze();
        }
        match &self.storage {
            Storage::Shared(bytes) => bytes,
            Storage::Writable(_) => unreachable!("frozen above"),
        }
    }

    /// Not inlined, like all that happens once a message and no oftener: what happens oftener stays small.
    #[inline(never)]
    fn freeze(&mut self) {
        if let Storage::Writable(bytes) = &mut self.storage {
            self.storage = Storage::Shared(core::mem::take(bytes).freeze());
        }
    }

    /// Keeps a range of a message that starts at `start`. An empty one keeps nothing.
    #[inline]
    pub(super) fn share(&mut self, start: usize, range: Range<usize>) -> Bytes {
        if range.is_empty() {
            return Bytes::new();
        }
        self.share_some(start + range.start, start + range.end)
    }

    #[inline(never)]
    fn share_some(&mut self, from: usize, to: usize) -> Bytes {
        self.memory().slice(from..to)
    }

    /// Where the next octets go; never empty. `message` is the size of the message that `unparsed` begins with, as far
    /// as it is known.
    #[inline]
    pub(super) fn space(&mut self, message: usize) -> &mut [u8] {
        if let Storage::Shared(_) = &self.storage {
            self.make_writable();
        }
        let pending = self.end - self.start;
        if pending == 0 {
            self.start = self.base;
            self.end = self.base;
        }
        let capacity = self.capacity();
        let shrinks = pending == 0
            && capacity > self.ordinary
            && self.small_messages >= SMALL_MESSAGES_BEFORE_SHRINKING;
        // At least an octet of room, also when the caller has left complete messages lying.
        let message = message.max(pending + 1);
        let fits = message <= capacity;
        if shrinks || !fits {
            self.make_room(message, shrinks);
        } else if self.start != self.base
            && (!(self.start - self.base).is_multiple_of(ALIGNMENT)
                || self.start - self.base + message > capacity)
        {
            self.move_to_front();
        }
        match &mut self.storage {
            Storage::Writable(bytes) => &mut bytes[self.end..],
            Storage::Shared(_) => unreachable!("made writable above"),
        }
    }

    /// Says that the first `n` octets of the last [`space`](Self::space) now hold what arrived.
    #[inline]
    pub(super) fn received(&mut self, n: usize) {
        let length = match &self.storage {
            Storage::Writable(bytes) => bytes.len(),
            Storage::Shared(_) => self.end,
        };
        self.end = length.min(self.end.saturating_add(n));
    }

    /// Forgets what is unparsed.
    pub(super) fn discard(&mut self) {
        self.start = self.end;
    }

    /// Gives the memory back but for what lies in it.
    pub(super) fn release(&mut self) {
        let pending = self.end - self.start;
        if pending == 0 {
            *self = Self::new(self.ordinary, self.first_grant);
        } else if pending.saturating_mul(2) < self.capacity() {
            let old = core::mem::replace(&mut self.storage, Storage::Writable(BytesMut::new()));
            match &old {
                Storage::Writable(bytes) => self.replace(pending, bytes),
                Storage::Shared(bytes) => self.replace(pending, bytes),
            }
        }
    }

    /// Octets from `base` to the end of the memory.
    fn capacity(&self) -> usize {
        match &self.storage {
            Storage::Writable(bytes) => bytes.len() - self.base,
            Storage::Shared(bytes) => bytes.len() - self.base,
        }
    }

    /// Takes the buffer back when no handle on it lives, else begins a new one with what is unparsed.
    #[inline(never)]
    fn make_writable(&mut self) {
        if let Storage::Shared(bytes) = &mut self.storage {
            match core::mem::take(bytes).try_into_mut() {
                Ok(bytes) => self.storage = Storage::Writable(bytes),
                Err(held) => {
                    // After a large message, room for another, so that it is read in place: as large as may be granted
                    // to one that has only been announced.
                    let again = if self.small_messages == 0 { held.len() - self.base } else { 0 };
                    let size = self.ordinary.max(self.end - self.start).max(again.min(self.first_grant));
                    self.replace(size, &held);
                }
            }
        }
    }

    /// Grows (or shrinks) to what the message needs and its sender has so far earned.
    #[cold]
    fn make_room(&mut self, message: usize, shrinks: bool) {
        let pending = self.end - self.start;
        let earned = self.first_grant.max(pending.saturating_mul(4));
        let size = self.ordinary.max(message.min(earned));
        if !shrinks && size <= self.capacity() {
            // Not yet filled what it was granted before.
            return self.move_to_front();
        }
        if let Storage::Writable(bytes) = &mut self.storage {
            let old = core::mem::take(bytes);
            self.replace(size, &old);
        }
    }

    /// A new buffer that begins with the unparsed octets of `old`.
    #[cold]
    fn replace(&mut self, size: usize, old: &[u8]) {
        let mut bytes = BytesMut::zeroed(size + ALIGNMENT);
        // Splitting makes the count that `freeze` and `try_into_mut` then pass to and fro without allocating.
        let base = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        drop(bytes.split_off(base + size));
        let pending = &old[self.start..self.end];
        bytes[base..base + pending.len()].copy_from_slice(pending);
        self.end = base + pending.len();
        self.start = base;
        self.base = base;
        self.storage = Storage::Writable(bytes);
    }

    #[cold]
    fn move_to_front(&mut self) {
        if let Storage::Writable(bytes) = &mut self.storage {
            bytes.copy_within(self.start..self.end, self.base);
            self.end = self.base + (self.end - self.start);
            self.start = self.base;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Takes a message and keeps it.
    fn take(buffer: &mut ReceiveBuffer, n: usize) -> Bytes {
        let start = buffer.take(n);
        buffer.share(start, 0..n)
    }

    fn put(buffer: &mut ReceiveBuffer, octets: &[u8], message: usize) -> *const u8 {
        let space = buffer.space(message);
        space[..octets.len()].copy_from_slice(octets);
        let at = space.as_ptr();
        buffer.received(octets.len());
        at
    }

    #[test]
    fn memory_is_used_again_once_no_handle_lives() {
        let mut buffer = ReceiveBuffer::new(256, 1024);
        let first = put(&mut buffer, b"hello", 5);
        assert_eq!(first.align_offset(8), 0);
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
        let space = buffer.space(12);
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
            let space = buffer.space(total);
            assert!(!space.is_empty());
            assert!(space.len() <= (3 * arrived).max(128) + ALIGNMENT, "{} after {arrived}", space.len());
            let n = space.len().min(total - arrived);
            space[..n].fill(7);
            sizes.push(n);
            buffer.received(n);
            arrived += n;
        }
        assert!(sizes.len() < 10, "{sizes:?}");
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
                let space = buffer.space(12);
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
        assert!(buffer.space(12).len() >= 2000);
        for _ in 0..=SMALL_MESSAGES_BEFORE_SHRINKING {
            put(&mut buffer, b"small", 5);
            drop(take(&mut buffer, 5));
        }
        assert!(buffer.space(12).len() < 100);
    }
}
