//! What this machine is called, and under which of its addresses others reach it.

use crate::Error;
use crate::interfaces::{Interface, interfaces};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name that this machine gives itself. Whether others can resolve it is another question:
/// [`reachable_address`] is the safer thing to publish.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The address to tell others about, for a listener on `listening`.
///
/// An address that is not a wildcard is returned as it is. For a wildcard it is the first address of an
/// interface in service that is neither loopback nor link-local, and loopback if there is none: `0.0.0.0` in
/// a reference leads whoever holds it to his own machine. A listener on `[::]` that is not `v6_only` takes
/// IPv4 peers as well; an IPv4 address is then preferred, since every peer can use one.
///
/// # Errors
/// At [`Step::Inspect`](crate::Step::Inspect), if the system does not tell its interfaces.
pub fn reachable_address(listening: IpAddr, v6_only: bool) -> Result<IpAddr, Error> {
    if !listening.is_unspecified() {
        return Ok(listening);
    }
    Ok(choose(&interfaces()?, listening, v6_only))
}

/// Whether the address is this machine's: loopback, or one of an interface that it has now.
pub fn is_own_address(address: IpAddr) -> bool {
    let has = |interfaces: Vec<Interface>| interfaces.iter().any(|interface| interface.address == address);
    address.is_loopback() || interfaces().is_ok_and(has)
}

fn choose(interfaces: &[Interface], wildcard: IpAddr, v6_only: bool) -> IpAddr {
    let others_use = |i: &&Interface| i.is_running && !i.is_loopback && is_routable(i.address);
    let v4 = || interfaces.iter().filter(others_use).find(|i| i.address.is_ipv4());
    let v6 = || interfaces.iter().filter(others_use).find(|i| i.address.is_ipv6());
    let (found, loopback) = match (wildcard, v6_only) {
        (IpAddr::V4(_), _) => (v4(), Ipv4Addr::LOCALHOST.into()),
        (IpAddr::V6(_), false) => (v4().or_else(v6), Ipv4Addr::LOCALHOST.into()),
        (IpAddr::V6(_), true) => (v6(), Ipv6Addr::LOCALHOST.into()),
    };
    found.map_or(loopback, |interface| interface.address)
}

/// A link-local address means nothing without an interface of the reader's own.
fn is_routable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_link_local() && !v4.is_loopback(),
        IpAddr::V6(v6) => !v6.is_unicast_link_local() && !v6.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(address: &str, is_running: bool) -> Interface {
        let address: IpAddr = address.parse().unwrap();
        Interface {
            name: "x".into(),
            index: 1,
            address,
            prefix_length: 8,
            is_loopback: address.is_loopback(),
            is_running,
        }
    }

    fn chosen(wildcard: &str, v6_only: bool, addresses: &[(&str, bool)]) -> String {
        let interfaces: Vec<_> = addresses.iter().map(|&(address, up)| interface(address, up)).collect();
        choose(&interfaces, wildcard.parse().unwrap(), v6_only).to_string()
    }

    #[test]
    fn a_wildcard_is_never_published() {
        let both = [
            ("127.0.0.1", true),
            ("192.0.2.9", false),
            ("192.0.2.1", true),
            ("::1", true),
            ("2001:db8::1", true),
        ];
        assert_eq!(chosen("0.0.0.0", false, &both), "192.0.2.1");
        assert_eq!(chosen("::", false, &both), "192.0.2.1");
        assert_eq!(chosen("::", true, &both), "2001:db8::1");
        let only_v6 = [("127.0.0.1", true), ("2001:db8::1", true)];
        assert_eq!(chosen("::", false, &only_v6), "2001:db8::1");
        let only_local = [("127.0.0.1", true), ("169.254.3.4", true), ("::1", true), ("fe80::1", true)];
        assert_eq!(chosen("0.0.0.0", false, &only_local), "127.0.0.1");
        assert_eq!(chosen("::", false, &only_local), "127.0.0.1");
        assert_eq!(chosen("::", true, &[]), "::1");
        let here = reachable_address("0.0.0.0".parse().unwrap(), false).unwrap();
        assert!(here.is_ipv4() && !here.is_unspecified());
    }

    #[test]
    fn a_real_address_is_published_as_it_is() {
        let given = "203.0.113.5".parse().unwrap();
        assert_eq!(reachable_address(given, false).unwrap(), given);
    }

    #[test]
    fn this_machine_has_a_name() {
        assert!(!host_name().is_empty());
    }
}
