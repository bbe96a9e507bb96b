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
use zorb_giop::{ComponentTag, IiopProfile, TaggedComponent, TaggedProfile};

use super::{Acceptor, Endpoint};
use crate::protocols::Protocols;

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

    /// What says which group of objects it is, if it is one.
    pub(crate) fn group_component(&self) -> Option<&TaggedComponent> {
        self.components.iter().find(|component| component.tag == ComponentTag::GROUP)
    }
}

/// What all acceptors of an ORB say, ready for any object.
pub(crate) struct Publication {
    /// In order of preference, which within one is the client's.
    groups: Vec<Group>,
    /// The components of every profile.
    components: Vec<TaggedComponent>,
}

/// Acceptors that one IIOP profile tells of.
struct Group {
    /// What comes from them, in their order, and the transport of each.
    said: Vec<(Arc<str>, Published)>,
    /// The alternates and the transports' components.
    alternates: Vec<TaggedComponent>,
}

impl Group {
    fn of(said: Vec<(Arc<str>, Published)>) -> Result<Group, EncodeError> {
        let mut alternates = Vec::new();
        for (host, port) in said.iter().flat_map(|(_, published)| &published.addresses).skip(1) {
            let alternate = zorb_giop::Endpoint { host: host.clone(), port: *port };
            alternates.push(alternate.encode()?);
        }
        alternates.extend(said.iter().flat_map(|(_, published)| &published.components).cloned());
        Ok(Group { said, alternates })
    }

    fn published(&self) -> impl Iterator<Item = &Published> {
        self.said.iter().map(|(_, published)| published)
    }
}

impl Publication {
    /// What `acceptors` say, with what the ORB says itself.
    pub(crate) fn of(
        acceptors: &[Arc<dyn Acceptor>],
        host: Option<&str>,
        components: Vec<TaggedComponent>,
    ) -> Result<Publication, EncodeError> {
        let said = acceptors.iter().map(|acceptor| (acceptor.local().transport, acceptor.published(host)));
        Ok(Publication { groups: vec![Group::of(said.collect())?], components })
    }

    /// Of the transports in a list alone, in its order. `None`: there is none of them.
    ///
    /// Who reads a profile takes its components, which lead to places nearer by, before its address. So a component that comes after an address
    /// stands in a profile behind it.
    pub(crate) fn under(&self, list: &Protocols) -> Result<Option<Publication>, EncodeError> {
        let said = self.groups.iter().flat_map(|group| &group.said);
        let mut said: Vec<_> =
            said.filter_map(|(transport, one)| Some((list.rank(transport)?, transport, one))).collect();
        // Those of one rank stand in one profile, as all do without a list.
        said.sort_by_key(|(rank, _, one)| (*rank, !one.addresses.is_empty()));
        let (mut groups, mut open) = (Vec::new(), Vec::<(Arc<str>, Published)>::new());
        for (_, transport, one) in said {
            let has_address = open.iter().any(|(_, before)| !before.addresses.is_empty());
            if has_address && one.addresses.is_empty() {
                groups.push(Group::of(std::mem::take(&mut open))?);
            }
            open.push((transport.clone(), one.clone()));
        }
        if !open.is_empty() {
            groups.push(Group::of(open)?);
        }
        let components = self.components.clone();
        Ok((!groups.is_empty()).then_some(Publication { groups, components }))
    }

    /// The hosts and ports that its references name.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &(String, u16)> {
        self.groups.iter().flat_map(Group::published).flat_map(|published| &published.addresses)
    }

    /// Whether its references name that endpoint.
    pub(crate) fn names(&self, endpoint: &Endpoint) -> bool {
        let mut said = self.groups.iter().flat_map(Group::published);
        said.any(|published| published.endpoints.contains(endpoint))
    }

    /// The profiles of a reference to the object `key`: of each group IIOP first, if anything is to be said there, then the
    /// transports' own.
    pub(crate) fn profiles(&self, version: Version, key: &[u8]) -> Result<Vec<TaggedProfile>, EncodeError> {
        let mut profiles = Vec::new();
        for group in &self.groups {
            let address = group.published().flat_map(|published| &published.addresses).next();
            if address.is_some() || !group.alternates.is_empty() {
                // Without an address of its own the profile says so by port 0 and counts by its components, as omniORB's.
                let (host, port) = address.cloned().unwrap_or_default();
                let profile = IiopProfile {
                    version,
                    host,
                    port,
                    object_key: Bytes::copy_from_slice(key),
                    components: self.components.iter().chain(&group.alternates).cloned().collect(),
                };
                profiles.push(profile.encode()?);
            }
            let within = InProfile { version, object_key: key, components: &self.components };
            for form in group.published().flat_map(|published| &published.profiles) {
                profiles.push(form(&within)?);
            }
        }
        Ok(profiles)
    }
}
