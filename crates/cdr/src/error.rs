//! What goes wrong between values and bytes, and where.
//!
//! An [`EncodeError`] is the caller's: the value cannot be sent. A [`DecodeError`] is the peer's: the bytes are not what
//! they should be. Which CORBA exception either becomes is decided by the ORB.

use crate::{CodeSet, ValuePath};
use core::fmt;

/// A value that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeError {
    /// What is wrong with it.
    pub kind: EncodeErrorKind,
    /// What was being written: an IDL type such as `string`, or what generated code named.
    pub what: &'static str,
}

/// Why a value cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// A bounded sequence or string is longer than its bound.
    BoundExceeded {
        /// The number of elements or characters there are.
        length: usize,
        /// The number that IDL allows.
        bound: u32,
    },
    /// A length does not fit an `unsigned long`.
    TooLong(usize),
    /// Text holds U+0000, which CORBA strings cannot carry.
    NulInString,
    /// Text holds a character that the code set in force does not have.
    Unrepresentable {
        /// The first such character.
        character: char,
        /// The code set.
        code_set: CodeSet,
    },
    /// Wide text, but no code set for it was negotiated.
    NoWideCodeSet,
    /// Wide text in GIOP 1.0, which has none.
    WideInGiop1_0,
    /// The code set in force is none that this crate converts.
    UnsupportedCodeSet(CodeSet),
    /// An object of a local interface or a value of a native type, which does not leave its program.
    LocalObject,
    /// The value itself is not valid; the text says why.
    Invalid(&'static str),
}

impl EncodeError {
    /// An error of `kind` in `what`.
    pub const fn new(kind: EncodeErrorKind, what: &'static str) -> Self {
        Self { kind, what }
    }

    /// The same error, naming `what` instead: the parameter, where the type was named.
    pub const fn in_what(self, what: &'static str) -> Self {
        Self { what, ..self }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot send {}: {}", self.what, self.kind)
    }
}

impl fmt::Display for EncodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoundExceeded { length, bound } => {
                write!(f, "its length {length} exceeds its bound {bound}")
            }
            Self::TooLong(length) => write!(f, "its length {length} does not fit an unsigned long"),
            Self::NulInString => f.write_str("it holds a NUL character"),
            Self::Unrepresentable { character, code_set } => {
                write!(f, "{code_set} has no {character:?} (U+{:04X})", u32::from(*character))
            }
            Self::NoWideCodeSet => f.write_str("no code set for wide characters was negotiated"),
            Self::WideInGiop1_0 => f.write_str("GIOP 1.0 has no wide characters"),
            Self::UnsupportedCodeSet(code_set) => write!(f, "{code_set} is not supported"),
            Self::LocalObject => f.write_str(
                "objects of local interfaces and values of native types do not leave their program",
            ),
            Self::Invalid(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Bytes that are not the value they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// What is wrong with them.
    pub kind: DecodeErrorKind,
    /// What was being read: an IDL type such as `string`, or what generated code named.
    pub what: &'static str,
    /// Where: octets from where the decoder started.
    pub at: usize,
    /// Where inside of the value: `order.items[3].price`.
    pub path: ValuePath,
}

/// Why bytes are not the value they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end inside the value.
    Truncated,
    /// A length or count promises more than the bytes that follow can hold.
    LengthBeyondEnd {
        /// The length or count as read.
        length: u32,
        /// The octets that follow.
        left: usize,
    },
    /// A bounded sequence or string is longer than its bound.
    BoundExceeded {
        /// The length as read.
        length: usize,
        /// The number that IDL allows.
        bound: u32,
    },
    /// A boolean that is neither 0 nor 1.
    BadBoolean(u8),
    /// An enumerator that the enum does not have.
    BadEnumerator(u32),
    /// A discriminator that selects no arm of its union, widened to 64 bits.
    BadDiscriminator(i64),
    /// A string whose last octet is not NUL.
    Unterminated,
    /// A NUL inside a string.
    NulInString,
    /// Octets that are no text in the code set in force.
    InvalidText(CodeSet),
    /// A wide character or string of a length that none has.
    BadWideLength(u32),
    /// Wide text, but no code set for it was negotiated.
    NoWideCodeSet,
    /// Wide text in GIOP 1.0, which has none.
    WideInGiop1_0,
    /// The code set in force is none that this crate converts.
    UnsupportedCodeSet(CodeSet),
    /// An encapsulation that starts with neither byte order flag.
    BadByteOrder(u8),
    /// Values nested deeper than the limit.
    TooDeep {
        /// The limit that was reached.
        limit: u32,
    },
    /// As much memory of messages is kept by values as may be ([`KeptMemory`](crate::KeptMemory)).
    KeptMemory {
        /// The octets that may be.
        most: usize,
    },
    /// A value of a valuetype that is not known here, nor one of the types that it may be cut down to.
    UnknownValueType,
    /// Anything else; the text says what.
    Invalid(&'static str),
}

