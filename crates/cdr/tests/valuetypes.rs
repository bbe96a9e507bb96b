//! Values of valuetypes: the octets of CORBA 3.4 part 2, §9.3.4 written down by hand, graphs there and back, and octets that lie.

use zorb_cdr::{
    Body, ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Format,
    Octets, Segment, Value, ValueInfo, ValueType, Version,
};

type Link = Option<Value<Node>>;

/// `valuetype Node { public long x; public Node next; };`
#[derive(Debug, Default)]
struct Node {
    x: i32,
    next: Link,
}

/// `valuetype Special : truncatable Node { public Node left; public octet mark; public Node right; };`
#[derive(Debug, Default)]
struct Special {
    base: Node,
    left: Link,
    mark: u8,
    right: Link,
}

impl ValueType for Node {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Node>("IDL:Node:1.0", None, false, &[Special::info]);
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

impl ValueType for Special {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Special>("IDL:Special:1.0", Some(Node::info), true, &[]);
        &INFO
    }

    fn base(&self) -> Option<&dyn zorb_cdr::State> {
        Some(&self.base)
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.base.encode_state(to)?;
        self.left.encode(to)?;
        self.mark.encode(to)?;
        self.right.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            base: Node::decode_state(from)?,
            left: Link::decode(from)?,
            mark: u8::decode(from)?,
            right: Link::decode(from)?,
        })
    }
}

/// What a receiver has that knows nothing of `Special`.
#[derive(Debug)]
struct Plain(i32, Option<Value<Plain>>);

impl ValueType for Plain {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Plain>("IDL:Node:1.0", None, false, &[]);
        &INFO
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.0.encode(to)?;
        self.1.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self(i32::decode(from)?, Option::decode(from)?))
    }
}

fn node(x: i32, next: Link) -> Link {
    Some(Value::new(Node { x, next }))
}

fn written(values: &[Link]) -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    values.iter().for_each(|value| value.encode(&mut to).expect("it can be written"));
    to.to_bytes().to_vec()
}

fn read<T: Decode>(octets: &[u8], order: ByteOrder) -> Result<T, DecodeErrorKind> {
    T::decode(&mut Decoder::from_slice(octets, order, Format::default())).map_err(|error| error.kind)
}

/// Longs in big-endian order.
fn longs(longs: &[u32]) -> Vec<u8> {
    longs.iter().flat_map(|it| it.to_be_bytes()).collect()
}

const NODE: [u32; 5] = [13, 0x4944_4c3a, 0x4e6f_6465, 0x3a31_2e30, 0];
const TAG: u32 = 0x7fff_ff00;
const AGAIN: u32 = 0xffff_ffff;

fn back(longs: i32) -> u32 {
    (longs * -4) as u32
}

#[test]
fn what_the_specification_writes_is_read() {
    // Null.
    assert!(read::<Link>(&longs(&[0]), ByteOrder::Big).unwrap().is_none());
    // No repository id: what is declared.
    let link = read::<Link>(&longs(&[TAG, 7, 0]), ByteOrder::Big).unwrap().unwrap();
    assert_eq!(link.get().unwrap().x, 7);
    // A codebase, an id; then the same id again by its place, and itself.
    let head = [&[TAG | 3, 5, 0x6674_703a, 0][..], &NODE, &[7]].concat();
    let text = [&head[..], &[TAG | 2, AGAIN, back(8), 8, AGAIN, back(15)]].concat();
    let first = read::<Link>(&longs(&text), ByteOrder::Big).unwrap().unwrap();
    let second = first.get().unwrap().next.clone().unwrap();
    assert_eq!(second.get().unwrap().x, 8);
    assert_eq!(second.get().unwrap().next.as_ref(), Some(&first));
    // Weak, so that nothing keeps itself.
    drop(first);
    assert!(second.get().unwrap().next.as_ref().unwrap().get().is_none());
}

