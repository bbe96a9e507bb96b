//! The [`Encoder`]: values appended in CDR, large runs gathered rather than copied (CORBA 3.4 part 2, §9.3.1).
//!
//! ```text
//! head      │ GIOP header, request header, length │ padding, later arguments │
//!                                                 ▲
//! runs                                            └─ 1 MiB of octets, borrowed from the caller
//! ```
//!
//! What it leaves to others: the contents of message headers, and sending. Text is in `text.rs`.

use crate::copies::copied;
use crate::gather::{Inserted, Lone, Outside, Runs, Slices};
use crate::valuetype::Written;
use crate::valuetype::write::Kept;
use crate::{ByteOrder, Char, CodeSets, EncodeError, EncodeErrorKind, Format, LongDouble};
use alloc::boxed::Box;
use alloc::vec::Vec;
use bytes::Bytes;

/// From this many octets on, a run is borrowed instead of copied.
///
/// Measured over loopback on Linux, sending a head of 100 octets and a run: one slice of both, copied together, beat two
/// slices up to 16 KiB over TCP and up to 4 KiB over a Unix socket; from there on the copy costs more.
pub const BORROW_FROM: usize = 16 * 1024;

/// The size of the gap that a fragment header is later written into: a GIOP header.
pub const FRAGMENT_HEADER: usize = 12;

/// The most octets that a primitive can take with the padding before it: a `long double` after 7.
const WIDEST: usize = 23;

/// Appends values in the byte order of this machine.
///
/// It holds a whole message, GIOP header included, so that its start is where alignment is counted from. Runs of at
/// least [`BORROW_FROM`] octets that live for `'a` are not copied: [`slices`](Self::slices) gives the message as a list
/// for one gathered write.
#[derive(Debug)]
pub struct Encoder<'a> {
    head: Vec<u8>,
    /// What stands between parts of the head, if that is one borrowed run alone.
    lone: Lone<'a>,
    /// Otherwise. Most messages have none, and are to pay nothing for it.
    runs: Option<Box<Runs<'a>>>,
    /// Octets in all runs. 0: there are none.
    inserted: usize,
    /// What to add to an offset in `head` to get its distance from the alignment origin, wrapping.
    shift: usize,
    /// From this length of `head` on, a write must first look at `pending` and `fragment`. One comparison, so that the
    /// common case pays for neither.
    watch: usize,
    /// Alignment owed before the next octet, 0 if none.
    pending: usize,
    /// What few messages have, in one box, so that the others pay for one pointer.
    rare: Option<Box<Rare>>,
    format: Format,
}

/// What few messages have.
#[derive(Debug, Default)]
struct Rare {
    /// GIOP 1.1 only.
    fragments: Option<Fragments>,
    /// Values of valuetypes.
    values: Written,
}

/// The message as it is cut while it is written.
#[derive(Debug)]
struct Fragments {
    current: Fragment,
    /// Offsets in the head of the gaps between them.
    breaks: Vec<usize>,
}

/// The fragment being filled.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    /// The most octets in a fragment, header included.
    size: usize,
    /// The offset in the head at which this one is full.
    end: usize,
}

/// A point in a message to return to; see [`Encoder::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    head: usize,
    runs: usize,
    inserted: usize,
    shift: usize,
    pending: usize,
    fragment: Option<Fragment>,
    breaks: usize,
}

impl<'a> Encoder<'a> {
    /// An empty message.
    pub fn new(format: Format) -> Self {
        Self::with_buffer(Vec::new(), format)
    }

    /// An empty message in a buffer that has served before; what it holds is dropped, its capacity kept.
    #[inline]
    pub fn with_buffer(mut buffer: Vec<u8>, format: Format) -> Self {
        buffer.clear();
        Self::holding(buffer, format)
    }

    #[inline(always)]
    fn holding(head: Vec<u8>, format: Format) -> Self {
        Self {
            head,
            lone: Lone::NONE,
            runs: None,
            inserted: 0,
            shift: 0,
            watch: usize::MAX,
            pending: 0,
            rare: None,
            format,
        }
    }

