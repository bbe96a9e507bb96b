//! Graphs of values of valuetypes as text, both ways: derived, shared, cyclic, boxed, custom and unknown ones.

use serde_json::json;
use zorb_cdr::{
    Any, ByteOrder, CodeSets, DecodeContext, Decoder, DynAny, Encoder, Format, TypeCode, Version,
};
use zorb_dynamic::{Notation, Repository};
use zorb_idl::{Memory, Options, compile};
use zorb_orb::Orb;

const IDL: &str = r#"
module M {
  valuetype Node { public string name; public Node next; };
  valuetype Named : Node { public long number; };
  valuetype Cut : truncatable Node { public double weight; };
  valuetype Cutter : truncatable Cut { public sequence<Node> others; };
  valuetype Other { public long number; };
  abstract valuetype Shape {};
  valuetype Circle : Shape { public double radius; };
  abstract interface Seen {};
  valuetype Sight supports Seen { public Node of; };
  interface Thing : Seen {};
  struct Pair { short x, y; };
  valuetype BoxedLong long;
  valuetype BoxedPair Pair;
  valuetype BoxedAny any;
  custom valuetype Own { public long number; };
  struct Values { Node one; any held; ValueBase some; sequence<Node> more; };
  struct Boxes { BoxedLong one; BoxedLong two; BoxedPair pair; BoxedAny what; };
  struct Owns { octet lead; Own one; Own two; Node last; };
};
"#;

struct World {
    orb: Orb,
    repository: Repository,
}

fn repository(idl: &str) -> Repository {
    let model = compile(&Memory::new([("m.idl", idl)]), "m.idl", &Options::default())
        .unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    Repository::of_model(&model).unwrap()
}

impl World {
    fn new() -> World {
        World { orb: Orb::builder().build(), repository: repository(IDL) }
    }

    fn ty(&self, name: &str) -> TypeCode {
        self.repository.type_named(name).unwrap()
    }

    fn notation(&self) -> Notation<'_> {
        Notation::new(&self.orb, &self.repository)
    }

    fn read(&self, ty: &str, text: &str) -> Any {
        self.notation()
            .from_literal(text, &self.ty(ty))
            .unwrap_or_else(|error| panic!("{ty} {text}: {error}"))
    }

    /// It is printed as it is written, in both notations; sent on in any alignment it is the same.
    fn same(&self, ty: &str, text: &str, json: serde_json::Value) -> Any {
        let value = self.read(ty, text);
        assert_eq!(self.notation().to_literal(&value).unwrap(), text);
        assert_eq!(self.notation().to_json(&value).unwrap(), json);
        let again = self.notation().from_json(&json, &self.ty(ty)).unwrap();
        assert_eq!(again, value, "{json}");
        for before in 0..12 {
            let sent = self.sent(&value, before);
            assert_eq!(self.notation().to_literal(&sent).unwrap(), text, "{before} octets on");
        }
        value
    }

    /// What arrives where `before` octets stand before it.
    fn sent(&self, value: &Any, before: usize) -> Any {
        let mut to = Encoder::new(FORMAT);
        to.write_octets(&vec![0xaa; before]);
        value.encode_value(&mut to).unwrap();
        let octets = to.to_bytes();
        let known = Known(self.repository.clone());
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, FORMAT).with_context(&known);
        from.read_octets(before).unwrap();
        let any = Any::decode_value(value.type_code().clone(), &mut from).unwrap();
        assert_eq!(from.remaining(), 0);
        any
    }

    fn refused(&self, ty: &str, text: &str) -> String {
        self.notation().from_literal(text, &self.ty(ty)).unwrap_err().to_string()
    }

    /// What arrived as these octets, in big-endian order.
    fn arrived(&self, ty: &str, words: &[&[u8]]) -> Any {
        let octets = words.concat();
        let known = Known(self.repository.clone());
        let mut from = Decoder::from_slice(&octets, ByteOrder::Big, FORMAT).with_context(&known);
        Any::decode_value(self.ty(ty), &mut from).unwrap()
    }
}

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

struct Known(Repository);

impl DecodeContext for Known {
    fn described_value(&self, id: &str) -> Option<TypeCode> {
        self.0.definition(id)?.type_code().cloned()
    }
}

