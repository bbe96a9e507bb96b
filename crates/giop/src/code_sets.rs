//! Which code sets text travels in: what a server publishes, what a client chooses, what a connection remembers.
//! CORBA 3.4 part 2, §7.10.2.
//!
//! ```text
//! component  encapsulation: native char set │ conversion sets │ native wchar set │ conversion sets      (ulongs)
//! context    encapsulation: char set │ wchar set                                                        (ulongs)
//! ```
//!
//! The specification's algorithm lets native sets win, and an ORB whose native set is ISO 8859-1 (omniORB's default)
//! would lose text that both sides could carry as UTF-8. So zorb chooses UTF-8 wherever the server lists it, native or as
//! a conversion, and UTF-16 for wide text. Without a context ISO 8859-1 is in force, and wide text is an error.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use zorb_cdr::{CodeSet, CodeSets, DecodeError, Decoder, EncodeError, Encoder};

use crate::reference::ReferenceError;
use crate::{ComponentTag, ContextId, IiopProfile, ServiceContexts, TaggedComponent};

/// The code sets that a side can use for one kind of character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// What it uses by itself; `CodeSet(0)`: none.
    pub native: CodeSet,
    /// What it converts to and from, best first.
    pub conversion: Vec<CodeSet>,
}

impl Supported {
    fn lists(&self, set: CodeSet) -> bool {
        self.native == set || self.conversion.contains(&set)
    }

    /// Whether it can be used at all.
    fn is_none(&self) -> bool {
        self.native == CodeSet(0) && self.conversion.is_empty()
    }
}

/// What a server publishes: the component [`ComponentTag::CODE_SETS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSetComponent {
    /// For `char` and `string`.
    pub char: Supported,
    /// For `wchar` and `wstring`.
    pub wchar: Supported,
}

impl CodeSetComponent {
    /// What zorb publishes: UTF-8 and UTF-16 native, ISO 8859-1 and UCS-2 by conversion.
    #[must_use]
    pub fn ours() -> Self {
        Self {
            char: Supported { native: CodeSet::UTF_8, conversion: vec![CodeSet::ISO_8859_1] },
            wchar: Supported { native: CodeSet::UTF_16, conversion: vec![CodeSet::UCS_2] },
        }
    }

    /// Reads the component.
    ///
    /// # Errors
    /// Another tag, or data that are no such component.
    pub fn decode(component: &TaggedComponent) -> Result<Self, ReferenceError> {
        if component.tag != ComponentTag::CODE_SETS {
            return Err(ReferenceError::OtherTag { found: component.tag.0 });
        }
        Ok(Self::decode_data(&component.data)?)
    }

    fn decode_data(data: &Bytes) -> Result<Self, DecodeError> {
        let mut from = Decoder::from_encapsulation(data)?;
        let mut supported = || {
            let native = CodeSet(from.read_u32()?);
            let count = from.read_count(4)?;
            let conversion = (0..count).map(|_| from.read_u32().map(CodeSet)).collect::<Result<_, _>>()?;
            Ok(Supported { native, conversion })
        };
        Ok(Self { char: supported()?, wchar: supported()? })
    }

    /// Writes the component.
    ///
    /// # Errors
    /// More code sets than a sequence can hold.
    pub fn encode(&self) -> Result<TaggedComponent, EncodeError> {
        let data = Encoder::encapsulated(|to| {
            for supported in [&self.char, &self.wchar] {
                to.write_u32(supported.native.0);
                to.write_length(supported.conversion.len())?;
                supported.conversion.iter().for_each(|set| to.write_u32(set.0));
            }
            Ok(())
        })?;
        Ok(TaggedComponent { tag: ComponentTag::CODE_SETS, data })
    }

    /// What a zorb client sends to a server that publishes this.
    ///
    /// For `char`: UTF-8 if the server lists it, else ISO 8859-1 or ISO 646 if it lists that, else UTF-8, which the
    /// specification makes everyone's fallback. For `wchar`: UTF-16 or UCS-2 likewise, else UTF-16; none if the server
    /// has none.
    #[must_use]
    pub fn choose(&self) -> CodeSets {
        let listed =
            |supported: &Supported, sets: &[CodeSet]| sets.iter().copied().find(|&set| supported.lists(set));
        let char = listed(&self.char, &[CodeSet::UTF_8, CodeSet::ISO_8859_1, CodeSet::ISO_646]);
        let wchar = listed(&self.wchar, &[CodeSet::UTF_16, CodeSet::UCS_2]);
        let without_wide = self.wchar.is_none();
        CodeSets {
            char: char.unwrap_or(if self.char.is_none() { CodeSet::ISO_8859_1 } else { CodeSet::UTF_8 }),
            wchar: wchar.or(if without_wide { None } else { Some(CodeSet::UTF_16) }),
        }
    }
}

