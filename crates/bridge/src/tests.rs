//! References are found in every position and replaced in every phase, byte order and fragment; hostile bodies are refused.

use std::sync::Arc;

use zorb_cdr::{Body, ByteOrder, Decode, Decoder, Format, Octets, Segment, Version};
use zorb_giop::{Ior, ProfileTag, TaggedProfile};
use zorb_idl::{Memory, Options, compile};
use zorb_orb::{Kind, SystemException};

use crate::passage::{Contents, passed};
use crate::shape::Shape;
use crate::{Interfaces, Settings, Unknown};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// Numbers that only look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % most
    }
}

/// Writes a body in either byte order, and cuts it into fragments of 1.1 where the dice say so.
struct Writer {
    order: ByteOrder,
    done: Vec<Segment>,
    octets: Vec<u8>,
    phase: usize,
    cuts: Option<Dice>,
}

impl Writer {
    fn new(order: ByteOrder, phase: usize, cuts: Option<Dice>) -> Writer {
        Writer { order, done: Vec::new(), octets: Vec::new(), phase, cuts }
    }

    fn cut(&mut self) {
        if self.cuts.as_mut().is_some_and(|dice| dice.below(8) == 0) && !self.octets.is_empty() {
            let octets = Octets::from(std::mem::take(&mut self.octets));
            self.done.push(Segment { octets, phase: self.phase });
            self.phase = 12;
        }
    }

    fn align(&mut self, to: usize) {
        self.cut();
        while !(self.phase + self.octets.len()).is_multiple_of(to) {
            self.octets.push(0xee);
        }
    }

    fn number(&mut self, size: usize, value: u64) -> &mut Self {
        self.align(size);
        let octets = value.to_le_bytes();
        match self.order {
            ByteOrder::Little => self.octets.extend(&octets[..size]),
            ByteOrder::Big => self.octets.extend(octets[..size].iter().rev()),
        }
        self
    }

    fn raw(&mut self, octets: &[u8]) -> &mut Self {
        for part in octets.chunks(5) {
            self.cut();
            self.octets.extend(part);
        }
        self
    }

    fn counted(&mut self, octets: &[u8]) -> &mut Self {
        self.number(4, octets.len() as u64).raw(octets)
    }

    fn text(&mut self, text: &str) -> &mut Self {
        let mut octets = text.as_bytes().to_vec();
        octets.push(0);
        self.counted(&octets)
    }

    fn reference(&mut self, ior: &Ior) -> &mut Self {
        self.text(&ior.type_id).number(4, ior.profiles.len() as u64);
        for profile in &ior.profiles {
            self.number(4, profile.tag.0.into()).counted(&profile.data);
        }
        self
    }

    fn body(&mut self) -> Body {
        let octets = Octets::from(std::mem::take(&mut self.octets));
        let mut segments = std::mem::take(&mut self.done);
        segments.push(Segment { octets, phase: self.phase });
        Body::many(segments, self.order)
    }
}

fn ior(type_id: &str, octets: usize) -> Ior {
    let profile = TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: vec![7; octets].into() };
    Ior { type_id: type_id.into(), profiles: vec![profile] }
}

/// What every reference but nil becomes.
fn other(of: &Ior) -> Ior {
    let length = of.profiles[0].data.len();
    ior(&format!("IDL:other/{}:1.0", "x".repeat(length % 9)), (length * 5 + 3) % 61)
}

/// A reference without its filler.
fn plain(mut ior: Ior) -> Ior {
    ior.profiles.retain(|profile| profile.tag != ProfileTag::ZORB_FILLER);
    ior
}

fn settings(idl: &str) -> Settings {
    let mut interfaces = Interfaces::default();
    let files = Memory::new([("t.idl", idl)]);
    interfaces.add(&compile(&files, "t.idl", &Options::default()).unwrap());
    Settings { interfaces: Arc::new(interfaces), ..Settings::default() }
}

fn arguments<'s>(settings: &'s Settings, operation: &str) -> Contents<'s> {
    let signature = settings.interfaces.signature(None, operation).expect("known");
    Contents { version: Version::V1_2, shapes: Some(&signature.arguments), is_exception: false }
}

