//! What generated code looks like for every kind of IDL type that holds values, and that its bytes are CDR.
//!
//! The types stand for this IDL; each is written as the generator writes it.
//!
//! ```text
//! enum Colour { Red, Green, Blue };
//! struct BinStruct { short s; char c; long l; octet o; double d; };     // tiles; no tail
//! struct Reading { double value; unsigned long time; octet quality; };  // tiles; three octets of tail
//! struct Pixel { boolean lit; Colour colour; long at[2]; };             // tiles; some bits are no value
//! struct Panel { unsigned long number; boolean lit[4]; Colour colours[2]; };      // tiles; arrays of such members
//! struct Frame { BinStruct header; long long number; };                 // tiles; a struct inside
//! struct Loose { octet before; double value; octet after; };            // does not tile
//! struct Named { string name; sequence<BinStruct, 4> items; wstring note; sequence<Named> parts; };
//! union Number switch (long) { case 1: double real; case 2: case 3: string name; default: octet code; };
//! union Maybe switch (boolean) { case TRUE: Named value; };
//! ```
#![allow(missing_docs)] // Generated from IDL without comments.

use zorb_cdr::{
    BORROW_FROM, Body, ByteOrder, Char, CodeSets, Decode, DecodeError, DecodeErrorKind, Decoder, Encode,
    EncodeError, EncodeErrorKind, Encoder, Format, Octets, Padding, Segment, Sequence, Version, check_bound,
    enumeration, tiling_struct,
};

// An enum: `repr(u32)`, the enumerators in order, the first one the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, zorb_cdr::bytemuck::NoUninit)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(u32)]
pub enum Colour {
    #[default]
    Red,
    Green,
    Blue,
}
enumeration!(Colour { Red, Green, Blue });

// A struct that tiles, all of whose bits are values: `plain`. Sequences of it are views.
#[derive(Clone, Copy, PartialEq, Default, zorb_cdr::bytemuck::Zeroable, zorb_cdr::bytemuck::Pod)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
pub struct BinStruct {
    pub s: i16,
    pub c: Char,
    #[doc(hidden)]
    pub _padding_0: Padding<1>,
    pub l: i32,
    pub o: u8,
    #[doc(hidden)]
    pub _padding_1: Padding<7>,
    pub d: f64,
}
tiling_struct!(plain BinStruct { s: i16, c: Char, l: i32, o: u8, d: f64 } padding { _padding_0, _padding_1 });

// A struct that tiles with padding at its end: possible only because its first member is its widest.
#[derive(Clone, Copy, PartialEq, Default, zorb_cdr::bytemuck::Zeroable, zorb_cdr::bytemuck::Pod)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
pub struct Reading {
    pub value: f64,
    pub time: u32,
    pub quality: u8,
    #[doc(hidden)]
    pub _padding_0: Padding<3>,
}
tiling_struct!(plain Reading { value: f64, time: u32, quality: u8 } padding { _padding_0 });

// A struct with boolean and enum members tiles like any other; not any bits are a value, so it is `checked` and derives
// `NoUninit` alone.
#[derive(Clone, Copy, PartialEq, Eq, Default, zorb_cdr::bytemuck::NoUninit)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
pub struct Pixel {
    pub lit: bool,
    #[doc(hidden)]
    pub _padding_0: Padding<3>,
    pub colour: Colour,
    pub at: [i32; 2],
}
tiling_struct!(checked Pixel { lit: bool, colour: Colour, at: [i32; 2] } padding { _padding_0 });

// A struct that holds arrays of those: nothing can be derived that would show its octets, so it is `copied`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Panel {
    pub number: u32,
    pub lit: [bool; 4],
    pub colours: [Colour; 2],
}
tiling_struct!(copied Panel { number: u32, lit: [bool; 4], colours: [Colour; 2] } padding {});

// A struct inside a struct: its padding is its own.
#[derive(Clone, Copy, PartialEq, Default, zorb_cdr::bytemuck::Zeroable, zorb_cdr::bytemuck::Pod)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
pub struct Frame {
    pub header: BinStruct,
    pub number: i64,
}
tiling_struct!(plain Frame { header: BinStruct, number: i64 } padding {});