#[test]
fn a_derived_value_tells_its_type() {
    let world = World::new();
    world.same(
        "M::Node",
        r#"{$type: M::Named, name: "a", next: {$type: M::Cut, name: "b", next: null, weight: 0.5}, number: 7}"#,
        json!({"$type": "M::Named", "name": "a", "number": 7,
            "next": {"$type": "M::Cut", "name": "b", "next": null, "weight": 0.5}}),
    );
    // What is said though it is declared is not printed; ids mean the same as names.
    let plain = world.read("M::Named", r#"{$type: "IDL:M/Named:1.0", name: a, next: null, number: 1}"#);
    assert_eq!(plain, world.read("M::Named", "{name: a, next: null, number: 1}"));
    let derived = world.read("M::Node", r#"{$type: "IDL:M/Named:1.0", name: a, next: null, number: 1}"#);
    assert_eq!(derived, world.read("M::Node", "{$type: M::Named, name: a, next: null, number: 1}"));
    // A component of it that is of a derived type is kept, and put back.
    let held = world.read("M::Node", "{name: a, next: {$type: M::Named, name: b, next: null, number: 1}}");
    let mut taken = DynAny::from_any(&held).unwrap();
    assert!(!taken.member("next").unwrap().is_null().unwrap());
    assert_eq!(taken.to_any().unwrap(), held);
}

#[test]
fn what_may_be_cut_down_lists_what_it_may_be_cut_down_to() {
    let world = World::new();
    let octets = |ty: &str, text: &str| {
        let mut to = Encoder::new(FORMAT);
        world.read(ty, text).encode_value_owned(&mut to).unwrap();
        to.to_bytes().to_vec()
    };
    let tag = |octets: &[u8]| u32::from_ne_bytes(*octets.first_chunk().unwrap());
    let text = r#"{$type: M::Cutter, name: "a", next: null, weight: 1.0, others: []}"#;
    let cut = octets("M::Node", text);
    // A list of three ids, in chunks.
    assert_eq!((tag(&cut), cut[4..8].to_vec()), (0x7fff_ff0e, 3u32.to_ne_bytes().to_vec()));
    // As what it is, and what is not to be cut down, neither.
    assert_eq!(tag(&octets("M::Cutter", text)), 0x7fff_ff02);
    assert_eq!(tag(&octets("M::Node", "{$type: M::Named, name: a, next: null, number: 1}")), 0x7fff_ff02);
    world.same(
        "M::Node",
        text,
        json!({"$type": "M::Cutter", "name": "a", "next": null, "weight": 1.0, "others": []}),
    );
}

#[test]
fn sharing_and_cycles_have_labels() {
    let world = World::new();
    world.same(
        "M::Node",
        r#"{$id: 1, name: "a", next: {name: "b", next: {$ref: 1}}}"#,
        json!({"$id": 1, "name": "a", "next": {"name": "b", "next": {"$ref": 1}}}),
    );
    world.same(
        "M::Node",
        r#"{$id: 1, name: "a", next: {$ref: 1}}"#,
        json!({"$id": 1, "name": "a", "next": {"$ref": 1}}),
    );
    world.same(
        "M::Values",
        r#"{one: {$id: 1, name: "a", next: null}, held: {type: M::Node, value: {$ref: 1}}, some: {$type: M::Cutter, $id: 2, name: "b", next: {$ref: 1}, weight: 1.5, others: [{$ref: 2}, null]}, more: [{$ref: 2}, {$ref: 1}, {name: "c", next: null}]}"#,
        json!({"one": {"$id": 1, "name": "a", "next": null}, "held": {"type": "M::Node", "value": {"$ref": 1}},
            "some": {"$type": "M::Cutter", "$id": 2, "name": "b", "next": {"$ref": 1}, "weight": 1.5,
                "others": [{"$ref": 2}, null]},
            "more": [{"$ref": 2}, {"$ref": 1}, {"name": "c", "next": null}]}),
    );
    // Labels are words of the writer's own; the order in the text does not count, that in IDL does.
    let value = world.read("M::Node", "{next: {$ref: top}, $id: top, name: a}");
    assert_eq!(world.notation().to_literal(&value).unwrap(), r#"{$id: 1, name: "a", next: {$ref: 1}}"#);
    let unshared = world.read("M::Node", "{$id: x, name: a, next: null}");
    assert_eq!(world.notation().to_literal(&unshared).unwrap(), r#"{name: "a", next: null}"#);
}

#[test]
fn what_is_declared_without_state_may_be_any_value() {
    let world = World::new();
    world.same("M::Shape", "{$type: M::Circle, radius: 2.0}", json!({"$type": "M::Circle", "radius": 2.0}));
    world.same(
        "ValueBase",
        r#"{$type: M::Named, name: "a", next: null, number: 1}"#,
        json!({"$type": "M::Named", "name": "a", "next": null, "number": 1}),
    );
    world.same(
        "ValueBase",
        "{$type: M::BoxedLong, $value: 7}",
        json!({"$type": "M::BoxedLong", "$value": 7}),
    );
    world.same("ValueBase", "null", json!(null));
    world.same(
        "M::Seen",
        r#"{$type: M::Sight, $id: 1, of: {$type: M::Named, name: "a", next: null, number: 1}}"#
            .replace("$id: 1, ", "")
            .as_str(),
        json!({"$type": "M::Sight", "of": {"$type": "M::Named", "name": "a", "next": null, "number": 1}}),
    );
    world.same("M::Seen", "null", json!(null));
    // Or a reference, which an argument of a command line gives as it stands.
    let notation = world.notation();
    let reference = notation.from_argument("corbaloc:iiop:host:1/key", &world.ty("M::Seen")).unwrap();
    assert!(notation.to_literal(&reference).unwrap().starts_with("IOR:"));
    let value = notation.from_argument("{$type: M::Sight, of: null}", &world.ty("M::Seen")).unwrap();
    assert_eq!(notation.to_literal(&value).unwrap(), "{$type: M::Sight, of: null}");
}

#[test]
fn boxes_say_more_only_where_they_must() {
    let world = World::new();
    world.same(
        "M::Boxes",
        "{one: {$id: 1, $value: 7}, two: {$ref: 1}, pair: {x: 1, y: 2}, what: {$value: null}}",
        json!({"one": {"$id": 1, "$value": 7}, "two": {"$ref": 1}, "pair": {"x": 1, "y": 2}, "what": {"$value": null}}),
    );
    world.same(
        "M::Boxes",
        "{one: 7, two: 7, pair: null, what: {type: long, value: 1}}",
        json!({"one": 7, "two": 7, "pair": null, "what": {"type": "long", "value": 1}}),
    );
    assert_eq!(
        world.read("M::BoxedPair", "{$value: {x: 1, y: 2}}"),
        world.read("M::BoxedPair", "{x: 1, y: 2}")
    );
}

/// The word for this machine's order.
const ORDER: &str = if cfg!(target_endian = "little") { "little" } else { "big" };

#[test]
fn of_custom_values_the_octets_are_written() {
    let world = World::new();
    // At 4 modulo 8, as where it was received; values may stand between octets.
    for at in [0, 4] {
        let text = format!(
            r#"{{lead: 1, one: {{$id: 1, $rest: [{{at: {at}, {ORDER}: "AQAAAA=="}}, {{$type: M::Node, $id: 2, name: "a", next: {{$ref: 2}}}}, {{at: {at}, {ORDER}: "/w=="}}]}}, two: {{$ref: 1}}, last: null}}"#
        );
        let value = world.read("M::Owns", &text);
        let shown = world.notation().to_literal(&value).unwrap();
        assert!(shown.contains("$id: 1") && shown.contains(r#": "AQAAAA=="}"#), "{shown}");
        for before in [0, 4, 8, 12] {
            let sent = world.sent(&value, before);
            let again = world.notation().to_literal(&sent).unwrap();
            assert_eq!(again, shown, "{before} octets on");
        }
    }
    let own = format!(r#"{{$type: M::Own, $rest: [{{at: 0, {ORDER}: "AAECAwQFBgc="}}]}}"#);
    world.same("ValueBase", &own, json!({"$type": "M::Own", "$rest": [{"at": 0, ORDER: "AAECAwQFBgc="}]}));
    // No octets at all.
    let empty = world.read("M::Own", "{$rest: []}");
    assert_eq!(world.notation().to_literal(&empty).unwrap(), "{}");
}

#[test]
fn of_unknown_types_what_is_in_chunks_is_written() {
    let world = World::new();
    let chunked = [
        &[0x7f, 0xff, 0xff, 0x0e, 0, 0, 0, 2][..],
        b"\0\0\0\x0cIDL:Far:1.0\0\0\0\0\x0fIDL:M/Node:1.0\0\0",
        b"\0\0\0\x10\0\0\0\x02a\0\0\0\0\0\0\0\0\0\0\x09\xff\xff\xff\xff",
    ];
    let value = world.arrived("M::Node", &chunked);
    let shown = world.notation().to_literal(&value).unwrap();
    assert_eq!(
        shown,
        r#"{$type: IDL:Far:1.0, $bases: [M::Node], name: "a", next: null, $rest: [{at: 4, big: "AAAACQ=="}]}"#
    );
    // Of this machine's order it could be sent.
    let native = shown.replace("big", ORDER);
    let again = world.read("M::Node", &native);
    assert_eq!(world.notation().to_literal(&again).unwrap(), native);
    if ORDER == "little" {
        assert_eq!(
            world.refused("M::Node", &shown),
            "$rest[0]: octets in big-endian order mean nothing in a message of this machine, whose order is the other"
        );
    }
    // Without chunks nobody can tell where it ends.
    let octets = [&[0x7f, 0xff, 0xff, 0x02, 0, 0, 0, 12][..], b"IDL:Far:1.0\0\0\0\0\x07"].concat();
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, FORMAT);
    assert!(Any::decode_value(world.ty("M::Node"), &mut from).is_err());
    // Who knows less than the any's reader says what is missing, and where.
    let held = world.read("M::Values", "{one: {name: a, next: {$type: M::Named, name: b, next: null, number: 1}}, held: null, some: null, more: []}");
    let little = repository("module M { valuetype Node { public string name; public Node next; }; };");
    let shown = Notation::new(&world.orb, &little).to_literal(&held).unwrap();
    assert!(shown.contains(r#"$type: IDL:M/Named:1.0"#), "the any knows its types: {shown}");
}

#[test]
fn octets_that_lead_elsewhere_are_not_written() {
    let world = World::new();
    let custom = [
        &[0x7f, 0xff, 0xff, 0x0a, 0, 0, 0, 14][..],
        b"IDL:M/Own:1.0\0\0\0",
        // An indirection to the value itself, 32 octets back.
        b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xe0\xff\xff\xff\xff",
    ];
    let value = world.arrived("M::Own", &custom);
    let told = world.notation().to_literal(&value).unwrap_err().to_string();
    assert!(told.starts_with("$rest[0]: ") && told.contains("seem to lead to another value"), "{told}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let world = World::new();
    for (ty, text, told) in [
        ("M::Node", "{$type: M::Other, number: 1}", "Other is not derived from Node"),
        ("M::Node", "{$type: M::Nothing, name: a}", "$type: no valuetype M::Nothing is known"),
        ("M::Node", "{$type: M::Pair, x: 1, y: 2}", "$type: M::Pair is no valuetype"),
        (
            "M::Node",
            "{name: a, next: {$type: IDL:Far:1.0, name: b}}",
            "next: IDL:Far:1.0 is not known here: the IDL or the interface repository in use does not have it; $rest can give them as they are sent",
        ),
        (
            "M::Node",
            "{name: a, next: {$ref: 1}}",
            "next.$ref: no value with $id 1 is written before it, in the order in which IDL declares members",
        ),
        (
            "M::Node",
            "{$id: 1, name: a, next: {$id: 1, name: b, next: null}}",
            "next: two values have the $id 1",
        ),
        (
            "M::Node",
            "{$id: 1, name: a, next: {$ref: 1, name: b}}",
            "next: $ref stands alone: it is a value that is written elsewhere",
        ),
        ("M::Node", "{$id: [], name: a, next: null}", "$id: a list is no label"),
        ("M::Node", "{$type: M::Named, name: a, next: null}", "number is missing in Named"),
        ("M::Node", "{$value: 1}", "Node is no box, and has no $value"),
        (
            "M::Node",
            "{$bases: [M::Node], name: a, next: null}",
            "Node is known, and $bases is for types that are not",
        ),
        (
            "ValueBase",
            "{}",
            "no value is of ValueBase alone, which is abstract: $type says which valuetype it is of",
        ),
        (
            "M::Shape",
            "{radius: 1}",
            "no value is of Shape alone, which is abstract: $type says which valuetype it is of",
        ),
        ("M::Shape", "{$type: M::Other, number: 1}", "Other is not derived from Shape"),
        ("M::Seen", "{of: null}", "$type is missing: which valuetype it is of that stands for Seen"),
        ("M::Seen", "{$type: M::Other, number: 1}", "Other is not derived from Seen"),
        ("M::BoxedLong", "{$id: 1}", "$value is missing in BoxedLong: what the box holds"),
        ("M::BoxedLong", "{$value: 1, x: 1}", "BoxedLong is a box, and has no member \"x\": $value"),
        (
            "M::Own",
            "{number: 1}",
            "Own is custom: its octets are known to its class alone; $rest can give them as they are sent",
        ),
        ("M::Own", "{number: 1, $rest: []}", "Own has no members that are known here: $rest is all of it"),
        ("M::Own", "{$rest: 1}", "$rest: 1 is no list of octets and values"),
        ("M::Own", "{$rest: [{at: 9, little: \"AA==\"}]}", "$rest[0].at: it is a place modulo 8"),
        (
            "M::Own",
            "{$rest: [{at: 1, little: \"AA==\"}]}",
            "cannot send value: octets whose meaning is not known would come to lie elsewhere, modulo 8",
        ),
    ] {
        let refused = world.refused(ty, text);
        assert!(refused.ends_with(told), "{ty} {text}: {refused}");
    }
}

#[test]
fn what_values_say_again_and_again_is_bounded() {
    let world = World::new();
    const COUNT: u32 = 20_000;
    // Values without state, of a type with a long id that each but the first means by an indirection.
    let mut octets = COUNT.to_be_bytes().to_vec();
    let id = [&b"IDL:"[..], &[b'a'; 50_000], b":1.0\0"].concat();
    octets.extend([0x7f, 0xff, 0xff, 0x0a]);
    let at = octets.len();
    octets.extend(u32::try_from(id.len()).unwrap().to_be_bytes());
    octets.extend(id);
    octets.resize(octets.len().next_multiple_of(4), 0);
    octets.extend([0xff; 4]);
    for _ in 1..COUNT {
        octets.extend([0x7f, 0xff, 0xff, 0x0a, 0xff, 0xff, 0xff, 0xff]);
        let back = i32::try_from(octets.len() - at).unwrap();
        octets.extend((-back).to_be_bytes());
        octets.extend([0xff; 4]);
    }
    let ty = world.ty("sequence<M::Node>");
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, FORMAT);
    let told = match Any::decode_value(ty, &mut from) {
        Ok(any) => world.notation().to_literal(&any).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(told.contains("more of their types") || told.contains("more values than octets"), "{told}");
}

#[test]
fn values_nest_in_text_as_deep_as_on_the_wire() {
    let world = World::new();
    // As anys in derived values, which take the most stack.
    let nested = |depth: usize| {
        let mut to = Encoder::new(FORMAT);
        let ids = |id: &str| [id.as_bytes().into()].into();
        let begun: Vec<_> = (0..depth)
            .map(|_| {
                let begun = to.begin_value(&ids("IDL:M/Named:1.0"), None, false).unwrap();
                to.write_string("").unwrap();
                begun
            })
            .collect();
        to.write_u32(0);
        for begun in begun.into_iter().rev() {
            to.write_i32(7);
            to.end_value(begun).unwrap();
        }
        to.to_bytes().to_vec()
    };
    let known = Known(world.repository.clone());
    let read = |octets: &[u8]| {
        let mut from = Decoder::from_slice(octets, ByteOrder::NATIVE, FORMAT).with_context(&known);
        Any::decode_value(world.ty("M::Node"), &mut from)
    };
    let value = read(&nested(255)).unwrap();
    assert_eq!(world.notation().to_literal(&value).unwrap().matches("$type: M::Named").count(), 255);
    let json = world.notation().to_json(&value).unwrap();
    let told = world.notation().from_json(&json, &world.ty("M::Node")).unwrap_err().to_string();
    assert!(told.contains("nests at most 128 deep"), "{told}");
}
