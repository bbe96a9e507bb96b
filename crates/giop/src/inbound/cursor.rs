//! Reads the heads of messages, which come before the code sets are known and must leave ranges, not values.
//!
//! A message lies in one piece of memory, unless GIOP 1.1 fragmented it: then further segments follow. In 1.1 alignment
//! restarts with each fragment and a primitive is never split, while octets and characters may go on in the next one
//! (§9.4.9).

use alloc::vec::Vec;
use core::ops::Range;

use zorb_cdr::copies::copied;
use zorb_cdr::{Body, ByteOrder, Octets, Piece, Segment};

use crate::ProtocolError;
use crate::header::{HEADER_SIZE, Header};

pub(super) struct Cursor<'a> {
    /// Whose head it is.
    header: &'a Header,
    /// The current segment, and what holds it.
    octets: &'a [u8],
    holder: Holder<'a>,
    /// What of that was read.
    at: usize,
    /// How far the segment is from the alignment origin.
    phase: usize,
    /// Octets before the segment in its message or fragment.
    before: usize,
    following: &'a [Segment<Piece>],
    /// Octets in `following`.
    left_later: usize,
}

/// What holds a segment.
#[derive(Clone, Copy)]
enum Holder<'a> {
    Octets(&'a Octets),
    Piece(&'a Piece),
}

impl Holder<'_> {
    /// A part of it; what is lent is copied.
    fn octets(self, range: Range<usize>) -> Octets {
        match self {
            Holder::Octets(octets) | Holder::Piece(Piece::Octets(octets)) => octets.slice(range),
            Holder::Piece(Piece::Lent(octets) | Piece::Elements(octets)) => octets[range].into(),
        }
    }

    fn held(self, range: Range<usize>) -> Piece {
        match self {
            Holder::Octets(octets) => octets.slice(range).into(),
            Holder::Piece(held) => held.slice(range),
        }
    }
}

impl<'a> Cursor<'a> {
    /// Begins after the header of a message.
    pub(super) fn new(header: &'a Header, message: &'a Octets) -> Self {
        let at = message.len().min(HEADER_SIZE);
        let holder = Holder::Octets(message);
        Self { header, octets: message, holder, at, phase: 0, before: 0, following: &[], left_later: 0 }
    }

    /// Begins after the header of a message put together from fragments.
    pub(super) fn over(header: &'a Header, message: &'a Body) -> Self {
        let first = &message.first().octets;
        let left_later = message.len() - first.len();
        Self { following: message.later(), left_later, ..Self::new(header, first) }
    }

