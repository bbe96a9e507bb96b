//! A place in a body: what reads sizes and lengths out of it, and nothing else.
//!
//! As `zorb_cdr`'s decoder it counts alignment in each segment from that segment's own origin, so that bodies which GIOP 1.1
//! cut into fragments are read as they were written. Unlike it, it says in which segment it is, and goes past text whose
//! code set it need not know.

use std::borrow::Cow;

use zorb_cdr::{Body, ByteOrder};

/// What is wrong with a body, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) what: &'static str,
    /// Octets of the body before it.
    pub(crate) at: usize,
}

/// Octet `at` of segment `segment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) segment: usize,
    pub(crate) at: usize,
}

#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    body: &'a Body,
    /// The octets of this segment, and its phase.
    octets: &'a [u8],
    phase: usize,
    place: Place,
    /// Octets in the segments before this one, and in those behind it.
    before: usize,
    behind: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(body: &'a Body) -> Cursor<'a> {
        let here = body.first();
        let place = Place { segment: 0, at: 0 };
        let behind = body.len() - here.octets.len();
        Cursor { body, octets: &here.octets, phase: here.phase, place, before: 0, behind }
    }

    pub(crate) fn order(&self) -> ByteOrder {
        self.body.order
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Octets that were gone past.
    pub(crate) fn position(&self) -> usize {
        self.before + self.place.at
    }

    pub(crate) fn remaining(&self) -> usize {
        self.left_here() + self.behind
    }

    fn left_here(&self) -> usize {
        self.octets.len() - self.place.at
    }

    #[cold]
    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.position() }
    }

    fn next_segment(&mut self) -> bool {
        let Some(next) = self.body.later().get(self.place.segment) else { return false };
        self.before += self.octets.len();
        self.behind -= next.octets.len();
        (self.octets, self.phase) = (&next.octets, next.phase);
        self.place = Place { segment: self.place.segment + 1, at: 0 };
        true
    }

    /// Goes past padding. `to` is 1, 2, 4 or 8.
    pub(crate) fn align(&mut self, to: usize) -> Result<(), Malformed> {
        loop {
            let at = self.place.at;
            let start = at + (at.wrapping_add(self.phase).wrapping_neg() & (to - 1));
            let end = self.octets.len();
            if start < end || (start == end && self.behind == 0) {
                self.place.at = start;
                return Ok(());
            }
            if !self.next_segment() {
                return Err(self.malformed("the body ends inside the padding before a value"));
            }
        }
    }

    /// Goes past `count` octets.
    pub(crate) fn skip(&mut self, mut count: usize) -> Result<(), Malformed> {
        if count > self.remaining() {
            return Err(self.malformed("the body ends inside a value"));
        }
        loop {
            let now = count.min(self.left_here());
            self.place.at += now;
            count -= now;
            if count == 0 || !self.next_segment() {
                return Ok(());
            }
        }
    }

    /// Goes past `count` values of `size` octets each, aligned to `align`.
    pub(crate) fn skip_run(&mut self, size: usize, align: usize, count: usize) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        self.align(align)?;
        // Of fragments each aligns by itself.
        match size.checked_mul(count) {
            Some(octets) if octets <= self.left_here() || size == 1 => self.skip(octets),
            _ if count > self.remaining() / size => Err(self.malformed("the body ends inside a sequence")),
            _ => (0..count).try_for_each(|_| {
                self.align(align)?;
                self.skip(size)
            }),
        }
    }

    /// The next `count` octets, copied only where they lie in several segments.
    pub(crate) fn octets(&mut self, count: usize) -> Result<Cow<'a, [u8]>, Malformed> {
        if count > self.remaining() {
            return Err(self.malformed("the body ends inside a value"));
        }
        if self.left_here() == 0 && count > 0 {
            self.next_segment();
        }
        let here: &'a [u8] = &self.octets[self.place.at..];
        if let Some(octets) = here.get(..count) {
            self.place.at += count;
            return Ok(Cow::Borrowed(octets));
        }
        let mut octets = Vec::with_capacity(count);
        while octets.len() < count {
            let here: &'a [u8] = &self.octets[self.place.at..];
            let now = here.len().min(count - octets.len());
            octets.extend_from_slice(&here[..now]);
            self.place.at += now;
            if octets.len() < count {
                self.next_segment();
            }
        }
        Ok(Cow::Owned(octets))
    }

    /// An unsigned number of `size` octets: 1, 2, 4 or 8.
    pub(crate) fn number(&mut self, size: usize) -> Result<u64, Malformed> {
        self.align(size)?;
        let octets = self.octets(size)?;
        let push = |number: u64, octet: &u8| number << 8 | u64::from(*octet);
        Ok(match self.order() {
            ByteOrder::Big => octets.iter().fold(0, push),
            ByteOrder::Little => octets.iter().rev().fold(0, push),
        })
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.number(4).map(|number| number as u32)
    }

    /// A length or count of things that take at least `least` octets each: no more than can follow.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.u32()? as usize;
        if count > self.remaining() / least {
            let at = self.position() - 4;
            return Err(Malformed { what: "a length reaches beyond the body's end", at });
        }
        Ok(count)
    }

    /// A `string`, or any other octets behind their number.
    pub(crate) fn skip_counted(&mut self) -> Result<(), Malformed> {
        let count = self.count(1)?;
        self.skip(count)
    }

    /// A `string`'s octets without their NUL.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, [u8]>, Malformed> {
        let count = self.count(1)?;
        let start = self.clone();
        let octets = self.octets(count)?;
        match (octets.last().copied(), octets) {
            (Some(0), Cow::Borrowed(octets)) => Ok(Cow::Borrowed(&octets[..count - 1])),
            (Some(0), Cow::Owned(mut octets)) => {
                octets.pop();
                Ok(Cow::Owned(octets))
            }
            // Not what the specification says an empty string is, and sent all the same.
            (None, octets) => Ok(octets),
            _ => Err(start.malformed("a string does not end in a NUL")),
        }
    }
}
