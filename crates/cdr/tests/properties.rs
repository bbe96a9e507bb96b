//! What holds for any value and any bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use zorb_cdr::{ByteOrder, CodeSets, Decode, Decoder, Encode, Encoder, Format, Sequence, Version, fuzz};

const UNICODE: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn round<T: Encode + Decode + Clone>(phase: usize, value: T) -> T {
    let mut to = Encoder::new(UNICODE);
    to.write_octets(&[0; 8][..phase]);
    value.encode_owned(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, UNICODE);
    from.read_octets(phase).unwrap();
    let read = T::decode(&mut from).unwrap();
    assert_eq!(from.remaining(), 0);
    read
}

proptest! {
    #[test]
    fn values_survive(
        phase in 0usize..8,
        numbers in vec(any::<i64>(), 0..2000),
        flags in vec(any::<bool>(), 0..100),
        text in "[^\0]*",
        lists in vec(vec("[^\0]{0,5}", 0..5), 0..5),
    ) {
        prop_assert_eq!(round(phase, Sequence::from(numbers.clone())), numbers);
        prop_assert_eq!(round(phase, Sequence::from(flags.clone())), flags);
        prop_assert_eq!(round(phase, text.clone()), text);
        prop_assert_eq!(round(phase, lists.clone()), lists);
    }

    #[test]
    fn wide_text_survives(text in "[^\0]*", version in 1u8..3) {
        let format = Format { version: Version { major: 1, minor: version }, ..UNICODE };
        let mut to = Encoder::new(format);
        to.write_wstring(&text).unwrap();
        let octets = to.to_bytes();
        prop_assert_eq!(Decoder::new(&octets, ByteOrder::NATIVE, format).read_wstring().unwrap(), text);
        for end in 0..octets.len() {
            let part = octets.slice(..end);
            prop_assert!(Decoder::new(&part, ByteOrder::NATIVE, format).read_wstring().is_err());
        }
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error(data in vec(any::<u8>(), 0..400)) {
        fuzz::values(&data);
    }
}

/// Bytes that look more like values than chance makes them: small numbers in either order, and text.
#[test]
fn likely_bytes_are_a_value_or_an_error() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..20_000 {
        let count = (next() % 16) as u8;
        let mut data = vec![next() as u8, (next() % 64) as u8, count];
        data.extend((0..count).map(|_| next() as u8));
        for _ in 0..next() % 60 {
            match next() % 6 {
                0 | 1 => data.extend((next() as u32 % 6).to_ne_bytes()),
                2 => data.extend((next() as u32 % 6).swap_bytes().to_ne_bytes()),
                3 => data.extend(b"a\xc3\xb6\0"),
                4 => data.push((next() % 3) as u8),
                _ => data.extend([0; 8]),
            }
        }
        fuzz::values(&data);
    }
}