    /// Whose head it is.
    pub(super) fn header(&self) -> &'a Header {
        self.header
    }

    /// The error that the head could not be read on here.
    #[cold]
    pub(super) fn stopped(&self, what: &'static str) -> ProtocolError {
        let &Header { message, version, .. } = self.header;
        ProtocolError::Malformed { message, what, at: self.before + self.at, version }
    }

    /// Octets left in all segments.
    pub(super) fn remaining(&self) -> usize {
        self.octets.len() - self.at + self.left_later
    }

    /// Goes on to the next segment; false at the end.
    #[cold]
    fn next_segment(&mut self) -> bool {
        let Some((next, following)) = self.following.split_first() else { return false };
        // A fragment's segment begins after its header, so its phase tells what stood before it.
        self.octets = &next.octets;
        self.holder = Holder::Piece(&next.octets);
        self.at = 0;
        self.phase = next.phase;
        self.before = HEADER_SIZE;
        self.following = following;
        self.left_later -= next.octets.len();
        true
    }

    /// Where the next value of alignment `to` starts.
    fn aligned(&self, to: usize) -> usize {
        self.at + (self.at.wrapping_add(self.phase).wrapping_neg() & (to - 1))
    }

    /// The next `N` octets, aligned to `N`, all of one segment.
    fn primitive<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ProtocolError> {
        loop {
            let from = self.aligned(N);
            if let Some(octets) = self.octets.get(from..).and_then(|rest| rest.first_chunk::<N>()) {
                self.at = from + N;
                return Ok(*octets);
            }
            if !self.next_segment() {
                return Err(self.stopped(what));
            }
        }
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, ProtocolError> {
        self.primitive::<1>(what).map(|[octet]| octet)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, ProtocolError> {
        let octets = self.primitive(what)?;
        Ok(match self.header.order {
            ByteOrder::Little => u16::from_le_bytes(octets),
            ByteOrder::Big => u16::from_be_bytes(octets),
        })
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, ProtocolError> {
        let octets = self.primitive(what)?;
        Ok(match self.header.order {
            ByteOrder::Little => u32::from_le_bytes(octets),
            ByteOrder::Big => u32::from_be_bytes(octets),
        })
    }

    /// A length or count, each unit of which takes at least `unit` octets of what is left.
    pub(super) fn count(&mut self, unit: usize, what: &'static str) -> Result<usize, ProtocolError> {
        let count = self.u32(what)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count.saturating_mul(unit) <= self.remaining() { Ok(count) } else { Err(self.stopped(what)) }
    }

    /// Passes over `n` octets that say nothing.
    pub(super) fn skip(&mut self, n: usize, what: &'static str) -> Result<(), ProtocolError> {
        if n <= self.octets.len() - self.at {
            self.at += n;
            return Ok(());
        }
        (0..n).try_for_each(|_| self.u8(what).map(drop))
    }

    /// A `sequence<octet>`: a range of the message, or a copy if fragments divide it.
    pub(super) fn octets(&mut self, what: &'static str) -> Result<Octets, ProtocolError> {
        let length = self.count(1, what)?;
        self.take(length, what)
    }

    /// A string without its NUL: a range of the message, or a copy if fragments divide it.
    pub(super) fn string(&mut self, what: &'static str) -> Result<Octets, ProtocolError> {
        let Some(length) = self.count(1, what)?.checked_sub(1) else { return Err(self.stopped(what)) };
        let text = self.take(length, what)?;
        match self.u8(what)? {
            0 => Ok(text),
            _ => Err(self.stopped(what)),
        }
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<Octets, ProtocolError> {
        if length <= self.octets.len() - self.at {
            let from = self.at;
            self.at += length;
            return Ok(self.holder.octets(from..self.at));
        }
        self.take_divided(length, what)
    }

    #[cold]
    fn take_divided(&mut self, length: usize, what: &'static str) -> Result<Octets, ProtocolError> {
        // `count` has seen that this much is there.
        let mut whole = Vec::with_capacity(length.min(self.remaining()));
        while whole.len() < length {
            let rest = &self.octets[self.at..];
            let part = &rest[..rest.len().min(length - whole.len())];
            whole.extend_from_slice(part);
            copied(part.len());
            self.at += part.len();
            if whole.len() < length && !self.next_segment() {
                return Err(self.stopped(what));
            }
        }
        Ok(whole.into())
    }

    /// Passes over padding before a body that starts at a multiple of `to`, if there is a body.
    pub(super) fn align_body(&mut self, to: usize) {
        self.at = self.aligned(to).min(self.octets.len());
    }

    /// All that is left, as a body. None of it keeps nothing.
    pub(super) fn into_body(self) -> Body {
        if self.remaining() == 0 {
            return Body::one(Segment { octets: Octets::new(), phase: 0 }, self.header.order);
        }
        let (rest, phase) = (self.at..self.octets.len(), self.at.wrapping_add(self.phase) & 7);
        match (self.following, self.holder) {
            ([], Holder::Octets(message)) => {
                Body::one(Segment { octets: message.slice(rest), phase }, self.header.order)
            }
            (following, holder) => {
                divided_body(Segment { octets: holder.held(rest), phase }, following, self.header.order)
            }
        }
    }
}

#[cold]
fn divided_body(first: Segment<Piece>, following: &[Segment<Piece>], order: ByteOrder) -> Body {
    Body::many(core::iter::once(first).chain(following.iter().cloned()).collect(), order)
}