/// The body as it goes on, and how many references it held.
fn pass(settings: &Settings, body: &Body, contents: &Contents<'_>) -> Result<(Body, usize), SystemException> {
    let mut met = 0;
    let body = passed(settings, body.clone(), contents, |ior, _| {
        met += 1;
        Ok(other(ior))
    })?;
    Ok((body, met))
}

#[test]
fn what_stands_around_references_stays_in_every_phase_order_and_fragment() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for turn in 0..4000 {
        let order = ORDERS[turn % 2];
        let fragments = turn % 4 >= 2;
        let phase = if turn % 3 == 0 { 0 } else { dice.below(8) };
        let cuts = fragments.then(|| Dice(turn as u64 + 1));
        let mut to = Writer::new(order, phase, cuts);
        let kinds: Vec<usize> = (0..1 + dice.below(12)).map(|_| dice.below(6)).collect();
        let iors: Vec<Ior> =
            kinds.iter().map(|_| ior(&"IDL:aaaaaaa"[..dice.below(11)], dice.below(50))).collect();
        let mut shapes = Vec::new();
        for (index, (kind, ior)) in kinds.iter().zip(&iors).enumerate() {
            let value = index as u64 * 0x0101_0101_0101 + 5;
            shapes.push(match kind {
                0 => {
                    to.number(1, value & 0xff);
                    Shape::Number(1)
                }
                1 => {
                    to.number(2, value & 0xffff);
                    Shape::Number(2)
                }
                2 => {
                    to.number(8, value);
                    Shape::Number(8)
                }
                3 => {
                    to.text("some text"[..index % 9].into());
                    Shape::Text
                }
                _ => {
                    to.reference(ior);
                    Shape::Reference(None)
                }
            });
        }
        let body = to.body();
        let contents = Contents { version: Version::V1_2, shapes: Some(&shapes), is_exception: false };
        let (passed, met) = pass(&Settings::default(), &body, &contents).unwrap();
        assert_eq!(met, kinds.iter().filter(|kind| **kind > 3).count());
        assert_eq!((passed.order, passed.first().phase & 7), (order, body.first().phase & 7));
        // Fragments that can be written begin behind their headers.
        let mut end = passed.first().phase + passed.first().octets.len();
        for segment in passed.later() {
            assert!((end ^ segment.phase) & 7 == 0 || segment.phase & 7 == 4, "turn {turn}");
            end = segment.phase + segment.octets.len();
        }
        let mut from = Decoder::over(&passed, Format::new(Version::V1_1));
        for (index, (kind, ior)) in kinds.iter().zip(&iors).enumerate() {
            let value = index as u64 * 0x0101_0101_0101 + 5;
            match kind {
                0 => assert_eq!(u64::from(from.read_u8().unwrap()), value & 0xff),
                1 => assert_eq!(u64::from(from.read_u16().unwrap()), value & 0xffff),
                2 => assert_eq!(from.read_u64().unwrap(), value),
                3 => assert_eq!(from.read_string().unwrap(), "some text"[..index % 9]),
                _ => assert_eq!(
                    plain(Ior::decode(&mut from).unwrap()),
                    other(ior),
                    "turn {turn}, value {index}"
                ),
            }
        }
        assert_eq!(from.remaining(), 0, "turn {turn}");
    }
}

const IDL: &str = "
    module m {
        typedef sequence<octet> Data;
        typedef fixed<5,2> Price;
        interface Leaf {};
        typedef Leaf Leaves[2][2];
        typedef long Numbers[3];
        struct Node;
        typedef sequence<Node> Nodes;
        struct Node { octet tag; Leaf held; double weight; Nodes below; };
        enum Colour { red, green };
        union Choice switch (Colour) { case red: Leaf held; default: string text; };
        union Signed switch (short) { case -2: Leaf held; case 5: long count; };
        exception Lost { string why; Leaf held; long code; };
        valuetype State { public long v; };
        typedef map<string, Leaf> Named;
        bitmask Flags { one };
        union Letter switch (wchar) { case L'a': Leaf held; default: octet other; };
        interface Tree : Leaf {
            void add(in long at, in Node a, in double after);
            void choose(in Choice a, in Signed b, in wstring text, in wchar letter, in boolean last);
            Leaf find(in string name, out Data bulk, inout Leaf near) raises (Lost);
            void keep(in any a, in Leaf b);
            void arrays(in Leaves a, in Numbers b, in Price c, in long double d, in Leaf e);
            void states(in Leaf a, in State b, in Leaf c);
            void newer(in Named a, in Letter b, in Letter c, in Flags d, in Leaf e);
            string title(in string prefix, out double weight);
            attribute Leaf root;
        };
    };";

