//! Values of generated types through CDR: what is read is what was written, in either byte order, and every prefix is an
//! error. The interop tests compare the same types with other ORBs; here are the edges that those cannot send.

use zorb::cdr::{
    ByteOrder, CodeSets, Decode, DecodeErrorKind, Decoder, Encode, EncodeErrorKind, Encoder, Format, Version,
};
use zorb::{Char, LongDouble, WChar};
use zorb_test_mapping::every::interop as every;
use zorb_test_mapping::names::names;

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn octets<T: Encode>(value: &T) -> Vec<u8> {
    let mut to = Encoder::new(FORMAT);
    value.encode(&mut to).expect("it can be written");
    to.slices().flatten().copied().collect()
}

fn refused<T: Encode>(value: &T) -> EncodeErrorKind {
    value.encode(&mut Encoder::new(FORMAT)).expect_err("it must not be written").kind
}

/// There and back, from memory and in a message that outlives the value; every proper prefix is an error.
fn round_trip<T: Encode + Decode + Clone + PartialEq + std::fmt::Debug>(value: T) {
    let written = octets(&value);
    let read =
        T::decode(&mut Decoder::from_slice(&written, ByteOrder::NATIVE, FORMAT)).expect("it was written");
    assert_eq!(read, value);
    let mut owned = Encoder::new(FORMAT);
    value.clone().encode_owned(&mut owned).expect("it can be written");
    assert_eq!(owned.slices().flatten().copied().collect::<Vec<u8>>(), written, "{value:?}");
    for end in 0..written.len() {
        let prefix = T::decode(&mut Decoder::from_slice(&written[..end], ByteOrder::NATIVE, FORMAT));
        assert!(prefix.is_err(), "{end} of {} octets of {value:?}", written.len());
    }
    assert!(written.len() >= T::MIN_SIZE, "{value:?} in {} octets", written.len());
}

fn tree(depth: usize) -> every::Tree {
    every::Tree { value: depth as i32, children: (0..depth).map(tree).collect() }
}

fn record() -> every::Record {
    every::Record {
        name: "naïve ✓".into(),
        mark: 7,
        short_code: "12345678".into(),
        tint: every::Color::blue,
        data: vec![1, 2, 3].into(),
        weight: f64::INFINITY,
    }
}

#[test]
fn structs_come_back() {
    let bin = every::BinStruct { s: -1, c: Char(b'c'), l: i32::MIN, o: 255, d: -0.5, ..Default::default() };
    round_trip(bin);
    round_trip(every::Nested { lead: 1, bin, two: every::Pair { left: 1, right: 2 }, end: 9 });
    round_trip(every::Tail { value: 1.5, mark: 3, ..Default::default() });
    round_trip(every::Flags { on: true, tint: every::Color::green, rest: 1 });
    let on = names::Toggle { on: true, position: names::Default::Err, ..Default::default() };
    round_trip(on);
    let panel =
        names::Panel { main: on, lit: [false, true, true, false], others: [on; 3], ..Default::default() };
    round_trip(names::Panels::from(vec![panel; 3]));
    round_trip(record());
    round_trip(tree(5));
    round_trip(every::Anonymous {
        few: vec![1, 2, 3, 4].into(),
        tiny: "äöü".into(),
        grid: [[1, 2, 3], [4, 5, 6]],
        texts: vec![String::new(), "x".into()],
        bins: vec![bin, bin].into(),
    });
    round_trip(every::WideRecord {
        letter: WChar(0x263a),
        gap: 1,
        text: "wide 𝄞".into(),
        short_code: "sechs…".into(),
        more: vec!["a".into(), String::new()],
    });
    let large = names::Large { lead: 1, values: [0.25; 40], more: [9; 33] };
    round_trip(large);
    assert_eq!(names::Large::default().values, [0.0; 40]);
    round_trip(names::Chars { c: Char(b'x'), w: WChar(0x20ac), d: LongDouble::from(-0.125) });
    // More than a double has: its range, and its digits.
    assert_eq!(names::beyond_double.to_bits(), 0x452f_b4ec_7f91_973f_f3cb_1ccf_26fb_c178);
    assert_eq!(names::one_third.to_bits(), 0x3ffd_5555_5555_5555_5555_5555_5555_5555);
    round_trip(names::Chars { d: names::beyond_double, ..names::Chars::default() });
}

#[test]
fn unions_keep_the_label_that_they_came_with() {
    for label in [1, 2, i16::MAX as u16] {
        round_trip(every::ByUShort::number(label, -5));
    }
    round_trip(every::ByUShort::text("three".into()));
    round_trip(every::ByUShort::other(4711, 9));
    round_trip(every::ByShort::s(i16::MIN));
    round_trip(every::ByShort::e(every::Color::green));
    round_trip(every::ByLong::inner(every::ByUShort::other(4, 1)));
    round_trip(every::ByLong::scalar(77, every::ByShort::d(0.5)));
    round_trip(every::ByLongLong::Default(3));
    round_trip(every::ByULongLong::most(1e300));
    round_trip(every::ByChar::letters(Char(b'b'), 5));
    round_trip(every::ByChar::Default(Char(0xff)));
    round_trip(every::ByBoolean::no(1));
    round_trip(every::Maybe::Default(false));
    round_trip(every::ByLevel::usual(every::Level::medium, every::BinStruct::default()));
    round_trip(every::ByLevel::Default(every::Level::off));
    round_trip(names::ByFlag::always(false, 3));
    round_trip(names::ByDefault::fallback(false, "f".into()));
    round_trip(names::Keys::Default(1));
    round_trip(names::Keys::Default_(Char(b'x')));
    round_trip(names::Deep::more(vec![names::Deep::leaf(2, 3), names::Deep::more(vec![])]));
}