// The same with a member that not any bits are a value of: it is sent as it lies, and never viewed.
#[derive(Clone, Copy, PartialEq, Default, zorb_cdr::bytemuck::NoUninit)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
pub struct Painted {
    pub bin: BinStruct,
    pub colour: Colour,
    pub number: i32,
}
tiling_struct!(checked Painted { bin: BinStruct, colour: Colour, number: i32 } padding {});

// A struct of fixed size that does not tile: member by member, sequences of it are `Vec`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Loose {
    pub before: u8,
    pub value: f64,
    pub after: u8,
}

impl Encode for Loose {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.before.encode(to)?;
        self.value.encode(to)?;
        self.after.encode(to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        self.before.encode_owned(to)?;
        self.value.encode_owned(to)?;
        self.after.encode_owned(to)
    }
}

impl Decode for Loose {
    const MIN_SIZE: usize = <u8 as Decode>::MIN_SIZE + <f64 as Decode>::MIN_SIZE + <u8 as Decode>::MIN_SIZE;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { before: Decode::decode(from)?, value: Decode::decode(from)?, after: Decode::decode(from)? })
    }
}

// A struct with text, a bounded sequence and itself. `MIN_SIZE` of text, sequences and recursive types is 4: a length.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Named {
    pub name: String,
    pub items: Sequence<BinStruct>,
    pub note: String,
    pub parts: Vec<Named>,
}

impl Encode for Named {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.name.encode(to)?;
        check_bound(self.items.len(), 4, "Named::items")?;
        self.items.encode(to)?;
        to.write_wstring(&self.note)?;
        self.parts.encode(to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        self.name.encode_owned(to)?;
        check_bound(self.items.len(), 4, "Named::items")?;
        self.items.encode_owned(to)?;
        to.write_wstring(&self.note)?;
        self.parts.encode_owned(to)
    }
}

impl Decode for Named {
    const MIN_SIZE: usize = 4 + 4 + 4 + 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: Decode::decode(from)?,
            items: from.read_bounded(4, "Named::items")?,
            note: from.read_wstring()?,
            parts: Decode::decode(from)?,
        })
    }
}

// A union: the arm is the discriminator; where several labels lead to an arm, it carries which.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    Real(f64),
    Name(i32, String),
    Code(i32, u8),
}

impl Encode for Number {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        const WRONG_LABEL: EncodeError =
            EncodeError::new(EncodeErrorKind::Invalid("the label is another arm's"), "Number");
        match self {
            Self::Real(value) => {
                to.write_i32(1);
                value.encode(to)
            }
            Self::Name(label @ (2 | 3), value) => {
                to.write_i32(*label);
                value.encode(to)
            }
            Self::Code(1..=3, _) | Self::Name(..) => Err(WRONG_LABEL),
            Self::Code(label, value) => {
                to.write_i32(*label);
                value.encode(to)
            }
        }
    }
}

impl Decode for Number {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match from.read_i32()? {
            1 => Self::Real(Decode::decode(from)?),
            label @ (2 | 3) => Self::Name(label, Decode::decode(from)?),
            label => Self::Code(label, Decode::decode(from)?),
        })
    }
}

// A union without a default: the labels that no arm names select nothing. Here there is one, so it needs no label.
#[derive(Clone, Debug, PartialEq)]
pub enum Maybe {
    Value(Box<Named>),
    Default,
}

impl Encode for Maybe {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        match self {
            Self::Value(value) => {
                to.write_bool(true);
                value.as_ref().encode(to)
            }
            Self::Default => {
                to.write_bool(false);
                Ok(())
            }
        }
    }
}

impl Decode for Maybe {
    const MIN_SIZE: usize = 1;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match from.read_bool()? {
            true => Self::Value(Box::new(Decode::decode(from)?)),
            false => Self::Default,
        })
    }
}

const UNICODE: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn bin(number: usize) -> BinStruct {
    let small = number as u8;
    BinStruct {
        s: -(number as i16),
        c: Char(small),
        l: number as i32 * 70_000,
        o: !small,
        d: 0.1,
        ..Default::default()
    }
}

