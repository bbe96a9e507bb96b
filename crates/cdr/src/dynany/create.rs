//! Values of a type before anything was put in: "Creating a DynAny object" of the specification.

use super::union::Arms;
use super::{Content, DynAny, DynAnyError, MOST_NESTED, Result};
use crate::{Any, Encode, EncodeError, Encoder, TCKind, TypeCode};
use crate::{Char, LongDouble, WChar};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The components that one operation may make: 64 MiB of them. A type of few octets may describe values of many.
pub(super) const MOST_COMPONENTS: usize = 1 << 20;

/// What an operation may still make.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) const fn new() -> Self {
        Self(MOST_COMPONENTS)
    }

    /// Allows for one more component, which stands within `depth` others; or says why not.
    pub(super) fn take(&mut self, depth: u16) -> core::result::Result<(), &'static str> {
        if depth >= MOST_NESTED {
            return Err("components are nested deeper than 256");
        }
        self.0 = self.0.checked_sub(1).ok_or("it has more than 1048576 components")?;
        Ok(())
    }
}

/// A value that stands within `depth` others.
pub(super) fn created(ty: &TypeCode, depth: u16) -> Result<DynAny> {
    create(ty, depth, &mut Budget::new())
}

/// Makes a value. It calls itself for components, as deep as they may nest, so that what is alone in it stands elsewhere and its own
/// frame on the stack is small.
pub(super) fn create(ty: &TypeCode, depth: u16, budget: &mut Budget) -> Result<DynAny> {
    budget.take(depth).map_err(|why| DynAnyError::InconsistentTypeCode { of: ty.clone(), why })?;
    let content = match ty.resolved_kind() {
        TCKind::Struct | TCKind::Except => Content::Parts(members(ty, depth, budget)?),
        TCKind::Array => Content::Parts(elements(ty, depth, length(ty), budget)?),
        TCKind::Union => Content::Union(Box::new(Arms::created(ty, depth, budget)?)),
        kind => leaf(kind, ty)?,
    };
    Ok(DynAny::of(ty.clone(), content, depth))
}

/// Makes what has no components.
#[inline(never)]
fn leaf(kind: TCKind, ty: &TypeCode) -> Result<Content> {
    Ok(match kind {
        TCKind::Null | TCKind::Void => Content::Nothing,
        TCKind::Short => Content::Short(0),
        TCKind::Long => Content::Long(0),
        TCKind::UShort => Content::UShort(0),
        TCKind::ULong => Content::ULong(0),
        TCKind::Float => Content::Float(0.0),
        TCKind::Double => Content::Double(0.0),
        TCKind::Boolean => Content::Boolean(false),
        TCKind::Char => Content::Char(Char::default()),
        TCKind::Octet => Content::Octet(0),
        TCKind::LongLong => Content::LongLong(0),
        TCKind::ULongLong => Content::ULongLong(0),
        TCKind::LongDouble => Content::LongDouble(LongDouble::default()),
        TCKind::WChar => Content::WChar(WChar::default()),
        TCKind::String | TCKind::WString => Content::Text(String::new()),
        TCKind::Fixed => Content::Fixed(Box::default()),
        TCKind::Any => Content::Any(Box::new(Any::EMPTY)),
        TCKind::TypeCode => Content::TypeCode(Box::new(TypeCode::NULL)),
        TCKind::Enum => Content::Enumerator(0),
        TCKind::Sequence => Content::Parts(Vec::new()),
        TCKind::ObjRef
        | TCKind::Component
        | TCKind::Home
        | TCKind::AbstractInterface
        | TCKind::Value
        | TCKind::ValueBox
        | TCKind::Event => Content::Whole(Box::new(Any::with_type_code(ty.clone(), &Nil(kind))?)),
        TCKind::Principal | TCKind::Native | TCKind::LocalInterface | TCKind::Alias => {
            let why = "values of its kind are not made at run time";
            return Err(DynAnyError::InconsistentTypeCode { of: ty.clone(), why });
        }
        TCKind::Struct | TCKind::Except | TCKind::Array | TCKind::Union => {
            return Err(DynAnyError::mismatch(ty, "without components"));
        }
    })
}

fn members(ty: &TypeCode, depth: u16, budget: &mut Budget) -> Result<Vec<DynAny>> {
    let members = ty.resolved().map_or(&[][..], |node| &node.members);
    let mut parts = Vec::with_capacity(members.len());
    for member in members {
        parts.push(create(&ty.part(member.ty), depth + 1, budget)?);
    }
    Ok(parts)
}

/// How long an array is.
pub(super) fn length(ty: &TypeCode) -> usize {
    ty.resolved().map_or(0, |node| node.number as usize)
}

/// The type of the elements of an array or sequence.
pub(super) fn element_of(ty: &TypeCode) -> TypeCode {
    ty.resolved().map_or(TypeCode::NULL, |node| ty.part(node.content))
}

/// So many new elements.
pub(super) fn elements(ty: &TypeCode, depth: u16, count: usize, budget: &mut Budget) -> Result<Vec<DynAny>> {
    let element = element_of(ty);
    let mut parts = Vec::new();
    for _ in 0..count {
        parts.push(create(&element, depth + 1, budget)?);
    }
    Ok(parts)
}

/// The reference to nothing, or the value that is none.
struct Nil(TCKind);

impl Encode for Nil {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> core::result::Result<(), EncodeError> {
        match self.0 {
            TCKind::ObjRef | TCKind::Component | TCKind::Home => {
                to.write_raw_string(b"")?;
                to.write_length(0)?;
            }
            TCKind::AbstractInterface => {
                to.write_bool(false);
                to.write_u32(0);
            }
            _ => to.write_u32(0),
        }
        Ok(())
    }
}
