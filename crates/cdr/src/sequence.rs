//! [`Sequence`]: the value of an IDL `sequence` of elements, which may lie in the message that it came in.
//!
//! ```text
//!               ┌────────────── Memory: the receive buffer, counted ───────────┐
//!               │ GIOP header, request header │ length │ 1 MiB of elements     │
//!               └──────────────────────────────────────┴───────────────────────┘
//! Sequence<f64> ──────────────────────────────────────▶ &[f64]
//! ```

use crate::element::{InMemory, is_shared};
use crate::padding::note_unless_clean;
use crate::view::{Shared, View};
use crate::{Bounded, Decode, DecodeError, Decoder, Element, Encode, EncodeError, Encoder};
use alloc::sync::Arc;
use alloc::vec::{self, Vec};
use bytes::Bytes;
use core::any::Any;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::Deref;
use core::slice;

/// From this many octets on, a received sequence is a view of its message instead of a copy.
///
/// A view keeps the whole receive buffer alive, which costs the connection a new one; a copy of less than a page is
/// cheaper than that.
pub const VIEW_FROM: usize = 4096;

/// A sequence of [`Element`]s: made from a `Vec` without a copy, or a view of a received message.
///
/// It derefs to a slice, and its clone is a count. A view keeps the message it came in alive; `into_vec` lets go of it.
///
/// Large sequences of scalars and of structs without invalid bit patterns become views, when they arrive in this
/// machine's byte order, in one segment and in phase; those with `boolean` or enum members, and those whose elements end
/// in padding, are copied in the one pass that checks them. What a peer left in the padding between members stays where it came, and is not sent on.
///
/// ```
/// use zorb_cdr::Sequence;
///
/// let samples: Sequence<f64> = vec![1.0, 2.0, 3.0].into();
/// let kept = samples.clone();
/// assert_eq!(kept.iter().sum::<f64>(), 6.0);
/// assert_eq!(samples, [1.0, 2.0, 3.0]);
/// ```
pub struct Sequence<T: Element>(Storage<T>);

enum Storage<T> {
    Owned(Arc<Vec<T>>),
    /// Elements of one octet each, which were copied out of their message into memory of their own: one piece of memory, where
    /// the `Vec` and its count are two.
    Copied(Bytes, PhantomData<T>),
    /// In memory of any kind. `T::view` is `Some` of these octets: checked when the view was made, and counted buffers do not move.
    Lent(Bytes, PhantomData<T>),
    /// The same in a message that was received.
    Received(View, PhantomData<T>),
}

impl<T: Element> Sequence<T> {
    /// A sequence without elements. Allocates nothing.
    pub const fn new() -> Self {
        Self::lent(Bytes::new())
    }

