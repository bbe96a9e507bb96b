//! One address of a `corbaloc:` URL, read from the left: where an address ends depends on its protocol.
//!
//! ```text
//! iiop:1.2@host:2809          to "," (another address) or "/" (the key); so too miop, rir and unknown protocols
//! uiop:1.2@/run/bank          to "," or "|" (the key): TAO's, the path of a Unix socket
//! omniunix:1.2@/run/bank:     to "," or ":", behind which stands "," or "/": omniORB's, the same
//! ```
//!
//! Neither ORB escapes anything in a path, so a path with one of these delimiters has no such URL.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::net::Ipv6Addr;

use zorb_cdr::Version;

use super::super::{DEFAULT_PORT, GroupComponent, UrlError};
use super::Rest;

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
    /// `uiop:`: a Unix socket of this machine, as TAO writes it.
    Uiop {
        /// The highest GIOP version to be used; 1.2 if none is written, as TAO reads it.
        version: Version,
        /// The socket's file (TAO: the rendezvous point), without `,`, `|` and `#`.
        path: String,
    },
    /// `omniunix:`: a Unix socket of this machine, as omniORB writes it.
    Omniunix {
        /// The highest GIOP version to be used; 1.2 if none is written. omniORB takes any version and speaks 1.2.
        version: Version,
        /// The socket's file, without `,`, `:` and `#`.
        path: String,
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

impl fmt::Display for CorbalocAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rir => f.write_str("rir:"),
            Self::Uiop { version, path } => write!(f, "uiop:{}.{}@{path}", version.major, version.minor),
            Self::Omniunix { version, path } => {
                write!(f, "omniunix:{}.{}@{path}:", version.major, version.minor)
            }
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

/// What stands behind an address.
pub(super) enum Behind<'t> {
    /// Another one.
    Address(Rest<'t>),
    /// The object key.
    Key(Rest<'t>),
    /// Nothing.
    Nothing,
}

impl<'t> Behind<'t> {
    /// What `separator` announces.
    fn separated(separator: char, rest: Rest<'t>) -> Self {
        if separator == ',' { Self::Address(rest) } else { Self::Key(rest) }
    }
}

/// The first address of `rest`, and what stands behind it. In a `corbaname:` the key may be left out.
pub(super) fn first_address(rest: Rest<'_>, naming: bool) -> Result<(CorbalocAddress, Behind<'_>), UrlError> {
    let (text, behind) = match rest.split_at_any(&[',', '/']) {
        (text, Some((separator, behind))) => (text, Behind::separated(separator, behind)),
        (text, None) => (text, Behind::Nothing),
    };
    if let (protocol, Some(_)) = text.split_at_first(':')
        && let (_, Some(at)) = rest.split_at_first(':')
    {
        if protocol.text.eq_ignore_ascii_case("uiop") {
            return uiop_address(at, naming);
        }
        if protocol.text.eq_ignore_ascii_case("omniunix") {
            return omniunix_address(at, naming);
        }
    }
    Ok((ordinary_address(text)?, behind))
}

/// `1.2@/run/bank|key`, `1.2@/run/bank,` and the next.
fn uiop_address(rest: Rest<'_>, naming: bool) -> Result<(CorbalocAddress, Behind<'_>), UrlError> {
    let (text, behind) = match rest.split_at_any(&[',', '|']) {
        (text, Some((separator, behind))) => (text, Behind::separated(separator, behind)),
        (text, None) if naming => (text, Behind::Nothing),
        (text, None) => {
            return Err(text.end().error("behind the path of \"uiop:\" stands \"|\" and the key"));
        }
    };
    let (version, path) = socket(text)?;
    Ok((CorbalocAddress::Uiop { version, path }, behind))
}

/// `1.2@/run/bank:/key`, `1.2@/run/bank:,` and the next; before a comma the colon may be left out.
fn omniunix_address(rest: Rest<'_>, naming: bool) -> Result<(CorbalocAddress, Behind<'_>), UrlError> {
    let (text, behind) = match rest.split_at_any(&[',', ':']) {
        (text, Some((',', next))) => (text, Behind::Address(next)),
        (text, Some((_, after))) => match after.split_at_any(&[',', '/']) {
            (Rest { text: "", .. }, Some((separator, behind))) => {
                (text, Behind::separated(separator, behind))
            }
            (Rest { text: "", .. }, None) => (text, Behind::Nothing),
            _ => return Err(after.error("behind the colon after a path stands \"/\" and the key")),
        },
        (text, None) if naming => (text, Behind::Nothing),
        (text, None) => {
            return Err(text.end().error("behind the path of \"omniunix:\" stands \":/\" and the key"));
        }
    };
    let (version, path) = socket(text)?;
    Ok((CorbalocAddress::Omniunix { version, path }, behind))
}

/// A socket's file and the version before it; without one 1.2.
fn socket(rest: Rest<'_>) -> Result<(Version, String), UrlError> {
    let (version, path) = match rest.split_at_first('@') {
        // Behind a slash the "@" is the path's.
        (version, Some(path)) if !version.text.contains('/') => (parse_version(version)?, path),
        _ => (Version::V1_2, rest),
    };
    if path.text.is_empty() {
        return Err(path.error("the path of a socket is missing"));
    }
    let is_carried = |letter: char| (letter == ' ' || letter.is_ascii_graphic()) && letter != '#';
    if let Some(bad) = path.text.find(|letter| !is_carried(letter)) {
        return Err(UrlError::new("not a letter of a path: ASCII, and no \"#\"", path.at + bad));
    }
    Ok((version, path.text.to_owned()))
}

/// An address of IIOP, of no place, or of an unknown protocol.
fn ordinary_address(rest: Rest<'_>) -> Result<CorbalocAddress, UrlError> {
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
pub(super) fn miop_address(rest: Rest<'_>) -> Result<CorbalocAddress, UrlError> {
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
