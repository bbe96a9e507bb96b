//! An encoded value taken apart.

use super::create::{Budget, element_of, length};
use super::union::Arms;
use super::valuetype::is_value;
use super::{Content, DynAny, DynAnyError, Result};
use crate::{Any, Decode, DecodeErrorKind, Decoder, TCKind, TypeCode};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The value of an any, as one of a type that is equivalent to the any's, within `depth` others.
pub(super) fn taken_apart(ty: &TypeCode, any: &Any, depth: u16) -> Result<DynAny> {
    // What stays whole need not be copied, nor read again what it leads to.
    let kind = ty.resolved_kind();
    if ty.is(any.type_code()) && (is_value(kind) || kind == TCKind::AbstractInterface) {
        return Ok(DynAny::of(ty.clone(), Content::Whole(Box::new(any.clone())), depth));
    }
    read(ty, &mut any.decoder(), depth, &mut Budget::new())
}

/// Reads a value. It calls itself for components, as deep as they may nest, so that what is alone in it stands elsewhere and its
/// own frame on the stack is small.
pub(super) fn read(ty: &TypeCode, from: &mut Decoder<'_>, depth: u16, budget: &mut Budget) -> Result<DynAny> {
    budget.take(depth).map_err(DynAnyError::invalid)?;
    let content = match ty.resolved_kind() {
        TCKind::Struct => Content::Parts(members(ty, from, depth, budget)?),
        TCKind::Except => {
            ty.read_exception_id(from)?;
            Content::Parts(members(ty, from, depth, budget)?)
        }
        TCKind::Sequence if !is_run(ty) => {
            let count = ty.read_count(from)?;
            Content::Parts(elements(ty, from, depth, count, budget)?)
        }
        TCKind::Array if !is_run(ty) => Content::Parts(elements(ty, from, depth, length(ty), budget)?),
        TCKind::Union => Content::Union(Box::new(Arms::read(ty, from, depth, budget)?)),
        kind => leaf(kind, ty, from)?,
    };
    Ok(DynAny::of(ty.clone(), content, depth))
}

/// Reads what has no components, or is not taken apart now.
#[inline(never)]
fn leaf(kind: TCKind, ty: &TypeCode, from: &mut Decoder<'_>) -> Result<Content> {
    Ok(match kind {
        TCKind::Null | TCKind::Void => Content::Nothing,
        TCKind::Short => Content::Short(from.read_i16()?),
        TCKind::Long => Content::Long(from.read_i32()?),
        TCKind::UShort => Content::UShort(from.read_u16()?),
        TCKind::ULong => Content::ULong(from.read_u32()?),
        TCKind::Float => Content::Float(from.read_f32()?),
        TCKind::Double => Content::Double(from.read_f64()?),
        TCKind::Boolean => Content::Boolean(from.read_bool()?),
        TCKind::Char => Content::Char(from.read_char()?),
        TCKind::Octet => Content::Octet(from.read_u8()?),
        TCKind::LongLong => Content::LongLong(from.read_i64()?),
        TCKind::ULongLong => Content::ULongLong(from.read_u64()?),
        TCKind::LongDouble => Content::LongDouble(from.read_long_double()?),
        TCKind::WChar => Content::WChar(from.read_wchar()?),
        TCKind::String => Content::Text(match bound(ty) {
            0 => from.read_string()?,
            bound => from.read_bounded_string(bound)?,
        }),
        TCKind::WString => Content::Text(match bound(ty) {
            0 => from.read_wstring()?,
            bound => from.read_bounded_wstring(bound)?,
        }),
        TCKind::Fixed => {
            let (digits, scale) = super::fixed::parameters(ty);
            Content::Fixed(Box::new(from.read_fixed(digits, scale)?))
        }
        TCKind::Any => Content::Any(Box::new(Any::decode(from)?)),
        TCKind::TypeCode => Content::TypeCode(Box::new(TypeCode::decode(from)?)),
        TCKind::Enum => {
            let value = from.read_u32()?;
            if value as usize >= ty.resolved().map_or(0, |node| node.members.len()) {
                return Err(from.error(DecodeErrorKind::BadEnumerator(value), "enum").into());
            }
            Content::Enumerator(value)
        }
        TCKind::Sequence
        | TCKind::Array
        | TCKind::ObjRef
        | TCKind::Component
        | TCKind::Home
        | TCKind::AbstractInterface
        | TCKind::Principal
        | TCKind::Value
        | TCKind::ValueBox
        | TCKind::Event => Content::Whole(Box::new(Any::decode_value(ty.clone(), from)?)),
        TCKind::Native | TCKind::LocalInterface | TCKind::Alias => {
            let why = "values of its kind are not sent";
            return Err(DynAnyError::InconsistentTypeCode { of: ty.clone(), why });
        }
        TCKind::Struct | TCKind::Except | TCKind::Union => {
            return Err(DynAnyError::mismatch(ty, "without components"));
        }
    })
}

/// The most characters of a string; 0 for any number.
pub(super) fn bound(ty: &TypeCode) -> u32 {
    ty.unaliased().length().unwrap_or(0)
}

/// Whether it is an array or sequence of numbers, of which one is found without reading those before it.
pub(super) fn is_run(ty: &TypeCode) -> bool {
    element_of(ty).resolved_kind().run_size().is_some()
}

fn members(ty: &TypeCode, from: &mut Decoder<'_>, depth: u16, budget: &mut Budget) -> Result<Vec<DynAny>> {
    let members = ty.resolved().map_or(&[][..], |node| &node.members);
    let mut parts = Vec::with_capacity(members.len());
    for member in members {
        parts.push(read(&ty.part(member.ty), from, depth + 1, budget)?);
    }
    Ok(parts)
}

fn elements(
    ty: &TypeCode,
    from: &mut Decoder<'_>,
    depth: u16,
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<DynAny>> {
    let element = element_of(ty);
    // Grows as they are read: the count is a peer's word.
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(read(&element, from, depth + 1, budget)?);
    }
    Ok(elements)
}

/// How many elements a run has.
pub(super) fn run_length(ty: &TypeCode, run: &Any) -> usize {
    match ty.resolved_kind() {
        TCKind::Array => length(ty),
        // It was decoded before.
        _ => run.decoder().read_count(1).unwrap_or(0),
    }
}

/// The elements of a run, each on its own.
pub(super) fn run_elements(ty: &TypeCode, run: &Any, depth: u16) -> Result<Vec<DynAny>> {
    let mut from = run.decoder();
    let count = match ty.resolved_kind() {
        TCKind::Array => length(ty),
        _ => from.read_count(1)?,
    };
    elements(ty, &mut from, depth, count, &mut Budget::new())
}

/// One element of a run, read where it stands.
pub(super) fn run_element(ty: &TypeCode, run: &Any, index: usize) -> Result<DynAny> {
    let element = element_of(ty);
    let size = element.resolved_kind().run_size().unwrap_or(1);
    let mut from = run.decoder();
    if ty.resolved_kind() == TCKind::Sequence {
        from.read_count(1)?;
    }
    from.align(size)?;
    from.read_octets(index.saturating_mul(size))?;
    read(&element, &mut from, 0, &mut Budget::new())
}