    /// The elements as a `Vec`: the one it was made from, if this is the last handle on it, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Storage::Owned(elements) => Arc::try_unwrap(elements).unwrap_or_else(|shared| shared.to_vec()),
            Storage::Copied(octets, _) => into_octets_of(octets),
            Storage::Lent(..) | Storage::Received(..) => self.to_vec(),
        }
    }

    /// Whether this is a view of the message that it came in, and keeps it alive.
    pub fn is_view(&self) -> bool {
        match &self.0 {
            Storage::Owned(_) | Storage::Copied(..) => false,
            Storage::Lent(octets, _) => !octets.is_empty(),
            Storage::Received(..) => true,
        }
    }

    /// The elements that these octets are, which keep what keeps them: `None` where they are none, as of types of which not any bits are a value.
    pub fn view_of(octets: Bytes) -> Option<Self> {
        note_unless_clean(T::view(&octets)?);
        Some(Self::lent(octets))
    }

    /// The elements that `owner` holds, which is dropped when the last handle on them is: a slab, a mapped file, a frame of a ring. Copies
    /// nothing. Given to an ORB, as a result or to a call whose future owns it, they are sent from where they lie from
    /// [`BORROW_FROM`](crate::BORROW_FROM) octets on, and the ORB lets go of them when its transport has taken the last octet and they cannot have to be sent again,
    /// or it is certain that no more is taken: so the owner's `drop` is the completion to wait for.
    ///
    /// # Errors
    /// The owner, where elements of this type cannot be shown to be all values: those that hold a `boolean` or an enum.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use zorb_cdr::Sequence;
    ///
    /// struct Frame(Box<[f32]>, mpsc::Sender<&'static str>);
    /// impl AsRef<[f32]> for Frame {
    ///     fn as_ref(&self) -> &[f32] {
    ///         &self.0
    ///     }
    /// }
    /// impl Drop for Frame {
    ///     fn drop(&mut self) {
    ///         let _ = self.1.send("it may be filled anew");
    ///     }
    /// }
    ///
    /// let (done, is_done) = mpsc::channel();
    /// let Ok(frame) = Sequence::from_owner(Frame(Box::new([0.5; 5000]), done)) else { panic!("floats are all values") };
    /// let being_sent = frame.clone();
    /// drop(frame);
    /// assert!(is_done.try_recv().is_err());
    /// drop(being_sent);
    /// assert_eq!(is_done.try_recv(), Ok("it may be filled anew"));
    /// ```
    pub fn from_owner<O: AsRef<[T]> + Send + 'static>(owner: O) -> Result<Self, O> {
        let Some(elements) = T::octets(owner.as_ref()).and_then(T::view) else { return Err(owner) };
        note_unless_clean::<T>(elements);
        let octets = Bytes::from_owner(Owned(owner, PhantomData));
        Ok(Self::lent(octets))
    }

    /// The elements as octets, laid out as in memory, sharing what holds them.
    fn into_octets(self) -> Bytes {
        match self.0 {
            Storage::Owned(elements) => Bytes::from_owner(InMemory(elements)),
            Storage::Copied(octets, _) | Storage::Lent(octets, _) => octets,
            Storage::Received(view, _) => view.into(),
        }
    }

    /// Elements that are in memory of whatever kind.
    const fn lent(octets: Bytes) -> Self {
        Self(Storage::Lent(octets, PhantomData))
    }
}

/// Elements of one octet each as a `Vec`: of octets as they are the memory that they lie in.
fn into_octets_of<T: Element>(octets: Bytes) -> Vec<T> {
    let mut own: Option<Vec<u8>> = None;
    if !(&own as &dyn Any).is::<Option<Vec<T>>>() {
        return T::view(&octets).unwrap_or_default().to_vec();
    }
    own = Some(octets.into());
    let own: &mut dyn Any = &mut own;
    own.downcast_mut::<Option<Vec<T>>>().and_then(Option::take).unwrap_or_default()
}

/// An owner of elements, as one of their octets.
struct Owned<T, O>(O, PhantomData<fn() -> T>);

impl<T: Element, O: AsRef<[T]>> AsRef<[u8]> for Owned<T, O> {
    fn as_ref(&self) -> &[u8] {
        T::octets(self.0.as_ref()).unwrap_or_default()
    }
}

impl<T: Element> Deref for Sequence<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Owned(elements) => elements,
            Storage::Copied(octets, _) | Storage::Lent(octets, _) => T::view(octets).unwrap_or_default(),
            Storage::Received(view, _) => T::view(view.as_ref()).unwrap_or_default(),
        }
    }
}

impl<T: Element> Encode for Sequence<T> {
    #[inline]
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        let elements: &'a [T] = self;
        to.write_length(elements.len())?;
        to.write_elements(elements)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_length(self.len())?;
        if !is_shared::<T>(&self) {
            return to.write_copied_elements(&self);
        }
        to.write_shared_elements::<T>(self.into_octets())
    }
}

impl<T: Element> Decode for Sequence<T> {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let count = from.read_count(T::MIN_SIZE)?;
        Self::decode_counted(from, count)
    }
}

impl<T: Element> Bounded for Sequence<T> {
    const ELEMENT_SIZE: usize = T::MIN_SIZE;

