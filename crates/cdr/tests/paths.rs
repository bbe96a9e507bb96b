//! Where inside of an any, a value or a TypeCode it went wrong.

use zorb_cdr::{Any, ByteOrder, Decode, Decoder, Encode, Encoder, Format, TypeCode};

fn orders() -> TypeCode {
    TypeCode::build(|to| {
        let item = to.structure("IDL:Item:1.0", "Item", |to| {
            vec![("name", to.string(0)), ("paid", to.basic::<bool>())]
        });
        let items = to.sequence(item, 0);
        to.structure("IDL:Order:1.0", "Order", |to| vec![("id", to.basic::<i32>()), ("items", items)])
    })
    .unwrap()
}

fn octets(write: impl FnOnce(&mut Encoder<'static>)) -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    write(&mut to);
    to.to_bytes().to_vec()
}

fn decoder(octets: &[u8]) -> Decoder<'_> {
    Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default())
}

/// `Order { id: 7, items: [("a", …), ("b", …)] }`, where the last boolean is what is asked for.
fn order(to: &mut Encoder<'_>, paid: u8) {
    to.write_i32(7);
    to.write_length(2).unwrap();
    for (name, paid) in [("a", 1), ("b", paid)] {
        to.write_string(name).unwrap();
        to.write_u8(paid);
    }
}

#[test]
fn an_any_names_members_as_its_type_does() {
    let value = octets(|to| order(to, 4));
    let told = Any::decode_value(orders(), &mut decoder(&value)).unwrap_err();
    assert_eq!(told.to_string(), "cannot read items[1].paid (boolean) at octet 22: 4 is neither 0 nor 1");
    let any = octets(|to| {
        orders().encode_owned(to).unwrap();
        order(to, 4);
    });
    let told = Any::decode(&mut decoder(&any)).unwrap_err();
    assert_eq!(told.path.to_string(), "value.items[1].paid");
    // An any in an any.
    let nested = octets(|to| {
        TypeCode::of::<Any>().encode_owned(to).unwrap();
        orders().encode_owned(to).unwrap();
        order(to, 4);
    });
    let told = Any::decode(&mut decoder(&nested)).unwrap_err();
    assert_eq!(told.path.to_string(), "value.value.items[1].paid");
}

#[test]
fn a_value_names_the_members_on_the_way() {
    let node = TypeCode::build(|to| {
        to.value("IDL:Node:1.0", "Node", 0, |to| {
            let next = to.value("IDL:Node:1.0", "Node", 0, |_| (None, Vec::new()));
            (None, vec![("flag", to.basic::<bool>(), 1), ("next", next, 1)])
        })
    })
    .unwrap();
    let chain = octets(|to| {
        for flag in [0_u8, 1, 2] {
            to.write_u32(0x7fff_ff00);
            to.write_u8(flag);
        }
    });
    let told = Any::decode_value(node, &mut decoder(&chain)).unwrap_err();
    assert_eq!(told.path.to_string(), "next.next.flag");
}

#[test]
fn a_type_code_names_the_members_it_describes() {
    let mut wire = octets(|to| orders().encode_owned(to).unwrap());
    // The kind of `paid`, a boolean, becomes one that there is not.
    let at = wire.windows(5).position(|it| it == *b"paid\0").unwrap() + 8;
    wire[at..at + 4].copy_from_slice(&77_u32.to_ne_bytes());
    let told = TypeCode::decode(&mut decoder(&wire)).unwrap_err();
    assert_eq!(told.path.to_string(), "items.paid");
    assert!(told.to_string().ends_with("it is of no kind that CORBA has"), "{told}");
    let told = Any::decode(&mut decoder(&wire)).unwrap_err();
    assert_eq!(told.path.to_string(), "type.items.paid");
}

#[test]
fn nothing_that_is_right_has_a_path() {
    let value = octets(|to| order(to, 1));
    for end in 0..value.len() {
        let told = Any::decode_value(orders(), &mut decoder(&value[..end])).unwrap_err();
        let path = told.path.to_string();
        assert!(path == "id" || path.starts_with("items"), "{end}: {told}");
    }
    Any::decode_value(orders(), &mut decoder(&value)).unwrap();
}
