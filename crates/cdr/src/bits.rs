//! Bits in integers: what IDL 4.2 calls `bitmask` and `bitset` (§7.4.13.4.3).
//!
//! Both travel as the smallest of the integers of 8, 16, 32 and 64 bits that holds them, the first field of a bitset at the least
//! significant end:
//!
//! ```text
//! bitset { bitfield<3> a; bitfield<1> b; bitfield<4>; bitfield<12> c; }     one unsigned long
//!
//!  31                20 19              8 7       4  3  2      0
//! ┌────────────────────┬─────────────────┬─────────┬───┬────────┐
//! │ 0                  │ c               │ free    │ b │ a      │
//! └────────────────────┴─────────────────┴─────────┴───┴────────┘
//! ```
//!
//! So DDS-XTYPES 1.3 (§7.4) serializes a bitmask. No specification says how GIOP carries either.

use crate::{DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder};

/// So many bits, 1 to 64, at the least significant end.
const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// A type of bitfields: an integer or `boolean`.
pub trait BitField: Copy {
    /// The value in `width` bits, 1 to 64, signed ones in two's complement; `None` if they do not hold it.
    fn to_bits(self, width: u32) -> Option<u64>;

    /// The value of `width` bits; none are set above.
    fn from_bits(bits: u64, width: u32) -> Self;
}

impl BitField for bool {
    fn to_bits(self, _: u32) -> Option<u64> {
        Some(self.into())
    }

    fn from_bits(bits: u64, _: u32) -> Self {
        bits != 0
    }
}

macro_rules! bit_fields {
    ($($unsigned:ident $signed:ident),*) => {$(
        impl BitField for $unsigned {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = u64::from(self);
                (bits & mask(width) == bits).then_some(bits)
            }

            fn from_bits(bits: u64, _: u32) -> Self {
                bits as Self
            }
        }

        impl BitField for $signed {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = i64::from(self) as u64 & mask(width);
                (Self::from_bits(bits, width) == self).then_some(bits)
            }

            fn from_bits(bits: u64, width: u32) -> Self {
                let above = 64 - width;
                ((bits << above) as i64 >> above) as Self
            }
        }
    )*};
}
bit_fields!(u8 i8, u16 i16, u32 i32, u64 i64);

/// The bits of a field of `width` bits, shifted to its position.
///
/// # Errors
/// A value that its bits do not hold; `what` names the field.
pub fn pack<T: BitField>(
    value: T,
    position: u32,
    width: u32,
    what: &'static str,
) -> Result<u64, EncodeError> {
    match value.to_bits(width) {
        Some(bits) => Ok(bits << position),
        None => Err(EncodeError::new(EncodeErrorKind::Invalid("it has more bits than its field"), what)),
    }
}

/// The field of `width` bits at a position.
pub fn unpack<T: BitField>(bits: u64, position: u32, width: u32) -> T {
    T::from_bits(bits >> position & mask(width), width)
}

impl Encoder<'_> {
    /// Writes `bound` bits, 1 to 64, as the smallest integer that holds them.
    pub fn write_bits(&mut self, bits: u64, bound: u32) {
        match bound {
            ..=8 => self.write_u8(bits as u8),
            9..=16 => self.write_u16(bits as u16),
            17..=32 => self.write_u32(bits as u32),
            _ => self.write_u64(bits),
        }
    }
}

impl Decoder<'_> {
    /// Reads what [`Encoder::write_bits`] writes.
    ///
    /// # Errors
    /// An integer with more than `bound` bits, or that ends within it; `what` names its type.
    pub fn read_bits(&mut self, bound: u32, what: &'static str) -> Result<u64, DecodeError> {
        let bits = match bound {
            ..=8 => self.read_u8().map(u64::from),
            9..=16 => self.read_u16().map(u64::from),
            17..=32 => self.read_u32().map(u64::from),
            _ => self.read_u64(),
        };
        let bits = bits.map_err(|error| error.in_what(what))?;
        if bits & !mask(bound) != 0 {
            return Err(self.error(DecodeErrorKind::Invalid("a bit is set that its type has not got"), what));
        }
        Ok(bits)
    }
}

