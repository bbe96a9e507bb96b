//! Anys: what goes in comes out, in every alignment and byte order, and what a peer forges is refused in bounded time.

use bytes::Bytes;
use zorb_cdr::{
    Any, AnyError, ByteOrder, CodeSets, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Format,
    TypeCode, Version,
};

fn sent(any: &Any, before: usize, format: Format) -> Vec<u8> {
    let mut to = Encoder::new(format);
    (0..before).for_each(|_| to.write_u8(0));
    any.encode(&mut to).expect("encodes");
    to.slices().flatten().copied().collect()
}

fn received(octets: &[u8], before: usize, format: Format) -> Result<Any, DecodeError> {
    let octets = Bytes::copy_from_slice(octets);
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, format);
    from.read_octets(before)?;
    let any = Any::decode(&mut from)?;
    assert_eq!(from.remaining(), 0);
    Ok(any)
}

/// A struct of mixed alignment with text in it.
struct Mixed {
    flag: u8,
    wide: f64,
    text: String,
    numbers: Vec<i64>,
}

impl Encode for Mixed {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.flag.encode(to)?;
        self.wide.encode(to)?;
        self.text.encode(to)?;
        self.numbers.encode(to)
    }
}

impl Decode for Mixed {
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            flag: Decode::decode(from)?,
            wide: Decode::decode(from)?,
            text: Decode::decode(from)?,
            numbers: Decode::decode(from)?,
        })
    }
}

fn mixed_type() -> TypeCode {
    TypeCode::build(|to| {
        to.structure("IDL:Mixed:1.0", "Mixed", |to| {
            vec![
                ("flag", to.basic::<u8>()),
                ("wide", to.basic::<f64>()),
                ("text", to.basic::<str>()),
                ("numbers", to.basic::<Vec<i64>>()),
            ]
        })
    })
    .expect("described")
}

fn mixed() -> Any {
    let value = Mixed { flag: 7, wide: 2.5, text: "naïve".into(), numbers: vec![-1, i64::MAX] };
    Any::with_type_code(mixed_type(), &value).expect("an any")
}

#[test]
fn an_any_is_sent_from_any_place_and_sent_on_to_any_other() {
    let latin = Format::default();
    let unicode = Format { code_sets: zorb_cdr::CodeSets::UNICODE, ..latin };
    for format in [latin, unicode] {
        for before in 0..9 {
            let first = received(&sent(&mixed(), before, format), before, format).expect("received");
            assert_eq!(first, mixed());
            for again in 0..9 {
                let on = sent(&first, again, latin);
                assert_eq!(on, sent(&mixed(), again, latin), "from {before} to {again}");
                let second = received(&on, again, latin).expect("received");
                let value: Mixed = second.get_as(&mixed_type()).expect("mixed");
                assert_eq!((value.flag, value.wide, &*value.text), (7, 2.5, "naïve"));
                assert_eq!(value.numbers, [-1, i64::MAX]);
            }
        }
    }
}

#[test]
fn the_other_byte_order_is_read_and_sent_on() {
    // A double of TypeCode 7 and a sequence of two shorts, big-endian whatever the machine.
    let octets = [
        &[0, 0, 0, 19, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0][..],
        &[0, 0, 0, 2, 1, 2, 0xff, 0xfe],
    ]
    .concat();
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let any = Any::decode(&mut from).expect("decodes");
    assert_eq!(any.get::<Vec<i16>>().expect("shorts"), [0x102, -2]);
    let on = received(&sent(&any, 3, Format::default()), 3, Format::default()).expect("received");
    assert_eq!(on.get::<Vec<i16>>().expect("shorts"), [0x102, -2]);
    assert_eq!(on, any);
}

#[test]
fn anys_nest_and_types_are_values() {
    let inner = Any::new(&mixed_type()).expect("an any");
    let list = Any::new(&vec![inner.clone(), mixed(), Any::EMPTY]).expect("an any");
    let list = received(&sent(&list, 2, Format::default()), 2, Format::default()).expect("received");
    let got: Vec<Any> = list.get().expect("anys");
    assert_eq!(got, [inner, mixed(), Any::EMPTY]);
    assert_eq!(got[0].get::<TypeCode>().expect("a type"), mixed_type());
}

#[test]
fn another_type_is_not_given() {
    let error = Any::new(&5i32).expect("an any").get::<u32>().expect_err("another type");
    assert!(matches!(error, AnyError::OtherType { .. }));
    assert_eq!(error.to_string(), "the any holds a value of type long, not ulong");
    assert!(mixed().get::<String>().expect_err("another").to_string().contains("IDL:Mixed:1.0"));
    // What does not encode as its type says is not taken.
    assert!(Any::with_type_code(mixed_type(), &5u8).is_err());
    assert!(Any::with_type_code(TypeCode::of::<u8>(), &5i32).is_err());
}