/// The data of a [`ContextId::CODE_SETS`] context.
#[must_use]
pub fn encode_context(code_sets: CodeSets) -> Bytes {
    let data = Encoder::encapsulated(|to| {
        to.write_u32(code_sets.char.0);
        to.write_u32(code_sets.wchar.map_or(0, |set| set.0));
        Ok(())
    });
    // Two numbers always fit.
    data.unwrap_or_default()
}

/// Reads the data of a [`ContextId::CODE_SETS`] context.
///
/// # Errors
/// Data that are no such context, or code sets that zorb does not convert.
pub fn decode_context(data: &Bytes) -> Result<CodeSets, CodeSetError> {
    let mut from = Decoder::from_encapsulation(data)?;
    let (char, wchar) = (CodeSet(from.read_u32()?), CodeSet(from.read_u32()?));
    let char = match char {
        // "None": the sender has no strings to send.
        CodeSet(0) => CodeSet::ISO_8859_1,
        CodeSet::UTF_8 | CodeSet::ISO_8859_1 | CodeSet::ISO_646 => char,
        other => return Err(CodeSetError::Unsupported(other)),
    };
    let wchar = match wchar {
        CodeSet(0) => None,
        CodeSet::UTF_16 | CodeSet::UCS_2 => Some(wchar),
        other => return Err(CodeSetError::Unsupported(other)),
    };
    Ok(CodeSets { char, wchar })
}

/// Why a peer's choice of code sets cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeSetError {
    /// The context is malformed: MARSHAL.
    Malformed(DecodeError),
    /// zorb does not convert this one: CODESET_INCOMPATIBLE.
    Unsupported(CodeSet),
}

impl From<DecodeError> for CodeSetError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for CodeSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "code set context: {error}"),
            Self::Unsupported(set) => write!(f, "the peer chose {set}, which is not converted"),
        }
    }
}

impl core::error::Error for CodeSetError {}

/// The code sets of a connection that we opened: chosen with the first reference used on it, announced once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCodeSets {
    chosen: Option<CodeSets>,
}

impl ClientCodeSets {
    /// The code sets for a request to `profile` that is about to be sent, and the context that must go with it if it is
    /// the first that has something to announce. A profile without the component changes and announces nothing.
    pub fn for_request(&mut self, profile: &IiopProfile) -> (CodeSets, Option<Bytes>) {
        if let Some(chosen) = self.chosen {
            return (chosen, None);
        }
        match profile
            .component(ComponentTag::CODE_SETS)
            .and_then(|data| CodeSetComponent::decode_data(data).ok())
        {
            Some(component) => {
                let chosen = component.choose();
                self.chosen = Some(chosen);
                (chosen, Some(encode_context(chosen)))
            }
            None => (CodeSets::UNNEGOTIATED, None),
        }
    }

    /// The code sets in force.
    #[must_use]
    pub fn in_force(&self) -> CodeSets {
        self.chosen.unwrap_or(CodeSets::UNNEGOTIATED)
    }
}

/// The code sets of a connection that was opened to us: what the client last announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCodeSets {
    announced: CodeSets,
}

impl ServerCodeSets {
    /// Of a connection by a messaging protocol that has these code sets and no contexts.
    #[must_use]
    pub fn fixed(code_sets: CodeSets) -> Self {
        Self { announced: code_sets }
    }

    /// The code sets for a request with these contexts and for its reply.
    ///
    /// # Errors
    /// The client announced what zorb cannot follow; what was in force before stays.
    #[inline]
    pub fn for_request(&mut self, contexts: &ServiceContexts) -> Result<CodeSets, CodeSetError> {
        if let Some(data) = contexts.find(ContextId::CODE_SETS) {
            self.announced = decode_context(data)?;
        }
        Ok(self.announced)
    }

