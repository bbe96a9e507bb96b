//! A value that its program writes itself, and may fail to write.

use zorb::CustomMarshal;
use zorb::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, EncodeErrorKind, Encoder};

use crate::belfry::Stroke;

/// The number of a stroke that cannot be written.
pub const REFUSED: i32 = -1;

/// The number of one whose writing panics.
pub const BROKEN: i32 = -2;

impl CustomMarshal for Stroke {
    fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        assert_ne!(self.number, BROKEN, "a fault of the program's");
        match self.number {
            REFUSED => Err(EncodeError::new(EncodeErrorKind::TooLong(0), "stroke")),
            _ => self.number.encode(to),
        }
    }

    fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Stroke { number: Decode::decode(from)? })
    }
}
