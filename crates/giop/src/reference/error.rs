//! What can be wrong with a reference: as octets ([`ReferenceError`]), as text ([`UrlError`]).

use core::fmt;

use zorb_cdr::DecodeError;

/// Why the data of a profile or component are not what their tag says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferenceError {
    /// Not the kind that was asked for.
    OtherTag {
        /// The tag that the data carry.
        found: u32,
    },
    /// A major version that zorb cannot read.
    UnknownVersion {
        /// Major number.
        major: u8,
        /// Minor number.
        minor: u8,
    },
    /// The encapsulation does not hold what it should.
    Malformed(DecodeError),
}

impl From<DecodeError> for ReferenceError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherTag { found } => write!(f, "tag {found:#x} is of another kind"),
            Self::UnknownVersion { major, minor } => write!(f, "version {major}.{minor} is not known"),
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReferenceError {}

/// Why a text is no reference, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlError {
    /// What is wrong, in words that say what would be right.
    pub what: &'static str,
    /// Octets of the text before the fault.
    pub at: usize,
    /// The octets of an `IOR:` are hexadecimal, but not a reference: why.
    pub cause: Option<DecodeError>,
}

impl UrlError {
    pub(crate) const fn new(what: &'static str, at: usize) -> Self {
        Self { what, at, cause: None }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}: {}", self.at, self.what)?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for UrlError {}
