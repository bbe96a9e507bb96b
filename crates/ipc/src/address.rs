//! Addresses of all families as one type that is parsed from text and printed as text.
//!
//! The handles themselves take the address type of their family (a TCP stream takes a [`SocketAddr`]), so
//! that an address of the wrong family does not compile. This type is for configuration, logs and errors.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Where a peer is, or where to listen, complete and resolved: `tcp:127.0.0.1:2809`, `tcp:[::1]:2809`.
///
/// Names are not addresses: [`resolve`](crate::resolve) turns one into the other.
///
/// ```
/// use zorb_ipc::Address;
/// let address: Address = "tcp:[::1]:2809".parse().unwrap();
/// assert_eq!(address, Address::Tcp("[::1]:2809".parse().unwrap()));
/// assert_eq!(address.to_string(), "tcp:[::1]:2809");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Address {
    /// `tcp:host:port`; an IPv6 host stands in brackets, with its scope if it has one (`[fe80::1%2]`).
    Tcp(SocketAddr),
}

/// Why a text is not an [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressParseError {
    /// No known family stands before the first colon: expected `tcp:`.
    Family,
    /// After `tcp:` comes neither `a.b.c.d:port` nor `[ipv6]:port`.
    Tcp,
}

impl FromStr for Address {
    type Err = AddressParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix("tcp:").ok_or(AddressParseError::Family)?;
        rest.parse().map(Address::Tcp).map_err(|_| AddressParseError::Tcp)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Address::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

impl fmt::Display for AddressParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressParseError::Family => "an address begins with its family, as in tcp:127.0.0.1:2809",
            AddressParseError::Tcp => {
                "after tcp: comes a numeric address and a port, as in 127.0.0.1:2809 or [::1]:2809"
            }
        })
    }
}

impl std::error::Error for AddressParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed_again() {
        for text in ["tcp:0.0.0.0:0", "tcp:127.0.0.1:65535", "tcp:[::]:2809", "tcp:[fe80::1%2]:1"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn incomplete_text_is_refused_with_its_reason() {
        let whole = "tcp:[fe80::1]:2809";
        for end in 0..whole.len() - 3 {
            assert!(whole[..end].parse::<Address>().is_err(), "{}", &whole[..end]);
        }
        assert_eq!("udp:127.0.0.1:1".parse::<Address>(), Err(AddressParseError::Family));
        for text in ["tcp:localhost:1", "tcp:127.0.0.1:65536", "tcp:127.0.0.1", "tcp:::1:1", "tcp: 1.2.3.4:5"]
        {
            assert_eq!(text.parse::<Address>(), Err(AddressParseError::Tcp), "{text}");
        }
    }
}
