//! References put in the place of others in a body, of which all else stays as it is.
//!
//! ```text
//! came in    … │ padding │ reference                      │ what follows, aligned by type
//! goes out   … │ padding │ another reference │ filler     │ the same octets
//!              ▲                                          ▲ as far behind as before, modulo 8
//! ```
//!
//! CDR aligns to 8 at most, so what follows keeps its padding if the new reference is as long as the old one modulo 8. A
//! last profile makes it so: its tag is zorb's own ([`ProfileTag::ZORB_FILLER`]) and its data are up to seven octets of
//! nothing, which every ORB has to pass over (CORBA 3.4 part 2, §7.6.2). No type behind a reference matters then, large values
//! are sent on from where they lie, and what the types do not tell may follow as well.
//!
//! In fragments of GIOP 1.1 alignment restarts at each. A reference that lay across the end of one is written into the first
//! whole, but for so much of the filler as must stand before what follows it in the last.

use zorb_cdr::{BORROW_FROM, Body, ByteOrder, Octets, Piece, Segment};
use zorb_giop::{Ior, ProfileTag};

use crate::cursor::Place;

/// A reference, and where it is to stand: from the first octet of another to the one behind it.
pub(crate) struct Replacement {
    pub(crate) start: Place,
    pub(crate) end: Place,
    pub(crate) ior: Ior,
}

/// The body with these references, which are in the order of their places.
pub(crate) fn rewritten(body: &Body, replacements: &[Replacement]) -> Body {
    let segments: Vec<Segment<Piece>> = body.segments().collect();
    let mut out = Out { order: body.order, segments: Vec::new(), pending: Vec::new(), phase: 0 };
    let mut from = Place { segment: 0, at: 0 };
    for replacement in replacements {
        out.copy(&segments, from, replacement.start);
        out.reference(&segments, replacement);
        from = replacement.end;
    }
    let last = segments.len() - 1;
    out.copy(&segments, from, Place { segment: last, at: segments[last].octets.len() });
    out.flush();
    Body::many(out.segments, body.order)
}

struct Out {
    order: ByteOrder,
    segments: Vec<Segment<Piece>>,
    /// What will be the next segment, and its phase.
    pending: Vec<u8>,
    phase: usize,
}

impl Out {
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let octets = Octets::from(std::mem::take(&mut self.pending));
            self.segments.push(Segment { octets: octets.into(), phase: self.phase & 7 });
        }
    }

    /// What stands between two places.
    fn copy(&mut self, segments: &[Segment<Piece>], from: Place, to: Place) {
        for (index, segment) in segments.iter().enumerate().take(to.segment + 1).skip(from.segment) {
            let start = if index == from.segment { from.at } else { 0 };
            if start == 0 && index > 0 && restarts(segments, index) {
                self.flush();
            }
            let end = if index == to.segment { to.at } else { segment.octets.len() };
            let phase = segment.phase.wrapping_add(start);
            if end - start < BORROW_FROM {
                self.append(&segment.octets[start..end], phase);
            } else {
                self.flush();
                self.segments.push(Segment { octets: segment.octets.slice(start..end), phase: phase & 7 });
            }
        }
    }

    fn append(&mut self, octets: &[u8], phase: usize) {
        if self.pending.is_empty() {
            self.phase = phase;
        }
        self.pending.extend_from_slice(octets);
    }

    fn reference(&mut self, segments: &[Segment<Piece>], replacement: &Replacement) {
        let Replacement { start, end, ior } = replacement;
        let first = &segments[start.segment];
        let mut octets = encoded(ior, self.order);
        let restart = (start.segment + 1..=end.segment).rev().find(|index| restarts(segments, *index));
        // How far behind its beginning, or behind the last restart, the old one ends.
        let since = |index: usize, at: usize| {
            let before = (index..end.segment).map(|index| segments[index].octets.len());
            before.sum::<usize>() + end.at - at
        };
        let last = segments.len() - 1;
        match restart {
            // Nothing follows.
            _ if *end == (Place { segment: last, at: segments[last].octets.len() }) => {
                self.append(&octets, first.phase.wrapping_add(start.at));
            }
            None => {
                let wanted = since(start.segment, start.at);
                fill(&mut octets, self.order, wanted);
                self.append(&octets, first.phase.wrapping_add(start.at));
            }
            Some(index) => {
                let tail = since(index, 0) & 7;
                if tail > 0 {
                    filler(&mut octets, self.order, tail);
                }
                let (head, tail) = octets.split_at(octets.len() - tail);
                self.append(head, first.phase.wrapping_add(start.at));
                self.flush();
                self.append(tail, segments[index].phase);
            }
        }
    }
}

/// Whether alignment is counted anew from the beginning of this segment, which is not the first.
fn restarts(segments: &[Segment<Piece>], index: usize) -> bool {
    let before = &segments[index - 1];
    (before.phase.wrapping_add(before.octets.len()) ^ segments[index].phase) & 7 != 0
}

fn put(octets: &mut Vec<u8>, order: ByteOrder, number: usize) {
    octets.resize(octets.len().next_multiple_of(4), 0);
    // Lengths of what lies in memory, of a reference that was decoded from no more than 64 MiB.
    let number = number as u32;
    octets.extend(match order {
        ByteOrder::Big => number.to_be_bytes(),
        ByteOrder::Little => number.to_le_bytes(),
    });
}

/// A reference that begins at a multiple of 4.
fn encoded(ior: &Ior, order: ByteOrder) -> Vec<u8> {
    let mut octets = Vec::with_capacity(512);
    put(&mut octets, order, ior.type_id.len() + 1);
    octets.extend(ior.type_id.as_bytes());
    octets.push(0);
    put(&mut octets, order, ior.profiles.len());
    for profile in &ior.profiles {
        put(&mut octets, order, profile.tag.0 as usize);
        put(&mut octets, order, profile.data.len());
        octets.extend_from_slice(&profile.data);
    }
    octets
}

/// Makes a reference as long as `wanted` modulo 8.
fn fill(octets: &mut Vec<u8>, order: ByteOrder, wanted: usize) {
    if (octets.len() ^ wanted) & 7 != 0 {
        let head = octets.len().next_multiple_of(4) + 8;
        filler(octets, order, wanted.wrapping_sub(head) & 7);
    }
}

/// Adds a profile of so many octets of nothing.
fn filler(octets: &mut Vec<u8>, order: ByteOrder, length: usize) {
    // The number of profiles stands behind the type id.
    let number = |at: usize| {
        let octets = octets[at..].first_chunk().copied().unwrap_or_default();
        match order {
            ByteOrder::Big => u32::from_be_bytes(octets),
            ByteOrder::Little => u32::from_le_bytes(octets),
        }
    };
    let at = (4 + number(0) as usize).next_multiple_of(4);
    let more = number(at) + 1;
    octets[at..at + 4].copy_from_slice(&match order {
        ByteOrder::Big => more.to_be_bytes(),
        ByteOrder::Little => more.to_le_bytes(),
    });
    put(octets, order, ProfileTag::ZORB_FILLER.0 as usize);
    put(octets, order, length);
    octets.resize(octets.len() + length, 0);
}
