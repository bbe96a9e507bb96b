//! How a value travels where its Rust type does not say: bounds, digits, wide text, object references.
//!
//! `string<5>` and `wstring` are both `String`, a nil reference is `None`. Generated code therefore names a *codec* for
//! such types, built the way the IDL type is built:
//!
//! ```text
//! sequence<wstring<8>, 4>     List<WideText<8>, 4>          Vec<String>
//! Account peers[2]            Array<Reference>              [Option<Account>; 2]
//! sequence<double, 16>        Elements<16>                  Sequence<f64>
//! sequence<fixed<9, 2>>       List<Decimal<9, 2>>           Vec<Fixed>
//! map<string<8>, Account>     Map<Text<8>, Reference>       BTreeMap<String, Option<Account>>
//! map<double, string<8>>      List<(Plain, Text<8>)>        Vec<(f64, String)>
//! ```
//!
//! Codecs are types without values: they cost nothing when the program runs. A bound is checked before anything of the
//! value is written, and on receipt before anything is allocated for its elements.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use zorb_cdr::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Element, Encode, EncodeError, Encoder, Fixed, Sequence,
    check_bound,
};

use crate::object::ObjectRef;
use crate::skeleton::Interface;

/// Writes values of type `V` in a form that `V` alone does not determine.
pub trait EncodeAs<V: ?Sized> {
    /// Writes the value; large runs in it may be borrowed.
    fn encode_as<'a>(value: &'a V, to: &mut Encoder<'a>) -> Result<(), EncodeError>;

    /// Writes the value into a message that outlives it.
    fn encode_owned_as(value: &V, to: &mut Encoder<'static>) -> Result<(), EncodeError>;
}

/// Reads what [`EncodeAs`] of the same codec writes.
pub trait DecodeAs<V> {
    /// The fewest octets that a value takes; at least 1.
    const MIN_SIZE: usize;

    /// Reads a value.
    fn decode_as(from: &mut Decoder<'_>) -> Result<V, DecodeError>;
}

/// No bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// The way that the type itself travels.
pub enum Plain {}

impl<V: Encode + Clone> EncodeAs<V> for Plain {
    #[inline]
    fn encode_as<'a>(value: &'a V, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        value.encode(to)
    }

    fn encode_owned_as(value: &V, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        value.clone().encode_owned(to)
    }
}

impl<V: Decode> DecodeAs<V> for Plain {
    const MIN_SIZE: usize = V::MIN_SIZE;

    #[inline]
    fn decode_as(from: &mut Decoder<'_>) -> Result<V, DecodeError> {
        V::decode(from)
    }
}

/// `string` or `string<BOUND>`; the bound counts characters.
pub enum Text<const BOUND: u32 = UNBOUNDED> {}

/// `wstring` or `wstring<BOUND>`; the bound counts characters.
pub enum WideText<const BOUND: u32 = UNBOUNDED> {}

macro_rules! text {
    ($codec:ident: $what:literal $write:ident $read:ident) => {
        impl<const BOUND: u32> EncodeAs<str> for $codec<BOUND> {
            fn encode_as<'a>(value: &'a str, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                // No text has more characters than octets, so most need no count.
                if value.len() > BOUND as usize {
                    check_bound(value.chars().count(), BOUND, $what)?;
                }
                to.$write(value)
            }

            fn encode_owned_as(value: &str, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
                if value.len() > BOUND as usize {
                    check_bound(value.chars().count(), BOUND, $what)?;
                }
                to.$write(value)
            }
        }

        impl<const BOUND: u32> EncodeAs<String> for $codec<BOUND> {
            fn encode_as<'a>(value: &'a String, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                Self::encode_as(value.as_str(), to)
            }

            fn encode_owned_as(value: &String, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
                Self::encode_owned_as(value.as_str(), to)
            }
        }

        impl<const BOUND: u32> DecodeAs<String> for $codec<BOUND> {
            // An empty string is a length word, and in GIOP 1.2 so is an empty wide one.
            const MIN_SIZE: usize = 4;

