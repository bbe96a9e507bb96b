//! References as people write them: `corbaloc:`, `corbaname:`, `file:`. CORBA 3.4 part 2, §7.6.10.
//!
//! ```text
//! corbaloc:iiop:1.2@host:2809,:[::1]:5000/Key%20with%20space
//!          └── address ─────┘ └─ address ┘└─ key ──────────┘
//! corbaloc:rir:/NameService
//! corbaloc:uiop:1.2@/run/bank|Key          a Unix socket of this machine, as TAO writes it
//! corbaloc:omniunix:1.2@/run/bank:/Key     the same as omniORB writes it
//! corbaloc:miop:1.0@1.0-domain-7/239.255.0.1:5000
//!               │   └── group ─┘ └─ address ───┘   optional behind it: ";" and addresses of an object that answers
//! corbaname::host/NameService#context/object
//! ```
//!
//! An address without a protocol is IIOP's, without a version 1.0 (a socket's: 1.2), without a port 2809. Addresses are
//! read from the left: each protocol says where its own end ([`CorbalocAddress`]). An address of a protocol
//! that zorb does not know is kept as text, since another address of the list may serve. A group of objects (§11.5) is
//! named by a domain, a number and perhaps the version of its reference, with a multicast address.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use bytes::Bytes;
use zorb_cdr::{EncodeError, Version};

use super::{IiopProfile, Ior, UiopProfile, UipmcProfile, UnixEndpoint, UrlError};
use address::{Behind, first_address, miop_address};

mod address;

pub use address::CorbalocAddress;

/// The key of a `corbaloc:rir:` or `corbaname:` that names none.
const DEFAULT_KEY: &[u8] = b"NameService";

/// Any text that stands for an object, as `string_to_object` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectUrl {
    /// `IOR:…`
    Ior(Ior),
    /// `corbaloc:…`
    Corbaloc(Corbaloc),
    /// `corbaname:…`
    Corbaname(Corbaname),
    /// `file:…`: the path of a file that holds another such text.
    File(String),
}

impl FromStr for ObjectUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let trimmed = text.trim_ascii();
        let (scheme, _) = trimmed.split_once(':').unwrap_or_default();
        if scheme.eq_ignore_ascii_case("IOR") {
            text.parse().map(Self::Ior)
        } else if scheme.eq_ignore_ascii_case("corbaloc") {
            text.parse().map(Self::Corbaloc)
        } else if scheme.eq_ignore_ascii_case("corbaname") {
            text.parse().map(Self::Corbaname)
        } else if scheme.eq_ignore_ascii_case("file") {
            file_path(text).map(Self::File)
        } else {
            let before = text.len() - text.trim_ascii_start().len();
            Err(UrlError::new(
                "a reference begins with \"IOR:\", \"corbaloc:\", \"corbaname:\" or \"file:\"",
                before,
            ))
        }
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ior(ior) => ior.fmt(f),
            Self::Corbaloc(corbaloc) => corbaloc.fmt(f),
            Self::Corbaname(corbaname) => corbaname.fmt(f),
            Self::File(path) => {
                // A path from the root follows an empty authority.
                f.write_str(if path.starts_with('/') { "file://" } else { "file:" })?;
                escape(f, path.as_bytes())
            }
        }
    }
}

/// An object key and the addresses to try it at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corbaloc {
    /// To be tried in turn. Never empty; [`CorbalocAddress::Rir`] stands alone.
    pub addresses: Vec<CorbalocAddress>,
    /// The object key, or with `rir:` the name of an initial reference. Unescaped.
    pub key: Bytes,
}

