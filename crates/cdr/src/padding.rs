//! [`Padding`]: the octets of a struct that are no member's, and who looks at them.
//!
//! This process writes nothing but zeros there. A peer may write what it likes, which is of no harm where it lies: it is no part of any value. It must not be
//! sent on to another. Who looks is who sends, and only where such elements have ever been received as they are: most
//! that are received are never sent on, and most that are sent never came from anywhere.
//!
//! ```text
//! received as they are ──▶ note_received ─┐
//!                                         ▼
//! to be sent as they are ──▶ may_leave: have any come? ── no ──▶ they leave
//!                                         └ yes: a look ── clean ──▶ they leave; else member by member
//! ```

use crate::Element;
use bytemuck::{Pod, Zeroable};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicBool, Ordering};

/// Elements with padding have come from elsewhere and were not looked at. Of the whole process, since they may have got anywhere in it. Who sends what
/// came has it from who noted it, by whatever carried the elements from the one to the other: no order is needed here.
static RECEIVED: AtomicBool = AtomicBool::new(false);

/// Says that elements of this type have come, with whatever there is in their padding.
#[inline]
pub(crate) fn note_received<T: Element>() {
    if T::PADDED && !RECEIVED.load(Ordering::Relaxed) {
        RECEIVED.store(true, Ordering::Relaxed);
    }
}

/// The same of elements that somebody has put into memory of their own, if there is anything in their padding.
pub(crate) fn note_unless_clean<T: Element>(elements: &[T]) {
    if T::PADDED && !RECEIVED.load(Ordering::Relaxed) && !T::are_clean(elements) {
        RECEIVED.store(true, Ordering::Relaxed);
    }
}

/// Whether these elements may be sent as they lie in memory: no peer has left anything in them.
#[inline]
pub(crate) fn may_leave<T: Element>(elements: &[T]) -> bool {
    !T::PADDED || !RECEIVED.load(Ordering::Relaxed) || T::are_clean(elements)
}

/// The padding between members of a struct, written out: what was left in memory by this process is never in it, and what a peer left is
/// never sent on. Compares equal, prints as nothing.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
pub struct Padding<const N: usize>([u8; N]);

impl<const N: usize> Padding<N> {
    /// The only padding that is made here.
    pub const ZERO: Self = Self([0; N]);

    /// Whether it is zero, which only what was received can fail to be.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.0.iter().fold(0, |any, octet| any | octet) == 0
    }
}

impl<const N: usize> Default for Padding<N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const N: usize> PartialEq for Padding<N> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<const N: usize> Eq for Padding<N> {}

impl<const N: usize> Hash for Padding<N> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<const N: usize> fmt::Debug for Padding<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("padding")
    }
}
