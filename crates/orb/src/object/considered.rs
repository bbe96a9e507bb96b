//! Which protocol calls on a reference go by, and why not by another: [`ObjectRef::protocols`].

use std::fmt;
use std::time::SystemTime;

use zorb_giop::{ComponentTag, IiopProfile, ProfileTag, Protocol};

use super::ObjectRef;
use super::route::{Candidate, Destination};
use crate::policy::{Level, thread_chooses};
use crate::transport::Transport;

/// A way that a reference names, and what calls make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Considered {
    /// Where it leads, such as `tcp:host:port`; a tag, where nothing here can read more.
    pub endpoint: String,
    /// What is made of it.
    pub verdict: Verdict,
    /// What the transport was told beyond its defaults, such as (`queues`, `65536`), where calls may go by it.
    pub properties: Vec<(&'static str, String)>,
    /// The last connect to it from this ORB has failed: when, and why. It is tried in its turn all the same.
    pub unreached: Option<(SystemTime, String)>,
}

/// What calls that wait for something to come back make of one way to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The object lives in this ORB: where an operation can be called directly, no protocol is used.
    Direct,
    /// The next call goes there.
    Used,
    /// It goes there if so many others cannot be reached.
    After(usize),
    /// A policy allows others alone.
    NotAllowed {
        /// Those that it names.
        list: String,
        /// Whose policy it is.
        by: Level,
    },
    /// Its transport is used only where a list of protocols names it, and that of the reference, the thread or the ORB does not.
    NotNamed,
    /// It carries oneways that wait for no more than their sending.
    OnewaysAlone,
    /// Its transport, of this name, is not registered with the ORB, or there is none that reads this profile.
    NotRegistered(String),
    /// The transport can not use it from here, for this reason.
    Declined(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Direct => f.write_str("in this ORB: called directly"),
            Verdict::Used => f.write_str("used"),
            Verdict::After(1) => f.write_str("if the one before cannot be reached"),
            Verdict::After(count) => write!(f, "if the {count} before cannot be reached"),
            Verdict::NotAllowed { list, by } => {
                write!(f, "not allowed: only {list} may be used, by the {by}'s policy")
            }
            Verdict::NotNamed => f.write_str("used only where a list of protocols names it"),
            Verdict::OnewaysAlone => f.write_str("carries oneways alone"),
            Verdict::NotRegistered(name) => write!(f, "not registered: {name}"),
            Verdict::Declined(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.endpoint)?;
        if !self.properties.is_empty() {
            let told: Vec<_> =
                self.properties.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            write!(f, " ({})", told.join(", "))?;
        }
        write!(f, ": {}", self.verdict)?;
        match &self.unreached {
            Some((at, cause)) => {
                let ago = at.elapsed().unwrap_or_default().as_secs_f64();
                write!(f, "; not reached {ago:.1} s ago: {cause}")
            }
            None => Ok(()),
        }
    }
}

impl ObjectRef {
    /// All ways to the object that the reference names, or that it was forwarded to: first those that a two-way call of this
    /// thread would take, in its order, then those that it passes over, each with the reason. Connects to nothing, so whether
    /// an endpoint can be reached it says only where a call has tried.
    pub fn protocols(&self) -> Vec<Considered> {
        let protocols = if thread_chooses() { self.protocols_of_thread() } else { None };
        let (destination, _) = self.route_under(protocols.as_ref());
        let by = match (&protocols, &self.policies().protocols) {
            (Some(_), _) => Level::Thread,
            (None, Some(_)) => Level::Reference,
            (None, None) => Level::Orb,
        };
        let mut all = Vec::new();
        if destination.local.is_some() {
            all.push(passed(String::from("here"), Verdict::Direct));
        }
        in_order(&destination, &mut all);
        for candidate in &destination.candidates {
            if candidate.pool.largest_oneway().is_some() {
                let properties = candidate.pool.properties();
                all.push(Considered { properties, ..passed(way(candidate), Verdict::OnewaysAlone) });
            }
        }
        let list = destination.protocols().map(ToString::to_string).unwrap_or_default();
        for (index, endpoint) in destination.not_allowed.iter().enumerate() {
            // It is there once for each messaging protocol.
            if destination.not_allowed[..index].contains(endpoint) {
                continue;
            }
            all.push(passed(endpoint.to_string(), Verdict::NotAllowed { list: list.clone(), by }));
        }
        all.extend(destination.not_named.iter().map(|it| passed(it.to_string(), Verdict::NotNamed)));
        for (endpoint, spoken) in &destination.mute {
            let reason = format!("{spoken} is not spoken there, and this ORB speaks nothing else");
            all.push(passed(endpoint.to_string(), Verdict::Declined(reason)));
        }
        self.unread(&destination, &mut all);
        all
    }

