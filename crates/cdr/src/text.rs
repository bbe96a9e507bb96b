//! Text in the code sets in force: `string`, `wchar`, `wstring` (CORBA 3.4 part 2, §9.3.1.6, §9.3.2.7).
//!
//! ```text
//! string        length (with NUL)  │ octets, NUL                               all versions
//! wchar   1.1   code unit, aligned to 2, in the message's byte order
//! wchar   1.2   octet count (2)    │ code unit, big-endian unless a byte order mark says otherwise
//! wstring 1.1   code units (with NUL) │ code units, NUL, in the message's byte order
//! wstring 1.2   octet count        │ code units, no NUL, as wchar
//! ```
//!
//! Text that a code set cannot carry is an error that names the character; nothing is ever replaced.

use crate::check_bound;
use crate::copies::copied;
use crate::{
    CodeSet, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder, Version, WChar,
};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

const BIG_ENDIAN_MARK: u16 = 0xfeff;
const LITTLE_ENDIAN_MARK: u16 = 0xfffe;

impl Encoder<'_> {
    /// Writes a `string`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::NulInString`], [`EncodeErrorKind::Unrepresentable`], [`EncodeErrorKind::TooLong`],
    /// [`EncodeErrorKind::UnsupportedCodeSet`].
    pub fn write_string(&mut self, text: &str) -> Result<(), EncodeError> {
        let error = |kind| EncodeError::new(kind, "string");
        if has_nul(text.as_bytes()) {
            return Err(error(EncodeErrorKind::NulInString));
        }
        let code_set = self.format().code_sets.char;
        let unrepresentable = |character| error(EncodeErrorKind::Unrepresentable { character, code_set });
        match code_set {
            CodeSet::UTF_8 => {}
            CodeSet::ISO_8859_1 | CodeSet::ISO_646 if text.is_ascii() => {}
            CodeSet::ISO_8859_1 => {
                let octet = |character| u8::try_from(character).map_err(|_| unrepresentable(character));
                let octets = text.chars().map(octet).collect::<Result<Vec<u8>, _>>()?;
                return self.write_raw_string(&octets);
            }
            CodeSet::ISO_646 => {
                let beyond = text.chars().find(|character| !character.is_ascii());
                return Err(unrepresentable(beyond.unwrap_or_default()));
            }
            other => return Err(error(EncodeErrorKind::UnsupportedCodeSet(other))),
        }
        self.write_terminated(text.as_bytes())
    }

    /// Writes octets as a `string`, whatever the code set: for text that is written before code sets are known.
    ///
    /// # Errors
    /// [`EncodeErrorKind::NulInString`], [`EncodeErrorKind::TooLong`].
    #[inline]
    pub fn write_raw_string(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        if has_nul(octets) {
            return Err(EncodeError::new(EncodeErrorKind::NulInString, "string"));
        }
        self.write_terminated(octets)
    }

    /// Part of the two above: in a request's head it is a good part of a null call's work.
    #[inline(always)]
    fn write_terminated(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.write_length(octets.len() + 1).map_err(|error| error.in_what("string"))?;
        self.write_octets(octets);
        self.write_u8(0);
        Ok(())
    }

    /// Writes a `wchar`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::NoWideCodeSet`], [`EncodeErrorKind::WideInGiop1_0`],
    /// [`EncodeErrorKind::UnsupportedCodeSet`].
    pub fn write_wchar(&mut self, value: WChar) -> Result<(), EncodeError> {
        self.wide_code_set("wchar")?;
        if self.format().version < Version::V1_2 {
            self.write_u16(value.0);
            return Ok(());
        }
        if is_mark(value.0) {
            // By itself it would pass for a byte order mark.
            self.write_u8(4);
            self.write_octets(&BIG_ENDIAN_MARK.to_be_bytes());
        } else {
            self.write_u8(2);
        }
        self.write_octets(&value.0.to_be_bytes());
        Ok(())
    }

    /// Writes a `wstring`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::NulInString`], [`EncodeErrorKind::Unrepresentable`], [`EncodeErrorKind::TooLong`],
    /// [`EncodeErrorKind::NoWideCodeSet`], [`EncodeErrorKind::WideInGiop1_0`],
    /// [`EncodeErrorKind::UnsupportedCodeSet`].
    pub fn write_wstring(&mut self, text: &str) -> Result<(), EncodeError> {
        let error = |kind| EncodeError::new(kind, "wstring");
        let code_set = self.wide_code_set("wstring")?;
        if text.as_bytes().contains(&0) {
            return Err(error(EncodeErrorKind::NulInString));
        }
        if code_set == CodeSet::UCS_2
            && let Some(character) = text.chars().find(|character| character.len_utf16() > 1)
        {
            return Err(error(EncodeErrorKind::Unrepresentable { character, code_set }));
        }
        let units = text.encode_utf16().count();
        if self.format().version < Version::V1_2 {
            self.write_length(units + 1).map_err(|error| error.in_what("wstring"))?;
            text.encode_utf16().for_each(|unit| self.write_u16(unit));
            self.write_u16(0);
            return Ok(());
        }
        let marked = text.encode_utf16().next().is_some_and(is_mark);
        self.write_length((units + usize::from(marked)) * 2).map_err(|error| error.in_what("wstring"))?;
        if marked {
            self.write_octets(&BIG_ENDIAN_MARK.to_be_bytes());
        }
        text.encode_utf16().for_each(|unit| self.write_octets(&unit.to_be_bytes()));
        Ok(())
    }

    fn wide_code_set(&self, what: &'static str) -> Result<CodeSet, EncodeError> {
        let format = self.format();
        let kind = match format.code_sets.wchar {
            _ if format.version < Version::V1_1 => EncodeErrorKind::WideInGiop1_0,
            None => EncodeErrorKind::NoWideCodeSet,
            Some(code_set @ (CodeSet::UTF_16 | CodeSet::UCS_2)) => return Ok(code_set),
            Some(other) => EncodeErrorKind::UnsupportedCodeSet(other),
        };
        Err(EncodeError::new(kind, what))
    }
}

