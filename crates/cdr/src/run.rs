//! [`Run`]: where in a message a large sequence lies, so that it can be received into the memory where it is to stay.
//!
//! A message is read from the wire in this order: its head, the values before the sequence, the length, the elements. As soon as the length has
//! come it is known how many octets follow, and where each element belongs:
//!
//! ```text
//! body         │ values │ length │ first, out of phase │ in phase … │ values
//!              └───── head ──────┘                     │            │
//!              └────────────── before ─────────────────┘── octets ──┘
//! destination                     │ first, as in memory │ in phase … │ tail of the last
//! ```
//!
//! The first element of structs that tile has a layout of its own where it stands out of phase (`element.rs`); it is decoded, and all behind
//! it is received as it is. What is left to others: whose memory it is, and receiving.

use crate::copies::copied;
use crate::padding::note_received;
use crate::{ByteOrder, DecodeError, DecodeErrorKind, Decoder, Element, Piece, VIEW_FROM};
use alloc::vec;
use alloc::vec::Vec;

/// What is to be known of the elements of a sequence, to receive them without their type.
#[derive(Clone, Copy, Debug)]
pub struct ElementType {
    pub(crate) size: usize,
    align: usize,
    pub(crate) first: usize,
    pub(crate) tail: usize,
    pub(crate) load: fn(&mut Decoder<'_>, &mut [u8]) -> Result<(), DecodeError>,
    fits: fn(&[u8]) -> bool,
    settle: fn(&mut [u8], ByteOrder) -> bool,
}

impl ElementType {
    /// That of `T`, if any bits are a `T`; what has booleans or enums in it has to be decoded.
    pub fn of<T: Element>() -> Option<Self> {
        T::octets_mut(&mut [])?;
        Some(Self {
            size: size_of::<T>(),
            align: T::ALIGN,
            first: T::FIRST,
            tail: T::TAIL,
            load: load::<T>,
            fits: |octets| T::view(octets).is_some(),
            settle: settle::<T>,
        })
    }

    /// Octets of each in memory.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What memory of them has to be aligned to.
    pub fn alignment(&self) -> usize {
        self.align
    }

    /// Whether the first of a sequence may look otherwise than the others, or the last: such sequences are views only if they were received with that
    /// in mind.
    pub fn may_be_out_of_phase(&self) -> bool {
        self.first != self.align || self.tail != 0
    }

    /// Whether these octets of memory can be such elements: they are aligned.
    pub fn fits(&self, octets: &[u8]) -> bool {
        (self.fits)(octets)
    }

    /// Goes to where the first of some elements begins: whether it has another layout there than in memory.
    #[inline]
    pub(crate) fn begins_out_of_phase(&self, from: &mut Decoder<'_>) -> Result<bool, DecodeError> {
        from.align(self.first)?;
        Ok(!from.is_aligned(self.align))
    }

    /// Whether [`bring_in_phase`](Self::bring_in_phase) is for a sequence of them whose length ends so many octets behind the beginning of the body: that begins
    /// with it, and the first element then looks otherwise than in memory.
    pub fn is_out_of_phase_behind(&self, length: usize) -> bool {
        length == size_of::<u32>() && !length.next_multiple_of(self.first).is_multiple_of(self.align)
    }

