//! [`Fixed`]: the values of IDL's `fixed<digits, scale>` and their packed decimal form (CORBA 3.4 part 2, §9.3.2.8).
//!
//! Two digits stand in each octet, the most significant first; the last half octet is the sign, 0xC or 0xD. Where that
//! would leave half an octet over, a zero comes first.

use crate::{DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder};
use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

/// A decimal number of at most 31 digits. 1.5 and 1.50 are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed {
    /// Below 10^31 in magnitude.
    unscaled: i128,
    /// At most 31.
    scale: u8,
}

/// What is no decimal number of at most 31 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFixed;

impl fmt::Display for NotFixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a decimal number of at most 31 digits")
    }
}

impl core::error::Error for NotFixed {}

const fn power(of: u8) -> i128 {
    10i128.pow(of as u32)
}

impl Fixed {
    /// The most digits that a value has.
    pub const MAX_DIGITS: u8 = 31;

    /// `unscaled` divided by 10 to the power of `scale`.
    ///
    /// # Errors
    /// More than 31 digits, or a scale above 31.
    pub const fn new(unscaled: i128, scale: u8) -> Result<Self, NotFixed> {
        if scale > Self::MAX_DIGITS || unscaled.unsigned_abs() >= power(Self::MAX_DIGITS).unsigned_abs() {
            return Err(NotFixed);
        }
        Ok(Self { unscaled, scale })
    }

    /// The value times 10 to the power of its [`scale`](Self::scale).
    pub const fn unscaled(self) -> i128 {
        self.unscaled
    }

    /// How many digits stand behind the decimal point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// The integer part and the fraction in units of 10^-31, both with the value's sign.
    const fn parts(self) -> (i128, i128) {
        let one = power(self.scale);
        (self.unscaled / one, self.unscaled % one * power(Self::MAX_DIGITS - self.scale))
    }
}

impl PartialEq for Fixed {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Fixed {}

impl PartialOrd for Fixed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fixed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let (magnitude, one) = (self.unscaled.unsigned_abs(), power(self.scale).unsigned_abs());
        match self.scale {
            0 => write!(f, "{sign}{magnitude}"),
            scale => write!(f, "{sign}{}.{:0>2$}", magnitude / one, magnitude % one, usize::from(scale)),
        }
    }
}

impl FromStr for Fixed {
    type Err = NotFixed;

    /// Reads `-12.50`; IDL's `d` or `D` may end it.
    fn from_str(text: &str) -> Result<Self, NotFixed> {
        let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mut unscaled, mut scale, mut point, mut any) = (0i128, 0u8, false, false);
        for octet in text.bytes() {
            match octet {
                b'0'..=b'9' => {
                    unscaled = unscaled * 10 + i128::from(octet - b'0');
                    scale += u8::from(point);
                    any = true;
                    Self::new(unscaled, scale)?;
                }
                b'.' if !point => point = true,
                _ => return Err(NotFixed),
            }
        }
        if !any {
            return Err(NotFixed);
        }
        Self::new(if negative { -unscaled } else { unscaled }, scale)
    }
}

impl Encoder<'_> {
    /// Writes a `fixed<digits, scale>`.
    ///
    /// # Errors
    /// A value that the type does not hold exactly, or a type that IDL does not have.
    pub fn write_fixed(&mut self, value: Fixed, digits: u8, scale: u8) -> Result<(), EncodeError> {
        let error = |why| EncodeError::new(EncodeErrorKind::Invalid(why), "fixed");
        if digits == 0 || digits > Fixed::MAX_DIGITS || scale > digits {
            return Err(error("it has no digits, more than 31, or a scale above them"));
        }
        let (whole, fraction) = value.parts();
        let unit = power(Fixed::MAX_DIGITS - scale);
        if fraction % unit != 0 {
            return Err(error("it has more digits behind the point than its type"));
        }
        if whole.unsigned_abs() >= power(digits - scale).unsigned_abs() {
            return Err(error("it has more digits before the point than its type"));
        }
        let mut rest = (whole * power(scale) + fraction / unit).unsigned_abs();
        let mut octets = [0; 16];
        let octets = &mut octets[..usize::from(digits / 2 + 1)];
        let mut low = if value.unscaled < 0 { 0xd } else { 0xc };
        for octet in octets.iter_mut().rev() {
            *octet = ((rest % 10) as u8) << 4 | low;
            low = (rest / 10 % 10) as u8;
            rest /= 100;
        }
        self.write_octets(octets);
        Ok(())
    }
}

impl Decoder<'_> {
    /// Reads a `fixed<digits, scale>`.
    ///
    /// # Errors
    /// Octets that are no such number, or end within it; a type that IDL does not have.
    pub fn read_fixed(&mut self, digits: u8, scale: u8) -> Result<Fixed, DecodeError> {
        let at = self.position();
        let error = |why| DecodeError::new(DecodeErrorKind::Invalid(why), "fixed", at);
        if digits == 0 || digits > Fixed::MAX_DIGITS || scale > digits {
            return Err(error("it has no digits, more than 31, or a scale above them"));
        }
        let octets = self.read_octets(usize::from(digits / 2 + 1)).map_err(|error| error.in_what("fixed"))?;
        let (mut unscaled, mut sign) = (0i128, 0);
        let last = octets.len() * 2 - 1;
        for index in 0..=last {
            let half = octets[index / 2] >> (4 * (1 - index % 2)) & 0xf;
            match half {
                _ if index == last => sign = half,
                0..=9 => unscaled = unscaled * 10 + i128::from(half),
                _ => return Err(error("a digit is above 9")),
            }
        }
        if unscaled >= power(digits) {
            return Err(error("it has more digits than its type"));
        }
        match sign {
            0xc => Ok(Fixed { unscaled, scale }),
            0xd => Ok(Fixed { unscaled: -unscaled, scale }),
            _ => Err(error("its sign is neither 0xC nor 0xD")),
        }
    }
}
