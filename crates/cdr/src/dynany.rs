//! [`DynAny`]: a value of any type taken apart and put together at run time (CORBA 3.3 part 1, "Dynamic Management of Any
//! Values").
//!
//! A `DynAny` is a tree that its owner holds whole: components are borrowed from it, and there is nothing to destroy. What the
//! specification spreads over an interface for each kind are methods of one type here, which give
//! [`DynAnyError::TypeMismatch`] where the kind has no such thing.
//!
//! | in the specification | here |
//! |---|---|
//! | `create_dyn_any_from_type_code`, `create_dyn_any` | [`new`](DynAny::new), [`from_any`](DynAny::from_any) |
//! | `assign`, `from_any`, `to_any`, `equal`, `copy`, `type` | [`assign`](DynAny::assign), [`assign_any`](DynAny::assign_any), [`to_any`](DynAny::to_any), `==`, `clone`, [`type_code`](DynAny::type_code) |
//! | `seek`, `rewind`, `next`, `component_count`, `current_component` | the same; what has a number is had by [`index`](DynAny::index), too |
//! | `insert_long` …, `insert_long_seq` …, `insert_any`, `insert_typecode` | [`insert`](DynAny::insert) |
//! | `get_long` … | [`get`](DynAny::get) |
//! | `insert_string`, `insert_wstring`, `insert_reference` | the same; [`string`](DynAny::string), [`wstring`](DynAny::wstring), [`reference`](DynAny::reference) give them |
//! | `DynEnum`, `DynFixed` | [`enumerator`](DynAny::enumerator), [`ordinal`](DynAny::ordinal), [`fixed`](DynAny::fixed), and to set them |
//! | `DynStruct` | [`member`](DynAny::member), [`members`](DynAny::members), [`set_members`](DynAny::set_members), [`current_member_name`](DynAny::current_member_name) |
//! | `DynUnion` | [`discriminator`](DynAny::discriminator), [`active_member`](DynAny::active_member), [`select`](DynAny::select), … |
//! | `DynValue`, `DynValueBox` | as `DynStruct`; [`is_null`](DynAny::is_null), [`set_to_null`](DynAny::set_to_null), [`set_to_value`](DynAny::set_to_value); what is boxed is component 0 |
//! | `DynSequence`, `DynArray` | [`set_length`](DynAny::set_length), [`elements`](DynAny::elements), [`set_elements`](DynAny::set_elements) |
//!
//! What a peer described and sent is not believed. A tree nests up to 256 deep, and no operation makes more than 1 048 576
//! components (64 MiB); an array or sequence of numbers stays in one piece until a component of it is asked for.

mod create;
mod cursor;
mod enumeration;
mod error;
mod fixed;
mod print;
mod read;
mod scalars;
mod sequence;
mod structure;
mod union;
mod valuetype;
mod write;

pub use error::DynAnyError;

use crate::{Any, Char, Fixed, LongDouble, TCKind, TypeCode, WChar};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use union::Arms;
use write::encoded;

type Result<T> = core::result::Result<T, DynAnyError>;

/// How deep components may stand within components: as deep as values nest when they are decoded.
const MOST_NESTED: u16 = 256;

/// A value of a type that is known at run time only, taken apart into its components.
///
/// ```
/// use zorb_cdr::{Any, DynAny, TypeCode};
///
/// let point = TypeCode::build(|to| {
///     to.structure("IDL:Point:1.0", "Point", |to| vec![("x", to.basic::<f64>()), ("y", to.basic::<f64>())])
/// })?;
/// let mut value = DynAny::new(&point)?;
/// value.member("x")?.insert(&0.5f64)?;
/// assert!(value.member("y")?.insert("north").is_err());
///
/// let mut again = DynAny::from_any(&value.to_any()?)?;
/// assert_eq!(again.index(0)?.get::<f64>()?, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A component is borrowed mutably, so that its value can be replaced, but its type is its container's affair: a component that
/// was swapped for one of another type is an error of [`to_any`](Self::to_any).
pub struct DynAny {
    ty: TypeCode,
    content: Content,
    /// The current position, if it indicates a component.
    position: Option<u32>,
    /// How many components it stands within.
    depth: u16,
}

/// The value. Cloned by [`DynAny::moved`] alone, since components know how deep they stand.
#[derive(Clone)]
enum Content {
    /// Of the kinds null and void.
    Nothing,
    Boolean(bool),
    Octet(u8),
    Char(Char),
    WChar(WChar),
    Short(i16),
    UShort(u16),
    Long(i32),
    ULong(u32),
    LongLong(i64),
    ULongLong(u64),
    Float(f32),
    Double(f64),
    LongDouble(LongDouble),
    /// A string of either width.
    Text(String),
    Fixed(Box<Fixed>),
    Enumerator(u32),
    TypeCode(Box<TypeCode>),
    Any(Box<Any>),
    /// What is not taken apart: a reference, a null value; and until a component is asked for a value or a run of numbers.
    Whole(Box<Any>),
    /// The members of a struct, exception or value, the elements of a sequence or array, what is in a box.
    Parts(Vec<DynAny>),
    Union(Box<Arms>),
}

impl DynAny {
    /// A value of the type: zeros, no text, `false`, the first enumerator, nil and null, no elements, the members and elements
    /// of the same; of a union the first member.
    ///
    /// # Errors
    /// [`DynAnyError::InconsistentTypeCode`] for a native type, a local interface and a `Principal`, and where there are too many
    /// components or they nest too deep.
    pub fn new(ty: &TypeCode) -> Result<Self> {
        create::created(ty, 0)
    }

