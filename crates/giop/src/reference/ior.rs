//! Interoperable object references. CORBA 3.4 part 2, §7.6.2; as text §7.6.9.
//!
//! ```text
//! IOR      type id: string │ profiles: sequence of
//! profile    tag: ulong │ data: sequence<octet>, as a rule an encapsulation
//! text     "IOR:" and the octets of an encapsulated IOR in hexadecimal
//! ```
//!
//! Profiles and components that zorb does not know are kept octet for octet and go out as they came in. Octets behind
//! the last profile are no part of a reference: a message has no room for them, so they are not kept. The
//! [description](crate::describe::text) of a stringified reference shows them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use bytes::Bytes;
use zorb_cdr::copies::copied;
use zorb_cdr::{ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Format};

use super::{ReferenceError, UrlError};
use crate::{ComponentTag, ProfileTag};

/// An object reference: a repository id and the ways to reach the object. The nil reference has neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ior {
    /// Repository id of the most derived interface, as its creator knew it; may be empty.
    pub type_id: String,
    /// Ways to reach the object, best first; empty in the nil reference.
    pub profiles: Vec<TaggedProfile>,
}

/// One way to reach an object.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// What the data are.
    pub tag: ProfileTag,
    /// The data, uninterpreted.
    pub data: Bytes,
}

/// One thing to know about a profile.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// What the data mean.
    pub tag: ComponentTag,
    /// The data, uninterpreted.
    pub data: Bytes,
}

impl TaggedProfile {
    /// A profile that only holds components ([`ProfileTag::MULTIPLE_COMPONENTS`]).
    ///
    /// # Errors
    /// Components whose number or size no profile can tell.
    pub fn of_components(components: &[TaggedComponent]) -> Result<Self, EncodeError> {
        let data = encapsulate(|to| write_components(to, components))?;
        Ok(Self { tag: ProfileTag::MULTIPLE_COMPONENTS, data })
    }

    /// The components of such a profile.
    ///
    /// # Errors
    /// Another tag, or data that are no components.
    pub fn components(&self) -> Result<Vec<TaggedComponent>, ReferenceError> {
        if self.tag != ProfileTag::MULTIPLE_COMPONENTS {
            return Err(ReferenceError::OtherTag { found: self.tag.0 });
        }
        Ok(read_components(&mut Decoder::from_encapsulation(&self.data)?)?)
    }
}

impl Ior {
    /// The reference to no object.
    #[must_use]
    pub const fn nil() -> Self {
        Self { type_id: String::new(), profiles: Vec::new() }
    }

    /// Whether this is the reference to no object: one without profiles.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The octets of the reference as an encapsulation: what its text writes in hexadecimal.
    ///
    /// # Errors
    /// A type id that a CORBA string cannot carry.
    pub fn to_encapsulation(&self) -> Result<Bytes, EncodeError> {
        encapsulate(|to| self.encode(to))
    }

    /// Reads what [`to_encapsulation`](Self::to_encapsulation) writes, in either byte order.
    ///
    /// # Errors
    /// The octets are not an encapsulated reference.
    pub fn from_encapsulation(octets: &[u8]) -> Result<Self, DecodeError> {
        let octets = Bytes::copy_from_slice(octets);
        Self::decode(&mut Decoder::from_encapsulation(&octets)?)
    }

    /// The octets that a stringified reference writes in hexadecimal: as a rule an encapsulated reference. White space
    /// may stand around the text.
    ///
    /// # Errors
    /// The text does not begin with `IOR:`, or is not made of pairs of hexadecimal digits.
    pub fn octets_of(text: &str) -> Result<Bytes, UrlError> {
        let before = text.len() - text.trim_ascii_start().len();
        let text = text.trim_ascii();
        if !text.get(..PREFIX).is_some_and(|prefix| prefix.eq_ignore_ascii_case("IOR:")) {
            return Err(UrlError::new("a stringified reference begins with \"IOR:\"", before));
        }
        let digits = &text.as_bytes()[PREFIX..];
        let digit = |at: usize| {
            let value = digits.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            let missing =
                if at < digits.len() { "not a hexadecimal digit" } else { "a hexadecimal digit is missing" };
            // A hexadecimal digit is below 16.
            value.map(|value| value as u8).ok_or(UrlError::new(missing, before + PREFIX + at))
        };
        (0..digits.len()).step_by(2).map(|at| Ok(digit(at)? << 4 | digit(at + 1)?)).collect()
    }
}

/// The length of `IOR:`.
const PREFIX: usize = 4;

/// The octets of an encapsulation (without its length), in our byte order, from parts that may be borrowed.
pub(crate) fn encapsulate<'a>(
    write: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>,
) -> Result<Bytes, EncodeError> {
    let mut to = Encoder::new(Format::ENCAPSULATION);
    to.write_u8(ByteOrder::NATIVE.flag());
    write(&mut to)?;
    Ok(to.to_bytes())
}

