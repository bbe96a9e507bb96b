//! Values of types that only a description tells, and of types that nobody here knows, in anys; values in parts.

use bytes::Bytes;
use std::sync::Arc;
use zorb_cdr::{
    Any, ByteOrder, DecodeContext, DecodeError, DecodeErrorKind, Decoder, Describer, Encoder, Format,
    TypeCode, TypeRef, ValuePiece, ValueStart,
};

const BASE: &str = "IDL:Base:1.0";
const DERIVED: &str = "IDL:Derived:1.0";

fn base(to: &mut Describer) -> TypeRef {
    to.value(BASE, "Base", 0, |to| {
        let (x, next) = (to.basic::<u16>(), base(to));
        (None, vec![("x", x, 1), ("next", next, 1)])
    })
}

fn base_type() -> TypeCode {
    TypeCode::build(base).unwrap()
}

fn derived_type() -> TypeCode {
    TypeCode::build(|to| {
        to.value(DERIVED, "Derived", 0, |to| {
            let (base, weight) = (base(to), to.basic::<f64>());
            (Some(base), vec![("weight", weight, 1)])
        })
    })
    .unwrap()
}

struct Knowing;

impl DecodeContext for Knowing {
    fn described_value(&self, id: &str) -> Option<TypeCode> {
        (id == DERIVED).then(derived_type)
    }
}

struct Ignorant;

impl DecodeContext for Ignorant {}

/// A base that leads to a derived value, which leads back to it; none in chunks.
fn graph(before: usize) -> Bytes {
    let mut to = Encoder::new(Format::default());
    to.write_octets(&vec![0xaa; before]);
    let ids = |id: &str| -> Arc<[Arc<[u8]>]> { Arc::new([id.as_bytes().into()]) };
    let outer = to.begin_value(&ids(BASE), None, false).unwrap();
    to.write_u16(1);
    let inner = to.begin_value(&ids(DERIVED), None, false).unwrap();
    to.write_u16(2);
    to.write_value_again(outer.at).unwrap();
    to.write_f64(0.5);
    to.end_value(inner).unwrap();
    to.end_value(outer).unwrap();
    to.to_bytes()
}

fn read(octets: &Bytes, before: usize, context: &dyn DecodeContext) -> Result<Any, DecodeError> {
    let mut from = Decoder::new(octets, ByteOrder::NATIVE, Format::default()).with_context(context);
    from.read_octets(before)?;
    let any = Any::decode_value(base_type(), &mut from)?;
    assert_eq!(from.remaining(), 0);
    Ok(any)
}

fn sent(any: &Any, before: usize) -> Bytes {
    let mut to = Encoder::new(Format::default());
    to.write_octets(&vec![0xaa; before]);
    any.encode_value(&mut to).unwrap();
    to.to_bytes()
}

#[test]
fn a_described_type_is_kept_with_the_any() {
    for before in 0..16 {
        let any = read(&graph(before), before, &Knowing).unwrap();
        assert_eq!(any.described_value(DERIVED), Some(&derived_type()));
        // Wherever it goes, in an any of an any too, it is the same; nobody is asked again.
        for shift in 0..8 {
            let again = read(&sent(&any, shift), shift, &Knowing).unwrap();
            assert_eq!(again, any, "from {before} to {shift}");
            assert_eq!(sent(&again, 0), graph(0));
        }
        let holder = Any::new(&any).unwrap();
        let held = holder.get::<Any>().unwrap();
        assert_eq!(sent(&held, 0), graph(0));
    }
}

#[test]
fn an_unknown_type_is_named_with_its_place() {
    let error = read(&graph(0), 0, &Ignorant).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::UnknownValueType);
    assert_eq!(error.path.to_string(), "next of type IDL:Derived:1.0");
}