    /// What no transport uses.
    fn unread(&self, destination: &Destination, into: &mut Vec<Considered>) {
        let ior = destination.ior();
        for profile in &ior.profiles {
            let mut known = false;
            for transport in self.orb().transports() {
                known |= transport.ways(profile, ior).is_some();
                for declined in transport.declines(profile, ior) {
                    known = true;
                    into.push(passed(declined.endpoint, Verdict::Declined(declined.reason)));
                }
            }
            let iiop = IiopProfile::decode(profile);
            for component in iiop.iter().flat_map(|profile| &profile.components) {
                if let Some(name) = transport_of(component.tag)
                    && !self.has_transport(name)
                {
                    let verdict = Verdict::NotRegistered(name.to_owned());
                    into.push(passed(format!("component {}", component.tag), verdict));
                }
            }
            // An IIOP profile without an address is there for its components.
            let has_address = iiop.as_ref().map_or(true, |profile| profile.port != 0);
            if profile.tag == ProfileTag::INTERNET_IOP && has_address && !self.has_transport("tcp") {
                into.push(passed(
                    format!("profile {}", profile.tag),
                    Verdict::NotRegistered("tcp".to_owned()),
                ));
            } else if !known && profile.tag != ProfileTag::MULTIPLE_COMPONENTS && has_address {
                let verdict = Verdict::NotRegistered("no transport reads it".to_owned());
                into.push(passed(format!("profile {}", profile.tag), verdict));
            }
        }
    }

    fn has_transport(&self, name: &str) -> bool {
        self.orb()
            .transports()
            .iter()
            .any(|transport: &std::sync::Arc<dyn Transport>| transport.name() == name)
    }
}

/// The candidates as a two-way call tries them.
fn in_order(destination: &Destination, into: &mut Vec<Considered>) {
    let Some(first) = destination.favourite(true) else { return };
    let count = destination.candidates.len();
    let usable = (first..count).chain(0..first).filter(|&index| destination.can_use(index, true));
    for (before, index) in usable.enumerate() {
        let candidate: &Candidate = &destination.candidates[index];
        into.push(Considered {
            endpoint: way(candidate),
            verdict: if before == 0 { Verdict::Used } else { Verdict::After(before) },
            properties: candidate.pool.properties(),
            unreached: candidate.pool.unreached().map(|unreached| (unreached.at, unreached.cause)),
        });
    }
}

/// The endpoint, and what is spoken there unless it is GIOP.
fn way(candidate: &Candidate) -> String {
    match candidate.pool.messaging() {
        Protocol::Giop => candidate.pool.endpoint().to_string(),
        other => format!("{} by {}", candidate.pool.endpoint(), other.name()),
    }
}

fn passed(endpoint: String, verdict: Verdict) -> Considered {
    Considered { endpoint, verdict, properties: Vec::new(), unreached: None }
}

/// Whose endpoint a component of the IIOP profile is.
fn transport_of(tag: ComponentTag) -> Option<&'static str> {
    match tag {
        ComponentTag::OMNIORB_UNIX => Some("unix"),
        ComponentTag::ZORB_SHM => Some("shm"),
        ComponentTag::ZORB_UDP => Some("udp"),
        ComponentTag::SSL_SEC_TRANS => Some("tls"),
        _ => None,
    }
}