fn reading(number: usize) -> Reading {
    Reading { value: number as f64 / 3.0, time: number as u32, quality: 0xaa, ..Default::default() }
}

fn pixel(number: usize) -> Pixel {
    let colour = [Colour::Red, Colour::Green, Colour::Blue][number % 3];
    Pixel { lit: number.is_multiple_of(2), colour, at: [number as i32, -1], ..Default::default() }
}

fn named(depth: usize) -> Named {
    Named {
        name: "größer".into(),
        items: (0..depth.min(4)).map(bin).collect(),
        note: "𝄞 na ja".into(),
        parts: (0..depth).map(|_| named(depth - 1)).collect(),
    }
}

/// Octets that a foreign machine would send, member by member, with every padding octet 0xee.
#[derive(Clone)]
struct Reference {
    octets: Vec<u8>,
    order: ByteOrder,
}

impl Reference {
    fn at_phase(phase: usize, order: ByteOrder) -> Self {
        Self { octets: vec![0xee; phase], order }
    }

    fn put<const N: usize>(&mut self, mut little: [u8; N]) -> &mut Self {
        while !self.octets.len().is_multiple_of(N) {
            self.octets.push(0xee);
        }
        if self.order == ByteOrder::Big {
            little.reverse();
        }
        self.octets.extend(little);
        self
    }

    fn bin(&mut self, value: &BinStruct) {
        self.put(value.s.to_le_bytes()).put([value.c.0]).put(value.l.to_le_bytes()).put([value.o]);
        self.put(value.d.to_le_bytes());
    }

    fn reading(&mut self, value: &Reading) {
        self.put(value.value.to_le_bytes()).put(value.time.to_le_bytes()).put([value.quality]);
    }

    fn pixel(&mut self, value: &Pixel) {
        self.put([u8::from(value.lit)]).put((value.colour as u32).to_le_bytes());
        self.put(value.at[0].to_le_bytes()).put(value.at[1].to_le_bytes());
    }

    fn booleans(&mut self, values: &[bool]) {
        values.iter().for_each(|it| _ = self.put([u8::from(*it)]));
    }

    fn panel(&mut self, value: &Panel) {
        self.put(value.number.to_le_bytes()).booleans(&value.lit);
        value.colours.iter().for_each(|it| _ = self.put((*it as u32).to_le_bytes()));
    }

    fn frame(&mut self, value: &Frame) {
        self.bin(&value.header);
        self.put(value.number.to_le_bytes());
    }
}

fn panel(number: usize) -> Panel {
    Panel {
        number: number as u32,
        lit: [number % 2 == 1, true, false, number.is_multiple_of(3)],
        colours: [pixel(number).colour, pixel(number + 1).colour],
    }
}