            fn decode_as(from: &mut Decoder<'_>) -> Result<String, DecodeError> {
                let text = from.$read()?;
                if text.len() > BOUND as usize {
                    from.check_bound(text.chars().count(), BOUND, $what)?;
                }
                Ok(text)
            }
        }
    };
}
text!(Text: "string" write_string read_string);
text!(WideText: "wstring" write_wstring read_wstring);

/// `sequence<T, BOUND>` of elements: a [`Sequence`], or a slice where it is written.
pub enum Elements<const BOUND: u32> {}

impl<T: Element, const BOUND: u32> EncodeAs<[T]> for Elements<BOUND> {
    fn encode_as<'a>(value: &'a [T], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        value.encode(to)
    }

    fn encode_owned_as(value: &[T], to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        Sequence::from(value).encode_owned(to)
    }
}

impl<T: Element, const BOUND: u32> EncodeAs<Sequence<T>> for Elements<BOUND> {
    fn encode_as<'a>(value: &'a Sequence<T>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        value.encode(to)
    }

    fn encode_owned_as(value: &Sequence<T>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        value.clone().encode_owned(to)
    }
}

impl<T: Element, const BOUND: u32> DecodeAs<Sequence<T>> for Elements<BOUND> {
    const MIN_SIZE: usize = 4;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Sequence<T>, DecodeError> {
        from.read_bounded(BOUND, "sequence")
    }
}

/// `sequence<T>` or `sequence<T, BOUND>` of other types, each of which travels as `C`: a `Vec`, or a slice where it is
/// written.
pub struct List<C, const BOUND: u32 = UNBOUNDED>(C);

impl<V, C: EncodeAs<V>, const BOUND: u32> EncodeAs<[V]> for List<C, BOUND> {
    fn encode_as<'a>(value: &'a [V], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        to.write_length(value.len())?;
        value.iter().try_for_each(|element| C::encode_as(element, to))
    }

    fn encode_owned_as(value: &[V], to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "sequence")?;
        to.write_length(value.len())?;
        value.iter().try_for_each(|element| C::encode_owned_as(element, to))
    }
}

impl<V, C: EncodeAs<V>, const BOUND: u32> EncodeAs<Vec<V>> for List<C, BOUND> {
    fn encode_as<'a>(value: &'a Vec<V>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Self::encode_as(value.as_slice(), to)
    }

    fn encode_owned_as(value: &Vec<V>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        Self::encode_owned_as(value.as_slice(), to)
    }
}

impl<V, C: DecodeAs<V>, const BOUND: u32> DecodeAs<Vec<V>> for List<C, BOUND> {
    const MIN_SIZE: usize = 4;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Vec<V>, DecodeError> {
        let count = from.read_bounded_count(C::MIN_SIZE, BOUND)?;
        from.nested(|from| elements::<V, C>(from, count))
    }
}

/// `sequence<T>` or `sequence<T, BOUND>` of a type whose values take no octets, which is a struct without members or made of such: the
/// number of elements is all that travels.
///
/// No count can be checked against the octets that follow, so that there is a limit of its own: [`MOST_NOTHINGS`].
pub enum Nothings<const BOUND: u32 = UNBOUNDED> {}

pub use zorb_cdr::MOST_NOTHINGS;

impl<const BOUND: u32> Nothings<BOUND> {
    const BOUND: u32 = if BOUND < MOST_NOTHINGS { BOUND } else { MOST_NOTHINGS };
}

impl<V: Encode, const BOUND: u32> EncodeAs<[V]> for Nothings<BOUND> {
    fn encode_as<'a>(value: &'a [V], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        check_bound(value.len(), Self::BOUND, "sequence of nothing")?;
        to.write_length(value.len())
    }

    fn encode_owned_as(value: &[V], to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        check_bound(value.len(), Self::BOUND, "sequence of nothing")?;
        to.write_length(value.len())
    }
}

impl<V: Encode, const BOUND: u32> EncodeAs<Vec<V>> for Nothings<BOUND> {
    fn encode_as<'a>(value: &'a Vec<V>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Self::encode_as(value.as_slice(), to)
    }

    fn encode_owned_as(value: &Vec<V>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        Self::encode_owned_as(value.as_slice(), to)
    }
}