#[test]
fn a_value_is_cut_down_to_what_is_known() {
    // In chunks: two ids, the base's state in two chunks, then what is cut off: a nested value, null, and an octet.
    let special = [16, 0x4944_4c3a, 0x5370_6563, 0x6961_6c3a, 0x312e_3000];
    let text = [
        &[TAG | 14, 2][..],
        &special,
        &NODE,
        &[4, 7, 4, 0],
        &[TAG | 10],
        &NODE,
        &[8, 1, 0],
        &[(-2_i32) as u32, 1, 0x2a00_0000, 4, 0, AGAIN],
        &[99],
    ];
    let octets = longs(&text.concat());
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let plain = Option::<Value<Plain>>::decode(&mut from).unwrap().unwrap();
    assert_eq!(plain.get().unwrap().0, 7);
    assert!(plain.get().unwrap().1.is_none());
    assert_eq!(from.read_u32(), Ok(99), "it stands behind the value");
    // Who knows the type has all of it.
    let whole = read::<Link>(&octets, ByteOrder::Big).unwrap().unwrap();
    let whole = whole.cast::<Special>().expect("it is one").get().unwrap();
    assert_eq!((whole.base.x, whole.mark), (7, 42));
    assert_eq!(whole.left.as_ref().unwrap().get().unwrap().x, 1);
    for end in 0..octets.len() - 4 {
        assert!(
            read::<Option<Value<Plain>>>(&octets[..end], ByteOrder::Big).is_err(),
            "{end} octets, cut down"
        );
        assert!(read::<Link>(&octets[..end], ByteOrder::Big).is_err(), "{end} octets");
    }
    // Of one id there is nothing to cut it down to.
    let alone = [&[TAG | 10][..], &special, &[4, 7, AGAIN]].concat();
    let unknown = read::<Option<Value<Plain>>>(&longs(&alone), ByteOrder::Big).unwrap_err();
    assert_eq!(unknown, DecodeErrorKind::UnknownValueType);
}

#[test]
fn one_end_tag_may_end_several_values() {
    let text =
        [&[TAG | 10][..], &NODE, &[4, 1, TAG | 10, AGAIN, back(9), 4, 2, TAG | 10, AGAIN, back(14), 8, 3, 0]];
    let octets = longs(&[&text.concat()[..], &[AGAIN, 99]].concat());
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let first = Link::decode(&mut from).unwrap().unwrap().get().unwrap();
    let second = first.next.as_ref().unwrap().get().unwrap();
    let third = second.next.as_ref().unwrap().get().unwrap();
    assert_eq!((first.x, second.x, third.x), (1, 2, 3));
    assert_eq!(from.read_u32(), Ok(99));
}

/// A tree with a parent pointer, one leaf twice, a special among them; in chunks and not.
fn graph() -> (Link, Link) {
    let leaf = node(5, None);
    let root = Value::new_cyclic(|root| Node {
        x: 1,
        next: Some(
            Value::new(Special {
                base: Node { x: 2, next: Some(root.clone()) },
                left: leaf.clone(),
                mark: 9,
                right: leaf.clone(),
            })
            .cast()
            .unwrap(),
        ),
    });
    (Some(root), leaf)
}

fn check(root: &Link, leaf: &Link) {
    let root = root.as_ref().unwrap();
    let held = root.get().unwrap();
    let special = held.next.as_ref().unwrap().cast::<Special>().unwrap().get().unwrap();
    assert_eq!((held.x, special.base.x, special.mark), (1, 2, 9));
    assert_eq!(special.base.next.as_ref(), Some(root), "the parent");
    assert_eq!(special.left, special.right, "one leaf");
    assert_eq!(&special.left, leaf, "the same as the argument behind it");
    assert_eq!(special.left.as_ref().unwrap().get().unwrap().x, 5);
}

/// A link to a value that is being made can stand where a base is declared.
#[test]
fn a_value_may_lead_to_itself_as_its_base() {
    let special = Value::new_cyclic(|own: &Value<Special>| {
        assert!(own.cast::<Plain>().is_none() && own.get().is_none());
        Special { left: own.cast(), ..Special::default() }
    });
    let left = special.get().unwrap().left.clone().expect("a link to itself");
    assert_eq!(special.cast(), Some(left.clone()));
    let gone = special.downgrade();
    let sent = written(&[special.cast()]);
    drop((left, special));
    assert!(gone.cast::<Special>().is_none_or(|gone| gone.get().is_none()));
    let back: Link = read(&sent, ByteOrder::NATIVE).unwrap();
    let back = back.unwrap();
    assert_eq!(back.cast::<Special>().unwrap().get().unwrap().left, Some(back.clone()));
}

