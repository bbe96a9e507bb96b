//! References as people write them: `corbaloc:`, `corbaname:`, `file:`. CORBA 3.4 part 2, §7.6.10.
//!
//! ```text
//! corbaloc:iiop:1.2@host:2809,:[::1]:5000/Key%20with%20space
//!          └── address ─────┘ └─ address ┘└─ key ──────────┘
//! corbaloc:rir:/NameService
//! corbaloc:miop:1.0@1.0-domain-7/239.255.0.1:5000
//!               │   └── group ─┘ └─ address ───┘   optional behind it: ";" and addresses of an object that answers
//! corbaname::host/NameService#context/object
//! ```
//!
//! An address without a protocol is IIOP's, without a version 1.0, without a port 2809. An address of a protocol
//! that zorb does not know is kept as text, since another address of the list may serve. A group of objects (§11.5) is
//! named by a domain, a number and perhaps the version of its reference, with a multicast address.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;

use bytes::Bytes;
use zorb_cdr::{EncodeError, Version};

use super::{DEFAULT_PORT, GroupComponent, IiopProfile, Ior, UipmcProfile, UrlError};

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

/// One address of a `corbaloc:` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorbalocAddress {
    /// `iiop:`, or nothing before the colon.
    Iiop {
        /// The highest GIOP version to be used; 1.0 if none is written.
        version: Version,
        /// A name or a numeric address, IPv6 without brackets.
        host: String,
        /// The port; 2809 if none is written.
        port: u16,
    },
    /// `miop:`: a group of objects at a multicast address. It stands first, and the addresses behind it, if any, are those
    /// of an object that answers for the group.
    Miop {
        /// The version of MIOP; 1.0 if none is written.
        version: Version,
        /// Which group.
        group: GroupComponent,
        /// A multicast address, IPv6 without brackets.
        address: String,
        /// The port.
        port: u16,
    },
    /// `rir:`: an initial reference of the ORB itself.
    Rir,
    /// Another protocol.
    Other {
        /// Its name.
        protocol: String,
        /// What follows the colon.
        address: String,
    },
}

impl Corbaloc {
    /// The reference that the IIOP and multicast addresses stand for: a profile for each, no type id. Nil if there is none.
    ///
    /// # Errors
    /// A host or a group's domain that an IIOP profile cannot carry (impossible for one that was parsed).
    pub fn to_ior(&self) -> Result<Ior, EncodeError> {
        let mut ior = Ior::nil();
        for address in &self.addresses {
            if let CorbalocAddress::Miop { version, group, address, port } = address {
                let (version, address, port) = (*version, address.clone(), *port);
                let components = alloc::vec![group.encode()?];
                ior.profiles.push(UipmcProfile { version, address, port, components }.encode()?);
            }
            if let CorbalocAddress::Iiop { version, host, port } = address {
                let (version, host, port) = (*version, host.clone(), *port);
                let profile =
                    IiopProfile { version, host, port, object_key: self.key.clone(), components: Vec::new() };
                ior.profiles.push(profile.encode()?);
            }
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
        f.write_str("/")?;
        escape(f, &self.key)
    }
}

impl fmt::Display for CorbalocAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rir => f.write_str("rir:"),
            Self::Other { protocol, address } => write!(f, "{protocol}:{address}"),
            Self::Miop { version, group, address, port } => {
                write!(
                    f,
                    "miop:{}.{}@{}.{}-",
                    version.major, version.minor, group.version.0, group.version.1
                )?;
                write!(f, "{}-{}", group.domain, group.group)?;
                if group.reference_version != 0 {
                    write!(f, "-{}", group.reference_version)?;
                }
                if address.contains(':') {
                    write!(f, "/[{address}]:{port}")
                } else {
                    write!(f, "/{address}:{port}")
                }
            }
            Self::Iiop { version, host, port } => {
                write!(f, "iiop:{}.{}@", version.major, version.minor)?;
                if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
            }
        }
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
    let (list, key) = rest.split_at_first('/');
    let mut addresses = Vec::new();
    let mut next = Some(list);
    while let Some(rest) = next {
        let (address, following) = rest.split_at_first(',');
        addresses.push(parse_address(address)?);
        next = following;
    }
    if addresses.len() > 1 && addresses.contains(&CorbalocAddress::Rir) {
        return Err(list.error("\"rir:\" stands alone, without other addresses"));
    }
    let key = match key {
        Some(key) => unescape(key)?,
        None => Vec::new(),
    };
    let names_none = key.is_empty() && (naming || addresses[0] == CorbalocAddress::Rir);
    Ok(Corbaloc { addresses, key: if names_none { Bytes::from_static(DEFAULT_KEY) } else { key.into() } })
}

fn parse_address(rest: Rest<'_>) -> Result<CorbalocAddress, UrlError> {
    let (protocol, Some(address)) = rest.split_at_first(':') else {
        return Err(rest.error("an address is \"iiop:host\", \":host\" or \"rir:\": a colon is missing"));
    };
    if protocol.text.is_empty() || protocol.text.eq_ignore_ascii_case("iiop") {
        return iiop_address(address);
    }
    if protocol.text.eq_ignore_ascii_case("rir") {
        return match address.text {
            "" => Ok(CorbalocAddress::Rir),
            _ => Err(address.error("nothing follows \"rir:\" but the key")),
        };
    }
    if let Some(bad) =
        protocol.text.find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-._".contains(letter))
    {
        return Err(UrlError::new("not a letter of a protocol's name", protocol.at + bad));
    }
    Ok(CorbalocAddress::Other { protocol: protocol.text.to_owned(), address: address.text.to_owned() })
}

