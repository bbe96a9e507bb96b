//! Request ids: what ties a reply to its request. CORBA 3.4 part 2, §9.4.2.1.

use core::sync::atomic::{AtomicU32, Ordering};

/// Hands out the request ids of one connection, from any thread. They wrap after 2³² (2³¹ if bidirectional): longer
/// than any request is outstanding.
#[derive(Debug)]
pub struct RequestIds {
    next: AtomicU32,
    step: u32,
}

impl RequestIds {
    /// 0, 1, 2 …
    #[must_use]
    pub const fn new() -> Self {
        Self { next: AtomicU32::new(0), step: 1 }
    }

    /// For a bidirectional connection (§9.8): even ids for the side that opened it, odd ids for the other.
    #[must_use]
    pub const fn bidirectional(opened_it: bool) -> Self {
        Self { next: AtomicU32::new(if opened_it { 0 } else { 1 }), step: 2 }
    }

    /// Whether a request with this id on a bidirectional connection was made by the side that opened it.
    #[must_use]
    pub const fn is_of_opener(id: u32) -> bool {
        id.is_multiple_of(2)
    }

    /// The next id.
    #[inline]
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "it never ends and is shared")]
    pub fn next(&self) -> u32 {
        // Ids need only differ; they order nothing.
        self.next.fetch_add(self.step, Ordering::Relaxed)
    }
}

impl Default for RequestIds {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_bidirectional_connection_never_meet() {
        let (opener, other) = (RequestIds::bidirectional(true), RequestIds::bidirectional(false));
        assert_eq!([opener.next(), other.next(), opener.next(), other.next()], [0, 1, 2, 3]);
        assert!(RequestIds::is_of_opener(opener.next()) && !RequestIds::is_of_opener(other.next()));
    }

    #[test]
    fn nor_where_the_numbers_begin_again() {
        for opened_it in [true, false] {
            let ids = RequestIds::bidirectional(opened_it);
            ids.next.store(u32::MAX - u32::from(opened_it), Ordering::Relaxed);
            assert!([ids.next(), ids.next()].iter().all(|&id| RequestIds::is_of_opener(id) == opened_it));
        }
    }
}
