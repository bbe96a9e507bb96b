//! Unix addresses: a file, or a name that the kernel keeps.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustix::net::SocketAddrUnix;

use super::AddressParseError;

/// Octets of the longest path and of the longest abstract name (unix(7): `sun_path` has 108, of which a path leaves
/// one to its end and an abstract name has one in front).
pub const LONGEST_UNIX_NAME: usize = 107;

/// Where a Unix socket is: a path in the file system, or an abstract name, which Linux keeps outside of it and forgets with
/// the last socket. Never empty, never longer than the kernel takes, so that none is cut or refused later. Clones share
/// their memory, so that an error can name an address and cost nothing.
///
/// As text an abstract name begins with `@`, and octets that are not printable are written `%41`; so is a `%` itself, and an `@` in
/// the beginning of a path.
///
/// ```
/// use zorb_ipc::UnixAddress;
/// let file = UnixAddress::path("/run/bank.sock")?;
/// assert_eq!(file.to_string(), "/run/bank.sock");
/// let name: UnixAddress = "@bank%00orders".parse()?;
/// assert_eq!(name, UnixAddress::abstract_name(b"bank\0orders")?);
/// # Ok::<(), zorb_ipc::AddressParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnixAddress(Name);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Name {
    Path(Arc<Path>),
    Abstract(Arc<[u8]>),
}

impl UnixAddress {
    /// A socket's file.
    ///
    /// # Errors
    /// [`AddressParseError::Unix`]: empty, longer than [`LONGEST_UNIX_NAME`] octets, or with a NUL in it.
    pub fn path(path: impl Into<PathBuf>) -> Result<Self, AddressParseError> {
        let path = path.into();
        let octets = path.as_os_str().as_bytes();
        let good = !octets.is_empty() && octets.len() <= LONGEST_UNIX_NAME && !octets.contains(&0);
        if good { Ok(Self(Name::Path(path.into()))) } else { Err(AddressParseError::Unix) }
    }

    /// A name outside the file system: any octets, NUL among them.
    ///
    /// # Errors
    /// [`AddressParseError::Unix`]: empty, or longer than [`LONGEST_UNIX_NAME`].
    pub fn abstract_name(name: &[u8]) -> Result<Self, AddressParseError> {
        let good = !name.is_empty() && name.len() <= LONGEST_UNIX_NAME;
        if good { Ok(Self(Name::Abstract(name.into()))) } else { Err(AddressParseError::Unix) }
    }

    /// The file, if it is one.
    pub fn as_path(&self) -> Option<&Path> {
        match &self.0 {
            Name::Path(path) => Some(path),
            Name::Abstract(_) => None,
        }
    }

    /// The abstract name, if it is one.
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        match &self.0 {
            Name::Path(_) => None,
            Name::Abstract(name) => Some(name),
        }
    }

    /// Of the octets that a kernel writes of a socket that has a name: at least one, at most as many as the longest takes
    /// with the NUL in front of an abstract name or behind a path.
    pub(crate) fn of_octets(octets: &[u8]) -> Self {
        match octets {
            [0, name @ ..] if cfg!(target_os = "linux") => Self(Name::Abstract(name.into())),
            path => {
                let path = path.split(|&octet| octet == 0).next().unwrap_or_default();
                Self(Name::Path(Path::new(OsStr::from_bytes(path)).into()))
            }
        }
    }

    pub(crate) fn to_kernel(&self) -> Result<SocketAddrUnix, rustix::io::Errno> {
        match &self.0 {
            Name::Path(path) => SocketAddrUnix::new(&**path),
            #[cfg(target_os = "linux")]
            Name::Abstract(name) => SocketAddrUnix::new_abstract_name(name),
            #[cfg(not(target_os = "linux"))]
            Name::Abstract(_) => Err(rustix::io::Errno::AFNOSUPPORT),
        }
    }

    /// `None` for a socket without a name.
    pub(crate) fn of_kernel(address: &SocketAddrUnix) -> Option<Self> {
        #[cfg(target_os = "linux")]
        if let Some(name) = address.abstract_name() {
            return Self::abstract_name(name).ok();
        }
        let octets = address.path_bytes()?;
        // Of a path that fills the kernel's array rustix gives the final NUL too.
        Self::path(OsStr::from_bytes(octets.strip_suffix(b"\0").unwrap_or(octets))).ok()
    }
}