impl Corbaloc {
    /// The reference that the addresses of known protocols stand for: a profile for each, no type id. Nil if there is none.
    ///
    /// `machine` is the name of the machine that the paths of Unix sockets are on, as its system gives it
    /// (`gethostname`): omniORB's component says it.
    ///
    /// # Errors
    /// A host, a path or a group's domain that a profile cannot carry (impossible for one that was parsed), or such a
    /// `machine`.
    pub fn to_ior(&self, machine: &str) -> Result<Ior, EncodeError> {
        let mut ior = Ior::nil();
        let key = || self.key.clone();
        for address in &self.addresses {
            let profile = match address.clone() {
                CorbalocAddress::Miop { version, group, address, port } => {
                    let components = alloc::vec![group.encode()?];
                    UipmcProfile { version, address, port, components }.encode()?
                }
                CorbalocAddress::Iiop { version, host, port } => {
                    let components = Vec::new();
                    IiopProfile { version, host, port, object_key: key(), components }.encode()?
                }
                CorbalocAddress::Uiop { version, path } => {
                    UiopProfile { version, path, object_key: key(), components: Vec::new() }.encode()?
                }
                CorbalocAddress::Omniunix { version, path } => {
                    // Port 0: no address of its own, as omniORB says it too. IIOP 1.0 has no place for components.
                    let version = version.max(Version::V1_1);
                    let host: String = machine.into();
                    let components = alloc::vec![UnixEndpoint { host: host.clone(), path }.encode()?];
                    IiopProfile { version, host, port: 0, object_key: key(), components }.encode()?
                }
                CorbalocAddress::Rir | CorbalocAddress::Other { .. } => continue,
            };
            ior.profiles.push(profile);
        }
        Ok(ior)
    }
}

impl FromStr for Corbaloc {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let rest = Rest::after_scheme(text, "corbaloc:", "a corbaloc URL begins with \"corbaloc:\"")?;
        corbaloc(rest, false)
    }
}

impl fmt::Display for Corbaloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("corbaloc:")?;
        self.addresses_and_key(f)
    }
}

impl Corbaloc {
    fn addresses_and_key(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let follows_group = |index: usize| matches!(self.addresses[index], CorbalocAddress::Miop { .. });
        for (index, address) in self.addresses.iter().enumerate() {
            if index > 0 {
                f.write_str(if follows_group(index - 1) { ";" } else { "," })?;
            }
            write!(f, "{address}")?;
        }
        if self.addresses.len() == 1 && follows_group(0) {
            return Ok(());
        }
        let by_uiop = matches!(self.addresses.last(), Some(CorbalocAddress::Uiop { .. }));
        f.write_str(if by_uiop { "|" } else { "/" })?;
        escape(f, &self.key)
    }
}

/// A naming context and a name to resolve in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corbaname {
    /// The naming context; its key is `NameService` if none is written.
    pub corbaloc: Corbaloc,
    /// The stringified name (`id.kind/id.kind`), unescaped; empty for the context itself.
    pub name: String,
}

impl FromStr for Corbaname {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let rest = Rest::after_scheme(text, "corbaname:", "a corbaname URL begins with \"corbaname:\"")?;
        let (context, name) = rest.split_at_first('#');
        let corbaloc = corbaloc(context, true)?;
        let name = match name {
            Some(name) => String::from_utf8(unescape(name)?).map_err(|error| {
                UrlError::new("the name is not UTF-8", name.at + error.utf8_error().valid_up_to())
            })?,
            None => String::new(),
        };
        Ok(Self { corbaloc, name })
    }
}

impl fmt::Display for Corbaname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("corbaname:")?;
        self.corbaloc.addresses_and_key(f)?;
        if !self.name.is_empty() {
            f.write_str("#")?;
            escape(f, self.name.as_bytes())?;
        }
        Ok(())
    }
}