/// A sequence of elements after `phase` octets: what is written equals the reference with zeros for padding; what is read
/// from the reference, whose padding is not zero, equals the elements, and is written again without a trace of that.
fn check_runs<T>(make: impl Fn(usize) -> T, put: impl Fn(&mut Reference, &T))
where
    T: zorb_cdr::Element + PartialEq + std::fmt::Debug,
{
    for phase in 0..8 {
        for count in [0, 1, 2, 3, 7, 400] {
            let elements: Vec<T> = (0..count).map(&make).collect();
            let clean = written(phase, |to| elements.as_slice().encode(to));
            let shared = Sequence::from(elements.clone());
            assert_eq!(written(phase, |to| shared.encode(to)), clean);
            assert_eq!(owned(phase, shared), clean);
            assert_eq!(owned(phase, elements.clone()), clean);
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let mut reference = Reference::at_phase(phase, order);
                reference.put((count as u32).to_le_bytes());
                elements.iter().for_each(|element| put(&mut reference, element));
                // What follows is not eaten, and neither is it taken for a tail.
                let end = reference.octets.len();
                reference.octets.extend([0x77; 32]);
                if order == ByteOrder::NATIVE {
                    let differs =
                        |(ours, theirs): (&u8, &u8)| ours != theirs && (*ours, *theirs) != (0, 0xee);
                    assert_eq!(clean.len(), end, "phase {phase}, {count} elements");
                    assert!(!clean.iter().zip(&reference.octets).skip(phase).any(differs));
                }
                let received = aligned(reference.octets.clone());
                let whole = Segment { octets: received.slice(phase..received.len()), phase };
                let body = Body::one(whole, order);
                let mut from = Decoder::over(&body, UNICODE);
                let read: Sequence<T> = Decode::decode(&mut from).unwrap();
                assert_eq!(read, elements, "phase {phase}, {order:?}");
                assert_eq!(from.position(), end - phase);
                assert_eq!(written(phase, |to| read.encode(to)), clean);
                let mut from = Decoder::over(&body, UNICODE);
                assert_eq!(Vec::<T>::decode(&mut from).unwrap(), elements);
                for cut in phase..end {
                    // 400 elements have ten thousand prefixes.
                    if count < 10 || cut % 307 == 0 {
                        let body = Body::one(Segment { octets: received.slice(phase..cut), phase }, order);
                        assert!(Sequence::<T>::decode(&mut Decoder::over(&body, UNICODE)).is_err());
                    }
                }
                // In two segments, cut anywhere: alignment runs on, as in GIOP 1.2.
                for cut in (phase..end).filter(|cut| count < 10 || cut % 307 == 0) {
                    let segment = |range: std::ops::Range<usize>| Segment {
                        phase: range.start,
                        octets: received.slice(range),
                    };
                    let body = Body::many(vec![segment(phase..cut), segment(cut..end)], order);
                    assert_eq!(Sequence::<T>::decode(&mut Decoder::over(&body, UNICODE)).unwrap(), elements);
                }
            }
        }
    }
}

/// Octets whose first octet is at a multiple of 8, as receive buffers are.
fn aligned(octets: Vec<u8>) -> Octets {
    let mut space = vec![0; octets.len() + 8];
    let skip = space.as_ptr().align_offset(8);
    space[skip..skip + octets.len()].copy_from_slice(&octets);
    Octets::from(space).slice(skip..skip + octets.len())
}

fn written<'a>(phase: usize, fill: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>) -> Vec<u8> {
    let mut to = Encoder::new(UNICODE);
    to.write_octets(&[0; 8][..phase]);
    fill(&mut to).unwrap();
    assert_eq!(to.slices().map(<[u8]>::len).sum::<usize>(), to.len());
    to.to_bytes().to_vec()
}

fn owned(phase: usize, value: impl Encode) -> Vec<u8> {
    let mut to = Encoder::new(UNICODE);
    to.write_octets(&[0; 8][..phase]);
    value.encode_owned(&mut to).unwrap();
    to.to_bytes().to_vec()
}

#[test]
fn structs_at_every_phase() {
    check_runs(bin, Reference::bin);
}

#[test]
fn structs_with_a_tail_at_every_phase() {
    check_runs(reading, Reference::reading);
}

#[test]
fn structs_with_booleans_and_enums_at_every_phase() {
    check_runs(pixel, Reference::pixel);
}

#[test]
fn structs_with_arrays_of_booleans_and_enums_at_every_phase() {
    check_runs(panel, Reference::panel);
    check_runs(|number| [panel(number).lit, [true; 4]], |to, value| to.booleans(value.as_flattened()));
    check_runs(
        |number| panel(number).colours,
        |to, value| value.iter().for_each(|it| _ = to.put((*it as u32).to_le_bytes())),
    );
    // Of a size at which others are borrowed or shared.
    let panels: Vec<Panel> = (0..2000).map(panel).collect();
    assert!(size_of_val(panels.as_slice()) > BORROW_FROM);
    let octets = written(0, |to| panels.encode(to));
    assert_eq!(owned(0, Sequence::from(panels.clone())), octets);
    let read = Sequence::<Panel>::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE));
    assert_eq!(read.as_deref(), Ok(panels.as_slice()));
}

#[test]
fn structs_in_structs_at_every_phase() {
    check_runs(|number| Frame { header: bin(number), number: number as i64 }, Reference::frame);
}