/// GIOP 1.1: alignment restarts in each fragment.
#[test]
fn an_any_in_fragments_is_put_together() {
    let format = Format::new(Version::V1_1);
    let value = Mixed { flag: 1, wide: 0.5, text: "x".repeat(200), numbers: (0..100).collect() };
    let any = Any::with_type_code(mixed_type(), &value).expect("an any");
    let mut to = Encoder::new(format);
    to.write_octets(&[0; 12]);
    to.fragment_every(128);
    any.encode(&mut to).expect("encodes");
    let breaks = to.breaks().to_vec();
    assert!(breaks.len() > 5);
    let octets = to.to_bytes();
    let mut starts = vec![0];
    starts.extend(breaks.iter().copied());
    let ends = breaks.iter().copied().chain([octets.len()]);
    let segments = starts.iter().zip(ends).map(|(start, end)| zorb_cdr::Segment {
        octets: zorb_cdr::Octets::from(&octets[start + 12..end]),
        phase: 12,
    });
    let body = zorb_cdr::Body::many(segments.collect(), ByteOrder::NATIVE);
    let mut from = Decoder::over(&body, format);
    assert_eq!(Any::decode(&mut from).expect("decodes"), any);
    assert_eq!(from.remaining(), 0);
}

/// Ten octets of type may describe values without end.
#[test]
fn values_that_never_end_are_refused() {
    let endless = TypeCode::build(|to| {
        let mut of = to.structure("", "Nothing", |_| Vec::new());
        for _ in 0..50 {
            of = to.array(of, u32::MAX);
        }
        of
    })
    .expect("described");
    let octets: Vec<u8> = sent(&Any::new(&endless).expect("a type"), 0, Format::default());
    // The TypeCode of the TypeCode is 4 octets; what follows is read as an any's type, with no value.
    let error = received(&octets[4..], 0, Format::default()).expect_err("refused");
    assert!(error.to_string().contains("more values than octets"), "{error}");

    let itself = TypeCode::build(|to| {
        to.structure("IDL:S:1.0", "S", |to| vec![("s", to.structure("IDL:S:1.0", "S", |_| Vec::new()))])
    })
    .expect("described");
    let octets: Vec<u8> = sent(&Any::new(&itself).expect("a type"), 0, Format::default());
    let error = received(&octets[4..], 0, Format::default()).expect_err("refused");
    assert!(matches!(error.kind, zorb_cdr::DecodeErrorKind::TooDeep { .. }), "{error}");
}

/// `struct Empty {}; typedef sequence<Empty> ES; struct Clock { ES passed; };`, where the elements may be of several parts of nothing.
fn clock(parts: usize) -> TypeCode {
    let names: Vec<String> = (0..parts / 2).map(|part| format!("part{part}")).collect();
    TypeCode::build(|to| {
        let mut empty = to.structure("IDL:ee/Empty:1.0", "Empty", |_| Vec::new());
        if parts > 1 {
            empty = to.structure("IDL:ee/Emptier:1.0", "Emptier", |to| {
                let grid = to.array(empty, 3);
                let named = to.alias("IDL:ee/Grid:1.0", "Grid", grid);
                names.iter().map(|name| (&**name, named)).collect()
            });
        }
        to.structure("IDL:ee/Clock:1.0", "Clock", |to| vec![("passed", to.sequence(empty, 0))])
    })
    .expect("described")
}

#[test]
fn a_sequence_of_nothing_is_read_at_the_end_and_bounded() {
    for parts in [1, 4] {
        let ty = clock(parts);
        for count in [0u32, 2, 1024] {
            let any = Any::with_type_code(ty.clone(), &count).expect("an any");
            let octets = sent(&any, 0, Format::default());
            let again = received(&octets, 0, Format::default()).expect("nothing need follow");
            assert_eq!(again, any);
            assert_eq!(sent(&again, 3, Format::default()), sent(&any, 3, Format::default()));
        }
        // Octets that follow make no more of them.
        for (count, behind) in [(1025, 0), (1025, 8192), (u32::MAX, 0)] {
            let mut to = Encoder::new(Format::default());
            to.write_u32(count);
            to.write_octets(&vec![0; behind]);
            let octets = to.to_bytes();
            let error = Any::decode_value(
                ty.clone(),
                &mut Decoder::new(&octets, ByteOrder::NATIVE, Format::default()),
            )
            .expect_err("refused");
            let kind = zorb_cdr::DecodeErrorKind::BoundExceeded { length: count as usize, bound: 1024 };
            assert_eq!(error.kind, kind, "{error}");
            assert_eq!(error.path.to_string(), "passed");
        }
    }
    // What is made of very many parts of nothing is taken for octets, so that no type makes a count long to read.
    let octets = Bytes::copy_from_slice(&2u32.to_ne_bytes());
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    let error = Any::decode_value(clock(1000), &mut from).expect_err("refused");
    assert!(
        matches!(error.kind, zorb_cdr::DecodeErrorKind::LengthBeyondEnd { length: 2, left: 0 }),
        "{error}"
    );
}