/// Implements the bitwise operators, `Debug`, [`Encode`](crate::Encode), [`Decode`](crate::Decode) and the methods of a
/// bitmask: a struct that holds one integer, with a constant for each flag.
///
/// It names the struct, its integer, how many bits it has, what the methods are called, and the flags. A flag may have a
/// method's usual name, which then gives way.
///
/// ```
/// #[derive(Clone, Copy, PartialEq, Eq, Default)]
/// pub struct Access(u8);
///
/// impl Access {
///     pub const read: Self = Self(1 << 0);
///     pub const write: Self = Self(1 << 1);
/// }
/// zorb_cdr::bitmask!(Access: u8, 3 methods { bits, from_bits, contains, is_empty } flags { read, write });
///
/// let access = Access::read | Access::from_bits(4).unwrap();
/// assert!(access.contains(Access::read) && !access.contains(Access::write) && (access & Access::write).is_empty());
/// assert_eq!((format!("{access:?}"), format!("{:?}", !access)), ("Access(read | 0x4)".into(), "Access(write)".into()));
/// assert_eq!(Access::from_bits(8), None);
/// ```
// Locals begin with an underscore, as no IDL name does.
#[macro_export]
macro_rules! bitmask {
    ($name:ident: $integer:ty, $bound:literal
        methods { $bits:ident, $from_bits:ident, $contains:ident, $is_empty:ident } flags { $($flag:ident),* $(,)? }) => {
        // Of a type that only its crate sees, or that uses none of them.
        #[allow(unreachable_pub, dead_code)]
        impl $name {
            /// The bits as an integer.
            #[must_use]
            pub const fn $bits(self) -> $integer {
                self.0
            }

            /// The value with these bits, named or not; `None` if there are more than the type has.
            #[must_use]
            pub const fn $from_bits(_bits: $integer) -> ::core::option::Option<Self> {
                if _bits & !(<$integer>::MAX >> (<$integer>::BITS - $bound)) == 0 {
                    ::core::option::Option::Some(Self(_bits))
                } else {
                    ::core::option::Option::None
                }
            }

            /// Whether all that are set in the other are set.
            #[must_use]
            pub const fn $contains(self, _other: Self) -> ::core::primitive::bool {
                self.0 & _other.0 == _other.0
            }

            /// Whether none is set.
            #[must_use]
            pub const fn $is_empty(self) -> ::core::primitive::bool {
                self.0 == 0
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, _f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let _flags: &[(&::core::primitive::str, $integer)] = &[$((stringify!($flag), Self::$flag.0)),*];
                $crate::bits::debug(_f, stringify!($name), self.0.into(), _flags.iter().map(|_it| (_it.0, _it.1.into())))
            }
        }

        impl ::core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, _other: Self) -> Self {
                Self(self.0 | _other.0)
            }
        }

        impl ::core::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, _other: Self) {
                self.0 |= _other.0;
            }
        }

        impl ::core::ops::BitAnd for $name {
            type Output = Self;

            fn bitand(self, _other: Self) -> Self {
                Self(self.0 & _other.0)
            }
        }

        impl ::core::ops::BitXor for $name {
            type Output = Self;

            fn bitxor(self, _other: Self) -> Self {
                Self(self.0 ^ _other.0)
            }
        }

        impl ::core::ops::Not for $name {
            type Output = Self;

            fn not(self) -> Self {
                Self(!self.0 & (<$integer>::MAX >> (<$integer>::BITS - $bound)))
            }
        }

        impl $crate::Encode for $name {
            #[inline]
            fn encode<'a>(&'a self, _to: &mut $crate::Encoder<'a>) -> ::core::result::Result<(), $crate::EncodeError> {
                _to.write_bits(self.0.into(), $bound);
                ::core::result::Result::Ok(())
            }
        }

        impl $crate::Decode for $name {
            const MIN_SIZE: ::core::primitive::usize = ::core::mem::size_of::<$integer>();

            #[inline]
            fn decode(_from: &mut $crate::Decoder<'_>) -> ::core::result::Result<Self, $crate::DecodeError> {
                ::core::result::Result::Ok(Self(_from.read_bits($bound, stringify!($name))? as $integer))
            }
        }
    };
}

/// Prints the flags that are set by name, and the bits that have none as a number.
#[doc(hidden)]
pub fn debug(
    to: &mut core::fmt::Formatter<'_>,
    name: &str,
    bits: u64,
    flags: impl Iterator<Item = (&'static str, u64)>,
) -> core::fmt::Result {
    write!(to, "{name}(")?;
    let (mut rest, mut separator) = (bits, "");
    for (flag, bit) in flags.filter(|(_, bit)| bits & bit != 0) {
        write!(to, "{separator}{}", flag.trim_start_matches("r#"))?;
        (rest, separator) = (rest & !bit, " | ");
    }
    if rest != 0 {
        write!(to, "{separator}{rest:#x}")?;
    }
    to.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrder, Format};

    #[test]
    fn fields_hold_what_fits() {
        for (value, width, bits) in
            [(0_i8, 1, Some(0)), (-1, 1, Some(1)), (1, 1, None), (-4, 3, Some(4)), (4, 3, None)]
        {
            assert_eq!(value.to_bits(width), bits, "{value} in {width}");
            if let Some(bits) = bits {
                assert_eq!(i8::from_bits(bits, width), value);
            }
        }
        assert_eq!((7_u8.to_bits(3), 8_u8.to_bits(3), u64::MAX.to_bits(64)), (Some(7), None, Some(u64::MAX)));
        assert_eq!(i64::from_bits(i64::MIN.to_bits(64).unwrap(), 64), i64::MIN);
        assert_eq!(pack(5_u16, 8, 12, "B::c").unwrap(), 0x500);
        assert_eq!(pack(4096_u16, 8, 12, "B::c").unwrap_err().what, "B::c");
        assert_eq!((unpack::<i16>(0xfff << 8, 8, 12), unpack::<bool>(8, 3, 1)), (-1, true));
    }

    #[test]
    fn the_smallest_integer_carries_them() {
        for (bound, octets) in [(1, 1), (8, 1), (9, 2), (16, 2), (17, 4), (32, 4), (33, 8), (64, 8)] {
            let mut to = Encoder::new(Format::default());
            to.write_bits(mask(bound), bound);
            let written = to.to_bytes();
            assert_eq!(written.len(), octets, "{bound} bits");
            let read = |octets: &[u8]| {
                Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default()).read_bits(bound, "B").ok()
            };
            assert_eq!((read(&written), read(&written[1..])), (Some(mask(bound)), None));
            // One bit more than there are.
            let all = read(&[0xff; 8][..octets]);
            assert_eq!(all.is_some(), bound as usize == 8 * octets, "{bound} bits");
        }
    }
}