#[test]
fn sharing_and_cycles_are_preserved() {
    let (root, leaf) = graph();
    check(&root, &leaf);
    let octets = written(&[root.clone(), leaf.clone(), None]);
    let mut from = Decoder::from_slice(&octets, ByteOrder::NATIVE, Format::default());
    let (back, shared) = (Link::decode(&mut from).unwrap(), Link::decode(&mut from).unwrap());
    assert!(Link::decode(&mut from).unwrap().is_none());
    assert_eq!(from.remaining(), 0);
    drop(from);
    check(&back, &shared);
    assert_eq!(written(&[back.clone(), shared, None]), octets, "and written it is the same");
    // Who does not know the derived type sees its base.
    let plain = read::<Option<Value<Plain>>>(&octets, ByteOrder::NATIVE).unwrap().unwrap().get().unwrap();
    let second = plain.1.as_ref().unwrap().get().unwrap();
    assert_eq!((plain.0, second.0), (1, 2));
    assert_eq!(second.1.as_ref(), Some(&plain.value()));
    for end in 0..octets.len() - 12 {
        assert!(read::<Link>(&octets[..end], ByteOrder::NATIVE).is_err(), "{end} octets");
    }
    // Freed with the last handle.
    let child = back.as_ref().unwrap().get().unwrap().next.clone().unwrap();
    drop(back);
    assert!(child.get().unwrap().next.as_ref().unwrap().get().is_none());
}

/// GIOP 1.1: alignment restarts in each fragment. Nothing comes between values, so that indirections mean what they say.
#[test]
fn values_are_not_cut_in_fragments_of_giop_1_1() {
    let format = Format::new(Version::V1_1);
    let text = "x".repeat(200);
    let mut to = Encoder::new(format);
    to.write_octets(&[0; 12]);
    to.fragment_every(128);
    text.encode(&mut to).unwrap();
    let (before, (root, leaf)) = (to.len(), graph());
    let marker = to.mark();
    root.encode(&mut to).unwrap();
    to.rewind(marker);
    root.encode(&mut to).unwrap();
    let between = vec![0u8; 500];
    between.encode(&mut to).unwrap();
    leaf.encode(&mut to).unwrap();
    let breaks = to.breaks().to_vec();
    assert!(breaks.len() == 1 && breaks[0] < before, "{breaks:?}");
    let octets = to.to_bytes();
    let segments = [0, breaks[0]]
        .into_iter()
        .zip([breaks[0], octets.len()])
        .map(|(start, end)| Segment { octets: Octets::from(&octets[start + 12..end]), phase: 12 });
    let body = Body::many(segments.collect(), ByteOrder::NATIVE);
    let mut from = Decoder::over(&body, format);
    assert_eq!(String::decode(&mut from).unwrap(), text);
    let root = Link::decode(&mut from).unwrap();
    assert_eq!(Vec::<u8>::decode(&mut from).unwrap().len(), 500);
    check(&root, &Link::decode(&mut from).unwrap());
}

#[test]
fn what_was_rewound_is_written_anew() {
    let (one, two) = (node(1, None), node(2, None));
    let mut to = Encoder::new(Format::default());
    one.encode(&mut to).unwrap();
    let mark = to.mark();
    two.encode(&mut to).unwrap();
    to.rewind(mark);
    two.encode(&mut to).unwrap();
    one.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    let read: Vec<_> = (0..3).map(|_| Link::decode(&mut from).unwrap().unwrap()).collect();
    let numbers: Vec<_> = read.iter().map(|it| it.get().unwrap().x).collect();
    assert_eq!(numbers, [1, 2, 1]);
    assert_eq!(read[0], read[2]);
    // Nor does an indirection leave an encapsulation.
    let mut to = Encoder::new(Format::default());
    one.encode(&mut to).unwrap();
    to.encapsulation(|to| one.encode(to)).unwrap();
    one.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    let first = Link::decode(&mut from).unwrap();
    let inner = Link::decode(&mut from.encapsulation().unwrap()).unwrap();
    assert_eq!(inner.as_ref().unwrap().get().unwrap().x, 1);
    assert_ne!(inner, first);
    assert_eq!(Link::decode(&mut from).unwrap(), first);
}

