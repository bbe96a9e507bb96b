//! What the protocol asks of a word: so little that a model's words (tests of every interleaving) and the memory's do
//! it alike, and the code that ships is the code that is modelled.

use std::sync::atomic::{AtomicU32, Ordering};

/// A word of 32 bits that several threads or processes change.
pub(super) trait Word {
    fn load(&self, order: Ordering) -> u32;
    fn store(&self, value: u32, order: Ordering);
    /// Sets bits, and gives what was there.
    fn set(&self, bits: u32) -> u32;
    /// Clears bits, and gives what was there.
    fn clear(&self, bits: u32) -> u32;
    /// Adds, and gives what was there.
    fn add(&self, number: u32) -> u32;
    /// Subtracts, and gives what was there.
    fn subtract(&self, number: u32) -> u32;
    /// All before it is in order with all behind it, among all such fences (`SeqCst`).
    fn fence();
}

macro_rules! word {
    ($atomic:ty, $fence:path) => {
        impl $crate::shm::word::Word for $atomic {
            #[inline]
            fn load(&self, order: Ordering) -> u32 {
                <$atomic>::load(self, order)
            }

            #[inline]
            fn store(&self, value: u32, order: Ordering) {
                <$atomic>::store(self, value, order);
            }

            #[inline]
            fn set(&self, bits: u32) -> u32 {
                self.fetch_or(bits, Ordering::AcqRel)
            }

            #[inline]
            fn clear(&self, bits: u32) -> u32 {
                self.fetch_and(!bits, Ordering::AcqRel)
            }

            #[inline]
            fn add(&self, number: u32) -> u32 {
                self.fetch_add(number, Ordering::AcqRel)
            }

            #[inline]
            fn subtract(&self, number: u32) -> u32 {
                self.fetch_sub(number, Ordering::AcqRel)
            }

            #[inline]
            fn fence() {
                $fence(Ordering::SeqCst);
            }
        }
    };
}

#[cfg(all(test, zorb_loom))]
pub(super) use word;

word!(AtomicU32, std::sync::atomic::fence);
