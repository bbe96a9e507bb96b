//! Values of valuetypes in anys: there and back, sent on in other places and orders, shared with the rest of a message, and octets that lie.

use zorb_cdr::{
    Any, Body, ByteOrder, Decode, DecodeContext, DecodeError, DecodeErrorKind, Decoder, Described, Describer,
    Encode, EncodeError, Encoder, Format, Octets, Segment, State, TypeCode, TypeRef, Value, ValueBase,
    ValueInfo, ValueType,
};

type Link = Option<Value<Node>>;

/// `valuetype Node { public long x; public Node next; };`
#[derive(Debug, Default)]
struct Node {
    x: i32,
    next: Link,
}

/// `valuetype Special : truncatable Node { public octet mark; public double weight; public sequence<Node> all; public any rest; };`
#[derive(Debug)]
struct Special {
    base: Node,
    mark: u8,
    weight: f64,
    all: Vec<Link>,
    rest: Any,
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

impl Described for Node {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:Node:1.0", "Node", 0, |to| {
            (None, vec![("x", to.basic::<i32>(), 1), ("next", to.basic::<Link>(), 1)])
        })
    }
}

impl ValueType for Special {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Special>("IDL:Special:1.0", Some(Node::info), true, &[]);
        &INFO
    }

    fn base(&self) -> Option<&dyn State> {
        Some(&self.base)
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.base.encode_state(to)?;
        self.mark.encode(to)?;
        self.weight.encode(to)?;
        self.all.encode(to)?;
        self.rest.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            base: Node::decode_state(from)?,
            mark: u8::decode(from)?,
            weight: f64::decode(from)?,
            all: Decode::decode(from)?,
            rest: Any::decode(from)?,
        })
    }
}

impl Described for Special {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:Special:1.0", "Special", 3, |to| {
            let (mark, all, rest) = (to.basic::<u8>(), to.basic::<Vec<Link>>(), to.basic::<Any>());
            (
                Some(to.basic::<Node>()),
                vec![("mark", mark, 1), ("weight", to.basic::<f64>(), 1), ("all", all, 1), ("rest", rest, 1)],
            )
        })
    }
}

/// What knows them all.
struct Knowing;

impl DecodeContext for Knowing {
    fn value_type(&self, id: &[u8]) -> Option<&'static ValueInfo> {
        [Node::info(), Special::info()].into_iter().find(|info| info.id().as_bytes() == id)
    }
}

struct Ignorant;

impl DecodeContext for Ignorant {}

fn node(x: i32, next: Link) -> Link {
    Some(Value::new(Node { x, next }))
}

/// A special that leads to nodes and to itself.
fn graph() -> Link {
    let shared = node(7, None);
    let inner = Any::new(&node(9, node(10, None))).unwrap();
    let special = Value::new_cyclic(|me: &Value<Special>| Special {
        base: Node { x: 1, next: shared.clone() },
        mark: 5,
        weight: 0.5,
        all: vec![shared.clone(), None, Some(Value::new(Node { x: 8, next: me.cast() })), shared.clone()],
        rest: inner,
    });
    Some(special.cast().unwrap())
}

fn check(link: &Link) {
    let root = link.clone().unwrap();
    let special = root.cast::<Special>().expect("it is special").get().unwrap();
    let shared = special.base.next.clone().unwrap();
    assert_eq!((special.base.x, special.mark, special.weight, shared.get().unwrap().x), (1, 5, 0.5, 7));
    assert_eq!(special.all.len(), 4);
    assert_eq!(special.all[0].as_ref(), Some(&shared), "shared within the any");
    assert_eq!(special.all[3].as_ref(), Some(&shared));
    assert_eq!(special.all[2].as_ref().unwrap().get().unwrap().x, 8);
    let inner = special.rest.get::<Link>().unwrap().unwrap().get().unwrap();
    assert_eq!((inner.x, inner.next.as_ref().unwrap().get().unwrap().x), (9, 10));
}

/// The any behind `before` octets, read again with what `context` knows.
fn again(any: &Any, before: usize, context: &dyn DecodeContext) -> Result<Any, DecodeError> {
    let mut to = Encoder::new(Format::default());
    to.write_octets(&vec![0xaa; before]);
    any.encode(&mut to).expect("it can be written");
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).with_context(context);
    from.read_octets(before)?;
    let any = Any::decode(&mut from)?;
    assert_eq!(from.remaining(), 0);
    Ok(any)
}

