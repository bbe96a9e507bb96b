//! Object groups in references: UIPMC, the profile of multicast. CORBA 3.4 part 2, §11.3 (MIOP).
//!
//! ```text
//! profile, as an encapsulation:
//!   major, minor: octet │ address: string │ port: ushort │ components
//! component "group" (39), as an encapsulation:
//!   major, minor: octet │ domain: string │ group: ulonglong │ version of the reference: ulong
//! ```
//!
//! The profile has no object key: requests name the group by the whole profile ([`Target::Profile`](crate::Target)), and
//! each server knows which of its objects are in the group.

use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;
use zorb_cdr::{Decoder, EncodeError, Version};

use super::ior::{encapsulate, read_components, write_components};
use super::{ReferenceError, TaggedComponent, TaggedProfile};
use crate::{ComponentTag, ProfileTag};

/// A way to reach all objects of a group at once: a multicast address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UipmcProfile {
    /// The version of MIOP: 1.0.
    pub version: Version,
    /// The multicast address, IPv6 without brackets.
    pub address: String,
    /// Port.
    pub port: u16,
    /// The group's component, and what else there is to know, in the order of the wire.
    pub components: Vec<TaggedComponent>,
}

/// Which group of objects a reference stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupComponent {
    /// The version of this component: 1.0.
    pub version: (u8, u8),
    /// Who gave out the number: two groups are the same only within a domain.
    pub domain: String,
    /// The group's number in its domain.
    pub group: u64,
    /// The version of the group's reference: of two references to one group the later one knows more. 0: none is counted.
    pub reference_version: u32,
}

impl UipmcProfile {
    /// Reads the profile. Its component data are ranges of the profile's data.
    ///
    /// # Errors
    /// Another tag, an unknown major version, or data that are no such profile. What later minor versions add is passed
    /// over.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, ReferenceError> {
        if profile.tag != ProfileTag::UIPMC {
            return Err(ReferenceError::OtherTag { found: profile.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&profile.data)?;
        let version = read_version(&mut from)?;
        let address = from.read_string()?;
        let port = from.read_u16()?;
        Ok(Self { version, address, port, components: read_components(&mut from)? })
    }

    /// Writes the profile.
    ///
    /// # Errors
    /// An address that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedProfile, EncodeError> {
        let data = encapsulate(|to| {
            to.write_u8(self.version.major);
            to.write_u8(self.version.minor);
            to.write_string(&self.address)?;
            to.write_u16(self.port);
            write_components(to, &self.components)
        })?;
        Ok(TaggedProfile { tag: ProfileTag::UIPMC, data })
    }

    /// The group that it leads to, from the first component that says so.
    #[must_use]
    pub fn group(&self) -> Option<GroupComponent> {
        self.components.iter().find_map(|component| GroupComponent::decode(component).ok())
    }
}

impl GroupComponent {
    /// A group of that number in its domain.
    #[must_use]
    pub fn new(domain: impl Into<String>, group: u64) -> Self {
        Self { version: (1, 0), domain: domain.into(), group, reference_version: 0 }
    }

    /// Reads a component [`ComponentTag::GROUP`].
    ///
    /// # Errors
    /// Another tag, an unknown major version, or data that are no such component.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != ComponentTag::GROUP {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        Self::from_encapsulation(&component.data)
    }

    /// Reads the component's data, which some ORBs use as the group's object key too.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn from_encapsulation(data: &Bytes) -> Result<Self, ReferenceError> {
        let mut from = Decoder::from_encapsulation(data)?;
        let Version { major, minor } = read_version(&mut from)?;
        let domain = from.read_string()?;
        let (group, reference_version) = (from.read_u64()?, from.read_u32()?);
        Ok(Self { version: (major, minor), domain, group, reference_version })
    }

    /// Writes a component [`ComponentTag::GROUP`].
    ///
    /// # Errors
    /// A domain that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|to| {
            to.write_u8(self.version.0);
            to.write_u8(self.version.1);
            to.write_string(&self.domain)?;
            to.write_u64(self.group);
            to.write_u32(self.reference_version);
            Ok(())
        })?;
        Ok(TaggedComponent { tag: ComponentTag::GROUP, data })
    }

    /// Whether both are the same group, whatever the versions of their references.
    #[must_use]
    pub fn is_same_group(&self, other: &Self) -> bool {
        self.group == other.group && self.domain == other.domain
    }
}

fn read_version(from: &mut Decoder<'_>) -> Result<Version, ReferenceError> {
    let version = Version { major: from.read_u8()?, minor: from.read_u8()? };
    match version.major {
        1 => Ok(version),
        _ => Err(ReferenceError::UnknownVersion { major: version.major, minor: version.minor }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// As JacORB 3.9 sends it: 239.255.7.1, port 5999, group 7 of "zorb".
    const JACORB: &[u8] = b"\0\x01\0\0\0\0\0\x0c239.255.7.1\0\x17\x6f\0\0\0\0\0\x01\0\0\0\x27\0\0\0\x1c\
        \0\x01\0\0\0\0\0\x05zorb\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0";

    fn profile(data: &'static [u8]) -> TaggedProfile {
        TaggedProfile { tag: ProfileTag::UIPMC, data: Bytes::from_static(data) }
    }

    #[test]
    fn reads_what_jacorb_writes_and_no_prefix_of_it() {
        let read = UipmcProfile::decode(&profile(JACORB)).unwrap();
        assert_eq!((&*read.address, read.port), ("239.255.7.1", 5999));
        assert_eq!(read.group(), Some(GroupComponent::new("zorb", 7)));
        for end in 0..JACORB.len() {
            assert!(UipmcProfile::decode(&profile(&JACORB[..end])).is_err(), "{end}");
        }
        let group = &read.components[0].data;
        for end in 0..group.len() {
            assert!(GroupComponent::from_encapsulation(&group.slice(..end)).is_err(), "{end}");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let group = GroupComponent { reference_version: 9, ..GroupComponent::new("a domain", u64::MAX) };
        let profile = UipmcProfile {
            version: Version::V1_0,
            address: "ff02::7".into(),
            port: 65_535,
            components: vec![group.encode().unwrap()],
        };
        let read = UipmcProfile::decode(&profile.encode().unwrap()).unwrap();
        assert_eq!((read.group(), &read), (Some(group.clone()), &profile));
        assert!(group.is_same_group(&GroupComponent::new("a domain", u64::MAX)));
        assert!(!group.is_same_group(&GroupComponent::new("another", u64::MAX)));
    }

    #[test]
    fn other_kinds_are_refused_by_name() {
        let other = TaggedProfile { tag: ProfileTag(9), data: Bytes::new() };
        assert_eq!(UipmcProfile::decode(&other), Err(ReferenceError::OtherTag { found: 9 }));
        let other = TaggedComponent { tag: ComponentTag(9), data: Bytes::new() };
        assert_eq!(GroupComponent::decode(&other), Err(ReferenceError::OtherTag { found: 9 }));
        let later = profile(b"\0\x02\0\0\0\0\0\0");
        assert_eq!(UipmcProfile::decode(&later), Err(ReferenceError::UnknownVersion { major: 2, minor: 0 }));
    }
}