impl<'a> Decoder<'a> {
    /// Reads a `string`. A length of 0, which the specification does not allow but some ORBs send, is the empty string.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`], [`DecodeErrorKind::Unterminated`], [`DecodeErrorKind::NulInString`],
    /// [`DecodeErrorKind::InvalidText`], [`DecodeErrorKind::UnsupportedCodeSet`].
    pub fn read_string(&mut self) -> Result<String, DecodeError> {
        let start = self.position();
        let octets = self.read_terminated()?;
        copied(octets.len());
        let code_set = self.format().code_sets.char;
        let invalid = || DecodeErrorKind::InvalidText(code_set);
        let text = match code_set {
            CodeSet::UTF_8 => String::from_utf8(octets.into_owned()).map_err(|_| invalid()),
            CodeSet::ISO_8859_1 if !octets.is_ascii() => Ok(octets.iter().copied().map(char::from).collect()),
            CodeSet::ISO_8859_1 | CodeSet::ISO_646 if octets.is_ascii() => {
                String::from_utf8(octets.into_owned()).map_err(|_| invalid())
            }
            CodeSet::ISO_646 => Err(invalid()),
            other => Err(DecodeErrorKind::UnsupportedCodeSet(other)),
        };
        text.map_err(|kind| DecodeError::new(kind, "string", start))
    }

    /// Reads the octets of a `string` without the NUL at its end, as they are.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`], [`DecodeErrorKind::Unterminated`], [`DecodeErrorKind::NulInString`].
    pub fn read_raw_string(&mut self) -> Result<Vec<u8>, DecodeError> {
        let octets = self.read_terminated()?;
        copied(octets.len());
        Ok(octets.into_owned())
    }