/// A value in chunks of a type that nobody knows: octets, a value between two chunks, octets.
fn opaque(before: usize, phase: usize) -> Bytes {
    let mut to = Encoder::new(Format::default());
    to.write_octets(&vec![0xaa; before]);
    let ids = |id: &str| -> Arc<[Arc<[u8]>]> { Arc::new([id.as_bytes().into()]) };
    let outer = to.begin_value_at(phase, &ids("IDL:Far:1.0"), None).unwrap();
    to.write_value_octets(b"eight...", phase).unwrap();
    let inner = to.begin_value(&ids(BASE), None, true).unwrap();
    to.write_u16(1);
    to.write_value_again(inner.at).unwrap();
    to.end_value(inner).unwrap();
    to.write_value_octets(b"end", to.position() & 7).unwrap();
    to.end_value(outer).unwrap();
    to.to_bytes()
}

fn pieces(any: &Any) -> Vec<(Vec<u8>, usize)> {
    let mut from = any.decoder();
    let ValueStart::New(begun) = from.begin_value().unwrap() else { panic!("it is a value") };
    assert_eq!((&*begun.ids[0], begun.is_chunked), (&b"IDL:Far:1.0"[..], true));
    let mut pieces = Vec::new();
    loop {
        match from.value_piece(&begun).unwrap() {
            ValuePiece::Octets { octets, at } => pieces.push((octets, at)),
            ValuePiece::Value(ValueStart::New(inner)) => {
                assert_eq!((&*inner.ids[0], from.read_u16().unwrap()), (BASE.as_bytes(), 1));
                assert!(matches!(from.begin_value().unwrap(), ValueStart::Again(at) if at == inner.at));
                assert!(matches!(from.value_piece(&inner).unwrap(), ValuePiece::End));
            }
            ValuePiece::Value(other) => panic!("{other:?}"),
            ValuePiece::End => return pieces,
        }
    }
}

#[test]
fn octets_that_nobody_knows_stay_where_they_are_aligned() {
    for phase in [0, 4] {
        let any = read(&opaque(0, phase), 0, &Ignorant).unwrap();
        let told = pieces(&any);
        assert_eq!((told.len(), &told[0], &told[1].0), (2, &(b"eight...".to_vec(), phase), &b"end".to_vec()));
        for before in 0..16 {
            let again = read(&sent(&any, before), before, &Ignorant).unwrap();
            assert_eq!(pieces(&again), told, "{before} octets on");
        }
    }
    // Nobody can turn them around, or move them by less than a chunk is moved.
    let foreign = opaque(0, 0);
    let mut from = Decoder::new(&foreign, ByteOrder::FOREIGN, Format::default());
    assert!(Any::decode_value(base_type(), &mut from).is_err());
    let mut to = Encoder::new(Format::default());
    let ids: Arc<[Arc<[u8]>]> = Arc::new([b"IDL:Far:1.0"[..].into()]);
    assert!(to.begin_value_at(2, &ids, None).and_then(|_| to.write_value_octets(b"x", 2)).is_err());
    assert!(Encoder::new(Format::default()).write_value_octets(b"x", 0).is_err(), "not in chunks");
}

#[test]
fn every_cut_and_every_changed_octet_ends() {
    for whole in [graph(0), opaque(0, 4)] {
        let check = |octets: Vec<u8>| {
            let octets = Bytes::from(octets);
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let mut from = Decoder::new(&octets, order, Format::default()).with_context(&Knowing);
                let Ok(any) = Any::decode_value(base_type(), &mut from) else { continue };
                let mut to = Encoder::new(Format::default());
                to.write_u8(0);
                let _ = any.encode_value(&mut to);
                let mut from = any.decoder();
                if let Ok(ValueStart::New(begun)) = from.begin_value() {
                    while let Ok(ValuePiece::Octets { .. } | ValuePiece::Value(_)) = from.value_piece(&begun)
                    {
                    }
                }
            }
        };
        (0..whole.len()).for_each(|end| check(whole[..end].to_vec()));
        for at in 0..whole.len() {
            for value in [0, 1, 8, 0x7f, 0xfe, 0xff] {
                let mut changed = whole.to_vec();
                changed[at] = value;
                check(changed);
            }
        }
    }
}
