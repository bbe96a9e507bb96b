//! Anys of values of valuetypes from any bytes, beside the values themselves.

use super::graphs::{Link, Named, Node, graph_seeds};
use crate::{
    Any, AnyError, ByteOrder, Decode, DecodeContext, DecodeErrorKind, Decoder, Described, Describer, Encoder,
    Format, TypeCode, TypeRef, ValueInfo, ValueType,
};
use alloc::vec::Vec;

impl Described for Node {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:N:1.0", "N", 0, |to| {
            let (x, next, all) = (to.basic::<u16>(), to.basic::<Link>(), to.basic::<Vec<Link>>());
            (None, alloc::vec![("x", x, 1), ("next", next, 1), ("all", all, 1)])
        })
    }
}

/// Knows the types by factories, or not.
struct Context(bool);

impl DecodeContext for Context {
    fn value_type(&self, id: &[u8]) -> Option<&'static ValueInfo> {
        let known = [Node::info(), Named::info()];
        known.into_iter().find(|info| self.0 && info.id().as_bytes() == id)
    }
}

/// Reads up to four values from arbitrary bytes, some of them as the contents of anys. An any that can be sent on in another alignment is
/// then read as an any.
///
/// ```text
/// octet 0   bit 0 byte order, bit 1 whether factories are registered, bits 2 to 5 which values are read as anys, bits 6 and 7 the alignment
///           in which they are sent on
/// rest      the values
/// ```
///
/// # Panics
/// Where that does not hold: a fault of this crate.
pub fn graph_anys(data: &[u8]) {
    let [settings, body @ ..] = data else { return };
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let context = Context(settings & 2 != 0);
    let ty = TypeCode::of::<Link>();
    let mut from = Decoder::from_slice(body, order, Format::default()).with_context(&context);
    let mut anys = Vec::new();
    for index in 0..4 {
        let read = if settings >> (2 + index) & 1 == 0 {
            Link::decode(&mut from).map(drop)
        } else {
            Any::decode_value(ty.clone(), &mut from).map(|any| anys.push(any))
        };
        if read.is_err() {
            break;
        }
    }
    drop(from);
    for any in anys {
        let got = any.get_with::<Link>(&context);
        let mut to = Encoder::new(Format::default());
        to.write_octets(&[0; 4][..usize::from(settings >> 6) + 1]);
        let before = to.len();
        if any.encode_value(&mut to).is_err() {
            continue;
        }
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default()).with_context(&context);
        from.read_octets(before).expect("they were written");
        match Any::decode_value(ty.clone(), &mut from) {
            Ok(second) => {
                assert_eq!(from.remaining(), 0);
                let again = second.get_with::<Link>(&context);
                assert!(got.is_err() || again.is_ok() || is_deep(&again), "{again:?}");
            }
            Err(error) => assert!(matches!(error.kind, DecodeErrorKind::TooDeep { .. }), "{error}"),
        }
    }
}

fn is_deep(got: &Result<Link, AnyError>) -> bool {
    matches!(got, Err(AnyError::Decode(error)) if matches!(error.kind, DecodeErrorKind::TooDeep { .. }))
}

/// Octets to begin with: those of [`graph_seeds`], read as anys and as values.
pub fn graph_any_seeds() -> Vec<Vec<u8>> {
    let seeds = graph_seeds();
    let settings = [0b1111_1110, 0b0001_0110, 0b0111_1100];
    seeds.iter().zip(settings).map(|(seed, settings)| [&[settings], &seed[1..]].concat()).collect()
}
