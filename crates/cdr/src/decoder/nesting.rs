//! What lies in what: encapsulations, values that can contain themselves, and how deep that may go.

use super::{Decoder, Owner};
use crate::{ByteOrder, DecodeError, DecodeErrorKind, Format};
use alloc::borrow::Cow;

/// What a decoder refuses to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How deep sequences, encapsulations and other recursive values may nest. The default is 256: a level of generated
    /// code takes up to a few KiB of stack, and a thread has 2 MiB.
    pub nesting: u32,
}

impl Limits {
    /// Limits with this depth of nesting.
    pub const fn nesting(nesting: u32) -> Self {
        Self { nesting }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::nesting(256)
    }
}

impl Decoder<'_> {
    /// Reads an encapsulation (§9.3.3) and gives a decoder for its contents; this one is then past it.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`], [`DecodeErrorKind::BadByteOrder`], [`DecodeErrorKind::TooDeep`].
    pub fn encapsulation(&mut self) -> Result<Decoder<'_>, DecodeError> {
        let count = self.read_count(1)?;
        let depth = self.deeper()?;
        let (limits, context) = (self.limits, self.context);
        let (octets, owner): (&[u8], _) = match self.read_octets(count)? {
            Cow::Borrowed(octets) => (octets, self.owner),
            Cow::Owned(octets) => {
                let rare = self.rare.get_or_insert_default();
                rare.assembled = octets.into();
                (&rare.assembled, Owner::Octets(&rare.assembled))
            }
        };
        let mut inner = Decoder {
            limits,
            depth,
            context,
            ..Decoder::build(octets, owner, ByteOrder::NATIVE, Format::ENCAPSULATION)
        };
        inner.read_byte_order()?;
        Ok(inner)
    }

    pub(super) fn read_byte_order(&mut self) -> Result<(), DecodeError> {
        self.order = match self.read_primitive(1, "encapsulation")? {
            [0] => ByteOrder::Big,
            [1] => ByteOrder::Little,
            [other] => {
                return Err(DecodeError::new(DecodeErrorKind::BadByteOrder(other), "encapsulation", 0));
            }
        };
        Ok(())
    }

    fn deeper(&self) -> Result<u32, DecodeError> {
        if self.depth >= self.limits.nesting {
            return Err(self.error(DecodeErrorKind::TooDeep { limit: self.limits.nesting }, "value"));
        }
        Ok(self.depth + 1)
    }

    /// Reads what lies one level deeper: everything that can contain itself goes through here.
    ///
    /// # Errors
    /// [`DecodeErrorKind::TooDeep`] at the limit, and those of `read`.
    #[inline]
    pub fn nested<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        self.depth = self.deeper()?;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