    /// Reads a `string` of at most `bound` characters.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BoundExceeded`] besides those of [`read_string`](Self::read_string).
    pub fn read_bounded_string(&mut self, bound: u32) -> Result<String, DecodeError> {
        let text = self.read_string()?;
        self.check_bound(text.chars().count(), bound, "string")?;
        Ok(text)
    }

    fn read_terminated(&mut self) -> Result<Cow<'a, [u8]>, DecodeError> {
        let count = self.read_count(1).map_err(|error| error.in_what("string"))?;
        if count == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let start = self.position();
        let octets = self.read_octets(count)?;
        let error = |kind| Err(DecodeError::new(kind, "string", start));
        match octets.split_last() {
            Some((0, text)) if !text.contains(&0) => Ok(match octets {
                Cow::Borrowed(octets) => Cow::Borrowed(&octets[..count - 1]),
                Cow::Owned(mut octets) => {
                    octets.pop();
                    Cow::Owned(octets)
                }
            }),
            Some((0, _)) => error(DecodeErrorKind::NulInString),
            _ => error(DecodeErrorKind::Unterminated),
        }
    }

    /// Reads a `wchar`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BadWideLength`], [`DecodeErrorKind::NoWideCodeSet`], [`DecodeErrorKind::WideInGiop1_0`],
    /// [`DecodeErrorKind::UnsupportedCodeSet`].
    pub fn read_wchar(&mut self) -> Result<WChar, DecodeError> {
        self.wide_code_set("wchar")?;
        if self.format().version < Version::V1_2 {
            return self.read_u16().map(WChar).map_err(|error| error.in_what("wchar"));
        }
        let length = self.read_u8().map_err(|error| error.in_what("wchar"))?;
        let octets = self.read_octets(length.into()).map_err(|error| error.in_what("wchar"))?;
        match *octets {
            [high, low] => Ok(WChar(u16::from_be_bytes([high, low]))),
            [0xfe, 0xff, high, low] => Ok(WChar(u16::from_be_bytes([high, low]))),
            [0xff, 0xfe, low, high] => Ok(WChar(u16::from_be_bytes([high, low]))),
            _ => Err(self.error(DecodeErrorKind::BadWideLength(length.into()), "wchar")),
        }
    }

    /// Reads a `wstring`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`], [`DecodeErrorKind::BadWideLength`], [`DecodeErrorKind::Unterminated`],
    /// [`DecodeErrorKind::NulInString`], [`DecodeErrorKind::InvalidText`], [`DecodeErrorKind::NoWideCodeSet`],
    /// [`DecodeErrorKind::WideInGiop1_0`], [`DecodeErrorKind::UnsupportedCodeSet`].
    pub fn read_wstring(&mut self) -> Result<String, DecodeError> {
        let code_set = self.wide_code_set("wstring")?;
        let start = self.position();
        let units = if self.format().version < Version::V1_2 {
            self.read_terminated_units()?
        } else {
            self.read_marked_units()?
        };
        let error = |kind| DecodeError::new(kind, "wstring", start);
        if units.contains(&0) {
            return Err(error(DecodeErrorKind::NulInString));
        }
        let text = String::from_utf16(&units).ok();
        let text = text.filter(|text| code_set != CodeSet::UCS_2 || text.chars().all(|c| c.len_utf16() == 1));
        text.ok_or_else(|| error(DecodeErrorKind::InvalidText(code_set)))
    }

    /// Reads a `wstring` of at most `bound` code units, which is how other ORBs count.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BoundExceeded`] besides those of [`read_wstring`](Self::read_wstring).
    pub fn read_bounded_wstring(&mut self, bound: u32) -> Result<String, DecodeError> {
        let text = self.read_wstring()?;
        self.check_bound(text.encode_utf16().count(), bound, "wstring")?;
        Ok(text)
    }

    /// The code units of a GIOP 1.1 `wstring`, without its NUL.
    fn read_terminated_units(&mut self) -> Result<Vec<u16>, DecodeError> {
        let count = self.read_count(2).map_err(|error| error.in_what("wstring"))?;
        let mut units = Vec::with_capacity(count);
        for _ in 0..count {
            units.push(self.read_u16().map_err(|error| error.in_what("wstring"))?);
        }
        match units.pop() {
            None | Some(0) => Ok(units),
            Some(_) => Err(self.error(DecodeErrorKind::Unterminated, "wstring")),
        }
    }

    /// The code units of a GIOP 1.2 `wstring`, without its byte order mark.
    fn read_marked_units(&mut self) -> Result<Vec<u16>, DecodeError> {
        let count = self.read_count(1).map_err(|error| error.in_what("wstring"))?;
        let octets = self.read_octets(count)?;
        let (pairs, odd) = octets.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(self.error(DecodeErrorKind::BadWideLength(count as u32), "wstring"));
        }
        Ok(match pairs {
            [[0xff, 0xfe], text @ ..] => text.iter().map(|&unit| u16::from_le_bytes(unit)).collect(),
            [[0xfe, 0xff], text @ ..] | text => text.iter().map(|&unit| u16::from_be_bytes(unit)).collect(),
        })
    }

    fn wide_code_set(&self, what: &'static str) -> Result<CodeSet, DecodeError> {
        let format = self.format();
        let kind = match format.code_sets.wchar {
            _ if format.version < Version::V1_1 => DecodeErrorKind::WideInGiop1_0,
            None => DecodeErrorKind::NoWideCodeSet,
            Some(code_set @ (CodeSet::UTF_16 | CodeSet::UCS_2)) => return Ok(code_set),
            Some(other) => DecodeErrorKind::UnsupportedCodeSet(other),
        };
        Err(self.error(kind, what))
    }
}

