//! How generated types describe themselves: tables of names and of functions that describe a part.

use std::sync::OnceLock;

use zorb_cdr::{Described, Describer, TCKind, TypeCode, TypeRef};

/// Describes a part.
pub type Part = fn(&mut Describer) -> TypeRef;

/// A TypeCode that is made once.
#[derive(Debug, Default)]
pub struct Kept(OnceLock<TypeCode>);

impl Kept {
    /// None yet.
    pub const fn new() -> Self {
        Kept(OnceLock::new())
    }

    /// That of the type.
    pub fn of<T: Described>(&self) -> TypeCode {
        self.0.get_or_init(TypeCode::of::<T>).clone()
    }
}

/// A type that describes itself.
pub fn of<T: Described>(to: &mut Describer) -> TypeRef {
    T::describe(to)
}

/// A `string` of any length.
pub fn text(to: &mut Describer) -> TypeRef {
    to.string(0)
}

/// A reference to any object.
pub fn object(to: &mut Describer) -> TypeRef {
    to.interface(crate::skeleton::OBJECT_ID, "Object")
}

fn all(to: &mut Describer, members: &[(&'static str, Part)]) -> Vec<(&'static str, TypeRef)> {
    members.iter().map(|(name, part)| (*name, part(to))).collect()
}

/// A `struct`.
pub fn structure(to: &mut Describer, id: &str, name: &str, members: &[(&'static str, Part)]) -> TypeRef {
    to.structure(id, name, |to| all(to, members))
}

/// An `exception`.
pub fn exception(to: &mut Describer, id: &str, name: &str, members: &[(&'static str, Part)]) -> TypeRef {
    to.exception(id, name, |to| all(to, members))
}

/// A `union`, whose default member is the last if it has one.
pub fn union(
    to: &mut Describer,
    id: &str,
    name: &str,
    discriminator: Part,
    has_default: bool,
    members: &[(i64, &'static str, Part)],
) -> TypeRef {
    let default = if has_default { members.len().checked_sub(1) } else { None };
    to.union(id, name, default, |to| {
        let discriminator = discriminator(to);
        (discriminator, members.iter().map(|(label, name, part)| (*label, *name, part(to))).collect())
    })
}

/// A `valuetype`: its modifier, its base, and the visibility of each member behind it.
pub fn value(
    to: &mut Describer,
    id: &str,
    name: &str,
    modifier: i16,
    base: Option<Part>,
    members: &[(&'static str, Part, i16)],
) -> TypeRef {
    to.value(id, name, modifier, |to| state(to, base, members))
}

/// An `eventtype`, likewise.
pub fn event(
    to: &mut Describer,
    id: &str,
    name: &str,
    modifier: i16,
    base: Option<Part>,
    members: &[(&'static str, Part, i16)],
) -> TypeRef {
    to.event(id, name, modifier, |to| state(to, base, members))
}

/// Of a value: its base, and each member with its visibility.
fn state(
    to: &mut Describer,
    base: Option<Part>,
    members: &[(&'static str, Part, i16)],
) -> (Option<TypeRef>, Vec<(&'static str, TypeRef, i16)>) {
    let base = base.map(|base| base(to));
    (base, members.iter().map(|(name, part, access)| (*name, part(to), *access)).collect())
}

/// An abstract interface.
pub fn abstract_interface(to: &mut Describer, id: &str, name: &str) -> TypeRef {
    to.named(TCKind::AbstractInterface, id, name)
}

/// A local interface.
pub fn local_interface(to: &mut Describer, id: &str, name: &str) -> TypeRef {
    to.named(TCKind::LocalInterface, id, name)
}

/// `CORBA::AbstractBase`.
pub fn abstract_base(to: &mut Describer) -> TypeRef {
    abstract_interface(to, crate::object::abstract_interface::ABSTRACT_BASE, "AbstractBase")
}

/// A boxed value.
pub fn value_box(to: &mut Describer, id: &str, name: &str, of: Part) -> TypeRef {
    let of = of(to);
    to.value_box(id, name, of)
}

/// A `typedef`.
pub fn alias(to: &mut Describer, id: &str, name: &str, of: Part) -> TypeRef {
    let of = of(to);
    to.alias(id, name, of)
}

/// A `sequence`; bound 0 for none.
pub fn sequence(to: &mut Describer, element: Part, bound: u32) -> TypeRef {
    let element = element(to);
    to.sequence(element, bound)
}

/// An array of one dimension.
pub fn array(to: &mut Describer, element: Part, length: u32) -> TypeRef {
    let element = element(to);
    to.array(element, length)
}

/// A `map`, for which CORBA has no kind: the sequence of structs of a key and a value that it travels as.
pub fn map(to: &mut Describer, key: Part, value: Part, bound: u32) -> TypeRef {
    let pair = to.structure("", "", |to| vec![("key", key(to)), ("value", value(to))]);
    to.sequence(pair, bound)
}

/// Says how a generated type describes itself.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    ($name:ident, $to:ident => $description:expr) => {
        impl $crate::rt::Described for $name {
            fn describe($to: &mut $crate::rt::Describer) -> $crate::rt::TypeRef {
                $description
            }

            fn type_code() -> $crate::rt::TypeCode {
                static KEPT: $crate::rt::describe::Kept = $crate::rt::describe::Kept::new();
                KEPT.of::<Self>()
            }
        }
    };
}
