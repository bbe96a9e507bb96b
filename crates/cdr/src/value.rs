//! [`Encode`] and [`Decode`]: what a value of an IDL type can do, and both for the types that Rust has.
//!
//! Wide strings are `String` too; generated code writes them with [`Encoder::write_wstring`], since `String` by itself
//! is the narrow one.

use crate::{Char, DecodeError, Decoder, EncodeError, Encoder, LongDouble, WChar};
use alloc::string::String;
use alloc::vec::Vec;

/// A value that can be written.
pub trait Encode {
    /// Writes the value. What is large and contiguous in it may be borrowed until the message is sent.
    ///
    /// # Errors
    /// What CDR or the code sets in force cannot carry. The message then holds part of the value; see
    /// [`Encoder::rewind`].
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError>;

    /// Writes the value into a message that outlives it: what can be shared is shared, the rest copied.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        let mut short: Encoder<'_> = core::mem::replace(to, Encoder::new(to.format()));
        let result = self.encode(&mut short);
        *to = short.into_static();
        result
    }

    /// Writes the values one after another, without a length: arrays and the contents of sequences. Elements override it
    /// to write them as one run.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_all<'a>(values: &'a [Self], to: &mut Encoder<'a>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        values.iter().try_for_each(|value| value.encode(to))
    }

    /// Writes the values as [`encode_all`](Self::encode_all) does, into a message that outlives them.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_all_owned(values: Vec<Self>, to: &mut Encoder<'static>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        values.into_iter().try_for_each(|value| value.encode_owned(to))
    }
}

/// A value that can be read. It borrows nothing and can be handed to another thread; that is said here once so that the
/// compiler need not work it out for every call that generated code makes.
pub trait Decode: Sized + Send + 'static {
    /// The fewest octets that a value takes, padding aside; at least 1. It bounds what a count may promise.
    const MIN_SIZE: usize = 1;

    /// Reads a value.
    ///
    /// # Errors
    /// Bytes that are not such a value, or end within it.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// Reads `count` values that stand one after another. Elements override it to read them as one run.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_all(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
        let mut values = Vec::with_capacity(count.min(first_capacity::<Self>()));
        for index in 0..count {
            values.push(Self::decode(from).map_err(|error| error.in_element(index))?);
        }
        Ok(values)
    }
}

/// How many values to make room for before the first is read: 4 KiB of them. A count is checked against the octets
/// that follow, but a value may be many times larger in memory than on the wire.
fn first_capacity<T>() -> usize {
    4096 / size_of::<T>().max(1)
}

/// The methods by which elements are written and read as runs, inside an `impl` of [`Encode`] or [`Decode`].
#[doc(hidden)]
#[macro_export]
macro_rules! element_runs {
    (encode) => {
        #[inline]
        fn encode_all<'a>(
            _values: &'a [Self],
            _to: &mut $crate::Encoder<'a>,
        ) -> ::core::result::Result<(), $crate::EncodeError> {
            _to.write_elements(_values)
        }

        #[inline]
        fn encode_all_owned(
            _values: $crate::alloc::vec::Vec<Self>,
            _to: &mut $crate::Encoder<'static>,
        ) -> ::core::result::Result<(), $crate::EncodeError> {
            _to.write_owned_elements(_values)
        }
    };
    (decode) => {
        #[inline]
        fn decode_all(
            _from: &mut $crate::Decoder<'_>,
            _count: ::core::primitive::usize,
        ) -> ::core::result::Result<$crate::alloc::vec::Vec<Self>, $crate::DecodeError> {
            _from.read_elements(_count)
        }
    };
}

impl<T: Encode + ?Sized> Encode for &T {
    #[inline]
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        T::encode(self, to)
    }
}

impl Encode for () {
    #[inline]
    fn encode<'a>(&'a self, _: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl Decode for () {
    #[inline]
    fn decode(_: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

macro_rules! primitives {
    ($($type:ty: $size:literal $write:ident $read:ident;)*) => {$(
        impl Encode for $type {
            #[inline]
            fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                to.$write(*self);
                Ok(())
            }

            #[inline]
            fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
                to.$write(self);
                Ok(())
            }

            $crate::element_runs!(encode);
        }

        impl Decode for $type {
            const MIN_SIZE: usize = $size;

            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                from.$read()
            }

            $crate::element_runs!(decode);
        }
    )*};
}

primitives! {
    bool: 1 write_bool read_bool;
    u8: 1 write_u8 read_u8;
    i8: 1 write_i8 read_i8;
    i16: 2 write_i16 read_i16;
    u16: 2 write_u16 read_u16;
    i32: 4 write_i32 read_i32;
    u32: 4 write_u32 read_u32;
    i64: 8 write_i64 read_i64;
    u64: 8 write_u64 read_u64;
    f32: 4 write_f32 read_f32;
    f64: 8 write_f64 read_f64;
    Char: 1 write_char read_char;
    LongDouble: 16 write_long_double read_long_double;
}

impl Encode for WChar {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_wchar(*self)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_wchar(self)
    }
}

impl Decode for WChar {
    const MIN_SIZE: usize = 2;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.read_wchar()
    }
}

impl Encode for str {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_string(self)
    }
}

impl Encode for String {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_string(self)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_string(&self)
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.read_string()
    }
}

impl<T: Encode> Encode for [T] {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_length(self.len())?;
        T::encode_all(self, to)
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.as_slice().encode(to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_length(self.len())?;
        T::encode_all_owned(self, to)
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let count = from.read_count(T::MIN_SIZE)?;
        Self::decode_counted(from, count)
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    #[inline]
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        T::encode_all(self, to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        T::encode_all_owned(self.into(), to)
    }

    fn encode_all<'a>(values: &'a [Self], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        T::encode_all(values.as_flattened(), to)
    }
}

impl<T: Decode, const N: usize> Decode for [T; N] {
    const MIN_SIZE: usize = if N == 0 { 1 } else { T::MIN_SIZE * N };

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        // An array's size comes from IDL, not from the peer, but what is read for it must be there.
        let values = T::decode_all(from, N)?;
        values
            .try_into()
            .map_err(|_| from.error(crate::DecodeErrorKind::Invalid("an array of the wrong length"), "array"))
    }
}

/// A value of variable length: what IDL can bound.
pub trait Bounded: Decode {
    /// Reads the value after its length, which is `count`.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_counted(from: &mut Decoder<'_>, count: usize) -> Result<Self, DecodeError>;

    /// The fewest octets that each of the `count` things in it takes.
    const ELEMENT_SIZE: usize;
}

impl<T: Decode> Bounded for Vec<T> {
    const ELEMENT_SIZE: usize = T::MIN_SIZE;

    fn decode_counted(from: &mut Decoder<'_>, count: usize) -> Result<Self, DecodeError> {
        from.nested(|from| T::decode_all(from, count))
    }
}

impl Decoder<'_> {
    /// Reads a bounded sequence, a `Vec` or a [`Sequence`](crate::Sequence). The bound is checked before an element is
    /// read.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BoundExceeded`](crate::DecodeErrorKind::BoundExceeded), naming `what`, and those of the value.
    pub fn read_bounded<T: Bounded>(&mut self, bound: u32, what: &'static str) -> Result<T, DecodeError> {
        let count = self.read_count(T::ELEMENT_SIZE).map_err(|error| error.in_what(what))?;
        self.check_bound(count, bound, what)?;
        T::decode_counted(self, count)
    }
}