#[test]
fn arrays_of_structs_at_every_phase() {
    check_runs(
        |number| [bin(number), bin(number + 1)],
        |to, pair| pair.iter().for_each(|value| to.bin(value)),
    );
    check_runs(|number| [reading(number); 3], |to, all| all.iter().for_each(|value| to.reading(value)));
}

#[test]
fn scalars_and_enums_at_every_phase() {
    check_runs(|number| number as u8, |to, value| _ = to.put([*value]));
    check_runs(|number| number % 2 == 0, |to, value| _ = to.put([u8::from(*value)]));
    check_runs(|number| -(number as i16), |to, value| _ = to.put(value.to_le_bytes()));
    check_runs(|number| number as f32 / 7.0, |to, value| _ = to.put(value.to_le_bytes()));
    check_runs(|number| number as u64 * 0x0123_4567_89ab, |to, value| _ = to.put(value.to_le_bytes()));
    check_runs(|number| pixel(number).colour, |to, value| _ = to.put((*value as u32).to_le_bytes()));
}

#[test]
fn the_first_element_out_of_phase_takes_twenty_octets() {
    assert_eq!(owned(0, vec![bin(1)]).len(), 4 + 20);
    assert_eq!(owned(0, vec![bin(1), bin(2)]).len(), 4 + 20 + 24);
}

#[test]
fn the_last_element_lacks_its_tail() {
    assert_eq!(owned(0, vec![reading(1)]).len(), 8 + 13);
    assert_eq!(owned(0, vec![reading(1), reading(2)]).len(), 8 + 16 + 13);
}

#[test]
fn large_runs_are_borrowed_and_viewed() {
    // In phase, after the length: the bytes sent are the caller's own, and those received the message's own.
    let elements: Vec<BinStruct> = (0..1000).map(bin).collect();
    let mut to = Encoder::new(UNICODE);
    to.write_u32(0);
    elements.as_slice().encode(&mut to).unwrap();
    let slices: Vec<&[u8]> = to.slices().collect();
    assert_eq!(slices.len(), 2);
    assert_eq!(slices[1].as_ptr(), elements.as_ptr().cast());
    let received = aligned(to.to_bytes().to_vec());
    let bytes = received.to_bytes();
    let body = Body::one(Segment { octets: received.clone(), phase: 0 }, ByteOrder::NATIVE);
    for mut from in [Decoder::over(&body, UNICODE), Decoder::new(&bytes, ByteOrder::NATIVE, UNICODE)] {
        from.read_u32().unwrap();
        let read: Sequence<BinStruct> = Decode::decode(&mut from).unwrap();
        assert!(read.is_view());
        assert_eq!(read.as_ptr().cast(), received[8..].as_ptr());
        assert_eq!(read, elements);
        assert_eq!(read.clone().into_vec(), elements);
    }
    assert!(elements.len() * size_of::<BinStruct>() >= BORROW_FROM);
}

#[test]
fn what_a_peer_left_in_padding_goes_no_further() {
    let mut reference = Reference::at_phase(4, ByteOrder::NATIVE);
    let elements: Vec<BinStruct> = (0..1000).map(bin).collect();
    reference.put(1000u32.to_le_bytes());
    elements.iter().for_each(|element| reference.bin(element));
    let body = Body::one(Segment { octets: aligned(reference.octets), phase: 0 }, ByteOrder::NATIVE);
    let mut from = Decoder::over(&body, UNICODE);
    from.read_u32().unwrap();
    let read: Sequence<BinStruct> = Decode::decode(&mut from).unwrap();
    assert!(read.is_view() && !<BinStruct as zorb_cdr::Element>::are_clean(&read), "it lies where it came");
    assert_eq!(read, elements);
    let clean = written(4, |to| elements.encode(to));
    let copied = read.to_vec();
    assert_eq!(written(4, |to| read.encode(to)), clean);
    assert_eq!(written(4, |to| copied.encode(to)), clean);
    assert_eq!(owned(4, copied), clean);
    // In another struct, which never came from anywhere.
    let frame = |header: &BinStruct| Frame { header: *header, number: 7 };
    let frames = |bins: &[BinStruct]| bins.iter().map(frame).collect::<Vec<_>>();
    assert_eq!(owned(4, frames(&read)), owned(4, frames(&elements)));
    let painted = |bin: &BinStruct| Painted { bin: *bin, number: 7, ..Painted::default() };
    let paint = |bins: &[BinStruct]| bins.iter().map(painted).collect::<Vec<_>>();
    let clean_paint = owned(4, paint(&elements));
    assert!(owned(4, paint(&read)) == clean_paint);
    assert!(owned(4, Sequence::from(paint(&read))) == clean_paint);
    let borrowed = paint(&read);
    assert!(written(4, |to| borrowed.encode(to)) == clean_paint);
    assert_eq!(owned(4, read), clean);
}

