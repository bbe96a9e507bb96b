//! [`DynAnyError`]: what cannot be done with a [`DynAny`](super::DynAny).

use crate::any::name_of;
use crate::{AnyError, DecodeError, EncodeError, TypeCode};
use alloc::borrow::Cow;
use alloc::string::ToString;
use core::fmt;

/// Why something cannot be done with a [`DynAny`](super::DynAny): CORBA's three exceptions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DynAnyError {
    /// CORBA's `TypeMismatch`: it is of another type than was asked for, or of a kind that has no such thing.
    TypeMismatch {
        /// What it is.
        is: TypeCode,
        /// What was asked for.
        asked: Cow<'static, str>,
    },
    /// CORBA's `InvalidValue`: its type has no such value, or nothing stands where the value was to come from. The text says
    /// which.
    InvalidValue(Cow<'static, str>),
    /// CORBA's `InconsistentTypeCode`: no `DynAny` can be made of values of this type.
    InconsistentTypeCode {
        /// The type.
        of: TypeCode,
        /// Why not.
        why: &'static str,
    },
}

impl DynAnyError {
    pub(super) const fn invalid(why: &'static str) -> Self {
        Self::InvalidValue(Cow::Borrowed(why))
    }

    pub(super) fn mismatch(is: &TypeCode, asked: &'static str) -> Self {
        Self::TypeMismatch { is: is.clone(), asked: Cow::Borrowed(asked) }
    }

    pub(super) fn other_type(is: &TypeCode, asked: &TypeCode) -> Self {
        Self::TypeMismatch { is: is.clone(), asked: Cow::Owned(name_of(asked)) }
    }
}

impl fmt::Display for DynAnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TypeMismatch { is, asked } => write!(f, "a value of type {} is not {asked}", name_of(is)),
            Self::InvalidValue(why) => f.write_str(why),
            Self::InconsistentTypeCode { of, why } => {
                write!(f, "there is no DynAny of type {}: {why}", name_of(of))
            }
        }
    }
}

impl core::error::Error for DynAnyError {}

impl From<DecodeError> for DynAnyError {
    fn from(error: DecodeError) -> Self {
        Self::InvalidValue(error.to_string().into())
    }
}

impl From<EncodeError> for DynAnyError {
    fn from(error: EncodeError) -> Self {
        Self::InvalidValue(error.to_string().into())
    }
}

impl From<AnyError> for DynAnyError {
    fn from(error: AnyError) -> Self {
        match error {
            AnyError::OtherType { is, asked } => Self::other_type(&is, &asked),
            AnyError::Decode(error) => error.into(),
        }
    }
}
