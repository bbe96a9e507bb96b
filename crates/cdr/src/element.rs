//! [`Element`]: types whose layout in memory is their layout on the wire, so that a run of them is copied, borrowed or
//! viewed whole.
//!
//! A run starts wherever the values before it end. In phase, each element looks as it does in memory. Out of phase, the
//! first one may not; after it the run is in phase, since a member of the largest alignment has passed. For
//! `struct { short s; char c; long l; octet o; double d; }` after the length word of a sequence at offset 0:
//!
//! ```text
//!  0      4    6 7 8      12        16            24   26 ...
//! │length│s  │c│·│l     │o│· · · │d            │s  │c│·│...
//!        └── first: 20 octets ───────────────────┘└── each further: 24, as in memory
//! ```
//!
//! What it leaves to others: structs and enums, which `tiling.rs` turns into elements, and [`Sequence`](crate::Sequence).

use crate::copies::copied;
use crate::padding::{may_leave, note_received};
use crate::view::Shared;
use crate::{ByteOrder, Char, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LongDouble};
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytemuck::{NoUninit, Pod};
use bytes::Bytes;

/// A type of fixed layout, the same in memory as on the wire: scalars, enums, arrays of elements, and structs that tile.
///
/// Implemented by [`tiling_struct!`](crate::tiling_struct) and [`enumeration!`](crate::enumeration), which check the
/// layout when the program is compiled; not meant to be implemented by hand.
pub trait Element: Encode + Decode + Copy + Send + Sync + 'static {
    /// The alignment of the widest scalar in it, by CDR's rules.
    const ALIGN: usize;
    /// The alignment of the first scalar in it: where CDR lets an element start.
    const FIRST: usize = Self::ALIGN;
    /// Octets of padding at the end in memory, which the last element of a run does not have on the wire. Only where
    /// `FIRST` is `ALIGN`.
    const TAIL: usize = 0;
    /// Whether there is padding inside or at the end.
    const PADDED: bool = false;

    /// The element in `octets`, which are laid out as in memory but for the byte order. Padding becomes zero. Clears
    /// `valid` where a member has no such value.
    fn load(octets: &[u8], order: ByteOrder, valid: &mut bool) -> Self;

    /// The elements as they lie in memory. `None` for the few types that the compiler cannot be shown to have no octet that
    /// was never written: structs that hold an array of booleans, of enums, or of structs with such members.
    fn octets(elements: &[Self]) -> Option<&[u8]>;

    /// The elements that `octets` are: they end with an element, lie aligned, and any bits are a value. Otherwise, and
    /// for types where not any bits are a value, `None`.
    fn view(octets: &[u8]) -> Option<&[Self]>;

    /// As [`view`](Self::view), to be written.
    #[inline]
    fn view_mut(octets: &mut [u8]) -> Option<&mut [Self]> {
        let _ = octets;
        None
    }

    /// The octets of elements, to be written: only of types of which any bits are a value.
    #[inline]
    fn octets_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
        let _ = elements;
        None
    }

    /// Whether all padding is zero.
    #[inline]
    fn is_clean(&self) -> bool {
        true
    }

    /// Whether all padding in all elements is zero. Only then are they sent as they lie in memory, so that no octet that a
    /// peer left in padding is ever sent on to another.
    #[inline]
    fn are_clean(elements: &[Self]) -> bool {
        !Self::PADDED || elements.iter().all(Self::is_clean)
    }

    /// Appends the elements in `octets`, a multiple of their size, as [`load`](Self::load) gives them; false if one of
    /// them is no value.
    #[inline]
    fn load_all(octets: &[u8], order: ByteOrder, into: &mut Vec<Self>) -> bool {
        let mut valid = true;
        let elements = octets.chunks_exact(size_of::<Self>());
        into.extend(elements.map(|element| Self::load(element, order, &mut valid)));
        valid
    }
}

/// [`Element::octets`] of a type that has no octet that is not a value's.
#[doc(hidden)]
#[inline]
pub fn octets<T: Element + NoUninit>(elements: &[T]) -> Option<&[u8]> {
    Some(bytemuck::must_cast_slice(elements))
}

