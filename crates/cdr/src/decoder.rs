//! The [`Decoder`]: values read from received bytes, in either byte order (CORBA 3.4 part 2, §9.3.1).
//!
//! What it leaves to others: messages and their fragments, which arrive here as a list of segments. Text is in `text.rs`,
//! runs of elements in `sequence.rs`.

mod nesting;
mod octets;
mod standing;

use crate::copies::copied;
use crate::valuetype::{Seen, ValueInfo};
use crate::{
    Body, ByteOrder, Char, DecodeContext, DecodeError, DecodeErrorKind, Format, KnownTypes, LongDouble,
    Octets, Piece, Segment, TypeCode,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use bytes::Bytes;
use core::any::Any;
use core::fmt;

pub use nesting::Limits;
use standing::Stand;

/// Reads values from a list of segments, each with its own alignment phase.
///
/// It never reads past the end, and allocates no more than a small multiple of the bytes that are there. `'a` is the
/// life of the received bytes.
pub struct Decoder<'a> {
    /// The current segment.
    octets: &'a [u8],
    /// The next octet of it.
    at: usize,
    /// The distance of `octets[0]` from the alignment origin.
    phase: usize,
    owner: Owner<'a>,
    later: &'a [Segment<Piece>],
    /// Octets in `later`.
    left_later: usize,
    /// Octets in segments that are done with.
    done: usize,
    order: ByteOrder,
    format: Format,
    limits: Limits,
    depth: u32,
    context: Option<&'a dyn DecodeContext>,
    /// What few messages have, in one box, so that the others pay for one pointer.
    rare: Option<Box<Rare<'a>>>,
}

/// What few messages have.
#[derive(Default)]
struct Rare<'a> {
    /// An encapsulation that lay in several segments, put together.
    assembled: Octets,
    /// Values of valuetypes.
    values: Seen,
    /// Where the chunk of a value that is read ends, in octets from the decoder's start.
    chunk: Option<usize>,
    /// The current segment, of which `octets` shows what is in the chunk.
    whole: &'a [u8],
    /// Behind the tags of values in anys, to return to when an indirection leads there.
    passed: BTreeMap<usize, Stand<'a>>,
    /// Behind the values that were read so, by where they begin.
    ends: BTreeMap<usize, Stand<'a>>,
    /// A value was not shared, since no more may be kept.
    refused: Option<DecodeError>,
}

/// The longest repository id by which a valuetype is looked up: some times anybody's. Each value may mean one again that came before, so that its
/// length is paid many times.
const LONGEST_ID: usize = 1024;

