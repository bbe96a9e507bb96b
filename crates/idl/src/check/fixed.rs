//! Arithmetic on `fixed` values of at most 31 digits. CORBA 3.4 part 1, 7.10.2.
//!
//! A result with more digits loses the last ones after the point, without rounding; if that is not enough, it is
//! too large.

use super::constant::Wrong;
use crate::model::FixedValue;

/// The largest number of digits.
const DIGITS: usize = 31;

pub(super) fn apply(operator: &str, left: FixedValue, right: FixedValue) -> Result<FixedValue, Wrong> {
    match operator {
        "+" => add(left, right),
        "-" => add(left, FixedValue { unscaled: -right.unscaled, ..right }),
        "*" => multiply(left, right),
        "/" if right.unscaled == 0 => Err(Wrong::Zero),
        "/" => divide(left, right),
        _ => Err(Wrong::Operator),
    }
}

/// Without zeros at the end of the fraction.
pub(super) fn shortest(mut value: FixedValue) -> FixedValue {
    while value.scale > 0 && value.unscaled % 10 == 0 {
        value = FixedValue { unscaled: value.unscaled / 10, scale: value.scale - 1 };
    }
    value
}

/// With `scale` digits after the point, further ones cut off; `None` if there are more than `digits` then.
pub(super) fn fit(value: FixedValue, digits: u16, scale: u16) -> Option<FixedValue> {
    let mut unscaled = value.unscaled;
    for _ in scale..value.scale {
        unscaled /= 10;
    }
    for _ in value.scale..scale {
        unscaled = unscaled.checked_mul(10)?;
    }
    let fitted = FixedValue { unscaled, scale };
    (fitted.digits() <= digits).then_some(fitted)
}

/// The value with at most 31 digits.
fn cut(mut unscaled: i128, mut scale: u16) -> Result<FixedValue, Wrong> {
    while usize::from((FixedValue { unscaled, scale }).digits()) > DIGITS {
        if scale == 0 {
            return Err(Wrong::Overflow);
        }
        (unscaled, scale) = (unscaled / 10, scale - 1);
    }
    Ok(FixedValue { unscaled, scale })
}

fn add(left: FixedValue, right: FixedValue) -> Result<FixedValue, Wrong> {
    // 31 digits and 31 more for the scale do not fit i128: then the last digits of the fraction fall away first.
    for scale in (0..=left.scale.max(right.scale)).rev() {
        if let (Some(left), Some(right)) = (fit(left, 38, scale), fit(right, 38, scale))
            && let Some(sum) = left.unscaled.checked_add(right.unscaled)
        {
            return cut(sum, scale);
        }
    }
    Err(Wrong::Overflow)
}

fn multiply(left: FixedValue, right: FixedValue) -> Result<FixedValue, Wrong> {
    let (a, b) = (digits(left.unscaled), digits(right.unscaled));
    let mut product = vec![0u32; a.len() + b.len() + 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    for at in 0..product.len() - 1 {
        product[at + 1] += product[at] / 10;
        product[at] %= 10;
    }
    let mut scale = left.scale + right.scale;
    while product.last() == Some(&0) {
        product.pop();
    }
    let surplus = product.len().max(usize::from(scale)).saturating_sub(DIGITS);
    if surplus > usize::from(scale) {
        return Err(Wrong::Overflow);
    }
    scale -= surplus as u16;
    let kept = product.iter().skip(surplus).rev();
    let unscaled = kept.fold(0i128, |value, digit| value * 10 + i128::from(*digit));
    let negative = (left.unscaled < 0) != (right.unscaled < 0);
    Ok(FixedValue { unscaled: if negative { -unscaled } else { unscaled }, scale })
}

/// The decimal digits, last one first.
fn digits(value: i128) -> Vec<u32> {
    let mut rest = value.unsigned_abs();
    let mut digits = Vec::new();
    while rest > 0 {
        digits.push((rest % 10) as u32);
        rest /= 10;
    }
    digits
}

fn divide(left: FixedValue, right: FixedValue) -> Result<FixedValue, Wrong> {
    let (dividend, divisor) = (left.unscaled, right.unscaled);
    let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
    let mut scale = i32::from(left.scale) - i32::from(right.scale);
    // Long division: both are below 10^31, so that ten times the rest fits.
    let full = |quotient: i128| quotient.unsigned_abs() >= 10u128.pow(DIGITS as u32 - 1);
    while scale < DIGITS as i32 && !full(quotient) && (rest != 0 || scale < 0) {
        quotient = quotient * 10 + rest * 10 / divisor;
        rest = rest * 10 % divisor;
        scale += 1;
    }
    if scale < 0 {
        return Err(Wrong::Overflow);
    }
    cut(quotient, scale as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> FixedValue {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        FixedValue { unscaled: format!("{whole}{fraction}").parse().unwrap(), scale: fraction.len() as u16 }
    }

    #[test]
    fn results_are_exact_or_cut() {
        let nines = "9".repeat(31);
        let tiny = format!("0.{}1", "0".repeat(30));
        for (left, operator, right, result) in [
            ("1.5", "+", "2.25", "3.75"),
            ("1.5", "-", "2.25", "-0.75"),
            ("-1.5", "*", "2.5", "-3.75"),
            ("1", "/", "4", "0.25"),
            ("1", "/", "3", "0.3333333333333333333333333333333"),
            ("2", "/", "3", "0.6666666666666666666666666666666"),
            ("100", "/", "0.5", "200"),
            (&tiny, "*", &tiny, "0.0000000000000000000000000000000"),
            (&nines, "*", "0.1", "999999999999999999999999999999.9"),
            (&nines, "+", &tiny, &nines),
        ] {
            let found = apply(operator, value(left), value(right)).expect("a result");
            assert_eq!(shortest(found), shortest(value(result)), "{left} {operator} {right} = {found}");
        }
        for (left, operator, right) in
            [(nines.as_str(), "+", "1"), (&nines, "*", "10"), (&nines, "/", "0.1"), ("1", "/", "0")]
        {
            assert!(apply(operator, value(left), value(right)).is_err(), "{left} {operator} {right}");
        }
    }
}
