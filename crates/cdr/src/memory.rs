//! [`Memory`], which messages are received into, and [`Octets`], the ranges of it that are handed out.
//!
//! ```text
//! Memory ─────▶ │ message: head │ key │ operation │ body │ next message │ room │
//!               ▲                 └── Octets ──┘  └ Octets ┘
//!               └─ one count: while it is the only handle it may be written, after that only read
//! ```
//!
//! [`Bytes`] could do the same. But every message costs a few handles, and what `Bytes` can do besides (memory of any
//! kind, from anywhere) makes each of them several times as expensive.

use crate::copies::copied;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;
use core::ops::{Deref, Range};

/// Counted memory: written by who has the only handle, else read.
#[derive(Clone, Default)]
pub struct Memory(Option<Arc<Kept>>);

/// Where memory goes when its last handle is gone.
pub trait Home: Send + Sync {
    /// It is of no more use. Called by whoever drops the last handle, in the middle of what they do: must be short.
    fn give_back(&self, octets: Vec<u8>);
}

struct Kept {
    octets: Vec<u8>,
    /// None: it is freed.
    home: Option<Arc<dyn Home>>,
}

impl Kept {
    #[cold]
    #[inline(never)]
    fn go_home(&mut self) {
        if let Some(home) = &self.home {
            home.give_back(core::mem::take(&mut self.octets));
        }
    }
}

impl Drop for Kept {
    #[inline]
    fn drop(&mut self) {
        if self.home.is_some() {
            self.go_home();
        }
    }
}

impl Memory {
    /// No memory. Allocates nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Memory that goes back to `home` when nobody has a handle on it any more.
    pub fn of_home(octets: Vec<u8>, home: Arc<dyn Home>) -> Self {
        Self(Some(Arc::new(Kept { octets, home: Some(home) })))
    }

    /// Whether there is another handle, or a range in someone's hands.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.0.as_ref().is_some_and(|memory| Arc::strong_count(memory) > 1)
    }

    /// The memory to write to, if nobody else can see it.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.0 {
            Some(memory) => Arc::get_mut(memory).map(|kept| &mut kept.octets[..]),
            None => Some(&mut []),
        }
    }

    /// The `length` octets from `at` on, which keep all of the memory. Such as it does not hold are none.
    #[inline]
    pub fn octets(&self, at: usize, length: usize) -> Octets {
        debug_assert!(at + length <= self.len(), "{length} octets at {at} of {}", self.len());
        Octets { memory: self.clone(), at, length }
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], |kept| &kept.octets)
    }
}

impl From<Vec<u8>> for Memory {
    fn from(octets: Vec<u8>) -> Self {
        Self((octets.capacity() > 0).then(|| Arc::new(Kept { octets, home: None })))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("octets", &self.len()).finish_non_exhaustive()
    }
}

/// A range of a [`Memory`], which it keeps from being written again. Its clone is a count.
#[derive(Clone, Default)]
pub struct Octets {
    memory: Memory,
    at: usize,
    length: usize,
}

impl Octets {
    /// No octets. Allocates nothing.
    pub const fn new() -> Self {
        Self { memory: Memory::new(), at: 0, length: 0 }
    }

    /// How many, which is known without a look at them.
    #[inline]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A part of them, which keeps the same memory.
    ///
    /// # Panics
    /// If they do not hold it.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> Octets {
        assert!(range.end <= self.length, "{range:?} of {} octets", self.length);
        self.memory.octets(self.at + range.start, range.len())
    }

    /// The same octets as [`Bytes`], for who keeps them longer than a message: from [`VIEW_FROM`](crate::VIEW_FROM)
    /// octets on they keep the memory, fewer are copied.
    pub fn to_bytes(&self) -> Bytes {
        self.view(self).unwrap_or_else(|| {
            copied(self.len());
            Bytes::copy_from_slice(self)
        })
    }

    /// `part`, which lies in these octets, as [`Bytes`] that keep the memory; `None` where a copy is cheaper.
    pub(crate) fn view(&self, part: &[u8]) -> Option<Bytes> {
        if part.len() < crate::VIEW_FROM {
            return None;
        }
        let from = part.as_ptr().addr().checked_sub(self.as_ptr().addr())?;
        Some(Bytes::from_owner(self.slice(from..from + part.len())))
    }
}

impl Deref for Octets {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let from = self.memory.get(self.at..);
        from.and_then(|from| from.get(..self.length)).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Octets {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Octets {
    /// Copies nothing.
    fn from(octets: Vec<u8>) -> Self {
        let length = octets.len();
        Self { memory: octets.into(), at: 0, length }
    }
}

impl From<&[u8]> for Octets {
    fn from(octets: &[u8]) -> Self {
        copied(octets.len());
        octets.to_vec().into()
    }
}

impl PartialEq for Octets {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Octets {}

impl fmt::Debug for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VIEW_FROM;
    use alloc::vec;

    #[test]
    fn memory_is_written_only_while_nobody_else_sees_it() {
        let mut memory = Memory::from(vec![1; 100]);
        memory.get_mut().unwrap()[10] = 2;
        let octets = memory.octets(10, 20);
        let part = octets.slice(0..1);
        drop(octets);
        assert!(memory.is_shared() && memory.get_mut().is_none());
        assert_eq!(*part, [2]);
        drop(part);
        assert!(!memory.is_shared() && memory.get_mut().is_some());
    }

    #[test]
    fn memory_goes_home_with_its_last_handle() {
        #[derive(Default)]
        struct Counts(core::sync::atomic::AtomicUsize);
        impl Home for Counts {
            fn give_back(&self, octets: Vec<u8>) {
                self.0.fetch_add(octets.len(), core::sync::atomic::Ordering::Relaxed);
            }
        }
        let home = Arc::new(Counts::default());
        let back = || home.0.load(core::sync::atomic::Ordering::Relaxed);
        let memory = Memory::of_home(vec![1; 100], home.clone());
        let octets = memory.octets(10, 20);
        drop(memory);
        assert_eq!(back(), 0, "a range of it is in use");
        drop(octets);
        assert_eq!(back(), 100);
    }

    #[test]
    fn few_octets_do_not_keep_a_large_memory() {
        let mut memory = Memory::from(vec![7; 2 * VIEW_FROM]);
        let few = memory.octets(1, VIEW_FROM - 1).to_bytes();
        assert_eq!(few, [7; VIEW_FROM - 1].as_slice());
        assert!(!memory.is_shared());
        let many = memory.octets(1, VIEW_FROM).to_bytes();
        assert_eq!(many.as_ptr(), memory[1..].as_ptr());
        assert!(memory.get_mut().is_none());
        drop(many);
        assert!(memory.get_mut().is_some());
    }

    #[test]
    fn no_octets_need_no_memory() {
        assert_eq!((Octets::new().len(), Octets::from(vec![]).to_bytes().len()), (0, 0));
        assert_eq!(Memory::new().get_mut(), Some(&mut [][..]));
    }
}
