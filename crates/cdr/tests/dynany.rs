//! DynAnys: values of every kind made, taken apart and put together in both byte orders, and what a peer forges refused.

use bytes::Bytes;
use zorb_cdr::{
    Any, ByteOrder, Char, CodeSets, Decode, Decoder, Described, DynAny, DynAnyError, Encode, EncodeError,
    Encoder, Format, LongDouble, TCKind, TypeCode, TypeRef, Version, WChar,
};

const UNICODE: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn made(describe: impl FnOnce(&mut zorb_cdr::Describer) -> TypeRef) -> DynAny {
    DynAny::new(&TypeCode::build(describe).expect("described")).expect("made")
}

/// What is sent of it, read again and taken apart, is the same; so it is in any alignment.
fn round_trip(value: &DynAny) {
    let any = value.to_any().expect("an any");
    assert!(any.type_code().equal(value.type_code()), "the type is kept with its aliases");
    for before in 0..8 {
        let mut to = Encoder::new(UNICODE);
        to.write_octets(&[0; 8][..before]);
        any.encode(&mut to).expect("sent");
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, UNICODE);
        from.read_octets(before).expect("there");
        let again = DynAny::from_any(&Any::decode(&mut from).expect("received")).expect("taken apart");
        assert_eq!(&again, value);
    }
}

#[test]
fn sequences_of_nothing_are_taken_apart_and_bounded() {
    let mut clock = made(|to| {
        let empty = to.structure("IDL:ee/Empty:1.0", "Empty", |_| Vec::new());
        to.structure("IDL:ee/Clock:1.0", "Clock", |to| vec![("passed", to.sequence(empty, 0))])
    });
    for length in [2, 1024, 0] {
        clock.index(0).expect("a member").set_length(length).expect("as many may be");
        round_trip(&clock);
        let again = DynAny::from_any(&clock.to_any().expect("an any")).expect("taken apart");
        assert_eq!(again, clock);
    }
    let refused = clock.index(0).expect("a member").set_length(1025).expect_err("too many");
    assert!(matches!(refused, DynAnyError::InvalidValue(_)), "{refused}");
}

/// Writes values in the other byte order.
#[derive(Default)]
struct Foreign(Vec<u8>);

impl Foreign {
    fn put<const N: usize>(&mut self, align: usize, native: [u8; N]) {
        while !self.0.len().is_multiple_of(align) {
            self.0.push(0xee);
        }
        self.0.extend(native.iter().rev());
    }

    fn long(&mut self, value: u32) {
        self.put(4, value.to_ne_bytes());
    }

    fn text(&mut self, text: &str) {
        self.long(text.len() as u32 + 1);
        self.0.extend(text.bytes().chain([0]));
    }

    fn read(&self, ty: TypeCode) -> DynAny {
        let octets = Bytes::copy_from_slice(&self.0);
        let mut from = Decoder::new(&octets, ByteOrder::FOREIGN, UNICODE);
        let any = Any::decode_value(ty, &mut from).expect("a value of the type");
        assert_eq!(from.remaining(), 0);
        DynAny::from_any(&any).expect("taken apart")
    }
}

/// A member of each basic kind.
fn basics() -> DynAny {
    made(|to| {
        to.structure("IDL:Basics:1.0", "Basics", |to| {
            vec![
                ("octet", to.basic::<u8>()),
                ("short", to.basic::<i16>()),
                ("ushort", to.basic::<u16>()),
                ("long", to.basic::<i32>()),
                ("ulong", to.basic::<u32>()),
                ("longlong", to.basic::<i64>()),
                ("ulonglong", to.basic::<u64>()),
                ("float", to.basic::<f32>()),
                ("double", to.basic::<f64>()),
                ("longdouble", to.basic::<LongDouble>()),
                ("boolean", to.basic::<bool>()),
                ("char", to.basic::<Char>()),
                ("wchar", to.basic::<WChar>()),
                ("string", to.string(0)),
                ("wstring", to.wstring(0)),
                ("any", to.basic::<Any>()),
                ("type", to.basic::<TypeCode>()),
                ("fixed", to.fixed(5, 2)),
                ("reference", to.interface("IDL:Vault:1.0", "Vault")),
            ]
        })
    })
}

fn put<T: Encode + Described + Decode + PartialEq + std::fmt::Debug>(all: &mut DynAny, name: &str, value: T) {
    let member = all.member(name).expect("a member");
    assert_ne!(member.get::<T>().expect("its type"), value, "{name} starts with something else");
    member.insert(&value).expect("its type");
    assert_eq!(member.get::<T>().expect("its type"), value, "{name}");
    let wrong = member.insert(&vec![value]).expect_err("a sequence of these");
    assert!(matches!(wrong, DynAnyError::TypeMismatch { .. }), "{wrong}");
}

/// A reference to nothing in particular, of a derived interface.
struct Reference;

impl Described for Reference {
    fn describe(to: &mut zorb_cdr::Describer) -> TypeRef {
        to.interface("IDL:SafeVault:1.0", "SafeVault")
    }
}

impl Encode for Reference {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_raw_string(b"IDL:SafeVault:1.0")?;
        to.write_length(1)?;
        to.write_u32(0);
        to.write_octet_sequence(&[1, 2, 3])
    }
}

