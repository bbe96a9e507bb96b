//! From a host name to its addresses: an explicit call, never a side effect of connecting.
//!
//! The system's resolver (`getaddrinfo`) is used, so that names mean here what they mean to every other
//! program of the host. It blocks, cannot be interrupted, and has no deadline: [`Resolver`](crate::Resolver)
//! adds one.

use crate::{Address, AddressParseError, Error, Step};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, ToSocketAddrs};

/// The longest name that can be in the DNS (RFC 1035 §2.3.4), in its textual form with a final dot.
const LONGEST_NAME: usize = 254;

/// All addresses of `host`, each with `port`, in the order in which the system would try them (RFC 6724).
///
/// `host` is a name, an IPv4 or an IPv6 address, the latter with or without brackets. Numeric ones are
/// answered without asking anybody. Blocks for as long as the system's resolver does; see
/// [`Resolver`](crate::Resolver) for one that can be given up.
///
/// ```
/// let addresses = zorb_ipc::resolve("::1", 2809)?;
/// assert_eq!(addresses, ["[::1]:2809".parse().unwrap()]);
/// # Ok::<(), zorb_ipc::Error>(())
/// ```
///
/// # Errors
/// At [`Step::Resolve`], naming the host: what is no name, is unknown, or has no address. Never returns an
/// empty list.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    match literal(host, port) {
        Some(address) => Ok(vec![address]),
        None => {
            check(host)?;
            answer(host, system_lookup(host)).map(|found| with_port(found, port))
        }
    }
}

/// All addresses that the text of an [`Address`] stands for, in which the host of `tcp:host:port` and
/// `udp:host:port` may be a name: [`resolve`] turns it into all of its addresses. Any other address stands for
/// itself. Blocks as [`resolve`] does; see [`Resolver`](crate::Resolver) for one that can be given up.
///
/// ```
/// use zorb_ipc::{Address, resolve_address};
/// for address in resolve_address("tcp:localhost:2809")? {
///     assert!(matches!(address, Address::Tcp(at) if at.ip().is_loopback() && at.port() == 2809));
/// }
/// assert_eq!(resolve_address("unix:/run/bank.sock")?, ["unix:/run/bank.sock".parse().unwrap()]);
/// # Ok::<(), zorb_ipc::Error>(())
/// ```
///
/// # Errors
/// At [`Step::Resolve`], naming the host as [`resolve`] does; or the whole text, if it is no address.
pub fn resolve_address(text: &str) -> Result<Vec<Address>, Error> {
    resolved(text, resolve)
}

/// The addresses of a text, by a way to look up names.
pub(crate) fn resolved(
    text: &str,
    look_up: impl FnOnce(&str, u16) -> Result<Vec<SocketAddr>, Error>,
) -> Result<Vec<Address>, Error> {
    let wrong = match text.parse() {
        Ok(address) => return Ok(vec![address]),
        Err(wrong) => wrong,
    };
    match named(text) {
        Some((family, host, port)) => Ok(look_up(host, port)?.into_iter().map(family).collect()),
        None => Err(Error::said(Step::Resolve, &AddressParseError::to_string(&wrong)).with_host(text)),
    }
}

/// A family of addresses whose hosts have names.
type Family = fn(SocketAddr) -> Address;

/// The family, the host that is a name, and the port.
fn named(text: &str) -> Option<(Family, &str, u16)> {
    let (family, rest) = text.split_once(':')?;
    let family: Family = match family {
        "tcp" => Address::Tcp,
        "udp" => Address::Udp,
        _ => return None,
    };
    // Without brackets nobody knows where an IPv6 address ends. What is in them is no name, unless it has the
    // name of an interface behind it.
    let (host, port) = rest.rsplit_once(':')?;
    let digits = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let port = port.parse().ok().filter(|_| digits)?;
    let host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(scoped) => Some(scoped).filter(|scoped| scoped.contains('%')),
        None => Some(host).filter(|host| !host.contains([':', '[', ']'])),
    };
    Some((family, host.filter(|host| !host.is_empty())?, port))
}

/// A numeric address needs no look-up.
pub(crate) fn literal(host: &str, port: u16) -> Option<SocketAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Some(SocketAddr::new(ip, port));
    }
    // A scope belongs to the socket address, hence the detour; one given by name is for the system to look
    // up.
    let mut scoped =
        bare.contains('%').then(|| format!("[{bare}]:0").parse::<SocketAddrV6>().ok()).flatten()?;
    scoped.set_port(port);
    Some(scoped.into())
}

