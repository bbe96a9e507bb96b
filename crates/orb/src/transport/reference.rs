//! What transports write into references, and read out of them.
//!
//! ```text
//! IIOP profile   address, alternates   ◄── Published::addresses
//!                object key
//!                components            ◄── Published::components, and those of the ORB
//! more profiles                        ◄── Published::profiles
//!
//! any profile    ──► Transport::ways ──► Ways: the key, how to speak, and to which endpoints
//! ```

use std::sync::Arc;

use bytes::Bytes;
use zorb_cdr::{EncodeError, Version};
use zorb_giop::{IiopProfile, TaggedComponent, TaggedProfile};

use super::{Acceptor, Endpoint};

/// What references say of one acceptor.
#[derive(Clone, Default)]
pub struct Published {
    /// Hosts and ports for the IIOP profile, best first; never a wildcard. The first one that any acceptor of the ORB has
    /// becomes the profile's own, all others its alternates.
    pub addresses: Vec<(String, u16)>,
    /// Components for the IIOP profile.
    pub components: Vec<TaggedComponent>,
    /// Profiles of the transport's own, best first. They stand behind the IIOP profile.
    pub profiles: Vec<ProfileForm>,
    /// The endpoints as [`Transport::ways`](super::Transport::ways) reads them from all this: by them an ORB knows its own
    /// references.
    pub endpoints: Vec<Endpoint>,
}

/// Makes a profile of an acceptor's out of what is the object's.
pub type ProfileForm = Arc<dyn Fn(&InProfile<'_>) -> Result<TaggedProfile, EncodeError> + Send + Sync>;

/// What a profile of any transport says of an object.
#[derive(Clone, Copy, Debug)]
pub struct InProfile<'o> {
    /// The highest GIOP version to be used.
    pub version: Version,
    /// What the server knows the object by.
    pub object_key: &'o [u8],
    /// Code sets and the like.
    pub components: &'o [TaggedComponent],
}

/// What a transport can use of a profile.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The highest GIOP version to be used.
    pub version: Version,
    /// What the server knows the object by.
    pub object_key: Bytes,
    /// The profile's components: code sets and the like.
    pub components: Vec<TaggedComponent>,
    /// Where the object is reached by this transport, in the profile's order; at least one.
    pub endpoints: Vec<Endpoint>,
}

impl Ways {
    /// Those by an IIOP profile; `None` where there is no endpoint.
    pub fn iiop(profile: IiopProfile, endpoints: Vec<Endpoint>) -> Option<Ways> {
        (!endpoints.is_empty()).then_some(Ways {
            version: profile.version,
            object_key: profile.object_key,
            components: profile.components,
            endpoints,
        })
    }
}

/// What all acceptors of an ORB say, ready for any object.
pub(crate) struct Publication {
    /// What comes from the acceptors, in their order.
    said: Vec<Published>,
    /// The components of every profile.
    components: Vec<TaggedComponent>,
    /// The alternates and the transports' components: those of the IIOP profile alone.
    alternates: Vec<TaggedComponent>,
}

impl Publication {
    /// What `acceptors` say, with what the ORB says itself.
    pub(crate) fn of(
        acceptors: &[Arc<dyn Acceptor>],
        host: Option<&str>,
        components: Vec<TaggedComponent>,
    ) -> Result<Publication, EncodeError> {
        let said: Vec<_> = acceptors.iter().map(|acceptor| acceptor.published(host)).collect();
        let mut alternates = Vec::new();
        for (host, port) in said.iter().flat_map(|published| &published.addresses).skip(1) {
            let alternate = zorb_giop::Endpoint { host: host.clone(), port: *port };
            alternates.push(alternate.encode()?);
        }
        alternates.extend(said.iter().flat_map(|published| &published.components).cloned());
        Ok(Publication { said, components, alternates })
    }

    /// Whether its references name that endpoint.
    pub(crate) fn names(&self, endpoint: &Endpoint) -> bool {
        self.said.iter().any(|published| published.endpoints.contains(endpoint))
    }

    /// The profiles of a reference to the object `key`: IIOP first, if anything is to be said there, then the transports'
    /// own.
    pub(crate) fn profiles(&self, version: Version, key: &[u8]) -> Result<Vec<TaggedProfile>, EncodeError> {
        let mut profiles = Vec::new();
        let address = self.said.iter().flat_map(|published| &published.addresses).next();
        if address.is_some() || !self.alternates.is_empty() {
            // Without an address of its own the profile says so by port 0 and counts by its components, as omniORB's.
            let (host, port) = address.cloned().unwrap_or_default();
            let profile = IiopProfile {
                version,
                host,
                port,
                object_key: Bytes::copy_from_slice(key),
                components: self.components.iter().chain(&self.alternates).cloned().collect(),
            };
            profiles.push(profile.encode()?);
        }
        let within = InProfile { version, object_key: key, components: &self.components };
        for form in self.said.iter().flat_map(|published| &published.profiles) {
            profiles.push(form(&within)?);
        }
        Ok(profiles)
    }
}
