//! [`CustomMarshal`]: values that write and read themselves.

use crate::{DecodeError, Decoder, EncodeError, Encoder};

/// How values of a `custom valuetype` travel (CORBA part 1, §8.2.6): what the user of generated code implements for the type. The
/// encoder and the decoder are what CORBA calls `DataOutputStream` and `DataInputStream`: they have methods for the basic types, and
/// all other types are [`Encode`](crate::Encode) and [`Decode`](crate::Decode).
///
/// The values travel in chunks, so that a receiver that does not know the type can pass them over. What `unmarshal` leaves is passed
/// over; to read more than was written is an error. Both sides must agree on what is written: a generated type can write
/// the members that its IDL declares, and more behind them.
pub trait CustomMarshal: Sized {
    /// Writes the value.
    ///
    /// # Errors
    /// What cannot be sent.
    fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError>;

    /// Reads a value.
    ///
    /// # Errors
    /// Octets that are no such value.
    fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;
}