    /// Whether it is one scalar, which no fragment divides.
    fn is_scalar(&self) -> bool {
        self.align == self.size
    }
}

fn load<T: Element>(from: &mut Decoder<'_>, into: &mut [u8]) -> Result<(), DecodeError> {
    let element = [T::decode(from)?];
    if let Some(octets) = T::octets(&element)
        && octets.len() == into.len()
    {
        copied(octets.len());
        into.copy_from_slice(octets);
    }
    Ok(())
}

fn settle<T: Element>(octets: &mut [u8], order: ByteOrder) -> bool {
    let Some(elements) = T::view_mut(octets) else { return false };
    put_in_order(elements, order);
    true
}

/// Puts elements whose octets came in this byte order into ours: nothing, where there is nothing to do.
fn put_in_order<T: Element>(elements: &mut [T], order: ByteOrder) {
    if order == ByteOrder::NATIVE || T::ALIGN == 1 {
        note_received::<T>();
        return;
    }
    // Any bits are a value.
    let mut valid = true;
    for element in elements {
        let octets = T::octets(core::slice::from_ref(element)).unwrap_or_default();
        *element = T::load(octets, order, &mut valid);
    }
}

/// A sequence that begins to come: see the module.
#[derive(Clone)]
pub struct Run {
    element: ElementType,
    order: ByteOrder,
    count: usize,
    head: usize,
    before: usize,
    first: Vec<u8>,
}

impl Run {
    /// The run of `count` elements, whose length `from` has just read.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`]: more has to come before it can be said. [`DecodeErrorKind::LengthBeyondEnd`]: no memory is so large.
    pub fn begin(element: ElementType, count: usize, from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let total = count.checked_mul(element.size).filter(|total| isize::try_from(*total).is_ok());
        if total.is_none() {
            let kind = DecodeErrorKind::LengthBeyondEnd { length: u32::MAX, left: from.remaining() };
            return Err(from.error(kind, "sequence"));
        }
        let head = from.position();
        let mut first = Vec::new();
        if count > 0 {
            if element.begins_out_of_phase(from)? {
                first = vec![0; element.size];
                (element.load)(from, &mut first)?;
            }
            // The second may want padding before it.
            if count > 1 || first.is_empty() {
                from.align(element.first)?;
            }
        }
        Ok(Self { element, order: from.order(), count, head, before: from.position(), first })
    }

    /// How many elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Octets of memory that all of them take.
    pub fn size(&self) -> usize {
        self.count * self.element.size
    }

    /// Whether the elements stand in the message as they do in memory.
    pub fn is_in_phase(&self) -> bool {
        self.first.is_empty() && self.element.tail == 0
    }

    /// Octets of the body up to the sequence's length, and with it.
    pub fn head(&self) -> usize {
        self.head
    }

    /// Octets of the body before those that are received as they are.
    pub fn before(&self) -> usize {
        self.before
    }

    /// Where in the destination those go that are received as they are.
    pub fn at(&self) -> usize {
        self.first.len()
    }

    /// How many those are.
    pub fn octets(&self) -> usize {
        let in_phase = self.count - usize::from(!self.first.is_empty());
        if in_phase == 0 { 0 } else { in_phase * self.element.size - self.element.tail }
    }

    /// The octets of one scalar, if the elements are scalars: fragments that begin their alignment anew (GIOP 1.1) then divide the run between two of
    /// them, with padding before the next. Of structs nobody could say.
    pub fn scalar(&self) -> Option<usize> {
        self.element.is_scalar().then_some(self.element.size)
    }

    /// Writes what is known of the destination already: a first element that stands out of phase.
    pub fn begin_in(&self, into: &mut [u8]) {
        if let Some(into) = into.get_mut(..self.first.len()) {
            copied(into.len());
            into.copy_from_slice(&self.first);
        }
    }

    /// Ends it, when so many octets have been received as they are: puts them into this machine's byte order, in one pass. How many
    /// elements are whole; `None`: the memory is not what [`fits`](ElementType::fits) has seen.
    pub fn settle(&self, into: &mut [u8], received: usize) -> Option<usize> {
        let (at, size) = (self.at(), self.element.size);
        let received = if received >= self.octets() { self.size() - at } else { received / size * size };
        let into = into.get_mut(at..at + received)?;
        if self.element.tail > 0 && received > 0 && at + received == self.size() {
            let last = received - self.element.tail;
            into[last..].fill(0);
        }
        ((self.element.settle)(into, self.order)).then_some((at + received) / size)
    }

