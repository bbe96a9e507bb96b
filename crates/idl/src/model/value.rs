//! The values of constants and of union labels.

use core::fmt;

use super::DefinitionId;

/// A value of a type that a constant can have.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// `short`.
    Short(i16),
    /// `long`.
    Long(i32),
    /// `long long`.
    LongLong(i64),
    /// `unsigned short`.
    UnsignedShort(u16),
    /// `unsigned long`.
    UnsignedLong(u32),
    /// `unsigned long long`.
    UnsignedLongLong(u64),
    /// `octet`.
    Octet(u8),
    /// `int8`.
    Int8(i8),
    /// `uint8`.
    UInt8(u8),
    /// `float`; finite.
    Float(f32),
    /// `double`; finite.
    Double(f64),
    /// `long double`; finite.
    LongDouble(Quadruple),
    /// `char`: one octet of ISO 8859-1.
    Char(u8),
    /// `wchar`: one UTF-16 unit.
    WChar(u16),
    /// `boolean`.
    Boolean(bool),
    /// `string`: every character is in ISO 8859-1, none is NUL.
    String(String),
    /// `wstring`; no character is NUL.
    WString(String),
    /// `fixed`.
    Fixed(FixedValue),
    /// A value of an enum.
    Enumerator {
        /// The enum.
        of: DefinitionId,
        /// The position of the enumerator in it, which is its number on the wire.
        index: u32,
    },
}

impl Value {
    /// The value of an integer or an octet.
    pub fn as_integer(&self) -> Option<i128> {
        Some(match *self {
            Value::Short(it) => it.into(),
            Value::Long(it) => it.into(),
            Value::LongLong(it) => it.into(),
            Value::UnsignedShort(it) => it.into(),
            Value::UnsignedLong(it) => it.into(),
            Value::UnsignedLongLong(it) => it.into(),
            Value::Octet(it) | Value::UInt8(it) => it.into(),
            Value::Int8(it) => it.into(),
            _ => return None,
        })
    }
}

/// A number in the 128-bit format of IEEE 754, binary128: what a `long double` is on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quadruple(u128);

impl Quadruple {
    /// The number that has these bits: the sign, 15 bits of exponent, 112 of fraction.
    pub const fn from_bits(bits: u128) -> Quadruple {
        Quadruple(bits)
    }

    /// Its bits.
    pub const fn to_bits(self) -> u128 {
        self.0
    }
}

impl fmt::Debug for Quadruple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quadruple({:#034x})", self.0)
    }
}

/// A decimal number of at most 31 digits: `unscaled / 10^scale`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FixedValue {
    /// All digits, as an integer.
    pub unscaled: i128,
    /// How many of the digits stand after the point.
    pub scale: u16,
}

impl FixedValue {
    /// How many digits it needs in all, at least 1 and at least its scale.
    pub fn digits(&self) -> u16 {
        let mut digits = 0;
        let mut rest = self.unscaled.unsigned_abs();
        while rest > 0 {
            digits += 1;
            rest /= 10;
        }
        digits.max(self.scale).max(1)
    }
}

impl fmt::Display for FixedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        if fraction.is_empty() { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_values_print_as_idl_writes_them() {
        for (unscaled, scale, text, digits) in [
            (12345, 2, "123.45", 5),
            (-5, 3, "-0.005", 3),
            (0, 0, "0", 1),
            (70, 0, "70", 2),
            (0, 2, "0.00", 2),
        ] {
            let value = FixedValue { unscaled, scale };
            assert_eq!(value.to_string(), text);
            assert_eq!(value.digits(), digits, "{text}");
        }
    }
}