    fn decode_counted(from: &mut Decoder<'_>, count: usize) -> Result<Self, DecodeError> {
        if count == 0 {
            return Ok(Self::new());
        }
        if let Some(octets) = from.copy_octets_of::<T>(count) {
            return Ok(Self(Storage::Copied(octets, PhantomData)));
        }
        if let Some(view) = from.view_elements::<T>(count) {
            return Ok(Self(match view {
                Shared::Received(view) => Storage::Received(view, PhantomData),
                Shared::Lent(octets) => Storage::Lent(octets, PhantomData),
            }));
        }
        from.unless_elements_are_refused()?;
        from.read_elements(count).map(Self::from)
    }
}

impl<T: Element> Default for Sequence<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Element> Clone for Sequence<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Storage::Owned(elements) => Storage::Owned(Arc::clone(elements)),
            Storage::Copied(octets, _) => Storage::Copied(octets.clone(), PhantomData),
            Storage::Lent(octets, _) => Storage::Lent(octets.clone(), PhantomData),
            Storage::Received(view, _) => Storage::Received(view.clone(), PhantomData),
        })
    }
}

impl<T: Element> From<Vec<T>> for Sequence<T> {
    /// Copies nothing.
    fn from(elements: Vec<T>) -> Self {
        if elements.is_empty() { Self::new() } else { Self(Storage::Owned(Arc::new(elements))) }
    }
}

impl<T: Element> From<&[T]> for Sequence<T> {
    fn from(elements: &[T]) -> Self {
        elements.to_vec().into()
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Sequence<T> {
    fn from(elements: [T; N]) -> Self {
        elements.to_vec().into()
    }
}

impl From<Bytes> for Sequence<u8> {
    /// Copies nothing.
    fn from(octets: Bytes) -> Self {
        Self::lent(octets)
    }
}

impl From<Sequence<u8>> for Bytes {
    /// Copies nothing.
    fn from(octets: Sequence<u8>) -> Self {
        octets.into_octets()
    }
}

impl<T: Element> From<Sequence<T>> for Vec<T> {
    fn from(elements: Sequence<T>) -> Self {
        elements.into_vec()
    }
}

impl<T: Element> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T: Element> IntoIterator for Sequence<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a, T: Element> IntoIterator for &'a Sequence<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Element> AsRef<[T]> for Sequence<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Sequence<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Element + PartialEq> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Element + Eq> Eq for Sequence<T> {}

impl<T: Element + Hash> Hash for Sequence<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Element + PartialEq> PartialEq<[T]> for Sequence<T> {
    fn eq(&self, other: &[T]) -> bool {
        **self == *other
    }
}

impl<T: Element + PartialEq, const N: usize> PartialEq<[T; N]> for Sequence<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        **self == *other
    }
}

impl<T: Element + PartialEq> PartialEq<Vec<T>> for Sequence<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Segment};
    use crate::{ByteOrder, Format, Octets};

    fn read<T: Element>(octets: &[u8]) -> Sequence<T> {
        let mut message = (octets.len() as u32).to_ne_bytes().to_vec();
        message.extend_from_slice(octets);
        let body = Body::one(Segment { octets: Octets::from(message), phase: 0 }, ByteOrder::NATIVE);
        Sequence::decode(&mut Decoder::over(&body, Format::default())).expect("octets")
    }

    #[test]
    fn few_octets_are_copied_into_memory_of_their_own() {
        let octets: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let few = read::<u8>(&octets);
        assert!(matches!(few.0, Storage::Copied(..)) && !few.is_view());
        assert_eq!(few, octets);
        let shared = few.clone();
        assert_eq!(shared.clone().into_vec(), octets);
        drop(shared);
        assert_eq!(Bytes::from(few.clone()), octets);
        drop(few);
        let alone = read::<u8>(&octets);
        let at_first = alone.as_ptr();
        let own = alone.into_vec();
        assert_eq!((own.as_ptr(), &own), (at_first, &octets), "the last handle gives its memory away");
        let signed = read::<i8>(&octets);
        assert!(signed.iter().zip(&octets).all(|(one, other)| *one as u8 == *other));
        assert_eq!(signed.into_vec().len(), 1000);
    }
}