    /// A body's segment of such elements: a [`Sequence`](crate::Sequence) of them is a view of it.
    pub fn piece(elements: bytes::Bytes) -> Piece {
        Piece::Elements(elements)
    }
}

/// Elements that are read at a time where they are not as they are in memory: few enough that they stay in the processor's cache.
const AT_A_TIME: usize = 256;

impl Decoder<'_> {
    /// Reads as many elements as `into` holds, which stand one after another, into it.
    ///
    /// # Errors
    /// As reading them one by one.
    pub fn read_elements_into<T: Element>(&mut self, into: &mut [T]) -> Result<(), DecodeError> {
        if size_of_val(into) >= VIEW_FROM
            && let Some(octets) = self.view_elements::<T>(into.len())
            && let Some(elements) = T::view(&octets)
        {
            copied(octets.len());
            into.copy_from_slice(elements);
            return Ok(());
        }
        for into in into.chunks_mut(AT_A_TIME) {
            let elements = self.read_elements::<T>(into.len())?;
            copied(size_of_val(into));
            into.copy_from_slice(&elements);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decode, Encode, Encoder, Format, Padding, Sequence, bytemuck, tiling_struct};
    use bytes::Bytes;

    #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Bin {
        s: i16,
        c: u8,
        _padding_0: Padding<1>,
        l: i32,
        o: u8,
        _padding_1: Padding<7>,
        d: f64,
    }
    tiling_struct!(plain Bin { s: i16, c: u8, l: i32, o: u8, d: f64 } padding { _padding_0, _padding_1 });

