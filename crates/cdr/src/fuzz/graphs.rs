//! Values of valuetypes from any bytes.

use crate::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Format, State, Value, ValueInfo,
    ValueType,
};
use alloc::string::String;
use alloc::vec::Vec;

pub(super) type Link = Option<Value<Node>>;

/// Leads to one and to many.
pub(super) struct Node {
    x: u16,
    next: Link,
    all: Vec<Link>,
}

/// Derived from it, and may be cut down to it.
pub(super) struct Named {
    base: Node,
    name: String,
    last: Link,
}

impl ValueType for Node {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Node>("IDL:N:1.0", None, false, &[Named::info]);
        &INFO
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.x.encode(to)?;
        self.next.encode(to)?;
        self.all.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { x: u16::decode(from)?, next: Decode::decode(from)?, all: Decode::decode(from)? })
    }
}

impl ValueType for Named {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Named>("IDL:M:1.0", Some(Node::info), true, &[]);
        &INFO
    }

    fn base(&self) -> Option<&dyn State> {
        Some(&self.base)
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.base.encode_state(to)?;
        self.name.encode(to)?;
        self.last.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let base = Node::decode_state(from)?;
        Ok(Self { base, name: Decode::decode(from)?, last: Decode::decode(from)? })
    }
}

/// Reads up to four graphs of values from arbitrary bytes. What is read can be written, unless it nests too deep by then, and
/// what was written reads as what is written the same.
///
/// ```text
/// octet 0   bit 0 byte order
/// rest      the values
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn graphs(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let mut from = Decoder::from_slice(body, order, Format::default());
    let read = read(&mut from);
    drop(from);
    let Ok(first) = write(&read) else { return };
    let mut from = Decoder::new(&first, ByteOrder::NATIVE, Format::default());
    let again: Vec<Link> = self::read(&mut from);
    if again.len() == read.len() {
        let second = write(&again).expect("what was read again can be written");
        assert_eq!(first, second, "sharing and cycles are kept");
    }
}

fn read(from: &mut Decoder<'_>) -> Vec<Link> {
    (0..4).map_while(|_| Link::decode(from).ok()).collect()
}

fn write(links: &[Link]) -> Result<bytes::Bytes, EncodeError> {
    let mut to = Encoder::new(Format::default());
    links.iter().try_for_each(|link| link.encode(&mut to))?;
    Ok(to.to_bytes())
}

/// Octets to begin with: a ring, a list of values that share, a derived value in chunks.
pub fn graph_seeds() -> Vec<Vec<u8>> {
    let node = |x, next: Link, all| Some(Value::new(Node { x, next, all }));
    let ring = Value::new_cyclic(|first| Node {
        x: 1,
        next: node(2, Some(first.clone()), Vec::new()),
        all: Vec::new(),
    });
    let shared = node(3, None, Vec::new());
    let sharing = node(4, shared.clone(), alloc::vec![shared.clone(), None, shared.clone()]);
    let base = Node { x: 5, next: shared.clone(), all: alloc::vec![Some(ring.clone())] };
    let named: Link = Value::new(Named { base, name: "a".into(), last: shared.clone() }).cast();
    let graphs =
        [alloc::vec![Some(ring)], alloc::vec![sharing, shared], alloc::vec![named.clone(), None, named]];
    let written = graphs.iter().map(|links| write(links).unwrap_or_default());
    written.map(|octets| [&[0], &octets[..]].concat()).collect()
}
