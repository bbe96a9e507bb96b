//! Memory that a servant offers for a bulk argument: the argument is received straight into it, and is a [`Sequence`](zorb_cdr::Sequence) of that memory.
//!
//! ```text
//! servant.memory_for(bulk) ──▶ Deposit ──▶ received into ──▶ servant.put(title, data)
//!      │ its Vec, pages, a mapped file, a frame of a ring       │ data is that memory, and can only be read
//!      └────────────── given back when the last handle is dropped ◀┘
//! ```
//!
//! Nobody else sees the memory while it is written: a [`Deposit`] owns it. From the time that the argument is whole it is only read.

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use zorb_cdr::Element;

use crate::loan::{Lendable, Loan};

/// The bulk argument that begins to come.
#[derive(Clone, Copy, Debug)]
pub struct Bulk<'b> {
    pub(crate) operation: &'b str,
    pub(crate) parameter: &'static str,
    pub(crate) elements: usize,
    pub(crate) octets: usize,
    pub(crate) alignment: usize,
    /// Nobody offers any memory, ever.
    pub(crate) is_for_orb: &'b Cell<bool>,
}

impl Bulk<'_> {
    /// The operation's name on the wire: an attribute `x` is set by `_set_x`.
    pub fn operation(&self) -> &str {
        self.operation
    }

    /// The parameter, as the IDL spells it.
    pub fn parameter(&self) -> &'static str {
        self.parameter
    }

    /// How many elements the sequence will have.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// How many octets of memory they take. What the sender says: the memory should be there already, or be bounded by what the servant expects.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// What the memory has to be aligned to, in octets.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// What a servant says that has no memory for any argument: it need not be asked again.
    #[doc(hidden)]
    pub fn leave_to_orb(&self) -> Option<Deposit> {
        self.is_for_orb.set(true);
        None
    }
}

/// What can be memory for an argument: a buffer, a mapped file, a frame.
///
/// Its two methods give the same octets each time. Where they do not, the argument is refused or copied; nothing worse comes of it.
pub trait DepositMemory: AsRef<[u8]> + AsMut<[u8]> + Send + Sync + 'static {}

impl<M: AsRef<[u8]> + AsMut<[u8]> + Send + Sync + 'static> DepositMemory for M {}

/// Memory that a bulk argument is received into. It has at least as many octets as the argument takes, aligned to what its elements are
/// ([`Bulk::alignment`]); the argument becomes the front of it.
///
/// ```
/// use zorb_orb::deposit::Deposit;
///
/// // For `sequence<double>`.
/// let samples: Deposit = Deposit::of_elements(vec![0.0f64; 1_000_000]).expect("any bits are a double");
/// // For an image whose rows a device reads by pages.
/// let image = Deposit::aligned(16 << 20, 4096);
/// // Any memory that can be borrowed as octets: a mapped file's, for one.
/// let octets = Deposit::new(vec![0u8; 100]);
/// assert_eq!((samples.len(), image.len(), octets.len()), (8_000_000, 16 << 20, 100));
/// ```
pub struct Deposit {
    memory: Held,
    /// Where in the memory it begins, and ends.
    at: usize,
    length: usize,
}

enum Held {
    Any(Box<dyn DepositMemory>),
    /// A transport's, which recognises what is sent of it again.
    Lent(Box<dyn Lendable>),
}

impl Deposit {
    /// This memory, all of it.
    pub fn new(memory: impl DepositMemory) -> Self {
        let length = memory.as_ref().len();
        Deposit { memory: Held::Any(Box::new(memory)), at: 0, length }
    }

    /// The memory of these elements; `None` where not any bits are such an element, as of booleans and enums.
    pub fn of_elements<T: Element>(mut elements: Vec<T>) -> Option<Self> {
        T::octets_mut(&mut elements)?;
        Some(Self::new(Elements(elements)))
    }

    /// Memory that was lent for what is sent by shared memory ([`Orb::loan`](crate::Orb::loan)): what is received into it by any transport is sent on from there without
    /// a copy. `None` where not any bits are such an element.
    pub fn of_loan<T: Element>(loan: Loan<T>) -> Option<Self> {
        match loan.into_lent() {
            Ok(memory) => {
                let length = (*memory).as_ref().len();
                Some(Deposit { memory: Held::Lent(memory), at: 0, length })
            }
            Err(elements) => Self::of_elements(elements),
        }
    }