#[test]
fn idl_says_which_operations_carry_references() {
    let settings = settings(
        IDL.replace("out sequence<octet> data", "out string data")
            .replace("in Leaf leaves[2][2], in long numbers[3]", "in Leaf leaves, in long numbers")
            .as_str(),
    );
    let known = &settings.interfaces;
    let count = |operation: &str| {
        let signature = known.signature(None, operation).expect("known");
        let exceptions: usize = signature.exceptions.values().map(Vec::len).sum();
        (signature.arguments.len(), signature.results.len(), exceptions)
    };
    // Up to the last that may hold one.
    assert_eq!(count("add"), (2, 0, 0));
    assert_eq!(count("choose"), (2, 0, 0));
    assert_eq!(count("find"), (2, 3, 2));
    assert_eq!(count("title"), (0, 0, 0));
    assert_eq!((count("_get_root"), count("_set_root")), ((0, 1, 0), (1, 0, 0)));
    assert_eq!((count("_is_a"), count("_interface")), ((0, 0, 0), (0, 1, 0)));
    assert!(known.signature(None, "other").is_none());
    let (leaf, tree) = (known.of("IDL:m/Leaf:1.0", None), known.of("IDL:m/Tree:1.0", None));
    assert!(leaf.is_some() && tree.is_some() && leaf != tree);
    // Of what was passed as a Leaf a Tree is believed; what was passed as a Tree is no less for saying so.
    assert_eq!((known.of("IDL:m/Tree:1.0", leaf), known.of("IDL:m/Leaf:1.0", tree)), (tree, tree));
    assert_eq!(known.of("IDL:who:1.0", leaf), leaf);
}

#[test]
fn an_operation_of_one_name_and_two_meanings_is_not_known_by_its_name() {
    let settings = settings(
        "interface A { void put(in A x); void same(in A x); };
         interface B { void put(in long x); void same(in A x); };",
    );
    let known = &settings.interfaces;
    assert!(known.signature(None, "put").is_none() && known.signature(None, "same").is_some());
    let (a, b) = (known.of("IDL:A:1.0", None), known.of("IDL:B:1.0", None));
    assert_eq!(known.signature(a, "put").map(|found| found.arguments.len()), Some(1));
    assert_eq!(known.signature(b, "put").map(|found| found.arguments.len()), Some(0));
}

fn idl() -> Settings {
    settings(IDL)
}

/// The references of a body, which has to be read by hand behind each.
fn references(body: &Body, settings: &Settings, contents: &Contents<'_>) -> Vec<Ior> {
    let mut found = Vec::new();
    let kept = passed(settings, body.clone(), contents, |ior, _| {
        found.push(ior.clone());
        Ok(ior.clone())
    });
    // References of their own lengths need no filler: nothing is changed.
    let octets = |body: &Body| body.segments().flat_map(|one| one.octets.to_vec()).collect::<Vec<_>>();
    let (kept, came) = (octets(&kept.unwrap()), octets(body));
    assert_eq!(kept.len(), came.len());
    found
}

