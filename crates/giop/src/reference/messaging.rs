//! Messaging protocols in references: what a server speaks beside GIOP at the endpoints of a profile.
//!
//! ```text
//! component of a profile, as an encapsulation:  count: ulong │ count × name: string
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use zorb_cdr::{Decoder, EncodeError};

use super::ior::encapsulate;
use super::{ReferenceError, TaggedComponent};
use crate::ComponentTag;

/// The messaging protocols that a server speaks beside GIOP, wherever its profile leads by a stream of octets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagingComponent {
    /// Their names, such as `giop-lite`.
    pub names: Vec<String>,
}

impl MessagingComponent {
    /// What a profile with these components says; nothing where it has no such component, or one that cannot be read.
    #[must_use]
    pub fn find(components: &[TaggedComponent]) -> Self {
        let found = components.iter().find(|component| component.tag == ComponentTag::ZORB_MESSAGING);
        found.and_then(|component| Self::decode(component).ok()).unwrap_or_default()
    }

    /// Whether it names that protocol.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// Reads a component [`ComponentTag::ZORB_MESSAGING`].
    ///
    /// # Errors
    /// Another tag, or data that are no list of names.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != ComponentTag::ZORB_MESSAGING {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        let mut from = Decoder::from_encapsulation(&component.data)?;
        let names = (0..from.read_count(5)?).map(|_| from.read_string()).collect::<Result<_, _>>()?;
        Ok(Self { names })
    }

    /// Writes a component [`ComponentTag::ZORB_MESSAGING`].
    ///
    /// # Errors
    /// A name that holds a NUL or a character outside ISO 8859-1.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|to| {
            to.write_length(self.names.len())?;
            self.names.iter().try_for_each(|name| to.write_string(name))
        })?;
        Ok(TaggedComponent { tag: ComponentTag::ZORB_MESSAGING, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Big-endian, one name: "a".
    const BY_HAND: &[u8] = b"\0\0\0\0\0\0\0\x01\0\0\0\x02a\0";

    #[test]
    fn reads_octets_written_by_hand_and_no_prefix_of_them() {
        let component =
            |end: usize| TaggedComponent { tag: ComponentTag::ZORB_MESSAGING, data: BY_HAND[..end].into() };
        let names = MessagingComponent { names: alloc::vec!["a".into()] };
        assert_eq!(MessagingComponent::decode(&component(BY_HAND.len())), Ok(names.clone()));
        assert_eq!(MessagingComponent::decode(&names.encode().unwrap()), Ok(names.clone()));
        for end in 0..BY_HAND.len() {
            assert!(MessagingComponent::decode(&component(end)).is_err(), "{end}");
            assert_eq!(MessagingComponent::find(&[component(end)]), MessagingComponent::default());
        }
        let found = MessagingComponent::find(&[component(BY_HAND.len())]);
        assert!(found.names("a") && !found.names("b"));
    }
}