#[test]
fn what_lies_is_refused() {
    let invalid = |text: &[u32], why| {
        let found = read::<Link>(&longs(text), ByteOrder::Big).unwrap_err();
        assert_eq!(found, DecodeErrorKind::Invalid(why), "{text:x?}");
    };
    let nothing = "an indirection leads to nothing";
    // Forward, to itself, outside, between, and to what is no value.
    invalid(&[AGAIN, 8, TAG, 1, 0], nothing);
    invalid(&[AGAIN, 0], nothing);
    invalid(&[AGAIN, back(1)], nothing);
    invalid(&[AGAIN, 0x8000_0000], nothing);
    invalid(&[AGAIN, 0x7fff_ffff], nothing);
    invalid(&[TAG, 1, AGAIN, back(2)], nothing);
    invalid(&[&[TAG | 2][..], &NODE, &[1, AGAIN, back(7)]].concat(), "an indirection leads to no value");
    let to_itself = |tag| [&[TAG | 2][..], &NODE, &[1, TAG | tag, AGAIN, back(9)]].concat();
    invalid(&to_itself(2), "an indirection leads to no repository id");
    invalid(&to_itself(6), "an indirection leads to no list of repository ids");
    invalid(&[TAG | 6, 65], "it lists more than 64 repository ids");
    invalid(&[TAG | 4, 1, 0], "no value begins with its tag");
    invalid(&[12, 1, 0], "no value begins with its tag");
    invalid(&[TAG | 8, 4, 1, TAG, 1, 0], "it is not in chunks");
    invalid(&[TAG | 8, 8, 1, TAG | 8], "a value begins inside a chunk");
    invalid(&[TAG | 8, 8, 1, 0, (-2_i32) as u32], "an end tag ends no value");
    // Absurd lengths.
    for text in [&[TAG | 2, 0x7fff_fff0][..], &[TAG | 1, 0x7fff_fff0], &[TAG | 8, 0x7fff_fe00, 1, 0]] {
        let found = read::<Link>(&longs(text), ByteOrder::Big).unwrap_err();
        let ended = matches!(found, DecodeErrorKind::LengthBeyondEnd { .. } | DecodeErrorKind::Truncated);
        assert!(ended, "{text:x?}: {found:?}");
    }
    // A value of another type than the one wanted.
    let special = [16, 0x4944_4c3a, 0x5370_6563, 0x6961_6c3a, 0x312e_3000];
    let text = longs(&[&[TAG | 2][..], &NODE, &[1, 0, AGAIN, back(9)]].concat());
    let mut from = Decoder::from_slice(&text, ByteOrder::Big, Format::default());
    Link::decode(&mut from).unwrap();
    let found = Option::<Value<Special>>::decode(&mut from).unwrap_err().kind;
    assert_eq!(found, DecodeErrorKind::Invalid("an indirection leads to a value of another type"));
    // Derived, but not in chunks: nobody can cut it down, but it is what it says.
    let text = [&[TAG | 2][..], &special, &[1, 0, 0, 0x2a00_0000, 0]].concat();
    assert!(read::<Link>(&longs(&text), ByteOrder::Big).is_ok());
}

#[test]
fn depth_is_bounded() {
    // Nested.
    let deep: Vec<u32> = (0..300).flat_map(|x| [TAG, x]).collect();
    let found = read::<Link>(&longs(&deep), ByteOrder::Big).unwrap_err();
    assert_eq!(found, DecodeErrorKind::TooDeep { limit: 256 });
    // Side by side, each leading to the one before: freeing them would go as deep.
    let mut text = vec![TAG, 0, 0];
    (0..300).for_each(|x| text.extend([TAG, x, AGAIN, back(if x == 0 { 6 } else { 7 })]));
    let octets = longs(&text);
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let mut last = Link::decode(&mut from).unwrap();
    let found = loop {
        match Link::decode(&mut from) {
            Ok(link) => last = link,
            Err(error) => break error.kind,
        }
    };
    assert!(last.is_some());
    assert_eq!(found, DecodeErrorKind::TooDeep { limit: 256 });
    // Cut off.
    let special = [16, 0x4944_4c3a, 0x5370_6563, 0x6961_6c3a, 0x312e_3000];
    let mut text = [&[TAG | 14, 2][..], &special, &NODE, &[8, 1, 0]].concat();
    (0..300).for_each(|_| text.push(TAG | 8));
    let found = read::<Option<Value<Plain>>>(&longs(&text), ByteOrder::Big).unwrap_err();
    assert_eq!(found, DecodeErrorKind::TooDeep { limit: 256 });
    // And what is sent.
    let long = (0..300).fold(None, |next, x| node(x, next));
    assert!(long.encode(&mut Encoder::new(Format::default())).is_err());
}

/// Each octet replaced by others, of a graph in chunks: an error or a value, and never more.
#[test]
fn any_octets_are_survived() {
    let (root, leaf) = graph();
    let octets = written(&[root, leaf, None]);
    for at in 0..octets.len() {
        for value in [0, 1, 2, 7, 8, 14, 0x7f, 0x80, 0xf0, 0xfc, 0xff] {
            let mut changed = octets.clone();
            changed[at] = value;
            let mut from = Decoder::from_slice(&changed, ByteOrder::NATIVE, Format::default());
            while let (Ok(_), true) = (Link::decode(&mut from), from.remaining() > 0) {}
            let mut from = Decoder::from_slice(&changed, ByteOrder::NATIVE, Format::default());
            while let (Ok(_), true) = (Option::<Value<Plain>>::decode(&mut from), from.remaining() > 0) {}
        }
    }
}
