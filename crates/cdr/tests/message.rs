//! The encoder as the holder of a message, and the decoder over its pieces: gather lists, marks, encapsulations, GIOP 1.1
//! fragments, limits.

use bytes::Bytes;
use zorb_cdr::{
    BORROW_FROM, Body, ByteOrder, Decode, DecodeContext, DecodeErrorKind, Decoder, Encode, EncodeError,
    EncodeErrorKind, Encoder, FRAGMENT_HEADER, Format, Limits, LongDouble, Octets, Segment, Sequence,
    Version,
};

fn encoder<'a>() -> Encoder<'a> {
    Encoder::new(Format::default())
}

#[test]
fn primitives_stand_at_multiples_of_their_size() {
    let mut to = encoder();
    to.write_u8(1);
    to.write_i16(2);
    to.write_u8(3);
    to.write_u32(4);
    to.write_bool(true);
    to.write_f64(5.0);
    to.write_u8(6);
    to.write_long_double(LongDouble::from(7.0));
    let octets = Octets::from(&to.to_bytes()[..]);
    assert_eq!(octets.len(), 24 + 8 + 16);
    for phase in [8, 16] {
        let body = Body::one(Segment { octets: octets.clone(), phase }, ByteOrder::NATIVE);
        let mut from = Decoder::over(&body, Format::default());
        assert_eq!(from.read_u8(), Ok(1));
        assert_eq!(from.read_i16(), Ok(2));
        assert_eq!(from.read_u8(), Ok(3));
        assert_eq!(from.read_u32(), Ok(4));
        assert_eq!(from.read_bool(), Ok(true));
        assert_eq!(from.read_f64(), Ok(5.0));
        assert_eq!(from.read_u8(), Ok(6));
        assert_eq!(from.read_long_double(), Ok(LongDouble::from(7.0)));
        assert_eq!(from.remaining(), 0);
        assert_eq!(from.read_u8().unwrap_err().kind, DecodeErrorKind::Truncated);
    }
}

#[test]
fn a_long_double_in_the_other_order() {
    let bits = LongDouble::from(-1.25).to_bits();
    for (order, octets) in [(ByteOrder::Big, bits.to_be_bytes()), (ByteOrder::Little, bits.to_le_bytes())] {
        assert_eq!(
            Decoder::from_slice(&octets, order, Format::default()).read_long_double(),
            Ok(LongDouble::from(-1.25))
        );
        let counted = [
            match order {
                ByteOrder::Big => 1u32.to_be_bytes(),
                _ => 1u32.to_le_bytes(),
            },
            [0; 4],
        ]
        .concat();
        let octets = [counted.as_slice(), &octets].concat();
        let read: Sequence<LongDouble> =
            Decode::decode(&mut Decoder::from_slice(&octets, order, Format::default())).unwrap();
        assert_eq!(read, [LongDouble::from(-1.25)]);
    }
}

