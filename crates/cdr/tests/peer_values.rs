//! Values of valuetypes as omniORB 4.2 (little-endian) and JacORB 3.9 (big-endian) write them, a name and the octets in hexadecimal a line: in
//! anys, and as two parameters declared as `Node`, the second of which is a part of the first. Of
//!
//! ```idl
//! module values {
//!   valuetype Node { public long x; public Node next; };
//!   valuetype Marked : truncatable Node { public string mark; private sequence<Node> others; };
//! };
//! ```

use zorb_cdr::{
    Any, ByteOrder, Decode, DecodeContext, DecodeError, Decoder, Described, Describer, Encode, EncodeError,
    Encoder, Format, State, TypeRef, Value, ValueInfo, ValueType,
};

type Link = Option<Value<Node>>;

#[derive(Debug)]
struct Node {
    x: i32,
    next: Link,
}

#[derive(Debug)]
struct Marked {
    base: Node,
    mark: String,
    others: Vec<Link>,
}

impl ValueType for Node {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Node>("IDL:values/Node:1.0", None, false, &[Marked::info]);
        &INFO
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.x.encode(to)?;
        self.next.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { x: i32::decode(from)?, next: Link::decode(from)? })
    }
}

impl ValueType for Marked {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo =
            ValueInfo::new::<Marked>("IDL:values/Marked:1.0", Some(Node::info), true, &[]);
        &INFO
    }

    fn base(&self) -> Option<&dyn State> {
        Some(&self.base)
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.base.encode_state(to)?;
        self.mark.encode(to)?;
        self.others.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let base = Node::decode_state(from)?;
        Ok(Self { base, mark: Decode::decode(from)?, others: Decode::decode(from)? })
    }
}

impl Described for Node {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:values/Node:1.0", "Node", 0, |to| {
            (None, vec![("x", to.basic::<i32>(), 1), ("next", to.basic::<Link>(), 1)])
        })
    }
}

impl Described for Marked {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:values/Marked:1.0", "Marked", 3, |to| {
            let (mark, others) = (to.string(0), to.basic::<Vec<Link>>());
            (Some(to.basic::<Node>()), vec![("mark", mark, 1), ("others", others, 0)])
        })
    }
}

const OMNIORB: (&str, ByteOrder) = (include_str!("omniorb_values.txt"), ByteOrder::Little);
const JACORB: (&str, ByteOrder) = (include_str!("jacorb_values.txt"), ByteOrder::Big);

fn octets(text: &str, name: &str) -> Vec<u8> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let hex = lines.find(|(of, _)| *of == name).expect("it was captured").1;
    let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(octet).collect()
}

fn check(link: &Link) {
    let marked = link.as_ref().unwrap().cast::<Marked>().expect("it is marked").get().unwrap();
    assert_eq!((marked.base.x, marked.mark.as_str()), (4, "e"));
    let next = marked.base.next.clone().expect("a node");
    assert_eq!(next.get().unwrap().x, 7);
    assert_eq!(marked.others, [Some(next.clone()), None, Some(next)]);
}

/// Knows the types by factories.
struct Knowing;

impl DecodeContext for Knowing {
    fn value_type(&self, id: &[u8]) -> Option<&'static ValueInfo> {
        [Node::info(), Marked::info()].into_iter().find(|info| info.id().as_bytes() == id)
    }
}

struct Ignorant;

impl DecodeContext for Ignorant {}

/// The any as it was read, and as it is read of what is written of it.
fn anys((text, order): (&str, ByteOrder), name: &str, knowing: &dyn DecodeContext) -> Vec<Any> {
    let octets = octets(text, name);
    let mut from = Decoder::from_slice(&octets, order, Format::default()).with_context(knowing);
    let mut anys = vec![Any::decode(&mut from).expect("a peer's any is read")];
    assert_eq!(from.remaining(), 0, "{name}");
    for before in 0..8 {
        let mut to = Encoder::new(Format::default());
        to.write_octets(&[0; 8][..before]);
        anys[0].encode(&mut to).expect("it can be sent on");
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).with_context(knowing);
        from.read_octets(before).expect("there");
        anys.push(Any::decode(&mut from).expect("it is read"));
    }
    anys
}

#[test]
fn anys_of_peers_are_read_and_sent_on() {
    // JacORB's TypeCode does not have the base, so that the type must be known.
    for (peer, knowing) in
        [(OMNIORB, &Ignorant as &dyn DecodeContext), (OMNIORB, &Knowing), (JACORB, &Knowing)]
    {
        for any in anys(peer, "any-marked", knowing) {
            let marked: Option<Value<Marked>> = any.get_as(any.type_code()).expect("a value");
            check(&marked.unwrap().cast());
        }
    }
    for any in anys(OMNIORB, "any-ring", &Ignorant) {
        let first = any.get::<Link>().expect("a ring").unwrap();
        let second = first.get().unwrap().next.clone().unwrap();
        assert_eq!((first.get().unwrap().x, second.get().unwrap().x), (1, 2));
        assert_eq!(second.get().unwrap().next, Some(first));
    }
}

#[test]
fn what_is_known_is_kept_whole() {
    for any in anys(OMNIORB, "any-node", &Knowing) {
        check(&any.get::<Link>().expect("a node"));
    }
}

/// Declared as its base, a value of a type that the any does not describe: it is cut down to the base where it must be taken apart.
#[test]
fn an_any_of_the_base_is_cut_down() {
    let mut anys = anys(OMNIORB, "any-node", &Ignorant).into_iter();
    check(&anys.next().unwrap().get::<Link>().expect("as it was received"));
    for any in anys {
        let node = any.get::<Link>().expect("a node").unwrap();
        assert_eq!(
            (node.get().unwrap().x, node.get().unwrap().next.as_ref().unwrap().get().unwrap().x),
            (4, 7)
        );
    }
}

#[test]
fn values_of_peers_are_shared_between_parameters() {
    for (text, order) in [OMNIORB, JACORB] {
        let octets = octets(text, "values");
        let mut from = Decoder::from_slice(&octets, order, Format::default());
        let (marked, node) = (Link::decode(&mut from).unwrap(), Link::decode(&mut from).unwrap());
        assert_eq!(from.remaining(), 0);
        check(&marked);
        assert_eq!(marked.as_ref().unwrap().get().unwrap().next, node);
        if order != ByteOrder::NATIVE {
            continue;
        }
        // Zorb writes the same octets, but for padding, which holds anything.
        let mut to = Encoder::new(Format::default());
        marked.encode(&mut to).unwrap();
        node.encode(&mut to).unwrap();
        let ours = to.to_bytes();
        let differ: Vec<_> = (0..octets.len()).filter(|at| ours.get(*at) != octets.get(*at)).collect();
        assert!(ours.len() == octets.len() && differ.iter().all(|at| ours[*at] == 0), "{differ:?}");
    }
}