    /// A message that begins with the first `length` octets of a buffer, as a message before it left them: one whose octets up to
    /// there were all written, not borrowed, and not in fragments. What follows them is dropped.
    #[inline]
    pub fn continuing(mut buffer: Vec<u8>, length: usize, format: Format) -> Self {
        buffer.truncate(length);
        Self::holding(buffer, format)
    }

    /// Goes on with a message that begins `from` octets behind a buffer's beginning, behind others, and of which the rest of the buffer is
    /// there: written, not borrowed, and not in fragments. Alignment is counted from where the message begins, lengths and offsets from the
    /// buffer's beginning.
    #[inline]
    pub fn behind(buffer: Vec<u8>, from: usize, format: Format) -> Self {
        Self { shift: from.wrapping_neg(), ..Self::holding(buffer, format) }
    }

    /// An encapsulation by itself (§9.3.3): the byte order, then what `fill` writes, aligned from the byte order.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn encapsulated(
        fill: impl FnOnce(&mut Encoder<'static>) -> Result<(), EncodeError>,
    ) -> Result<Bytes, EncodeError> {
        let mut inner = Encoder::new(Format::ENCAPSULATION);
        inner.write_u8(ByteOrder::NATIVE.flag());
        fill(&mut inner)?;
        Ok(inner.to_bytes())
    }

    /// How values are written.
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Changes the code sets for what follows: they may become known only while a message's header is written.
    pub fn set_code_sets(&mut self, code_sets: CodeSets) {
        self.format.code_sets = code_sets;
    }

