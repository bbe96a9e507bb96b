//! Unix sockets in references, as the two ORBs that have them write them.
//!
//! ```text
//! omniORB, a component of the IIOP profile, as an encapsulation:  host: string │ path: string
//!   (zorb's shared memory, which a Unix socket sets up, has a component of the same form)
//! TAO, a profile of its own (UIOP):
//!   encapsulation: major, minor: octet │ path: string │ object key: sequence<octet>
//!                  │ components (from 1.1 on)
//! ```
//!
//! The component names the machine that its path is on. UIOP does not: whoever reads one has to know otherwise that
//! it is meant for this machine.

use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;
use zorb_cdr::{Decoder, EncodeError, Version};

use super::ior::{encapsulate, read_components, write_components};
use super::{ReferenceError, TaggedComponent, TaggedProfile};
use crate::{ComponentTag, ProfileTag};

/// A socket that leads to the same objects as the IIOP profile in whose component it stands: omniORB's, and in the same
/// form zorb's that sets up shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnixEndpoint {
    /// The name of the machine, as its system gives it (`gethostname`).
    pub host: String,
    /// The socket's file.
    pub path: String,
}

impl UnixEndpoint {
    /// Reads a component [`ComponentTag::OMNIORB_UNIX`].
    ///
    /// # Errors
    /// Another tag, or data that are no such endpoint.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        Self::decode_as(ComponentTag::OMNIORB_UNIX, component)
    }

    /// The same for a component of this tag, such as [`ComponentTag::ZORB_SHM`].
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_as(tag: ComponentTag, component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != tag {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&component.data)?;
        Ok(Self { host: from.read_string()?, path: from.read_string()? })
    }

    /// Writes a component [`ComponentTag::OMNIORB_UNIX`].
    ///
    /// # Errors
    /// A host or path that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        self.encode_as(ComponentTag::OMNIORB_UNIX)
    }

    /// The same with this tag, such as [`ComponentTag::ZORB_SHM`].
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_as(&self, tag: ComponentTag) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|to| {
            to.write_string(&self.host)?;
            to.write_string(&self.path)
        })?;
        Ok(TaggedComponent { tag, data })
    }
}

/// TAO's profile: an object that is reached through a socket of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiopProfile {
    /// The highest GIOP version to be used with it; 1.0 has no components.
    pub version: Version,
    /// The socket's file (TAO: the rendezvous point).
    pub path: String,
    /// What the server knows the object by.
    pub object_key: Bytes,
    /// What else there is to know, in the order of the wire; the same components as in an IIOP profile.
    pub components: Vec<TaggedComponent>,
}

impl UiopProfile {
    /// Reads the profile. Its object key and component data are ranges of the profile's data.
    ///
    /// # Errors
    /// Another tag, an unknown major version, or data that are no such profile. Later minor versions are read as 1.2
    /// and what they add is passed over.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, ReferenceError> {
        if profile.tag != ProfileTag::TAO_UIOP {
            return Err(ReferenceError::OtherTag { found: profile.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&profile.data)?;
        let version = Version { major: from.read_u8()?, minor: from.read_u8()? };
        if version.major != 1 {
            return Err(ReferenceError::UnknownVersion { major: version.major, minor: version.minor });
        }
        let path = from.read_string()?;
        let length = from.read_count(1)?;
        let object_key = from.read_bytes(length)?;
        let components = if version.minor == 0 { Vec::new() } else { read_components(&mut from)? };
        Ok(Self { version, path, object_key, components })
    }

    /// Writes the profile. Components are left out of version 1.0, which has no place for them.
    ///
    /// # Errors
    /// A path that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedProfile, EncodeError> {
        let data = encapsulate(|to| {
            to.write_u8(self.version.major);
            to.write_u8(self.version.minor);
            to.write_string(&self.path)?;
            to.write_octet_sequence(&self.object_key)?;
            if self.version.minor > 0 {
                write_components(to, &self.components)?;
            }
            Ok(())
        })?;
        Ok(TaggedProfile { tag: ProfileTag::TAO_UIOP, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Big-endian, 1.1, path "/tmp", key "k", no components.
    const BY_HAND: &[u8] = b"\0\x01\x01\0\0\0\0\x05/tmp\0\0\0\0\0\0\0\x01k\0\0\0\0\0\0\0";

    #[test]
    fn reads_a_profile_written_by_hand_and_no_prefix_of_it() {
        let profile = |end: usize| TaggedProfile { tag: ProfileTag::TAO_UIOP, data: BY_HAND[..end].into() };
        let read = UiopProfile::decode(&profile(BY_HAND.len())).unwrap();
        assert_eq!((&*read.path, &read.object_key[..], read.version), ("/tmp", &b"k"[..], Version::V1_1));
        for end in 0..BY_HAND.len() {
            assert!(UiopProfile::decode(&profile(end)).is_err(), "{end}");
        }
    }

    #[test]
    fn reads_what_it_writes_in_every_version() {
        let endpoint = UnixEndpoint { host: "here".into(), path: "/run/bank".into() };
        let component = endpoint.encode().unwrap();
        assert_eq!(UnixEndpoint::decode(&component), Ok(endpoint));
        for minor in 0..=2 {
            let mut profile = UiopProfile {
                version: Version { major: 1, minor },
                path: "/run/bank".into(),
                object_key: "key".into(),
                components: vec![component.clone()],
            };
            let read = UiopProfile::decode(&profile.encode().unwrap()).unwrap();
            if minor == 0 {
                profile.components.clear();
            }
            assert_eq!(read, profile);
        }
    }

    #[test]
    fn other_kinds_are_refused_by_name() {
        let other = TaggedComponent { tag: ComponentTag(9), data: Bytes::new() };
        assert_eq!(UnixEndpoint::decode(&other), Err(ReferenceError::OtherTag { found: 9 }));
        let other = TaggedProfile { tag: ProfileTag(9), data: Bytes::new() };
        assert_eq!(UiopProfile::decode(&other), Err(ReferenceError::OtherTag { found: 9 }));
        let later =
            TaggedProfile { tag: ProfileTag::TAO_UIOP, data: Bytes::from_static(b"\0\x02\0\0\0\0\0\0") };
        assert_eq!(UiopProfile::decode(&later), Err(ReferenceError::UnknownVersion { major: 2, minor: 0 }));
    }
}