/// A part of the text that is still to be read, and where it begins.
#[derive(Clone, Copy)]
struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Rest<'t> {
    fn after_scheme(text: &'t str, scheme: &str, otherwise: &'static str) -> Result<Self, UrlError> {
        let before = text.len() - text.trim_ascii_start().len();
        let text = text.trim_ascii();
        match text.split_at_checked(scheme.len()) {
            Some((found, rest)) if found.eq_ignore_ascii_case(scheme) => {
                Ok(Self { text: rest, at: before + scheme.len() })
            }
            _ => Err(UrlError::new(otherwise, before)),
        }
    }

    /// What stands before and after the first `separator`.
    fn split_at_first(self, separator: char) -> (Self, Option<Self>) {
        match self.text.split_once(separator) {
            Some((before, after)) => (
                Self { text: before, at: self.at },
                Some(Self { text: after, at: self.at + before.len() + separator.len_utf8() }),
            ),
            None => (self, None),
        }
    }

    /// What stands before the first of `separators`, which one that is, and what stands after it.
    fn split_at_any(self, separators: &[char]) -> (Self, Option<(char, Self)>) {
        match self.text.find(separators) {
            Some(found) => {
                let (before, after) = self.text.split_at(found);
                let mut letters = after.chars();
                let separator = letters.next();
                let after = separator.map(|separator| {
                    let at = self.at + found + separator.len_utf8();
                    (separator, Self { text: letters.as_str(), at })
                });
                (Self { text: before, at: self.at }, after)
            }
            None => (self, None),
        }
    }

    /// The empty text behind this one.
    fn end(self) -> Self {
        Self { text: "", at: self.at + self.text.len() }
    }

    fn error(self, what: &'static str) -> UrlError {
        UrlError::new(what, self.at)
    }
}

fn corbaloc(rest: Rest<'_>, naming: bool) -> Result<Corbaloc, UrlError> {
    if !naming
        && let (Rest { text: protocol, .. }, Some(rest)) = rest.split_at_first(':')
        && protocol.eq_ignore_ascii_case("miop")
    {
        let (group, others) = rest.split_at_first(';');
        let group = miop_address(group)?;
        let Some(others) = others else {
            return Ok(Corbaloc { addresses: alloc::vec![group], key: Bytes::new() });
        };
        let mut answers = addresses_and_key(others, false)?;
        let stands_alone =
            |one: &CorbalocAddress| matches!(one, CorbalocAddress::Rir | CorbalocAddress::Miop { .. });
        if answers.addresses.iter().any(stands_alone) {
            return Err(others.error("behind a group's address stand the addresses of one object"));
        }
        answers.addresses.insert(0, group);
        return Ok(answers);
    }
    addresses_and_key(rest, naming)
}

fn addresses_and_key(rest: Rest<'_>, naming: bool) -> Result<Corbaloc, UrlError> {
    let mut addresses = Vec::new();
    let mut next = rest;
    let key = loop {
        let (address, behind) = first_address(next, naming)?;
        addresses.push(address);
        match behind {
            Behind::Address(following) => next = following,
            Behind::Key(key) => break Some(key),
            Behind::Nothing => break None,
        }
    };
    if addresses.len() > 1 && addresses.contains(&CorbalocAddress::Rir) {
        return Err(rest.error("\"rir:\" stands alone, without other addresses"));
    }
    let key = match key {
        Some(key) => unescape(key)?,
        None => Vec::new(),
    };
    let names_none = key.is_empty() && (naming || addresses[0] == CorbalocAddress::Rir);
    Ok(Corbaloc { addresses, key: if names_none { Bytes::from_static(DEFAULT_KEY) } else { key.into() } })
}

fn file_path(text: &str) -> Result<String, UrlError> {
    let rest = Rest::after_scheme(text, "file:", "a file URL begins with \"file:\"")?;
    let path = match rest.text.strip_prefix("//") {
        // An authority: empty or this host.
        Some(after) => match after.find('/') {
            Some(0) => Rest { text: after, at: rest.at + 2 },
            Some(slash) if after[..slash].eq_ignore_ascii_case("localhost") => {
                Rest { text: &after[slash..], at: rest.at + 2 + slash }
            }
            _ => return Err(UrlError::new("a file on another host; write file:///path", rest.at + 2)),
        },
        None => rest,
    };
    if path.text.is_empty() {
        return Err(path.error("a path is missing"));
    }
    // Unlike keys, paths are often pasted as they are; only the escapes are read.
    let octets = unescape_where(path, |_| true)?;
    String::from_utf8(octets).map_err(|_| path.error("the path is not UTF-8"))
}