/// [`Element::view`] of a type of which any bits are a value.
#[doc(hidden)]
#[inline]
pub fn view<T: Element + Pod>(octets: &[u8]) -> Option<&[T]> {
    bytemuck::try_cast_slice(octets).ok()
}

/// [`Element::view_mut`] of a type of which any bits are a value.
#[doc(hidden)]
#[inline]
pub fn view_mut<T: Element + Pod>(octets: &mut [u8]) -> Option<&mut [T]> {
    bytemuck::try_cast_slice_mut(octets).ok()
}

/// [`Element::octets_mut`] of a type of which any bits are a value.
#[doc(hidden)]
#[inline]
pub fn octets_mut<T: Element + Pod>(elements: &mut [T]) -> Option<&mut [u8]> {
    Some(bytemuck::must_cast_slice_mut(elements))
}

/// [`Element::load_all`] for a type of `N` octets, which lets the compiler vectorise the loop: one for each byte order.
#[doc(hidden)]
#[inline]
pub fn load_sized<T: Element, const N: usize>(octets: &[u8], order: ByteOrder, into: &mut Vec<T>) -> bool {
    const NATIVE: ByteOrder = ByteOrder::NATIVE;
    const FOREIGN: ByteOrder = ByteOrder::FOREIGN;
    const { assert!(size_of::<T>() == N, "the size is the type's") };
    let (elements, _) = octets.as_chunks::<N>();
    let mut valid = true;
    if order == NATIVE {
        into.extend(elements.iter().map(|element| T::load(element, NATIVE, &mut valid)));
    } else {
        into.extend(elements.iter().map(|element| T::load(element, FOREIGN, &mut valid)));
    }
    valid
}

/// [`Element::are_clean`] for a type of `N` octets of which any bits are a value, in blocks of several. Laid over each other
/// the elements have in their padding what any of them has there: one test for all.
#[doc(hidden)]
#[inline]
pub fn are_clean<T: Element + Pod, const BLOCK: usize, const N: usize>(elements: &[T]) -> bool {
    if !T::PADDED {
        return true;
    }
    let all = overlay::<BLOCK, N>(bytemuck::must_cast_slice(elements));
    bytemuck::pod_read_unaligned::<T>(&all).is_clean()
}

/// All elements of `N` octets laid over each other: a bit is set where any of them has it set.
///
/// It goes by blocks of several elements, whose octets the compiler takes in vectors: 1.4 µs for 64 KiB of elements of 24
/// octets in blocks of four, 1.9 µs one by one, where copying them takes 2.2.
#[inline]
fn overlay<const BLOCK: usize, const N: usize>(octets: &[u8]) -> [u8; N] {
    const { assert!(BLOCK.is_multiple_of(N), "a block is whole elements") };
    let mut block = [0; BLOCK];
    let (blocks, rest) = octets.as_chunks::<BLOCK>();
    blocks.iter().for_each(|more| lay_over(&mut block, more));
    let mut all = [0; N];
    let (elements, last) = (block.as_chunks::<N>().0, rest.as_chunks::<N>().0);
    elements.iter().chain(last).for_each(|more| lay_over(&mut all, more));
    all
}

/// By number: optimised, it is the same loop as with iterators; not optimised, it calls none of theirs for each octet, which was most of
/// what sending structs took.
#[inline]
fn lay_over<const N: usize>(all: &mut [u8; N], more: &[u8; N]) {
    let mut at = 0;
    while at < N {
        all[at] |= more[at];
        at += 1;
    }
}

