//! What a message holds outside its head, and the message as a gather list of both.
//!
//! ```text
//! head     ├────────┬───┬──┤        each run knows before which offset in the head it stands
//! runs              ▲   ▲
//! message  ├────────┤run├───┤run├──┤
//! ```

use crate::copies::copied;
use alloc::boxed::Box;
use alloc::vec::Vec;
use bytes::Bytes;
use core::iter::Chain;
use core::{option, slice};

/// A borrowed run outside the head, where that is the only run: listed in no memory, and nothing to free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lone<'a> {
    /// As of [`Inserted`].
    pub(crate) at: usize,
    /// Empty: there is none.
    pub(crate) octets: &'a [u8],
}

/// Runs outside the head, in order, where they are no [`Lone`] one: one that is shared, or several. The first is in the memory that this is in.
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    first: Inserted<'a>,
    others: Vec<Inserted<'a>>,
}

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

impl<'a> Lone<'a> {
    pub(crate) const NONE: Self = Self { at: 0, octets: &[] };

    /// Leaves none: it is to be one of others.
    pub(crate) fn take(&mut self) -> Option<Inserted<'a>> {
        let Self { at, octets } = core::mem::replace(self, Self::NONE);
        (!octets.is_empty()).then_some(Inserted { at, octets: Outside::Borrowed(octets) })
    }

    /// As of [`Runs`].
    pub(crate) fn in_head(&self, at: usize) -> Option<usize> {
        in_head(at, [(self.at, self.octets)])
    }
}

/// Where in the head the octet lies that is at this offset of the message; `None`: it lies in a run.
fn in_head<'r>(mut at: usize, runs: impl IntoIterator<Item = (usize, &'r [u8])>) -> Option<usize> {
    for (before, octets) in runs {
        if at < before {
            break;
        }
        at = at.checked_sub(octets.len()).filter(|at| *at >= before)?;
    }
    Some(at)
}

impl<'a> Runs<'a> {
    /// Adds a run, behind those that there are.
    pub(crate) fn add(runs: &mut Option<Box<Runs<'a>>>, run: Inserted<'a>) {
        match runs {
            None => *runs = Some(Box::new(Runs { first: run, others: Vec::new() })),
            Some(runs) => runs.others.push(run),
        }
    }

    /// Leaves the first `count`.
    pub(crate) fn truncate(runs: &mut Option<Box<Runs<'a>>>, count: usize) {
        match count.checked_sub(1) {
            None => *runs = None,
            Some(others) => {
                if let Some(runs) = runs {
                    runs.others.truncate(others);
                }
            }
        }
    }

    /// The run, if there is no other.
    pub(crate) fn only(&self) -> Option<&Inserted<'a>> {
        self.others.is_empty().then_some(&self.first)
    }

    pub(crate) fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Where in the head the octet lies that is at this offset of the message; `None`: it lies in a run.
    pub(crate) fn in_head(&self, at: usize) -> Option<usize> {
        in_head(at, self.iter().map(|run| (run.at, run.octets.as_slice())))
    }

    fn iter(&self) -> Iter<'_> {
        Some(&self.first).into_iter().chain(&self.others)
    }

    /// The same without a borrow: what was borrowed is copied.
    pub(crate) fn into_static(self) -> Runs<'static> {
        let others = self.others.into_iter().map(Inserted::into_static).collect();
        Runs { first: self.first.into_static(), others }
    }
}

type Iter<'m> = Chain<option::IntoIter<&'m Inserted<'m>>, slice::Iter<'m, Inserted<'m>>>;

impl Inserted<'_> {
    fn into_static(self) -> Inserted<'static> {
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
    lone: Option<Lone<'m>>,
    /// The run that is next, where what stands before it was given.
    run: Option<&'m [u8]>,
    runs: Option<Iter<'m>>,
}

impl<'m> Slices<'m> {
    pub(crate) fn new(head: &'m [u8], lone: Lone<'m>, runs: Option<&'m Runs<'m>>) -> Slices<'m> {
        let lone = (!lone.octets.is_empty()).then_some(lone);
        Slices { head, given: 0, lone, run: None, runs: runs.map(Runs::iter) }
    }
}

impl<'m> Iterator for Slices<'m> {
    type Item = &'m [u8];

    #[inline]
    fn next(&mut self) -> Option<&'m [u8]> {
        if let Some(run) = self.run.take() {
            return Some(run);
        }
        let next = match self.lone.take() {
            Some(Lone { at, octets }) => Some((at, octets)),
            None => self.runs.as_mut().and_then(Iterator::next).map(|run| (run.at, run.octets.as_slice())),
        };
        let until = next.map_or(self.head.len(), |(at, _)| at);
        let before = &self.head[self.given..until];
        self.given = until;
        let run = next.map(|(_, octets)| octets);
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

    fn slices<'s>(head: &'s [u8], runs: Option<&'s Runs<'s>>) -> Vec<&'s [u8]> {
        let mut slices = Slices::new(head, Lone::NONE, runs);
        let all = slices.by_ref().collect();
        assert_eq!((slices.next(), slices.next()), (None, None), "the end stays the end");
        all
    }

    #[test]
    fn runs_stand_where_they_were_inserted_and_no_slice_is_empty() {
        let mut runs = None;
        for (at, octets) in [(0, b"a".as_slice()), (2, b"bc"), (2, b"d"), (4, b"e")] {
            Runs::add(&mut runs, Inserted { at, octets: Outside::Borrowed(octets) });
        }
        assert_eq!(slices(b"head", runs.as_deref()), [b"a".as_slice(), b"he", b"bc", b"d", b"ad", b"e"]);
        assert_eq!(runs.as_ref().map(|runs| runs.count()), Some(4));
        Runs::truncate(&mut runs, 2);
        assert_eq!(slices(b"heads", runs.as_deref()), [b"a".as_slice(), b"he", b"bc", b"ads"]);
        assert!(runs.as_deref().is_some_and(|runs| runs.only().is_none()));
        Runs::truncate(&mut runs, 1);
        assert_eq!(
            runs.as_deref().and_then(Runs::only).map(|run| run.octets.as_slice()),
            Some(b"a".as_slice())
        );
        assert_eq!(slices(b"", runs.as_deref()), [b"a"]);
        Runs::truncate(&mut runs, 0);
        assert!(runs.is_none());
        assert_eq!(slices(b"head", None), [b"head"]);
        assert!(slices(b"", None).is_empty());
    }
}
