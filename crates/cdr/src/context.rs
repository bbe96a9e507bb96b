//! What a program hands to values deep inside of what it decodes.

use crate::{KeptMemory, TypeCode, ValueInfo};
use alloc::sync::Arc;
use core::any::Any;

/// What decoding can reach besides the octets: an ORB, to which object references are bound. It is found by its type, with
/// [`Decoder::context`](crate::Decoder::context).
pub trait DecodeContext: Any {
    /// The valuetype of this repository id, where the type that is declared does not lead to it: what is registered as
    /// a value factory (CORBA part 1, §8.2.5.3).
    fn value_type(&self, _id: &[u8]) -> Option<&'static ValueInfo> {
        None
    }

    /// The valuetype of this repository id as a TypeCode describes it, where neither the type that is declared leads to it nor the
    /// program has it: what is known of values at run time alone, from IDL or an interface repository.
    fn described_value(&self, _id: &str) -> Option<TypeCode> {
        None
    }

    /// What counts the memory that values keep which are read in place; `None`: nobody does.
    fn kept_memory(&self) -> Option<&Arc<KeptMemory>> {
        None
    }

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