impl<V: Decode, const BOUND: u32> DecodeAs<Vec<V>> for Nothings<BOUND> {
    const MIN_SIZE: usize = 4;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Vec<V>, DecodeError> {
        let count = from.read_u32()? as usize;
        from.check_bound(count, Self::BOUND, "sequence of nothing")?;
        from.nested(|from| elements::<V, Plain>(from, count))
    }
}

/// `map<K, V>` or `map<K, V, BOUND>`, whose keys travel as `K` and values as `V`: as a sequence of the pairs (DDS-XTYPES 1.3,
/// §7.4, encoding version 1), here in the order of the keys. Pairs are read in any order; a key that stands twice is refused.
pub struct Map<K, V, const BOUND: u32 = UNBOUNDED>(K, V);

impl<K, V, A: EncodeAs<K>, B: EncodeAs<V>, const BOUND: u32> EncodeAs<BTreeMap<K, V>> for Map<A, B, BOUND> {
    fn encode_as<'a>(value: &'a BTreeMap<K, V>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "map")?;
        to.write_length(value.len())?;
        value.iter().try_for_each(|(key, value)| {
            A::encode_as(key, to)?;
            B::encode_as(value, to)
        })
    }

    fn encode_owned_as(value: &BTreeMap<K, V>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        check_bound(value.len(), BOUND, "map")?;
        to.write_length(value.len())?;
        value.iter().try_for_each(|(key, value)| {
            A::encode_owned_as(key, to)?;
            B::encode_owned_as(value, to)
        })
    }
}

impl<K: Ord, V, A: DecodeAs<K>, B: DecodeAs<V>, const BOUND: u32> DecodeAs<BTreeMap<K, V>>
    for Map<A, B, BOUND>
{
    const MIN_SIZE: usize = 4;

    fn decode_as(from: &mut Decoder<'_>) -> Result<BTreeMap<K, V>, DecodeError> {
        let count = from.read_bounded_count(A::MIN_SIZE.saturating_add(B::MIN_SIZE), BOUND)?;
        from.nested(|from| {
            let mut map = BTreeMap::new();
            for index in 0..count {
                let key = A::decode_as(from).map_err(|error| error.in_member("key").in_element(index))?;
                let value = B::decode_as(from).map_err(|error| error.in_member("value").in_element(index))?;
                if map.insert(key, value).is_some() {
                    return Err(from.error(DecodeErrorKind::Invalid("a key stands in it twice"), "map"));
                }
            }
            Ok(map)
        })
    }
}

/// `T name[N]` of elements that travel as `C`.
pub struct Array<C>(C);

impl<V, C: EncodeAs<V>, const N: usize> EncodeAs<[V; N]> for Array<C> {
    fn encode_as<'a>(value: &'a [V; N], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        value.iter().try_for_each(|element| C::encode_as(element, to))
    }

    fn encode_owned_as(value: &[V; N], to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        value.iter().try_for_each(|element| C::encode_owned_as(element, to))
    }
}

impl<V, C: DecodeAs<V>, const N: usize> DecodeAs<[V; N]> for Array<C> {
    const MIN_SIZE: usize = C::MIN_SIZE.saturating_mul(N);

    fn decode_as(from: &mut Decoder<'_>) -> Result<[V; N], DecodeError> {
        let values = elements::<V, C>(from, N)?;
        let wrong = |_| from.error(DecodeErrorKind::Invalid("an array of another length"), "array");
        values.try_into().map_err(wrong)
    }
}

/// So many values one after another. Room is made for at most 4 KiB of them before the first is read: a count is
/// checked against the octets that follow, but a value may be many times larger in memory than on the wire.
fn elements<V, C: DecodeAs<V>>(from: &mut Decoder<'_>, count: usize) -> Result<Vec<V>, DecodeError> {
    let mut values = Vec::with_capacity(count.min(4096 / size_of::<V>().max(1)));
    for index in 0..count {
        values.push(C::decode_as(from).map_err(|error| error.in_element(index))?);
    }
    Ok(values)
}