#[test]
fn references_are_found_in_every_type() {
    let settings = idl();
    let (a, b, c) = (ior("IDL:a:1.0", 3), ior("", 4), ior("IDL:ccc:1.0", 5));
    for order in ORDERS {
        let node = |to: &mut Writer, leaf: &Ior, below: u64| {
            to.number(1, 1).reference(leaf).number(8, 2).number(4, below);
        };
        let mut to = Writer::new(order, 0, None);
        to.number(4, 9);
        node(&mut to, &a, 2);
        node(&mut to, &b, 0);
        node(&mut to, &c, 0);
        let body = to.number(8, 1).body();
        assert_eq!(references(&body, &settings, &arguments(&settings, "add")), [&a, &b, &c].map(Ior::clone));

        let mut to = Writer::new(order, 0, None);
        to.number(4, 0).reference(&a).number(2, 0xfffe).reference(&b);
        let body = to.counted(&[0; 6]).raw(&[2, 0, 65, 1]).body();
        let contents = arguments(&settings, "choose");
        assert_eq!(references(&body, &settings, &contents), [&a, &b].map(Ior::clone));
        let body = Writer::new(order, 0, None).number(4, 1).text("green").number(2, 5).number(4, 5).body();
        assert_eq!(references(&body, &settings, &contents), []);
        let body = Writer::new(order, 0, None).number(4, 7).text("another").number(2, 0).body();
        assert_eq!(references(&body, &settings, &contents), []);

        let mut to = Writer::new(order, 0, None);
        to.reference(&a).reference(&b).reference(&Ior::nil()).reference(&c);
        to.number(4, 1).number(4, 2).number(4, 3).raw(&[1, 2, 3]).number(8, 1).number(8, 2).reference(&a);
        let contents = arguments(&settings, "arrays");
        assert_eq!(references(&to.body(), &settings, &contents), [&a, &b, &c, &a].map(Ior::clone));

        let mut to = Writer::new(order, 0, None);
        to.number(4, 2).text("x").reference(&a).text("y").reference(&b);
        to.raw(&[2, 0, b'a']).reference(&c).raw(&[2, 0x20, 0xac]).number(1, 9).number(4, 1).reference(&a);
        let contents = arguments(&settings, "newer");
        assert_eq!(references(&to.body(), &settings, &contents), [&a, &b, &c, &a].map(Ior::clone));
        // A label that is no wide character.
        let body = Writer::new(order, 0, None).number(4, 0).raw(&[3, 0, 0, b'a']).reference(&a).body();
        assert!(pass(&settings, &body, &contents).is_err());

        let signature = settings.interfaces.signature(None, "find").unwrap();
        let mut to = Writer::new(order, 0, None);
        let body = to.reference(&a).counted(&[1; 9]).reference(&b).body();
        let contents =
            Contents { version: Version::V1_2, shapes: Some(&signature.results), is_exception: false };
        assert_eq!(references(&body, &settings, &contents), [&a, &b].map(Ior::clone));
        let lost = &signature.exceptions["IDL:m/Lost:1.0"];
        let contents = Contents { version: Version::V1_2, shapes: Some(lost), is_exception: true };
        let body =
            Writer::new(order, 0, None).text("IDL:m/Lost:1.0").text("gone").reference(&c).number(4, 1).body();
        assert_eq!(references(&body, &settings, &contents), std::slice::from_ref(&c));
    }
}

/// An encapsulation in the other byte order than `order`.
fn encapsulated(order: ByteOrder, fill: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let inner = if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let mut to = Writer::new(inner, 0, None);
    to.number(1, u64::from(inner == ByteOrder::Little));
    fill(&mut to);
    to.body().first().octets.to_vec()
}

#[test]
fn anys_say_themselves_where_their_references_are() {
    let settings = idl();
    let contents = arguments(&settings, "keep");
    let (a, b, c) = (ior("IDL:a:1.0", 3), ior("", 4), ior("IDL:ccc:1.0", 5));
    for order in ORDERS {
        let objref = |to: &mut Writer, order| {
            let names = encapsulated(order, |to| {
                to.text("IDL:m/Leaf:1.0").text("Leaf");
            });
            to.number(4, 14).counted(&names);
        };
        // A reference, and one behind the any.
        let mut to = Writer::new(order, 0, None);
        objref(&mut to, order);
        let body = to.reference(&a).reference(&b).body();
        assert_eq!(references(&body, &settings, &contents), [&a, &b].map(Ior::clone));
        // struct { sequence<the struct itself>, a reference, an any with a string, an enumerator }
        let flipped = |order| if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
        let parts = encapsulated(order, |to| {
            to.text("IDL:Rec:1.0").text("Rec").number(4, 4).text("below").number(4, 19);
            // The kind stands four octets before this encapsulation's length.
            let inner = encapsulated(flipped(order), |inner| {
                inner.number(4, 0xffff_ffff);
                // From here: this encapsulation's octets so far, its length, and what the outer one holds before.
                let outer = to.octets.len().next_multiple_of(4) + 4;
                let back = inner.octets.len() + outer + 8;
                inner.number(4, (back as u64).wrapping_neg() & 0xffff_ffff).number(4, 0);
            });
            to.counted(&inner).text("leaf");
            objref(to, flipped(order));
            to.text("any").number(4, 11).text("colour").number(4, 17);
            let names = encapsulated(flipped(order), |to| {
                to.text("IDL:E:1.0").text("E").number(4, 1).text("one");
            });
            to.counted(&names);
        });
        let mut to = Writer::new(order, 0, None);
        to.number(4, 15).counted(&parts);
        to.number(4, 1);
        let rec = |to: &mut Writer, leaf: &Ior| {
            to.reference(leaf).number(4, 18).number(4, 0).text("text").number(4, 0);
        };
        to.number(4, 0);
        rec(&mut to, &a);
        rec(&mut to, &b);
        let body = to.reference(&c).body();
        assert_eq!(references(&body, &settings, &contents), [&a, &b, &c].map(Ior::clone));
    }
}