/// A `sequence<octet>` of its own: what outlives the message must not hold the receive buffer.
pub(crate) fn read_owned_octets(from: &mut Decoder<'_>) -> Result<Bytes, DecodeError> {
    let length = from.read_count(1)?;
    copied(length);
    Ok(Bytes::copy_from_slice(&from.read_octets(length)?))
}

/// A sequence of tagged components.
pub(crate) fn read_components(from: &mut Decoder<'_>) -> Result<Vec<TaggedComponent>, DecodeError> {
    let count = from.read_count(8)?;
    (0..count)
        .map(|_| {
            let tag = ComponentTag(from.read_u32()?);
            let length = from.read_count(1)?;
            Ok(TaggedComponent { tag, data: from.read_bytes(length)? })
        })
        .collect()
}

/// Writes a sequence of tagged components.
pub(crate) fn write_components<'a>(
    to: &mut Encoder<'a>,
    components: &'a [TaggedComponent],
) -> Result<(), EncodeError> {
    to.write_length(components.len())?;
    for component in components {
        to.write_u32(component.tag.0);
        to.write_octet_sequence(&component.data)?;
    }
    Ok(())
}

impl Encode for Ior {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_string(&self.type_id)?;
        to.write_length(self.profiles.len())?;
        self.profiles.iter().try_for_each(|profile| profile.encode(to))
    }
}

impl Decode for Ior {
    /// The shortest string and an empty sequence.
    const MIN_SIZE: usize = 8;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let type_id = from.read_string()?;
        let count = from.read_count(TaggedProfile::MIN_SIZE)?;
        let profiles = (0..count).map(|_| TaggedProfile::decode(from)).collect::<Result<_, _>>()?;
        Ok(Self { type_id, profiles })
    }
}

impl Encode for TaggedProfile {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_u32(self.tag.0);
        to.write_octet_sequence(&self.data)
    }
}

impl Decode for TaggedProfile {
    /// Tag and length.
    const MIN_SIZE: usize = 8;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { tag: ProfileTag(from.read_u32()?), data: read_owned_octets(from)? })
    }
}

impl fmt::Debug for TaggedProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} octets)", self.tag, self.data.len())
    }
}

impl fmt::Debug for TaggedComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} octets)", self.tag, self.data.len())
    }
}

/// `IOR:` and hexadecimal, lower case. A type id that cannot be written (it holds a NUL or a character outside
/// ISO 8859-1, so it is no repository id) is a formatting error.
impl fmt::Display for Ior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let octets = self.to_encapsulation().map_err(|_| fmt::Error)?;
        f.write_str("IOR:")?;
        octets.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Reads `IOR:` and hexadecimal, in either case, with white space around it.
impl FromStr for Ior {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let octets = Self::octets_of(text)?;
        let before = text.len() - text.trim_ascii_start().len();
        Self::from_encapsulation(&octets).map_err(|cause| UrlError {
            what: "the octets are not a reference",
            at: before + PREFIX + 2 * cause.at.min(octets.len()),
            cause: Some(cause),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    /// Written by hand: big-endian, type id "IDL:T:1.0", one profile of an unknown tag with three octets.
    const BY_HAND: &str = "IOR:000000000000000a49444c3a543a312e3000000000000001123456780000000301\
                           0203";

    #[test]
    fn reads_a_reference_written_by_hand_and_keeps_what_it_does_not_know() {
        let ior: Ior = BY_HAND.parse().unwrap();
        let profile = TaggedProfile { tag: ProfileTag(0x1234_5678), data: Bytes::from_static(&[1, 2, 3]) };
        assert_eq!(ior, Ior { type_id: "IDL:T:1.0".into(), profiles: vec![profile] });
        assert_eq!(ior.to_string().parse::<Ior>().unwrap(), ior);
        assert_eq!(BY_HAND.to_uppercase().parse::<Ior>().unwrap(), ior);
        assert_eq!(alloc::format!(" {BY_HAND}\n").parse::<Ior>().unwrap(), ior);
    }

    #[test]
    fn nil_has_no_profiles() {
        assert!(Ior::nil().is_nil());
        assert!(Ior::nil().to_string().parse::<Ior>().unwrap().is_nil());
        assert!("IOR:00000000000000010000000000000000".parse::<Ior>().unwrap().is_nil());
    }

    #[test]
    fn every_prefix_is_an_error_with_a_position() {
        for end in 0..BY_HAND.len() {
            let error = BY_HAND[..end].parse::<Ior>().unwrap_err();
            assert!(error.at <= end, "{end}: {error}");
        }
    }

    #[test]
    fn names_the_position_of_a_wrong_digit() {
        assert_eq!("IOR:00g0".parse::<Ior>().unwrap_err(), UrlError::new("not a hexadecimal digit", 6));
        assert_eq!("IOR:000".parse::<Ior>().unwrap_err(), UrlError::new("a hexadecimal digit is missing", 7));
        assert_eq!("  IOR:é0".parse::<Ior>().unwrap_err().at, 6);
        assert_eq!("corbaloc:".parse::<Ior>().unwrap_err().at, 0);
    }
}