    #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Tailed {
        d: f64,
        o: u8,
        _padding_0: Padding<7>,
    }
    tiling_struct!(plain Tailed { d: f64, o: u8 } padding { _padding_0 });

    fn bins(count: i16) -> Vec<Bin> {
        (0..count)
            .map(|n| Bin { s: n, c: 7, l: -i32::from(n), o: 3, d: f64::from(n) / 3.0, ..Bin::default() })
            .collect()
    }

    /// Receives the run in the octets of a body as a connection would, after `known` octets of it; and what comes of the body then.
    fn deposited<T: Element>(
        body: &[u8],
        known: usize,
        order: ByteOrder,
    ) -> Result<crate::Body, DecodeError> {
        let prefix = Bytes::copy_from_slice(&body[..known]);
        let mut from = Decoder::new(&prefix, order, Format::default());
        from.read_string()?;
        let count = from.read_u32()? as usize;
        let run = Run::begin(ElementType::of::<T>().unwrap(), count, &mut from)?;
        let mut memory = vec![0u64; run.size().div_ceil(8)];
        let into = &mut bytemuck::cast_slice_mut(&mut memory)[..run.size()];
        run.begin_in(into);
        let octets = &body[run.before()..run.before() + run.octets()];
        into[run.at()..run.at() + octets.len()].copy_from_slice(octets);
        assert_eq!(run.settle(into, octets.len()), Some(count));
        let elements = Bytes::from_owner(Words(memory)).slice(..run.size());
        let behind = run.before() + run.octets();
        let segments = vec![
            crate::Segment { octets: Piece::from(crate::Octets::from(&body[..run.head()])), phase: 0 },
            crate::Segment { octets: Run::piece(elements), phase: 0 },
            crate::Segment { octets: Piece::from(crate::Octets::from(&body[behind..])), phase: behind & 7 },
        ];
        Ok(crate::Body::many(segments, order))
    }

    struct Words(Vec<u64>);

    impl AsRef<[u8]> for Words {
        fn as_ref(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
    }

    fn comes_as_it_was<T: Element + PartialEq + core::fmt::Debug>(elements: &[T]) {
        // All phases.
        for text in ["", "1", "12", "123", "1234", "12345", "123456", "1234567"] {
            let mut to = Encoder::new(Format::default());
            to.write_string(text).unwrap();
            let sequence = Sequence::from(elements.to_vec());
            sequence.encode(&mut to).unwrap();
            to.write_u16(4711);
            let body = to.to_bytes();
            let whole = deposited::<T>(&body, body.len(), ByteOrder::NATIVE).unwrap();
            let mut from = Decoder::over(&whole, Format::default());
            assert_eq!(from.read_string().unwrap(), text);
            let received = Sequence::<T>::decode(&mut from).unwrap();
            assert_eq!(received, *elements);
            assert!(received.is_view(), "{text:?}: it is where it was received");
            assert_eq!((from.read_u16().unwrap(), from.remaining()), (4711, 0));
        }
    }

    #[test]
    fn elements_are_viewed_where_they_were_received_in_any_phase() {
        comes_as_it_was(&bins(1000));
        comes_as_it_was(&vec![3.5f64; 1000]);
        comes_as_it_was(&vec![[1i16, 2, 3]; 3000]);
        comes_as_it_was(&vec![7u8; 5001]);
        let tailed: Vec<Tailed> =
            (0..1000).map(|n| Tailed { d: f64::from(n), o: 5, ..Tailed::default() }).collect();
        comes_as_it_was(&tailed);
    }

    #[test]
    fn the_other_byte_order_is_put_right_in_place() {
        let numbers: Vec<u32> = (0..2000).collect();
        let mut body = vec![];
        // The string "" and its length, foreign.
        let foreign = |number: u32| number.swap_bytes().to_ne_bytes();
        body.extend(foreign(1));
        body.extend([0; 4]);
        body.extend(foreign(2000));
        numbers.iter().for_each(|number| body.extend(foreign(*number)));
        body.extend([0x12, 0x34]);
        let whole = deposited::<u32>(&body, 16, ByteOrder::FOREIGN).unwrap();
        let mut from = Decoder::over(&whole, Format::default());
        from.read_string().unwrap();
        let received = Sequence::<u32>::decode(&mut from).unwrap();
        assert!(received.is_view() && received == numbers);
        assert_eq!(from.read_u16().unwrap(), u16::from_ne_bytes([0x34, 0x12]));
    }

    #[test]
    fn what_has_not_come_yet_is_asked_for() {
        let mut to = Encoder::new(Format::default());
        to.write_string("").unwrap();
        let bins = Sequence::from(bins(1000));
        bins.encode(&mut to).unwrap();
        let body = to.to_bytes();
        for known in 0..32 {
            let early = deposited::<Bin>(&body, known, ByteOrder::NATIVE);
            assert!(
                matches!(
                    early.unwrap_err().kind,
                    DecodeErrorKind::Truncated | DecodeErrorKind::LengthBeyondEnd { .. }
                ),
                "{known}"
            );
        }
        assert!(deposited::<Bin>(&body, 32, ByteOrder::NATIVE).is_ok());
    }

    #[test]
    fn padding_that_a_peer_has_filled_is_not_sent_on() {
        let element = ElementType::of::<Bin>().unwrap();
        let length = Bytes::from(vec![0; 8]);
        let mut from = Decoder::new(&length, ByteOrder::NATIVE, Format::default());
        from.read_u64().unwrap();
        let run = Run::begin(element, 500, &mut from).unwrap();
        let mut memory = vec![u64::MAX; 1500];
        assert_eq!(run.settle(bytemuck::cast_slice_mut(&mut memory), 12_000), Some(500));
        let bins: &[Bin] = bytemuck::cast_slice(&memory);
        assert!(!Bin::are_clean(bins) && bins[499].s == -1, "it lies there");
        let mut to = Encoder::new(Format::default());
        to.write_elements(bins).unwrap();
        let sent = to.to_bytes();
        let sent: &[Bin] = bytemuck::cast_slice(&sent);
        assert!(Bin::are_clean(sent) && sent.len() == 500 && sent[499].s == -1);
        assert!(run.settle(&mut [0; 8], 12_000).is_none());
    }

    #[test]
    fn of_what_has_invalid_bits_there_is_none_and_it_is_read_in_parts() {
        assert!(ElementType::of::<bool>().is_none());
        let mut to = Encoder::new(Format::default());
        let flags: Vec<bool> = (0..10_000).map(|n| n % 3 == 0).collect();
        to.write_elements(&flags).unwrap();
        to.write_elements(&[1u16; 5000]).unwrap();
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
        let (mut read, mut numbers) = (vec![false; 10_000], vec![0u16; 5000]);
        from.read_elements_into(&mut read).unwrap();
        from.read_elements_into(&mut numbers).unwrap();
        assert!(read == flags && numbers == [1; 5000] && from.remaining() == 0);
    }
}