#[test]
fn a_label_of_another_arm_is_refused() {
    let of_another_arm = EncodeErrorKind::Invalid("its label does not select this arm");
    assert_eq!(refused(&every::ByUShort::number(3, 0)), of_another_arm);
    assert_eq!(refused(&every::ByUShort::other(1, 0)), of_another_arm);
    assert_eq!(refused(&every::ByLongLong::Default(i64::MAX)), of_another_arm);
    assert_eq!(refused(&every::Maybe::Default(true)), of_another_arm);
    assert_eq!(refused(&every::ByLevel::usual(every::Level::high, Default::default())), of_another_arm);
    assert_eq!(refused(&names::ByDefault::fallback(true, String::new())), of_another_arm);
}

#[test]
fn bounds_hold_both_ways_and_wherever_they_stand() {
    let bounds = |text: &str, wide: &str, octets: usize, texts: usize| names::Bounds {
        text: text.into(),
        wide: wide.into(),
        octets: vec![0; octets].into(),
        texts: vec!["ab".into(); texts],
        grid: Default::default(),
        peers: Vec::new(),
    };
    let written = octets(&bounds("äöü", "𝄞𝄞", 4, 2));
    assert!(!written.is_empty());
    let exceeded = |length, bound| EncodeErrorKind::BoundExceeded { length, bound };
    assert_eq!(refused(&bounds("four", "", 0, 0)), exceeded(4, 3));
    assert_eq!(refused(&bounds("", "abc", 0, 0)), exceeded(3, 2));
    assert_eq!(refused(&bounds("", "", 5, 0)), exceeded(5, 4));
    assert_eq!(refused(&bounds("", "", 0, 3)), exceeded(3, 2));
    let mut inner = bounds("", "", 0, 1);
    inner.texts[0] = "abc".into();
    assert_eq!(refused(&inner), exceeded(3, 2));
    let mut grid = bounds("", "", 0, 0);
    grid.grid[1][1] = "abc".into();
    assert_eq!(refused(&grid), exceeded(3, 2));
    // On receipt: the member `short_code` of a Record takes 8 characters.
    let mut to = Encoder::new(FORMAT);
    to.write_string("").expect("it fits");
    to.write_u8(0);
    to.write_string("123456789").expect("it fits");
    let octets: Vec<u8> = to.slices().flatten().copied().collect();
    let error =
        every::Record::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, FORMAT)).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::BoundExceeded { length: 9, bound: 8 });
}

#[test]
fn both_byte_orders_are_read() {
    // ByUShort::number(2, 0x01020304), Pair { 1, 2 } and Maybe::value(1), as a big-endian and a little-endian peer send them.
    let read =
        |octets: &[u8], order| every::ByUShort::decode(&mut Decoder::from_slice(octets, order, FORMAT));
    let number = every::ByUShort::number(2, 0x0102_0304);
    assert_eq!(read(&[0, 2, 0, 0, 1, 2, 3, 4], ByteOrder::Big).unwrap(), number);
    assert_eq!(read(&[2, 0, 0, 0, 4, 3, 2, 1], ByteOrder::Little).unwrap(), number);
    let pairs =
        |octets: &[u8], order| every::PairSeq::decode(&mut Decoder::from_slice(octets, order, FORMAT));
    let expected = vec![every::Pair { left: 1, right: -2 }];
    assert_eq!(*pairs(&[0, 0, 0, 1, 0, 1, 0xff, 0xfe], ByteOrder::Big).unwrap(), *expected);
    assert_eq!(*pairs(&[1, 0, 0, 0, 1, 0, 0xfe, 0xff], ByteOrder::Little).unwrap(), *expected);
    let maybe = |octets: &[u8], order| every::Maybe::decode(&mut Decoder::from_slice(octets, order, FORMAT));
    let one = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(maybe(&one, ByteOrder::Big).unwrap(), every::Maybe::value(1));
    let error = maybe(&[2], ByteOrder::Big).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::BadBoolean(2));
    let colour =
        every::Color::decode(&mut Decoder::from_slice(&[0, 0, 0, 3], ByteOrder::Big, FORMAT)).unwrap_err();
    assert_eq!(colour.kind, DecodeErrorKind::BadEnumerator(3));
}

#[test]
fn recursion_ends_at_the_nesting_limit() {
    // Each level of Deep is label 1 and a sequence of one.
    let levels: Vec<u8> = std::iter::repeat_n([0, 0, 0, 1, 0, 0, 0, 1], 100_000).flatten().collect();
    let error = names::Deep::decode(&mut Decoder::from_slice(&levels, ByteOrder::Big, FORMAT)).unwrap_err();
    assert!(matches!(error.kind, DecodeErrorKind::TooDeep { .. }), "{error}");
}

#[test]
fn constants_have_their_values() {
    assert_eq!(every::FAVOURITE, every::Color::green);
    assert_eq!(every::GREETING, "hello, \"world\"\n");
    assert_eq!(every::LETTER, Char(b'z'));
    assert_eq!(every::WIDE_LETTER, WChar(u16::from(b'z')));
    assert_eq!((every::MASK, every::LONG_LEAST, every::OCTET_MOST), (248, -2147483647, 255));
    // Named like a local variable of generated code.
    assert_eq!((names::to_, names::value_, names::amount), (1, 3, 5));
}

/// Two interfaces that a file declares in one module: what operations of both raise passes from one to the other.
#[test]
fn the_same_exceptions_are_one_error() {
    fn of_the_account() -> Result<(), names::account::AgainError> {
        Err(names::Gone {}.into())
    }
    fn of_the_next() -> Result<(), names::next::PassError> {
        of_the_account()?;
        Ok(())
    }
    assert_eq!(of_the_next(), Err(names::account::NextError::Gone(names::Gone {})));
}
