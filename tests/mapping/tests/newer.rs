//! Small integers, wide discriminators, bitmasks, bitsets and maps: through stubs and skeletons over a connection, collocated, and
//! octets that are none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use zorb::cdr::{
    ByteOrder, CodeSets, Decode, DecodeErrorKind, Decoder, Encode, EncodeErrorKind, Encoder, Format, Version,
};
use zorb::{Call, Fixed, Interface, Orb, Sequence, SystemException, WChar};
use zorb_test_mapping::newer::newer::{
    Access, Atlas, ByStep, ByWide, Counts, Free, Head, LEAST, MOST, Move, Nest, Packet, Prices, Probe,
    ProbeServant, Tail, Usual, Wide,
};

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn octets(value: &impl Encode) -> Result<Vec<u8>, EncodeErrorKind> {
    let mut to = Encoder::new(FORMAT);
    value.encode(&mut to).map_err(|error| error.kind)?;
    Ok(to.slices().flatten().copied().collect())
}

fn read<T: Decode>(octets: &[u8], order: ByteOrder) -> Result<T, DecodeErrorKind> {
    T::decode(&mut Decoder::from_slice(octets, order, FORMAT)).map_err(|error| error.kind)
}

/// There and back; every proper prefix is an error.
fn round_trip<T: Encode + Decode + PartialEq + std::fmt::Debug>(value: &T) {
    let written = octets(value).expect("it can be written");
    assert_eq!(&read::<T>(&written, ByteOrder::NATIVE).expect("it was written"), value);
    for end in 0..written.len() {
        assert!(read::<T>(&written[..end], ByteOrder::NATIVE).is_err(), "{end} octets of {value:?}");
    }
    assert!(written.len() >= T::MIN_SIZE, "{value:?} in {} octets", written.len());
}

#[derive(Default)]
struct Echo {
    rights: Mutex<Access>,
}

impl ProbeServant for Echo {
    fn rights(&self, _: &Call) -> Result<Access, SystemException> {
        Ok(*self.rights.lock().unwrap())
    }

    fn set_rights(&self, _: &Call, rights: Access) -> Result<(), SystemException> {
        *self.rights.lock().unwrap() = rights;
        Ok(())
    }

    fn step(
        &self,
        _: &Call,
        by: i8,
        times: u8,
        more: Sequence<i8>,
    ) -> Result<(i8, u8, Sequence<Move>), SystemException> {
        let moves = more.iter().map(|by| Move { by: *by, times, grid: [by.wrapping_neg(); 3] }).collect();
        Ok((by.wrapping_neg(), times.wrapping_add(1), moves))
    }

    fn wide(&self, _: &Call, a: &ByWide, c: WChar) -> Result<(ByWide, ByStep, WChar), SystemException> {
        let b = match a {
            ByWide::first(_) => ByStep::back("first".into()),
            ByWide::some(..) => ByStep::forth(2, 7),
            ByWide::other(..) => ByStep::Default(-128),
        };
        Ok((a.clone(), b, WChar(c.0 + 1)))
    }

    fn count(&self, _: &Call, a: &Counts, b: &Prices) -> Result<(Counts, Prices, Atlas), SystemException> {
        let doubled = a.iter().map(|(key, value)| (key.repeat(2), value * 2)).collect();
        Ok((doubled, Prices::new(), Atlas { plain: a.clone(), bounded: b.clone(), ..atlas() }))
    }

    fn pass(
        &self,
        _: &Call,
        a: &Packet,
        head: Head,
        all: &[Access],
        usual: Usual,
    ) -> Result<(Packet, Tail, Usual), SystemException> {
        let access = all.iter().fold(Access::default(), |all, one| all | *one);
        let tail = Tail { kind: head.kind, urgent: head.urgent, change: head.change, ..a.t };
        Ok((Packet { h: head, a: access, ..*a }, tail, !usual))
    }
}

fn counts() -> Counts {
    ["", "one", "zwölf"].iter().zip(-1..).map(|(key, value)| ((*key).to_owned(), value)).collect()
}

fn prices() -> Prices {
    [("日本".to_owned(), "1.50".parse().unwrap()), ("€".to_owned(), "-999.99".parse().unwrap())].into()
}

fn atlas() -> Atlas {
    let leaf = Nest::default();
    let nest = Nest { inner: [(-1, vec![leaf.clone(), leaf]), (1, Vec::new())].into() };
    let deep = [
        (Access::read | Access::last, [(false, None), (true, None)].into()),
        (Access::read, BTreeMap::new()),
    ];
    Atlas { plain: counts(), bounded: prices(), deep: deep.into(), own: nest }
}

