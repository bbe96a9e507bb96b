//! From a host name to its addresses: an explicit call, never a side effect of connecting.
//!
//! The system's resolver (`getaddrinfo`) is used, so that names mean here what they mean to every other
//! program of the host. It blocks, cannot be interrupted, and has no deadline: [`Resolver`](crate::Resolver)
//! adds one.

use crate::{Error, Step};
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