/// Refuses what no resolver should be asked.
pub(crate) fn check(host: &str) -> Result<(), Error> {
    let wrong = if host.is_empty() {
        "a host name is not empty"
    } else if host.len() > LONGEST_NAME {
        // Of which an error shows the beginning.
        let beginning = &host[..host.floor_char_boundary(LONGEST_NAME)];
        let wrong = "a host name has at most 253 characters";
        return Err(Error::said(Step::Resolve, wrong).with_host(beginning));
    } else if host.bytes().any(|octet| octet == 0) {
        "a host name contains no NUL"
    } else {
        return Ok(());
    };
    Err(Error::said(Step::Resolve, wrong).with_host(host))
}

/// What the system knows about `host`; the ports mean nothing.
pub(crate) fn system_lookup(host: &str) -> io::Result<Vec<SocketAddr>> {
    Ok((host, 0).to_socket_addrs()?.collect())
}

/// A look-up's result as this crate reports it: each address once, in the order given, at least one.
pub(crate) fn answer(host: &str, found: io::Result<Vec<SocketAddr>>) -> Result<Vec<SocketAddr>, Error> {
    let found = found.map_err(|e| Error::said(Step::Resolve, &e.to_string()).with_host(host))?;
    let mut distinct = Vec::with_capacity(found.len());
    for address in found {
        if !distinct.contains(&address) {
            distinct.push(address);
        }
    }
    if distinct.is_empty() {
        return Err(Error::said(Step::Resolve, "the name has no address").with_host(host));
    }
    Ok(distinct)
}

pub(crate) fn with_port(mut addresses: Vec<SocketAddr>, port: u16) -> Vec<SocketAddr> {
    addresses.iter_mut().for_each(|address| address.set_port(port));
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_hosts_are_answered_at_once() {
        for (host, expected) in [
            ("127.0.0.1", "127.0.0.1:7"),
            ("::", "[::]:7"),
            ("[::1]", "[::1]:7"),
            ("fe80::1%3", "[fe80::1%3]:7"),
            ("[fe80::1%3]", "[fe80::1%3]:7"),
        ] {
            assert_eq!(resolve(host, 7).unwrap(), [expected.parse().unwrap()], "{host}");
        }
    }

    #[test]
    fn the_text_of_an_address_may_name_its_host() {
        let two = ["192.0.2.2:7".parse().unwrap(), "[2001:db8::1]:7".parse().unwrap()];
        let found = resolved("udp:bank.example:7", |host, port| {
            assert_eq!((host, port), ("bank.example", 7));
            Ok(two.to_vec())
        });
        assert_eq!(found.unwrap(), two.map(Address::Udp), "all of them, in their order");
        let found = resolved("tcp:[fe80::1%nosuch]:9", |host, port| {
            assert_eq!((host, port), ("fe80::1%nosuch", 9));
            Ok(two[..1].to_vec())
        });
        assert_eq!(found.unwrap(), [Address::Tcp(two[0])]);
        for text in ["tcp:192.0.2.1:7", "udp:[::1]:7", "unix:@bank", "vsock:host:7"] {
            let found = resolved(text, |host, _| panic!("{host} is asked for"));
            assert_eq!(found.unwrap(), [text.parse().unwrap()]);
        }
        for text in [
            "",
            "bank",
            "tcp:bank",
            "tcp:bank:",
            "tcp::7",
            "tcp:bank:+7",
            "tcp:bank:65536",
            "tcp:::1:7",
            "tcp:[::1:7",
            "tcp:[bank]:7",
            "unix:",
            "ftp:bank:7",
        ] {
            let error = resolved(text, |host, _| panic!("{host} is asked for")).unwrap_err();
            assert_eq!((error.step(), error.host()), (Step::Resolve, Some(text)));
        }
        let error = resolve_address("tcp:nobody.invalid:7").unwrap_err();
        assert_eq!(error.host(), Some("nobody.invalid"));
    }

    #[test]
    fn every_host_knows_localhost() {
        let addresses = resolve("localhost", 2809).unwrap();
        assert!(addresses.iter().all(|a| a.ip().is_loopback() && a.port() == 2809), "{addresses:?}");
    }

    #[test]
    fn what_is_no_name_is_refused_unasked() {
        for host in ["", "a\0b", &"x".repeat(300)] {
            let error = resolve(host, 1).unwrap_err();
            assert_eq!(error.step(), Step::Resolve);
            assert!(!error.is_timeout());
            assert!(error.host().is_some_and(|named| host.starts_with(named) && named.len() <= LONGEST_NAME));
        }
    }

    #[test]
    fn each_address_comes_once_and_none_is_an_error() {
        let (a, b): (SocketAddr, SocketAddr) =
            ("127.0.0.2:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap());
        assert_eq!(answer("x", Ok(vec![a, b, a])).unwrap(), [a, b]);
        assert_eq!(answer("x", Ok(vec![])).unwrap_err().host(), Some("x"));
    }
}
