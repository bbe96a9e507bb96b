//! Which parts of a segment are words for atomic access. All the rest is octets to copy.
//!
//! Rust's rules do not know accesses of different sizes to the same octets at the same time, not even atomic
//! ones. So each octet of a segment has one size for good, given before it is mapped, and every access is
//! checked against it.

use std::ops::Range;

use crate::{Error, Step};

/// Words of one size, one beside the other.
#[derive(Clone, Debug)]
struct Part {
    range: Range<usize>,
    size: usize,
}

/// The parts that are words.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(Vec<Part>);

impl Words {
    pub(super) fn add(&mut self, range: Range<usize>, size: usize) {
        self.0.push(Part { range, size });
    }

    /// Whether they are words within so many octets, aligned, none in two parts.
    pub(super) fn check(&self, octets: usize) -> Result<(), Error> {
        for (index, Part { range, size }) in self.0.iter().enumerate() {
            if range.start > range.end
                || !range.start.is_multiple_of(*size)
                || !range.end.is_multiple_of(*size)
            {
                let found = format!("offsets {} to {}", range.start, range.end);
                return Err(Error::unlike(Step::Map, format!("words of {size} octets, aligned"), found));
            }
            if range.end > octets {
                return Err(Error::outside(Step::Map, range.len(), range.start, octets));
            }
            if self.0[..index].iter().any(|other| overlap(&other.range, range)) {
                let found = format!("offset {} in two", range.start);
                return Err(Error::unlike(Step::Map, "words in one part each", found));
            }
        }
        Ok(())
    }

    /// Whether none of these octets is part of a word.
    #[inline]
    pub(super) fn are_octets(&self, range: &Range<usize>) -> bool {
        !self.0.iter().any(|part| overlap(&part.range, range))
    }

    /// Whether there is a word of that size at that offset.
    #[inline]
    pub(super) fn is_word(&self, at: usize, size: usize) -> bool {
        let is_in = |part: &Part| part.size == size && part.range.contains(&at);
        at.is_multiple_of(size) && self.0.iter().any(is_in)
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[(Range<usize>, usize)]) -> Words {
        let mut words = Words::default();
        parts.iter().for_each(|(range, size)| words.add(range.clone(), *size));
        words
    }

    #[test]
    fn each_octet_has_one_size() {
        let words = words(&[(0..8, 4), (16..32, 8)]);
        words.check(32).expect("they are apart");
        assert!(words.is_word(4, 4) && !words.is_word(4, 8) && !words.is_word(6, 4) && !words.is_word(8, 4));
        assert!(words.is_word(24, 8) && !words.is_word(32, 8) && !words.is_word(16, 4));
        assert!(words.are_octets(&(8..16)) && words.are_octets(&(32..100)) && words.are_octets(&(4..4)));
        assert!(!words.are_octets(&(7..9)) && !words.are_octets(&(0..100)) && !words.are_octets(&(15..17)));
    }

    #[test]
    fn what_is_no_part_is_refused() {
        assert!(words(&[(0..32, 4)]).check(31).is_err_and(|error| error.is_out_of_bounds()));
        #[allow(clippy::reversed_empty_ranges)]
        let wrong = [(2..8, 4), (4..12, 8), (0..6, 4), (8..4, 4)];
        for (range, size) in wrong {
            let refused = words(&[(range.clone(), size)]).check(64);
            assert!(refused.is_err_and(|error| error.is_of_another_kind()), "{range:?}");
        }
        let twice = words(&[(0..16, 4), (8..16, 8)]).check(64);
        assert!(twice.is_err_and(|error| error.is_of_another_kind()));
        words(&[(0..0, 4), (0..8, 8)]).check(64).expect("nothing overlaps nothing");
    }
}