impl<'a> Encoder<'a> {
    /// Writes elements one after another, without a length, as one run: borrowed where it is large, else copied.
    ///
    /// # Errors
    /// None of the element types that exist has any; the signature is that of [`Encode`].
    #[inline]
    pub fn write_elements<T: Element>(&mut self, elements: &'a [T]) -> Result<(), EncodeError> {
        if elements.is_empty() {
            return Ok(());
        }
        let Some(mut octets) = octets_to_send(elements) else {
            return elements.iter().try_for_each(|element| element.encode(self));
        };
        if self.is_fragmenting() {
            if is_unbroken::<T>() {
                self.write_unbroken(octets);
                return Ok(());
            }
            return elements.iter().try_for_each(|element| element.encode(self));
        }
        if !self.starts_in_phase::<T>() {
            elements[0].encode(self)?;
            octets = &octets[size_of::<T>()..];
        }
        self.write_borrowed(without_tail::<T>(octets));
        Ok(())
    }

    /// Goes to where an element may start, and tells whether it looks there as it does in memory.
    #[inline]
    fn starts_in_phase<T: Element>(&mut self) -> bool {
        self.align(T::FIRST);
        self.position() & (T::ALIGN - 1) == 0
    }
}

impl Encoder<'static> {
    /// Writes elements as one run that the message keeps: shared where it is large, else copied.
    ///
    /// # Errors
    /// As [`write_elements`](Self::write_elements).
    pub fn write_owned_elements<T: Element>(&mut self, elements: Vec<T>) -> Result<(), EncodeError> {
        if !is_shared(&elements) {
            return self.write_copied_elements(&elements);
        }
        self.write_shared_elements::<T>(Bytes::from_owner(InMemory(Arc::new(elements))))
    }

    pub(crate) fn write_copied_elements<T: Element>(&mut self, elements: &[T]) -> Result<(), EncodeError> {
        if elements.is_empty() {
            return Ok(());
        }
        let Some(mut octets) = octets_to_send(elements) else {
            return elements.iter().try_for_each(|&element| element.encode_owned(self));
        };
        if self.is_fragmenting() {
            if is_unbroken::<T>() {
                self.write_unbroken(octets);
                return Ok(());
            }
            return elements.iter().try_for_each(|&element| element.encode_owned(self));
        }
        if !self.starts_in_phase::<T>() {
            elements[0].encode_owned(self)?;
            octets = &octets[size_of::<T>()..];
        }
        self.write_octets(without_tail::<T>(octets));
        Ok(())
    }

    /// Writes the elements that `octets` are, laid out as in memory, of which [`is_shared`] has said that they may leave so.
    pub(crate) fn write_shared_elements<T: Element>(&mut self, mut octets: Bytes) -> Result<(), EncodeError> {
        if self.is_fragmenting() && is_unbroken::<T>() && !octets.is_empty() {
            self.write_unbroken(&octets);
            return Ok(());
        }
        if self.is_fragmenting() || octets.is_empty() {
            return self.write_foreign_run::<T>(&octets);
        }
        if !self.starts_in_phase::<T>() {
            let first = octets.split_to(size_of::<T>());
            self.write_foreign_run::<T>(&first)?;
        }
        octets.truncate(octets.len().saturating_sub(T::TAIL));
        self.write_shared(octets);
        Ok(())
    }

    /// Writes elements one by one from octets laid out as in memory.
    fn write_foreign_run<T: Element>(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        let mut valid = true;
        octets
            .chunks_exact(size_of::<T>())
            .try_for_each(|element| T::load(element, ByteOrder::NATIVE, &mut valid).encode_owned(self))
    }
}

/// Whether a run of elements stays in one fragment of GIOP 1.1: it is nothing but values of eight octets, or may be.
const fn is_unbroken<T: Element>() -> bool {
    T::FIRST == 8 && T::TAIL == 0 && !T::PADDED
}

/// The elements as they lie in memory, if they may be sent so.
#[inline]
fn octets_to_send<T: Element>(elements: &[T]) -> Option<&[u8]> {
    if may_leave(elements) { T::octets(elements) } else { None }
}

fn without_tail<T: Element>(octets: &[u8]) -> &[u8] {
    &octets[..octets.len().saturating_sub(T::TAIL)]
}

/// Whether a message that is to keep these elements shares their memory instead of copying them.
#[inline]
pub(crate) fn is_shared<T: Element>(elements: &[T]) -> bool {
    size_of_val(elements) >= crate::BORROW_FROM && octets_to_send(elements).is_some()
}