/// Checks the length of a bounded `string` before it is written, in characters.
///
/// # Errors
/// [`EncodeErrorKind::BoundExceeded`], naming `what`.
pub fn check_string_bound(text: &str, bound: u32, what: &'static str) -> Result<(), EncodeError> {
    // Octets are never fewer than characters, and cost nothing to count.
    if text.len() <= bound as usize { Ok(()) } else { check_bound(text.chars().count(), bound, what) }
}

/// Checks the length of a bounded `wstring` before it is written, in UTF-16 code units.
///
/// # Errors
/// [`EncodeErrorKind::BoundExceeded`], naming `what`.
pub fn check_wstring_bound(text: &str, bound: u32, what: &'static str) -> Result<(), EncodeError> {
    if text.len() <= bound as usize { Ok(()) } else { check_bound(text.encode_utf16().count(), bound, what) }
}

/// Whether an octet is 0. Looks at eight at once, since most text is shorter than what a general search needs to get
/// going.
#[inline]
fn has_nul(octets: &[u8]) -> bool {
    // What is left over is looked at with some octets before it once more, so that it is a word too.
    match octets.last_chunk() {
        Some(last) => octets.as_chunks().0.iter().chain([last]).any(|&word| word_has_nul(word)),
        None => octets.contains(&0),
    }
}

/// Whether an octet is 0: only there does subtracting one borrow from a high bit that was clear.
#[inline]
fn word_has_nul(word: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let word = u64::from_ne_bytes(word);
    word.wrapping_sub(ONES) & !word & HIGH != 0
}

/// Whether a code unit at the start of text would pass for a byte order mark.
fn is_mark(unit: u16) -> bool {
    unit == BIG_ENDIAN_MARK || unit == LITTLE_ENDIAN_MARK
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_nul_is_seen_wherever_it_stands() {
        for octet in [1, 0x7f, 0x80, 0x81, 0xff] {
            for length in 0..40 {
                let mut octets = vec![octet; length];
                assert!(!has_nul(&octets));
                for at in 0..length {
                    octets[at] = 0;
                    assert!(has_nul(&octets), "at {at} of {length}");
                    octets[at] = octet;
                }
            }
        }
    }
}
