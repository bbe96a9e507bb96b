//! `fixed`: its text, its order, its packed decimal form, and octets that are none.

use std::hash::{Hash, Hasher};

use zorb_cdr::{ByteOrder, Decoder, Encoder, Fixed, FixedError, Format};

fn fixed(text: &str) -> Fixed {
    text.parse().expect(text)
}

fn written(text: &str, digits: u8, scale: u8) -> Option<Vec<u8>> {
    let mut to = Encoder::new(Format::default());
    to.write_fixed(fixed(text), digits, scale).ok()?;
    Some(to.to_bytes().to_vec())
}

fn read(octets: &[u8], digits: u8, scale: u8) -> Option<String> {
    let mut from = Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default());
    from.read_fixed(digits, scale).ok().map(|value| value.to_string())
}

#[test]
fn packed_decimal_is_as_specified() {
    for (text, digits, scale, octets) in [
        ("123.45", 5, 2, &[0x12, 0x34, 0x5c][..]),
        ("-12.34", 4, 2, &[0x01, 0x23, 0x4d]),
        ("0.05", 2, 2, &[0x00, 0x5c]),
        ("-7", 1, 0, &[0x7d]),
    ] {
        assert_eq!(written(text, digits, scale).as_deref(), Some(octets), "{text}");
        assert_eq!(read(octets, digits, scale).as_deref(), Some(text));
    }
    let most = "-9999999999999999999999999999999";
    assert_eq!(read(&written(most, 31, 0).unwrap(), 31, 0).as_deref(), Some(most));
}

#[test]
fn what_the_type_does_not_hold_is_not_written() {
    assert_eq!(written("1.50", 2, 1), Some(vec![0x01, 0x5c]), "a zero at the end is no digit");
    assert_eq!(written("1.55", 2, 1), None);
    assert_eq!(written("10", 2, 1), None);
    for (digits, scale) in [(0, 0), (32, 0), (2, 3)] {
        assert_eq!(written("0", digits, scale), None);
    }
}

#[test]
fn octets_that_are_no_number_are_refused() {
    for octets in [&[0x1a, 0x0c][..], &[0x01, 0x2b], &[0x01, 0x20], &[0x11, 0x2c], &[0x01]] {
        assert_eq!(read(octets, 2, 0), None, "{octets:x?}");
    }
    assert_eq!(read(&[0x00, 0x0d], 2, 0).as_deref(), Some("0"), "there is no negative zero");
    for (digits, scale) in [(0, 0), (32, 0), (255, 0), (2, 3)] {
        assert_eq!(read(&[0x0c; 200], digits, scale), None);
    }
}

#[test]
fn text_and_order() {
    let all = [
        "-2",
        "-1.5",
        "-0.01",
        "0",
        "0.0000000000000000000000000000001",
        "1.5",
        "9999999999999999999999999999999",
    ];
    for pair in all.windows(2) {
        assert!(fixed(pair[0]) < fixed(pair[1]), "{pair:?}");
    }
    assert_eq!(fixed("1.5"), fixed("+1.500D"));
    for text in [
        "",
        "-",
        ".",
        "1.2.3",
        "1e5",
        "--1",
        "10000000000000000000000000000000",
        "0.00000000000000000000000000000001",
    ] {
        assert!(text.parse::<Fixed>().is_err(), "{text}");
    }
}

