//! Values as text, both ways, by the TypeCodes that IDL gives.

use serde_json::json;
use zorb_cdr::{Any, ByteOrder, CodeSets, Decoder, Encoder, Format, LongDouble, TCKind, TypeCode, Version};
use zorb_dynamic::{Form, Notation, Repository};
use zorb_idl::{Memory, Options, compile};
use zorb_orb::Orb;

const IDL: &str = r#"
#include <orb.idl>
module M {
  enum Color { RED, GREEN, BLUE };
  typedef sequence<octet> Octets;
  typedef octet Address[4];
  struct Point { short x, y; };
  typedef sequence<Point, 3> Points;
  struct Numbers {
    short s; unsigned short us; long l; unsigned long ul; long long ll; unsigned long long ull;
    octet o; float f; double d; long double ld; fixed<5,2> money;
  };
  struct Texts { char c; wchar wc; string s; wstring ws; string<3> bounded; boolean b; Color hue; };
  struct Data { Octets raw; Address ip; Points path; long grid[2][3]; };
  struct Tree { string name; sequence<Tree> children; };
  union Shape switch (Color) { case RED: Point at; case GREEN: case BLUE: string name; };
  union Other switch (long) { case 1: short one; default: string rest; };
  union Gap switch (boolean) { case TRUE: long value; };
  interface Account { exception Refused { string why; long code; }; };
  struct References { Account one; Object two; };
  struct Held { any value; CORBA::TypeCode type; };
  typedef map<string, long> Ages;
  typedef int8 Small;
  typedef Small Smaller;
  @bit_bound(9) bitmask Access { read, write, @position(7) own };
  bitset Head { bitfield<3> kind; bitfield<1> last; bitfield<2>; bitfield<10, int16> level; };
  bitset Longer : Head { bitfield<40> more; };
  typedef map<short, int8> Codes;
  struct Newer {
    int8 i; uint8 u; Smaller s; sequence<int8> is; sequence<uint8> us; Small grid[2][2]; Access may;
    sequence<Access> all; Head front; map<wstring, sequence<Small>> named; Codes by;
  };
  struct More : Newer { int8 last; };
  union Signed switch (int8) { case -3: int8 low; case 4: Access bits; default: Small rest; };
  exception Bad { int8 why; Access of; };
  valuetype Root { public int8 first; };
  valuetype Derived : Root { private Access second; };
  valuetype Box int8;
  valuetype Folder map<string, int8>;
  struct NewValues { Derived one; Box two; Folder three; };
  interface New {
    attribute int8 level;
    int8 turn(in int8 a, inout uint8 b, out sequence<int8> c, in map<string, int8> d, in Access e) raises (Bad);
  };
  struct Empty {};
  typedef sequence<Empty> ES;
  struct Clock { ES passed; };
  valuetype Base { public string name; };
  valuetype Link : Base { private long number; public Link next; };
  valuetype Boxed sequence<long>;
  struct Values { Link head; long behind; Boxed box; Base root; ValueBase some; };
};
"#;

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

struct World {
    orb: Orb,
    repository: Repository,
}

