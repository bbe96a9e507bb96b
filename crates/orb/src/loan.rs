//! Memory of a transport's that is written in place and sent without a copy: [`Orb::loan`](crate::Orb::loan).
//!
//! ```text
//! orb.loan::<T>(n) ──▶ Loan<T>: &mut [T]      memory that the peer can see, or any, where no transport has such
//!                        │ into
//!                      Sequence<T> ──▶ stub.show(&image) ──▶ servant: Sequence<T>
//!                        │                                     │ a view of the same memory, if the servant's side trusts
//!                      dropped                               dropped: it may be written again
//! ```

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use zorb_cdr::{Element, Sequence};

use crate::exception::SystemException;
use crate::orb::Orb;

/// Memory that a transport has made to be written in place and sent without a copy.
pub trait Lendable: AsRef<[u8]> + AsMut<[u8]> + Send + Sync {
    /// Nothing more is written: what is sent of it from here on the transport recognises by its place. It is kept as long as anybody has
    /// a handle on it.
    fn freeze(self: Box<Self>) -> Bytes;
}

/// Elements to be written in place, and then sent as a [`Sequence`], which they become without a copy.
///
/// ```
/// use zorb_orb::{Loan, Orb};
/// use zorb_cdr::Sequence;
///
/// # fn main() -> Result<(), zorb_orb::SystemException> {
/// let orb = Orb::builder().build();
/// let mut image: Loan<f32> = orb.loan(1_000_000)?;
/// image.fill(0.5);
/// let image: Sequence<f32> = image.into();
/// // camera.show(&image)?;
/// assert_eq!(image[999_999], 0.5);
/// # Ok(())
/// # }
/// ```
pub struct Loan<T: Element>(Place<T>);

enum Place<T> {
    /// `T::view` is `Some` of all of it.
    Lent(Box<dyn Lendable>),
    Own(Vec<T>),
}

impl<T: Element> Loan<T> {
    pub(crate) fn of(orb: &Orb, count: usize) -> Result<Self, SystemException> {
        let octets = count.checked_mul(size_of::<T>()).filter(|octets| isize::try_from(*octets).is_ok());
        let octets =
            octets.ok_or_else(|| SystemException::BadParam(format!("a loan of {count} elements")))?;
        let lent = match octets > 0 && is_plain::<T>() {
            true => orb.transports().iter().find_map(|transport| transport.loan(octets)),
            false => None,
        };
        let Some(lent) = lent else { return own(count).map(|elements| Self(Place::Own(elements))) };
        let no_memory = |error| SystemException::NoMemory(format!("a loan of {octets} octets: {error}"));
        let mut memory = lent.map_err(no_memory)?;
        if T::PADDED {
            // What another type left there must not be sent as this one's padding.
            (*memory).as_mut().fill(0);
        }
        match T::view((*memory).as_ref()) {
            Some(elements) if elements.len() == count => Ok(Self(Place::Lent(memory))),
            _ => own(count).map(|elements| Self(Place::Own(elements))),
        }
    }

    /// The transport's memory, or what it is otherwise.
    pub(crate) fn into_lent(self) -> Result<Box<dyn Lendable>, Vec<T>> {
        match self.0 {
            Place::Lent(memory) => Ok(memory),
            Place::Own(elements) => Err(elements),
        }
    }

    /// Whether it is a transport's memory, which is sent without a copy to whoever this transport leads to.
    pub fn is_lent(&self) -> bool {
        matches!(self.0, Place::Lent(_))
    }
}

/// Whether any bits are such an element.
fn is_plain<T: Element>() -> bool {
    let octets = vec![0; size_of::<T>() + align_of::<T>()];
    let at = octets.as_ptr().align_offset(align_of::<T>());
    octets.get(at..at + size_of::<T>()).and_then(T::view).is_some()
}

/// Elements of this process's own, all of whose bits are zero.
fn own<T: Element>(count: usize) -> Result<Vec<T>, SystemException> {
    let mut valid = true;
    let zero = T::load(&vec![0; size_of::<T>()], zorb_cdr::ByteOrder::NATIVE, &mut valid);
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(count);
    reserved.map_err(|error| SystemException::NoMemory(format!("a loan of {count} elements: {error}")))?;
    elements.resize(count, zero);
    Ok(elements)
}

impl<T: Element> Deref for Loan<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Lent(memory) => T::view((**memory).as_ref()).unwrap_or_default(),
            Place::Own(elements) => elements,
        }
    }
}

impl<T: Element> DerefMut for Loan<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Place::Lent(memory) => T::view_mut((**memory).as_mut()).unwrap_or_default(),
            Place::Own(elements) => elements,
        }
    }
}

impl<T: Element> From<Loan<T>> for Sequence<T> {
    /// Copies nothing. From here on the elements change no more.
    fn from(loan: Loan<T>) -> Self {
        match loan.0 {
            Place::Lent(memory) => Sequence::view_of(memory.freeze()).unwrap_or_default(),
            Place::Own(elements) => elements.into(),
        }
    }
}

impl<T: Element> fmt::Debug for Loan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("elements", &self.len()).field("lent", &self.is_lent()).finish()
    }
}