#[test]
fn values_are_had_again_wherever_the_any_stood() {
    let any = Any::new(&graph()).unwrap();
    check(&any.get::<Link>().unwrap());
    for before in 0..16 {
        // What is truncatable travels in chunks when it is declared as something else.
        let first = again(&any, before, &Knowing).unwrap();
        check(&first.get::<Link>().unwrap());
        for shift in 0..8 {
            let second = again(&first, before + shift, &Knowing).unwrap();
            check(&second.get::<Link>().unwrap());
        }
    }
    // As its own type, it is not in chunks; its TypeCode tells how it is read.
    let special: Option<Value<Special>> = graph().unwrap().cast();
    let any = Any::new(&special).unwrap();
    for before in 0..16 {
        let first = again(&again(&any, before, &Ignorant).unwrap(), before + 5, &Ignorant).unwrap();
        check(&first.get::<Option<Value<Special>>>().unwrap().unwrap().cast());
        assert_eq!(first, first.clone());
    }
}

#[test]
fn what_only_the_octets_know_is_passed_on_where_it_can() {
    let any = Any::new(&graph()).unwrap();
    // Whoever knows nothing keeps the octets, and passes them on in the same alignment.
    let kept = again(&any, 0, &Ignorant).unwrap();
    check(&kept.get::<Link>().unwrap());
    check(&again(&kept, 8, &Ignorant).unwrap().get::<Link>().unwrap());
    // In another it takes it apart as far as the TypeCode tells: the value is cut down to its base.
    let ty = TypeCode::of::<Link>();
    let mut to = Encoder::new(Format::default());
    to.write_u32(0);
    kept.encode_value(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    from.read_u32().unwrap();
    let cut = Any::decode_value(ty, &mut from).unwrap().get::<Link>().unwrap().unwrap();
    assert!(cut.cast::<Special>().is_none());
    assert_eq!(cut.get().unwrap().next.as_ref().unwrap().get().unwrap().x, 7);
}

#[test]
fn values_stand_in_structs_in_anys() {
    let ty = TypeCode::build(|to| {
        to.structure("IDL:Pair:1.0", "Pair", |to| {
            vec![("text", to.string(0)), ("one", to.basic::<Link>()), ("two", to.basic::<Link>())]
        })
    })
    .unwrap();
    let one = node(3, None);
    let any = Any::with_type_code(ty.clone(), &("a".to_owned(), one.clone(), one)).unwrap();
    for before in 0..8 {
        let read = again(&any, before, &Ignorant).unwrap();
        let (text, one, two) =
            again(&read, 3, &Ignorant).unwrap().get_as::<(String, Link, Link)>(&ty).unwrap();
        assert_eq!((&*text, one.as_ref().unwrap().get().unwrap().x), ("a", 3));
        assert_eq!(one, two);
    }
    let wrong = Any::with_type_code(TypeCode::of::<Option<Value<Special>>>(), &node(1, None)).unwrap_err();
    assert!(wrong.to_string().contains("another type"), "{wrong}");
}

#[test]
fn an_any_in_a_value_in_chunks_is_read() {
    // `graph` has one inside; behind it here is one in a struct of a sequence, that spans chunks.
    let inner = Any::new(&vec![node(1, node(2, None)), None, node(3, None)]).unwrap();
    let special = Value::new(Special {
        base: Node::default(),
        mark: 1,
        weight: 0.0,
        all: vec![node(4, None)],
        rest: inner,
    });
    let link: Link = special.cast();
    let mut to = Encoder::new(Format::default());
    link.encode(&mut to).unwrap();
    77_i32.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    let read = Link::decode(&mut from).unwrap().unwrap().cast::<Special>().unwrap().get().unwrap();
    assert_eq!(i32::decode(&mut from).unwrap(), 77);
    let inner = read.rest.get::<Vec<Link>>().unwrap();
    assert_eq!(inner.len(), 3);
    assert_eq!(inner[0].as_ref().unwrap().get().unwrap().next.as_ref().unwrap().get().unwrap().x, 2);
    assert_eq!(inner[2].as_ref().unwrap().get().unwrap().x, 3);
}

#[test]
fn what_nests_as_deep_as_values_may_is_sent_in_an_any() {
    let deep = |count| (0..count).fold(None, |next, x| node(x, next));
    let special = |count| -> Link {
        let base = Node { x: 0, next: deep(count) };
        Value::new(Special { base, mark: 0, weight: 0.0, all: Vec::new(), rest: Any::EMPTY }).cast()
    };
    for link in [deep(256), special(255)] {
        let any = Any::new(&link).unwrap();
        for context in [&Knowing as &dyn DecodeContext, &Ignorant] {
            let read = again(&again(&any, 3, context).unwrap(), 8, context).unwrap();
            assert_eq!(x(&read.get::<Link>().unwrap()), x(&link));
        }
    }
    assert!(Any::new(&deep(257)).is_err());
}

/// Longs in big-endian order.
fn longs(longs: &[u32]) -> Vec<u8> {
    longs.iter().flat_map(|it| it.to_be_bytes()).collect()
}

const TAG: u32 = 0x7fff_ff00;
const AGAIN: u32 = 0xffff_ffff;
const ID: [u32; 5] = [13, 0x4944_4c3a, 0x4e6f_6465, 0x3a31_2e30, 0];

fn back(longs: i32) -> u32 {
    (longs * -4) as u32
}

/// The values of `Any`s of type `Node` one behind another, and of `Link`s where `typed` says so.
fn message(text: &[u32], typed: &[bool]) -> Result<Vec<Link>, DecodeErrorKind> {
    let octets = longs(text);
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let read = |typed: &bool| {
        if *typed {
            return Link::decode(&mut from);
        }
        let any = Any::decode_value(TypeCode::of::<Link>(), &mut from)?;
        // It stands by itself: it is read when the message has gone.
        Ok(any.get::<Link>().expect("what was read is a value"))
    };
    typed.iter().map(read).collect::<Result<_, _>>().map_err(|error| error.kind)
}

fn x(link: &Link) -> i32 {
    link.as_ref().unwrap().get().unwrap().x
}

#[test]
fn indirections_lead_out_of_anys_and_into_them() {
    // A value; an any whose value's id, and whose member, are those of before.
    let value = [&[TAG | 2][..], &ID, &[7, 0]].concat();
    let text = [&value[..], &[TAG | 2, AGAIN, back(9), 8, AGAIN, back(13)]].concat();
    let read = message(&text, &[true, false]).unwrap();
    assert_eq!((x(&read[0]), x(&read[1])), (7, 8));
    assert_eq!(x(&read[1].as_ref().unwrap().get().unwrap().next), 7);
    // An any, and behind it the very value as another any and as a parameter; both parameters are one.
    let text = [&value[..], &[AGAIN, back(9), AGAIN, back(11), AGAIN, back(13)]].concat();
    let read = message(&text, &[false, false, true, true]).unwrap();
    assert_eq!(read.iter().map(x).collect::<Vec<_>>(), [7, 7, 7, 7]);
    assert_eq!(read[2], read[3]);
    // A parameter that leads to the inside of an any, then to what holds that: each is read once.
    let inner = [TAG | 2, AGAIN, back(8), 9, 0];
    let value = [&[TAG | 2][..], &ID, &[7], &inner].concat();
    let text = [&value[..], &[AGAIN, back(6), AGAIN, back(15)]].concat();
    let read = message(&text, &[false, true, true]).unwrap();
    assert_eq!((x(&read[1]), x(&read[2])), (9, 7));
    assert_eq!(read[2].as_ref().unwrap().get().unwrap().next, read[1]);
}

#[test]
fn what_holds_an_any_is_not_in_it() {
    // The special is not finished when the any in it is read, that leads back to it.
    let mut text = vec![TAG | 2, 16, 0x4944_4c3a, 0x5370_6563, 0x6961_6c3a, 0x312e_3000];
    // x, next, mark, weight (at a multiple of 8), no nodes; then the type: a boxed long.
    text.extend([1, 0, 0x0500_0000, 0, 0, 0, 0]);
    text.extend([30, 24, 0, 2, 0x4200_0000, 2, 0x4200_0000, 3]);
    let at = text.len() as i32;
    text.extend([AGAIN, back(at + 1)]);
    let error = message(&text, &[true]).unwrap_err();
    assert_eq!(error, DecodeErrorKind::Invalid("an indirection leads out of the any, to what holds it"));
}

#[test]
fn what_lies_is_refused() {
    let invalid = DecodeErrorKind::Invalid;
    // Indirections to nothing, to an id, into the middle.
    for back_to in [2, -3, 6, 100] {
        let error =
            message(&[&[TAG | 2][..], &ID, &[0, AGAIN, back(back_to)]].concat(), &[false]).unwrap_err();
        assert_eq!(error, invalid("an indirection leads to nothing"), "{back_to}");
    }
    let error = message(&[&[TAG | 2][..], &ID, &[0, AGAIN, back(7)]].concat(), &[false]).unwrap_err();
    assert_eq!(error, invalid("an indirection leads to no value"));
    // A type that nobody knows, in no chunks.
    let unknown = [TAG | 2, 8, 0x4944_4c3a, 0x583a_3100, 0];
    assert_eq!(message(&unknown, &[false]), Err(DecodeErrorKind::UnknownValueType));
    // Every proper prefix of an any is an error, and no octet changed is more than that.
    let any = Any::new(&graph()).unwrap();
    let mut to = Encoder::new(Format::default());
    any.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let read = |octets: &[u8]| {
        let mut from =
            Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default()).with_context(&Knowing);
        let any = Any::decode(&mut from)?;
        let mut to = Encoder::new(Format::default());
        to.write_u8(1);
        let _ = any.encode(&mut to);
        any.get::<Link>().map_err(|_| from.error(DecodeErrorKind::Truncated, "any"))
    };
    check(&read(&octets).unwrap());
    for length in 0..octets.len() {
        assert!(read(&octets[..length]).is_err(), "{length}");
    }
    for at in 0..octets.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = octets.to_vec();
            changed[at] ^= flip;
            let _ = read(&changed);
        }
    }
}

