//! [`ValueBase`]: what every valuetype is derived from.

use super::info::VALUE_BASE;
use super::{Value, ValueInfo, ValueType, read, write};
use crate::{DecodeError, DecodeErrorKind, Decoder, Described, Describer, EncodeError, Encoder, TypeRef};

/// IDL's `ValueBase`: the base of all valuetypes, without state. Where it stands in IDL, `Option<Value<ValueBase>>` does in Rust;
/// [`cast`](super::Value::cast) gives the value as one of its own type or of another that it is of.
///
/// A value that is received where `ValueBase` is declared must be of a type that is registered: the declaration names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueBase;

impl ValueType for ValueBase {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::of_abstract(VALUE_BASE, &[]);
        &INFO
    }

    fn stateless() -> Option<&'static Self> {
        Some(&ValueBase)
    }

    fn encode_state<'a>(&'a self, _: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Err(from.error(DecodeErrorKind::Invalid("no value is of an abstract type alone"), "value"))
    }
}

impl Described for ValueBase {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value(VALUE_BASE, "ValueBase", 0, |_| (None, alloc::vec::Vec::new()))
    }
}

/// Reads a value of a type that is known only now.
#[doc(hidden)]
pub fn read_value(
    formal: &'static ValueInfo,
    from: &mut Decoder<'_>,
) -> Result<Option<Value<ValueBase>>, DecodeError> {
    Ok(read::read(formal, from)?.map(Value::of))
}

/// Writes a value, which is not kept borrowed.
#[doc(hidden)]
pub fn write_value(value: Option<&Value<ValueBase>>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    write::write(value.map(|value| &value.link), ValueBase::info(), to)
}
