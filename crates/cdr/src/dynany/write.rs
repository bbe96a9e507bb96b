//! A value put together again: written as one of its type.

use super::union::Arms;
use super::valuetype::members;
use super::{Content, DynAny, MOST_NESTED};
use crate::valuetype::write::{Ids, begin, finish};
use crate::{Any, Encode, EncodeError, EncodeErrorKind, Encoder, TCKind, TypeCode};
use alloc::sync::Arc;
use bytes::Bytes;

type Result<T> = core::result::Result<T, EncodeError>;

/// The value, as one of this type that stands within so many others.
struct Written<'v>(&'v DynAny);

impl Encode for Written<'_> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<()> {
        write(self.0, &self.0.ty, 0, to)
    }
}

/// An any that holds the value.
pub(super) fn encoded(value: &DynAny) -> Result<Any> {
    match &value.content {
        Content::Whole(any) if any.type_code().is(&value.ty) => Ok((**any).clone()),
        _ => Any::with_type_code(value.ty.clone(), &Written(value)),
    }
}

/// The value in the one form that all are compared in: what was received may be in chunks, or have something in its padding.
pub(super) fn octets(value: &DynAny) -> Result<Bytes> {
    encoded(value)?.canonical()
}

fn invalid(why: &'static str) -> EncodeError {
    EncodeError::new(EncodeErrorKind::Invalid(why), "DynAny")
}

/// Writes the value where one of type `of` is due.
fn write<'a>(value: &'a DynAny, of: &TypeCode, depth: u16, to: &mut Encoder<'a>) -> Result<()> {
    if !value.ty.is(of) && !value.ty.equivalent(of) {
        return Err(invalid("a component was replaced by one of another type"));
    }
    if depth >= MOST_NESTED {
        return Err(invalid("components are nested deeper than 256"));
    }
    match &value.content {
        Content::Parts(parts) => parts_of(value, parts, depth, to),
        Content::Union(arms) => arms_of(value, arms, depth, to),
        _ => leaf(value, to),
    }
}

/// Writes what has no components, or was not taken apart.
#[inline(never)]
fn leaf<'a>(value: &'a DynAny, to: &mut Encoder<'a>) -> Result<()> {
    match &value.content {
        Content::Nothing => {}
        Content::Boolean(value) => to.write_bool(*value),
        Content::Octet(value) => to.write_u8(*value),
        Content::Char(value) => to.write_char(*value),
        Content::WChar(value) => to.write_wchar(*value)?,
        Content::Short(value) => to.write_i16(*value),
        Content::UShort(value) => to.write_u16(*value),
        Content::Long(value) => to.write_i32(*value),
        Content::ULong(value) => to.write_u32(*value),
        Content::LongLong(value) => to.write_i64(*value),
        Content::ULongLong(value) => to.write_u64(*value),
        Content::Float(value) => to.write_f32(*value),
        Content::Double(value) => to.write_f64(*value),
        Content::LongDouble(value) => to.write_long_double(*value),
        Content::Text(text) if value.kind() == TCKind::WString => to.write_wstring(text)?,
        Content::Text(text) => to.write_string(text)?,
        Content::Fixed(number) => {
            let (digits, scale) = super::fixed::parameters(&value.ty);
            to.write_fixed(**number, digits, scale)?;
        }
        Content::Enumerator(value) => to.write_u32(*value),
        Content::TypeCode(ty) => ty.encode(to)?,
        Content::Any(any) => any.encode(to)?,
        Content::Whole(any) => any.encode_value(to)?,
        Content::Parts(_) | Content::Union(_) => return Err(invalid("it has components")),
    }
    Ok(())
}

fn arms_of<'a>(value: &'a DynAny, arms: &'a Arms, depth: u16, to: &mut Encoder<'a>) -> Result<()> {
    let none = || invalid("its discriminator is none");
    let (switch, member) = arms.standing(&value.ty).map_err(|_| none())?;
    let Some((discriminator, rest)) = arms.parts.split_first() else { return Err(none()) };
    write(discriminator, &switch, depth + 1, to)?;
    match (member, rest) {
        (None, _) => Ok(()),
        (Some((index, of)), [member]) if arms.active == Some(index) => write(member, &of, depth + 1, to),
        // The discriminator was changed and the member has not followed yet.
        (Some((_, of)), _) => {
            let member = DynAny::new(&of).map_err(|_| invalid("its member cannot be made"))?;
            encoded(&member)?.transcode(to)
        }
    }
}

fn parts_of<'a>(value: &'a DynAny, parts: &'a [DynAny], depth: u16, to: &mut Encoder<'a>) -> Result<()> {
    let Some(node) = value.ty.resolved() else { return Err(invalid("its type has no components")) };
    match node.kind {
        TCKind::Sequence | TCKind::Array => {
            if node.kind == TCKind::Sequence {
                to.write_length(parts.len())?;
            } else if parts.len() != node.number as usize {
                return Err(invalid("an array has another number of elements"));
            }
            let element = value.ty.part(node.content);
            for part in parts {
                write(part, &element, depth + 1, to)?;
            }
        }
        TCKind::Value | TCKind::Event | TCKind::ValueBox => {
            // The same octets for all values of the type: the message has them once.
            let id: Arc<[u8]> = node.id.clone().into();
            let (_, chunked) = begin(None, &Ids::One(&id), false, to, |_, to| to.values().received = true)?;
            if node.kind == TCKind::ValueBox {
                let [boxed] = parts else { return Err(invalid("a box holds one value")) };
                write(boxed, &value.ty.part(node.content), depth + 1, to)?;
            } else {
                members_of(value, parts, depth, to)?;
            }
            finish(chunked, to)?;
        }
        _ => members_of(value, parts, depth, to)?,
    }
    Ok(())
}

fn members_of<'a>(value: &'a DynAny, parts: &'a [DynAny], depth: u16, to: &mut Encoder<'a>) -> Result<()> {
    let mut parts = parts.iter();
    for member in members(&value.ty) {
        let Some(part) = parts.next() else { return Err(invalid("it has another number of members")) };
        write(part, &value.ty.part(member.ty), depth + 1, to)?;
    }
    if parts.next().is_some() { Err(invalid("it has another number of members")) } else { Ok(()) }
}