#[test]
fn nesting_is_bounded() {
    for (depth, fits) in [(100, true), (255, true), (256, false)] {
        // Values in values: node after node in the same any.
        let mut text = [&[TAG | 2][..], &ID, &[0]].concat();
        for index in 0..depth {
            let back_to_id = back(text.len() as i32 + 1);
            text.extend([TAG | 2, AGAIN, back_to_id, index]);
        }
        text.push(0);
        let read = message(&text, &[false]);
        assert_eq!(read.is_ok(), fits, "{depth}: {read:?}");
        if !fits {
            assert_eq!(read.unwrap_err(), DecodeErrorKind::TooDeep { limit: 256 });
        }
    }
}

#[test]
fn copies_out_of_anys_are_bounded() {
    // One value of many octets, and many anys that lead to it: each would be a copy.
    let list = TypeCode::build(|to| {
        to.value("IDL:Node:1.0", "Node", 0, |to| (None, vec![("octets", to.basic::<Vec<u8>>(), 1)]))
    })
    .unwrap();
    let mut text = [&[TAG | 2][..], &ID, &[40_000]].concat();
    text.extend([0; 10_000]);
    let anys = 1000;
    for _ in 0..anys {
        let at = text.len() as i32;
        text.extend([AGAIN, back(at + 1)]);
    }
    let octets = longs(&text);
    let mut from = Decoder::from_slice(&octets, ByteOrder::Big, Format::default());
    let read = (0..=anys).map(|_| Any::decode_value(list.clone(), &mut from));
    let failed = read.enumerate().find(|(_, read)| read.is_err());
    let (index, error) = failed.expect("a thousand times 40 KB");
    assert!((16..40).contains(&index), "{index}");
    assert!(error.unwrap_err().to_string().contains("lead out of anys to too much"));
}