#[test]
fn every_basic_kind_is_put_in_and_taken_out() {
    let mut all = basics();
    round_trip(&all);
    put(&mut all, "octet", 200u8);
    put(&mut all, "short", -2i16);
    put(&mut all, "ushort", 60_000u16);
    put(&mut all, "long", i32::MIN);
    put(&mut all, "ulong", u32::MAX);
    put(&mut all, "longlong", i64::MIN);
    put(&mut all, "ulonglong", u64::MAX);
    put(&mut all, "float", -0.25f32);
    put(&mut all, "double", 1e300f64);
    put(&mut all, "longdouble", LongDouble::from(0.1));
    put(&mut all, "boolean", true);
    put(&mut all, "char", Char(b'z'));
    put(&mut all, "wchar", WChar(0x20ac));
    put(&mut all, "string", String::from("naïve"));
    put(&mut all, "any", Any::new(&7i32).expect("an any"));
    put(&mut all, "type", String::type_code());
    all.member("wstring").expect("there").insert_wstring("€ 5").expect("text");
    assert_eq!(all.member("wstring").expect("there").wstring().expect("text"), "€ 5");
    assert!(all.member("wstring").expect("there").insert_string("5").is_err());
    assert!(all.member("fixed").expect("there").set_fixed("-12.5d").expect("a number"));
    assert_eq!(all.member("fixed").expect("there").fixed().expect("a number").to_string(), "-12.5");
    let reference = Any::new(&Reference).expect("an any");
    let member = all.member("reference").expect("there");
    member.insert_reference(&reference).expect("a reference of a derived interface");
    let got = member.reference().expect("a reference");
    assert_eq!(got.type_code().id(), Some("IDL:Vault:1.0"), "the member keeps its type");
    assert_eq!(got.decoder().read_raw_string().expect("its id"), b"IDL:SafeVault:1.0");
    assert!(member.insert_reference(&Any::EMPTY).is_err());
    round_trip(&all);

    let mut other = basics();
    assert_ne!(other, all);
    other.assign(&all).expect("the same type");
    assert_eq!(other, all);
    other.member("double").expect("there").insert(&1.5f64).expect("a double");
    assert_ne!(other, all, "a copy of its own");
    assert_eq!(all.member("double").expect("there").get::<f64>().expect("a double"), 1e300);
    other.assign_any(&all.to_any().expect("an any")).expect("the same type");
    assert_eq!(other, all.clone());
    assert!(matches!(other.assign(&made(|to| to.basic::<u8>())), Err(DynAnyError::TypeMismatch { .. })));
    let text = format!("{all:?}");
    assert!(text.starts_with("Basics { octet: 200, short: -2,") && text.contains("fixed: -12.5"), "{text}");
}

#[test]
fn the_other_byte_order_is_taken_apart() {
    let mut to = Foreign::default();
    to.put(1, [200]);
    to.put(2, (-2i16).to_ne_bytes());
    to.put(2, 60_000u16.to_ne_bytes());
    to.put(4, i32::MIN.to_ne_bytes());
    to.put(4, 7u32.to_ne_bytes());
    to.put(8, (-7i64).to_ne_bytes());
    to.put(8, 8u64.to_ne_bytes());
    to.put(4, 0.5f32.to_ne_bytes());
    to.put(8, 2.5f64.to_ne_bytes());
    to.put(8, LongDouble::from(1.5).to_bits().to_ne_bytes());
    to.put(1, [1]);
    to.put(1, [b'c']);
    to.0.extend([2, 0x20, 0xac]);
    to.text("text");
    to.long(4);
    to.0.extend([0, b'o', 0, b'k']);
    // An any of sequence<short>.
    to.long(19);
    to.long(12);
    to.0.extend([ByteOrder::FOREIGN.flag(), 0, 0, 0]);
    to.long(2);
    to.long(0);
    to.long(2);
    to.put(2, 1i16.to_ne_bytes());
    to.put(2, 2i16.to_ne_bytes());
    // The TypeCode of double, 1.50, nil.
    to.long(7);
    to.0.extend([0x00, 0x15, 0x0c]);
    to.text("");
    to.long(0);
    let mut all = to.read(basics().type_code().clone());
    assert_eq!(all.member("octet").expect("there").get::<u8>().expect("an octet"), 200);
    assert_eq!(all.member("long").expect("there").get::<i32>().expect("a long"), i32::MIN);
    assert_eq!(all.member("longlong").expect("there").get::<i64>().expect("a long long"), -7);
    assert_eq!(all.member("double").expect("there").get::<f64>().expect("a double"), 2.5);
    assert_eq!(
        all.member("longdouble").expect("there").get::<LongDouble>().expect("one"),
        LongDouble::from(1.5)
    );
    assert_eq!(all.member("wchar").expect("there").get::<WChar>().expect("a wchar"), WChar(0x20ac));
    assert_eq!(all.member("wstring").expect("there").wstring().expect("text"), "ok");
    let inner = all.member("any").expect("there").get::<Any>().expect("an any");
    let mut inner = DynAny::from_any(&inner).expect("taken apart");
    assert_eq!(inner.index(1).expect("there").get::<i16>().expect("a short"), 2);
    assert_eq!(all.member("fixed").expect("there").fixed().expect("one").to_string(), "1.50");
    round_trip(&all);
}

#[test]
fn what_starts_as_the_specification_says() {
    let mut all = basics();
    assert_eq!(all.component_count(), 19);
    assert_eq!(all.position(), Some(0));
    for name in ["string", "wstring"] {
        let member = all.member(name).expect("there");
        assert_eq!((member.component_count(), member.position()), (0, None));
    }
    assert_eq!(all.member("boolean").expect("there").get::<bool>().ok(), Some(false));
    assert_eq!(all.member("any").expect("there").get::<Any>().ok(), Some(Any::EMPTY));
    assert_eq!(all.member("type").expect("there").get::<TypeCode>().ok(), Some(TypeCode::NULL));
    assert_eq!(all.member("fixed").expect("there").fixed().map(|it| it.to_string()).ok(), Some("0".into()));
    let empty = made(|to| to.exception("IDL:Empty:1.0", "Empty", |_| Vec::new()));
    assert_eq!((empty.component_count(), empty.position()), (0, None));
    round_trip(&empty);
    for kind in [TCKind::Null, TCKind::Void] {
        round_trip(&DynAny::new(&TypeCode::basic(kind).expect("basic")).expect("made"));
    }
    for kind in [TCKind::Native, TCKind::LocalInterface] {
        let ty = TypeCode::build(|to| to.named(kind, "IDL:N:1.0", "N")).expect("described");
        let error = DynAny::new(&ty).expect_err("not to be had");
        assert!(matches!(error, DynAnyError::InconsistentTypeCode { .. }), "{error}");
    }
    assert!(DynAny::new(&TypeCode::basic(TCKind::Principal).expect("basic")).is_err());
    for kind in [TCKind::Component, TCKind::Home, TCKind::AbstractInterface] {
        round_trip(&made(|to| to.named(kind, "IDL:N:1.0", "N")));
    }
    // Values are null.
    round_trip(&made(|to| to.value("IDL:V:1.0", "V", 0, |to| (None, vec![("x", to.basic::<i32>(), 1)]))));
    round_trip(&made(|to| {
        let text = to.string(0);
        to.value_box("IDL:B:1.0", "B", text)
    }));
}