    /// Zeroed memory of so many octets that begins at a multiple of `alignment`, a power of two such as the size of a page.
    ///
    /// # Panics
    /// `alignment` is no power of two.
    pub fn aligned(octets: usize, alignment: usize) -> Self {
        assert!(alignment.is_power_of_two(), "{alignment} is no alignment");
        let memory = vec![0u8; octets + alignment - 1];
        let at = memory.as_ptr().align_offset(alignment);
        Deposit { at, length: octets, memory: Held::Any(Box::new(memory)) }
    }

    /// How many octets it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn octets(&self) -> &[u8] {
        let all = match &self.memory {
            Held::Any(memory) => (**memory).as_ref(),
            Held::Lent(memory) => (**memory).as_ref(),
        };
        all.get(self.at..self.at + self.length).unwrap_or_default()
    }

    pub(crate) fn octets_mut(&mut self) -> &mut [u8] {
        let all = match &mut self.memory {
            Held::Any(memory) => (**memory).as_mut(),
            Held::Lent(memory) => (**memory).as_mut(),
        };
        all.get_mut(self.at..self.at + self.length).unwrap_or_default()
    }

    /// Nothing more is written.
    pub(crate) fn freeze(self) -> Bytes {
        match self.memory {
            Held::Lent(memory) => memory.freeze(),
            Held::Any(_) => Bytes::from_owner(Frozen(self)),
        }
    }
}

impl fmt::Debug for Deposit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deposit").field("octets", &self.length).finish_non_exhaustive()
    }
}

struct Frozen(Deposit);

impl AsRef<[u8]> for Frozen {
    fn as_ref(&self) -> &[u8] {
        self.0.octets()
    }
}

struct Elements<T>(Vec<T>);

impl<T: Element> AsRef<[u8]> for Elements<T> {
    fn as_ref(&self) -> &[u8] {
        T::octets(&self.0).unwrap_or_default()
    }
}

impl<T: Element> AsMut<[u8]> for Elements<T> {
    fn as_mut(&mut self) -> &mut [u8] {
        T::octets_mut(&mut self.0).unwrap_or_default()
    }
}

/// A ring of frames: memory for bulk that is used again and again, and bounds how much of it there is at a time.
///
/// ```
/// use zorb_orb::deposit::Frames;
///
/// let frames = Frames::new(2, 640 * 480 * 2, 4096);
/// let (first, second) = (frames.take().unwrap(), frames.take().unwrap());
/// assert!(frames.take().is_none(), "both are in use");
/// drop(first);
/// assert!(frames.take().is_some());
/// # drop(second);
/// ```
#[derive(Clone, Debug)]
pub struct Frames(Arc<Ring>);

#[derive(Debug)]
struct Ring {
    free: Mutex<Vec<Vec<u8>>>,
    octets: usize,
    alignment: usize,
}

/// One of them, which goes back when it is dropped.
struct Frame {
    memory: Vec<u8>,
    ring: Arc<Ring>,
}

impl Frames {
    /// So many frames of so many octets, each of which begins at a multiple of `alignment`.
    ///
    /// # Panics
    /// `alignment` is no power of two.
    pub fn new(count: usize, octets: usize, alignment: usize) -> Self {
        assert!(alignment.is_power_of_two(), "{alignment} is no alignment");
        let free = (0..count).map(|_| vec![0; octets + alignment - 1]).collect();
        Frames(Arc::new(Ring { free: Mutex::new(free), octets, alignment }))
    }

    /// A free one; `None`: all are in use.
    pub fn take(&self) -> Option<Deposit> {
        let memory = self.0.free.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        let at = memory.as_ptr().align_offset(self.0.alignment);
        let frame = Frame { memory, ring: self.0.clone() };
        Some(Deposit { memory: Held::Any(Box::new(frame)), at, length: self.0.octets })
    }

    /// How many are free.
    pub fn free(&self) -> usize {
        self.0.free.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        &self.memory
    }
}

impl AsMut<[u8]> for Frame {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        self.ring.free.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_goes_back() {
        let frames = Frames::new(1, 100, 4096);
        for _ in 0..3 {
            let mut frame = frames.take().unwrap();
            assert_eq!((frame.octets().as_ptr().align_offset(4096), frame.octets_mut().len()), (0, 100));
            frame.octets_mut().fill(7);
            let kept = frame.freeze();
            let part = kept.slice(10..20);
            drop(kept);
            assert!(frames.take().is_none());
            assert_eq!(part, [7; 10].as_slice());
        }
        assert_eq!(frames.free(), 1);
        assert!(Deposit::of_elements(vec![true]).is_none());
        assert!(Deposit::aligned(0, 8).is_empty());
    }
}