    /// Octets in the message so far, gaps for fragment headers included.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.len() + self.inserted
    }

    /// Octets of the message that were copied together; the others are borrowed or shared.
    #[inline]
    pub fn copied(&self) -> usize {
        self.head.len()
    }

    /// Whether nothing was written yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Octets since the point that alignment is counted from: the start of the message, of the current fragment in
    /// GIOP 1.1, or of the innermost encapsulation.
    #[inline]
    pub fn position(&self) -> usize {
        self.head.len().wrapping_add(self.shift)
    }

    /// Pads with zeros to a multiple of `to` octets from the origin. `to` is 1, 2, 4 or 8.
    #[inline]
    pub fn align(&mut self, to: usize) {
        self.prepare(to, 1);
    }

    /// Pads to a multiple of `to` only if something follows: GIOP 1.2 bodies start at a multiple of 8, but a message
    /// without a body ends with its header (§9.4.2.2). `to` is 1, 2, 4 or 8.
    #[inline]
    pub fn align_before_next(&mut self, to: usize) {
        self.pending = to;
        self.watch = 0;
    }

    /// Makes room for a primitive: padding to `align`, and in GIOP 1.1 a gap where `size` octets more do not fit the
    /// fragment.
    #[inline]
    fn prepare(&mut self, align: usize, size: usize) {
        if self.head.len() >= self.watch {
            self.attend(align, size);
        }
        let padding = self.position().wrapping_neg() & (align - 1);
        if padding != 0 {
            self.pad(padding);
        }
    }

    #[inline]
    fn pad(&mut self, padding: usize) {
        // Eight and back: a copy of known size, where a variable one would be a call.
        let length = self.head.len() + padding;
        self.head.extend_from_slice(&[0; 8]);
        self.head.truncate(length);
    }

    #[cold]
    fn attend(&mut self, align: usize, size: usize) {
        if self.pending != 0 {
            let padding = self.position().wrapping_neg() & (self.pending - 1);
            self.pending = 0;
            self.pad(padding);
        }
        if let Some(fragment) = self.fragment() {
            let padding = self.position().wrapping_neg() & (align - 1);
            if self.head.len() + padding + size > fragment.end {
                // Peers that align before they see that a fragment is used up (omniORB) must find its end just there.
                self.pad(padding);
                self.open_fragment(fragment.size);
            }
        }
        self.watch = self.next_watch();
    }

    fn next_watch(&self) -> usize {
        match self.fragment() {
            _ if self.pending != 0 => 0,
            Some(fragment) => fragment.end.saturating_sub(WIDEST),
            None => usize::MAX,
        }
    }

    #[inline]
    fn fragments(&self) -> Option<&Fragments> {
        self.rare.as_ref()?.fragments.as_ref()
    }

    fn fragment(&self) -> Option<Fragment> {
        self.fragments().map(|fragments| fragments.current)
    }

    fn open_fragment(&mut self, size: usize) {
        let start = self.head.len();
        self.head.extend_from_slice(&[0; FRAGMENT_HEADER]);
        self.shift = start.wrapping_neg();
        if let Some(fragments) = self.rare.as_mut().and_then(|rare| rare.fragments.as_mut()) {
            fragments.breaks.push(start);
            fragments.current = Fragment { size, end: start + size };
        }
    }

    /// For GIOP 1.1: starts a new fragment whenever the current one would pass `octets`, its header included.
    ///
    /// A gap of [`FRAGMENT_HEADER`] zeros is left where each further fragment starts, never inside a primitive, and
    /// alignment is counted from the gap, since GIOP 1.1 aligns each fragment by itself. From here on nothing is
    /// borrowed: the gaps fall where the values say. Behind the first value of a valuetype there are none. Later versions cut the
    /// finished message anywhere.
    ///
    /// `octets` below 64 count as 64, which holds a header and any primitive; it is rounded down to a multiple of 8, so
    /// that padding before a gap never passes it. Two kinds of fragment are larger: the first, if `octets` are in it
    /// already, and one with a run that `write_unbroken` keeps together.
    pub fn fragment_every(&mut self, octets: usize) {
        debug_assert!(self.inserted == 0, "fragments are chosen before the body is written");
        let size = octets.max(64) / 8 * 8;
        let current = Fragment { size, end: size.max(self.head.len()) };
        self.rare.get_or_insert_default().fragments = Some(Fragments { current, breaks: Vec::new() });
        self.watch = self.next_watch();
    }

    /// Cuts nothing off behind here: where values and their indirections stand is counted in octets that no gap may come between.
    pub(crate) fn stay_whole(&mut self) {
        if let Some(fragments) = self.rare.as_mut().and_then(|rare| rare.fragments.as_mut()) {
            fragments.current.end = usize::MAX;
            self.watch = self.next_watch();
        }
    }

    /// The offsets in the message of the gaps that [`fragment_every`](Self::fragment_every) left.
    pub fn breaks(&self) -> &[usize] {
        self.fragments().map_or(&[], |fragments| &fragments.breaks)
    }

    /// Whether fragments are being filled, so that no run may pass the end of one.
    #[inline]
    pub(crate) fn is_fragmenting(&self) -> bool {
        self.fragments().is_some()
    }

    #[inline]
    fn write_primitive<const N: usize>(&mut self, align: usize, octets: [u8; N]) {
        self.prepare(align, N);
        self.head.extend_from_slice(&octets);
    }

    /// Writes an `octet`.
    #[inline]
    pub fn write_u8(&mut self, value: u8) {
        self.write_primitive(1, [value]);
    }

    /// Writes an `int8`: an octet, in two's complement.
    #[inline]
    pub fn write_i8(&mut self, value: i8) {
        self.write_primitive(1, value.to_ne_bytes());
    }

    /// Writes a `boolean`.
    #[inline]
    pub fn write_bool(&mut self, value: bool) {
        self.write_primitive(1, [u8::from(value)]);
    }

    /// Writes a `char`, as it is.
    #[inline]
    pub fn write_char(&mut self, value: Char) {
        self.write_primitive(1, [value.0]);
    }

    /// Writes a `short`.
    #[inline]
    pub fn write_i16(&mut self, value: i16) {
        self.write_primitive(2, value.to_ne_bytes());
    }

    /// Writes an `unsigned short`.
    #[inline]
    pub fn write_u16(&mut self, value: u16) {
        self.write_primitive(2, value.to_ne_bytes());
    }

    /// Writes a `long`.
    #[inline]
    pub fn write_i32(&mut self, value: i32) {
        self.write_primitive(4, value.to_ne_bytes());
    }

    /// Writes an `unsigned long`.
    #[inline]
    pub fn write_u32(&mut self, value: u32) {
        self.write_primitive(4, value.to_ne_bytes());
    }

    /// Writes a `long long`.
    #[inline]
    pub fn write_i64(&mut self, value: i64) {
        self.write_primitive(8, value.to_ne_bytes());
    }

    /// Writes an `unsigned long long`.
    #[inline]
    pub fn write_u64(&mut self, value: u64) {
        self.write_primitive(8, value.to_ne_bytes());
    }

    /// Writes a `float`.
    #[inline]
    pub fn write_f32(&mut self, value: f32) {
        self.write_primitive(4, value.to_ne_bytes());
    }

    /// Writes a `double`.
    #[inline]
    pub fn write_f64(&mut self, value: f64) {
        self.write_primitive(8, value.to_ne_bytes());
    }

    /// Writes a `long double`.
    #[inline]
    pub fn write_long_double(&mut self, value: LongDouble) {
        self.write_primitive(8, value.to_bits().to_ne_bytes());
    }

    /// Copies octets, with neither length nor alignment.
    #[inline]
    pub fn write_octets(&mut self, octets: &[u8]) {
        if self.head.len() + octets.len() > self.watch {
            return self.write_octets_watched(octets);
        }
        self.head.extend_from_slice(octets);
    }

    #[cold]
    fn write_octets_watched(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            self.attend(1, 1);
            let room = self.fragment().map_or(usize::MAX, |fragment| fragment.end - self.head.len());
            let (now, later) = octets.split_at(room.min(octets.len()));
            self.head.extend_from_slice(now);
            octets = later;
        }
    }

    /// Appends a run of values of eight octets each, within one fragment whatever its size.
    ///
    /// Some peers (omniORB) read such a run as one block, in which a new fragment, whose header takes 12 octets, would
    /// break the alignment; others realign each value. Unbroken, the run means the same to both.
    pub(crate) fn write_unbroken(&mut self, octets: &[u8]) {
        self.prepare(8, 8);
        self.head.extend_from_slice(octets);
    }

    /// Appends octets with neither length nor alignment: borrowed from [`BORROW_FROM`] octets on, copied below.
    #[inline]
    pub fn write_borrowed(&mut self, octets: &'a [u8]) {
        if octets.len() < BORROW_FROM || self.is_fragmenting() {
            self.write_octets(octets);
        } else {
            self.borrow(octets);
        }
    }

    /// Appends octets with neither length nor alignment: shared from [`BORROW_FROM`] octets on, copied below.
    #[inline]
    pub fn write_shared(&mut self, octets: Bytes) {
        if octets.len() < BORROW_FROM || self.is_fragmenting() {
            self.write_octets(&octets);
        } else {
            self.insert(Outside::Shared(octets));
        }
    }

    fn borrow(&mut self, octets: &'a [u8]) {
        if self.inserted > 0 {
            return self.insert(Outside::Borrowed(octets));
        }
        self.prepare(1, 1);
        self.lone = Lone { at: self.head.len(), octets };
        self.go_past(octets.len());
    }

    #[inline(never)]
    fn insert(&mut self, octets: Outside<'a>) {
        self.prepare(1, 1);
        let length = octets.as_slice().len();
        if let Some(run) = self.lone.take() {
            Runs::add(&mut self.runs, run);
        }
        Runs::add(&mut self.runs, Inserted { at: self.head.len(), octets });
        self.go_past(length);
    }

    /// What stands in a run is in the message, and not in the head.
    fn go_past(&mut self, run: usize) {
        self.inserted += run;
        self.shift = self.shift.wrapping_add(run);
    }

    /// Writes the length of a sequence: an `unsigned long`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`] from 2³² on.
    #[inline]
    pub fn write_length(&mut self, length: usize) -> Result<(), EncodeError> {
        match u32::try_from(length) {
            Ok(length) => {
                self.write_u32(length);
                Ok(())
            }
            Err(_) => Err(EncodeError::new(EncodeErrorKind::TooLong(length), "sequence")),
        }
    }

    /// Writes a `sequence<octet>`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooLong`].
    pub fn write_octet_sequence(&mut self, octets: &'a [u8]) -> Result<(), EncodeError> {
        self.write_length(octets.len())?;
        self.write_borrowed(octets);
        Ok(())
    }

    /// Writes an encapsulation (§9.3.3): a `sequence<octet>` that starts with its byte order and aligns from there.
    /// Inside, [`Format::ENCAPSULATION`] holds.
    ///
    /// # Errors
    /// Those of `fill`, and [`EncodeErrorKind::TooLong`]; what was written then is of no use.
    pub fn encapsulation<R>(
        &mut self,
        fill: impl FnOnce(&mut Encoder<'a>) -> Result<R, EncodeError>,
    ) -> Result<R, EncodeError> {
        if self.is_fragmenting() {
            // Its alignment ignores fragments, so it is finished before it is cut.
            let mut inner = Encoder::new(Format::ENCAPSULATION);
            inner.write_u8(ByteOrder::NATIVE.flag());
            let result = fill(&mut inner)?;
            self.write_length(inner.len())?;
            inner.slices().for_each(|slice| self.write_octets(slice));
            return Ok(result);
        }
        self.write_u32(0);
        // Indirections do not leave it, and chunks neither.
        let values = self.rare.as_mut().map(|rare| core::mem::take(&mut rare.values));
        let (start, origin, format) = (self.head.len(), self.shift, self.format);
        let before = self.len();
        self.shift = start.wrapping_neg();
        self.format = Format::ENCAPSULATION;
        self.write_u8(ByteOrder::NATIVE.flag());
        let result = fill(self);
        self.pending = 0;
        self.watch = self.next_watch();
        self.format = format;
        if let Some(rare) = &mut self.rare {
            rare.values = values.unwrap_or_default();
        }
        let length = self.len() - before;
        self.shift = origin.wrapping_add(length - (self.head.len() - start));
        let result = result?;
        let too_long = |_| EncodeError::new(EncodeErrorKind::TooLong(length), "encapsulation");
        let length = u32::try_from(length).map_err(too_long)?;
        self.head[start - 4..start].copy_from_slice(&length.to_ne_bytes());
        Ok(result)
    }

    /// What is known of the values of valuetypes in the message.
    pub(crate) fn values(&mut self) -> &mut Written {
        &mut self.rare.get_or_insert_default().values
    }

    /// Whether a chunked value is being written.
    pub(crate) fn in_chunks(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.values.in_chunks())
    }

    /// What is kept of the values of valuetypes in the message, if it has any.
    pub(crate) fn take_kept(&mut self) -> Option<Kept> {
        self.rare.as_mut()?.values.take_kept()
    }

    /// Drops the last four octets, which were just written to the head.
    pub(crate) fn take_back_u32(&mut self) {
        self.head.truncate(self.head.len().saturating_sub(4));
    }

    /// Overwrites the four octets at offset `at` of the message, which were written before and not as part of a borrowed
    /// run: a size that is known only now. Does nothing elsewhere.
    #[inline]
    pub fn set_u32(&mut self, at: usize, value: u32) {
        match self.inserted {
            0 => self.set_in_head(at, value),
            _ => self.set_among_runs(at, value),
        }
    }

    #[cold]
    fn set_among_runs(&mut self, at: usize, value: u32) {
        let in_head = match &self.runs {
            None => self.lone.in_head(at),
            Some(runs) => runs.in_head(at),
        };
        if let Some(in_head) = in_head {
            self.set_in_head(in_head, value);
        }
    }

    #[inline]
    fn set_in_head(&mut self, at: usize, value: u32) {
        let place = self.head.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
        debug_assert!(place.is_some(), "set_u32 overwrites what was written");
        if let Some(place) = place {
            *place = value.to_ne_bytes();
        }
    }

    /// The current end of the message, to return to.
    pub fn mark(&self) -> Mark {
        Mark {
            head: self.head.len(),
            runs: self.runs.as_ref().map_or(usize::from(self.inserted > 0), |runs| runs.count()),
            inserted: self.inserted,
            shift: self.shift,
            pending: self.pending,
            fragment: self.fragment(),
            breaks: self.breaks().len(),
        }
    }

    /// Drops what was written since `mark`: half a body, when an exception takes its place. Marks made since are void.
    pub fn rewind(&mut self, mark: Mark) {
        self.head.truncate(mark.head);
        if mark.runs == 0 {
            self.lone = Lone::NONE;
        }
        Runs::truncate(&mut self.runs, mark.runs);
        self.inserted = mark.inserted;
        self.shift = mark.shift;
        self.pending = mark.pending;
        let length = self.len();
        if let Some(rare) = &mut self.rare {
            rare.values.rewind(length);
            match (&mut rare.fragments, mark.fragment) {
                (Some(fragments), Some(current)) => {
                    fragments.current = current;
                    fragments.breaks.truncate(mark.breaks);
                }
                (fragments, _) => *fragments = None,
            }
        }
        self.watch = self.next_watch();
    }

    /// The message, if it is one slice: nearly always.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        (self.inserted == 0).then_some(&self.head)
    }

    /// The message, if exactly one run lies outside its head, to be sent without a list being made: what stands before the run, the run, and what
    /// stands behind it. Where nothing does, that is empty.
    #[inline]
    pub fn around_run(&self) -> Option<[&[u8]; 3]> {
        let (at, octets) = match &self.runs {
            None if self.inserted == 0 => return None,
            None => (self.lone.at, self.lone.octets),
            Some(runs) => runs.only().map(|run| (run.at, run.octets.as_slice()))?,
        };
        let (before, behind) = self.head.split_at(at);
        Some([before, octets, behind])
    }

    /// The message as a gather list, in order and without empty slices; usually one slice.
    pub fn slices(&self) -> Slices<'_> {
        Slices::new(&self.head, self.lone, self.runs.as_deref())
    }

    /// The message in one piece, copied together where it is not.
    pub fn to_bytes(self) -> Bytes {
        if self.inserted == 0 {
            return self.head.into();
        }
        copied(self.len());
        let mut whole = Vec::with_capacity(self.len());
        self.slices().for_each(|slice| whole.extend_from_slice(slice));
        whole.into()
    }

    /// The buffer, to be used again.
    #[inline]
    pub fn into_buffer(self) -> Vec<u8> {
        // Most messages have neither, which is seen here by a comparison each.
        if let Some(runs) = self.runs {
            free(runs);
        }
        if let Some(rare) = self.rare {
            free(rare);
        }
        self.head
    }

    /// The same message without a borrow: borrowed runs are copied.
    pub fn into_static(mut self) -> Encoder<'static> {
        if let Some(run) = self.lone.take() {
            Runs::add(&mut self.runs, run);
        }
        Encoder {
            head: self.head,
            lone: Lone::NONE,
            runs: self.runs.map(|runs| Box::new(runs.into_static())),
            inserted: self.inserted,
            shift: self.shift,
            watch: self.watch,
            pending: self.pending,
            rare: self.rare,
            format: self.format,
        }
    }
}

/// Out of the way of those that have nothing to free.
#[cold]
#[inline(never)]
fn free<T>(_: Box<T>) {}