impl FromStr for UnixAddress {
    type Err = AddressParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix('@') {
            Some(name) => Self::abstract_name(&unescaped(name)?),
            None => Self::path(std::ffi::OsString::from_vec(unescaped(text)?)),
        }
    }
}

fn unescaped(text: &str) -> Result<Vec<u8>, AddressParseError> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&octet, after)) = rest.split_first() {
        if octet != b'%' {
            octets.push(octet);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        octets.push(value.ok_or(AddressParseError::Unix)?);
        rest = &after[2..];
    }
    Ok(octets)
}

impl fmt::Display for UnixAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (octets, is_path) = match &self.0 {
            Name::Path(path) => (path.as_os_str().as_bytes(), true),
            Name::Abstract(name) => (&name[..], false),
        };
        f.write_str(if is_path { "" } else { "@" })?;
        for (at, chunk) in octets.utf8_chunks().flat_map(pieces).enumerate() {
            match chunk {
                Piece::Char(char) => {
                    let marks = char == '%' || (is_path && at == 0 && char == '@');
                    if marks || char.is_control() {
                        let mut buffer = [0; 4];
                        for octet in char.encode_utf8(&mut buffer).bytes() {
                            write!(f, "%{octet:02X}")?;
                        }
                    } else {
                        write!(f, "{char}")?;
                    }
                }
                Piece::Octet(octet) => write!(f, "%{octet:02X}")?,
            }
        }
        Ok(())
    }
}

enum Piece {
    Char(char),
    Octet(u8),
}

fn pieces(chunk: std::str::Utf8Chunk<'_>) -> impl Iterator<Item = Piece> {
    let invalid = chunk.invalid().iter().map(|&octet| Piece::Octet(octet));
    chunk.valid().chars().map(Piece::Char).chain(invalid)
}

impl fmt::Debug for UnixAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnixAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_address_are_one_to_one() {
        let invalid = UnixAddress::abstract_name(&[b'a', 0xff, 0, b'%', b'@']).unwrap();
        assert_eq!(invalid.to_string(), "@a%FF%00%25@");
        let at = UnixAddress::path("@here").unwrap();
        assert_eq!(at.to_string(), "%40here");
        let file = UnixAddress::path("/tmp/ä b\n").unwrap();
        assert_eq!(file.to_string(), "/tmp/ä b%0A");
        for address in [invalid, at, file, UnixAddress::path("relative/@x").unwrap()] {
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    /// Whatever octets there are, and whatever they stand beside.
    #[test]
    fn every_octet_is_printed_as_it_is_parsed() {
        for octet in 0..=255_u8 {
            for name in [vec![octet], vec![octet, b'4', b'1'], vec![b'/', octet, octet], vec![0xc3, octet]] {
                let address = UnixAddress::abstract_name(&name).unwrap();
                let text = address.to_string();
                assert!(!text.contains(char::is_control), "{text:?}");
                assert_eq!(text.parse(), Ok(address), "{text:?}");
                if !name.contains(&0) {
                    let address = UnixAddress::path(OsStr::from_bytes(&name)).unwrap();
                    let text = address.to_string();
                    assert_eq!(text.parse(), Ok(address.clone()), "{text:?}");
                    assert_eq!(UnixAddress::of_kernel(&address.to_kernel().unwrap()), Some(address));
                }
            }
        }
    }

    #[test]
    fn what_the_kernel_would_cut_or_refuse_is_no_address() {
        let longest = "x".repeat(LONGEST_UNIX_NAME);
        assert!(
            UnixAddress::path(&longest).is_ok() && UnixAddress::abstract_name(longest.as_bytes()).is_ok()
        );
        let longer = format!("{longest}x");
        for text in ["", "@", "a%", "a%0", "a%zz", "a%+1", "a%00", &longer, &format!("@{longer}")] {
            assert_eq!(text.parse::<UnixAddress>(), Err(AddressParseError::Unix), "{text}");
        }
    }

    #[test]
    fn the_kernels_form_is_the_same_address() {
        for text in ["/run/x", "@x", "@a%00b"] {
            let address: UnixAddress = text.parse().unwrap();
            assert_eq!(UnixAddress::of_kernel(&address.to_kernel().unwrap()), Some(address));
        }
        let longest = UnixAddress::path("x".repeat(LONGEST_UNIX_NAME)).unwrap();
        assert_eq!(UnixAddress::of_kernel(&longest.to_kernel().unwrap()), Some(longest));
        assert_eq!(UnixAddress::of_kernel(&SocketAddrUnix::new_unnamed()), None);
    }
}
