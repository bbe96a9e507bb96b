//! Bodies of fuzz targets: any octets go in, and what must always hold is asserted.
//!
//! They are always compiled, so that tests drive them with a seeded mutator on the stable toolchain and a cargo-fuzz target
//! is one line.

use std::sync::OnceLock;

use zorb_cdr::{
    Any, ByteOrder, CodeSets, Decode, DecodeContext, Decoder, DynAny, Encode, Encoder, Format, TypeCode,
    Version,
};
use zorb_idl::{Memory, Options, compile};
use zorb_orb::Orb;
use zorb_orb::dynamic::Signature;

use crate::ifr::{CORBA, extended_operations, plain_operations};
use crate::{Interface, Notation, Repository};

/// Types of every kind that has a written form.
const IDL: &str = r#"
#include <orb.idl>
module M {
  enum Color { RED, GREEN, BLUE };
  typedef sequence<octet> Octets;
  struct Point { short x, y; };
  struct Numbers {
    short s; unsigned short us; long l; unsigned long ul; long long ll; unsigned long long ull;
    octet o; float f; double d; long double ld; fixed<5,2> money;
  };
  struct Texts { char c; wchar wc; string s; wstring ws; string<3> bounded; boolean b; Color hue; };
  struct Data { Octets raw; octet ip[4]; sequence<Point, 3> path; long grid[2][3]; map<string, long> ages; };
  struct Tree { string name; sequence<Tree> children; };
  union Shape switch (Color) { case RED: Point at; case GREEN: case BLUE: string name; };
  union Other switch (long) { case 1: short one; default: string rest; };
  interface Account { exception Refused { string why; long code; }; };
  struct Held { any value; CORBA::TypeCode type; Account one; Object two; };
  valuetype Base { public string name; };
  valuetype Link : Base { private long number; public Link next; };
  valuetype Boxed sequence<long>;
  struct Values { Link head; Boxed box; Base root; };
  valuetype Node { public string name; public Node next; };
  valuetype Named : Node { public short number; public any what; };
  valuetype Cut : truncatable Node { public double weight; public sequence<Node> others; };
  abstract valuetype Round {};
  valuetype Circle : Round { public double radius; };
  abstract interface Seen {};
  valuetype Sight supports Seen { public Node from; public Seen other; };
  custom valuetype Own { public long number; };
  struct Graphs { Node one; ValueBase two; Round figure; Seen face; octet gap; Own mine; sequence<Node> more; };
};
"#;

/// The types that texts are read as; the first octet of a case says which.
const TYPES: &[&str] = &[
    "M::Numbers",
    "M::Texts",
    "M::Data",
    "M::Tree",
    "M::Shape",
    "M::Other",
    "M::Account::Refused",
    "M::Held",
    "M::Values",
    "any",
    "TypeCode",
    "Object",
    "sequence<M::Shape>",
    "long double",
    "M::Graphs",
    "M::Node",
];

/// What texts are read with: an ORB that neither listens nor calls, and the types above.
struct World {
    orb: Orb,
    repository: Repository,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let files = Memory::new([("m.idl", IDL)]);
        let model = compile(&files, "m.idl", &Options::default()).expect("it is good IDL");
        let repository = Repository::of_model(&model).expect("every type of it has a TypeCode");
        World { orb: Orb::builder().build(), repository }
    })
}