impl World {
    fn new() -> World {
        let model = compile(&Memory::new([("m.idl", IDL)]), "m.idl", &Options::default())
            .unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
        World { orb: Orb::builder().build(), repository: Repository::of_model(&model).unwrap() }
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

    /// What a literal is read as, printed as a literal and as JSON; both are read as the same value.
    fn round(&self, ty: &str, text: &str) -> (String, serde_json::Value) {
        let value = self.read(ty, text);
        let (literal, json) =
            (self.notation().to_literal(&value).unwrap(), self.notation().to_json(&value).unwrap());
        assert_eq!(self.read(ty, &literal), value, "{literal}");
        let again =
            self.notation().from_json(&json, &self.ty(ty)).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(again, value, "{json}");
        assert_eq!(self.read(ty, &json.to_string()), value, "JSON is a literal: {json}");
        (literal, json)
    }

    fn same(&self, ty: &str, text: &str, json: serde_json::Value) {
        assert_eq!(self.round(ty, text), (text.to_owned(), json));
    }

    fn refused(&self, ty: &str, text: &str) -> String {
        self.notation().from_literal(text, &self.ty(ty)).unwrap_err().to_string()
    }
}

#[test]
fn every_kind_is_read_and_written() {
    let world = World::new();
    world.same("M::Point", "{x: 1, y: -2}", json!({"x": 1, "y": -2}));
    world.same(
        "M::Numbers",
        "{s: -32768, us: 65535, l: -2147483648, ul: 4294967295, ll: -9223372036854775808, \
         ull: 18446744073709551615, o: 255, f: 0.1, d: -1e300, ld: 0.5, money: -123.40}",
        json!({"s": -32768, "us": 65535, "l": -2147483648_i64, "ul": 4294967295_u64, "ll": i64::MIN, "ull": u64::MAX,
            "o": 255, "f": 0.1, "d": -1e300, "ld": 0.5, "money": "-123.40"}),
    );
    world.same(
        "M::Texts",
        r#"{c: "ü", wc: "東", s: "a \"b\"\n", ws: "👍", bounded: "äöü", b: true, hue: GREEN}"#,
        json!({"c": "ü", "wc": "東", "s": "a \"b\"\n", "ws": "👍", "bounded": "äöü", "b": true, "hue": "GREEN"}),
    );
    world.same(
        "M::Data",
        r#"{raw: {text: "hello"}, ip: {base64: "fwAAAQ=="}, path: [{x: 1, y: 2}], grid: [[1, 2, 3], [4, 5, 6]]}"#,
        json!({"raw": {"base64": "aGVsbG8="}, "ip": {"base64": "fwAAAQ=="}, "path": [{"x": 1, "y": 2}],
            "grid": [[1, 2, 3], [4, 5, 6]]}),
    );
    let leaf = r#"{name: "b", children: []}"#;
    let tree = format!(r#"{{name: "a", children: [{leaf}, {leaf}]}}"#);
    world.same(
        "M::Tree",
        &tree,
        json!({"name": "a", "children":
        [{"name": "b", "children": []}, {"name": "b", "children": []}]}),
    );
    world.same("M::Account::Refused", r#"{why: "no", code: 7}"#, json!({"why": "no", "code": 7}));
    world.same("M::Empty", "{}", json!({}));
    world.same("sequence<boolean>", "[]", json!([]));
    world.same("wchar", "55357", json!(55357));
}

#[test]
fn sequences_of_nothing_are_read_and_written() {
    let world = World::new();
    world.same("sequence<M::Empty>", "[{}, {}]", json!([{}, {}]));
    world.same("M::Clock", "{passed: [{}, {}]}", json!({"passed": [{}, {}]}));
    world.same(
        "any",
        "{type: M::Clock, value: {passed: [{}, {}]}}",
        json!({"type": "M::Clock", "value": {"passed": [{}, {}]}}),
    );
    let many = format!("[{}]", "{},".repeat(1025));
    assert!(world.refused("sequence<M::Empty>", &many).contains("1025"));
}

/// omniORB writes an exception in an any without the repository id that it begins with.
#[test]
fn exceptions_are_shown_with_their_id_or_without() {
    let world = World::new();
    let ty = world.ty("M::Account::Refused");
    let read = |with_id: bool| {
        let mut to = Encoder::new(FORMAT);
        if with_id {
            to.write_raw_string(b"IDL:M/Account/Refused:1.0").unwrap();
        }
        to.write_string("no").unwrap();
        to.write_i32(7);
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, FORMAT);
        let value = Any::decode_value(ty.clone(), &mut from).unwrap();
        assert_eq!(from.remaining(), 0);
        value
    };
    for value in [read(true), read(false)] {
        assert_eq!(world.notation().to_literal(&value).unwrap(), r#"{why: "no", code: 7}"#);
        let held = Any::new(&value).unwrap();
        let shown = r#"{type: M::Account::Refused, value: {why: "no", code: 7}}"#;
        assert_eq!(world.notation().to_literal(&held).unwrap(), shown);
    }
}

#[test]
fn what_newer_idl_has_is_written_as_it_says() {
    let world = World::new();
    let newer = "i: -3, u: 250, s: -128, is: [-1, 127], us: [1, 255], grid: [[1, -2], [3, -4]], may: [read, own], \
                 all: [[], [write]], front: {kind: 5, last: true, level: -7}, named: {\"a b\": [-1], c: []}, \
                 by: [{key: -300, value: -5}]";
    let json = json!({"i": -3, "u": 250, "s": -128, "is": [-1, 127], "us": [1, 255], "grid": [[1, -2], [3, -4]],
        "may": ["read", "own"], "all": [[], ["write"]], "front": {"kind": 5, "last": true, "level": -7},
        "named": {"a b": [-1], "c": []}, "by": [{"key": -300, "value": -5}]});
    world.same("M::Newer", &format!("{{{newer}}}"), json.clone());
    // What is inherited comes first.
    world.same("M::More", &format!("{{{newer}, last: -9}}"), {
        let mut more = json;
        more["last"] = json!(-9);
        more
    });
    world.same("M::Ages", "{Ann: 3}", json!({"Ann": 3}));
    world.same("M::Ages", "{}", json!({}));
    world.same(
        "M::Longer",
        "{kind: 0, last: false, level: 511, more: 1099511627775}",
        json!({"kind": 0, "last": false, "level": 511, "more": 1099511627775_u64}),
    );
    world.same("M::Signed", "{low: -3}", json!({"low": -3}));
    world.same("M::Signed", "{bits: [own]}", json!({"bits": ["own"]}));
    world.same("M::Signed", "{rest: -1, $case: -7}", json!({"rest": -1, "$case": -7}));
    world.same("M::Bad", "{why: -1, of: [write]}", json!({"why": -1, "of": ["write"]}));
    world.same(
        "M::NewValues",
        "{one: {first: -1, second: [read]}, two: -8, three: {a: -1}}",
        json!({"one": {"first": -1, "second": ["read"]}, "two": -8, "three": {"a": -1}}),
    );
    // The any's type names what its value is made of.
    world.same("any", "{type: M::Small, value: -3}", json!({"type": "M::Small", "value": -3}));
    world.same("any", "{type: M::Access, value: [own]}", json!({"type": "M::Access", "value": ["own"]}));
    world.same(
        "any",
        "{type: \"map<string,short>\", value: {a: 1}}",
        json!({"type": "map<string,short>", "value": {"a": 1}}),
    );
    // An `int8` without a name is told on the way in only: the TypeCode has it as an octet.
    assert_eq!(world.round("any", "{type: int8, value: -3}").0, "{type: octet, value: 253}");
    assert_eq!(
        world.round("any", "{type: \"sequence<int8>\", value: [-1, 65]}").0,
        "{type: sequence<octet>, value: {base64: \"/0E=\"}}"
    );
}

#[test]
fn what_newer_idl_has_is_written_in_other_ways_too() {
    let world = World::new();
    let literal = |ty: &str, text: &str| world.round(ty, text).0;
    assert_eq!(literal("M::Access", "0x83"), "[read, write, own]");
    assert_eq!(
        literal("M::Access", "[write, write, 0, 8]"),
        "[read, write, 8]",
        "bits without names by position"
    );
    assert_eq!(literal("M::Head", "9"), "{kind: 1, last: true, level: 0}");
    assert_eq!(literal("M::Ages", "[{key: a, value: 2}, {key: b, value: 1}]"), "{a: 2, b: 1}");
    // As text each key is named once, and none is taken for something else.
    assert_eq!(
        literal("M::Ages", "[{key: a, value: 1}, {key: a, value: 2}]"),
        "[{key: \"a\", value: 1}, {key: \"a\", value: 2}]"
    );
    assert_eq!(literal("M::Ages", "{$id: 1}"), "[{key: \"$id\", value: 1}]");
    for (ty, text, told) in [
        ("M::Small", "128", "128 is out of range for int8"),
        ("M::Small", "-129", "-129 is out of range for int8"),
        ("M::Access", "[red]", "[0]: Access has no bit \"red\": read, write, own"),
        ("M::Access", "[9]", "[0]: Access has 9 bits, and none at 9"),
        ("M::Access", "5", "5 sets bit 2, which Access has not got"),
        ("M::Access", "512", "512 sets bit 9, which Access has not got"),
        ("M::Access", "read", "read is no Access: a list of its bits, [read, write, own]"),
        ("M::Head", "{kind: 8, last: true, level: 0}", "kind: 8 is out of range for 3 bits: 0 to 7"),
        (
            "M::Head",
            "{kind: 1, last: true, level: -513}",
            "level: -513 is out of range for 10 bits: -512 to 511",
        ),
        ("M::Head", "{kind: 1, last: 1, level: 0}", "last: 1 is no boolean: true or false"),
        ("M::Head", "{kind: 1, last: true}", "level is missing in Head"),
        ("M::Head", "{gone: 1}", "Head has no bitfield \"gone\": kind, last, level"),
        ("M::Head", "16", "16 sets bit 4, which Head has not got"),
        ("M::Codes", "{a: 1}", "a map whose keys are no strings is a list of pairs: [{key: …, value: …}]"),
        ("M::Folder", "{a: 300}", "a: 300 is out of range for int8"),
        ("map<string,long,1>", "{a: 1, b: 2}", "2 elements are more than the 1 that it may have"),
    ] {
        assert_eq!(world.refused(ty, text), told, "{ty} {text}");
    }
    // A peer sets a bit that the type has not got.
    let ty = world.ty("M::Access");
    let mut from = Decoder::from_slice(&[0, 0xff], ByteOrder::Big, FORMAT);
    let ok = Any::decode_value(ty.clone(), &mut from).unwrap();
    assert_eq!(world.notation().to_literal(&ok).unwrap(), "[read, write, own, 2, 3, 4, 5, 6]");
    let mut from = Decoder::from_slice(&[0xff, 0xff], ByteOrder::Big, FORMAT);
    let wrong = Any::decode_value(ty, &mut from).unwrap();
    let told = world.notation().to_literal(&wrong).unwrap_err().to_string();
    assert_eq!(told, "Access has a bit set that it has not got: 0xffff");
}

#[test]
fn parameters_without_names_have_their_forms() {
    let world = World::new();
    let interface = world.repository.interface("M::New").unwrap();
    let turn = interface.operation("turn").unwrap();
    let texts = ["-3", "200", "[-1]", "{a: -1}", "[own]"];
    for (at, (parameter, text)) in turn.parameters.iter().zip(texts).enumerate() {
        let notation = world.notation().in_form(interface.parameter_form("turn", at));
        let value = notation.from_argument(text, &parameter.ty).unwrap();
        assert_eq!(notation.to_literal(&value).unwrap(), text);
    }
    let form = |at| interface.parameter_form("turn", at);
    let names =
        turn.parameters.iter().enumerate().map(|(at, it)| world.repository.formed_name(&it.ty, form(at)));
    let names: Vec<String> = names.collect();
    assert_eq!(names, ["int8", "uint8", "sequence<int8>", "map<string,int8>", "M::Access"]);
    assert_eq!(*interface.result_form("turn"), Form::Int8);
    assert_eq!(*interface.result_form("_get_level"), Form::Int8);
    assert_eq!(*interface.parameter_form("_set_level", 0), Form::Int8);
    assert_eq!(*interface.parameter_form("turn", 9), Form::AsDescribed);
}

#[test]
fn literals_are_lenient_and_exact() {
    let world = World::new();
    assert_eq!(world.round("sequence<long>", " [ 0x10 , -0x1,+7, ] ").0, "[16, -1, 7]");
    assert_eq!(world.round("M::Octets", "[1, 2]").1, json!({"base64": "AQI="}));
    assert_eq!(world.round("M::Octets", "{text: \"\"}").0, "{base64: \"\"}");
    assert_eq!(world.round("string", "word").0, "\"word\"");
    assert_eq!(world.round("string", "\"two\nlines\"").0, r#""two\nlines""#);
    assert_eq!(world.round("unsigned long long", "\"18446744073709551615\"").0, "18446744073709551615");
    for name in ["NaN", "Infinity", "-Infinity"] {
        for ty in ["float", "double", "long double"] {
            let value = world.read(ty, name);
            assert_eq!(world.notation().to_literal(&value).unwrap(), name);
            assert_eq!(world.notation().to_json(&value).unwrap(), json!(name));
        }
    }
    // What no double is stays what it is.
    let third = "0.333333333333333333333333333333333317";
    assert_eq!(world.round("long double", third).0, third);
    assert_eq!(world.round("long double", third).1, json!(third));
    // What a double is has its shortest text only where that is read as the same long double.
    let tenth = LongDouble::from(0.1_f64);
    let tenth = Any::new(&tenth).unwrap();
    let text = world.notation().to_literal(&tenth).unwrap();
    assert!(text.starts_with("0.1000000000000000055511"), "{text}");
    for text in [
        &*text,
        "0.1",
        "33330333333345208",
        "300000066006679214017356800000000",
        "2062521360864772096.00328",
        "2222222222223332.3",
    ] {
        world.round("long double", text);
    }
    assert!(world.round("long double", "1e4000").1.as_str().is_some_and(|text| text.ends_with("E+4000")));
}

#[test]
fn unions_are_their_member() {
    let world = World::new();
    world.same("M::Shape", "{at: {x: 1, y: 2}}", json!({"at": {"x": 1, "y": 2}}));
    world.same("M::Shape", r#"{name: "a"}"#, json!({"name": "a"}));
    world.same("M::Shape", r#"{name: "a", $case: BLUE}"#, json!({"name": "a", "$case": "BLUE"}));
    world.same("M::Other", "{one: 3}", json!({"one": 3}));
    world.same("M::Other", r#"{rest: "x", $case: 5}"#, json!({"rest": "x", "$case": 5}));
    world.same("M::Gap", "{value: 3}", json!({"value": 3}));
    world.same("M::Gap", "{$case: false}", json!({"$case": false}));
    assert_eq!(
        world.refused("M::Other", r#"{rest: "x"}"#),
        "rest is the default member: $case says of which label"
    );
    assert_eq!(world.refused("M::Other", r#"{rest: "x", $case: 1}"#), "$case chooses one, not rest");
    assert_eq!(
        world.refused("M::Shape", "{at: {x: 1, y: 2}, name: a}"),
        "Shape has one member at a time, and \"name\" is a second"
    );
    assert_eq!(world.refused("M::Shape", "{}"), "Shape needs a member: at, name, name");
    assert_eq!(world.refused("M::Gap", "{$case: true}"), "$case chooses value, whose value is missing");
    assert_eq!(
        world.refused("M::Shape", "{name: a, $case: PINK}"),
        "$case: PINK is no Color: RED, GREEN, BLUE"
    );
}

#[test]
fn anys_types_and_references() {
    let world = World::new();
    world.same(
        "M::Held",
        r#"{value: {type: M::Point, value: {x: 1, y: 2}}, type: "sequence<M::Color,4>"}"#,
        json!({"value": {"type": "M::Point", "value": {"x": 1, "y": 2}}, "type": "sequence<M::Color,4>"}),
    );
    world.same("M::Held", "{value: null, type: long[2][3]}", json!({"value": null, "type": "long[2][3]"}));
    let object = world.round("M::References", "{one: corbaloc::[::1]:2809/a%2cb, two: null}");
    assert!(object.0.starts_with("{one: IOR:") && object.0.ends_with(", two: null}"), "{}", object.0);
    assert!(
        world
            .refused("M::References", "{one: nowhere, two: null}")
            .starts_with("one: nowhere is no reference")
    );
    // What an any holds is of its own type, whatever the repository knows.
    let foreign =
        TypeCode::build(|to| to.structure("IDL:Foreign:1.0", "Foreign", |to| vec![("", to.basic::<bool>())]))
            .unwrap();
    let value = Any::with_type_code(foreign, &true).unwrap();
    let held = Any::new(&value).unwrap();
    assert_eq!(world.notation().to_literal(&held).unwrap(), "{type: IDL:Foreign:1.0, value: {$0: true}}");
}

#[test]
fn values_are_written_as_structs_are() {
    let world = World::new();
    let end = r#"{name: "b", number: 2, next: null}"#;
    world.same("M::Link", "null", json!(null));
    world.same("M::Link", end, json!({"name": "b", "number": 2, "next": null}));
    let values = format!(
        r#"{{head: {{name: "a", number: 1, next: {end}}}, behind: 7, box: [1, 2], root: {{name: "c"}}, some: null}}"#
    );
    let json = json!({"head": {"name": "a", "number": 1, "next": {"name": "b", "number": 2, "next": null}},
        "behind": 7, "box": [1, 2], "root": {"name": "c"}, "some": null});
    world.same("M::Values", &values, json);
    world.same(
        "any",
        &format!("{{type: M::Link, value: {end}}}"),
        json!({"type": "M::Link",
        "value": {"name": "b", "number": 2, "next": null}}),
    );
    assert_eq!(world.refused("M::Link", r#"{name: "b", number: x, next: null}"#), "number: x is no long");
    assert_eq!(
        world.refused("M::Link", r#"{name: "b", number: 1, next: {name: "c", next: null}}"#),
        "next: number is missing in Link"
    );
}

#[test]
fn errors_say_where_and_what() {
    let world = World::new();
    for (ty, text, told) in [
        ("M::Points", "[{x: 1, y: 2}, {x: 1, y: 40000}]", "[1].y: 40000 is out of range for short"),
        (
            "M::Data",
            "{raw: [1], ip: [1, 2, 300, 4], path: [], grid: []}",
            "ip[2]: 300 is out of range for octet",
        ),
        ("M::Data", "{raw: [1], ip: [1], path: [], grid: []}", "ip: an array of 4 elements was given 1"),
        ("M::Points", "[1, 2, 3, 4]", "4 elements are more than the 3 that it may have"),
        ("string<3>", "\"four\"", "4 characters are more than the 3 that it may have"),
        ("long", "1.5", "1.5 is no long"),
        (
            "long",
            "99999999999999999999999999999999999999999",
            "99999999999999999999999999999999999999999 is out of range for long",
        ),
        ("long", "true", "true is no long"),
        ("float", "1e40", "1e40 is out of range for float"),
        ("double", "1e400", "1e400 is out of range for double"),
        ("double", "1.2.3", "1.2.3 is no double"),
        ("long double", "1e5000", "1e5000 is out of range for long double"),
        ("char", "東", "東 is not in ISO 8859-1, and no char"),
        ("wchar", "👍", "👍 takes two units of UTF-16, and is no wchar"),
        ("M::Color", "PINK", "PINK is no Color: RED, GREEN, BLUE"),
        ("M::Point", "{x: 1}", "y is missing in Point"),
        ("M::Point", "{x: 1, y: 2, z: 3}", "Point has no member \"z\": x, y"),
        ("M::Point", "{x: 1, x: 2}", "x is given twice"),
        ("M::Point", "[1, 2]", "a list is no Point: {member: value, …}"),
        ("M::Octets", "{file: \"/etc/hostname\"}", "files are not read here"),
        ("M::Octets", "{base64: \"?\"}", "base64: Invalid symbol 63, offset 0."),
        ("fixed<5,2>", "1.234", "1.234 has more than 2 digits behind the point"),
        ("fixed<5,2>", "12345.67", "12345.67 is out of range for fixed<5,2>"),
        ("any", "{type: M::Nothing, value: 1}", "type: no type M::Nothing is known"),
        ("any", "{type: short, value: 70000}", "value: 70000 is out of range for short"),
        ("sequence<long>", "[1, 2", "a comma or ] was expected at character 6, where the literal ends"),
        ("sequence<long>", "[1 2]", "a comma or ] was expected at character 4, where there is \"2]\""),
        ("M::Point", "{x 1}", "a colon behind x was expected at character 4, where there is \"1}\""),
        (
            "string",
            "\"open",
            "a quotation mark ends every string at character 1, where there is \"\\\"open\"",
        ),
        ("long", "", "a value was expected at character 1, where the literal ends"),
        ("long", "1 2", "the end was expected at character 3, where there is \"2\""),
    ] {
        assert_eq!(world.refused(ty, text), told, "{ty} {text}");
    }
}

#[test]
fn nesting_ends() {
    let world = World::new();
    let nested = |depth: usize| {
        let open = "{\"name\": \"\", \"children\": [".repeat(depth);
        format!("{open}{}", "]}".repeat(depth))
    };
    assert!(world.notation().from_literal(&nested(32), &world.ty("M::Tree")).is_ok());
    assert!(world.refused("M::Tree", &nested(33)).ends_with("a literal nests at most 64 deep"));
    assert!(world.refused("M::Tree", &"[".repeat(1_000_000)).ends_with("a literal nests at most 64 deep"));
    let json = |depth| world.notation().from_argument(&nested(depth), &world.ty("M::Tree"));
    assert!(json(63).is_ok());
    assert!(json(65).is_err());
    let link = |next| json!({"name": "", "number": 1, "next": next});
    let chain = (0..120).fold(json!(null), |next, _| link(next));
    let value = world.notation().from_json(&chain, &world.ty("M::Link")).unwrap();
    assert_eq!(world.notation().to_json(&value).unwrap(), chain);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let told = world.notation().from_json(&deep, &world.ty("long")).unwrap_err();
    assert_eq!(told.to_string(), "JSON nests at most 128 deep");
}

#[test]
fn an_argument_stands_for_itself_where_it_is_text() {
    let world = World::new();
    let shown = |text: &str, ty: &str| {
        let value = world.notation().from_argument(text, &world.ty(ty)).unwrap();
        world.notation().to_literal(&value).unwrap()
    };
    assert_eq!(shown("two words", "string"), r#""two words""#);
    assert_eq!(shown("17", "string"), r#""17""#);
    assert_eq!(shown("\"quoted\\n\"", "string"), r#""quoted\n""#);
    assert_eq!(shown("RED", "M::Color"), "RED");
    assert_eq!(shown("sequence<long>", "TypeCode"), "sequence<long>");
    assert_eq!(shown("null", "Object"), "null");
    assert_eq!(shown("12.5", "fixed<5,2>"), "12.50");
    assert_eq!(shown("18446744073709551615", "unsigned long long"), "18446744073709551615");
    // As JSON it would be a double; as it was typed it is not lost.
    let refused =
        |text: &str, ty: &str| world.notation().from_argument(text, &world.ty(ty)).unwrap_err().to_string();
    let told = "18446744073709551616 is out of range for unsigned long long";
    assert_eq!(refused("18446744073709551616", "unsigned long long"), told);
    assert_eq!(refused("[18446744073709551616]", "sequence<unsigned long long>"), format!("[0]: {told}"));
    assert_eq!(shown("-Infinity", "double"), "-Infinity");
    assert_eq!(shown("-0x10", "long"), "-16");
    assert_eq!(shown(r#"{"x": 1, "y": 2}"#, "M::Point"), "{x: 1, y: 2}");
}

#[test]
fn files_are_read_where_the_user_says_so() {
    let world = World::new();
    let folder = std::env::temp_dir().join(format!("zorb-written-{}", std::process::id()));
    std::fs::write(&folder, [0, 1, 255]).unwrap();
    let literal = format!("{{file: {:?}}}", folder.to_str().unwrap());
    let value = world.notation().reading_files().from_literal(&literal, &world.ty("M::Octets"));
    let missing =
        world.notation().reading_files().from_literal("{file: \"/nowhere/at all\"}", &world.ty("M::Octets"));
    std::fs::remove_file(&folder).unwrap();
    assert_eq!(world.notation().to_json(&value.unwrap()).unwrap(), json!({"base64": "AAH/"}));
    assert!(missing.unwrap_err().to_string().starts_with("file: cannot read /nowhere/at all: "));
}

#[test]
fn type_names_mean_what_they_say() {
    let world = World::new();
    for name in [
        "null",
        "void",
        "short",
        "unsigned long long",
        "long double",
        "any",
        "CORBA::TypeCode",
        "map<string,long>",
        "map<short,map<string<4>,M::Tree>,5>",
        "Object",
        "ValueBase",
        "string",
        "string<5>",
        "wstring<7>",
        "fixed<5,2>",
        "fixed<3,0>",
        "sequence<sequence<octet>,3>",
        "M::Tree",
        "M::Shape[2]",
        "M::Account",
        "M::Account::Refused",
        "M::Octets",
    ] {
        assert_eq!(world.repository.type_name(&world.ty(name)), name);
    }
    assert_eq!(world.ty("IDL:M/Point:1.0"), world.ty("::M::Point"));
    let spelt = [
        ("int8", "octet"),
        ("uint8", "octet"),
        ("uint16", "unsigned short"),
        ("int64", "long long"),
        ("TypeCode", "CORBA::TypeCode"),
        ("CORBA::Object", "Object"),
        ("CORBA::ValueBase", "ValueBase"),
    ];
    for (one, other) in spelt {
        assert_eq!(world.ty(one), world.ty(other), "{one}");
    }
    let named = |text: &str| {
        let (ty, form) = world.repository.formed_type(text).unwrap();
        world.repository.formed_name(&ty, &form)
    };
    for name in
        ["int8", "uint8", "sequence<int8,3>", "map<int8,sequence<uint8>>", "int8[2][3]", "map<string,int8,4>"]
    {
        assert_eq!(named(name), name);
    }
    assert_eq!(world.ty("unsigned  long").kind(), TCKind::ULong);
    for wrong in
        ["", "long short", "string<0>", "sequence<>", "fixed<40,2>", "M", "long]", "unsigned", "long[0]"]
    {
        assert!(world.repository.type_named(wrong).is_err(), "{wrong}");
    }
    assert!(world.repository.type_named(&"sequence<".repeat(100_000)).is_err());
}

/// What is cut off or changed is an error or another value, which is written and read again as itself.
#[test]
fn every_cut_and_every_changed_character_ends() {
    let world = World::new();
    let texts = [
        ("M::Texts", r#"{c: "a", wc: "b", s: "c\n\u0041", ws: "d", bounded: "e", b: true, hue: RED}"#),
        (
            "M::Numbers",
            "{s: -1, us: 2, l: 0x3, ul: 4, ll: 5, ull: 6, o: 7, f: 0.5, d: 1e3, ld: NaN, money: 1.5}",
        ),
        (
            "M::Data",
            r#"{raw: {base64: "AA=="}, ip: [1, 2, 3, 4], path: [{x: 1, y: 2}], grid: [[1, 2, 3], [4, 5, 6]]}"#,
        ),
        ("M::Held", r#"{value: {type: "sequence<M::Color,4>", value: [RED]}, type: "string<5>"}"#),
        ("M::Shape", "{name: a, $case: BLUE}"),
        ("M::Link", "{name: a, number: 1, next: {name: b, number: 2, next: null}}"),
    ];
    let check = |ty: &TypeCode, text: &str| {
        let Ok(value) = world.notation().from_literal(text, ty) else { return false };
        let literal = world.notation().to_literal(&value).unwrap();
        assert_eq!(world.notation().from_literal(&literal, ty).as_ref(), Ok(&value), "{text}: {literal}");
        true
    };
    for (name, text) in texts {
        let ty = world.ty(name);
        assert!(check(&ty, text), "{text}");
        for (at, letter) in text.char_indices() {
            assert!(!check(&ty, &text[..at]), "{text}: it is whole after {at}");
            for other in ['"', '\\', '{', '}', '[', ']', ':', ',', '<', '>', '-', '0', 'x', ' ', 'ü', '\0'] {
                check(&ty, &format!("{}{other}{}", &text[..at], &text[at + letter.len_utf8()..]));
            }
        }
    }
}
