//! The TCP/IP profile. CORBA 3.4 part 2, §9.7.2.
//!
//! ```text
//! encapsulation: major, minor: octet │ host: string │ port: ushort │ object key: sequence<octet>
//!                │ components (from 1.1 on) │ whatever later minor versions add
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;
use zorb_cdr::{Decoder, EncodeError, Version};

use super::ior::{encapsulate, read_components, write_components};
use super::{ReferenceError, TaggedComponent, TaggedProfile};
use crate::{ComponentTag, ProfileTag};

/// The port of a `corbaloc:` address that names none (assigned to CORBA's locators).
pub const DEFAULT_PORT: u16 = 2809;

/// How to reach an object over TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IiopProfile {
    /// The highest GIOP version to be used with it; 1.0 has no components.
    pub version: Version,
    /// A name or a numeric address, IPv6 without brackets.
    pub host: String,
    /// Port; 0 if the server is reached only by what a component says.
    pub port: u16,
    /// What the server knows the object by.
    pub object_key: Bytes,
    /// What else there is to know, in the order of the wire.
    pub components: Vec<TaggedComponent>,
}

/// A host and port at which a profile's object is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// A name or a numeric address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl IiopProfile {
    /// Reads the profile. Its object key and component data are ranges of the profile's data.
    ///
    /// # Errors
    /// Another tag, an unknown major version, or data that are no such profile. Later minor versions are read as 1.2
    /// and what they add is passed over, as the specification asks.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, ReferenceError> {
        if profile.tag != ProfileTag::INTERNET_IOP {
            return Err(ReferenceError::OtherTag { found: profile.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&profile.data)?;
        let version = Version { major: from.read_u8()?, minor: from.read_u8()? };
        if version.major != 1 {
            return Err(ReferenceError::UnknownVersion { major: version.major, minor: version.minor });
        }
        let host = from.read_string()?;
        let port = from.read_u16()?;
        let length = from.read_count(1)?;
        let object_key = from.read_bytes(length)?;
        let components = if version.minor == 0 { Vec::new() } else { read_components(&mut from)? };
        Ok(Self { version, host, port, object_key, components })
    }

    /// Writes the profile. Components are left out of version 1.0, which has no place for them.
    ///
    /// # Errors
    /// A host that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedProfile, EncodeError> {
        let data = encapsulate(|to| {
            to.write_u8(self.version.major);
            to.write_u8(self.version.minor);
            to.write_string(&self.host)?;
            to.write_u16(self.port);
            to.write_octet_sequence(&self.object_key)?;
            if self.version.minor > 0 {
                write_components(to, &self.components)?;
            }
            Ok(())
        })?;
        Ok(TaggedProfile { tag: ProfileTag::INTERNET_IOP, data })
    }

    /// The data of the first component with this tag.
    #[must_use]
    pub fn component(&self, tag: ComponentTag) -> Option<&Bytes> {
        self.components.iter().find(|component| component.tag == tag).map(|component| &component.data)
    }

    /// Where the object is reached: the profile's own address, then its alternates. Port 0 stands for "not by plain
    /// TCP" and is left out; so is an alternate that cannot be read.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let own = Endpoint { host: self.host.clone(), port: self.port };
        let alternates = self.components.iter().filter_map(|component| Endpoint::decode(component).ok());
        core::iter::once(own).chain(alternates).filter(|endpoint| endpoint.port != 0)
    }
}

impl Endpoint {
    /// Reads a component [`ComponentTag::ALTERNATE_IIOP_ADDRESS`].
    ///
    /// # Errors
    /// Another tag, or data that are no address.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != ComponentTag::ALTERNATE_IIOP_ADDRESS {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&component.data)?;
        Ok(Self { host: from.read_string()?, port: from.read_u16()? })
    }

    /// Writes a component [`ComponentTag::ALTERNATE_IIOP_ADDRESS`].
    ///
    /// # Errors
    /// A host that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|to| {
            to.write_string(&self.host)?;
            to.write_u16(self.port);
            Ok(())
        })?;
        Ok(TaggedComponent { tag: ComponentTag::ALTERNATE_IIOP_ADDRESS, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Big-endian, 1.2, host "h", port 2809, key "key", one component 0x99 with one octet.
    const BY_HAND: &[u8] =
        b"\x00\x01\x02\x00\0\0\0\x02h\0\x0a\xf9\0\0\0\x03key\0\0\0\0\x01\0\0\0\x99\0\0\0\x01\xee";

    fn by_hand() -> IiopProfile {
        IiopProfile {
            version: Version::V1_2,
            host: "h".into(),
            port: 2809,
            object_key: Bytes::from_static(b"key"),
            components: vec![TaggedComponent { tag: ComponentTag(0x99), data: Bytes::from_static(&[0xee]) }],
        }
    }

    #[test]
    fn reads_octets_written_by_hand() {
        let profile = TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: Bytes::from_static(BY_HAND) };
        assert_eq!(IiopProfile::decode(&profile).unwrap(), by_hand());
    }

    #[test]
    fn every_prefix_is_an_error_and_later_minor_versions_may_go_on() {
        for end in 0..BY_HAND.len() {
            let profile =
                TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: Bytes::from_static(&BY_HAND[..end]) };
            assert!(IiopProfile::decode(&profile).is_err(), "{end}");
        }
        let mut later = BY_HAND.to_vec();
        later[2] = 9;
        later.extend(b"what 1.9 adds");
        let profile = TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: later.into() };
        assert_eq!(IiopProfile::decode(&profile).unwrap().object_key, "key");
    }

    #[test]
    fn reads_what_it_writes_in_every_version() {
        for minor in 0..=2 {
            let mut profile = IiopProfile { version: Version { major: 1, minor }, ..by_hand() };
            let read = IiopProfile::decode(&profile.encode().unwrap()).unwrap();
            if minor == 0 {
                profile.components.clear();
            }
            assert_eq!(read, profile);
        }
    }

    #[test]
    fn other_kinds_are_refused_by_name() {
        let profile = TaggedProfile { tag: ProfileTag(7), data: Bytes::from_static(BY_HAND) };
        assert_eq!(IiopProfile::decode(&profile), Err(ReferenceError::OtherTag { found: 7 }));
        let profile =
            TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: Bytes::from_static(b"\x01\x02\x00") };
        assert_eq!(IiopProfile::decode(&profile), Err(ReferenceError::UnknownVersion { major: 2, minor: 0 }));
    }

    #[test]
    fn alternates_follow_the_profiles_own_address() {
        let mut profile = by_hand();
        profile.components.push(Endpoint { host: "::1".into(), port: 99 }.encode().unwrap());
        let ports: Vec<u16> = profile.endpoints().map(|endpoint| endpoint.port).collect();
        assert_eq!(ports, [2809, 99]);
        profile.port = 0;
        assert_eq!(profile.endpoints().count(), 1);
    }
}
