//! What cannot be read is told with the path to it, inside of the value: by stubs, by skeletons, and of anys.

use std::sync::Arc;

use zorb::cdr::{ByteOrder, Decode, DecodeError, Decoder, Encode, Encoder, Format};
use zorb::dynamic::{DynamicRequest, DynamicServant, Results, Signature, dynamic_servant};
use zorb::{Any, Interface, Kind, Orb, TypeCode};
use zorb_test_mapping::paths::paths::{Extra, Item, Order, Shop, Stage};

fn item(name: &str) -> Item {
    Item { name: name.to_owned(), state: Stage::OPEN }
}

fn order() -> Order {
    Order {
        items: vec![item("a"), item("b"), item("c")],
        extras: [Extra::one(item("d")), Extra::more(vec![item("e"), item("f")])],
        note: Any::new(&item("g")).unwrap(),
    }
}

fn octets<T: Encode>(value: &T) -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    value.encode(&mut to).unwrap();
    to.to_bytes().to_vec()
}

/// What is said of the value where the word that stands a number's length behind this name is no enumerator.
fn told<T: Decode>(
    octets: &[u8],
    name: u8,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
) -> String {
    let mut wrong = octets.to_vec();
    let at = wrong.windows(6).position(|it| it == [2, 0, 0, 0, name, 0]).unwrap() + 8;
    wrong[at..at + 4].copy_from_slice(&9_u32.to_ne_bytes());
    read(&mut Decoder::new(&wrong.into(), ByteOrder::NATIVE, Format::default())).err().unwrap().to_string()
}

#[test]
fn members_elements_and_arms_are_named() {
    let whole = octets(&order());
    for (name, path) in [
        (b'a', "items[0].state"),
        (b'c', "items[2].state"),
        (b'd', "extras[0].one.state"),
        (b'f', "extras[1].more[1].state"),
        (b'g', "note.value.state"),
    ] {
        let told = told(&whole, name, Order::decode);
        assert!(told.starts_with(&format!("cannot read {path} (")), "{told}");
        assert!(told.contains("at octet") && told.ends_with("the enum has no value 9"), "{told}");
    }
}

#[test]
fn every_cut_says_what_it_cuts() {
    let whole = octets(&order());
    for end in 0..whole.len() {
        let cut = whole[..end].to_vec().into();
        let error = Order::decode(&mut Decoder::new(&cut, ByteOrder::NATIVE, Format::default())).unwrap_err();
        let first =
            ["items", "extras", "note"].iter().any(|member| error.path.to_string().starts_with(member));
        assert!(first, "{end}: {error}");
    }
}

#[test]
fn parameters_are_named() {
    let place = octets(&("customer".to_owned(), order()));
    let read = zorb::rt::named_arguments(&["customer", "it"], <(String, Order)>::decode);
    assert!(told(&place, b'b', read).starts_with("cannot read it.items[1].state ("));
    let read = zorb::rt::named_arguments(&["it"], Order::decode);
    assert!(told(&octets(&order()), b'b', read).starts_with("cannot read it.items[1].state ("));
}

/// Answers with what encodes as the stub's type does, but for enumerators that there are not.
struct Lying;

/// As `Item`, with a number for its state.
fn lie(to: &mut zorb::cdr::Describer) -> zorb::cdr::TypeRef {
    to.structure("IDL:Lie:1.0", "Lie", |to| vec![("name", to.string(0)), ("state", to.basic::<u32>())])
}

impl DynamicServant for Lying {
    fn repository_id(&self) -> &str {
        Shop::INFO.id
    }

    fn invoke(&self, request: DynamicRequest) {
        let gives = match request.operation() {
            "last" => TypeCode::build(|to| {
                let lie = lie(to);
                let items = to.sequence(lie, 0);
                to.structure("IDL:Lies:1.0", "Lies", |_| vec![("items", items)])
            }),
            "all" => TypeCode::build(|to| {
                let lie = lie(to);
                to.sequence(lie, 0)
            }),
            // A value, its base's id left out, and another in it.
            _ => TypeCode::build(|to| {
                to.structure("IDL:Chain:1.0", "Chain", |to| {
                    let name = to.string(0);
                    let number = to.basic::<u32>();
                    vec![
                        ("tag", number),
                        ("name", name),
                        ("state", number),
                        ("inner tag", number),
                        ("inner name", name),
                        ("inner state", number),
                    ]
                })
            }),
        };
        let gives = gives.unwrap();
        let signature = Arc::new(Signature::new(request.operation()).gives(gives.clone()));
        let (name, state) = (String::from, |number: u32| number);
        let octets = match request.operation() {
            "last" => Any::with_type_code(gives, &vec![(name("a"), state(0)), (name("b"), state(9))]),
            "all" => Any::with_type_code(gives, &vec![(name("a"), state(1)), (name("b"), state(7))]),
            _ => Any::with_type_code(
                gives,
                &(0x7fff_ff00_u32, name("a"), state(0), 0x7fff_ff00_u32, name("b"), state(5)),
            ),
        };
        let Some((reply, _)) = request.arguments(&signature) else { return };
        reply.results(Results::of(octets.unwrap()));
    }
}

#[test]
fn results_that_are_none_are_told_with_their_path() {
    let server = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let poa = server.root_poa().unwrap();
    let object = poa.activate_servant(dynamic_servant(Arc::new(Lying)), Shop::INFO.id).unwrap();
    poa.manager().activate().unwrap();
    let client = Orb::builder().build();
    let shop = Shop::from_object(client.string_to_object(&object.to_string()).unwrap().unwrap());
    let told = |exception: zorb::SystemException| {
        assert_eq!(exception.kind, Kind::Marshal);
        exception.detail().to_owned()
    };
    // The first of two results: the operation's own, before its out parameter.
    assert!(told(shop.last().unwrap_err()).contains("cannot read #1.items[1].state ("));
    assert!(told(shop.all().unwrap_err()).contains("cannot read [1].value ("));
    let told = told(shop.chain().unwrap_err());
    assert!(told.contains("cannot read next.state ("), "{told}");
}
