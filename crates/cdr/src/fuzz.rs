//! Bodies of fuzz targets: any bytes go in, and what must always hold is asserted.
//!
//! They are always compiled, so that tests drive them with a seeded mutator on the stable toolchain and a cargo-fuzz
//! target is one line.

mod dynamic;
mod graph_anys;
mod graphs;

pub use dynamic::dynamic;
pub use graph_anys::{graph_any_seeds, graph_anys};
pub use graphs::{graph_seeds, graphs};

use crate::{
    Any, Body, ByteOrder, Char, CodeSet, CodeSets, Decode, DecodeError, Decoder, Encode, EncodeError,
    Encoder, Fixed, Format, LongDouble, Octets, Padding, Segment, Sequence, TypeCode, Version, WChar,
    bitmask, enumeration, tiling_struct,
};
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

#[derive(Clone, Copy, Debug, bytemuck::NoUninit)]
#[repr(u32)]
enum Colour {
    Red,
    Green,
}
enumeration!(Colour { Red, Green });

#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct Plain {
    short: i16,
    octet: u8,
    padding: Padding<5>,
    double: f64,
}
tiling_struct!(plain Plain { short: i16, octet: u8, double: f64 } padding { padding });

#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
struct Checked {
    number: u64,
    colour: Colour,
    flag: bool,
    padding: Padding<3>,
}
tiling_struct!(checked Checked { number: u64, colour: Colour, flag: bool } padding { padding });

/// Contains itself, and text of both widths.
#[derive(Clone)]
struct Tree {
    name: String,
    wide: Wide,
    children: Vec<Tree>,
}

impl Encode for Tree {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.name.encode(to)?;
        self.wide.encode(to)?;
        self.children.encode(to)
    }
}

impl Decode for Tree {
    const MIN_SIZE: usize = 12;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { name: Decode::decode(from)?, wide: Decode::decode(from)?, children: Decode::decode(from)? })
    }
}

#[derive(Clone)]
struct Wide(String);

impl Encode for Wide {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_wstring(&self.0)
    }
}

impl Decode for Wide {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.read_wstring().map(Self)
    }
}

/// A `fixed<9, 2>`.
#[derive(Clone)]
struct Price(Fixed);

impl Encode for Price {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_fixed(self.0, 9, 2)
    }
}

impl Decode for Price {
    const MIN_SIZE: usize = 5;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.read_fixed(9, 2).map(Self)
    }
}

/// Twelve bits.
#[derive(Clone, Copy)]
struct Flags(u16);
bitmask!(Flags: u16, 12 methods { bits, from_bits, contains, is_empty } flags {});

/// An encapsulation with a string and a number inside.
#[derive(Clone)]
struct Wrapped(String, u64);

impl Encode for Wrapped {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.encapsulation(|to| {
            self.0.encode(to)?;
            self.1.encode(to)
        })
    }
}

impl Decode for Wrapped {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut inner = from.encapsulation()?;
        Ok(Self(Decode::decode(&mut inner)?, Decode::decode(&mut inner)?))
    }
}

/// Reads values of many types from arbitrary bytes. What reads must write, read again and write the same.
///
/// ```text
/// octet 0   bit 0 byte order, 1..2 GIOP version, 3 code set, 4..6 phase, 7 in two segments
/// octet 1   where the segments meet
/// octet 2   how many types follow, modulo 16; then a type in each octet
/// rest      the body
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn values(data: &[u8]) {
    let [settings, cut, count, rest @ ..] = data else { return };
    let Some((types, body)) = rest.split_at_checked(usize::from(count % 16)) else { return };
    let version =
        [Version::V1_2, Version::V1_1, Version::V1_0, Version::V1_2][usize::from(settings >> 1 & 3)];
    let code_sets = if settings & 8 == 0 {
        CodeSets::UNICODE
    } else {
        CodeSets { char: CodeSet::ISO_8859_1, wchar: Some(CodeSet::UCS_2) }
    };
    let format = Format { version, code_sets };
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let phase = usize::from(settings >> 4 & 7);
    let octets = Octets::from(body);
    let body = if settings & 0x80 == 0 {
        Body::one(Segment { octets, phase }, order)
    } else {
        let cut = usize::from(*cut).min(octets.len());
        let first = Segment { octets: octets.slice(0..cut), phase };
        // Every other time as GIOP 1.1 fragments have it: alignment restarts after the fragment's header.
        let phase = if cut % 2 == 0 { phase + cut } else { 12 };
        Body::many([first, Segment { octets: octets.slice(cut..octets.len()), phase }].into(), order)
    };
    let mut from = Decoder::over(&body, format);
    let whole = from.position() + from.remaining();
    for kind in types {
        let read = match kind % 20 {
            0 => again::<u8>(&mut from),
            1 => again::<bool>(&mut from),
            2 => again::<u16>(&mut from),
            3 => again::<i32>(&mut from),
            4 => again::<f64>(&mut from),
            5 => again::<LongDouble>(&mut from),
            6 => again::<WChar>(&mut from),
            7 => again::<String>(&mut from),
            8 => again::<Wide>(&mut from),
            9 => again::<Sequence<u8>>(&mut from),
            10 => again::<Sequence<f32>>(&mut from),
            11 => again::<Sequence<Plain>>(&mut from),
            12 => again::<Sequence<Checked>>(&mut from),
            13 => again::<Vec<Vec<String>>>(&mut from),
            14 => again::<Tree>(&mut from),
            15 => again::<Wrapped>(&mut from),
            16 => again::<[Plain; 3]>(&mut from),
            17 => again::<Sequence<[Char; 2]>>(&mut from),
            18 => again::<Vec<Price>>(&mut from),
            _ => again::<Vec<Flags>>(&mut from),
        };
        assert_eq!(from.position() + from.remaining(), whole, "nothing is read twice or lost");
        if read.is_err() {
            return;
        }
    }
}