/// `1.0@1.0-domain-7-2/239.255.0.1:5000`.
fn miop_address(rest: Rest<'_>) -> Result<CorbalocAddress, UrlError> {
    let (version, rest) = match rest.split_at_first('@') {
        (version, Some(rest)) => (parse_version(version)?, rest),
        (rest, None) => (Version::V1_0, rest),
    };
    let (named, Some(at)) = rest.split_at_first('/') else {
        return Err(rest.error("a group is \"1.0-domain-number/address:port\": a slash is missing"));
    };
    let mut parts = named.text.split('-');
    let (Some(first), Some(domain), Some(group)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(named
            .error("a group is named \"1.0-domain-number\", with its reference's version behind it or not"));
    };
    let Version { major, minor } = parse_version(Rest { text: first, at: named.at })?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let number = Some(group).filter(|text| is_number(text)).and_then(|text| text.parse().ok());
    let reference_version = match parts.next() {
        Some(version) => Some(version).filter(|text| is_number(text)).and_then(|text| text.parse().ok()),
        None => Some(0),
    };
    let (Some(group), Some(reference_version), None) = (number, reference_version, parts.next()) else {
        return Err(named.error("a group's number and its reference's version are decimal numbers"));
    };
    if domain.is_empty()
        || !domain.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"._".contains(&letter))
    {
        return Err(named.error("a group's domain is made of letters, digits, \".\" and \"_\""));
    }
    let address: core::net::SocketAddr = at
        .text
        .parse()
        .map_err(|_| at.error("not an address and a port, as 239.255.0.1:5000 or [ff02::7]:5000"))?;
    if !address.ip().is_multicast() {
        return Err(at.error("not a multicast address"));
    }
    let version_of_group = (major, minor);
    let group =
        GroupComponent { version: version_of_group, domain: domain.to_owned(), group, reference_version };
    let text = alloc::string::ToString::to_string(&address.ip());
    Ok(CorbalocAddress::Miop { version, group, address: text, port: address.port() })
}

fn iiop_address(rest: Rest<'_>) -> Result<CorbalocAddress, UrlError> {
    let (version, rest) = match rest.split_at_first('@') {
        (version, Some(rest)) => (parse_version(version)?, rest),
        (rest, None) => (Version::V1_0, rest),
    };
    let (host, port) = match rest.text.strip_prefix('[') {
        Some(_) => {
            let (host, after) = Rest { text: &rest.text[1..], at: rest.at + 1 }.split_at_first(']');
            let Some(after) = after else {
                return Err(rest.error("the bracket of an IPv6 address is not closed"));
            };
            let (numeric, _zone) = host.split_at_first('%');
            if numeric.text.parse::<Ipv6Addr>().is_err() {
                return Err(host.error("not an IPv6 address"));
            }
            match after.split_at_first(':') {
                (Rest { text: "", .. }, port) => (host, port),
                _ => return Err(after.error("after an IPv6 address comes \":port\" or nothing")),
            }
        }
        None => {
            let (host, port) = rest.split_at_first(':');
            if host.text.is_empty() {
                return Err(host.error("a host is missing"));
            }
            if let Some(bad) =
                host.text.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-._".contains(letter))
            {
                return Err(UrlError::new("not a letter of a host name", host.at + bad));
            }
            (host, port)
        }
    };
    let port = match port {
        Some(port) if port.text.contains(':') => {
            return Err(port.error("not a port number; an IPv6 address stands in brackets"));
        }
        Some(port) => match port.text.parse() {
            Ok(number) if port.text.bytes().all(|digit| digit.is_ascii_digit()) => number,
            _ => return Err(port.error("not a port number from 0 to 65535")),
        },
        None => DEFAULT_PORT,
    };
    Ok(CorbalocAddress::Iiop { version, host: host.text.to_owned(), port })
}

fn parse_version(rest: Rest<'_>) -> Result<Version, UrlError> {
    let number =
        |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    rest.text
        .split_once('.')
        .and_then(|(major, minor)| Some(Version { major: number(major)?, minor: number(minor)? }))
        .ok_or(rest.error("before the \"@\" stands a version such as 1.2"))
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
            let ior = url.to_ior().unwrap();
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
            "corbaloc:iiop:1.2@a.example:7,:b,:1.1@[::1],iiop:[fe80::1%eth0]:9,uiop:x|y/Key%20%2f/é"
                .replace('é', "%C3%A9")
                .parse()
                .unwrap();
        let other = CorbalocAddress::Other { protocol: "uiop".into(), address: "x|y".into() };
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
        assert_eq!(url.to_ior().unwrap().profiles.len(), 4);
    }

    #[test]
    fn initial_references() {
        for text in
            ["corbaloc:rir:", "corbaloc:rir:/", "corbaloc:rir:/NameService", "CORBALOC:RIR:/NameService"]
        {
            let url: Corbaloc = text.parse().unwrap();
            assert_eq!(url, Corbaloc { addresses: [CorbalocAddress::Rir].into(), key: "NameService".into() });
            assert!(url.to_ior().unwrap().is_nil());
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
        ] {
            let error = text.parse::<ObjectUrl>().unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
        }
    }
}