/// `fixed<DIGITS, SCALE>`.
pub enum Decimal<const DIGITS: u8, const SCALE: u8> {}

impl<const DIGITS: u8, const SCALE: u8> EncodeAs<Fixed> for Decimal<DIGITS, SCALE> {
    fn encode_as<'a>(value: &'a Fixed, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_fixed(*value, DIGITS, SCALE)
    }

    fn encode_owned_as(value: &Fixed, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_fixed(*value, DIGITS, SCALE)
    }
}

impl<const DIGITS: u8, const SCALE: u8> DecodeAs<Fixed> for Decimal<DIGITS, SCALE> {
    // Two digits to an octet, and half of one for the sign.
    const MIN_SIZE: usize = DIGITS as usize / 2 + 1;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Fixed, DecodeError> {
        from.read_fixed(DIGITS, SCALE)
    }
}

/// An object reference of interface `I`, or nil.
pub enum Reference {}

impl<I: Interface> EncodeAs<Option<I>> for Reference {
    fn encode_as<'a>(value: &'a Option<I>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        ObjectRef::encode(value.as_ref().map(I::as_object), to)
    }

    fn encode_owned_as(value: &Option<I>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        ObjectRef::encode(value.as_ref().map(I::as_object), to)
    }
}

impl<I: Interface> DecodeAs<Option<I>> for Reference {
    // The length of the type id and the number of profiles.
    const MIN_SIZE: usize = 8;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Option<I>, DecodeError> {
        Ok(ObjectRef::decode(from)?.map(I::from_object))
    }
}

macro_rules! tuples {
    ($(($($codec:ident $part:ident $at:tt),+);)*) => {$(
        impl<$($part, $codec: EncodeAs<$part>),+> EncodeAs<($($part,)+)> for ($($codec,)+) {
            fn encode_as<'a>(value: &'a ($($part,)+), to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                $($codec::encode_as(&value.$at, to)?;)+
                Ok(())
            }

            fn encode_owned_as(value: &($($part,)+), to: &mut Encoder<'static>) -> Result<(), EncodeError> {
                $($codec::encode_owned_as(&value.$at, to)?;)+
                Ok(())
            }
        }

        impl<$($part, $codec: DecodeAs<$part>),+> DecodeAs<($($part,)+)> for ($($codec,)+) {
            const MIN_SIZE: usize = 0 $(+ $codec::MIN_SIZE)+;

            fn decode_as(from: &mut Decoder<'_>) -> Result<($($part,)+), DecodeError> {
                Ok(($($codec::decode_as(from).map_err(|error| error.in_part($at))?,)+))
            }
        }
    )*};
}

// The results of an operation, some of which need a codec. As many as `zorb_cdr` has tuples.
tuples! {
    (C0 T0 0, C1 T1 1);
    (C0 T0 0, C1 T1 1, C2 T2 2);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18, C19 T19 19);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18, C19 T19 19, C20 T20 20);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18, C19 T19 19, C20 T20 20, C21 T21 21);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18, C19 T19 19, C20 T20 20, C21 T21 21, C22 T22 22);
    (C0 T0 0, C1 T1 1, C2 T2 2, C3 T3 3, C4 T4 4, C5 T5 5, C6 T6 6, C7 T7 7, C8 T8 8, C9 T9 9, C10 T10 10, C11 T11 11, C12 T12 12, C13 T13 13, C14 T14 14, C15 T15 15, C16 T16 16, C17 T17 17, C18 T18 18, C19 T19 19, C20 T20 20, C21 T21 21, C22 T22 22, C23 T23 23);
}

/// An argument with its name, which an error is to tell: a value, or a reference to one.
#[derive(Clone)]
pub struct Named<V>(pub(super) &'static str, pub(super) V);

impl<V: Encode> Encode for Named<V> {
    #[inline]
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.1.encode(to).map_err(|error| error.in_what(self.0))
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        self.1.encode_owned(to).map_err(|error| error.in_what(self.0))
    }
}

/// An argument that is owned may be read as well, which is how a call that is waited for later knows that it is.
impl<V: Decode> Decode for Named<V> {
    const MIN_SIZE: usize = V::MIN_SIZE;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        V::decode(from).map(|value| Named("argument", value))
    }
}

