//! The bytes of a message body as they were received: in one piece, or in fragments.
//!
//! ```text
//! GIOP 1.2   message │ 0 … 4095        fragment │ 4096 …        alignment runs on
//! GIOP 1.1   message │ 0 … 4095        fragment │ 12 …          alignment restarts at each fragment's header
//! ```
//!
//! So each piece says how far from its alignment origin it starts; the decoder needs to know no more.

use crate::{ByteOrder, Octets};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A contiguous piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The octets. Views of sequences share them, which needs memory that is aligned as the phase says: octet 0 of
    /// phase `p` at an address of `p` modulo 8. Other memory is read just as well, by copying.
    pub octets: Octets,
    /// How far `octets[0]` is from the point that alignment is counted from, in octets. Only its value modulo 8 counts.
    pub phase: usize,
}

/// A message body: one or many segments in one byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    first: Segment,
    /// Rare, so behind one pointer: a request in one piece then is no more than 128 octets, which compilers still copy in place.
    later: Option<Arc<Vec<Segment>>>,
    /// The byte order of its primitives.
    pub order: ByteOrder,
}

impl Body {
    /// A body in one piece. Allocates nothing.
    pub const fn one(segment: Segment, order: ByteOrder) -> Self {
        Self { first: segment, later: None, order }
    }

    /// A body in several pieces, in the order they came.
    pub fn many(segments: Vec<Segment>, order: ByteOrder) -> Self {
        let mut segments = segments.into_iter();
        match segments.next() {
            Some(first) => Self { first, later: Some(Arc::new(segments.collect())), order },
            None => Self { order, ..Self::empty() },
        }
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
    pub fn later(&self) -> &[Segment] {
        self.later.as_deref().map_or(&[], Vec::as_slice)
    }

    /// All segments, in order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        core::iter::once(&self.first).chain(self.later())
    }

    /// The number of octets in all segments.
    #[inline]
    pub fn len(&self) -> usize {
        self.segments().map(|segment| segment.octets.len()).sum()
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
