//! What both sides agree on before a value is written: GIOP version, byte order, code sets.
//!
//! Code set numbers come from the OSF registry (CORBA 3.4 part 2, §7.10.5).

use core::cmp::Ordering;
use core::fmt;

/// A GIOP version. Orders by major, then minor.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    /// The major number, 1 in every version so far.
    pub major: u8,
    /// The minor number.
    pub minor: u8,
}

impl Version {
    /// GIOP 1.0: no fragments, no wide characters.
    pub const V1_0: Self = Self { major: 1, minor: 0 };
    /// GIOP 1.1: fragments whose alignment restarts, wide characters of fixed width.
    pub const V1_1: Self = Self { major: 1, minor: 1 };
    /// GIOP 1.2: what current ORBs speak.
    pub const V1_2: Self = Self { major: 1, minor: 2 };
}

impl Version {
    /// A number that orders as versions do, so that they compare as one.
    #[inline]
    const fn number(self) -> u16 {
        u16::from_be_bytes([self.major, self.minor])
    }
}

impl Ord for Version {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for Version {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The order of the octets of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant octet first; flag 0 on the wire.
    Big,
    /// Least significant octet first; flag 1 on the wire.
    Little,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
    /// The order this machine has to swap.
    pub const FOREIGN: Self = if cfg!(target_endian = "little") { Self::Big } else { Self::Little };

    /// The flag that stands for it in message headers and at the start of encapsulations.
    pub const fn flag(self) -> u8 {
        match self {
            Self::Big => 0,
            Self::Little => 1,
        }
    }
}

/// A coded character set, by its number in the OSF registry. Unknown numbers pass through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeSet(pub u32);

impl CodeSet {
    /// ISO 8859-1, also called Latin-1: U+0000 to U+00FF, an octet each.
    pub const ISO_8859_1: Self = Self(0x0001_0001);
    /// ISO 646, also called ASCII: U+0000 to U+007F, an octet each.
    pub const ISO_646: Self = Self(0x0001_0020);
    /// UCS-2: U+0000 to U+FFFF without surrogates, two octets each.
    pub const UCS_2: Self = Self(0x0001_0100);
    /// UTF-16: all of Unicode in units of two octets.
    pub const UTF_16: Self = Self(0x0001_0109);
    /// UTF-8: all of Unicode, one to four octets each.
    pub const UTF_8: Self = Self(0x0501_0001);

    /// The name, where this crate knows it.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::ISO_8859_1 => "ISO-8859-1",
            Self::ISO_646 => "ISO-646",
            Self::UCS_2 => "UCS-2",
            Self::UTF_16 => "UTF-16",
            Self::UTF_8 => "UTF-8",
            // Sets that this crate cannot convert, but that references list.
            Self(0x0001_0002) => "ISO-8859-2",
            Self(0x0001_0003) => "ISO-8859-3",
            Self(0x0001_0004) => "ISO-8859-4",
            Self(0x0001_0005) => "ISO-8859-5",
            Self(0x0001_0006) => "ISO-8859-6",
            Self(0x0001_0007) => "ISO-8859-7",
            Self(0x0001_0008) => "ISO-8859-8",
            Self(0x0001_0009) => "ISO-8859-9",
            Self(0x0001_000a) => "ISO-8859-10",
            Self(0x0001_000f) => "ISO-8859-15",
            _ => return None,
        })
    }
}

impl fmt::Display for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "code set {:#010x}", self.0),
        }
    }
}

impl fmt::Debug for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The transmission code sets in force on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSets {
    /// What `string` is sent in: UTF-8, ISO 8859-1 or ISO 646.
    pub char: CodeSet,
    /// What `wchar` and `wstring` are sent in: UTF-16 or UCS-2. `None`: none was negotiated, and wide text is an
    /// error.
    pub wchar: Option<CodeSet>,
}

impl CodeSets {
    /// What holds where nothing was negotiated (§7.10.2.6): ISO 8859-1, and no wide characters.
    pub const UNNEGOTIATED: Self = Self { char: CodeSet::ISO_8859_1, wchar: None };
    /// What zorb prefers: UTF-8 and UTF-16.
    pub const UNICODE: Self = Self { char: CodeSet::UTF_8, wchar: Some(CodeSet::UTF_16) };
    /// What holds inside an encapsulation, whatever its message negotiated: ISO 8859-1 and UTF-16.
    pub const ENCAPSULATED: Self = Self { char: CodeSet::ISO_8859_1, wchar: Some(CodeSet::UTF_16) };
}

impl Default for CodeSets {
    fn default() -> Self {
        Self::UNNEGOTIATED
    }
}

/// How values look on the wire, apart from the byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The GIOP version, which decides the form of wide characters.
    pub version: Version,
    /// The code sets of text.
    pub code_sets: CodeSets,
}

impl Format {
    /// What holds inside an encapsulation.
    pub const ENCAPSULATION: Self = Self { version: Version::V1_2, code_sets: CodeSets::ENCAPSULATED };

    /// The format of `version` with the code sets that hold before any were negotiated.
    pub const fn new(version: Version) -> Self {
        Self { version, code_sets: CodeSets::UNNEGOTIATED }
    }
}

impl Default for Format {
    /// GIOP 1.2, no code sets negotiated.
    fn default() -> Self {
        Self::new(Version::V1_2)
    }
}
