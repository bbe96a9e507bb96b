//! [`Described`]: types that have a TypeCode.

use super::{Describer, TCKind, TypeCode, TypeRef};
use crate::{Any, Char, Element, LongDouble, Sequence, WChar};
use alloc::string::String;
use alloc::vec::Vec;

/// A Rust type that stands for one IDL type: its values can be held by an [`Any`].
///
/// `String` is a `string`; a `wstring`, a bound or the digits of a decimal are not of the Rust type, and an any is given
/// their TypeCode by [`Any::with_type_code`].
pub trait Described {
    /// Describes the type.
    fn describe(to: &mut Describer) -> TypeRef;

    /// The TypeCode. Types that are described at length keep it.
    fn type_code() -> TypeCode {
        TypeCode::of::<Self>()
    }
}

macro_rules! basic {
    ($($type:ty: $kind:ident,)*) => {$(
        impl Described for $type {
            fn describe(to: &mut Describer) -> TypeRef {
                to.plain(TCKind::$kind)
            }
        }
    )*};
}

basic! {
    (): Void, bool: Boolean, u8: Octet, i16: Short, u16: UShort, i32: Long, u32: ULong, i64: LongLong, u64: ULongLong,
    f32: Float, f64: Double, LongDouble: LongDouble, Char: Char, WChar: WChar, Any: Any, TypeCode: TypeCode,
    // CORBA has no kind for `int8`; an octet has its form.
    i8: Octet,
}

impl Described for str {
    fn describe(to: &mut Describer) -> TypeRef {
        to.string(0)
    }
}

impl Described for String {
    fn describe(to: &mut Describer) -> TypeRef {
        to.string(0)
    }
}

impl<T: Described> Described for Vec<T> {
    fn describe(to: &mut Describer) -> TypeRef {
        let element = T::describe(to);
        to.sequence(element, 0)
    }
}

impl<T: Described + Element> Described for Sequence<T> {
    fn describe(to: &mut Describer) -> TypeRef {
        let element = T::describe(to);
        to.sequence(element, 0)
    }
}

impl<T: Described, const N: usize> Described for [T; N] {
    fn describe(to: &mut Describer) -> TypeRef {
        let element = T::describe(to);
        to.array(element, N as u32)
    }
}