#[test]
fn a_position_goes_from_component_to_component() {
    let mut point = made(|to| {
        to.structure("IDL:P:1.0", "P", |to| vec![("x", to.basic::<f64>()), ("n", to.basic::<i32>())])
    });
    assert_eq!(point.current_member_name().expect("x"), "x");
    assert_eq!(point.current_member_kind().expect("x"), TCKind::Double);
    point.insert(&1.5f64).expect("the current component's type");
    assert_eq!(point.position(), Some(0), "it stays");
    let error = point.insert(&7i32).expect_err("another type");
    assert_eq!(error.to_string(), "a value of type double is not long");
    assert!(point.next());
    point.insert(&7i32).expect("the current component's type");
    assert_eq!(point.get::<i32>().expect("a long"), 7);
    assert!(matches!(point.get::<f64>(), Err(DynAnyError::TypeMismatch { .. })));
    assert!(!point.next());
    assert_eq!(point.position(), None);
    assert!(!point.next(), "it stays without");
    assert!(matches!(point.get::<i32>(), Err(DynAnyError::InvalidValue(_))));
    assert!(matches!(point.current_component(), Err(DynAnyError::InvalidValue(_))));
    assert!(point.current_member_name().is_err());
    assert!(point.seek(1) && !point.seek(2));
    assert_eq!(point.position(), None);
    assert!(point.rewind());
    assert_eq!(point.current_component().expect("x").get::<f64>().expect("a double"), 1.5);
    assert!(matches!(point.index(2), Err(DynAnyError::InvalidValue(_))));

    let mut number = made(|to| to.basic::<i32>());
    assert!(!number.rewind() && !number.next());
    assert!(matches!(number.current_component(), Err(DynAnyError::TypeMismatch { .. })));
    assert!(matches!(number.index(0), Err(DynAnyError::TypeMismatch { .. })));
    assert!(matches!(number.member("x"), Err(DynAnyError::TypeMismatch { .. })));
    assert!(number.components().is_err() && number.ordinal().is_err() && number.fixed().is_err());
    assert!(number.discriminator().is_err() && number.set_length(0).is_err() && number.elements().is_err());
    assert!(number.string().is_err() && number.members().is_err() && number.push().is_err());

    for part in point.components().expect("two") {
        if part.type_code().kind() == TCKind::Double {
            part.insert(&2.5f64).expect("a double");
        }
    }
    assert_eq!(point.index(0).expect("x").get::<f64>().expect("a double"), 2.5);
}

#[test]
fn members_have_names() {
    let mut refused = made(|to| {
        to.exception("IDL:R:1.0", "R", |to| vec![("why", to.string(8)), ("code", to.basic::<i16>())])
    });
    assert_eq!(refused.member_names().expect("names").collect::<Vec<_>>(), ["why", "code"]);
    let why = Any::with_type_code(TypeCode::string(8), "because").expect("an any");
    let code = Any::new(&4i16).expect("an any");
    refused.set_members([("why", &why), ("", &code)]).expect("the members");
    let members = refused.members().expect("the members");
    assert_eq!(members, [("why".into(), why.clone()), ("code".into(), code.clone())]);
    round_trip(&refused);
    let before = refused.clone();
    let error = refused.set_members([("why", &why)]).expect_err("one short");
    assert!(matches!(error, DynAnyError::InvalidValue(_)), "{error}");
    for wrong in [[("code", &why), ("why", &code)], [("why", &code), ("code", &why)]] {
        let error = refused.set_members(wrong).expect_err("wrong");
        assert!(matches!(error, DynAnyError::TypeMismatch { .. }), "{error}");
    }
    assert_eq!(refused, before);
    assert!(matches!(refused.member("whom"), Err(DynAnyError::InvalidValue(_))));
    let long = refused.member("why").expect("there").insert_string("too long by far").expect_err("bounded");
    assert_eq!(long.to_string(), "text of more than 8 characters in a bounded string");
    assert!(refused.member("why").expect("there").insert_string("a\0b").is_err());
    assert_eq!(refused.member("why").expect("there").string().expect("text"), "because");
}

fn colour(to: &mut zorb_cdr::Describer) -> TypeRef {
    to.enumeration("IDL:Colour:1.0", "Colour", &["RED", "GREEN", "BLUE"])
}

#[test]
fn enumerators_go_by_name_and_number() {
    let mut value = made(colour);
    assert_eq!((value.enumerator().expect("an enum"), value.ordinal().expect("an enum")), ("RED", 0));
    value.set_enumerator("BLUE").expect("there is one");
    assert_eq!(value.ordinal().expect("an enum"), 2);
    round_trip(&value);
    value.set_ordinal(1).expect("there is one");
    assert_eq!(value.enumerator().expect("an enum"), "GREEN");
    assert!(matches!(value.set_ordinal(3), Err(DynAnyError::InvalidValue(_))));
    assert!(matches!(value.set_enumerator("PINK"), Err(DynAnyError::InvalidValue(_))));
    assert_eq!((value.ordinal().expect("as before"), value.position()), (1, None));
    assert!(matches!(value.insert(&1u32), Err(DynAnyError::TypeMismatch { .. })));
}

#[test]
fn decimals_keep_what_their_scale_holds() {
    let mut value = made(|to| to.fixed(5, 2));
    assert!(value.set_fixed("999.99").expect("held"));
    assert!(!value.set_fixed(" 1.239D").expect("cut off"));
    assert_eq!(value.fixed().expect("a fixed").to_string(), "1.23");
    round_trip(&value);
    assert!(matches!(value.set_fixed("1000"), Err(DynAnyError::InvalidValue(_))));
    assert!(matches!(value.set_fixed("one"), Err(DynAnyError::TypeMismatch { .. })));
    assert!(matches!(value.set_fixed(&"9".repeat(32)), Err(DynAnyError::InvalidValue(_))));
    assert_eq!(value.fixed().expect("as before").to_string(), "1.23");
    let mut whole = made(|to| to.fixed(31, 0));
    assert!(whole.set_fixed(&"9".repeat(31)).expect("held"));
    let mut below = made(|to| to.fixed(2, 2));
    assert!(below.set_fixed("-.99").expect("held") && below.set_fixed("1").is_err());
    round_trip(&below);
}