/// Results are exact, or lose their last digits; what has more than 31 digits before the point is an error.
#[test]
fn arithmetic_keeps_31_digits() {
    let apply = |left: &str, operator, right: &str| match operator {
        '+' => fixed(left).checked_add(fixed(right)),
        '-' => fixed(left).checked_sub(fixed(right)),
        '*' => fixed(left).checked_mul(fixed(right)),
        _ => fixed(left).checked_div(fixed(right)),
    };
    let nines = "9".repeat(31);
    let least = format!("0.{}1", "0".repeat(30));
    let third = format!("0.{}", "3".repeat(31));
    let zeros = format!("0.{}", "0".repeat(31));
    for (left, operator, right, result) in [
        ("1.5", '+', "2.25", "3.75"),
        ("1.5", '-', "2.25", "-0.75"),
        ("-1.5", '+', "0.25", "-1.25"),
        ("1.5", '-', "0.75", "0.75"),
        ("-0.5", '+', "0.50", "0.00"),
        ("-1.5", '*', "2.5", "-3.75"),
        ("-1.5", '*', "-2", "3.0"),
        ("1", '/', "4", "0.25"),
        ("-7", '/', "2", "-3.5"),
        ("100", '/', "0.5", "200"),
        ("0", '/', "0.001", "0"),
        ("1", '/', "3", &third),
        ("1000", '/', "3", "333.3333333333333333333333333333"),
        (&least, '*', &least, &zeros),
        (&nines, '*', "0.1", "999999999999999999999999999999.9"),
        (&nines, '*', &least, "0.9999999999999999999999999999999"),
        (&nines, '+', &least, &nines),
        (&nines, '-', &least, "9999999999999999999999999999998"),
        ("12345678901234567890.5", '*', "0.00000000002", "246913578.024691357810"),
    ] {
        let found = apply(left, operator, right);
        assert_eq!(found.map(|it| it.to_string()).as_deref(), Ok(result), "{left} {operator} {right}");
    }
    for (left, operator, right) in [(&nines, '+', "1"), (&nines, '*', "10"), (&nines, '/', "0.1")] {
        assert_eq!(apply(left, operator, right), Err(FixedError::TooManyDigits), "{left} {operator} {right}");
    }
    assert_eq!(apply("1", '/', "0.00"), Err(FixedError::DivisionByZero));
}

/// Small numbers against integers, which are exact.
#[test]
fn arithmetic_is_that_of_integers() {
    for left in (-1250..1250).step_by(7) {
        for right in (-980..980).step_by(11) {
            let (a, b) = (Fixed::new(left, 2).unwrap(), Fixed::new(right, 1).unwrap());
            assert_eq!(a.checked_add(b).unwrap().unscaled(), left + right * 10);
            assert_eq!(a.checked_sub(b).unwrap().unscaled(), left - right * 10);
            assert_eq!(a.checked_mul(b).unwrap().unscaled(), left * right);
            if right != 0 {
                let quotient = a.checked_div(b).unwrap().truncate(0).unscaled();
                assert_eq!(quotient, left / (right * 10), "{a} / {b}");
            }
            assert_eq!(a.cmp(&b), left.cmp(&(right * 10)));
        }
    }
}

#[test]
fn rounding_is_to_the_nearest_and_half_away_from_zero() {
    for (text, scale, rounded, cut) in [
        ("1.25", 1, "1.3", "1.2"),
        ("-1.25", 1, "-1.3", "-1.2"),
        ("1.249", 1, "1.2", "1.2"),
        ("-0.05", 0, "0", "0"),
        ("-0.5", 0, "-1", "0"),
        ("9.99", 1, "10.0", "9.9"),
        ("1.5", 4, "1.5", "1.5"),
        (
            "999999999999999999999999999999.9",
            0,
            "1000000000000000000000000000000",
            "999999999999999999999999999999",
        ),
    ] {
        assert_eq!(fixed(text).round(scale).to_string(), rounded, "{text}");
        assert_eq!(fixed(text).truncate(scale).to_string(), cut, "{text}");
    }
    let least = Fixed::new(-6, 31).unwrap();
    assert_eq!((least.round(30).unscaled(), least.truncate(30).unscaled()), (-1, 0));
    assert_eq!(Fixed::new(6, 31).unwrap().round(0), Fixed::default());
}

#[test]
fn digits_and_conversions() {
    for (text, digits, scale) in
        [("0", 1, 0), ("0.00", 2, 2), ("-0.05", 2, 2), ("123.45", 5, 2), ("1000", 4, 0)]
    {
        assert_eq!((fixed(text).digits(), fixed(text).scale()), (digits, scale), "{text}");
    }
    assert_eq!(Fixed::from(u64::MAX).to_string(), u64::MAX.to_string());
    assert_eq!(Fixed::from(i64::MIN).unscaled(), i64::MIN.into());
    assert_eq!((fixed("-0.125").to_f64(), fixed("1.0").to_f64()), (-0.125, 1.0));
    assert_eq!(format!("{:>8}|{:<6}|{:+}", fixed("-1.50"), fixed("2.5"), fixed("3")), "   -1.50|2.5   |+3");
    assert!(Fixed::new(0, 32).is_err() && Fixed::new(10i128.pow(31), 0).is_err());
    assert!(Fixed::new(i128::MIN, 0).is_err());
    let hash = |value: Fixed| {
        let mut state = std::hash::DefaultHasher::new();
        value.hash(&mut state);
        state.finish()
    };
    assert_eq!(hash(fixed("1.5")), hash(fixed("1.500")));
}
