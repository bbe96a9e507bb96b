//! What a program hands to values deep inside of what it decodes.

use crate::TypeCode;
use core::any::Any;

/// Something that a [`Decoder`](crate::Decoder) carries for what is decoded with it: an ORB, to which object references are
/// bound. It is found by its type, with [`Decoder::context`](crate::Decoder::context).
pub trait Context: Any {
    /// The TypeCodes that have been met, if any are remembered.
    fn known_types(&self) -> Option<&dyn KnownTypes> {
        None
    }
}

/// TypeCodes remembered by their form on the wire, so that those which come with every message are decoded once.
///
/// What is kept for how long is the implementation's matter. What it forgets is decoded again.
pub trait KnownTypes {
    /// The TypeCode whose [`wire_form`](TypeCode::wire_form) is that kind and those parameters: what follows the length.
    fn find(&self, kind: u32, parameters: &[u8]) -> Option<TypeCode>;

    /// Remembers a TypeCode that was decoded. It has a [`wire_form`](TypeCode::wire_form).
    fn keep(&self, type_code: &TypeCode);
}
