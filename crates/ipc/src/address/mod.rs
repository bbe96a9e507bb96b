//! Addresses of all families as one type that is parsed from text and printed as text.
//!
//! The handles themselves take the address type of their family (a TCP stream takes a [`SocketAddr`]), so
//! that an address of the wrong family does not compile. This type is for configuration, logs and errors.

mod group;
mod unix;
mod vsock;

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

pub use group::MulticastGroup;
pub use unix::{LONGEST_UNIX_NAME, UnixAddress};
pub use vsock::VsockAddress;

/// Where a peer is, or where to listen, complete and resolved.
///
/// Names are not addresses: [`resolve`](crate::resolve) turns one into the other, and
/// [`resolve_address`](crate::resolve_address) a text that has one in it.
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
    /// `udp:host:port`, likewise.
    Udp(SocketAddr),
    /// `multicast:239.1.2.3:port%interface`.
    Multicast(MulticastGroup),
    /// `unix:/path` or `unix:@name`.
    Unix(UnixAddress),
    /// `shm:/path` or `shm:@name`: the Unix socket over which channels of shared memory are set up.
    Shm(UnixAddress),
    /// `vsock:context:port`.
    Vsock(VsockAddress),
}

/// Why a text is not an [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressParseError {
    /// No known family stands before the first colon: expected `tcp:`, `udp:`, `multicast:`, `unix:`, `shm:` or `vsock:`.
    Family,
    /// After `tcp:` or `udp:` comes neither `a.b.c.d:port` nor `[ipv6]:port`.
    Tcp,
    /// A multicast group is an address of 224.0.0.0/4 or ff00::/8 with a port, and an interface that there is.
    Group,
    /// A Unix address is 1 to 107 octets: a path without NUL, or `@` and a name.
    Unix,
    /// A vsock address is a context and a port.
    Vsock,
}

impl FromStr for Address {
    type Err = AddressParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (family, rest) = text.split_once(':').ok_or(AddressParseError::Family)?;
        let internet = || rest.parse().map_err(|_| AddressParseError::Tcp);
        match family {
            "tcp" => internet().map(Address::Tcp),
            "udp" => internet().map(Address::Udp),
            "multicast" => rest.parse().map(Address::Multicast),
            "unix" => rest.parse().map(Address::Unix),
            "shm" => rest.parse().map(Address::Shm),
            "vsock" => rest.parse().map(Address::Vsock),
            _ => Err(AddressParseError::Family),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Address::Tcp(address)
    }
}

impl From<UnixAddress> for Address {
    fn from(address: UnixAddress) -> Self {
        Address::Unix(address)
    }
}

impl From<VsockAddress> for Address {
    fn from(address: VsockAddress) -> Self {
        Address::Vsock(address)
    }
}

impl From<MulticastGroup> for Address {
    fn from(group: MulticastGroup) -> Self {
        Address::Multicast(group)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "tcp:{address}"),
            Address::Udp(address) => write!(f, "udp:{address}"),
            Address::Multicast(group) => write!(f, "multicast:{group}"),
            Address::Unix(address) => write!(f, "unix:{address}"),
            Address::Shm(address) => write!(f, "shm:{address}"),
            Address::Vsock(address) => write!(f, "vsock:{address}"),
        }
    }
}

impl fmt::Display for AddressParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressParseError::Family => {
                "an address begins with its family, tcp, udp, multicast, unix, shm or vsock, as in tcp:127.0.0.1:2809"
            }
            AddressParseError::Tcp => {
                "after tcp: or udp: comes a numeric address and a port, as in 127.0.0.1:2809 or [::1]:2809"
            }
            AddressParseError::Group => {
                "a multicast group is an address of 224.0.0.0/4 or ff00::/8 with its port, and perhaps an interface that \
                 there is, as in 239.1.2.3:5000%eth0"
            }
            AddressParseError::Unix => {
                "a Unix address is a path, or @ and a name, of 1 to 107 octets, a path without NUL; % stands before two \
                 hexadecimal digits"
            }
            AddressParseError::Vsock => "a vsock address is a context and a port, as in 3:2809 or host:2809",
        })
    }
}

impl std::error::Error for AddressParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed_again() {
        for text in [
            "tcp:0.0.0.0:0",
            "tcp:127.0.0.1:65535",
            "tcp:[::]:2809",
            "tcp:[fe80::1%2]:1",
            "udp:[::1]:2809",
            "multicast:239.1.2.3:5000%2",
            "unix:/run/bank.sock",
            "unix:@bank",
            "shm:/run/bank.sock",
            "shm:@bank",
            "vsock:host:2809",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn incomplete_text_is_refused_with_its_reason() {
        for whole in ["tcp:[fe80::1]:2809", "udp:[fe80::1]:2809", "multicast:[ff02::1]:2809"] {
            for end in 0..whole.len() - 3 {
                assert!(whole[..end].parse::<Address>().is_err(), "{}", &whole[..end]);
            }
        }
        for (text, why) in [
            ("", AddressParseError::Family),
            ("ftp:127.0.0.1:1", AddressParseError::Family),
            ("unix", AddressParseError::Family),
            ("unix:", AddressParseError::Unix),
            ("shm", AddressParseError::Family),
            ("shm:", AddressParseError::Unix),
            ("shm:/nul/%00", AddressParseError::Unix),
            ("vsock:1", AddressParseError::Vsock),
            ("multicast:127.0.0.1:1", AddressParseError::Group),
        ] {
            assert_eq!(text.parse::<Address>(), Err(why), "{text}");
        }
        for text in ["tcp:localhost:1", "tcp:127.0.0.1:65536", "tcp:127.0.0.1", "tcp:::1:1", "tcp: 1.2.3.4:5"]
        {
            assert_eq!(text.parse::<Address>(), Err(AddressParseError::Tcp), "{text}");
        }
    }
}
