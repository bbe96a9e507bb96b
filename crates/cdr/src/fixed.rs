//! [`Fixed`]: the values of IDL's `fixed<digits, scale>` and their packed decimal form (CORBA 3.4 part 2, §9.3.2.8).
//!
//! Two digits stand in each octet, the most significant first; the last half octet is the sign, 0xC or 0xD. Where that
//! would leave half an octet over, a zero comes first.

use crate::{DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder};
use alloc::format;
use alloc::string::ToString;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

/// A decimal number of at most 31 digits, as many of them behind the point as wanted: what IDL calls a `fixed`.
///
/// The type does not hold the digits and the scale of one IDL type: results of arithmetic have others than their operands.
/// A value is written as a `fixed<digits, scale>` where that holds it exactly; [`round`](Self::round) and
/// [`truncate`](Self::truncate) make it so. 1.5 and 1.50 are equal. There is no negative zero.
///
/// ```
/// use zorb_cdr::{Fixed, FixedError};
///
/// let price: Fixed = "19.95".parse()?;
/// let tax = price.checked_mul("0.19".parse()?)?.round(2);
/// assert_eq!(price.checked_add(tax)?.to_string(), "23.74");
/// assert_eq!(price.checked_div(Fixed::default()), Err(FixedError::DivisionByZero));
/// # Ok::<(), FixedError>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Fixed {
    /// Below 10^31 in magnitude.
    unscaled: i128,
    /// At most 31.
    scale: u8,
}

/// Why there is no such [`Fixed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedError {
    /// A text is no decimal number.
    NotANumber,
    /// More than 31 digits; of what arithmetic gives, before the point.
    TooManyDigits,
    /// The divisor is zero.
    DivisionByZero,
}

impl fmt::Display for FixedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "not a decimal number",
            Self::TooManyDigits => "a number of more than 31 digits",
            Self::DivisionByZero => "a division by zero",
        })
    }
}

impl core::error::Error for FixedError {}

/// 10 to the power of this, which is at most 38.
const fn power(of: u8) -> i128 {
    10i128.pow(of as u32)
}

/// 10^31: all numbers are below.
const LIMIT: u128 = power(Fixed::MAX_DIGITS).unsigned_abs();

/// How many digits an integer has; zero has none.
const fn digits(of: u128) -> u8 {
    match of.checked_ilog10() {
        Some(log) => log as u8 + 1,
        None => 0,
    }
}

impl Fixed {
    /// The most digits that a value has.
    pub const MAX_DIGITS: u8 = 31;