#[test]
fn wrong_members_are_named_where_they_stand() {
    let mut octets = owned(0, (0..300).map(pixel).collect::<Vec<_>>());
    octets[4 + 16 * 200] = 2;
    let read = Sequence::<Pixel>::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE));
    assert_eq!(read, Err(DecodeError::new(DecodeErrorKind::BadBoolean(2), "boolean", 4 + 16 * 200)));
    let octets = owned(0, vec![0u8, 1, 3]);
    let read = Sequence::<bool>::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE));
    assert_eq!(read, Err(DecodeError::new(DecodeErrorKind::BadBoolean(3), "boolean", 6)));
    let octets = owned(0, vec![0u32, 1, 3]);
    let read = Sequence::<Colour>::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE));
    assert_eq!(read, Err(DecodeError::new(DecodeErrorKind::BadEnumerator(3), "Colour", 12)));
}

fn survives<T: Encode + Decode + Clone + PartialEq + std::fmt::Debug>(value: T) {
    for phase in 0..8 {
        let octets = written(phase, |to| {
            // Encoding borrows for as long as the message lives, which here is not as long as the value.
            let mut inner = Encoder::new(UNICODE);
            inner.write_octets(&[0; 8][..phase]);
            value.encode(&mut inner)?;
            to.write_octets(&inner.to_bytes()[phase..]);
            Ok(())
        });
        assert_eq!(owned(phase, value.clone()), octets);
        let read = |end: usize| {
            let mut from = Decoder::from_slice(&octets[..end], ByteOrder::NATIVE, UNICODE);
            from.read_octets(phase)?;
            T::decode(&mut from)
        };
        assert_eq!(read(octets.len()).as_ref(), Ok(&value));
        (phase..octets.len()).for_each(|end| assert!(read(end).is_err(), "the first {end} octets"));
    }
}

#[test]
fn other_structs_and_unions() {
    survives(Loose { before: 1, value: 2.5, after: 3 });
    survives(vec![Loose { before: 1, value: 2.5, after: 3 }; 5]);
    survives(named(0));
    survives(named(3));
    survives(Number::Real(1.5));
    survives(Number::Name(3, "three".into()));
    survives(Number::Code(-7, 9));
    survives(Maybe::Default);
    survives(Maybe::Value(Box::new(named(2))));
    survives([[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    survives([String::from("a"), String::from("bc")]);
}

#[test]
fn values_that_idl_does_not_allow() {
    let mut to = Encoder::new(UNICODE);
    let crowded = Named { items: (0..5).map(bin).collect(), ..Default::default() };
    let bound = EncodeErrorKind::BoundExceeded { length: 5, bound: 4 };
    assert_eq!(crowded.encode_owned(&mut to), Err(EncodeError::new(bound, "Named::items")));
    assert!(Number::Name(1, "one".into()).encode_owned(&mut to).is_err());
    assert!(Number::Code(2, 0).encode_owned(&mut to).is_err());
    let octets = written(0, |to| {
        to.write_string("")?;
        to.write_length(5)?;
        (0..5).map(bin).for_each(|value| value.encode_owned(&mut Encoder::new(UNICODE)).unwrap());
        to.write_octets(&[0; 200]);
        Ok(())
    });
    let read = Named::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE));
    assert_eq!(read.unwrap_err().kind, DecodeErrorKind::BoundExceeded { length: 5, bound: 4 });
}
