//! Multicast groups: whom a datagram is for, and by which interface it comes and goes.

use std::fmt;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::num::NonZeroU32;
use std::str::FromStr;

use super::AddressParseError;

/// A multicast group, its port, and the interface to reach it by: `239.1.2.3:5000%eth0`, `[ff02::7]:5000%2`. Without an
/// interface the system's routes choose one.
///
/// ```
/// use zorb_ipc::MulticastGroup;
/// let group: MulticastGroup = "239.255.0.1:5000".parse()?;
/// assert_eq!(group.address().port(), 5000);
/// assert!("192.0.2.1:5000".parse::<MulticastGroup>().is_err(), "not a group's address");
/// # Ok::<(), zorb_ipc::AddressParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MulticastGroup {
    address: SocketAddr,
    interface: Option<NonZeroU32>,
}

impl MulticastGroup {
    /// A group, reached by the interface of that number ([`Interface::index`](crate::Interface::index)), or by the one that routes
    /// choose.
    ///
    /// # Errors
    /// [`AddressParseError::Group`]: not a group's address (224.0.0.0/4, ff00::/8), or port 0.
    pub fn new(address: SocketAddr, interface: Option<NonZeroU32>) -> Result<Self, AddressParseError> {
        if !address.ip().is_multicast() || address.port() == 0 {
            return Err(AddressParseError::Group);
        }
        // One place only says which interface.
        let (address, scope) = match address {
            SocketAddr::V6(v6) => {
                (SocketAddrV6::new(*v6.ip(), v6.port(), 0, 0).into(), NonZeroU32::new(v6.scope_id()))
            }
            v4 => (v4, None),
        };
        Ok(Self { address, interface: interface.or(scope) })
    }

    /// The group's address and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of the interface.
    pub fn interface(&self) -> Option<NonZeroU32> {
        self.interface
    }

    /// The same group by another interface.
    pub fn by(self, interface: Option<NonZeroU32>) -> Self {
        Self { interface, ..self }
    }

    /// Whether it is an IPv4 group.
    pub fn is_ipv4(&self) -> bool {
        matches!(self.address.ip(), IpAddr::V4(_))
    }
}

impl FromStr for MulticastGroup {
    type Err = AddressParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = AddressParseError::Group;
        // Behind the port, so that it is not taken for the scope of an IPv6 address in brackets.
        let (address, interface) = match text.rsplit_once('%') {
            Some((address, interface)) if !interface.contains(']') => (address, Some(interface)),
            _ => (text, None),
        };
        let number = |name: &str| name.parse().ok().or_else(|| number_of(name));
        let interface = match interface {
            Some(name) => Some(number(name).ok_or(wrong)?),
            None => None,
        };
        Self::new(address.parse().map_err(|_| wrong)?, interface)
    }
}

/// The interface of that name.
#[cfg(target_os = "linux")]
fn number_of(name: &str) -> Option<NonZeroU32> {
    let all = crate::interfaces().ok()?;
    NonZeroU32::new(all.iter().find(|one| one.name == name)?.index)
}

#[cfg(not(target_os = "linux"))]
fn number_of(_: &str) -> Option<NonZeroU32> {
    None
}

impl fmt::Display for MulticastGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        match self.interface {
            Some(interface) => write!(f, "%{interface}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_group_are_one_to_one() {
        for text in ["224.0.0.1:1", "239.1.2.3:5000%7", "[ff02::7]:5000", "[ff05::1]:9%4294967295"] {
            assert_eq!(text.parse::<MulticastGroup>().unwrap().to_string(), text);
        }
        let scoped: MulticastGroup = "[ff02::7%3]:5000".parse().unwrap();
        assert_eq!(scoped.to_string(), "[ff02::7]:5000%3");
    }

    #[test]
    fn an_interface_may_be_named() {
        let lo = crate::interfaces().unwrap().into_iter().find(|one| one.is_loopback).unwrap();
        let group: MulticastGroup = format!("239.1.2.3:5000%{}", lo.name).parse().unwrap();
        assert_eq!(group.interface().map(NonZeroU32::get), Some(lo.index));
    }

    #[test]
    fn what_is_no_group_is_refused() {
        for text in [
            "",
            "239.1.2.3",
            "239.1.2.3:0",
            "10.0.0.1:5",
            "[fe80::1]:5",
            "239.1.2.3:5%",
            "239.1.2.3:5%0",
            "239.1.2.3:5%no such",
        ] {
            assert_eq!(text.parse::<MulticastGroup>(), Err(AddressParseError::Group), "{text}");
        }
    }
}