    /// `unscaled` divided by 10 to the power of `scale`.
    ///
    /// # Errors
    /// More than 31 digits, or a scale above 31.
    pub const fn new(unscaled: i128, scale: u8) -> Result<Self, FixedError> {
        if scale > Self::MAX_DIGITS || unscaled.unsigned_abs() >= LIMIT {
            return Err(FixedError::TooManyDigits);
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

    /// How many digits it has in all: at least 1, and at least as many as stand behind the point.
    pub const fn digits(self) -> u8 {
        let (digits, least) =
            (digits(self.unscaled.unsigned_abs()), if self.scale > 1 { self.scale } else { 1 });
        if digits > least { digits } else { least }
    }

    /// The sum. Digits behind the point for which 31 leave no room are cut off, as in all arithmetic here (CORBA 3.4
    /// part 1, §7.10.2: 62 digits are worked out, 31 kept, and nothing is rounded).
    ///
    /// # Errors
    /// More than 31 digits before the point.
    pub const fn checked_add(self, other: Self) -> Result<Self, FixedError> {
        let ((whole, fraction), (more, further)) = (self.parts(), other.parts());
        let (mut whole, mut fraction) = (whole + more, fraction + further);
        // Both parts are to have one sign and the fraction is to be below one.
        let one = power(Self::MAX_DIGITS);
        whole += fraction / one;
        fraction %= one;
        if whole > 0 && fraction < 0 {
            (whole, fraction) = (whole - 1, fraction + one);
        } else if whole < 0 && fraction > 0 {
            (whole, fraction) = (whole + 1, fraction - one);
        }
        let scale = if self.scale > other.scale { self.scale } else { other.scale };
        let sum = Wide { high: whole.unsigned_abs(), low: fraction.unsigned_abs(), scale: Self::MAX_DIGITS };
        sum.cut(scale, whole < 0 || fraction < 0)
    }

    /// The difference.
    ///
    /// # Errors
    /// As [`checked_add`](Self::checked_add).
    pub const fn checked_sub(self, other: Self) -> Result<Self, FixedError> {
        self.checked_add(Self { unscaled: -other.unscaled, ..other })
    }

    /// The product, its last digits cut off as in [`checked_add`](Self::checked_add).
    ///
    /// # Errors
    /// More than 31 digits before the point.
    pub const fn checked_mul(self, other: Self) -> Result<Self, FixedError> {
        let scale = self.scale + other.scale;
        let product = Wide::product(self.unscaled.unsigned_abs(), other.unscaled.unsigned_abs(), scale);
        let kept = if scale > Self::MAX_DIGITS { Self::MAX_DIGITS } else { scale };
        product.cut(kept, (self.unscaled < 0) != (other.unscaled < 0))
    }

    /// The quotient, its last digits cut off as in [`checked_add`](Self::checked_add): it ends where the division comes
    /// out even, at 31 digits, or 31 digits behind the point.
    ///
    /// # Errors
    /// A divisor of zero; more than 31 digits before the point.
    pub const fn checked_div(self, other: Self) -> Result<Self, FixedError> {
        if other.unscaled == 0 {
            return Err(FixedError::DivisionByZero);
        }
        let (dividend, divisor) = (self.unscaled, other.unscaled);
        let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
        let mut scale = self.scale as i8 - other.scale as i8;
        // Long division: the rest is below 10^31, so that ten times of it fits.
        while scale < Self::MAX_DIGITS as i8
            && digits(quotient.unsigned_abs()) < Self::MAX_DIGITS
            && (rest != 0 || scale < 0)
        {
            quotient = quotient * 10 + rest * 10 / divisor;
            rest = rest * 10 % divisor;
            scale += 1;
        }
        if scale < 0 {
            // Zero has no digits, however far the point is away.
            return if quotient == 0 {
                Ok(Self { unscaled: 0, scale: 0 })
            } else {
                Err(FixedError::TooManyDigits)
            };
        }
        Self::new(quotient, scale as u8)
    }

    /// With at most `scale` digits behind the point, the last one rounded to the nearest; a half is rounded away from
    /// zero (as `round` of the C++ mapping of `fixed` does).
    #[must_use]
    pub const fn round(self, scale: u8) -> Self {
        if scale >= self.scale {
            return self;
        }
        let one = power(self.scale - scale);
        let (kept, lost) = (self.unscaled / one, self.unscaled % one);
        let up = lost.unsigned_abs() >= one.unsigned_abs() - lost.unsigned_abs();
        let unscaled = if up { kept + self.unscaled.signum() } else { kept };
        Self { unscaled, scale }
    }

    /// With at most `scale` digits behind the point, further ones cut off.
    #[must_use]
    pub const fn truncate(self, scale: u8) -> Self {
        if scale >= self.scale {
            return self;
        }
        Self { unscaled: self.unscaled / power(self.scale - scale), scale }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        // The text is one that `f64` reads, whatever the value.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The integer part and the fraction in units of 10^-31, both with the value's sign.
    const fn parts(self) -> (i128, i128) {
        let one = power(self.scale);
        (self.unscaled / one, self.unscaled % one * power(Self::MAX_DIGITS - self.scale))
    }
}

/// A number of 62 digits, `scale` of them behind the point: `high` times 10^31 and `low`, which is below 10^31.
struct Wide {
    high: u128,
    low: u128,
    scale: u8,
}

impl Wide {
    /// Of two numbers below 10^31.
    const fn product(one: u128, other: u128, scale: u8) -> Self {
        // By halves of 16 and 15 digits:  a·10^16 + b  times  c·10^16 + d.
        const HALF: u128 = 10u128.pow(16);
        const REST: u128 = 10u128.pow(15);
        let (a, b, c, d) = (one / HALF, one % HALF, other / HALF, other % HALF);
        let middle = a * d + b * c;
        let low = middle % REST * HALF + b * d;
        Self { high: a * c * 10 + middle / REST + low / LIMIT, low: low % LIMIT, scale }
    }

    /// The value of at most 31 digits with at most `scale` of them behind the point: further ones are cut off.
    const fn cut(self, scale: u8, negative: bool) -> Result<Fixed, FixedError> {
        // What stands in `high` takes the room of as many digits of `low`.
        let (needed, wanted) = (digits(self.high), self.scale - scale);
        let lost = if needed > wanted { needed } else { wanted };
        if lost > self.scale || lost > Fixed::MAX_DIGITS {
            return Err(FixedError::TooManyDigits);
        }
        let room = power(Fixed::MAX_DIGITS - lost).unsigned_abs();
        let unscaled = (self.high * room + self.low / power(lost).unsigned_abs()) as i128;
        Ok(Fixed { unscaled: if negative { -unscaled } else { unscaled }, scale: self.scale - lost })
    }
}

impl core::ops::Neg for Fixed {
    type Output = Self;

    fn neg(self) -> Self {
        Self { unscaled: -self.unscaled, ..self }
    }
}

impl PartialEq for Fixed {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Fixed {}

impl Hash for Fixed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

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

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl From<$type> for Fixed {
            fn from(value: $type) -> Self {
                Self { unscaled: value.into(), scale: 0 }
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl fmt::Display for Fixed {
    /// All digits, such as `-12.50`; width and sign as of other numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (magnitude, one) = (self.unscaled.unsigned_abs(), power(self.scale).unsigned_abs());
        let text = match self.scale {
            0 => format!("{magnitude}"),
            scale => format!("{}.{:0>2$}", magnitude / one, magnitude % one, usize::from(scale)),
        };
        f.pad_integral(self.unscaled >= 0, "", &text)
    }
}

impl fmt::Debug for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fixed {
    type Err = FixedError;

    /// Reads `-12.50`; IDL's `d` or `D` may end it. Zeros before the first digit do not count.
    fn from_str(text: &str) -> Result<Self, FixedError> {
        let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mut value, mut point, mut any) = (Self::default(), false, false);
        for octet in text.bytes() {
            match octet {
                b'0'..=b'9' => {
                    let scale = value.scale + u8::from(point);
                    value = Self::new(value.unscaled * 10 + i128::from(octet - b'0'), scale)?;
                    any = true;
                }
                b'.' if !point => point = true,
                _ => return Err(FixedError::NotANumber),
            }
        }
        match (any, negative) {
            (false, _) => Err(FixedError::NotANumber),
            (true, true) => Ok(-value),
            (true, false) => Ok(value),
        }
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