    /// The code sets in force.
    #[must_use]
    pub fn in_force(&self) -> CodeSets {
        self.announced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::Version;

    fn component(char: (CodeSet, &[CodeSet]), wchar: (CodeSet, &[CodeSet])) -> CodeSetComponent {
        let supported =
            |(native, conversion): (CodeSet, &[CodeSet])| Supported { native, conversion: conversion.into() };
        CodeSetComponent { char: supported(char), wchar: supported(wchar) }
    }

    #[test]
    fn utf_8_wherever_the_server_lists_it() {
        const EBCDIC: CodeSet = CodeSet(0x1002_0025);
        let utf16 = (CodeSet::UTF_16, &[][..]);
        let choose = |native, conversion: &[CodeSet]| component((native, conversion), utf16).choose().char;
        assert_eq!(choose(CodeSet::UTF_8, &[]), CodeSet::UTF_8);
        assert_eq!(choose(CodeSet::ISO_8859_1, &[CodeSet::UTF_8]), CodeSet::UTF_8);
        assert_eq!(choose(CodeSet::ISO_8859_1, &[]), CodeSet::ISO_8859_1);
        assert_eq!(choose(EBCDIC, &[CodeSet::ISO_8859_1]), CodeSet::ISO_8859_1);
        assert_eq!(choose(EBCDIC, &[]), CodeSet::UTF_8);
        assert_eq!(choose(CodeSet(0), &[]), CodeSet::ISO_8859_1);
    }

    #[test]
    fn wide_text_only_where_the_server_has_it() {
        let utf8 = (CodeSet::UTF_8, &[][..]);
        let choose = |native, conversion: &[CodeSet]| component(utf8, (native, conversion)).choose().wchar;
        assert_eq!(choose(CodeSet::UCS_2, &[CodeSet::UTF_16]), Some(CodeSet::UTF_16));
        assert_eq!(choose(CodeSet::UCS_2, &[]), Some(CodeSet::UCS_2));
        assert_eq!(choose(CodeSet(77), &[]), Some(CodeSet::UTF_16));
        assert_eq!(choose(CodeSet(0), &[]), None);
    }

    #[test]
    fn reads_a_component_written_by_hand_and_refuses_its_prefixes() {
        // Big-endian: 8859-1 with UTF-8, UTF-16 alone.
        let data: &[u8] = b"\0\0\0\0\0\x01\0\x01\0\0\0\x01\x05\x01\0\x01\0\x01\x01\x09\0\0\0\0";
        let read = |data: &'static [u8]| {
            CodeSetComponent::decode(&TaggedComponent {
                tag: ComponentTag::CODE_SETS,
                data: Bytes::from_static(data),
            })
        };
        let expected = component((CodeSet::ISO_8859_1, &[CodeSet::UTF_8]), (CodeSet::UTF_16, &[]));
        assert_eq!(read(data), Ok(expected.clone()));
        assert_eq!(CodeSetComponent::decode(&expected.encode().unwrap()), Ok(expected));
        assert!((0..data.len()).all(|end| read(&data[..end]).is_err()));
    }

    #[test]
    fn announced_once_and_followed_by_the_server() {
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "h".into(),
            port: 1,
            object_key: Bytes::new(),
            components: vec![CodeSetComponent::ours().encode().unwrap()],
        };
        let plain = IiopProfile { components: vec![], ..profile.clone() };
        let mut client = ClientCodeSets::default();
        assert_eq!(client.for_request(&plain), (CodeSets::UNNEGOTIATED, None));
        let (chosen, context) = client.for_request(&profile);
        assert_eq!(chosen, CodeSets::UNICODE);
        assert_eq!(client.for_request(&profile), (CodeSets::UNICODE, None));

        let mut server = ServerCodeSets::default();
        assert_eq!(server.for_request(&ServiceContexts::new()), Ok(CodeSets::UNNEGOTIATED));
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId::CODE_SETS, context.unwrap());
        assert_eq!(server.for_request(&contexts), Ok(CodeSets::UNICODE));
        assert_eq!(server.for_request(&ServiceContexts::new()), Ok(CodeSets::UNICODE));
    }

    #[test]
    fn a_context_that_cannot_be_followed_is_refused() {
        let context = |char, wchar| encode_context(CodeSets { char, wchar: Some(wchar) });
        assert_eq!(
            decode_context(&context(CodeSet(5), CodeSet::UTF_16)),
            Err(CodeSetError::Unsupported(CodeSet(5)))
        );
        let whole = context(CodeSet::UTF_8, CodeSet::UTF_16);
        assert!((0..whole.len()).all(|end| decode_context(&whole.slice(..end)).is_err()));
    }
}
