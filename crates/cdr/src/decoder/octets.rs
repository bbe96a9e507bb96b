//! Octets as they lie in a segment: looked at, shared with what holds them, or copied.

use super::{Decoder, Owner, Rare};
use crate::copies::copied;
use crate::view::Shared;
use crate::{DecodeError, DecodeErrorKind, KeptMemory};
use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;

impl Rare<'_> {
    #[cold]
    fn unless_refused(&self) -> Result<(), DecodeError> {
        self.refused.clone().map_or(Ok(()), Err)
    }
}

impl<'a> Decoder<'a> {
    /// A decoder for what is left of this segment alone, as this one would read it.
    pub(crate) fn of_segment(&mut self) -> Decoder<'a> {
        if self.left_here() == 0 {
            self.next_segment();
        }
        let phase = self.at.wrapping_add(self.phase) & 7;
        Decoder {
            phase,
            limits: self.limits,
            depth: self.depth,
            context: self.context,
            ..Self::build(&self.octets[self.at..], Owner::None, self.order, self.format)
        }
    }

    /// Reads with alignment counted from `phase` octets before the first.
    pub(crate) fn with_phase(mut self, phase: usize) -> Self {
        self.phase = phase & 7;
        self
    }

    /// How far the next octet is from the alignment origin, modulo 8.
    pub(crate) fn phase(&self) -> usize {
        self.at.wrapping_add(self.phase) & 7
    }

    /// Whether nothing comes after this segment.
    pub(crate) fn is_last_segment(&self) -> bool {
        self.left_later == 0
    }

    /// The next `count` octets if they lie in this segment.
    #[inline]
    pub(crate) fn here(&self, count: usize) -> Option<&'a [u8]> {
        self.octets.get(self.at..)?.get(..count)
    }

    /// Octets left in this segment.
    #[inline]
    pub(crate) fn left_here(&self) -> usize {
        self.octets.len() - self.at
    }

    /// Goes past octets that [`here`](Self::here) gave.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.octets.len());
    }

    /// Octets that [`here`](Self::here) gave, shared with what holds them, if that can be shared. A receive buffer is
    /// shared from [`VIEW_FROM`](crate::VIEW_FROM) octets on.
    pub(crate) fn share(&self, octets: &'a [u8]) -> Option<Shared> {
        match self.owner {
            Owner::None => None,
            Owner::Bytes(owner) | Owner::Elements(owner) => Some(Shared::Lent(owner.slice_ref(octets))),
            Owner::Octets(owner) => owner.view(octets, self.kept_memory()).map(Shared::Received),
        }
    }

    /// Remembers why elements that could have been shared were not.
    #[cold]
    pub(crate) fn was_not_shared(&mut self, octets: usize) {
        if let Err(refused) = self.unless_refused(octets, "sequence") {
            self.rare.get_or_insert_default().refused = Some(refused);
        }
    }

    /// Why elements were not shared, if that is to be an error.
    ///
    /// # Errors
    /// [`DecodeErrorKind::KeptMemory`].
    #[inline(always)]
    pub(crate) fn unless_elements_are_refused(&self) -> Result<(), DecodeError> {
        match &self.rare {
            Some(rare) => rare.unless_refused(),
            None => Ok(()),
        }
    }

    fn kept_memory(&self) -> Option<&'a Arc<KeptMemory>> {
        self.context?.kept_memory()
    }

    /// That a value of `what`, of so many octets that it would be shared, was not, since as much is kept as may be and more is refused.
    ///
    /// # Errors
    /// [`DecodeErrorKind::KeptMemory`].
    #[cold]
    pub(crate) fn unless_refused(&self, octets: usize, what: &'static str) -> Result<(), DecodeError> {
        match (self.owner, self.kept_memory()) {
            (Owner::Octets(owner), Some(kept)) if octets >= crate::VIEW_FROM && owner.is_refused_by(kept) => {
                Err(self.error(DecodeErrorKind::KeptMemory { most: kept.most() }, what))
            }
            _ => Ok(()),
        }
    }

    /// Reads `count` octets: borrowed where they lie in one segment, else copied.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], before anything is allocated.
    pub fn read_octets(&mut self, count: usize) -> Result<Cow<'a, [u8]>, DecodeError> {
        if self.left_here() == 0 {
            self.next_segment();
        }
        if let Some(octets) = self.here(count) {
            self.at += count;
            return Ok(Cow::Borrowed(octets));
        }
        self.gather(count).map(Cow::Owned)
    }

    /// Reads `count` octets as bytes of their own: shared with what holds them where that is possible and worth it, else
    /// copied.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], before anything is allocated.
    pub fn read_bytes(&mut self, count: usize) -> Result<Bytes, DecodeError> {
        Ok(match self.read_octets(count)? {
            Cow::Borrowed(octets) => match self.share(octets) {
                Some(shared) => shared.into(),
                None => {
                    self.unless_refused(octets.len(), "octets")?;
                    copied(octets.len());
                    Bytes::copy_from_slice(octets)
                }
            },
            Cow::Owned(octets) => octets.into(),
        })
    }

    #[cold]
    fn gather(&mut self, count: usize) -> Result<Vec<u8>, DecodeError> {
        if count > self.remaining() {
            return Err(self.error(DecodeErrorKind::Truncated, "octets"));
        }
        let mut octets = alloc::vec![0; count];
        self.copy_to(&mut octets)?;
        Ok(octets)
    }

    /// Reads a `sequence<octet>` as bytes of their own, as [`read_bytes`](Self::read_bytes) does.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`].
    pub fn read_octet_sequence(&mut self) -> Result<Bytes, DecodeError> {
        let count = self.read_count(1)?;
        self.read_bytes(count)
    }
}