#[test]
fn value_base_takes_what_is_registered() {
    let any: Option<Value<ValueBase>> = graph().unwrap().cast();
    let mut to = Encoder::new(Format::default());
    any.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).with_context(&Knowing);
    let read = <Option<Value<ValueBase>>>::decode(&mut from).unwrap().unwrap();
    check(&read.cast());
    let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
    let error = <Option<Value<ValueBase>>>::decode(&mut from).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::UnknownValueType);
    let any = Any::new(&any).unwrap();
    check(
        &again(&any, 4, &Knowing)
            .unwrap()
            .get_with::<Option<Value<ValueBase>>>(&Knowing)
            .unwrap()
            .unwrap()
            .cast(),
    );
}

#[test]
fn a_codebase_is_kept() {
    let text = [&[TAG | 3, 5, 0x6674_703a, 0][..], &ID, &[7, 0]].concat();
    let read = message(&text, &[true]).unwrap();
    assert_eq!(read[0].as_ref().unwrap().get().unwrap().codebase(), Some("ftp:"));
    let mut to = Encoder::new(Format::default());
    read[0].encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let read = Link::decode(&mut Decoder::new(&octets, ByteOrder::NATIVE, Format::default())).unwrap();
    assert_eq!(read.unwrap().get().unwrap().codebase(), Some("ftp:"));
}

#[test]
fn an_any_in_two_segments_is_put_together() {
    let any = Any::new(&graph()).unwrap();
    let mut to = Encoder::new(Format::default());
    any.encode(&mut to).unwrap();
    let link = graph();
    link.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    for at in 1..octets.len() {
        let segment = |part: &[u8], phase| Segment { octets: Octets::from(part), phase };
        let segments = vec![segment(&octets[..at], 0), segment(&octets[at..], at)];
        let body = Body::many(segments, ByteOrder::NATIVE);
        let mut from = Decoder::over(&body, Format::default()).with_context(&Knowing);
        let read = Any::decode(&mut from).unwrap_or_else(|error| panic!("split at {at}: {error}"));
        check(&read.get::<Link>().unwrap());
        check(&Link::decode(&mut from).unwrap_or_else(|error| panic!("split at {at}: {error}")));
        assert_eq!(from.remaining(), 0);
    }
}