/// Elements in shared memory, seen as octets; only of types that have them.
pub(crate) struct InMemory<T>(pub(crate) Arc<Vec<T>>);

impl<T: Element> AsRef<[u8]> for InMemory<T> {
    fn as_ref(&self) -> &[u8] {
        T::octets(&self.0).unwrap_or_default()
    }
}

impl Decoder<'_> {
    /// Reads `count` elements that stand one after another, in one pass per segment: copied, and on the way put into this
    /// machine's byte order, checked, and freed of what a peer left in padding.
    ///
    /// # Errors
    /// As reading them one by one.
    pub fn read_elements<T: Element>(&mut self, count: usize) -> Result<Vec<T>, DecodeError> {
        let mut elements = Vec::with_capacity(count.min(self.remaining() / T::MIN_SIZE.max(1)));
        while elements.len() < count {
            let missing = count - elements.len();
            let whole = if self.align(T::FIRST).is_ok() && self.is_aligned(T::ALIGN) {
                missing.min(self.left_here() / size_of::<T>())
            } else {
                0
            };
            let before = elements.len();
            match self.here(whole * size_of::<T>()) {
                Some(octets) if whole > 0 && load_all(octets, self.run_order(), &mut elements) => {
                    copied(octets.len());
                    let tail = if whole == missing && !self.is_among_elements() { T::TAIL } else { 0 };
                    self.advance(octets.len() - tail);
                }
                _ => {
                    // Out of phase, over the end of a segment, without its tail, or with a member that is no value: one
                    // by one says which, and where.
                    elements.truncate(before);
                    elements.push(T::decode(self)?);
                }
            }
        }
        Ok(elements)
    }

    /// A copy of the next `count` elements, if they are of one octet each, all in one place, and too few to be viewed there.
    #[inline]
    pub(crate) fn copy_octets_of<T: Element>(&mut self, count: usize) -> Option<Bytes> {
        if size_of::<T>() != 1 || T::ALIGN != 1 || T::TAIL != 0 || count >= crate::VIEW_FROM {
            return None;
        }
        let octets = self.here(count)?;
        T::view(octets)?;
        copied(count);
        self.advance(count);
        // Built where it belongs: what `Bytes::copy_from_slice` returns was written in other pieces than it is moved in at once, which the
        // processor waits for.
        Some(Bytes::from(octets.to_vec()))
    }

    /// A view of the next `count` elements, if they are here as they are in memory; otherwise nothing is read but the
    /// padding before them.
    pub(crate) fn view_elements<T: Element>(&mut self, count: usize) -> Option<Shared> {
        let length = count.checked_mul(size_of::<T>())?;
        if length < crate::VIEW_FROM {
            return None;
        }
        self.align(T::FIRST).ok()?;
        // Elements that were put where they are to stay are whole.
        if (T::TAIL != 0 && !self.is_among_elements()) || !is_native::<T>(self.run_order()) {
            return None;
        }
        if !self.is_aligned(T::ALIGN) {
            return None;
        }
        let octets = self.here(length)?;
        T::view(octets)?;
        let Some(view) = self.share(octets) else {
            self.was_not_shared(length);
            return None;
        };
        note_received::<T>();
        self.advance(length);
        Some(view)
    }
}

#[inline]
fn is_native<T: Element>(order: ByteOrder) -> bool {
    order == ByteOrder::NATIVE || T::ALIGN == 1
}

/// Appends the elements in `octets`, a multiple of their size; false if one of them is no value.
fn load_all<T: Element>(octets: &[u8], order: ByteOrder, into: &mut Vec<T>) -> bool {
    const { assert!(size_of::<T>() > 0, "an element takes octets") };
    if is_native::<T>(order)
        && let Some(elements) = T::view(octets)
        && T::are_clean(elements)
    {
        into.extend_from_slice(elements);
        return true;
    }
    T::load_all(octets, order, into)
}

