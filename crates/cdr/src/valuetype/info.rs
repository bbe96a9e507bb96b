//! [`ValueInfo`]: what is known of a valuetype, and of the types related to it.

use super::{State, ValueType};
use crate::{DecodeError, Decoder};
use alloc::boxed::Box;

/// A valuetype: its repository id, its bases, and those that are derived from it as far as its IDL knew them.
///
/// An abstract interface has one too: it is to the values that support it what an abstract valuetype is.
#[derive(Debug)]
pub struct ValueInfo {
    id: &'static str,
    base: Option<fn() -> &'static ValueInfo>,
    /// Abstract valuetypes and abstract interfaces.
    also: &'static [fn() -> &'static ValueInfo],
    truncatable: bool,
    custom: bool,
    derived: &'static [fn() -> &'static ValueInfo],
    read: Option<Read>,
}

/// Reads the state of a value.
type Read = fn(&mut Decoder<'_>) -> Result<Box<dyn State>, DecodeError>;

/// The repository id of what all valuetypes are derived from.
pub(crate) const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

impl ValueInfo {
    /// Describes `T`. If it is `truncatable`, a receiver that does not know it may cut it down to its base.
    pub const fn new<T: ValueType>(
        id: &'static str,
        base: Option<fn() -> &'static ValueInfo>,
        truncatable: bool,
        derived: &'static [fn() -> &'static ValueInfo],
    ) -> Self {
        Self { id, base, also: &[], truncatable, custom: false, derived, read: Some(read_state::<T>) }
    }

    /// Describes a type that no value has itself: an abstract valuetype or an abstract interface.
    pub const fn of_abstract(id: &'static str, derived: &'static [fn() -> &'static ValueInfo]) -> Self {
        Self { id, base: None, also: &[], truncatable: false, custom: false, derived, read: None }
    }

    /// The same, with what it inherits or supports besides: abstract valuetypes and abstract interfaces.
    #[must_use]
    pub const fn with_abstract(self, also: &'static [fn() -> &'static ValueInfo]) -> Self {
        Self { also, ..self }
    }

    /// The same, as one whose values write themselves: a `custom valuetype`. They travel in chunks.
    #[must_use]
    pub const fn custom(self) -> Self {
        Self { custom: true, ..self }
    }

    /// The repository id.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Whether its values write themselves.
    pub fn is_custom(&self) -> bool {
        self.custom
    }

    /// Whether a receiver that does not know it may cut it down to its base.
    pub fn is_truncatable(&self) -> bool {
        self.truncatable
    }

    pub(super) fn base(&self) -> Option<&'static ValueInfo> {
        self.base.map(|base| base())
    }

    pub(super) fn read(&self) -> Option<Read> {
        self.read
    }

    /// Whether it is `other`, or derived from it, or supports it.
    pub fn is_a(&self, other: &ValueInfo) -> bool {
        self.is_a_id(other.id)
    }

    /// Whether it is the type of this repository id, or derived from it, or supports it.
    pub fn is_a_id(&self, id: &str) -> bool {
        self.id == id
            || id == VALUE_BASE && self.read.is_some()
            || self.base().is_some_and(|base| base.is_a_id(id))
            || self.also.iter().any(|also| also().is_a_id(id))
    }

    /// Whether it is this very type, or derived from it: what is known of a value that is not there yet.
    pub(super) fn is_made_as(&'static self, other: &'static Self) -> bool {
        core::ptr::eq(self, other)
            || other.id == VALUE_BASE && self.read.is_some()
            || self.base().is_some_and(|base| base.is_made_as(other))
            || self.also.iter().any(|also| also().is_made_as(other))
    }

    /// It, or what is derived from it, by repository id.
    pub(super) fn find(&'static self, id: &[u8]) -> Option<&'static ValueInfo> {
        if self.id.as_bytes() == id {
            return self.read.is_some().then_some(self);
        }
        self.derived.iter().find_map(|derived| derived().find(id))
    }
}

fn read_state<T: ValueType>(from: &mut Decoder<'_>) -> Result<Box<dyn State>, DecodeError> {
    Ok(Box::new(T::decode_state(from)?))
}