/// Reads values from arbitrary text. What is read is written as a literal and as JSON that are read as the same.
///
/// ```text
/// octet 0   modulo 20, of which type: the 16 above, and from there on the text is a type's name
/// octet 1   bit 0 a literal, else what an argument may be
/// rest      the text
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn written(data: &[u8]) {
    let [which, settings, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // Such a reference is read from a file, which is no matter of these octets.
    if text.contains("file:") {
        return;
    }
    let World { orb, repository } = world();
    let Some(name) = TYPES.get(usize::from(which % 20)) else {
        let Ok(ty) = repository.type_named(text) else { return };
        let name = repository.type_name(&ty);
        let again = repository.type_named(&name);
        return assert_eq!(again.as_ref(), Ok(&ty), "{text:?} is the type {name:?}");
    };
    let ty = repository.type_named(name).expect("it is declared above");
    let notation = Notation::new(orb, repository);
    let read = match settings & 1 {
        1 => notation.from_literal(text, &ty),
        _ => notation.from_argument(text, &ty),
    };
    match read {
        Ok(value) => survives(&notation, &value, true),
        Err(error) => assert!(!error.problem.is_empty(), "{text:?} is refused without a reason"),
    }
}

/// Writes what an any holds, and reads that again. `readable`: it surely can be.
fn survives(notation: &Notation<'_>, value: &Any, readable: bool) {
    // What nests deeper than a literal may is written by who can, and not read.
    let literal = match notation.to_literal(value) {
        Ok(literal) => literal,
        Err(error) => return assert!(!readable || error.to_string().contains("deep"), "{value:?}: {error}"),
    };
    let again = |read: Result<Any, crate::WrittenError>, text: &str| match read {
        Ok(again) => assert!(!readable || again == *value, "{text} is read as {again:?}, not {value:?}"),
        Err(error) => assert!(!readable || error.problem.contains("deep"), "{text}: {error}"),
    };
    again(notation.from_literal(&literal, value.type_code()), &literal);
    let json = notation.to_json(value).expect("what is a literal is JSON, too");
    again(notation.from_json(&json, value.type_code()), &json.to_string());
}

/// Writes anys that arrived, of types that may be known to nobody.
///
/// ```text
/// octet 0   bit 0 byte order
/// rest      the any
/// ```
///
/// # Panics
/// Where an error has no reason: a fault of this crate.
pub fn shown(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let World { orb, repository } = world();
    let Ok(any) = Any::decode(&mut decoder(*settings, body)) else { return };
    survives(&Notation::new(orb, repository), &any, false);
    // Who learnt the types from elsewhere can name them.
    let mut learnt = Repository::new();
    let mut interface = Interface::new("IDL:I:1.0", "I");
    interface.add(Signature::new("f").gives(any.type_code().clone()).into());
    learnt.learn(&interface);
    survives(&Notation::new(orb, &learnt), &any, false);
}

/// Knows the types above, as an ORB does that was told them.
struct Known;

impl DecodeContext for Known {
    fn described_value(&self, id: &str) -> Option<TypeCode> {
        world().repository.definition(id)?.type_code().cloned()
    }
}

/// Writes graphs of values that arrived. Where what was written can be read, it is written the same again, also when it was sent on.
///
/// ```text
/// octet 0   bit 0 byte order, bit 1 a Node in place of all, bits 2 to 4 the alignment in which it is sent on
/// rest      the values
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn graph_texts(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let World { orb, repository } = world();
    let ty = repository.type_named(if settings & 2 == 0 { "M::Graphs" } else { "M::Node" });
    let ty = ty.expect("it is declared above");
    let mut from = decoder(*settings, body).with_context(&Known);
    let Ok(value) = Any::decode_value(ty.clone(), &mut from) else { return };
    let notation = Notation::new(orb, repository);
    let Ok(literal) = notation.to_literal(&value) else { return };
    let json = notation.to_json(&value).expect("what is a literal is JSON, too");
    let Ok(again) = notation.from_literal(&literal, &ty) else { return };
    let read = notation.from_json(&json, &ty);
    assert_eq!(read.as_ref(), Ok(&again), "{json}");
    // A peer's own description of a type is the repository's from here on, and null among octets is four of them.
    let second = notation.to_literal(&again).expect("it was written before");
    let is_rewritten = literal.contains("IDL:") || literal.contains("$rest");
    assert!(is_rewritten || second == literal, "{literal} is read as {second}");
    let third = notation.from_literal(&second, &ty).and_then(|value| notation.to_literal(&value));
    assert_eq!(third.as_ref(), Ok(&second), "{literal}");
    let shift = usize::from(settings >> 2 & 7);
    let mut to = Encoder::new(Format { version: Version::V1_2, code_sets: CodeSets::UNICODE });
    to.write_octets(&[0; 8][..shift]);
    // Octets whose meaning is not known stay where they are, modulo 8, or are not sent.
    if again.encode_value(&mut to).is_err() {
        return assert!(second.contains("$rest"), "{second} is not sent");
    }
    let octets = to.to_bytes();
    let mut from = decoder(0, &octets).with_context(&Known);
    from.read_octets(shift).expect("they were written");
    let sent = Any::decode_value(ty, &mut from).expect("it was a value before it was sent");
    assert_eq!(from.remaining(), 0);
    let sent = notation.to_literal(&sent).expect("it was written before");
    // What has more behind a known state may be cut down to that.
    assert!(sent == second || second.contains("$rest"), "{second} arrives as {sent}");
}

/// Reads what an interface repository answers, and does with it what `zorb call` does: takes the signatures out of it, learns the types
/// and names them, and makes a value of each parameter.
///
/// ```text
/// octet 0   bit 0 byte order, bit 1 a plain description in place of one with attributes' exceptions
/// rest      the description of an interface
/// ```
///
/// # Panics
/// Where what was read is not what it is said to be: a fault of this crate.
pub fn answers(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let World { orb, .. } = world();
    let mut from = decoder(*settings, body).with_context(orb);
    let (id, operations) = if settings & 2 == 0 {
        let Ok(read) = CORBA::interface_attr_extension::ExtFullInterfaceDescription::decode(&mut from) else {
            return;
        };
        (read.id, extended_operations(read.operations, read.attributes))
    } else {
        let Ok(read) = CORBA::interface_def::FullInterfaceDescription::decode(&mut from) else { return };
        (read.id, plain_operations(read.operations, read.attributes))
    };
    let mut interface = Interface::new(id, "read");
    operations.into_iter().for_each(|operation| interface.add(operation));
    let mut repository = Repository::new();
    repository.learn(&interface);
    let notation = Notation::new(orb, &repository);
    for signature in interface.operations() {
        let named = interface.operation(&signature.operation).expect("it was added");
        assert_eq!(named.operation, signature.operation);
        let parameters = signature.parameters.iter().map(|parameter| &parameter.ty);
        for ty in parameters.chain([&signature.result]).chain(&signature.raises) {
            let name = repository.type_name(ty);
            let _ = repository.type_named(&name);
            if let Ok(value) = DynAny::new(ty).and_then(|value| value.to_any()) {
                survives(&notation, &value, false);
            }
        }
    }
}

/// Object ids of a served repository, which clients choose: what stands for something has an id that stands for the same.
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn object_ids(data: &[u8]) {
    let Ok(id) = std::str::from_utf8(data) else { return };
    crate::ifr::check_object_id(id, &world().repository);
}

fn decoder(settings: u8, body: &[u8]) -> Decoder<'_> {
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };
    Decoder::from_slice(body, order, format)
}

