//! `fixed`: its text, its order, its packed decimal form, and octets that are none.

use zorb_cdr::{ByteOrder, Decoder, Encoder, Fixed, Format};

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
