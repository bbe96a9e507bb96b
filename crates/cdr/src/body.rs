//! The bytes of a message body as they were received: in one piece, or in fragments.
//!
//! ```text
//! GIOP 1.2   message │ 0 … 4095        fragment │ 4096 …        alignment runs on
//! GIOP 1.1   message │ 0 … 4095        fragment │ 12 …          alignment restarts at each fragment's header
//! ```
//!
//! So each piece says how far from its alignment origin it starts; the decoder needs to know no more.

use crate::{ByteOrder, Memory, Octets};
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::mem;
use core::ops::{Deref, Range};

/// A contiguous piece of a body: the first one's octets lie in the receive buffer, those of others are [`Piece`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<O = Octets> {
    /// The octets. Views of sequences share them, which needs memory that is aligned as the phase says: octet 0 of
    /// phase `p` at an address of `p` modulo 8. Other memory is read just as well, by copying.
    pub octets: O,
    /// How far `octets[0]` is from the point that alignment is counted from, in octets. Only its value modulo 8 counts.
    pub phase: usize,
}

impl From<Segment> for Segment<Piece> {
    fn from(Segment { octets, phase }: Segment) -> Self {
        Segment { octets: octets.into(), phase }
    }
}

/// Octets of a later piece: received, or where somebody else has put them. Apart from [`Octets`], of which every message has some and which
/// need not ask where they are.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Received.
    Octets(Octets),
    /// In memory that is somebody else's, such as a peer's, and only read.
    Lent(Bytes),
    /// The elements of a sequence as they are in memory, in this machine's byte order whatever the body's and the last with its tail: put there by
    /// who knew their type ([`Run`](crate::Run)). The segment is theirs alone, and in phase.
    Elements(Bytes),
}

impl Piece {
    /// A part of them, which keeps the same memory.
    ///
    /// # Panics
    /// If they do not hold it.
    pub fn slice(&self, range: Range<usize>) -> Piece {
        match self {
            Piece::Octets(octets) => Piece::Octets(octets.slice(range)),
            Piece::Lent(octets) => Piece::Lent(octets.slice(range)),
            Piece::Elements(octets) => Piece::Elements(octets.slice(range)),
        }
    }

    /// The same octets as [`Bytes`]: few that were received are copied, as by [`Octets::to_bytes`].
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Piece::Octets(octets) => octets.to_bytes(),
            Piece::Lent(octets) | Piece::Elements(octets) => octets.clone(),
        }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Piece::Octets(octets) => octets,
            Piece::Lent(octets) | Piece::Elements(octets) => octets,
        }
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Piece {}

impl From<Octets> for Piece {
    fn from(octets: Octets) -> Self {
        Piece::Octets(octets)
    }
}

impl From<Bytes> for Piece {
    fn from(octets: Bytes) -> Self {
        Piece::Lent(octets)
    }
}

/// A message body: one or many segments in one byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    first: Segment,
    /// Rare, so behind one pointer: a request in one piece then is no more than 128 octets, which compilers still copy in place.
    later: Option<Arc<Vec<Segment<Piece>>>>,
    /// The byte order of its primitives.
    pub order: ByteOrder,
}

impl Body {
    /// A body in one piece. Allocates nothing.
    pub const fn one(segment: Segment, order: ByteOrder) -> Self {
        Self { first: segment, later: None, order }
    }

    /// Makes it a body in one piece, in this machine's byte order: the `length` octets of `memory` from `at` on, where alignment is counted from.
    /// Less dear than a new one where it lies in that memory.
    #[inline]
    pub fn move_to(&mut self, memory: &Memory, at: usize, length: usize) {
        self.first.octets.move_to(memory, at, length);
        (self.first.phase, self.later, self.order) = (0, None, ByteOrder::NATIVE);
    }

    /// A body in several pieces, in the order they came.
    pub fn many<O: Into<Piece>>(segments: Vec<Segment<O>>, order: ByteOrder) -> Self {
        let held = |Segment { octets, phase }: Segment<O>| Segment { octets: octets.into(), phase };
        // In the memory that the segments have.
        let mut later: Vec<Segment<Piece>> = segments.into_iter().map(held).collect();
        let first = match later.first_mut() {
            None => return Self { order, ..Self::empty() },
            Some(Segment { octets: Piece::Octets(octets), phase }) => {
                let first = Segment { octets: mem::take(octets), phase: *phase };
                later.remove(0);
                first
            }
            // Behind nothing.
            Some(lent) => Segment { octets: Octets::new(), phase: lent.phase },
        };
        Self { first, later: Some(Arc::new(later)), order }
    }

    /// A body without octets.
    pub const fn empty() -> Self {
        Self::one(Segment { octets: Octets::new(), phase: 0 }, ByteOrder::NATIVE)
    }

    /// The first segment, empty in an empty body.
    #[inline]
    pub const fn first(&self) -> &Segment {
        &self.first
    }

    /// The segments after the first.
    #[inline]
    pub fn later(&self) -> &[Segment<Piece>] {
        self.later.as_deref().map_or(&[], Vec::as_slice)
    }

    /// All segments, in order: handles on the same octets.
    pub fn segments(&self) -> impl Iterator<Item = Segment<Piece>> {
        core::iter::once(self.first.clone().into()).chain(self.later().iter().cloned())
    }

    /// The number of octets in all segments.
    #[inline]
    pub fn len(&self) -> usize {
        self.first.octets.len() + if self.later.is_some() { self.len_of_later() } else { 0 }
    }

    #[cold]
    fn len_of_later(&self) -> usize {
        self.later().iter().map(|segment| segment.octets.len()).sum()
    }

    /// Whether there are no octets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}
