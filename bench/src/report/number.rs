//! Numbers as people read them: three digits that mean something, thousands apart, octets in KiB and MiB.

/// A measured figure to three significant digits; from 1,000 on to the whole number.
pub(super) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if magnitude >= 15.0 {
        return format!("{value:.2e}");
    }
    let decimals = (2.0 - magnitude).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some(_) => text,
        None => grouped(&text),
    }
}

/// A number that was given and not measured: as it is, thousands apart.
pub(super) fn plain(value: f64) -> String {
    let text = value.to_string();
    match text.split_once('.') {
        None if value.abs() < 1e15 => grouped(&text),
        Some((whole, part)) => format!("{}.{part}", grouped(whole)),
        None => format!("{value:e}"),
    }
}

/// A number of octets, in the largest unit that divides it.
pub(super) fn octets(value: f64) -> String {
    for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        let units = value / unit as f64;
        if units >= 1.0 && units.fract() == 0.0 {
            return format!("{} {name}", plain(units));
        }
    }
    format!("{} B", plain(value))
}

/// A count, short enough for an axis: `10k`, `1M`.
pub(super) fn count(value: f64) -> String {
    for (unit, name) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= unit {
            return format!("{}{name}", tick(value / unit));
        }
    }
    tick(value)
}

/// A number at an axis: without the zeros that arithmetic leaves behind.
pub(super) fn tick(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".into(),
        _ => match text.split_once('.') {
            None => grouped(text),
            Some(_) => text.to_owned(),
        },
    }
}

/// A share of one, in percent.
pub(super) fn percent(value: f64) -> String {
    let percent = value * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A ratio, to the three decimals that its interval resolves.
pub(super) fn ratio(value: f64) -> String {
    if value.abs() < 100.0 { format!("{value:.3}") } else { figure(value) }
}

/// Puts commas between a whole number's thousands.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_that_mean_something() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_123_4, "0.000123"),
            (0.123_4, "0.123"),
            (1.0, "1.00"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-1_234.0, "-1,234"),
            (1e300, "1.00e300"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn given_numbers_stay_as_they_are() {
        assert_eq!(plain(1_048_577.0), "1,048,577");
        assert_eq!(plain(0.25), "0.25");
        assert_eq!(plain(1_234.5), "1,234.5");
        assert_eq!(plain(1e300), "1e300");
    }

    #[test]
    fn octets_in_the_unit_that_divides_them() {
        assert_eq!(octets(0.0), "0 B");
        assert_eq!(octets(1_000.0), "1,000 B");
        assert_eq!(octets(4_096.0), "4 KiB");
        assert_eq!(octets(1_572_864.0), "1,536 KiB");
        assert_eq!(octets(16_777_216.0), "16 MiB");
    }

    #[test]
    fn axes_are_short() {
        assert_eq!(count(1.0), "1");
        assert_eq!(count(1_500.0), "1.5k");
        assert_eq!(count(1e6), "1M");
        assert_eq!(tick(0.1 + 0.2), "0.3");
        assert_eq!(tick(-0.0), "0");
        assert_eq!(tick(1_000.0), "1,000");
    }

    #[test]
    fn shares_and_ratios() {
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(percent(0.34), "34 %");
        assert_eq!(ratio(1.052), "1.052");
        assert_eq!(ratio(1234.0), "1,234");
    }
}