/// A few octets say of many counts each that 1,024 follow.
#[test]
fn sequences_of_nothing_are_no_endless_work() {
    let ty = TypeCode::build(|to| {
        let empty = to.structure("IDL:ee/Empty:1.0", "Empty", |_| Vec::new());
        let inner = to.sequence(empty, 0);
        to.sequence(inner, 0)
    })
    .expect("described");
    let mut to = Encoder::new(Format::default());
    to.write_u32(1000);
    (0..1000).for_each(|_| to.write_u32(1024));
    let octets = to.to_bytes();
    let error = Any::decode_value(ty, &mut Decoder::new(&octets, ByteOrder::NATIVE, Format::default()))
        .expect_err("a million elements of four thousand octets");
    assert!(error.to_string().contains("more values than octets"), "{error}");
}

#[test]
fn anys_in_anys_nest_to_the_limit_only() {
    let mut octets: Vec<u8> = (0..100_000).flat_map(|_| 11u32.to_ne_bytes()).collect();
    octets.extend([0; 4]);
    let error = received(&octets, 0, Format::default()).expect_err("refused");
    assert!(matches!(error.kind, zorb_cdr::DecodeErrorKind::TooDeep { .. }), "{error}");
}

#[test]
fn every_cut_and_every_changed_octet_ends() {
    let whole = sent(&Any::new(&vec![mixed(), mixed()]).expect("an any"), 0, Format::default());
    for end in 0..whole.len() {
        assert!(received(&whole[..end], 0, Format::default()).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        for value in [0, 1, 0x13, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[at] = value;
            let mut from = Decoder::from_slice(&changed, ByteOrder::NATIVE, Format::default());
            if let Ok(any) = Any::decode(&mut from) {
                let mut to = Encoder::new(Format::default());
                to.write_u8(0);
                let _ = any.encode(&mut to);
                let _ = any.get::<Vec<Any>>();
            }
        }
    }
}

/// Anys and TypeCodes with octets changed, dropped and doubled, the same at every run.
#[test]
fn damaged_anys_are_values_or_errors() {
    let seeds = [
        sent(&mixed(), 0, Format::default()),
        sent(
            &Any::new(&vec![mixed(), Any::new(&mixed_type()).expect("an any")]).expect("an any"),
            0,
            Format::default(),
        ),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) as usize % below
    };
    for _ in 0..20_000 {
        let seed = &seeds[next(2)];
        let mut data = vec![(next(128) as u8 & 0x7e) | u8::from(next(8) == 0)];
        data.extend(seed);
        for _ in 0..1 + next(4) {
            let at = 1 + next(data.len() - 1);
            match next(4) {
                0 => data[at] = next(256) as u8,
                1 => data[at] = next(37) as u8,
                2 => data.truncate(at.max(8)),
                _ => {
                    // An indirection somewhere.
                    let octets = [u32::MAX, (next(128) as u32).wrapping_neg()].map(u32::to_ne_bytes).concat();
                    let at = 1 + (at - 1) / 4 * 4;
                    let end = (at + 8).min(data.len());
                    data[at..end].copy_from_slice(&octets[..end - at]);
                }
            }
        }
        zorb_cdr::fuzz::anys(&data);
    }
}

/// Found by fuzzing: a value of a type that nobody knows, in chunks in an any in an any, is passed over where it is read and cannot be
/// written in another place, so that such an any equals nothing.
const UNKNOWN_IN_CHUNKS: &str = "60130000000c000000010000000b0000000000000001000000200000002b00000001000000000000000000000000d400\
    00000000000000000000000000100016060000000000000000000000003fffff7f2a000000000000003f000000000000\
    000000000000000049444c3a54130000000c008000010000000b0000000000000003000000200000002b000000010000\
    00000000000000000000d4000000000000000000000000000010000000000000000000100016060032130000000c0000\
    00010000000b0000000000200003000000ffffffffffffffffffffffffff0500000054726565000000000004004000";

#[test]
fn what_nobody_knows_is_read_and_cannot_be_written_elsewhere() {
    let digits = |at: usize| u8::from_str_radix(&UNKNOWN_IN_CHUNKS[at..at + 2], 16).unwrap();
    let octets: Vec<u8> = (0..UNKNOWN_IN_CHUNKS.len()).step_by(2).map(digits).collect();
    zorb_cdr::fuzz::anys(&octets);
    let format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };
    // It has the byte order of who found it, and is refused in the other.
    let Ok(any) = Any::decode(&mut Decoder::from_slice(&octets[1..], ByteOrder::Little, format)) else {
        panic!("it is read")
    };
    assert!(any != any.clone());
    let told = any.encode_value_owned(&mut Encoder::new(Format::default())).unwrap_err();
    assert_eq!(told.to_string(), "cannot send any: it holds a value of a type that is not known here");
}