macro_rules! scalar_elements {
    ($($type:ty: $align:literal $swapped:expr;)*) => {$(
        impl Element for $type {
            const ALIGN: usize = $align;

            #[inline(always)]
            fn load(octets: &[u8], order: ByteOrder, valid: &mut bool) -> Self {
                let Some(octets) = octets.first_chunk::<{ size_of::<$type>() }>() else {
                    *valid = false;
                    return Self::default();
                };
                let value: Self = bytemuck::pod_read_unaligned(octets);
                if order == ByteOrder::NATIVE { value } else { $swapped(value) }
            }

            #[inline]
            fn octets(elements: &[Self]) -> Option<&[u8]> {
                octets(elements)
            }

            #[inline]
            fn view(octets: &[u8]) -> Option<&[Self]> {
                view(octets)
            }

            #[inline]
            fn view_mut(octets: &mut [u8]) -> Option<&mut [Self]> {
                view_mut(octets)
            }

            #[inline]
            fn octets_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                octets_mut(elements)
            }

            fn load_all(octets: &[u8], order: ByteOrder, into: &mut Vec<Self>) -> bool {
                load_sized::<Self, { size_of::<$type>() }>(octets, order, into)
            }
        }
    )*};
}

scalar_elements! {
    u8: 1 |value: u8| value;
    i8: 1 |value: i8| value;
    i16: 2 i16::swap_bytes;
    u16: 2 u16::swap_bytes;
    i32: 4 i32::swap_bytes;
    u32: 4 u32::swap_bytes;
    i64: 8 i64::swap_bytes;
    u64: 8 u64::swap_bytes;
    f32: 4 |value: f32| f32::from_bits(value.to_bits().swap_bytes());
    f64: 8 |value: f64| f64::from_bits(value.to_bits().swap_bytes());
    Char: 1 |value: Char| value;
    LongDouble: 8 LongDouble::swap_bytes;
}

impl Element for bool {
    const ALIGN: usize = 1;

    #[inline(always)]
    fn load(octets: &[u8], _: ByteOrder, valid: &mut bool) -> Self {
        let octet = octets.first().copied().unwrap_or(2);
        *valid &= octet < 2;
        octet == 1
    }

    #[inline]
    fn octets(elements: &[Self]) -> Option<&[u8]> {
        octets(elements)
    }

    #[inline]
    fn view(_: &[u8]) -> Option<&[Self]> {
        None
    }

    fn load_all(octets: &[u8], _: ByteOrder, into: &mut Vec<Self>) -> bool {
        into.extend(octets.iter().map(|&octet| octet != 0));
        octets.iter().fold(0, |any, octet| any | octet) < 2
    }
}

impl<T: Element, const N: usize> Element for [T; N] {
    const ALIGN: usize = T::ALIGN;
    const FIRST: usize = T::FIRST;
    const TAIL: usize = T::TAIL;
    const PADDED: bool = T::PADDED;

    #[inline(always)]
    fn load(octets: &[u8], order: ByteOrder, valid: &mut bool) -> Self {
        core::array::from_fn(|index| {
            T::load(octets.get(index * size_of::<T>()..).unwrap_or_default(), order, valid)
        })
    }

    #[inline]
    fn octets(elements: &[Self]) -> Option<&[u8]> {
        T::octets(elements.as_flattened())
    }

    #[inline]
    fn view(octets: &[u8]) -> Option<&[Self]> {
        match T::view(octets)?.as_chunks() {
            (arrays, []) => Some(arrays),
            _ => None,
        }
    }

    #[inline]
    fn view_mut(octets: &mut [u8]) -> Option<&mut [Self]> {
        match T::view_mut(octets)?.as_chunks_mut() {
            (arrays, []) => Some(arrays),
            _ => None,
        }
    }

    #[inline]
    fn octets_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
        T::octets_mut(elements.as_flattened_mut())
    }

    #[inline]
    fn is_clean(&self) -> bool {
        T::are_clean(self)
    }

    #[inline]
    fn are_clean(elements: &[Self]) -> bool {
        T::are_clean(elements.as_flattened())
    }
}
