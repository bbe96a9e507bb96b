//! UDP in references: where a zorb server takes oneway requests as datagrams.
//!
//! ```text
//! component of the IIOP profile, as an encapsulation:  host: string │ port: ushort
//! ```

use alloc::string::String;

use zorb_cdr::{Decoder, EncodeError};

use super::ior::encapsulate;
use super::{ReferenceError, TaggedComponent};
use crate::ComponentTag;

/// A UDP port that leads to the same object as the IIOP profile in which it stands, for oneway requests alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UdpEndpoint {
    /// A name or a numeric address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl UdpEndpoint {
    /// Reads a component [`ComponentTag::ZORB_UDP`].
    ///
    /// # Errors
    /// Another tag, or data that are no such endpoint.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != ComponentTag::ZORB_UDP {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&component.data)?;
        Ok(Self { host: from.read_string()?, port: from.read_u16()? })
    }

    /// Writes a component [`ComponentTag::ZORB_UDP`].
    ///
    /// # Errors
    /// A host that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|to| {
            to.write_string(&self.host)?;
            to.write_u16(self.port);
            Ok(())
        })?;
        Ok(TaggedComponent { tag: ComponentTag::ZORB_UDP, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    /// Big-endian, host "h", port 2809.
    const BY_HAND: &[u8] = b"\0\0\0\0\0\0\0\x02h\0\x0a\xf9";

    #[test]
    fn reads_octets_written_by_hand_and_no_prefix_of_them() {
        let component =
            |end: usize| TaggedComponent { tag: ComponentTag::ZORB_UDP, data: BY_HAND[..end].into() };
        let endpoint = UdpEndpoint { host: "h".into(), port: 2809 };
        assert_eq!(UdpEndpoint::decode(&component(BY_HAND.len())), Ok(endpoint.clone()));
        assert_eq!(UdpEndpoint::decode(&endpoint.encode().unwrap()), Ok(endpoint));
        for end in 0..BY_HAND.len() {
            assert!(UdpEndpoint::decode(&component(end)).is_err(), "{end}");
        }
        let other = TaggedComponent { tag: ComponentTag(9), data: Bytes::new() };
        assert_eq!(UdpEndpoint::decode(&other), Err(ReferenceError::OtherTag { found: 9 }));
    }
}
