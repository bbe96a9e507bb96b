//! A table that finds a value by index in constant time, however many it holds, while others change it.
//!
//! Slots live in chunks that double in size and never move, so that a reader needs no lock on the table: it locks
//! the one slot it looks at. Threads that look at different slots touch no common memory. A slot that is emptied
//! is used again under the next generation; who comes with an old generation finds nothing.
//!
//! A slot takes 32 octets; chunks are allocated when first needed.

use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

/// Slots of the first chunk: few adapters hold fewer objects than it costs nothing to have room for.
const FIRST: u32 = 32;
/// So many doublings that every slot's index is below 2³¹, where ids without a slot begin.
const CHUNKS: usize = 26;

/// The table.
pub(crate) struct Slots<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<Free>,
}

struct Slot<T>(RwLock<Entry<T>>);

struct Entry<T> {
    generation: u32,
    value: Option<Arc<T>>,
}

#[derive(Default)]
struct Free {
    /// Slots that were emptied, with the generation that is next.
    emptied: Vec<(u32, u32)>,
    /// Slots from here on were never used.
    next: u32,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Self {
        Slots { chunks: [const { OnceLock::new() }; CHUNKS], free: Mutex::default() }
    }

    /// Where slot `index` lies.
    #[inline]
    fn place(index: u32) -> (usize, usize) {
        let number = u64::from(index) + u64::from(FIRST);
        let chunk = number.ilog2() - FIRST.ilog2();
        (chunk as usize, (number - (u64::from(FIRST) << chunk)) as usize)
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, offset) = Self::place(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    /// Looks at the value of a slot, if that generation has it. `look` must be short: a writer may wait for it.
    #[inline(always)]
    pub(crate) fn with<R>(&self, index: u32, generation: u32, look: impl FnOnce(&Arc<T>) -> R) -> Option<R> {
        let entry = self.slot(index)?.0.read();
        if entry.generation != generation {
            return None;
        }
        entry.value.as_ref().map(look)
    }

    /// The value of a slot, if that generation has it.
    pub(crate) fn get(&self, index: u32, generation: u32) -> Option<Arc<T>> {
        self.with(index, generation, Arc::clone)
    }

    /// Puts in the value that `make` makes of its index and generation. `None` when 2³¹ slots are taken.
    pub(crate) fn insert(&self, make: impl FnOnce(u32, u32) -> Arc<T>) -> Option<Arc<T>> {
        let (index, generation) = self.reserve()?;
        let value = make(index, generation);
        let mut entry = self.slot(index)?.0.write();
        *entry = Entry { generation, value: Some(value.clone()) };
        Some(value)
    }

    fn reserve(&self) -> Option<(u32, u32)> {
        let mut free = self.free.lock();
        if let Some(reserved) = free.emptied.pop() {
            return Some(reserved);
        }
        let index = free.next;
        let (chunk, offset) = Self::place(index);
        let holder = self.chunks.get(chunk)?;
        if offset == 0 {
            let empty = || Slot(RwLock::new(Entry { generation: 0, value: None }));
            let chunk: Box<[Slot<T>]> = (0..(FIRST as usize) << chunk).map(|_| empty()).collect();
            // Only who holds `free` sets one, and each once.
            let _ = holder.set(chunk);
        }
        free.next += 1;
        Some((index, 0))
    }

    /// Empties a slot, if that generation has it.
    pub(crate) fn remove(&self, index: u32, generation: u32) -> Option<Arc<T>> {
        let value = {
            let mut entry = self.slot(index)?.0.write();
            if entry.generation != generation {
                return None;
            }
            let value = entry.value.take()?;
            entry.generation = generation.wrapping_add(1);
            value
        };
        // After the last generation a slot stays empty: an id must never come back.
        if generation != u32::MAX {
            let mut free = self.free.lock();
            free.emptied.push((index, generation + 1));
        }
        Some(value)
    }

    /// What `look` makes of each value, as they are met. Those put in or taken out meanwhile may be among them or not.
    pub(crate) fn each<R>(&self, mut look: impl FnMut(&T) -> R) -> Vec<R> {
        let slots = self.chunks.iter().map_while(OnceLock::get).flat_map(|chunk| chunk.iter());
        slots
            .filter_map(|slot| {
                let entry = slot.0.read();
                entry.value.as_deref().map(&mut look)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(slots: &Slots<u32>, value: u32) -> (u32, u32) {
        let mut at = (0, 0);
        slots.insert(|index, generation| {
            at = (index, generation);
            Arc::new(value)
        });
        at
    }

    #[test]
    fn indices_fill_chunk_after_chunk_without_a_gap() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(Slots::<u32>::place(index), expected, "{index}");
            expected.1 += 1;
            if expected.1 == 32 << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(Slots::<u32>::place(u32::MAX).0, CHUNKS + 1);
    }

    #[test]
    fn the_last_chunk_ends_below_the_ids_without_a_slot() {
        let total: u64 = (0..CHUNKS).map(|chunk| u64::from(FIRST) << chunk).sum();
        assert!(total <= 1 << 31, "{total}");
    }

    #[test]
    fn a_value_is_found_under_its_generation_only() {
        let slots = Slots::new();
        let ids: Vec<_> = (0..1000).map(|value| insert(&slots, value)).collect();
        for (value, &(index, generation)) in (0..).zip(&ids) {
            assert_eq!(slots.get(index, generation).as_deref(), Some(&value));
            assert_eq!(slots.get(index, generation + 1), None);
        }
        let (index, generation) = ids[500];
        assert_eq!(slots.remove(index, generation).as_deref(), Some(&500));
        assert_eq!(slots.remove(index, generation), None);
        assert_eq!(slots.get(index, generation), None);
        assert_eq!(insert(&slots, 7), (index, generation + 1));
        assert_eq!(slots.get(index, generation), None);
        assert_eq!(slots.get(index, generation + 1).as_deref(), Some(&7));
        assert_eq!(slots.each(|_| ()).len(), 1000);
        assert_eq!(slots.get(1 << 31, 0), None);
        assert_eq!(slots.get(u32::MAX, 0), None);
    }

    #[test]
    fn threads_that_insert_and_remove_never_see_a_value_that_is_not_theirs() {
        let slots = Slots::new();
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let slots = &slots;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let value = thread << 16 | round;
                        let (index, generation) = insert(slots, value);
                        assert_eq!(slots.get(index, generation).as_deref(), Some(&value));
                        assert_eq!(slots.remove(index, generation).as_deref(), Some(&value));
                        assert_eq!(slots.get(index, generation), None);
                    }
                });
            }
        });
        assert!(slots.each(|_| ()).is_empty());
    }
}
