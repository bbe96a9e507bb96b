//! Values read and written in parts, by who learns only from the value what its type is: a gateway, or what shows values as text.
//!
//! Generated code has no use for this. The state is read and written by the caller, between the beginning and the end; which type it
//! chose by the repository ids is its affair. Indirections are places: where a value began, in octets from the beginning of what is read or
//! written.

use super::read::{
    CHUNKED, CODEBASE, INDIRECTION, LAST_VALUE_TAG, Piece, Place, Text, enter, invalid, leads_elsewhere,
    next_piece, read_ids, read_place, read_tag, read_text, reenter,
};
use super::write::{Ids, VALUE_TAG, begin, begin_at, finish, write_indirection, write_piece};
use crate::{DecodeError, Decoder, EncodeError, EncodeErrorKind, Encoder};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What stands where a value may.
#[derive(Debug)]
pub enum ValueStart {
    /// Null.
    Null,
    /// The value that began at this place.
    Again(usize),
    /// A value, of which the state follows.
    New(BegunValue),
}

/// A value that is being read.
#[derive(Debug)]
#[non_exhaustive]
pub struct BegunValue {
    /// The place where it began, which indirections name.
    pub at: usize,
    /// The repository ids from its own to that of the last base it may be cut down to. Empty: it is of the type that is declared.
    pub ids: Arc<[Text]>,
    /// Where its sender says that code for its type can be had.
    pub codebase: Option<Text>,
    /// Whether it is in chunks, so that its end can be found by who does not know its type.
    pub is_chunked: bool,
    level: u32,
}

/// A part of a value in chunks, of which the meaning is not known.
#[derive(Debug)]
pub enum ValuePiece {
    /// Octets.
    Octets {
        /// As they lie there: in the byte order of what is read.
        octets: Vec<u8>,
        /// Where the first of them lies, modulo 8: what they are made of may be aligned.
        at: usize,
    },
    /// Null, or a value, between two chunks. Its state follows.
    Value(ValueStart),
    /// The value has ended.
    End,
}

/// A value that is being written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WrittenValue {
    /// The place where it began, for [`Encoder::write_value_again`].
    pub at: usize,
    in_chunks: bool,
}

/// Values of valuetypes in parts. A value that was begun is read to its end before what follows it.
impl<'a> Decoder<'a> {
    /// Reads what a value begins with.
    ///
    /// # Errors
    /// What is no value; an indirection that leads to none.
    pub fn begin_value(&mut self) -> Result<ValueStart, DecodeError> {
        match read_tag(self)? {
            0 => {
                reenter(self);
                Ok(ValueStart::Null)
            }
            INDIRECTION => match read_place(self)? {
                (at, Place::Passed(_)) => {
                    reenter(self);
                    Ok(ValueStart::Again(at))
                }
                _ => Err(invalid("an indirection leads to no value", self)),
            },
            tag @ VALUE_TAG..=LAST_VALUE_TAG => self.begun_value(tag),
            _ => Err(invalid("no value begins with its tag", self)),
        }
    }

    fn begun_value(&mut self, tag: u32) -> Result<ValueStart, DecodeError> {
        let at = self.position() - 4;
        self.values().put(at, Place::Passed(tag));
        let codebase = if tag & CODEBASE != 0 { Some(read_text(self)?) } else { None };
        let ids = read_ids(tag, self)?;
        let is_chunked = tag & CHUNKED != 0;
        if !is_chunked && self.values().level() > 0 {
            return Err(invalid("it is not in chunks", self));
        }
        let level = enter(is_chunked, self);
        Ok(ValueStart::New(BegunValue { at, ids, codebase, is_chunked, level }))
    }

    /// Reads the next part of a value in chunks, from where its state was read to. Of one that is not in chunks there is none.
    ///
    /// # Errors
    /// What is no part of a value; octets in which something leads to another value, as far as can be seen, since they mean nothing elsewhere.
    pub fn value_piece(&mut self, of: &BegunValue) -> Result<ValuePiece, DecodeError> {
        if !of.is_chunked {
            return Ok(ValuePiece::End);
        }
        match next_piece(of.level, self)? {
            Piece::End => Ok(ValuePiece::End),
            Piece::Value(0) => Ok(ValuePiece::Value(ValueStart::Null)),
            Piece::Value(tag) => self.begun_value(tag).map(ValuePiece::Value),
            Piece::Octets(count) => {
                let (place, at) = (self.position(), self.phase());
                let octets = self.read_octets(count.min(self.left_here().max(1)))?.into_owned();
                if leads_elsewhere(&octets, place, self) {
                    let why = "octets whose meaning is not known seem to lead to another value";
                    return Err(invalid(why, self));
                }
                Ok(ValuePiece::Octets { octets, at })
            }
        }
    }
}

/// Values of valuetypes in parts. Lists of repository ids and the ids in them that are the same `Arc` are written once.
impl Encoder<'_> {
    /// Begins a value of the type of the first of these ids, which may be cut down to those of the others; it is then in chunks.
    ///
    /// # Errors
    /// Values nested deeper than 256.
    pub fn begin_value(
        &mut self,
        ids: &Arc<[Text]>,
        codebase: Option<&Text>,
        in_chunks: bool,
    ) -> Result<WrittenValue, EncodeError> {
        self.stay_whole();
        self.values().received = true;
        let chunked = in_chunks || ids.len() > 1;
        let (at, in_chunks) = begin(codebase, &Ids::Received(ids), chunked, self, |_, _| ())?;
        Ok(WrittenValue { at, in_chunks })
    }

    /// Begins a value in chunks whose state is octets that lie at `phase`, modulo 8.
    ///
    /// # Errors
    /// As [`begin_value`](Self::begin_value); octets that cannot come to lie there.
    pub fn begin_value_at(
        &mut self,
        phase: usize,
        ids: &Arc<[Text]>,
        codebase: Option<&Text>,
    ) -> Result<WrittenValue, EncodeError> {
        self.stay_whole();
        self.values().received = true;
        let placed = begin_at(phase, codebase, ids, self, |_, _| ())?;
        let why = EncodeErrorKind::Invalid("its octets would come to lie elsewhere, modulo 8");
        let (at, in_chunks) = placed.ok_or_else(|| EncodeError::new(why, "value"))?;
        Ok(WrittenValue { at, in_chunks })
    }

    /// Writes octets whose meaning is not known as a part of a value in chunks, at `phase` modulo 8: behind what was written, or in a chunk
    /// of their own.
    ///
    /// # Errors
    /// Octets that cannot come to lie there; no value in chunks is being written.
    pub fn write_value_octets(&mut self, octets: &[u8], phase: usize) -> Result<(), EncodeError> {
        if !self.in_chunks() {
            let why = EncodeErrorKind::Invalid("octets whose meaning is not known are in chunks");
            return Err(EncodeError::new(why, "value"));
        }
        write_piece(octets, phase, self)
    }

    /// Ends a value, whose state was written.
    ///
    /// # Errors
    /// A chunk of 2 GiB.
    pub fn end_value(&mut self, begun: WrittenValue) -> Result<(), EncodeError> {
        finish(begun.in_chunks, self)
    }

    /// Says that the value is meant that began at this place.
    ///
    /// # Errors
    /// A place that is 2 GiB back.
    pub fn write_value_again(&mut self, at: usize) -> Result<(), EncodeError> {
        write_indirection(at, self)
    }
}