#[test]
fn what_a_valuetype_hides_is_for_the_policy() {
    let mut settings = idl();
    let (a, b) = (ior("IDL:a:1.0", 3), ior("IDL:b:1.0", 4));
    let body = Writer::new(ByteOrder::Big, 0, None).reference(&a).number(4, 0).reference(&b).body();
    let (passed, met) = pass(&settings, &body, &arguments(&settings, "states")).unwrap();
    assert_eq!(met, 1);
    let mut from = Decoder::over(&passed, Format::default());
    assert_eq!(plain(Ior::decode(&mut from).unwrap()), other(&a));
    assert_eq!((from.read_u32(), Ior::decode(&mut from)), (Ok(0), Ok(b)));
    settings.unknown = Unknown::Refuse;
    let refused = pass(&settings, &body, &arguments(&settings, "states")).unwrap_err();
    assert_eq!(refused.kind, Kind::NoPermission);
    let body = Writer::new(ByteOrder::Big, 0, None).reference(&a).number(4, 0).number(4, 0).body();
    assert!(pass(&settings, &body, &arguments(&settings, "states")).is_ok());
}

#[test]
fn bulk_beside_a_reference_is_not_copied() {
    let settings = idl();
    let signature = settings.interfaces.signature(None, "find").unwrap();
    let contents = Contents { version: Version::V1_2, shapes: Some(&signature.results), is_exception: false };
    let a = ior("IDL:a:1.0", 3);
    let body = Writer::new(ByteOrder::Big, 0, None).reference(&a).counted(&[1; 1 << 20]).reference(&a).body();
    let (passed, _) = pass(&settings, &body, &contents).unwrap();
    let bulk = passed.segments().max_by_key(|segment| segment.octets.len()).unwrap();
    let came = body.first().octets.as_ptr_range();
    assert!(bulk.octets.len() >= 1 << 20 && came.contains(&bulk.octets.as_ptr()));
}

#[test]
fn every_prefix_is_refused_and_says_where() {
    let settings = idl();
    let (a, b) = (ior("IDL:a:1.0", 3), ior("", 4));
    let mut to = Writer::new(ByteOrder::Big, 0, None);
    let body = to.number(4, 9).number(1, 1).reference(&a).number(8, 2).number(4, 1);
    let body = body.number(1, 1).reference(&b).number(8, 2).number(4, 0).body();
    let contents = arguments(&settings, "add");
    let octets = &body.first().octets;
    assert!(pass(&settings, &body, &contents).is_ok());
    for length in 0..octets.len() {
        let cut = Body::one(Segment { octets: octets.slice(0..length), phase: 0 }, ByteOrder::Big);
        let refused = pass(&settings, &cut, &contents).unwrap_err();
        assert_eq!(refused.kind, Kind::Marshal, "{length}");
        assert!(refused.detail().contains("octet"), "{refused}");
    }
}