/// What holds the octets that a decoder reads, for views that share it.
#[derive(Clone, Copy)]
enum Owner<'a> {
    None,
    Bytes(&'a Bytes),
    Octets(&'a Octets),
    Elements(&'a Bytes),
}

impl<'a> Decoder<'a> {
    #[inline]
    fn build(octets: &'a [u8], owner: Owner<'a>, order: ByteOrder, format: Format) -> Self {
        Self {
            octets,
            at: 0,
            phase: 0,
            owner,
            later: &[],
            left_later: 0,
            done: 0,
            order,
            format,
            limits: Limits::default(),
            depth: 0,
            context: None,
            rare: None,
        }
    }

    /// Reads `bytes`, whose first octet is the alignment origin. Sequences may become views that share `bytes`.
    pub fn new(bytes: &'a Bytes, order: ByteOrder, format: Format) -> Self {
        Self::build(bytes, Owner::Bytes(bytes), order, format)
    }

    /// Reads a received body. Sequences may become views that share its segments.
    #[inline]
    pub fn over(body: &'a Body, format: Format) -> Self {
        let first = body.first();
        Self {
            phase: first.phase & 7,
            later: body.later(),
            left_later: body.later().iter().map(|segment| segment.octets.len()).sum(),
            ..Self::build(first.octets.shown(), Owner::Octets(&first.octets), body.order, format)
        }
    }

    /// The same [with a context](Self::with_context): what every message is read by, and so made in one step.
    #[inline(always)]
    pub fn over_in(body: &'a Body, format: Format, context: &'a dyn DecodeContext) -> Self {
        Self { context: Some(context), ..Self::over(body, format) }
    }

    /// Reads a slice, whose first octet is the alignment origin. Sequences are always copied.
    pub fn from_slice(octets: &'a [u8], order: ByteOrder, format: Format) -> Self {
        Self::build(octets, Owner::None, order, format)
    }

    /// Reads an encapsulation that was received as octets (§9.3.3): its first octet is the byte order.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] where it is empty, [`DecodeErrorKind::BadByteOrder`].
    pub fn from_encapsulation(bytes: &'a Bytes) -> Result<Self, DecodeError> {
        let mut inner = Self::new(bytes, ByteOrder::NATIVE, Format::ENCAPSULATION);
        inner.read_byte_order()?;
        Ok(inner)
    }

    /// The same decoder with a value that decoding of object references and the like can reach.
    #[inline]
    pub fn with_context(mut self, context: &'a dyn DecodeContext) -> Self {
        self.context = Some(context);
        self
    }

    /// The value given to [`with_context`](Self::with_context), if it is a `T`.
    pub fn context<T: 'static>(&self) -> Option<&'a T> {
        let context: &dyn Any = self.context?;
        context.downcast_ref()
    }

    /// The TypeCodes that the context remembers.
    pub(crate) fn known_types(&self) -> Option<&'a dyn KnownTypes> {
        self.context?.known_types()
    }

    /// The valuetype that the context knows by this repository id.
    pub(crate) fn value_type(&self, id: &[u8]) -> Option<&'static ValueInfo> {
        if id.len() > LONGEST_ID { None } else { self.context?.value_type(id) }
    }

    /// The description of a valuetype that the context has by this repository id.
    pub(crate) fn described_value(&self, id: &str) -> Option<TypeCode> {
        if id.len() > LONGEST_ID { None } else { self.context?.described_value(id) }
    }

    /// Changes the limits for what follows.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Octets read so far, padding included.
    pub fn position(&self) -> usize {
        self.done + self.at
    }

    /// Octets left, in all segments.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.octets.len() - self.at + self.left_later
    }

    /// The byte order of what is read.
    #[inline]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether this segment is the elements of a sequence as they are in memory ([`Piece::Elements`]).
    #[inline]
    pub(crate) fn is_among_elements(&self) -> bool {
        matches!(self.owner, Owner::Elements(_))
    }

    /// The byte order of a run of elements that begins here.
    #[inline]
    pub(crate) fn run_order(&self) -> ByteOrder {
        if self.is_among_elements() { ByteOrder::NATIVE } else { self.order }
    }

    /// How values are written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// An error about what starts here.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind, what: &'static str) -> DecodeError {
        DecodeError::new(kind, what, self.position())
    }

    /// Skips padding to a multiple of `to` from the alignment origin. `to` is 1, 2, 4 or 8. Padding may hold anything.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] if the bytes end inside the padding.
    pub fn align(&mut self, to: usize) -> Result<(), DecodeError> {
        loop {
            let start = self.aligned(to);
            if start < self.octets.len() || start == self.octets.len() && self.left_later == 0 {
                self.at = start;
                return Ok(());
            }
            // The padding ends in the next segment: its phase says where.
            if !self.next_segment() {
                return Err(self.error(DecodeErrorKind::Truncated, "padding"));
            }
        }
    }

    /// Where the next value of alignment `to` starts in this segment.
    #[inline]
    fn aligned(&self, to: usize) -> usize {
        self.at + (self.at.wrapping_add(self.phase).wrapping_neg() & (to - 1))
    }

    /// Whether the next octet is at a multiple of `to` from the alignment origin.
    #[inline]
    pub(crate) fn is_aligned(&self, to: usize) -> bool {
        self.at.wrapping_add(self.phase) & (to - 1) == 0
    }

    #[inline]
    fn read_primitive<const N: usize>(
        &mut self,
        align: usize,
        what: &'static str,
    ) -> Result<[u8; N], DecodeError> {
        let start = self.aligned(align);
        match self.octets.get(start..).and_then(|rest| rest.first_chunk()) {
            Some(octets) => {
                self.at = start + N;
                Ok(*octets)
            }
            None => self.read_split(align, what),
        }
    }

    /// Passes over a primitive of so many octets, aligned to as many, that lies in the current segment; else over nothing.
    #[inline]
    pub(crate) fn pass(&mut self, size: usize) -> bool {
        let end = self.aligned(size) + size;
        let lies_here = end <= self.octets.len();
        if lies_here {
            self.at = end;
        }
        lies_here
    }

    /// Reads a primitive that does not lie in the current segment, or only in part.
    #[cold]
    fn read_split<const N: usize>(
        &mut self,
        align: usize,
        what: &'static str,
    ) -> Result<[u8; N], DecodeError> {
        let at = self.position();
        let truncated = |_| DecodeError::new(DecodeErrorKind::Truncated, what, at);
        self.align(align).map_err(truncated)?;
        let mut octets = [0; N];
        self.copy_to(&mut octets).map_err(truncated)?;
        Ok(octets)
    }

    /// Fills `octets`, across segments.
    fn copy_to(&mut self, mut octets: &mut [u8]) -> Result<(), DecodeError> {
        if octets.len() > self.remaining() {
            return Err(self.error(DecodeErrorKind::Truncated, "octets"));
        }
        copied(octets.len());
        loop {
            let here = &self.octets[self.at..];
            let now = here.len().min(octets.len());
            let (head, tail) = octets.split_at_mut(now);
            head.copy_from_slice(&here[..now]);
            self.at += now;
            octets = tail;
            if octets.is_empty() || !self.next_segment() {
                return Ok(());
            }
        }
    }

    #[inline]
    fn ordered<const N: usize>(&self, mut octets: [u8; N]) -> [u8; N] {
        if self.order != ByteOrder::NATIVE {
            octets.reverse();
        }
        octets
    }

    #[inline]
    fn read_number<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let octets = self.read_primitive(N, what)?;
        Ok(self.ordered(octets))
    }

    /// Reads an `octet`.
    #[inline]
    pub fn read_u8(&mut self) -> Result<u8, DecodeError> {
        self.read_primitive(1, "octet").map(|[octet]| octet)
    }

    /// Reads an `int8`: an octet, in two's complement.
    #[inline]
    pub fn read_i8(&mut self) -> Result<i8, DecodeError> {
        self.read_primitive(1, "int8").map(i8::from_ne_bytes)
    }

    /// Reads a `boolean`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BadBoolean`] for octets other than 0 and 1.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        match self.read_primitive(1, "boolean")? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => {
                Err(DecodeError::new(DecodeErrorKind::BadBoolean(other), "boolean", self.position() - 1))
            }
        }
    }

    /// Reads a `char`, as it is.
    #[inline]
    pub fn read_char(&mut self) -> Result<Char, DecodeError> {
        self.read_primitive(1, "char").map(|[octet]| Char(octet))
    }

    /// Reads a `short`.
    #[inline]
    pub fn read_i16(&mut self) -> Result<i16, DecodeError> {
        self.read_number("short").map(i16::from_ne_bytes)
    }

    /// Reads an `unsigned short`.
    #[inline]
    pub fn read_u16(&mut self) -> Result<u16, DecodeError> {
        self.read_number("unsigned short").map(u16::from_ne_bytes)
    }

    /// Reads a `long`.
    #[inline]
    pub fn read_i32(&mut self) -> Result<i32, DecodeError> {
        self.read_number("long").map(i32::from_ne_bytes)
    }

    /// Reads an `unsigned long`.
    #[inline]
    pub fn read_u32(&mut self) -> Result<u32, DecodeError> {
        self.read_number("unsigned long").map(u32::from_ne_bytes)
    }

    /// Reads a `long long`.
    #[inline]
    pub fn read_i64(&mut self) -> Result<i64, DecodeError> {
        self.read_number("long long").map(i64::from_ne_bytes)
    }

    /// Reads an `unsigned long long`.
    #[inline]
    pub fn read_u64(&mut self) -> Result<u64, DecodeError> {
        self.read_number("unsigned long long").map(u64::from_ne_bytes)
    }

    /// Reads a `float`.
    #[inline]
    pub fn read_f32(&mut self) -> Result<f32, DecodeError> {
        self.read_number("float").map(f32::from_ne_bytes)
    }

    /// Reads a `double`.
    #[inline]
    pub fn read_f64(&mut self) -> Result<f64, DecodeError> {
        self.read_number("double").map(f64::from_ne_bytes)
    }

    /// Reads a `long double`.
    pub fn read_long_double(&mut self) -> Result<LongDouble, DecodeError> {
        let octets = self.read_primitive(8, "long double")?;
        Ok(LongDouble::from_bits(u128::from_ne_bytes(self.ordered(octets))))
    }

    /// Reads an enumerator, given all that its enum has, numbered from 0.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BadEnumerator`], naming `what`.
    #[inline]
    pub fn read_enumerator<T: Copy>(&mut self, all: &[T], what: &'static str) -> Result<T, DecodeError> {
        let number = self.read_u32()?;
        let at = self.position() - 4;
        let known = usize::try_from(number).ok().and_then(|index| all.get(index));
        known.copied().ok_or(DecodeError::new(DecodeErrorKind::BadEnumerator(number), what, at))
    }

    /// Reads a count or length of elements that each take at least `min_element_size` octets, and checks that so many can
    /// follow. What it gives bounds an allocation.
    ///
    /// # Errors
    /// [`DecodeErrorKind::LengthBeyondEnd`].
    #[inline]
    pub fn read_count(&mut self, min_element_size: usize) -> Result<usize, DecodeError> {
        let length = self.read_u32()?;
        let left = self.remaining();
        match usize::try_from(length) {
            Ok(count) if count <= left / min_element_size.max(1) => Ok(count),
            _ => {
                let kind = DecodeErrorKind::LengthBeyondEnd { length, left };
                Err(DecodeError::new(kind, "sequence", self.position() - 4))
            }
        }
    }

    /// Like [`read_count`](Self::read_count), for a bounded sequence.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BoundExceeded`] besides.
    pub fn read_bounded_count(&mut self, min_element_size: usize, bound: u32) -> Result<usize, DecodeError> {
        let length = self.read_count(min_element_size)?;
        self.check_bound(length, bound, "sequence")?;
        Ok(length)
    }

    /// Checks a length that was just read against the bound that IDL sets.
    ///
    /// # Errors
    /// [`DecodeErrorKind::BoundExceeded`], naming `what`.
    #[inline]
    pub fn check_bound(&self, length: usize, bound: u32, what: &'static str) -> Result<(), DecodeError> {
        if length > bound as usize {
            return Err(self.error(DecodeErrorKind::BoundExceeded { length, bound }, what));
        }
        Ok(())
    }
}

impl fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("position", &self.position())
            .field("remaining", &self.remaining())
            .field("order", &self.order)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