/// `union Choice switch (Colour) { case RED: case GREEN: string text; default: long number; };`
fn choice(to: &mut zorb_cdr::Describer) -> TypeRef {
    to.union("IDL:Choice:1.0", "Choice", Some(2), |to| {
        let (text, number) = (to.string(0), to.basic::<i32>());
        (colour(to), vec![(0, "text", text), (1, "text", text), (0, "number", number)])
    })
}

#[test]
fn a_union_has_the_member_that_its_discriminator_selects() {
    let mut value = made(choice);
    assert_eq!((value.component_count(), value.position()), (2, Some(0)));
    assert_eq!(value.active_member_name().expect("one"), "text");
    assert_eq!(value.active_member_kind().expect("one"), TCKind::String);
    assert!(!value.has_no_active_member().expect("a union"));
    value.active_member().expect("text").insert_string("red").expect("text");
    round_trip(&value);

    // Another label of the same member.
    let mut switch = made(colour);
    switch.set_enumerator("GREEN").expect("there is one");
    value.set_discriminator(&switch).expect("its type");
    assert_eq!(value.position(), Some(1));
    assert_eq!(value.member("text").expect("active").string().expect("text"), "red");
    round_trip(&value);
    let error = value.member("number").expect_err("not active").to_string();
    assert_eq!(error, r#"the union's active member is "text", not "number""#);

    switch.set_enumerator("BLUE").expect("there is one");
    value.set_discriminator(&switch).expect("its type");
    assert_eq!(value.member("number").expect("active").get::<i32>().expect("a long"), 0);
    value.insert(&5i32).expect("the current component's type");
    value.set_to_default_member().expect("there is one");
    assert_eq!((value.position(), value.discriminator().expect("it").ordinal().expect("BLUE")), (Some(0), 2));
    assert_eq!(value.member("number").expect("active").get::<i32>().expect("kept"), 5);
    assert!(matches!(value.set_to_no_active_member(), Err(DynAnyError::TypeMismatch { .. })));
    assert!(value.set_discriminator(&made(|to| to.basic::<u32>())).is_err());

    value.select("text").expect("there is one").insert_string("again").expect("text");
    assert_eq!(value.discriminator().expect("it").enumerator().expect("an enum"), "RED");
    assert!(value.select("colour").is_err());
    assert_eq!(value.select("number").expect("there is one").get::<i32>().expect("anew"), 0);
    assert_eq!(format!("{value:?}"), "Choice { switch: BLUE, number: 0 }");
}

#[test]
fn a_union_is_filled_from_its_discriminator_on() {
    let mut value = made(choice);
    value.member("text").expect("active").insert_string("red").expect("text");
    // The member follows the discriminator, whoever changed that.
    value.current_component().expect("the discriminator").set_enumerator("BLUE").expect("there is one");
    assert_eq!(value.active_member_name().expect("one"), "number");
    let mut sent = DynAny::from_any(&value.to_any().expect("an any")).expect("taken apart");
    assert_eq!(sent.member("number").expect("active").get::<i32>().expect("a long"), 0);
    assert!(value.next());
    assert_eq!(value.get::<i32>().expect("a long"), 0);
    value.insert(&9i32).expect("a long");
    round_trip(&value);
    value.index(0).expect("the discriminator").set_ordinal(0).expect("RED");
    assert_eq!(value.member("text").expect("active").string().expect("anew"), "");
}

#[test]
fn a_union_may_have_no_member() {
    let describe = |to: &mut zorb_cdr::Describer| {
        to.union("IDL:Maybe:1.0", "Maybe", None, |to| {
            (to.basic::<i16>(), vec![(-3, "text", to.string(0)), (0, "wide", to.basic::<i64>())])
        })
    };
    let mut value = made(describe);
    assert_eq!(value.discriminator().expect("it").get::<i16>().expect("a short"), -3);
    value.set_to_no_active_member().expect("there are labels left");
    assert_eq!((value.component_count(), value.position()), (1, Some(0)));
    assert_eq!(value.discriminator().expect("it").get::<i16>().expect("a short"), 1);
    assert!(value.has_no_active_member().expect("a union"));
    assert!(matches!(value.active_member(), Err(DynAnyError::InvalidValue(_))));
    assert!(value.active_member_name().is_err() && value.active_member_kind().is_err());
    assert!(matches!(value.set_to_default_member(), Err(DynAnyError::TypeMismatch { .. })));
    round_trip(&value);
    assert_eq!(format!("{value:?}"), "Maybe { switch: 1 }");
    value.insert(&0i16).expect("the discriminator is current");
    assert_eq!(value.component_count(), 2);
    assert!(value.next());
    value.insert(&-1i64).expect("a long long");
    round_trip(&value);
    // Every switch of a boolean is taken.
    let mut both = made(|to| {
        to.union("IDL:Both:1.0", "Both", None, |to| {
            (to.basic::<bool>(), vec![(1, "yes", to.basic::<u8>()), (0, "no", to.basic::<u8>())])
        })
    });
    assert!(both.discriminator().expect("it").get::<bool>().expect("a boolean"));
    assert!(matches!(both.set_to_no_active_member(), Err(DynAnyError::TypeMismatch { .. })));
    round_trip(both.select("no").expect("there is one"));
    round_trip(&both);
}

#[test]
fn unions_switch_on_every_type_that_they_may() {
    type Part = fn(&mut zorb_cdr::Describer) -> TypeRef;
    let switches: [(Part, i64); 11] = [
        (|to| to.basic::<i16>(), -1),
        (|to| to.basic::<u16>(), 40_000),
        (|to| to.basic::<i32>(), i64::from(i32::MIN)),
        (|to| to.basic::<u32>(), i64::from(u32::MAX)),
        (|to| to.basic::<i64>(), i64::MIN),
        (|to| to.basic::<u64>(), -1),
        (|to| to.basic::<bool>(), 1),
        (|to| to.basic::<Char>(), 200),
        (|to| to.basic::<u8>(), 255),
        (|to| to.basic::<WChar>(), 0x20ac),
        (colour, 2),
    ];
    for (switch, label) in switches {
        let mut value = made(|to| {
            let alias = switch(to);
            let switch = to.alias("IDL:Switch:1.0", "Switch", alias);
            let text = to.string(0);
            to.union("IDL:U:1.0", "U", Some(1), |_| (switch, vec![(label, "text", text), (0, "rest", text)]))
        });
        assert_eq!(value.active_member_name().expect("the first"), "text");
        value.select("text").expect("there is one").insert_string("abc").expect("text");
        round_trip(&value);
        value.set_to_default_member().expect("there is one");
        assert_eq!(value.member("rest").expect("active").string().expect("text"), "");
        round_trip(&value);
    }
}

#[test]
fn a_sequence_grows_and_shrinks() {
    let mut texts = made(|to| {
        let text = to.string(0);
        to.sequence(text, 4)
    });
    assert_eq!((texts.component_count(), texts.position()), (0, None));
    round_trip(&texts);
    texts.set_length(2).expect("two");
    assert_eq!(texts.position(), Some(0), "the first of the new ones");
    assert!(texts.next());
    texts.insert_string("second").expect("text");
    texts.push().expect("a third").insert_string("third").expect("text");
    assert_eq!((texts.component_count(), texts.position()), (3, Some(1)));
    round_trip(&texts);
    assert_eq!(texts.get::<Vec<String>>().ok(), None, "bounded and unbounded are not equivalent");
    texts.set_length(1).expect("one");
    assert_eq!(texts.position(), None, "it went");
    texts.set_length(2).expect("two");
    assert_eq!((texts.position(), texts.string().expect("text")), (Some(1), String::new()));
    assert!(matches!(texts.set_length(5), Err(DynAnyError::InvalidValue(_))));
    let four: Vec<Any> = ["a", "b", "c", "d"].iter().map(|it| Any::new(*it).expect("an any")).collect();
    texts.set_elements(&four).expect("four");
    assert_eq!((texts.elements().expect("four"), texts.position()), (four.clone(), Some(0)));
    assert!(matches!(texts.push(), Err(DynAnyError::InvalidValue(_))));
    assert!(matches!(
        texts.set_elements(four.iter().chain(&four).collect::<Vec<_>>()),
        Err(DynAnyError::InvalidValue(_))
    ));
    let wrong = Any::new(&1u8).expect("an any");
    assert!(matches!(texts.set_elements([&wrong]), Err(DynAnyError::TypeMismatch { .. })));
    assert_eq!(texts.elements().expect("as before"), four);
    texts.set_elements([]).expect("none");
    assert_eq!((texts.component_count(), texts.position()), (0, None));
}

#[test]
fn numbers_stay_in_one_piece_until_one_is_asked_for() {
    let numbers: Vec<i32> = (0..1000).collect();
    let any = Any::new(&numbers).expect("an any");
    let mut value = DynAny::from_any(&any).expect("taken apart");
    assert_eq!(format!("{value:?}"), "<sequence of 1000>");
    assert_eq!((value.component_count(), value.position()), (1000, Some(0)));
    assert!(value.seek(999));
    assert_eq!(value.get::<i32>().expect("a long"), 999);
    assert_eq!(value.get::<Vec<i32>>().expect("all"), numbers);
    assert!(format!("{value:?}").starts_with('<'), "nothing was taken apart for that");
    assert_eq!(value.elements().expect("all")[7].get::<i32>().expect("a long"), 7);
    value.insert(&-1i32).expect("the last");
    assert_eq!(value.index(998).expect("there").get::<i32>().expect("a long"), 998);
    let whole = DynAny::from_any(&any).expect("taken apart");
    assert_ne!(whole, value);
    value.insert(&999i32).expect("the last");
    assert_eq!(whole, value, "in one piece or in many");
    round_trip(&value);
    value.set_length(3).expect("three");
    assert_eq!(value.get::<Vec<i32>>().expect("all"), [0, 1, 2]);
    value.insert(&vec![5i32]).expect("a whole sequence");
    assert_eq!(value.component_count(), 1);

    // More than are taken apart; whole they are had as ever.
    let any = Any::new(&vec![3u8; 2 << 20]).expect("an any");
    let mut many = DynAny::from_any(&any).expect("in one piece");
    assert!(many.seek((2 << 20) - 1) && many.get::<u8>().expect("an octet") == 3);
    assert_eq!(many.get::<Vec<u8>>().expect("all").len(), 2 << 20);
    assert!(matches!(many.index(0), Err(DynAnyError::InvalidValue(_))));
    assert_eq!(many.to_any().expect("an any"), any);

    // In the other byte order, behind alignment.
    let mut to = Foreign::default();
    to.long(2);
    to.put(8, 1.5f64.to_ne_bytes());
    to.put(8, (-1.5f64).to_ne_bytes());
    let mut value = to.read(Vec::<f64>::type_code());
    assert!(value.next());
    assert_eq!(value.get::<f64>().expect("a double"), -1.5);
    assert_eq!(value.index(0).expect("there").get::<f64>().expect("a double"), 1.5);
    round_trip(&value);
}

#[test]
fn an_array_has_its_length() {
    let mut grid = made(|to| {
        let short = to.basic::<i16>();
        let row = to.array(short, 3);
        to.array(row, 2)
    });
    assert_eq!((grid.component_count(), grid.position()), (2, Some(0)));
    grid.index(1).expect("a row").index(2).expect("a cell").insert(&6i16).expect("a short");
    assert_eq!(grid.get::<[[i16; 3]; 2]>().expect("the grid"), [[0, 0, 0], [0, 0, 6]]);
    round_trip(&grid);
    grid.insert(&[1i16, 2, 3]).expect("the current row");
    assert_eq!(grid.get::<[[i16; 3]; 2]>().expect("the grid"), [[1, 2, 3], [0, 0, 6]]);
    let again = DynAny::from_any(&grid.to_any().expect("an any")).expect("taken apart");
    assert_eq!(again, grid);
    assert!(matches!(grid.set_length(3), Err(DynAnyError::TypeMismatch { .. })));
    let row = Any::new(&[7i16, 8, 9]).expect("an any");
    assert!(matches!(grid.set_elements([&row]), Err(DynAnyError::InvalidValue(_))));
    grid.set_elements([&row, &row]).expect("two rows");
    assert_eq!(grid.get::<[[i16; 3]; 2]>().expect("the grid"), [[7, 8, 9], [7, 8, 9]]);
    assert_eq!(grid.elements().expect("two"), [row.clone(), row]);
}

#[test]
fn aliases_are_looked_through_and_kept() {
    let mut name = made(|to| {
        let text = to.string(0);
        let name = to.alias("IDL:Name:1.0", "Name", text);
        let names = to.sequence(name, 0);
        to.alias("IDL:Names:1.0", "Names", names)
    });
    assert_eq!(name.type_code().name(), Some("Names"));
    name.push().expect("one").insert("one").expect("text");
    assert_eq!(name.index(0).expect("there").type_code().name(), Some("Name"));
    assert_eq!(name.get::<Vec<String>>().expect("names"), ["one"]);
    name.assign_any(&Any::new(&vec![String::from("two")]).expect("an any")).expect("equivalent");
    assert_eq!(name.type_code().name(), Some("Names"), "the type stays");
    round_trip(&name);
    let plain =
        DynAny::from_any(&Any::new(&vec![String::from("two")]).expect("an any")).expect("taken apart");
    assert_eq!(name, plain);
    let mut other = plain.clone();
    other.assign(&name).expect("equivalent");
    assert_eq!(other.type_code().name(), None);
}

/// What omniORB (little-endian) and JacORB (big-endian) sent: see `peers.rs`.
#[test]
fn anys_of_peers_are_taken_apart_and_put_together() {
    let captures = [
        (include_str!("omniorb_anys.txt"), ByteOrder::Little),
        (include_str!("jacorb_anys.txt"), ByteOrder::Big),
    ];
    for (text, order) in captures {
        for line in text.lines() {
            let (name, hex) = line.split_once(' ').expect("a name and octets");
            let octets: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
                .collect();
            let any = Any::decode(&mut Decoder::from_slice(&octets, order, UNICODE)).expect("an any");
            let mut value = DynAny::from_any(&any).expect("taken apart");
            assert_eq!(value.to_any().expect("an any"), any, "{name} {order:?}");
            round_trip(&value);
            if name == "tree" {
                assert_eq!(value.member("paint").expect("there").enumerator().expect("an enum"), "GREEN");
                let children = value.member("children").expect("there");
                let deep = children.index(1).and_then(|it| it.member("children")).and_then(|it| it.index(1));
                let brief =
                    deep.and_then(|it| it.member("names")).and_then(|it| it.index(1)).expect("a name");
                assert_eq!(brief.string().expect("text"), "bcd");
                brief.insert_string("fives").expect("text of five");
                assert!(brief.insert_string("sixes.").is_err());
                assert_ne!(value.to_any().expect("an any"), any);
                round_trip(&value);
            }
        }
    }
}

#[test]
fn components_keep_their_types() {
    let mut pair = made(|to| {
        to.structure("IDL:Pair:1.0", "Pair", |to| vec![("a", to.basic::<i32>()), ("b", to.basic::<u32>())])
    });
    *pair.member("a").expect("there") = made(|to| to.basic::<u32>());
    let error = pair.to_any().expect_err("it would read as something else").to_string();
    assert!(error.contains("a component was replaced by one of another type"), "{error}");
}

#[test]
fn what_never_ends_is_refused() {
    let refused = |ty: &TypeCode| {
        let error = DynAny::new(ty).expect_err("refused");
        assert!(matches!(error, DynAnyError::InconsistentTypeCode { .. }), "{error}");
    };
    refused(
        &TypeCode::build(|to| {
            to.structure("IDL:S:1.0", "S", |to| vec![("s", to.structure("IDL:S:1.0", "S", |_| Vec::new()))])
        })
        .expect("described"),
    );
    refused(
        &TypeCode::build(|to| {
            let octet = to.basic::<u8>();
            to.array(octet, u32::MAX)
        })
        .expect("described"),
    );
    refused(
        &TypeCode::build(|to| {
            let mut of = to.basic::<bool>();
            for _ in 0..60 {
                of = to.structure("", "Two", |_| vec![("a", of), ("b", of)]);
            }
            of
        })
        .expect("described"),
    );
    refused(
        &TypeCode::build(|to| {
            let mut of = to.structure("", "Nothing", |_| Vec::new());
            for _ in 0..3 {
                of = to.array(of, 1 << 20);
            }
            of
        })
        .expect("described"),
    );
    let mut flags = made(|to| {
        let flag = to.basic::<bool>();
        to.sequence(flag, 0)
    });
    assert!(flags.set_length(usize::MAX).is_err() && flags.set_length(u32::MAX as usize).is_err());
    assert_eq!(flags.component_count(), 0, "nothing was made");
}

fn tree() -> TypeCode {
    TypeCode::build(|to| {
        to.structure("IDL:T:1.0", "T", |to| {
            let itself = to.structure("IDL:T:1.0", "T", |_| Vec::new());
            vec![("flag", to.basic::<bool>()), ("below", to.sequence(itself, 0))]
        })
    })
    .expect("described")
}

/// Puts a tree below it, and one below that, as long as it may; so many there are then.
fn grown(tree: &mut DynAny, levels: usize) -> usize {
    assert!(levels < 1000, "there is an end");
    match tree.member("below").expect("there").push() {
        Ok(below) => grown(below, levels + 1),
        Err(error) => {
            assert!(matches!(error, DynAnyError::InconsistentTypeCode { .. }), "{error}");
            levels
        }
    }
}

fn deepest(tree: &mut DynAny) -> &mut DynAny {
    match tree.member("below").expect("there").component_count() {
        0 => tree,
        _ => deepest(tree.member("below").and_then(|it| it.index(0)).expect("there")),
    }
}

#[test]
fn a_tree_nests_to_the_limit_only() {
    let mut root = DynAny::new(&tree()).expect("made");
    let levels = grown(&mut root, 1);
    assert_eq!(levels, 128, "two components deep a level");
    assert_eq!(DynAny::from_any(&root.to_any().expect("an any")).expect("taken apart"), root);
    // What is assigned counts from where it stands then.
    let mut row = made(|to| {
        let tree = to.type_code(&tree());
        to.array(tree, 2)
    });
    assert_eq!(grown(row.index(0).expect("two"), 1), 127);
    let mut other = row.clone();
    let first = other.index(0).expect("two");
    let second = row.index(1).expect("two");
    for from in [first.clone(), std::mem::replace(first, second.clone())] {
        second.assign(&from).expect("its type");
        assert_eq!(grown(deepest(second), 1), 1, "no more than it had");
    }
    let mut within = made(|to| {
        let tree = to.type_code(&tree());
        let row = to.array(tree, 1);
        let grid = to.array(row, 1);
        to.array(grid, 1)
    });
    let deeper = within.index(0).and_then(|it| it.index(0)?.index(0)).expect("there");
    assert!(matches!(deeper.assign(second), Err(DynAnyError::InvalidValue(_))), "it would be too deep there");
    // A part alone begins anew.
    let mut part = root.member("below").expect("there").index(0).expect("there").clone();
    assert_eq!(DynAny::from_any(&part.to_any().expect("an any")).expect("taken apart"), part);
    // As a whole it cannot be put where it would pass the limit.
    let deep = root.to_any().expect("an any");
    let error = part.member("below").expect("there").index(0).expect("there").assign_any(&deep);
    assert!(matches!(error, Err(DynAnyError::InvalidValue(_))));
    // Nor swapped there and sent.
    *part.member("below").expect("there").index(0).expect("there") = root.clone();
    assert!(part.to_any().is_err());
}

#[test]
fn a_count_is_not_believed() {
    let mut octets = Vec::new();
    let mut to = Encoder::new(UNICODE);
    Vec::<bool>::type_code().encode_owned(&mut to).expect("a type");
    to.write_u32(u32::MAX);
    to.slices().for_each(|slice| octets.extend_from_slice(slice));
    octets.extend([1; 64]);
    assert!(Any::decode(&mut Decoder::from_slice(&octets, ByteOrder::NATIVE, UNICODE)).is_err());

    // Elements that take no octets have a limit of their own, whatever follows.
    let nothings = TypeCode::build(|to| {
        let nothing = to.structure("IDL:Nothing:1.0", "Nothing", |_| Vec::new());
        to.sequence(nothing, 0)
    })
    .expect("described");
    let read = |count: u32| {
        let mut to = Encoder::new(UNICODE);
        to.write_u32(count);
        to.write_octets(&[0; 50]);
        let octets = to.to_bytes();
        Any::decode_value(nothings.clone(), &mut Decoder::new(&octets, ByteOrder::NATIVE, UNICODE))
    };
    let fifty = DynAny::from_any(&read(50).expect("an any")).expect("taken apart");
    assert_eq!(fifty.component_count(), 50);
    for count in [1025, u32::MAX] {
        let error = read(count).expect_err("refused");
        assert!(error.to_string().contains("1024"), "{error}");
    }
}

/// `valuetype Node { public long x; public Node next; };`
fn node(to: &mut zorb_cdr::Describer) -> TypeRef {
    to.value("IDL:Node:1.0", "Node", 0, |to| {
        let next = to.value("IDL:Node:1.0", "Node", 0, |_| (None, Vec::new()));
        (None, vec![("x", to.basic::<i32>(), 1), ("next", next, 1)])
    })
}

#[test]
fn values_are_made_and_taken_apart() {
    let mut list = made(node);
    assert!(list.is_null().expect("a value"));
    assert_eq!((list.component_count(), list.position()), (0, None));
    assert!(matches!(list.index(0), Err(DynAnyError::InvalidValue(_))) && list.members().is_err());
    list.set_to_value().expect("it is described");
    assert_eq!((list.component_count(), list.position()), (2, Some(0)));
    assert_eq!(list.member_names().expect("names").collect::<Vec<_>>(), ["x", "next"]);
    assert_eq!(list.current_member_name().expect("x"), "x");
    list.insert(&7i32).expect("x");
    round_trip(&list);
    let next = list.member("next").expect("there");
    next.set_to_value().expect("it is described");
    next.member("x").expect("there").insert(&8i32).expect("a long");
    round_trip(&list);

    let any = list.to_any().expect("an any");
    let mut again = DynAny::from_any(&any).expect("whole");
    assert_eq!((again.component_count(), again.get::<i32>().expect("x")), (2, 7));
    assert_eq!(again.members().expect("two")[0].1.get::<i32>().expect("a long"), 7);
    assert_eq!(again.to_any().expect("an any"), any);
    assert_eq!(again.member("next").and_then(|it| it.member("x")?.get::<i32>()).expect("a long"), 8);
    assert_eq!(again, list);
    again.member("next").and_then(|it| it.set_to_null()).expect("a value");
    assert_ne!(again, list);
    round_trip(&again);
    let members = list.members().expect("two");
    again.set_to_null().expect("a value");
    assert!(again.is_null().expect("a value"));
    again.set_members(members.iter().map(|(name, value)| (&**name, value)).collect::<Vec<_>>()).expect("two");
    assert_eq!(again, list);
    again.set_to_value().expect("it is one");
    assert_eq!(again, list, "as it was");

    let mut boxed = made(|to| {
        let text = to.string(0);
        to.value_box("IDL:Text:1.0", "Text", text)
    });
    boxed.set_to_value().expect("it is described");
    boxed.insert_string("boxed").expect("what it holds");
    round_trip(&boxed);
    let mut whole = DynAny::from_any(&boxed.to_any().expect("an any")).expect("whole");
    assert_eq!(whole.string().expect("text"), "boxed");
    assert_eq!(whole.index(0).expect("one").string().expect("text"), "boxed");

    // Deep inside of other types.
    let mut deep = made(|to| {
        let inner = node(to);
        let row = to.array(inner, 2);
        to.structure("IDL:Deep:1.0", "Deep", |to| {
            vec![("flag", to.basic::<u8>()), ("row", to.sequence(row, 0))]
        })
    });
    let row = deep.member("row").expect("there").push().expect("a row");
    row.index(1).expect("two").assign(&list).expect("its type");
    round_trip(&deep);
    assert!(deep.is_null().is_err() && deep.set_to_value().is_err() && deep.set_to_null().is_err());
    // And in an any that stands in another.
    let outer = DynAny::from_any(&Any::new(&vec![deep.to_any().expect("an any")]).expect("an any"));
    round_trip(&outer.expect("taken apart"));
}

#[test]
fn a_value_has_its_bases_members_first() {
    let mut value = made(|to| {
        let base = to.value("IDL:Base:1.0", "Base", 0, |to| (None, vec![("a", to.basic::<i16>(), 1)]));
        to.value("IDL:Derived:1.0", "Derived", 3, |to| (Some(base), vec![("b", to.basic::<f64>(), 0)]))
    });
    value.set_to_value().expect("it is described");
    assert_eq!(value.member_names().expect("names").collect::<Vec<_>>(), ["a", "b"]);
    value.insert(&3i16).expect("a");
    value.member("b").expect("there").insert(&0.5f64).expect("a double");
    round_trip(&value);
    let mut again = DynAny::from_any(&value.to_any().expect("an any")).expect("whole");
    assert_eq!(again.member("b").and_then(|it| it.get::<f64>()).expect("a double"), 0.5);
    assert_eq!(format!("{again:?}"), "Derived { a: 3, b: 0.5 }");
    for modifier in [1, 2] {
        let mut value =
            made(|to| to.value("IDL:C:1.0", "C", modifier, |to| (None, vec![("a", to.basic::<i16>(), 1)])));
        round_trip(&value);
        assert!(matches!(value.set_to_value(), Err(DynAnyError::InconsistentTypeCode { .. })));
        let a = Any::new(&1i16).expect("an any");
        assert!(matches!(value.set_members([("a", &a)]), Err(DynAnyError::InconsistentTypeCode { .. })));
    }
}

/// A value of [`node`] as octets in the other byte order: what stands before its state, the state, what stands behind it.
fn foreign_node(fill: impl FnOnce(&mut Foreign)) -> DynAny {
    let mut to = Foreign::default();
    fill(&mut to);
    to.read(TypeCode::build(node).expect("described"))
}

#[test]
fn values_of_peers_stay_whole_until_they_are_taken_apart() {
    let plain = foreign_node(|to| {
        to.long(0x7fff_ff02);
        to.text("IDL:Node:1.0");
        to.long(7);
        to.long(0);
    });
    let mut chunked = foreign_node(|to| {
        to.long(0x7fff_ff0a);
        to.text("IDL:Node:1.0");
        to.long(4);
        to.long(7);
        to.long(0);
        to.long(u32::MAX);
    });
    assert_eq!(chunked.get::<i32>().expect("x"), 7);
    round_trip(&chunked);
    assert_eq!(chunked.index(0).and_then(|it| it.get::<i32>()).expect("x"), 7);
    assert_eq!(plain, chunked, "in chunks or not");
    round_trip(&chunked);

    // One that leads back to itself is sent on, and is no tree.
    let mut circle = foreign_node(|to| {
        to.long(0x7fff_ff02);
        to.text("IDL:Node:1.0");
        to.long(7);
        to.long(u32::MAX);
        to.long((-(to.0.len() as i32)).cast_unsigned());
    });
    round_trip(&circle);
    assert_eq!(circle.component_count(), 2);
    assert!(matches!(circle.index(0), Err(DynAnyError::InvalidValue(_))));
    round_trip(&circle);

    // So is one of a derived type, that this TypeCode would cut down.
    let mut derived = foreign_node(|to| {
        to.long(0x7fff_ff0e);
        to.long(2);
        to.text("IDL:Leaf:1.0");
        to.text("IDL:Node:1.0");
        to.long(12);
        to.long(7);
        to.long(0);
        to.long(99);
        to.long(u32::MAX);
    });
    let error = derived.index(0).expect_err("cut down").to_string();
    assert!(error.contains("derived type"), "{error}");
    assert!(derived.to_any().is_ok());
}

/// A value that leads to the same other twice, which does so, and so on; each says its repository id or where it stands.
fn diamond(to: &mut Foreign, levels: usize, id: &mut Option<usize>, says_again: bool) -> usize {
    while !to.0.len().is_multiple_of(4) {
        to.0.push(0);
    }
    let at = to.0.len();
    let back = |to: &mut Foreign, target: usize| {
        to.long(u32::MAX);
        to.long((target.wrapping_sub(to.0.len()) as i32).cast_unsigned());
    };
    to.long(0x7fff_ff02);
    match id {
        Some(place) if !says_again => back(to, *place),
        _ => {
            *id = Some(to.0.len());
            to.text("IDL:D:1.0");
        }
    }
    if levels == 0 {
        to.long(0);
        to.long(0);
    } else {
        let below = diamond(to, levels - 1, id, says_again);
        back(to, below);
    }
    at
}

#[test]
fn what_leads_to_the_same_again_and_again_is_compared_in_bounded_time() {
    let read = |levels, says_again| {
        let mut to = Foreign::default();
        diamond(&mut to, levels, &mut None, says_again);
        let ty = TypeCode::build(|to| {
            to.value("IDL:D:1.0", "D", 0, |to| {
                let itself = to.value("IDL:D:1.0", "D", 0, |_| (None, Vec::new()));
                (None, vec![("a", itself, 1), ("b", itself, 1)])
            })
        });
        to.read(ty.expect("described"))
    };
    let (one, mut two) = (read(40, true), read(40, false));
    assert_eq!(one, one.clone());
    assert_ne!(one, two, "a tree of 2^40 values is not compared");
    assert_eq!(read(4, true), read(4, false));
    assert_eq!(two.member("b").and_then(|it| Ok(it.member("a")?.component_count())).expect("there"), 2);
    round_trip(&one);
}