/// A borrowed argument with its codec.
pub struct Lent<'v, C, V: ?Sized>(pub(super) &'v V, pub(super) PhantomData<C>);

impl<C: EncodeAs<V>, V: ?Sized> Encode for Lent<'_, C, V> {
    #[inline]
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        C::encode_as(self.0, to)
    }
}

/// An owned argument with its codec.
pub struct Kept<C, V>(pub(super) V, pub(super) PhantomData<fn() -> C>);

impl<C, V: Clone> Clone for Kept<C, V> {
    fn clone(&self) -> Self {
        Kept(self.0.clone(), PhantomData)
    }
}

impl<C: EncodeAs<V>, V> Encode for Kept<C, V> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        C::encode_as(&self.0, to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        C::encode_owned_as(&self.0, to)
    }
}

impl<C: DecodeAs<V> + 'static, V: Send + 'static> Decode for Kept<C, V> {
    const MIN_SIZE: usize = C::MIN_SIZE;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        C::decode_as(from).map(|value| Kept(value, PhantomData))
    }
}

/// A borrowed reference, or nil.
pub struct LentReference<'v, I>(pub(super) Option<&'v I>);

impl<I: Interface> Encode for LentReference<'_, I> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        ObjectRef::encode(self.0.map(I::as_object), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{ByteOrder, CodeSets, EncodeErrorKind, Format, Version};

    const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

    fn written<C: EncodeAs<V>, V: ?Sized>(value: &V) -> Result<bytes::Bytes, EncodeError> {
        let mut to = Encoder::new(FORMAT);
        C::encode_as(value, &mut to)?;
        let mut owned = Encoder::new(FORMAT);
        C::encode_owned_as(value, &mut owned)?;
        let octets = to.to_bytes();
        assert_eq!(octets, owned.to_bytes(), "both ways of writing agree");
        Ok(octets)
    }

    fn read<C: DecodeAs<V>, V>(octets: &bytes::Bytes) -> Result<V, DecodeError> {
        C::decode_as(&mut Decoder::new(octets, ByteOrder::NATIVE, FORMAT))
    }

    #[test]
    fn nested_codecs_give_back_what_they_took() {
        let value = vec![["α".to_owned(), String::new()], ["b".to_owned(), "cd".to_owned()]];
        let octets = written::<List<Array<WideText<2>>, 2>, _>(&value).unwrap();
        assert_eq!(read::<List<Array<WideText<2>>, 2>, Vec<[String; 2]>>(&octets).unwrap(), value);
        for end in 0..octets.len() {
            assert!(read::<List<Array<WideText<2>>, 2>, Vec<[String; 2]>>(&octets.slice(..end)).is_err());
        }
    }

    #[test]
    fn a_bound_counts_characters() {
        assert!(written::<Text<2>, str>("äö").is_ok());
        let error = written::<Text<2>, str>("äöü").unwrap_err();
        assert_eq!(error.kind, EncodeErrorKind::BoundExceeded { length: 3, bound: 2 });
        let octets = written::<Text, str>("äöü").unwrap();
        let error = read::<Text<2>, String>(&octets).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::BoundExceeded { length: 3, bound: 2 });
        assert_eq!(read::<Text<3>, String>(&octets).unwrap(), "äöü");
    }

    #[test]
    fn bounded_sequences_are_checked_both_ways() {
        let value: Sequence<f64> = vec![1.0, 2.0].into();
        let octets = written::<Elements<2>, _>(&value).unwrap();
        assert_eq!(read::<Elements<2>, Sequence<f64>>(&octets).unwrap(), value);
        assert!(written::<Elements<1>, _>(&value).is_err());
        let error = read::<Elements<1>, Sequence<f64>>(&octets).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::BoundExceeded { length: 2, bound: 1 });
    }

    #[test]
    fn a_count_beyond_the_end_allocates_nothing() {
        let octets = bytes::Bytes::copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(read::<List<Text>, Vec<String>>(&octets).is_err());
    }
}