/// Characters that a key may hold as they are (RFC 2396's unreserved ones, and the reserved ones that CORBA lists).
fn stands_for_itself(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b";/:?@&=+$,-_.!~*'()".contains(&octet)
}

fn unescape(rest: Rest<'_>) -> Result<Vec<u8>, UrlError> {
    unescape_where(rest, stands_for_itself)
}

fn unescape_where(rest: Rest<'_>, stands_for_itself: fn(u8) -> bool) -> Result<Vec<u8>, UrlError> {
    let octets = rest.text.as_bytes();
    let mut key = Vec::with_capacity(octets.len());
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        if octet == b'%' {
            let digit = |at: usize| octets.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                return Err(UrlError::new("two hexadecimal digits follow a \"%\"", rest.at + at));
            };
            // Two hexadecimal digits are below 256.
            key.push((high << 4 | low) as u8);
            at += 3;
        } else if stands_for_itself(octet) {
            key.push(octet);
            at += 1;
        } else {
            return Err(UrlError::new(
                "this character must be escaped, as \"%\" and its two hexadecimal digits",
                rest.at + at,
            ));
        }
    }
    Ok(key)
}

fn escape(f: &mut fmt::Formatter<'_>, octets: &[u8]) -> fmt::Result {
    octets.iter().try_for_each(|&octet| match octet {
        _ if stands_for_itself(octet) => write!(f, "{}", char::from(octet)),
        _ => write!(f, "%{octet:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn iiop(minor: u8, host: &str, port: u16) -> CorbalocAddress {
        CorbalocAddress::Iiop { version: Version { major: 1, minor }, host: host.into(), port }
    }

    #[test]
    fn groups_are_named_by_domain_number_and_address() {
        for text in [
            "corbaloc:miop:1.0@1.0-domain_1-1/225.1.1.1:1234",
            "corbaloc:miop:1.0@1.0-a.b-18446744073709551615-7/[ff02::7]:1",
            "corbaloc:miop:1.0@1.0-zorb-7/239.255.0.1:5000;iiop:1.2@host:2809,iiop:1.2@other:9/key",
        ] {
            let url: Corbaloc = text.parse().unwrap();
            assert_eq!(url.to_string(), text);
            let ior = url.to_ior("here").unwrap();
            let group = UipmcProfile::decode(&ior.profiles[0]).unwrap().group().unwrap();
            assert!(text.contains(&alloc::format!("-{}-{}", group.domain, group.group)));
            assert_eq!(ior.profiles.len(), url.addresses.len());
        }
        let shortest: Corbaloc = "corbaloc:MIOP:1.0-d-1/225.1.1.1:1234".parse().unwrap();
        assert_eq!(shortest.to_string(), "corbaloc:miop:1.0@1.0-d-1/225.1.1.1:1234");
        for (text, part) in [
            ("1.0@1.0-d-1", "slash"),
            ("1.0@1.0-d/225.1.1.1:1", "number"),
            ("1.0@1.0-d-x/225.1.1.1:1", "decimal"),
            ("1.0@1.0-d-1-2-3/225.1.1.1:1", "decimal"),
            ("1.0@1.0--1/225.1.1.1:1", "domain"),
            ("1.0@1.0-d-1/225.1.1.1", "address and a port"),
            ("1.0@1.0-d-1/10.0.0.1:5", "not a multicast"),
            ("1.0@1.0-d-1/225.1.1.1:1;rir:/x", "one object"),
            ("x@1.0-d-1/225.1.1.1:1", "version"),
        ] {
            let error = alloc::format!("corbaloc:miop:{text}").parse::<Corbaloc>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn several_addresses_versions_and_ipv6() {
        let url: Corbaloc =
            "corbaloc:iiop:1.2@a.example:7,:b,:1.1@[::1],iiop:[fe80::1%eth0]:9,tao:x|y/Key%20%2f/é"
                .replace('é', "%C3%A9")
                .parse()
                .unwrap();
        let other = CorbalocAddress::Other { protocol: "tao".into(), address: "x|y".into() };
        assert_eq!(
            url.addresses,
            [
                iiop(2, "a.example", 7),
                iiop(0, "b", 2809),
                iiop(1, "::1", 2809),
                iiop(0, "fe80::1%eth0", 9),
                other
            ]
        );
        assert_eq!(&url.key[..], "Key //é".as_bytes());
        assert_eq!(url.to_string().parse::<Corbaloc>().unwrap(), url);
        assert_eq!(url.to_ior("here").unwrap().profiles.len(), 4);
    }

    #[test]
    fn unix_sockets_as_the_other_orbs_write_them() {
        let uiop = |minor, path: &str| CorbalocAddress::Uiop {
            version: Version { major: 1, minor },
            path: path.into(),
        };
        let omniunix = |minor, path: &str| CorbalocAddress::Omniunix {
            version: Version { major: 1, minor },
            path: path.into(),
        };
        for (text, addresses, key, again) in [
            ("uiop:1.1@/run/a b|Key/x", vec![uiop(1, "/run/a b")], "Key/x", "uiop:1.1@/run/a b|Key/x"),
            ("UIOP:/run/a|b", vec![uiop(2, "/run/a")], "b", "uiop:1.2@/run/a|b"),
            ("uiop:/at@home|", vec![uiop(2, "/at@home")], "", "uiop:1.2@/at@home|"),
            ("uiop:/c:1|k%7Cl", vec![uiop(2, "/c:1")], "k|l", "uiop:1.2@/c:1|k%7Cl"),
            ("omniunix:/run/a:/b", vec![omniunix(2, "/run/a")], "b", "omniunix:1.2@/run/a:/b"),
            ("omniunix:1.0@/r|x:/b", vec![omniunix(0, "/r|x")], "b", "omniunix:1.0@/r|x:/b"),
            ("omniunix:/r:", vec![omniunix(2, "/r")], "", "omniunix:1.2@/r:/"),
            (
                "iiop:1.2@h:1,omniunix:/r,omniunix:/s:,uiop:/t,:h/k",
                vec![
                    iiop(2, "h", 1),
                    omniunix(2, "/r"),
                    omniunix(2, "/s"),
                    uiop(2, "/t"),
                    iiop(0, "h", 2809),
                ],
                "k",
                "iiop:1.2@h:1,omniunix:1.2@/r:,omniunix:1.2@/s:,uiop:1.2@/t,iiop:1.0@h:2809/k",
            ),
        ] {
            let url: Corbaloc = alloc::format!("corbaloc:{text}").parse().unwrap();
            assert_eq!((&url.addresses, &url.key[..]), (&addresses, key.as_bytes()), "{text}");
            assert_eq!(url.to_string(), alloc::format!("corbaloc:{again}"));
            assert_eq!(url.to_string().parse::<Corbaloc>().unwrap(), url);
        }
        for (text, printed) in [
            ("corbaname:uiop:/r", "corbaname:uiop:1.2@/r|NameService"),
            ("corbaname:omniunix:/r#a/b", "corbaname:omniunix:1.2@/r:/NameService#a/b"),
            ("corbaname:uiop:/r|Other#a", "corbaname:uiop:1.2@/r|Other#a"),
        ] {
            assert_eq!(text.parse::<Corbaname>().unwrap().to_string(), printed);
        }
    }

    #[test]
    fn unix_sockets_become_the_profiles_of_their_orbs() {
        let url: Corbaloc = "corbaloc:omniunix:1.0@/r:,uiop:1.1@/s|key".parse().unwrap();
        let profiles = url.to_ior("here").unwrap().profiles;
        let of_omniorb = IiopProfile::decode(&profiles[0]).unwrap();
        assert_eq!((&*of_omniorb.host, of_omniorb.port, of_omniorb.version), ("here", 0, Version::V1_1));
        let endpoint = UnixEndpoint::decode(&of_omniorb.components[0]).unwrap();
        assert_eq!(endpoint, UnixEndpoint { host: "here".into(), path: "/r".into() });
        let of_tao = UiopProfile::decode(&profiles[1]).unwrap();
        assert_eq!((&*of_tao.path, of_tao.version), ("/s", Version::V1_1));
        assert_eq!((&of_omniorb.object_key[..], &of_tao.object_key[..]), (&b"key"[..], &b"key"[..]));
    }

    #[test]
    fn initial_references() {
        for text in
            ["corbaloc:rir:", "corbaloc:rir:/", "corbaloc:rir:/NameService", "CORBALOC:RIR:/NameService"]
        {
            let url: Corbaloc = text.parse().unwrap();
            assert_eq!(url, Corbaloc { addresses: [CorbalocAddress::Rir].into(), key: "NameService".into() });
            assert!(url.to_ior("here").unwrap().is_nil());
        }
        assert_eq!("corbaloc:rir:/TradingService".parse::<Corbaloc>().unwrap().key, "TradingService");
    }

    #[test]
    fn names_in_contexts() {
        let url: Corbaname = "corbaname::host#a.b/c%20d".parse().unwrap();
        assert_eq!(url.name, "a.b/c d");
        assert_eq!(url.corbaloc.key, "NameService");
        assert_eq!(url.to_string(), "corbaname:iiop:1.0@host:2809/NameService#a.b/c%20d");
        assert_eq!("corbaname:rir:".parse::<Corbaname>().unwrap().name, "");
        assert_eq!("corbaname::h/Other#x".parse::<Corbaname>().unwrap().corbaloc.key, "Other");
    }

    #[test]
    fn files() {
        for (text, path) in
            [("file:///tmp/a%20b.ior", "/tmp/a b.ior"), ("file://localhost/x", "/x"), ("file:rel", "rel")]
        {
            assert_eq!(text.parse::<ObjectUrl>().unwrap(), ObjectUrl::File(path.into()));
        }
        assert!("file://elsewhere/x".parse::<ObjectUrl>().is_err());
    }

    #[test]
    fn errors_name_the_position() {
        for (text, at) in [
            ("corbaloc", 0),
            ("corbaloc:", 9),
            ("corbaloc:host/x", 9),
            ("corbaloc::/x", 10),
            ("corbaloc::h:99999/x", 12),
            ("corbaloc::h:+1/x", 12),
            ("corbaloc::::1:80/x", 10),
            ("corbaloc::[::1/x", 10),
            ("corbaloc::[::z]/x", 11),
            ("corbaloc::[::1]x/x", 15),
            ("corbaloc::1@h/x", 10),
            ("corbaloc:rir:,:h/x", 9),
            ("corbaloc:rir:x/x", 13),
            ("corbaloc::h/a b", 13),
            ("corbaloc::h/a%2", 13),
            ("corbaloc::h,/x", 12),
            ("corbaloc::h#x", 11),
            ("corbaname::h#%ff", 13),
            ("corbaloc:uiop:|k", 14),
            ("corbaloc:uiop:1.2@|k", 18),
            ("corbaloc:uiop:x@/r|k", 14),
            ("corbaloc:uiop:/run/x/Key", 24),
            ("corbaloc:uiop:/r\u{e9}|k", 16),
            ("corbaloc:uiop:/r\0|k", 16),
            ("corbaloc:uiop:/r#|k", 16),
            ("corbaloc:uiop:/r|a|b", 18),
            ("corbaloc:omniunix:/r/Key", 24),
            ("corbaloc:omniunix:/r:Key", 21),
            ("corbaloc:omniunix::/k", 18),
            ("corbaloc:rir:,uiop:/r|k", 9),
        ] {
            let error = text.parse::<ObjectUrl>().unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
        }
    }
}