    /// The value of an any.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`DynAnyError::InvalidValue`] for octets that are no value of the any's type.
    pub fn from_any(any: &Any) -> Result<Self> {
        read::taken_apart(any.type_code(), any, 0)
    }

    /// An any that holds the value, with this type.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for what cannot be sent.
    pub fn to_any(&self) -> Result<Any> {
        Ok(encoded(self)?)
    }

    /// The type of the value, aliases included.
    pub const fn type_code(&self) -> &TypeCode {
        &self.ty
    }

    /// Takes over the value of another. The current position is then the first component, if there is one.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where the types are not equivalent.
    pub fn assign(&mut self, from: &Self) -> Result<()> {
        // What stood as deep nests as deep as it may here.
        if self.ty.is(&from.ty) && self.depth <= from.depth {
            *self = from.moved(self.depth);
            self.rewind();
            return Ok(());
        }
        if !self.ty.equivalent(&from.ty) {
            return Err(DynAnyError::other_type(&from.ty, &self.ty));
        }
        self.assign_any(&from.to_any()?)
    }

    /// Takes over the value of an any: what the specification calls `from_any`. The current position is then the first
    /// component, if there is one.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where the types are not equivalent, [`DynAnyError::InvalidValue`] for octets that are no
    /// value of the type; the value is then what it was.
    pub fn assign_any(&mut self, from: &Any) -> Result<()> {
        if !self.ty.equivalent(from.type_code()) {
            return Err(DynAnyError::other_type(from.type_code(), &self.ty));
        }
        *self = read::taken_apart(&self.ty, from, self.depth)?;
        Ok(())
    }

    fn kind(&self) -> TCKind {
        self.ty.resolved_kind()
    }

    /// A value with its first component as the current one.
    fn of(ty: TypeCode, content: Content, depth: u16) -> Self {
        let mut value = Self { ty, content, position: None, depth };
        value.rewind();
        value
    }

    /// The same value within so many others.
    fn moved(&self, depth: u16) -> Self {
        let below = |parts: &[Self]| parts.iter().map(|part| part.moved(depth.saturating_add(1))).collect();
        let content = match &self.content {
            Content::Parts(parts) => Content::Parts(below(parts)),
            Content::Union(arms) => {
                Content::Union(Box::new(Arms { parts: below(&arms.parts), active: arms.active }))
            }
            other => other.clone(),
        };
        Self { ty: self.ty.clone(), content, position: self.position, depth }
    }
}

impl Clone for DynAny {
    /// A tree of its own, at the same position; of a component one that stands alone.
    fn clone(&self) -> Self {
        self.moved(0)
    }
}

/// Octets of values that do not encode alike, and that a comparison takes apart all the same. 4 MiB: some hundredths of a second. A value
/// of few octets may lead to the same other so often that as a tree it would have no end.
const COMPARED: usize = 4 << 20;

impl PartialEq for DynAny {
    /// Whether the types are equivalent and the values the same, bit by bit where they are numbers. Positions do not count. Values of
    /// valuetypes that encode differently, and lead to more than 4 MiB, count as different.
    fn eq(&self, other: &Self) -> bool {
        self.is_equal(other, &mut { COMPARED })
    }
}

impl DynAny {
    fn is_equal(&self, other: &Self, left: &mut usize) -> bool {
        self.ty.equivalent(&other.ty) && self.content_eq(other, left)
    }

    fn content_eq(&self, other: &Self, left: &mut usize) -> bool {
        match (&self.content, &other.content) {
            (Content::Parts(one), Content::Parts(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.content_eq(two, left))
            }
            (Content::Boolean(one), Content::Boolean(two)) => one == two,
            (Content::Octet(one), Content::Octet(two)) => one == two,
            (Content::Char(one), Content::Char(two)) => one == two,
            (Content::WChar(one), Content::WChar(two)) => one == two,
            (Content::Short(one), Content::Short(two)) => one == two,
            (Content::UShort(one), Content::UShort(two)) => one == two,
            (Content::Long(one), Content::Long(two)) => one == two,
            (Content::ULong(one), Content::ULong(two)) => one == two,
            (Content::LongLong(one), Content::LongLong(two)) => one == two,
            (Content::ULongLong(one), Content::ULongLong(two)) => one == two,
            (Content::Float(one), Content::Float(two)) => one.to_bits() == two.to_bits(),
            (Content::Double(one), Content::Double(two)) => one.to_bits() == two.to_bits(),
            (Content::LongDouble(one), Content::LongDouble(two)) => one == two,
            (Content::Text(one), Content::Text(two)) => one == two,
            (Content::Enumerator(one), Content::Enumerator(two)) => one == two,
            (Content::TypeCode(one), Content::TypeCode(two)) => one.equivalent(two),
            // Two dynamic values may be equal where their anys name the type differently.
            (Content::Any(one), Content::Any(two)) => {
                one == two
                    || matches!((Self::from_any(one), Self::from_any(two)),
                        (Ok(one), Ok(two)) if one.is_equal(&two, left))
            }
            // Values in chunks or not, and with repository ids said again or not, may be the same.
            (Content::Whole(_) | Content::Parts(_), Content::Whole(_) | Content::Parts(_))
                if valuetype::is_value(self.kind()) =>
            {
                let (Ok(one), Ok(two)) = (write::octets(self), write::octets(other)) else { return false };
                if one == two {
                    return true;
                }
                let Some(less) = left.checked_sub(one.len() + two.len()) else { return false };
                *left = less;
                let (mut one, mut two) = (self.clone(), other.clone());
                one.parts().is_ok() && two.parts().is_ok() && one.content_eq(&two, left)
            }
            _ => matches!((write::octets(self), write::octets(other)), (Ok(one), Ok(two)) if one == two),
        }
    }
}
