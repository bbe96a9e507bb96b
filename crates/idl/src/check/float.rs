//! Arithmetic on floating-point values. CORBA 3.4 part 1, 7.10.2: in `double`, and for a constant of type `long double` in
//! the 128-bit format of IEEE 754, in which every literal and every step is rounded once, to nearest.
//!
//! Infinity is no value, and a result that is not zero does not become zero: both are errors.

use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float as _, FloatConvert};

use super::constant::Wrong;
use crate::model::Quadruple;

/// What constants are computed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Precision {
    Double,
    Quadruple,
}

impl Precision {
    /// The type, and about how large and how small its numbers are.
    pub(super) fn describe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Precision::Double => ("double", "1.8e308", "4.9e-324"),
            Precision::Quadruple => ("long double", "1.2e4932", "6.5e-4966"),
        }
    }
}

/// A finite number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Double(f64),
    Quadruple(Quad),
}

/// What reading a literal of a `long double` counts for among the steps that [`limits`](crate::limits) bounds. It is
/// computed with as many digits as it has or its exponent stands for: 5,000 take some 100 µs.
pub(super) fn steps(text: &str) -> usize {
    const MOST: usize = 20_000;
    let exponent = text.split_once(['e', 'E']).map_or("", |(_, exponent)| exponent);
    let digits = exponent.trim_start_matches(['+', '-']);
    text.len() + digits.parse().map_or(if digits.is_empty() { 0 } else { MOST }, |it: usize| it.min(MOST))
}

impl Number {
    /// Reads a literal of the form that the lexer lets through.
    pub(super) fn parse(text: &str, precision: Precision) -> Result<Number, Wrong> {
        let number = match precision {
            Precision::Double => Number::Double(text.parse().map_err(|_| Wrong::Operator)?),
            Precision::Quadruple => Number::Quadruple(text.parse::<Quad>().map_err(|_| Wrong::Operator)?),
        };
        let significand = text.split(['e', 'E']).next().unwrap_or_default();
        number.checked(significand.contains(|digit| matches!(digit, '1'..='9')))
    }

    pub(super) fn from_integer(value: i128, precision: Precision) -> Number {
        match precision {
            Precision::Double => Number::Double(value as f64),
            Precision::Quadruple => Number::Quadruple(Quad::from_i128(value).value),
        }
    }

    pub(super) fn from_bits(bits: Quadruple) -> Number {
        Number::Quadruple(Quad::from_bits(bits.to_bits()))
    }

    /// The value in another precision.
    pub(super) fn to(self, precision: Precision) -> Result<Number, Wrong> {
        let mut inexact = false;
        let converted = match (self, precision) {
            (Number::Double(value), Precision::Quadruple) => {
                let value = Double::from_bits(value.to_bits().into());
                Number::Quadruple(value.convert(&mut inexact).value)
            }
            (Number::Quadruple(value), Precision::Double) => {
                let value: Double = value.convert(&mut inexact).value;
                Number::Double(f64::from_bits(value.to_bits() as u64))
            }
            (same, _) => return Ok(same),
        };
        converted.checked(!self.is_zero())
    }

    pub(super) fn negated(self) -> Number {
        match self {
            Number::Double(value) => Number::Double(-value),
            Number::Quadruple(value) => Number::Quadruple(-value),
        }
    }

    fn is_zero(self) -> bool {
        match self {
            Number::Double(value) => value == 0.0,
            Number::Quadruple(value) => value.is_zero(),
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Number::Double(value) => value.is_finite(),
            Number::Quadruple(value) => value.is_finite(),
        }
    }

    /// Itself, if it has neither overflowed nor, where the exact result is another number, become zero.
    fn checked(self, is_other_than_zero: bool) -> Result<Number, Wrong> {
        if !self.is_finite() {
            Err(Wrong::Overflow)
        } else if is_other_than_zero && self.is_zero() {
            Err(Wrong::Underflow)
        } else {
            Ok(self)
        }
    }
}

/// A quadruple as the model has it.
pub(super) fn bits(value: Quad) -> Quadruple {
    Quadruple::from_bits(value.to_bits())
}

