//! Anys as omniORB 4.2 (little-endian) and JacORB 3.9 (big-endian) write them in GIOP 1.2, a name and the octets in hexadecimal a
//! line: of
//!
//! ```idl
//! module t {
//!   enum Colour { RED, GREEN };
//!   typedef string<5> Brief;  typedef sequence<Brief, 3> Briefs;
//!   struct Tree;  typedef sequence<Tree> Trees;
//!   struct Tree { Colour paint; Briefs names; Trees children; double size; };
//!   union Choice switch (Colour) { case RED: Tree wood; default: long grid[2][3]; };
//!   exception Refused { any why; };
//!   interface Vault {};
//!   struct All { Choice a; Choice b; fixed<5,2> c; wstring d; Vault e; any f; long long g; Tree h; };
//! };
//! ```

use zorb_cdr::{
    Any, ByteOrder, CodeSets, Decode, Decoder, Encode, Encoder, Format, TCKind, TypeCode, Version,
};

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

/// From each peer.
fn captured(name: &str) -> [Any; 2] {
    [
        captured_of(include_str!("omniorb_anys.txt"), ByteOrder::Little, name),
        captured_of(include_str!("jacorb_anys.txt"), ByteOrder::Big, name),
    ]
}

fn captured_of(text: &str, order: ByteOrder, name: &str) -> Any {
    let lines = text.lines();
    let hex =
        lines.filter_map(|line| line.split_once(' ')).find(|(of, _)| *of == name).expect("it was captured").1;
    let octets: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect();
    let mut from = Decoder::from_slice(&octets, order, FORMAT);
    let any = Any::decode(&mut from).expect("a peer's any is read");
    assert_eq!(from.remaining(), 0, "{name}");
    any
}

/// What is written of it is read as the same, behind any number of octets.
fn sent_on(any: &Any) {
    for before in 0..8 {
        let mut to = Encoder::new(FORMAT);
        to.write_octets(&[0; 8][..before]);
        any.encode(&mut to).expect("it can be sent on");
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, FORMAT);
        from.read_octets(before).expect("there");
        assert_eq!(&Any::decode(&mut from).expect("it is read"), any);
    }
}

struct Tree {
    paint: u32,
    names: Vec<String>,
    children: Vec<Tree>,
    size: f64,
}

impl Decode for Tree {
    fn decode(from: &mut Decoder<'_>) -> Result<Self, zorb_cdr::DecodeError> {
        Ok(Self {
            paint: Decode::decode(from)?,
            names: Decode::decode(from)?,
            children: Decode::decode(from)?,
            size: Decode::decode(from)?,
        })
    }
}

#[test]
fn a_recursive_struct_is_read_with_its_value() {
    for any in captured("tree") {
        let ty = any.type_code();
        assert_eq!((ty.kind(), ty.id()), (TCKind::Struct, Some("IDL:t/Tree:1.0")));
        let trees = ty.member_type(2).expect("children").unaliased();
        assert!(trees.content_type().expect("an element").equivalent(ty));
        let tree: Tree = any.get_as(ty).expect("a tree");
        assert_eq!((tree.paint, tree.names.len(), tree.size), (1, 2, 2.5));
        assert_eq!((tree.children.len(), &*tree.children[1].children[1].names[1]), (2, "bcd"));
        sent_on(&any);
    }
    let [one, other] = captured("tree");
    assert!(one.type_code().equivalent(other.type_code()));
}

#[test]
fn other_kinds_are_read_and_sent_on() {
    for (name, kind) in [("choice", TCKind::Union), ("exception", TCKind::Except), ("nil", TCKind::ObjRef)] {
        for any in captured(name) {
            assert_eq!(any.type_code().kind(), kind);
            sent_on(&any);
        }
    }
    for (any, within) in captured("any").iter().zip(captured("tree")) {
        assert_eq!(any.get::<Any>().expect("an any"), within);
        sent_on(any);
    }
}

/// omniORB leaves out the id that an exception begins with; on it goes with it.
#[test]
fn exceptions_have_their_id_or_not() {
    struct Why(Any);
    impl Decode for Why {
        fn decode(from: &mut Decoder<'_>) -> Result<Self, zorb_cdr::DecodeError> {
            Any::decode(from).map(Self)
        }
    }
    for refused in captured("exception") {
        let why: Why = refused.get_as(refused.type_code()).expect("an exception");
        assert_eq!(why.0.get::<i32>().expect("a long"), 7);
        let id = refused.decoder().read_string().expect("it begins with its id");
        assert_eq!(id, "IDL:t/Refused:1.0");
    }
}

/// A type that is used twice is an indirection the second time.
#[test]
fn a_type_is_a_value() {
    let types = captured("type").into_iter().zip(captured("tree").into_iter().zip(captured("choice")));
    for (any, (tree, choice)) in types {
        let all: TypeCode = any.get().expect("a type");
        assert_eq!(all.member_type(0), all.member_type(1));
        assert!(all.member_type(0).expect("choice").equivalent(choice.type_code()));
        assert!(all.member_type(7).expect("tree").equivalent(tree.type_code()));
        assert_eq!(all.member_type(2).and_then(|it| it.fixed_scale()), Some(2));
        sent_on(&any);
    }
}

/// Where the labels leave nothing for a default, omniORB writes -2 for the position of one that there is not, and others -1. The type
/// is that of `union Choice switch (boolean) { case TRUE: Node link; case FALSE: Leaf thing; };`.
#[test]
fn a_union_may_have_no_room_for_a_default() {
    let hex = include_str!("omniorb_types.txt").lines().find_map(|line| line.strip_prefix("no-default "));
    let octets: Vec<u8> = (0..hex.expect("it was captured").len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex.unwrap_or_default()[at..at + 2], 16).expect("hexadecimal"))
        .collect();
    assert_eq!(octets[64..68], [0xfe, 0xff, 0xff, 0xff]);
    let mut from = Decoder::from_slice(&octets, ByteOrder::Little, FORMAT);
    let ty = TypeCode::decode(&mut from).expect("a peer's TypeCode is read");
    assert_eq!((from.remaining(), ty.default_index(), ty.member_count()), (0, Some(-1), Some(2)));
    assert_eq!((ty.member_label(0), ty.member_label(1)), (Some(1), Some(0)));
}