#[test]
fn types_that_never_end_and_too_many_references_are_refused() {
    let mut settings = idl();
    let refused = |settings: &Settings, body: &Body, operation, says: &str| {
        let refused = pass(settings, body, &arguments(settings, operation)).unwrap_err();
        assert!(refused.detail().contains(says), "{refused}");
        refused.kind
    };
    // struct Own { Own, Own } holds no octet.
    let parts = {
        let mut to = Writer::new(ByteOrder::Big, 0, None);
        to.number(1, 0).text("IDL:Own:1.0").text("Own").number(4, 2);
        for _ in 0..2 {
            to.text("m").number(4, 0xffff_ffff);
            let back = to.octets.len() as u64 + 8;
            to.number(4, back.wrapping_neg() & 0xffff_ffff);
        }
        to.body().first().octets.to_vec()
    };
    let body = Writer::new(ByteOrder::Big, 0, None).number(4, 15).counted(&parts).number(8, 0).body();
    assert_eq!(refused(&settings, &body, "keep", "too deep"), Kind::Marshal);
    // Structures without members, doubled thirty times over.
    let mut parts: Vec<u8> = Vec::new();
    for level in 0..30 {
        let mut to = Writer::new(ByteOrder::Big, 0, None);
        to.number(1, 0).text("").text("");
        match level {
            0 => to.number(4, 0),
            _ => {
                to.number(4, 2).text("").number(4, 15);
                let first = to.octets.len() as u64 - 4;
                to.counted(&parts).text("").number(4, 0xffff_ffff);
                let back = to.octets.len() as u64 - first;
                to.number(4, back.wrapping_neg() & 0xffff_ffff)
            }
        };
        parts = to.body().first().octets.to_vec();
    }
    let body = Writer::new(ByteOrder::Big, 0, None).number(4, 15).counted(&parts).number(8, 0).body();
    assert_eq!(refused(&settings, &body, "keep", "without an end"), Kind::Marshal);
    // Anys in anys.
    let mut to = Writer::new(ByteOrder::Big, 0, None);
    (0..10_000).for_each(|_| {
        to.number(4, 11);
    });
    assert_eq!(refused(&settings, &to.body(), "keep", "too deep"), Kind::Marshal);

    settings.most_references = 2;
    let a = ior("IDL:a:1.0", 3);
    let mut to = Writer::new(ByteOrder::Big, 0, None);
    to.number(4, 9).number(1, 1).reference(&a).number(8, 2).number(4, 2);
    (0..2).for_each(|_| {
        to.number(1, 1).reference(&a).number(8, 2).number(4, 0);
    });
    assert_eq!(refused(&settings, &to.body(), "add", "over 2 references"), Kind::ImpLimit);
}

#[test]
fn no_octets_hurt() {
    let settings = idl();
    let mut dice = Dice(77);
    let (a, b) = (ior("IDL:a:1.0", 3), ior("", 4));
    let names = encapsulated(ByteOrder::Big, |to| {
        to.text("IDL:m/Leaf:1.0").text("Leaf");
    });
    let seeds = [
        (
            "add",
            Writer::new(ByteOrder::Big, 0, None)
                .number(4, 9)
                .number(1, 1)
                .reference(&a)
                .number(8, 2)
                .number(4, 0)
                .body(),
        ),
        (
            "keep",
            Writer::new(ByteOrder::Big, 0, None)
                .number(4, 14)
                .counted(&names)
                .reference(&a)
                .reference(&b)
                .body(),
        ),
        (
            "choose",
            Writer::new(ByteOrder::Little, 0, None)
                .number(4, 0)
                .reference(&a)
                .number(2, 0xfffe)
                .reference(&b)
                .body(),
        ),
    ];
    let mut passed = 0;
    for turn in 0..30_000 {
        let (operation, seed) = &seeds[turn % seeds.len()];
        let mut octets = seed.first().octets.to_vec();
        for _ in 0..1 + dice.below(3) {
            let at = dice.below(octets.len());
            octets[at] = [0, 1, 0xff, dice.below(256) as u8][dice.below(4)];
        }
        let order = ORDERS[dice.below(8).min(1)];
        let body = Body::one(Segment { octets: octets.into(), phase: 0 }, order);
        passed += usize::from(pass(&settings, &body, &arguments(&settings, operation)).is_ok());
    }
    assert!(passed > 0 && passed < 30_000, "{passed}");
}