/// Both in the same precision.
pub(super) fn apply(operator: &str, left: Number, right: Number) -> Result<Number, Wrong> {
    if operator == "/" && right.is_zero() {
        return Err(Wrong::Zero);
    }
    let result = match (left, right) {
        (Number::Double(left), Number::Double(right)) => Number::Double(match operator {
            "+" => left + right,
            "-" => left - right,
            "*" => left * right,
            "/" => left / right,
            _ => return Err(Wrong::Operator),
        }),
        (Number::Quadruple(left), Number::Quadruple(right)) => {
            let result = match operator {
                "+" => left + right,
                "-" => left - right,
                "*" => left * right,
                "/" => left / right,
                _ => return Err(Wrong::Operator),
            };
            Number::Quadruple(result.value)
        }
        _ => return Err(Wrong::Operator),
    };
    // A sum or difference that is zero is exactly that.
    result.checked(matches!(operator, "*" | "/") && !left.is_zero() && !right.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadruple(text: &str) -> Number {
        Number::parse(text, Precision::Quadruple).expect(text)
    }

    fn bits_of(number: Number) -> u128 {
        match number {
            Number::Double(value) => value.to_bits().into(),
            Number::Quadruple(value) => value.to_bits(),
        }
    }

    /// 1 + 2^-113.
    const HALFWAY: &str = "1.0000000000000000000000000000000000962964972193617926527988971292463659269050824107694097\
                           6199693977832794189453125";

    #[test]
    fn quadruples_have_113_bits_and_are_rounded_once() {
        for (text, expected) in [
            ("1.0", 0x3fff << 112),
            ("1.5", 0x3fff << 112 | 1 << 111),
            // Worked out with exact fractions, in another language.
            ("0.1", 0x3ffb_9999_9999_9999_9999_9999_9999_999a),
            ("3.14159265358979323846264338327950288", 0x4000_921f_b544_42d1_8469_898c_c517_01b8),
            ("1e400", 0x452f_b4ec_7f91_973f_f3cb_1ccf_26fb_c178),
            // Halfway between 1 and the number after it is 1; what is any larger is that number.
            (HALFWAY, 0x3fff << 112),
            (&format!("{HALFWAY}{}1", "0".repeat(100)), (0x3fff << 112) + 1),
            ("6.5e-4966", 1),
        ] {
            assert_eq!(bits_of(quadruple(text)), expected, "{text}: {:#034x}", bits_of(quadruple(text)));
        }
    }

    #[test]
    fn every_double_is_a_quadruple_and_back() {
        for value in [0.0, -0.0, 1.0, -2.0, 1.5, f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX] {
            let wide = Number::Double(value).to(Precision::Quadruple).expect("it fits");
            let again = wide.to(Precision::Double).expect("it was one");
            assert_eq!(bits_of(again), value.to_bits().into());
        }
        let expected = |value: f64| bits_of(Number::Double(value).to(Precision::Quadruple).expect("it fits"));
        assert_eq!(expected(-0.0), 1 << 127);
        assert_eq!(expected(f64::from_bits(1)), (16383 - 1074) << 112);
    }

    #[test]
    fn neither_infinity_nor_a_zero_that_is_none_is_a_result() {
        for (text, precision) in [
            ("1e309", Precision::Double),
            ("1e4933", Precision::Quadruple),
            ("1e99999999999999999999", Precision::Quadruple),
        ] {
            assert!(matches!(Number::parse(text, precision), Err(Wrong::Overflow)), "{text}");
        }
        for (text, precision) in [
            ("1e-324", Precision::Double),
            ("1e-4966", Precision::Quadruple),
            ("0.1e-99999999999999999999", Precision::Quadruple),
        ] {
            assert!(matches!(Number::parse(text, precision), Err(Wrong::Underflow)), "{text}");
        }
        for precision in [Precision::Double, Precision::Quadruple] {
            for text in ["0.0", "0e5", ".0e-999999", "00.00e9999999999"] {
                assert!(Number::parse(text, precision).is_ok_and(Number::is_zero), "{text}");
            }
        }
        assert!(matches!(quadruple("1e400").to(Precision::Double), Err(Wrong::Overflow)));
        assert!(matches!(quadruple("1e-400").to(Precision::Double), Err(Wrong::Underflow)));
        let tiny = quadruple("1e-4000");
        assert!(matches!(apply("*", tiny, tiny), Err(Wrong::Underflow)));
        assert!(matches!(apply("/", tiny, quadruple("1e4000")), Err(Wrong::Underflow)));
        assert!(matches!(apply("/", quadruple("1e4000"), tiny), Err(Wrong::Overflow)));
        assert!(matches!(apply("/", tiny, quadruple("0.0")), Err(Wrong::Zero)));
        assert!(matches!(apply("%", tiny, tiny), Err(Wrong::Operator)));
        assert!(apply("-", tiny, tiny).is_ok_and(Number::is_zero));
    }
}
