//! Where a decoder stands: in which segment, and in which chunk of a value; and how it comes back to where it stood before.

use super::{Decoder, Owner};
use crate::valuetype::{Progress, Seen, VALUE_TAG};
use crate::{Piece, Segment};

/// Where a decoder stands, in chunks of values or out of them.
#[derive(Clone, Copy)]
pub(crate) struct Stand<'a> {
    place: Place<'a>,
    chunk: Option<usize>,
    whole: &'a [u8],
    progress: Progress,
}

/// Where a decoder stands, to return to.
type Place<'a> = (&'a [u8], usize, usize, Owner<'a>, &'a [Segment<Piece>], usize, usize);

impl<'a> Decoder<'a> {
    pub(super) fn next_segment(&mut self) -> bool {
        match self.chunk_end() {
            None => self.next_whole_segment(),
            Some(end) => self.next_in_chunk(end),
        }
    }

    /// Where the chunk ends that is read now, if any.
    pub(crate) fn chunk_end(&self) -> Option<usize> {
        self.rare.as_ref()?.chunk
    }

    /// Shows no octet from `end` on, until [`unlimit`](Self::unlimit): reading goes on in the next chunk.
    pub(crate) fn limit(&mut self, end: usize) {
        let here = end.saturating_sub(self.done).clamp(self.at, self.octets.len());
        let rare = self.rare.get_or_insert_default();
        (rare.chunk, rare.whole) = (Some(end), self.octets);
        self.left_later += self.octets.len() - here;
        self.octets = &self.octets[..here];
    }

    /// Ends the limit.
    pub(crate) fn unlimit(&mut self) {
        if let Some(rare) = &mut self.rare
            && rare.chunk.take().is_some()
        {
            self.left_later -= rare.whole.len() - self.octets.len();
            self.octets = rare.whole;
        }
    }

    #[cold]
    fn next_in_chunk(&mut self, end: usize) -> bool {
        if self.done + self.octets.len() < end {
            self.at = self.octets.len();
            self.unlimit();
            let moved = self.next_whole_segment();
            self.limit(end);
            return moved;
        }
        let (place, whole) = (self.place(), self.rare.as_ref().map_or(self.octets, |rare| rare.whole));
        self.at = self.octets.len();
        self.unlimit();
        if self.open_chunk() {
            return true;
        }
        self.return_to(place);
        let rare = self.rare.get_or_insert_default();
        (rare.chunk, rare.whole) = (Some(end), whole);
        false
    }

    /// Goes into the chunk of a value that begins here, if one does and its octets are there; nothing is read otherwise.
    pub(crate) fn open_chunk(&mut self) -> bool {
        let place = self.place();
        if !self.values().is_closed()
            && let Ok(length @ 1..VALUE_TAG) = self.read_u32()
            && length as usize <= self.remaining()
        {
            self.limit(self.position() + length as usize);
            return true;
        }
        self.return_to(place);
        false
    }

    fn place(&self) -> Place<'a> {
        (self.octets, self.at, self.phase, self.owner, self.later, self.left_later, self.done)
    }

    fn return_to(&mut self, place: Place<'a>) {
        (self.octets, self.at, self.phase, self.owner, self.later, self.left_later, self.done) = place;
    }

    /// Where it stands, to return to by [`stand_again`](Self::stand_again).
    pub(crate) fn stand(&mut self) -> Stand<'a> {
        let place = self.place();
        let rare = self.rare.get_or_insert_default();
        Stand { place, chunk: rare.chunk, whole: rare.whole, progress: rare.values.progress() }
    }

    pub(crate) fn stand_again(&mut self, stand: Stand<'a>) {
        self.return_to(stand.place);
        let rare = self.rare.get_or_insert_default();
        (rare.chunk, rare.whole) = (stand.chunk, stand.whole);
        rare.values.resume(stand.progress);
    }

    /// Whether it stands in the segment in which it stood there.
    pub(crate) fn is_in_segment_of(&self, stand: &Stand<'a>) -> bool {
        let (.., done) = stand.place;
        self.done == done
    }

    /// Remembers a value whose tag was just read.
    pub(crate) fn remember(&mut self, at: usize, stand: Stand<'a>) {
        self.rare.get_or_insert_default().passed.insert(at, stand);
    }

    /// Goes behind the tag of a value that was remembered.
    pub(crate) fn stand_behind(&mut self, at: usize) -> bool {
        let remembered = self.rare.as_ref().and_then(|rare| rare.passed.get(&at)).copied();
        remembered.map(|stand| self.stand_again(stand)).is_some()
    }

    /// Remembers that a value that begins at `at` ends here.
    pub(crate) fn remember_end(&mut self, at: usize) {
        let stand = self.stand();
        self.rare.get_or_insert_default().ends.insert(at, stand);
    }

    /// Goes to the end of a value that was remembered.
    pub(crate) fn stand_past(&mut self, at: usize) -> bool {
        let remembered = self.rare.as_ref().and_then(|rare| rare.ends.get(&at)).copied();
        remembered.map(|stand| self.stand_again(stand)).is_some()
    }

    /// Whether values of valuetypes may have been read.
    pub(crate) fn has_values(&self) -> bool {
        self.rare.is_some()
    }

    /// What is known of the values of valuetypes read so far.
    pub(crate) fn values(&mut self) -> &mut Seen {
        &mut self.rare.get_or_insert_default().values
    }

    /// How deep the decoder stands, and may.
    pub(crate) fn depth(&self) -> (u32, u32) {
        (self.depth, self.limits.nesting)
    }

    fn next_whole_segment(&mut self) -> bool {
        let Some((next, later)) = self.later.split_first() else { return false };
        self.done += self.octets.len();
        self.octets = &next.octets;
        self.owner = match &next.octets {
            Piece::Octets(octets) => Owner::Octets(octets),
            Piece::Lent(octets) => Owner::Bytes(octets),
            Piece::Elements(octets) => Owner::Elements(octets),
        };
        self.at = 0;
        self.phase = next.phase & 7;
        self.later = later;
        self.left_later -= next.octets.len();
        true
    }
}