fn packet() -> Packet {
    Packet {
        h: Head { kind: 5, urgent: true, change: -2048 },
        gap: 9,
        t: Tail { kind: 7, urgent: false, change: 2047, more: (1 << 20) - 1, r#type: true },
        a: Access::read | Access::last,
        u: Usual::two,
        w: Wide::top,
        f: Free {},
        all: [Access::write, Access::r#type],
    }
}

#[test]
fn they_go_through_stubs_and_skeletons() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let here = root.activate::<Probe>(Arc::new(Echo::default())).unwrap();
    root.manager().activate().unwrap();
    let text = here.as_object().to_string();
    let there = Probe::from_object(client.string_to_object(&text).unwrap().unwrap());
    for probe in [there, here] {
        let rights = Access::read | Access::bits | Access::from_bits(0x800).unwrap();
        probe.set_rights(rights).unwrap();
        assert_eq!(probe.rights().unwrap(), rights);

        let moves =
            |times| vec![Move { by: LEAST, times, grid: [LEAST; 3] }, Move { by: 1, times, grid: [-1; 3] }];
        let (back, times, made) = probe.step(-7, MOST, &[LEAST, 1]).unwrap();
        assert_eq!((back, times, &*made), (7, 0, &*moves(MOST)));
        let (back, times, made) = probe.step_async(127, 1, vec![LEAST, 1].into()).wait().unwrap();
        assert_eq!((back, times, &*made), (-127, 2, &*moves(1)));

        for (a, b) in [
            (ByWide::first(1), ByStep::back("first".into())),
            (ByWide::some(WChar(0x20ac), "euro".into()), ByStep::forth(2, 7)),
            (ByWide::other(WChar(0xffff), 255), ByStep::Default(-128)),
        ] {
            assert_eq!(probe.wide(&a, WChar(0x61)).unwrap(), (a, b, WChar(0x62)));
        }

        let doubled = counts().into_iter().map(|(key, value)| (key.repeat(2), value * 2)).collect();
        let expected = (doubled, Prices::new(), atlas());
        assert_eq!(probe.count(&counts(), &prices()).unwrap(), expected);
        assert_eq!(probe.count_async(counts(), prices()).wait().unwrap(), expected);

        let head = Head { kind: 1, urgent: false, change: -1 };
        let (passed, tail, usual) =
            probe.pass(&packet(), head, &[Access::read, Access::write], Usual::one).unwrap();
        assert_eq!(passed, Packet { h: head, a: Access::read | Access::write, ..packet() });
        assert_eq!(tail, Tail { kind: 1, urgent: false, change: -1, more: (1 << 20) - 1, r#type: true });
        assert!(usual.contains(Usual::two) && !usual.contains(Usual::one));
    }
}

#[test]
fn values_come_back() {
    round_trip(&packet());
    // References are read by an ORB only.
    round_trip(&Atlas { deep: BTreeMap::new(), ..atlas() });
    round_trip(&Nest::default());
    round_trip(&Move { by: LEAST, times: MOST, grid: [-1, 0, 1] });
    round_trip(&Sequence::from(vec![-1_i8, LEAST, 127]));
    round_trip(&ByStep::back("x".into()));
    round_trip(&ByStep::forth(1, 2));
    round_trip(&ByStep::Default(0));
    round_trip(&ByWide::some(WChar(0xe9), "e".into()));
    // As a big-endian peer sends them: a wide label in GIOP 1.2 is its octets, counted.
    assert_eq!(
        read::<ByWide>(&[2, 0x20, 0xac, 0, 0, 0, 0, 2, b'x', 0], ByteOrder::Big),
        Ok(ByWide::some(WChar(0x20ac), "x".into()))
    );
    assert_eq!(
        read::<ByStep>(&[0xff, 0, 0, 0, 0, 0, 0, 1, 0], ByteOrder::Big),
        Ok(ByStep::back(String::new()))
    );
    // kind 5, urgent, 4 bits that are free, change -2048.
    assert_eq!(read::<Head>(&[0, 0x08, 0x00, 0x0d], ByteOrder::Big), Ok(packet().h));
    assert_eq!(read::<Access>(&[0x08, 0x01], ByteOrder::Big), Ok(Access::read | Access::last));
}

#[test]
fn labels_of_another_arm_are_refused() {
    let of_another_arm = EncodeErrorKind::Invalid("its label does not select this arm");
    assert_eq!(octets(&ByStep::forth(3, 0)), Err(of_another_arm));
    assert_eq!(octets(&ByStep::Default(-1)), Err(of_another_arm));
    assert_eq!(octets(&ByWide::other(WChar(0x61), 0)), Err(of_another_arm));
    assert_eq!(octets(&ByWide::some(WChar(0x61), String::new())), Err(of_another_arm));
    for octets in [&[3, 0, 0, 0, 0][..], &[0], &[0xff; 9], &[2, 0x20]] {
        assert!(read::<ByWide>(octets, ByteOrder::Big).is_err(), "{octets:x?}");
    }
}

#[test]
fn bits_beyond_are_refused() {
    for forged in [[0x10, 0x00], [0xff, 0xff]] {
        let found = read::<Access>(&forged, ByteOrder::Big);
        assert_eq!(found, Err(DecodeErrorKind::Invalid("a bit is set that its type has not got")));
    }
    assert!(read::<Head>(&[0x00, 0x10, 0x00, 0x00], ByteOrder::Big).is_err());
    assert!(read::<Free>(&[0x02, 0x00], ByteOrder::Big).is_err());
    assert_eq!(read::<Free>(&[0x01, 0xff], ByteOrder::Big), Ok(Free {}));
    assert_eq!(Access::from_bits(0x1000), None);
    let too_large = EncodeErrorKind::Invalid("it has more bits than its field");
    for head in [Head { kind: 8, ..packet().h }, Head { change: 2048, ..packet().h }] {
        assert_eq!(octets(&head), Err(too_large));
    }
    assert_eq!(octets(&Tail { more: 1 << 20, ..packet().t }), Err(too_large));
}

#[test]
fn bitmasks_are_sets_of_flags() {
    let all = Access::read | Access::r#type | Access::from_bits(4).unwrap();
    assert_eq!(format!("{all:?}"), "Access(read | type | 0x4)");
    assert_eq!(
        (Access::write.bits_(), Access::last.bits_(), (!Access::default()).bits_()),
        (16, 2048, 0xfff)
    );
    assert!((all & Access::write).is_empty() && (all ^ all).is_empty() && all.contains(Access::read));
    assert_eq!(Wide::top.bits(), 1 << 63);
}

/// Octets of a `Nest`: how many pairs there are, and the pairs.
fn nest(pairs: &[(i8, u32)], count: u32) -> Vec<u8> {
    let mut to = Encoder::new(FORMAT);
    to.write_u32(count);
    for (key, length) in pairs {
        to.write_i8(*key);
        to.write_u32(*length);
    }
    to.slices().flatten().copied().collect()
}

#[test]
fn forged_maps_are_refused() {
    // In any order, but each key once.
    let read = |octets: &[u8]| read::<Nest>(octets, ByteOrder::NATIVE);
    let expected = Nest { inner: [(-1, Vec::new()), (1, Vec::new())].into() };
    assert_eq!(read(&nest(&[(1, 0), (-1, 0)], 2)), Ok(expected));
    let twice = Err(DecodeErrorKind::Invalid("a key stands in it twice"));
    assert_eq!(read(&nest(&[(1, 0), (-1, 0), (1, 0)], 3)), twice);
    // Counts of pairs that cannot follow, of a map and of a sequence in it.
    assert!(read(&nest(&[(1, 0)], u32::MAX)).is_err() && read(&nest(&[(1, u32::MAX)], 1)).is_err());
    // A map in a sequence in a map, and so on.
    let mut deep = Encoder::new(FORMAT);
    for _ in 0..100_000 {
        deep.write_u32(1);
        deep.write_i8(0);
        deep.write_u32(1);
    }
    let deep: Vec<u8> = deep.slices().flatten().copied().collect();
    assert!(matches!(read(&deep), Err(DecodeErrorKind::TooDeep { .. })));
}

#[test]
fn bounds_of_maps_hold_both_ways() {
    let more = |price: &str| Atlas {
        bounded: prices().into_iter().chain([("x".into(), price.parse().unwrap())]).collect(),
        ..atlas()
    };
    assert_eq!(octets(&more("1")), Err(EncodeErrorKind::BoundExceeded { length: 3, bound: 2 }));
    let long = Atlas { bounded: [("12345".to_owned(), Fixed::default())].into(), ..atlas() };
    assert_eq!(octets(&long), Err(EncodeErrorKind::BoundExceeded { length: 5, bound: 4 }));
    let mut to = Encoder::new(FORMAT);
    to.write_u32(0);
    to.write_u32(3);
    to.write_octets(&[0; 60]);
    let forged: Vec<u8> = to.slices().flatten().copied().collect();
    let found = read::<Atlas>(&forged, ByteOrder::NATIVE);
    assert_eq!(found, Err(DecodeErrorKind::BoundExceeded { length: 3, bound: 2 }));
}