impl DecodeError {
    /// An error of `kind` in `what`, `at` octets from where the decoder started.
    pub const fn new(kind: DecodeErrorKind, what: &'static str, at: usize) -> Self {
        Self { kind, what, at, path: ValuePath::EMPTY }
    }

    /// The same error, naming `what` instead: the parameter, where the type was named.
    #[must_use]
    pub fn in_what(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// The same error, where what was read is this member of a value.
    #[cold]
    #[must_use]
    pub fn in_member(mut self, name: &'static str) -> Self {
        self.path.member(name);
        self
    }

    /// The same error, where what was read is this element of a sequence or an array.
    #[cold]
    #[must_use]
    pub fn in_element(mut self, index: usize) -> Self {
        self.path.element(index);
        self
    }

    /// The same error, where what was read is a member whose name came with its TypeCode.
    #[cold]
    #[must_use]
    pub fn in_named(mut self, name: &str) -> Self {
        self.path.named(name);
        self
    }

    /// The same error, where what was read is a value that says it is of this type, by a repository id that is not known.
    #[cold]
    pub(crate) fn of_type(mut self, id: Option<&alloc::sync::Arc<[u8]>>) -> Self {
        if let Some(id) = id {
            self.path.of_type(id);
        }
        self
    }

    /// The same error, where what was read is one of several values one after another.
    #[cold]
    #[must_use]
    pub fn in_part(mut self, index: usize) -> Self {
        self.path.part(index);
        self
    }

    /// The same error, where these are the names of the values that were read one after another, or of the one: parameters.
    #[cold]
    #[must_use]
    pub fn with_parts(mut self, names: &[&'static str]) -> Self {
        self.path.name_parts(names);
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => write!(f, "cannot read {} at octet {}: {}", self.what, self.at, self.kind),
            false => {
                write!(f, "cannot read {} ({}) at octet {}: {}", self.path, self.what, self.at, self.kind)
            }
        }
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the bytes end inside it"),
            Self::LengthBeyondEnd { length, left } => {
                write!(f, "its length {length} exceeds the {left} octets that follow")
            }
            Self::BoundExceeded { length, bound } => {
                write!(f, "its length {length} exceeds its bound {bound}")
            }
            Self::BadBoolean(value) => write!(f, "{value} is neither 0 nor 1"),
            Self::BadEnumerator(value) => write!(f, "the enum has no value {value}"),
            Self::BadDiscriminator(value) => write!(f, "discriminator {value} selects no arm"),
            Self::Unterminated => f.write_str("its last octet is not NUL"),
            Self::NulInString => f.write_str("it holds a NUL character"),
            Self::InvalidText(code_set) => write!(f, "it is not {code_set} text"),
            Self::BadWideLength(length) => write!(f, "no wide text has length {length}"),
            Self::NoWideCodeSet => f.write_str("no code set for wide characters was negotiated"),
            Self::WideInGiop1_0 => f.write_str("GIOP 1.0 has no wide characters"),
            Self::UnsupportedCodeSet(code_set) => write!(f, "{code_set} is not supported"),
            Self::BadByteOrder(flag) => write!(f, "{flag} is not a byte order"),
            Self::UnknownValueType => {
                f.write_str("its type is not known here, nor one that it may be cut down to")
            }
            Self::KeptMemory { most } => {
                write!(
                    f,
                    "values that are kept hold the memory of messages up to the limit, {most} octets (kept_memory)"
                )
            }
            Self::TooDeep { limit } => write!(f, "values are nested deeper than {limit}"),
            Self::Invalid(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for DecodeError {}

/// Checks the length of a bounded sequence or string before it is written.
///
/// # Errors
/// [`EncodeErrorKind::BoundExceeded`], naming `what`.
#[inline]
pub fn check_bound(length: usize, bound: u32, what: &'static str) -> Result<(), EncodeError> {
    if length > bound as usize {
        return Err(EncodeError::new(EncodeErrorKind::BoundExceeded { length, bound }, what));
    }
    Ok(())
}