/// Reads anys and TypeCodes from arbitrary bytes. What reads and can be written reads again as the same, wherever it is
/// written: a type whose parts nest deeper than they may on the wire reads, by indirections, and is not written.
///
/// ```text
/// octet 0   bit 0 byte order, 1 GIOP version, 2 TypeCode in place of any, 4..6 how many octets precede what is written
/// rest      the body
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn anys(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let version = if settings & 2 == 0 { Version::V1_2 } else { Version::V1_1 };
    let format = Format { version, code_sets: CodeSets::UNICODE };
    let before = usize::from(settings >> 4 & 7);
    let mut from = Decoder::from_slice(body, order, format);
    if settings & 4 == 0 {
        let Ok(any) = Any::decode(&mut from) else { return };
        // What cannot be written elsewhere, such as a value of a type that nobody knows, equals nothing.
        if any != any.clone() {
            return;
        }
        if let Some(again) = moved(&any, before, format) {
            assert_eq!(again.type_code(), any.type_code(), "an any keeps its type");
            assert!(again == any, "an any survives being written and read");
        }
        let _ = any.get::<Vec<Any>>();
        let _ = any.get::<String>();
    } else {
        let Ok(ty) = TypeCode::decode(&mut from) else { return };
        if let Some(again) = moved(&ty, before, format) {
            assert!(again.equal(&ty) && ty.equivalent(&again), "a TypeCode survives being written and read");
        }
        for index in 0..ty.member_count().unwrap_or(0).min(8) {
            let Some(member) = ty.member_type(index) else { continue };
            if let Some(again) = moved(&member, before, format) {
                assert!(again.equal(&member), "a part survives being written alone");
            }
        }
    }
}

/// The value behind so many octets, written and read, if it can be written.
fn moved<T: Encode + Decode>(value: &T, before: usize, format: Format) -> Option<T> {
    let mut to = Encoder::new(format);
    to.write_octets(&[0; 8][..before]);
    value.encode(&mut to).ok()?;
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, format);
    from.read_octets(before).expect("it was written");
    let value = T::decode(&mut from).expect("what was written can be read");
    assert_eq!(from.remaining(), 0, "a value is read to its end");
    Some(value)
}

/// Reads a value, writes it, reads that and writes it again.
fn again<T: Encode + Decode + Clone>(from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let value = T::decode(from)?;
    let octets = written(&value, from.format());
    let mut owned = Encoder::new(from.format());
    value.clone().encode_owned(&mut owned).expect("what was read can be written");
    assert_eq!(owned.to_bytes(), octets, "an owned value is written as a borrowed one is");
    let mut copy = Decoder::new(&octets, ByteOrder::NATIVE, from.format());
    let second = T::decode(&mut copy).expect("what was written can be read");
    assert_eq!(copy.remaining(), 0, "a value is read to its end");
    assert_eq!(written(&second, from.format()), octets, "a value survives being written and read");
    Ok(())
}

fn written<T: Encode>(value: &T, format: Format) -> Bytes {
    let mut to = Encoder::new(format);
    value.encode(&mut to).expect("what was read can be written");
    to.to_bytes()
}
