//! Which transports calls may go by, and in which order: a policy of the ORB, a thread or a reference
//! ([`Policies::protocols`](crate::policy::Policies::protocols)), and which endpoints the references of an adapter name
//! ([`PoaPolicies::protocols`](crate::poa::PoaPolicies::protocols)).
//!
//! **Properties** of a protocol, such as queue sizes and a peak rate, are its transport's. Where some calls want others, a second transport of
//! the kind is registered under a name of its own, and lists name it:
//!
//! ```
//! use std::sync::Arc;
//! use zorb_orb::policy::Policies;
//! use zorb_orb::protocols::Protocols;
//! use zorb_orb::transport::tcp::Tcp;
//! use zorb_orb::{ObjectRef, Orb};
//!
//! let orb = Orb::builder()
//!     .transport(Arc::new(Tcp::new().named("tcp-bulk").queues(1 << 20).peak_rate(50_000_000)))
//!     .build();
//!
//! fn for_bulk(archive: &ObjectRef) -> ObjectRef {
//!     archive.with_policies(Policies::new().protocols(Protocols::first(["tcp-bulk"])))
//! }
//! ```
//!
//! Connections of `tcp` and `tcp-bulk` are never shared, and calls for which no list names `tcp-bulk` do not go by it.

use std::fmt;
use std::sync::Arc;

pub use crate::object::considered::{Considered, Verdict};

/// The place of all transports that are not named.
const OTHERS: &str = "*";

/// Before the name of one that is not used.
const NOT: char = '!';

/// Transports by name, best first. The word `*` stands for all that are not named, and a name behind `!` is left out.
///
/// | list | calls go by |
/// |---|---|
/// | `shm`, `unix` | shared memory, else a Unix socket, else not at all |
/// | `shm`, `*` | shared memory where it can be reached, else as the reference and the registrations have it |
/// | `*`, `tcp` | TCP last |
/// | `*`, `!shm` | all but shared memory |
///
/// An empty list forbids all. Cloning is a count.
///
/// ```
/// use zorb_orb::protocols::Protocols;
///
/// assert!(Protocols::only(["shm", "unix"]).allows("unix"));
/// assert!(!Protocols::only(["shm", "unix"]).allows("tcp"));
/// assert!(Protocols::first(["shm"]).allows("tcp"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocols(Arc<[Box<str>]>);

impl Protocols {
    /// These, in this order; others only where one of them is `*`.
    pub fn only<I>(transports: I) -> Protocols
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Protocols(transports.into_iter().map(|name| name.into().into_boxed_str()).collect())
    }

    /// These before all others.
    pub fn first<I>(transports: I) -> Protocols
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Protocols::only(transports.into_iter().map(Into::into).chain([OTHERS.to_owned()]))
    }

    /// The names, as they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }

    /// Whether the list lets calls go by this transport. By a second one of a kind ([`named`](crate::transport::tcp::Tcp::named)) they go only
    /// where the list has its name.
    pub fn allows(&self, transport: &str) -> bool {
        self.rank(transport).is_some()
    }

    /// Whether it is among the names itself.
    pub(crate) fn names_it(&self, transport: &str) -> bool {
        self.0.iter().any(|name| &**name == transport)
    }

    /// The same without this transport.
    pub(crate) fn without(&self, transport: &str) -> Protocols {
        Protocols::only(self.names().map(str::to_owned).chain([format!("{NOT}{transport}")]))
    }

    /// Its place in the order; `None`: not at all.
    pub(crate) fn rank(&self, transport: &str) -> Option<usize> {
        if self.0.iter().any(|name| name.strip_prefix(NOT) == Some(transport)) {
            return None;
        }
        let place = |of: &str| self.0.iter().position(|name| &**name == of);
        place(transport).or_else(|| place(OTHERS))
    }
}

/// The names, with commas.
impl fmt::Display for Protocols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_star_is_the_place_of_those_not_named() {
        let list = Protocols::only(["shm", "*", "tcp"]);
        assert_eq!(["shm", "unix", "udp", "tcp"].map(|name| list.rank(name)), [0, 1, 1, 2].map(Some));
        assert_eq!(Protocols::first(["unix"]).to_string(), "unix, *");
        assert_eq!(Protocols::only(["unix"]).rank("tcp"), None);
        assert!(!Protocols::only(Vec::<String>::new()).allows("tcp"));
        let without = Protocols::only(["shm", "*"]).without("shm");
        assert!(!without.allows("shm") && without.allows("tcp"), "{without}");
    }
}
