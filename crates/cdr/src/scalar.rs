//! The IDL scalars that Rust has no type for: `char`, `wchar`, `long double`.

use bytemuck::{Pod, Zeroable};
use core::fmt;

/// An IDL `char`: one octet of text.
///
/// It travels as it is. Which character an octet from 128 up stands for is a matter of the code set in force, and UTF-8
/// has none in a single octet: text belongs into a `string`. The conversions here take it as ISO 8859-1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Zeroable, Pod)]
#[repr(transparent)]
pub struct Char(pub u8);

impl From<u8> for Char {
    fn from(octet: u8) -> Self {
        Self(octet)
    }
}

impl From<Char> for u8 {
    fn from(value: Char) -> Self {
        value.0
    }
}

impl From<Char> for char {
    fn from(value: Char) -> Self {
        value.0.into()
    }
}

impl TryFrom<char> for Char {
    type Error = core::char::TryFromCharError;

    fn try_from(character: char) -> Result<Self, Self::Error> {
        u8::try_from(character).map(Self)
    }
}

impl fmt::Debug for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&char::from(*self), f)
    }
}

impl fmt::Display for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&char::from(*self), f)
    }
}

/// An IDL `wchar`: one UTF-16 code unit. A character beyond U+FFFF takes two, and belongs into a `wstring`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct WChar(pub u16);

impl From<u16> for WChar {
    fn from(unit: u16) -> Self {
        Self(unit)
    }
}

impl From<WChar> for u16 {
    fn from(value: WChar) -> Self {
        value.0
    }
}

impl TryFrom<char> for WChar {
    type Error = core::char::TryFromCharError;

    fn try_from(character: char) -> Result<Self, Self::Error> {
        u16::try_from(character).map(Self)
    }
}

impl TryFrom<WChar> for char {
    type Error = core::char::CharTryFromError;

    /// Fails on half of a surrogate pair.
    fn try_from(value: WChar) -> Result<Self, Self::Error> {
        char::try_from(u32::from(value.0))
    }
}

impl fmt::Debug for WChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match char::try_from(*self) {
            Ok(character) => fmt::Debug::fmt(&character, f),
            Err(_) => write!(f, "'\\u{{{:x}}}'", self.0),
        }
    }
}

/// An IDL `long double`: an IEEE 754 binary128, 16 octets aligned to 8.
///
/// Rust has no such type yet. The bits are kept exactly, and compared as bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Zeroable, Pod)]
#[repr(C)]
pub struct LongDouble([u64; 2]);

const EXPONENT_BIAS: i32 = 16383;
const FRACTION_BITS: u32 = 112;

impl LongDouble {
    /// The number with these bits: sign, 15 bits of exponent, 112 of fraction.
    pub const fn from_bits(bits: u128) -> Self {
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        if cfg!(target_endian = "little") { Self([low, high]) } else { Self([high, low]) }
    }

    /// The bits: sign, 15 bits of exponent, 112 of fraction.
    pub const fn to_bits(self) -> u128 {
        let [first, second] = self.0;
        let (high, low) = if cfg!(target_endian = "little") { (second, first) } else { (first, second) };
        (high as u128) << 64 | low as u128
    }

    /// The number with its octets reversed.
    pub(crate) const fn swap_bytes(self) -> Self {
        Self([self.0[1].swap_bytes(), self.0[0].swap_bytes()])
    }

    /// The nearest double, with ties to even as IEEE 754 rounds by default; an infinity where it is out of range.
    pub fn to_f64(self) -> f64 {
        let bits = self.to_bits();
        let sign = ((bits >> 127) as u64) << 63;
        let exponent = (bits >> FRACTION_BITS) as i32 & 0x7fff;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        if exponent == 0x7fff {
            let quiet = if fraction == 0 { 0 } else { 1 << 51 | (fraction >> 60) as u64 };
            return f64::from_bits(sign | 0x7ff << 52 | quiet);
        }
        let exponent = exponent - EXPONENT_BIAS + 1023;
        if exponent >= 0x7ff {
            return f64::from_bits(sign | 0x7ff << 52);
        }
        // The significand with its implicit one; a double keeps 52 bits below it, a subnormal fewer.
        let significand = 1 << FRACTION_BITS | fraction;
        let dropped = if exponent > 0 { 60 } else { 61_u32.saturating_add_signed(-exponent).min(127) };
        let kept = (significand >> dropped) as u64;
        let rest = significand & ((1 << dropped) - 1);
        let half = 1 << (dropped - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        // A carry out of the fraction runs into the exponent, which is what rounding up means there.
        let kept = kept + u64::from(up);
        let magnitude =
            if exponent > 0 { ((exponent as u64) << 52).wrapping_add(kept - (1 << 52)) } else { kept };
        f64::from_bits(sign | magnitude)
    }
}

impl From<f64> for LongDouble {
    /// Exact: every double is a long double.
    fn from(value: f64) -> Self {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let exponent = (bits >> 52) as i32 & 0x7ff;
        let fraction = u128::from(bits & ((1 << 52) - 1)) << 60;
        let (exponent, fraction) = match (exponent, fraction) {
            (0, 0) => (0, 0),
            (0, _) => {
                // Subnormal as a double, normal here: shift the leading one to where it is implicit.
                let shift = fraction.leading_zeros() - (127 - FRACTION_BITS);
                (EXPONENT_BIAS - 1022 - shift as i32, fraction << shift & ((1 << FRACTION_BITS) - 1))
            }
            (0x7ff, _) => (0x7fff, fraction),
            _ => (exponent - 1023 + EXPONENT_BIAS, fraction),
        };
        Self::from_bits(sign | (exponent as u128) << FRACTION_BITS | fraction)
    }
}

impl fmt::Debug for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LongDouble({:#034x})", self.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_survive() {
        let least = f64::from_bits(1);
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f64::MAX,
            f64::MIN_POSITIVE,
            least,
            least * 3.0,
            f64::INFINITY,
            1e-310,
            0.1,
        ];
        for value in edges {
            assert_eq!(LongDouble::from(value).to_f64().to_bits(), value.to_bits(), "{value:e}");
        }
        assert!(LongDouble::from(f64::NAN).to_f64().is_nan());
    }

    #[test]
    fn known_bits() {
        assert_eq!(LongDouble::from(1.0).to_bits(), 0x3fff << 112);
        assert_eq!(LongDouble::from(-2.0).to_bits(), 0xc000 << 112);
        assert_eq!(LongDouble::from(f64::from_bits(1)).to_bits(), (16383 - 1074) << 112);
    }

    #[test]
    fn rounds_to_even() {
        let one = LongDouble::from(1.0).to_bits();
        assert_eq!(LongDouble::from_bits(one | 1 << 59).to_f64(), 1.0);
        assert_eq!(LongDouble::from_bits(one | 1 << 59 | 1).to_f64(), 1.0 + f64::EPSILON);
        assert_eq!(LongDouble::from_bits(one | 3 << 59).to_f64(), 1.0 + 2.0 * f64::EPSILON);
        assert_eq!(LongDouble::from_bits(one - 1).to_f64(), 1.0);
        assert_eq!(LongDouble::from_bits(0x7ffe << 112).to_f64(), f64::INFINITY);
        assert_eq!(LongDouble::from_bits(1).to_f64(), 0.0);
        // Halfway between zero and the least subnormal, and just above.
        assert_eq!(LongDouble::from_bits((16383 - 1075) << 112).to_f64(), 0.0);
        assert_eq!(LongDouble::from_bits((16383 - 1075) << 112 | 1).to_f64(), f64::from_bits(1));
    }
}