/// Octets to begin with for [`written`].
pub fn written_seeds() -> Vec<Vec<u8>> {
    let texts: &[(u8, &str)] = &[
        (0, "{s: -1, us: 2, l: 0x3, ul: 4, ll: 5, ull: 6, o: 7, f: 0.5, d: 1e3, ld: NaN, money: 1.5}"),
        (
            0,
            r#"{"s": 1, "us": 2, "l": 3, "ul": 4, "ll": "5", "ull": 6, "o": 7, "f": 1e38, "d": "Infinity", "ld": 1, "money": "-9.99"}"#,
        ),
        (1, r#"{c: "a", wc: "b", s: "c\n\u0041", ws: "👍", bounded: "äöü", b: true, hue: RED}"#),
        (
            2,
            r#"{raw: {base64: "AA=="}, ip: [1, 2, 3, 4], path: [{x: 1, y: 2}], grid: [[1, 2, 3], [4, 5, 6]], ages: [{key: "Ann", value: 3}]}"#,
        ),
        (
            2,
            r#"{raw: {text: "hi"}, ip: {base64: "fwAAAQ=="}, path: [], grid: [[1, 2, 3], [4, 5, 6]], ages: []}"#,
        ),
        (3, "{name: a, children: [{name: b, children: []}]}"),
        (4, "{name: a, $case: BLUE}"),
        (5, "{rest: \"x\", $case: 5}"),
        (6, "{why: \"no\", code: 7}"),
        (
            7,
            r#"{value: {type: "sequence<M::Color,4>", value: [RED]}, type: "string<5>", one: null, two: "corbaloc:iiop:1.2@host:2809/key"}"#,
        ),
        (
            8,
            "{head: {name: a, number: 1, next: {name: b, number: 2, next: null}}, box: [1, 2], root: {name: c}}",
        ),
        (9, "{type: any, value: {type: M::Tree, value: {name: a, children: []}}}"),
        (10, "sequence<M::Shape,7>"),
        (11, "IOR:000000000000000100"),
        (12, "[{at: {x: 1, y: 2}}, {name: a, $case: GREEN}]"),
        (
            14,
            r#"{one: {$id: 1, name: a, next: {name: b, next: {$ref: 1}}}, two: {$type: M::Cut, $id: 2, name: c, next: {$ref: 1}, weight: 1.5, others: [{$ref: 2}, {$ref: 1}]}, figure: {$type: M::Circle, radius: 2}, face: {$type: M::Sight, from: {$ref: 2}, other: "corbaloc:iiop:1.2@host:2809/key"}, gap: 1, mine: {$id: own, $rest: [{at: 0, little: "AAECAwQF"}]}, more: [{$type: M::Named, name: d, next: null, number: 1, what: {type: M::Node, value: {$ref: 2}}}, {$ref: 2}]}"#,
        ),
        (
            14,
            r#"{one: {$type: "IDL:Far:1.0", $bases: [M::Node], name: a, next: null, $rest: [{at: 4, little: "AAECAw=="}]}, two: {$type: M::Boxed, $id: 1, $value: [1, 2]}, figure: null, face: null, gap: 0, mine: {$type: "IDL:Far:1.0", $codebase: "http://a", $rest: [{at: 4, little: "AQ=="}, {$type: M::Node, name: b, next: null}, {at: 0, little: "Ag=="}, null]}, more: []}"#,
        ),
        (
            15,
            r#"{$type: M::Named, $id: 1, name: a, next: {$ref: 1}, number: 7, what: {type: ValueBase, value: {$ref: 1}}}"#,
        ),
        (
            15,
            r#"{"$type": "M::Cut", "$id": 1, "name": "a", "next": {"$ref": 1}, "weight": 0.5, "others": []}"#,
        ),
        (13, "0.333333333333333333333333333333333317"),
        (16, "sequence<sequence<octet>,3>"),
        (16, "fixed<5,2>[3][4]"),
        (17, "unsigned long long"),
        (19, "M::Account"),
    ];
    let both = texts.iter().flat_map(|(which, text)| [0, 1].map(|settings| (which, settings, text)));
    both.map(|(which, settings, text)| [&[*which, settings], text.as_bytes()].concat()).collect()
}

/// Octets to begin with for [`answers`]: descriptions of an interface whose operations take and give all of the types.
pub fn answer_seeds() -> Vec<Vec<u8>> {
    let repository = &world().repository;
    let types: Vec<TypeCode> = TYPES.iter().filter_map(|name| repository.type_named(name).ok()).collect();
    let texts = |name: &str| (name.to_owned(), format!("IDL:M/I/{name}:1.0"));
    let (defined_in, version) = ("IDL:M/I:1.0".to_owned(), "1.0".to_owned());
    let parameter = |ty: &TypeCode| CORBA::ParameterDescription {
        name: "given".to_owned(),
        r#type: ty.clone(),
        type_def: None,
        mode: CORBA::ParameterMode::PARAM_INOUT,
    };
    let operations = types.chunks(4).enumerate().map(|(at, types)| {
        let (name, id) = texts(&format!("operation_{at}"));
        CORBA::OperationDescription {
            name,
            id,
            defined_in: defined_in.clone(),
            version: version.clone(),
            result: types[0].clone(),
            mode: CORBA::OperationMode::OP_NORMAL,
            contexts: Vec::new(),
            parameters: types.iter().map(parameter).collect(),
            exceptions: Vec::new(),
        }
    });
    let operations: Vec<_> = operations.collect();
    let attributes = types.iter().enumerate().map(|(at, ty)| {
        let (name, id) = texts(&format!("attribute_{at}"));
        let (defined_in, version) = (defined_in.clone(), version.clone());
        let mode = CORBA::AttributeMode::ATTR_NORMAL;
        CORBA::AttributeDescription { name, id, defined_in, version, r#type: ty.clone(), mode }
    });
    let plain = CORBA::interface_def::FullInterfaceDescription {
        name: "I".to_owned(),
        id: defined_in.clone(),
        defined_in: "IDL:M:1.0".to_owned(),
        version: version.clone(),
        operations: operations.clone(),
        attributes: attributes.collect(),
        base_interfaces: vec!["IDL:M/Account:1.0".to_owned()],
        r#type: types[0].clone(),
    };
    let refused = repository.type_named("M::Account::Refused").expect("it is declared above");
    let (name, id) = texts("attribute");
    let extended = CORBA::ExtAttributeDescription {
        name,
        id,
        defined_in: defined_in.clone(),
        version: version.clone(),
        r#type: types[2].clone(),
        mode: CORBA::AttributeMode::ATTR_READONLY,
        get_exceptions: vec![CORBA::ExceptionDescription {
            name: "Refused".to_owned(),
            id: "IDL:M/Account/Refused:1.0".to_owned(),
            defined_in: "IDL:M/Account:1.0".to_owned(),
            version,
            r#type: refused,
        }],
        put_exceptions: Vec::new(),
    };
    let extended = CORBA::interface_attr_extension::ExtFullInterfaceDescription {
        name: "I".to_owned(),
        id: defined_in,
        defined_in: "IDL:M:1.0".to_owned(),
        version: "1.0".to_owned(),
        operations,
        attributes: vec![extended],
        base_interfaces: Vec::new(),
        r#type: TypeCode::default(),
    };
    vec![[&[0][..], &octets(&extended)].concat(), [&[2][..], &octets(&plain)].concat()]
}

fn octets<T: Encode>(value: &T) -> Vec<u8> {
    let format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };
    let mut to = Encoder::new(format);
    value.encode(&mut to).expect("it can be written");
    to.to_bytes().to_vec()
}

/// Octets to begin with for [`shown`]: anys of all the types.
pub fn shown_seeds() -> Vec<Vec<u8>> {
    let World { orb, repository } = world();
    let notation = Notation::new(orb, repository);
    let anys = written_seeds().into_iter().filter_map(|seed| {
        let ty = repository.type_named(TYPES.get(usize::from(seed[0]))?).ok()?;
        notation.from_argument(std::str::from_utf8(&seed[2..]).ok()?, &ty).ok()
    });
    anys.map(|any| [&[0][..], &octets(&any)].concat()).collect()
}

/// Octets to begin with for [`graph_texts`]: the values of the texts, and some that no text gives.
pub fn graph_text_seeds() -> Vec<Vec<u8>> {
    let World { orb, repository } = world();
    let notation = Notation::new(orb, repository);
    let values = written_seeds().into_iter().filter_map(|seed| {
        let node = match seed[0] {
            14 => 0,
            15 => 2,
            _ => return None,
        };
        let ty = repository.type_named(TYPES[usize::from(seed[0])]).ok()?;
        let value = notation.from_argument(std::str::from_utf8(&seed[2..]).ok()?, &ty).ok()?;
        let mut to = Encoder::new(Format { version: Version::V1_2, code_sets: CodeSets::UNICODE });
        value.encode_value(&mut to).ok()?;
        Some([&[node | seed[1] << 2][..], &to.to_bytes()].concat())
    });
    // Big-endian: a node that may be cut down, of an unknown type, in two chunks with a value between them.
    let far: [&[u8]; 5] = [
        &[if cfg!(target_endian = "little") { 3 } else { 2 }],
        b"\x7f\xff\xff\x0e\0\0\0\x02\0\0\0\x0cIDL:Far:1.0\0\0\0\0\x0fIDL:M/Node:1.0\0\0",
        b"\0\0\0\x10\0\0\0\x02a\0\0\0\0\0\0\0\0\0\0\x09",
        b"\x7f\xff\xff\x0a\xff\xff\xff\xff\xff\xff\xff\xcc\0\0\0\x0c\0\0\0\x02b\0\0\0\0\0\0\0\xff\xff\xff\xfe",
        b"\0\0\0\x02\x01\x02\0\0\xff\xff\xff\xff",
    ];
    values.chain([far.concat()]).collect()
}

/// Octets to begin with for [`object_ids`].
pub fn object_id_seeds() -> Vec<Vec<u8>> {
    ["", "dIDL:M/Point:1.0", "m0 IDL:M/Link:1.0", "tsequence<M::Tree,3>[2]", "tlong"]
        .map(|id| id.as_bytes().to_vec())
        .into()
}
