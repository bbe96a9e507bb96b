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
use crate::kept::KeptMemory;
use crate::view::View;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;
use core::ops::{Deref, Range};
use core::sync::atomic::{AtomicUsize, Ordering};

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
    /// Views of it that are counted: [`KeptMemory`].
    views: AtomicUsize,
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
        Self(Some(Arc::new(Kept { octets, home: Some(home), views: AtomicUsize::new(0) })))
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

    /// The `length` octets from `at` on, which keep all of the memory. Who reads such as it does not hold panics.
    #[inline]
    pub fn octets(&self, at: usize, length: usize) -> Octets {
        debug_assert!(at + length <= self.len(), "{length} octets at {at} of {}", self.len());
        Octets { memory: self.clone(), at, length }
    }

    /// Whether it is the same memory, not only the same octets.
    #[inline]
    fn is(&self, other: &Memory) -> bool {
        match (&self.0, &other.0) {
            (Some(this), Some(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
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
        let any = octets.capacity() > 0;
        Self(any.then(|| Arc::new(Kept { octets, home: None, views: AtomicUsize::new(0) })))
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

    /// The octets, for who may not look at them: nothing is left of this then, where a slice that may panic would be made all the same.
    #[inline(always)]
    pub(crate) fn shown(&self) -> &[u8] {
        let from = self.memory.get(self.at..);
        from.and_then(|from| from.get(..self.length)).unwrap_or_default()
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

    /// Makes them what [`Memory::octets`] gives. Where they lie in that memory already it is not counted anew.
    #[inline]
    pub(crate) fn move_to(&mut self, memory: &Memory, at: usize, length: usize) {
        if self.memory.is(memory) {
            (self.at, self.length) = (at, length);
        } else {
            *self = memory.octets(at, length);
        }
    }

    /// The same octets as [`Bytes`], for who keeps them longer than a message: from [`VIEW_FROM`](crate::VIEW_FROM)
    /// octets on they keep the memory, fewer are copied.
    pub fn to_bytes(&self) -> Bytes {
        self.view(self, None).map(Bytes::from).unwrap_or_else(|| {
            copied(self.len());
            Bytes::copy_from_slice(self)
        })
    }

    /// `part`, which lies in these octets, with what keeps the memory, which `kept` counts; `None` where a copy is cheaper, or no more may be kept.
    pub(crate) fn view(&self, part: &[u8], kept: Option<&Arc<KeptMemory>>) -> Option<View> {
        if part.len() < crate::VIEW_FROM {
            return None;
        }
        let from = part.as_ptr().addr().checked_sub(self.as_ptr().addr())?;
        View::begin(self.slice(from..from + part.len()), kept)
    }

    /// Counts a view more of their memory, and the memory with the first of them; false: it may not be kept.
    pub(crate) fn begin_view(&self, kept: &KeptMemory) -> bool {
        let Some(memory) = &self.memory.0 else { return true };
        let another = |views: usize| views.checked_add(1).filter(|_| views > 0);
        if memory.views.fetch_update(Ordering::Relaxed, Ordering::Relaxed, another).is_ok() {
            return true;
        }
        if !kept.claim(memory.octets.len()) {
            return false;
        }
        // Another message that lies here may have been the first meanwhile: then the memory is counted already.
        if memory.views.fetch_add(1, Ordering::Relaxed) > 0 {
            kept.release(memory.octets.len());
        }
        true
    }

    /// One of those is gone.
    #[inline]
    pub(crate) fn end_view(&self, kept: &KeptMemory) {
        if let Some(memory) = &self.memory.0
            && memory.views.fetch_sub(1, Ordering::Relaxed) == 1
        {
            kept.release(memory.octets.len());
        }
    }

    /// Whether a view is refused, since as much is kept as may be.
    pub(crate) fn is_refused_by(&self, kept: &KeptMemory) -> bool {
        self.memory.0.as_ref().is_some_and(|memory| {
            memory.views.load(Ordering::Relaxed) == 0 && kept.refuses(memory.octets.len())
        })
    }
}

impl Deref for Octets {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory[self.at..self.at + self.length]
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
    fn octets_that_move_within_their_memory_are_counted_once() {
        let (mut memory, other) = (Memory::from((0..9).collect::<Vec<u8>>()), Memory::from(vec![7; 3]));
        let mut octets = Octets::new();
        for (at, seen) in [(0, [0, 1]), (7, [7, 8])] {
            octets.move_to(&memory, at, 2);
            assert_eq!(*octets, seen);
            assert!(memory.is_shared());
        }
        octets.move_to(&other, 1, 2);
        assert_eq!(*octets, [7, 7]);
        assert!(memory.get_mut().is_some() && other.is_shared());
        octets.move_to(&Memory::new(), 0, 0);
        assert!(octets.is_empty() && !other.is_shared());
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

    #[test]
    fn memory_is_counted_once_while_any_view_of_it_lives() {
        let kept = Arc::new(KeptMemory::new(5 * VIEW_FROM, crate::AtBound::Refuse));
        let memory = Memory::from(vec![7; 3 * VIEW_FROM]);
        let octets = memory.octets(0, 3 * VIEW_FROM);
        let first = octets.view(&octets[..VIEW_FROM], Some(&kept)).unwrap();
        let second = octets.view(&octets[VIEW_FROM..], Some(&kept)).unwrap();
        assert_eq!(kept.held(), 3 * VIEW_FROM);
        let other = Memory::from(vec![7; 3 * VIEW_FROM]).octets(0, VIEW_FROM);
        assert!(other.is_refused_by(&kept) && other.view(&other, Some(&kept)).is_none());
        assert!(!octets.is_refused_by(&kept), "it is kept already");
        drop(first);
        assert_eq!(kept.held(), 3 * VIEW_FROM, "a part of it keeps all");
        drop(second);
        assert_eq!(kept.held(), 0, "who has a handle on memory, as a connection has, keeps no value");
        let again = other.view(&other, Some(&kept)).unwrap();
        assert_eq!((kept.held(), again.as_ref().len()), (3 * VIEW_FROM, VIEW_FROM));
    }

    #[test]
    fn few_octets_and_those_that_nobody_counts_are_not_counted() {
        let kept = Arc::new(KeptMemory::new(usize::MAX, crate::AtBound::Copy));
        let octets = Octets::from(vec![7; 2 * VIEW_FROM]);
        assert!(octets.view(&octets[1..VIEW_FROM], Some(&kept)).is_none());
        let view = octets.view(&octets, None).unwrap();
        assert_eq!((kept.held(), view.as_ref().len()), (0, 2 * VIEW_FROM));
    }
}
