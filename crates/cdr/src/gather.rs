//! What a message holds outside its head, and the message as a gather list of both.
//!
//! ```text
//! head     ├────────┬───┬──┤        each run knows before which offset in the head it stands
//! runs              ▲   ▲
//! message  ├────────┤run├───┤run├──┤
//! ```

use crate::copies::copied;
use alloc::vec::Vec;
use bytes::Bytes;

/// Runs outside the head, in order.
pub(crate) type Runs<'a> = Vec<Inserted<'a>>;

/// A run outside the head; never empty.
#[derive(Debug)]
pub(crate) struct Inserted<'a> {
    /// The offset in the head that it stands before.
    pub(crate) at: usize,
    pub(crate) octets: Outside<'a>,
}

/// Whose the octets of a run are.
#[derive(Debug)]
pub(crate) enum Outside<'a> {
    Borrowed(&'a [u8]),
    Shared(Bytes),
}

impl Inserted<'_> {
    /// The same without a borrow: what was borrowed is copied.
    pub(crate) fn into_static(self) -> Inserted<'static> {
        let octets = match self.octets {
            Outside::Borrowed(octets) => {
                copied(octets.len());
                Bytes::copy_from_slice(octets)
            }
            Outside::Shared(octets) => octets,
        };
        Inserted { at: self.at, octets: Outside::Shared(octets) }
    }
}

impl Outside<'_> {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(octets) => octets,
            Self::Shared(octets) => octets,
        }
    }
}

/// A message as a gather list, in order and without empty slices: what [`Encoder::slices`](crate::Encoder::slices) gives.
#[derive(Clone, Debug)]
pub struct Slices<'m> {
    head: &'m [u8],
    /// Octets of the head that were given.
    given: usize,
    /// The run that is next, where what stands before it was given.
    run: Option<&'m [u8]>,
    runs: core::slice::Iter<'m, Inserted<'m>>,
}

impl<'m> Slices<'m> {
    pub(crate) fn new(head: &'m [u8], runs: &'m [Inserted<'m>]) -> Slices<'m> {
        Slices { head, given: 0, run: None, runs: runs.iter() }
    }
}

impl<'m> Iterator for Slices<'m> {
    type Item = &'m [u8];

    #[inline]
    fn next(&mut self) -> Option<&'m [u8]> {
        if let Some(run) = self.run.take() {
            return Some(run);
        }
        let next = self.runs.next();
        let until = next.map_or(self.head.len(), |run| run.at);
        let before = &self.head[self.given..until];
        self.given = until;
        let run = next.map(|run| run.octets.as_slice());
        if before.is_empty() {
            return run;
        }
        self.run = run;
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices<'s>(head: &'s [u8], runs: &'s [Inserted<'s>]) -> Vec<&'s [u8]> {
        let mut slices = Slices::new(head, runs);
        let all = slices.by_ref().collect();
        assert_eq!((slices.next(), slices.next()), (None, None), "the end stays the end");
        all
    }

    #[test]
    fn runs_stand_where_they_were_inserted_and_no_slice_is_empty() {
        let runs = [(0, b"a".as_slice()), (2, b"bc"), (2, b"d"), (4, b"e")]
            .map(|(at, octets)| Inserted { at, octets: Outside::Borrowed(octets) });
        assert_eq!(slices(b"head", &runs), [b"a".as_slice(), b"he", b"bc", b"d", b"ad", b"e"]);
        assert_eq!(slices(b"heads", &runs[..2]), [b"a".as_slice(), b"he", b"bc", b"ads"]);
        assert_eq!(slices(b"head", &[]), [b"head"]);
        assert_eq!(slices(b"", &runs[..1]), [b"a"]);
        assert!(slices(b"", &[]).is_empty());
    }
}