#[test]
fn padding_only_before_something() {
    let mut to = encoder();
    to.write_u8(1);
    to.align_before_next(8);
    assert_eq!(to.len(), 1);
    let mark = to.mark();
    to.write_octets(&[]);
    assert_eq!(to.len(), 1);
    to.write_u8(2);
    assert_eq!(to.len(), 9);
    to.rewind(mark);
    to.write_borrowed(&[7; BORROW_FROM]);
    assert_eq!(to.len(), 8 + BORROW_FROM);
    to.rewind(mark);
    to.write_f64(1.0);
    assert_eq!(to.len(), 16);
    to.write_u8(3);
    assert_eq!(to.to_bytes()[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn large_runs_join_the_gather_list() {
    let large = vec![0xab; BORROW_FROM + 1];
    let small = vec![0xcd; BORROW_FROM - 1];
    let mut to = encoder();
    to.write_u32(0);
    to.write_octet_sequence(&large).unwrap();
    to.write_u32(0xdead_beef);
    to.write_octet_sequence(&small).unwrap();
    to.write_shared(large.clone().into());
    to.write_u8(5);
    to.set_u32(0, 17);
    to.set_u32(8 + large.len() + 3, 18);
    // Within the run, whose octets are the caller's.
    to.set_u32(8 + large.len() - 4, 19);
    let slices: Vec<&[u8]> = to.slices().collect();
    assert_eq!(slices.len(), 5);
    assert_eq!(slices[1].as_ptr(), large.as_ptr());
    assert_eq!(to.around_run(), None, "there are two");
    let mut from = vec![];
    slices.iter().for_each(|slice| from.extend_from_slice(slice));
    assert_eq!(from.len(), to.len());
    let kept = to.into_static();
    drop(large);
    assert_eq!(kept.slices().collect::<Vec<_>>().concat(), from);
    let mut read = Decoder::from_slice(&from, ByteOrder::NATIVE, Format::default());
    assert_eq!(read.read_u32(), Ok(17));
    assert_eq!(read.read_octet_sequence().unwrap().len(), BORROW_FROM + 1);
    assert_eq!(read.read_u32(), Ok(18));
    assert_eq!(read.read_octet_sequence().unwrap(), small);
}

#[test]
fn one_run_divides_the_message_in_three() {
    let large = vec![1; BORROW_FROM];
    let mut to = encoder();
    assert_eq!(to.around_run(), None);
    to.write_borrowed(&large);
    assert_eq!(to.around_run(), Some([&[][..], &large, &[]]));
    to.write_u8(9);
    assert_eq!(to.around_run(), Some([&[][..], &large, &[9]]));
    let mut to = encoder();
    to.write_u8(8);
    to.write_borrowed(&large);
    to.set_u32(BORROW_FROM - 8, 19);
    to.write_u8(9);
    assert_eq!(to.around_run(), Some([&[8][..], &large, &[9]]), "nothing is set in what is the caller's");
    assert!(to.slices().eq(to.around_run().unwrap()));
}

#[test]
fn rewinding_drops_runs_too() {
    let large = vec![1; BORROW_FROM];
    let mut to = encoder();
    to.write_u8(9);
    let mark = to.mark();
    to.write_u32(7);
    to.write_borrowed(&large);
    to.write_u8(8);
    to.rewind(mark);
    assert_eq!(to.len(), 1);
    to.write_u16(0x0101);
    assert_eq!(to.slices().collect::<Vec<_>>(), [&[9, 0, 1, 1]]);
}

#[test]
fn a_run_that_is_joined_by_another_stays_when_that_is_dropped() {
    let (borrowed, shared) = (vec![1; BORROW_FROM], Bytes::from(vec![2; BORROW_FROM + 1]));
    let mut to = encoder();
    to.write_u8(9);
    to.write_borrowed(&borrowed);
    to.write_u8(8);
    let mark = to.mark();
    to.write_shared(shared.clone());
    to.write_borrowed(&borrowed);
    to.write_u8(7);
    to.set_u32(1, 19);
    let both = [&[9][..], &borrowed, &[8], &shared, &borrowed, &[7]];
    assert_eq!(to.slices().collect::<Vec<_>>(), both);
    to.rewind(mark);
    let one = [&[9][..], &borrowed, &[8]];
    assert_eq!((to.len(), to.around_run()), (2 + BORROW_FROM, Some(one)));
    to.write_u8(6);
    to.set_u32(1 + BORROW_FROM - 4, 19);
    let whole = to.into_static();
    assert!(whole.slices().eq([&[9][..], &vec![1; BORROW_FROM], &[8, 6]]));
    assert_eq!(whole.to_bytes(), [&[9][..], &vec![1; BORROW_FROM], &[8, 6]].concat());
}

#[test]
fn buffers_are_used_again() {
    let buffer = Vec::with_capacity(1000);
    let start = buffer.as_ptr();
    let mut to = Encoder::with_buffer(buffer, Format::default());
    to.write_u64(1);
    let buffer = to.into_buffer();
    assert_eq!(buffer.as_ptr(), start);
    assert_eq!(Encoder::with_buffer(buffer, Format::default()).len(), 0);
}

#[test]
fn encapsulations_align_from_their_own_start() {
    let large = vec![7u8; BORROW_FROM];
    let mut to = encoder();
    to.write_u8(1);
    to.encapsulation(|to| {
        assert_eq!(to.position(), 1);
        to.write_f64(2.0);
        to.encapsulation(|to| to.write_octet_sequence(&large))?;
        to.write_u16(3);
        to.write_string("é")
    })
    .unwrap();
    to.write_u32(4);
    to.write_f64(5.0);
    let octets = Octets::from(&to.to_bytes()[..]);
    for cut in [0, 1, 5, 9, 13, 20, 30, 1000, octets.len()] {
        let first = Segment { octets: octets.slice(0..cut), phase: 0 };
        let second = Segment { octets: octets.slice(cut..octets.len()), phase: cut };
        let body = Body::many(vec![first, second], ByteOrder::NATIVE);
        let mut from = Decoder::over(&body, Format::default());
        assert_eq!(from.read_u8(), Ok(1));
        let mut inner = from.encapsulation().unwrap();
        assert_eq!(inner.read_f64(), Ok(2.0));
        let mut innermost = inner.encapsulation().unwrap();
        assert_eq!(innermost.read_octet_sequence().unwrap(), large);
        assert_eq!(innermost.remaining(), 0);
        assert_eq!(inner.read_u16(), Ok(3));
        assert_eq!(inner.read_string().unwrap(), "é");
        assert_eq!(inner.remaining(), 0);
        assert_eq!(from.read_u32(), Ok(4));
        assert_eq!(from.read_f64(), Ok(5.0));
    }
    for end in 0..octets.len().min(60) {
        let mut from = Decoder::from_slice(&octets[..end], ByteOrder::NATIVE, Format::default());
        assert!(from.read_u8().and_then(|_| from.encapsulation().map(|_| ())).is_err());
    }
}

#[test]
fn encapsulations_by_themselves() {
    let octets = Encoder::encapsulated(|to| {
        to.write_u32(5);
        Ok(())
    })
    .unwrap();
    assert_eq!(octets.len(), 8);
    assert_eq!(Decoder::from_encapsulation(&octets).unwrap().read_u32(), Ok(5));
    let foreign = [[1 - octets[0], 0, 0, 0], 5u32.swap_bytes().to_ne_bytes()].concat().into();
    assert_eq!(Decoder::from_encapsulation(&foreign).unwrap().read_u32(), Ok(5));
    let kind =
        |octets: &'static [u8]| Decoder::from_encapsulation(&octets.into()).map(|_| ()).unwrap_err().kind;
    assert_eq!(kind(&[2]), DecodeErrorKind::BadByteOrder(2));
    assert_eq!(kind(&[]), DecodeErrorKind::Truncated);
}

#[test]
fn a_failed_encapsulation_leaves_the_encoder_sound() {
    let mut to = encoder();
    to.write_u8(1);
    let mark = to.mark();
    assert!(to.encapsulation(|to| to.write_string("\0")).is_err());
    to.rewind(mark);
    to.write_u16(2);
    assert_eq!(to.position(), 4);
    assert_eq!(to.format(), Format::default());
}

/// A GIOP 1.1 message cut at its breaks, as a receiver has it.
fn received(message: Encoder<'_>) -> Body {
    let breaks = message.breaks().to_vec();
    let octets = Octets::from(&message.to_bytes()[..]);
    let mut start = 0;
    let mut segments = vec![];
    for (index, end) in breaks.iter().copied().chain([octets.len()]).enumerate() {
        let header = if index == 0 { 0 } else { FRAGMENT_HEADER };
        segments.push(Segment { octets: octets.slice(start + header..end), phase: header });
        start = end;
    }
    Body::many(segments, ByteOrder::NATIVE)
}

#[test]
fn fragments_of_giop_1_1() {
    let format = Format::new(Version::V1_1);
    let doubles: Vec<f64> = (0..100).map(f64::from).collect();
    for size in [64, 65, 70, 72, 100, 257, 5000] {
        for shift in 0..9 {
            let mut to = Encoder::new(format);
            to.write_octets(&[0; 12]);
            to.fragment_every(size);
            to.write_octets(&[1; 8][..shift.min(8)]);
            to.align_before_next(if shift == 8 { 8 } else { 1 });
            to.write_u32(77);
            let text = "x".repeat(200);
            to.write_string(&text).unwrap();
            doubles.as_slice().encode(&mut to).unwrap();
            Sequence::from(doubles.clone()).encode_owned(&mut Encoder::new(format)).unwrap();
            to.encapsulation(|to| {
                to.write_f64(1.5);
                to.write_octets(&[9; 100]);
                Ok(())
            })
            .unwrap();
            to.write_u8(3);
            to.write_f64(2.5);
            let mut before = 0;
            let run = size_of_val(doubles.as_slice());
            for &at in to.breaks().iter().chain([&to.len()]) {
                let octets = at - before;
                // The run of doubles is in one piece.
                let has_run = octets > run;
                assert!(has_run || octets <= size.max(64), "fragment from {before} to {at} of {size}");
                assert!(at - before > FRAGMENT_HEADER);
                before = at;
            }
            assert_eq!(to.breaks().is_empty(), size == 5000);
            let body = received(to);
            let mut from = Decoder::over(&body, format);
            from.read_octets(12 + shift).unwrap();
            if shift == 8 {
                from.align(8).unwrap();
            }
            assert_eq!(from.read_u32(), Ok(77));
            assert_eq!(from.read_string().unwrap(), text);
            assert_eq!(Sequence::<f64>::decode(&mut from).unwrap(), doubles);
            let mut inner = from.encapsulation().unwrap();
            assert_eq!(inner.read_f64(), Ok(1.5));
            assert_eq!(inner.read_octets(100).unwrap(), [9; 100].as_slice());
            assert_eq!(from.read_u8(), Ok(3));
            assert_eq!(from.read_f64(), Ok(2.5));
            assert_eq!(from.remaining(), 0);
        }
    }
}

#[test]
fn a_primitive_over_two_segments() {
    let octets = Octets::from(&[1, 0, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd][..]);
    for cut in 0..=8 {
        let segments = vec![
            Segment { octets: octets.slice(0..cut), phase: 0 },
            Segment { octets: Octets::new(), phase: cut },
            Segment { octets: octets.slice(cut..8), phase: cut },
        ];
        let body = Body::many(segments, ByteOrder::Big);
        let mut from = Decoder::over(&body, Format::default());
        assert_eq!(from.read_u8(), Ok(1));
        assert_eq!(from.read_u32(), Ok(0xaabb_ccdd), "cut at {cut}");
        assert_eq!(from.position(), 8);
        assert_eq!(from.read_u8().unwrap_err().kind, DecodeErrorKind::Truncated);
    }
}

#[test]
fn counts_are_held_against_what_is_left() {
    let mut to = encoder();
    to.write_u32(1000);
    to.write_octets(&[0; 999]);
    let octets = to.to_bytes();
    let read = |element| Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).read_count(element);
    assert_eq!(read(1).unwrap_err().kind, DecodeErrorKind::LengthBeyondEnd { length: 1000, left: 999 });
    assert_eq!(read(0).unwrap_err().kind, DecodeErrorKind::LengthBeyondEnd { length: 1000, left: 999 });
    let huge = u32::MAX.to_ne_bytes();
    let mut from = Decoder::from_slice(&huge, ByteOrder::NATIVE, Format::default());
    assert!(Vec::<String>::decode(&mut from).is_err());
    let mut from = Decoder::from_slice(&huge, ByteOrder::NATIVE, Format::default());
    assert!(Sequence::<[f64; 1000]>::decode(&mut from).is_err());
}

#[derive(Debug, PartialEq)]
struct Nest(Vec<Nest>);

impl Decode for Nest {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, zorb_cdr::DecodeError> {
        Decode::decode(from).map(Self)
    }
}

#[test]
fn nesting_ends_at_its_limit() {
    // Each level a sequence of one, the last of none.
    let nest = |levels: usize| [1u32.to_ne_bytes().repeat(levels - 1), vec![0; 4]].concat();
    let read = |levels, limits: Option<Limits>| {
        let octets = nest(levels);
        let mut from = Decoder::from_slice(&octets, ByteOrder::NATIVE, Format::default());
        limits.into_iter().for_each(|limits| from.set_limits(limits));
        Nest::decode(&mut from).map(|_| ()).map_err(|error| error.kind)
    };
    assert_eq!(read(256, None), Ok(()));
    assert_eq!(read(257, None), Err(DecodeErrorKind::TooDeep { limit: 256 }));
    assert_eq!(read(100_000, None), Err(DecodeErrorKind::TooDeep { limit: 256 }));
    assert_eq!(read(3, Some(Limits::nesting(3))), Ok(()));
    assert_eq!(read(4, Some(Limits::nesting(3))), Err(DecodeErrorKind::TooDeep { limit: 3 }));
}

#[test]
fn encapsulations_count_as_nesting() {
    fn wrap(to: &mut Encoder<'static>, levels: usize) -> Result<(), EncodeError> {
        if levels == 0 { Ok(()) } else { to.encapsulation(|to| wrap(to, levels - 1)) }
    }
    fn unwrap(from: &mut Decoder<'_>) -> DecodeErrorKind {
        match from.encapsulation() {
            Ok(mut inner) => unwrap(&mut inner),
            Err(error) => error.kind,
        }
    }
    let mut to = encoder();
    wrap(&mut to, 300).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    assert_eq!(unwrap(&mut from), DecodeErrorKind::TooDeep { limit: 256 });
}

#[derive(Debug, PartialEq)]
struct Answer(u64);

impl DecodeContext for Answer {}

#[derive(Debug, PartialEq)]
struct Other;

#[test]
fn context_reaches_what_is_nested() {
    let answer = Answer(42);
    let mut to = encoder();
    to.encapsulation(|to| to.write_string("inside")).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).with_context(&answer);
    let inner = from.encapsulation().unwrap();
    assert_eq!(inner.context::<Answer>(), Some(&Answer(42)));
    assert_eq!(inner.context::<Other>(), None);
}

#[test]
fn errors_read_well() {
    let error = Decoder::from_slice(&[0, 0, 1], ByteOrder::Big, Format::default()).read_u32().unwrap_err();
    assert_eq!(error.to_string(), "cannot read unsigned long at octet 0: the bytes end inside it");
    let error = EncodeError::new(EncodeErrorKind::BoundExceeded { length: 5, bound: 4 }, "items");
    assert_eq!(error.to_string(), "cannot send items: its length 5 exceeds its bound 4");
}
