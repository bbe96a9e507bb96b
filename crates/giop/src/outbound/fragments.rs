//! A finished message cut into fragments. CORBA 3.4 part 2, §9.4.9.
//!
//! ```text
//! 1.2   the message, 8·n octets │ header, id, 8·n octets │ header, id, the rest     cut here, alignment runs on
//! 1.1   the message             │ header, …              │ header, …               cut where the encoder left gaps
//! ```
//!
//! GIOP 1.1 restarts alignment with each fragment, so its cuts must be known while values are written: call
//! [`Encoder::fragment_every`] after the head. Nothing of the message is copied, only the heads of the fragments are new.

use alloc::vec::Vec;

use zorb_cdr::{Encoder, Version};

use crate::MessageType;
use crate::header::{HEADER_SIZE, Header};

/// Header and request id.
const HEADER_AND_ID: usize = HEADER_SIZE + 4;

/// Fewest octets in a fragment: room for its head and for the head of a small message, so that no sender can be
/// configured into sending headers only.
const SMALLEST: usize = 64;

/// Cuts a [finished](super::finish) message into pieces of at most `fragment_size` octets each, headers included (in
/// 1.1: where the encoder left gaps). A message that is small enough, or of a kind that cannot be fragmented, is one
/// piece. Sizes below 64 count as 64; 1.2 rounds down to a multiple of 8.
#[must_use]
pub fn fragments<'m>(message: &'m Encoder<'_>, fragment_size: usize) -> Fragments<'m> {
    let slices: Vec<&[u8]> = message.slices().collect();
    let first = slices.first().and_then(|slice| slice.first_chunk());
    let header = first.and_then(|octets| Header::parse(octets).ok());
    let cuts = match header {
        Some(header) if is_fragmentable(&header) && header.version >= Version::V1_2 => {
            Cuts::Every(fragment_size.max(SMALLEST) / 8 * 8)
        }
        Some(header) if is_fragmentable(&header) => Cuts::At(message.breaks()),
        _ => Cuts::None,
    };
    // Where 1.2 keeps the request id.
    let id =
        slices.first().and_then(|slice| slice.get(HEADER_SIZE..)).and_then(|octets| octets.first_chunk());
    Fragments { slices, header, id: id.copied().unwrap_or_default(), cuts, at: 0, length: message.len() }
}

fn is_fragmentable(header: &Header) -> bool {
    let since = match header.message {
        MessageType::REQUEST | MessageType::REPLY => Version::V1_1,
        MessageType::LOCATE_REQUEST | MessageType::LOCATE_REPLY => Version::V1_2,
        _ => return false,
    };
    header.version >= since
}

/// The pieces of a message, in the order to be sent: what [`fragments`] gives.
#[derive(Clone, Debug)]
pub struct Fragments<'m> {
    slices: Vec<&'m [u8]>,
    header: Option<Header>,
    id: [u8; 4],
    cuts: Cuts<'m>,
    /// Octets of the message (gaps included) in pieces handed out.
    at: usize,
    length: usize,
}

#[derive(Clone, Copy, Debug)]
enum Cuts<'m> {
    None,
    /// At most this many octets in a message, headers included.
    Every(usize),
    /// At these gaps.
    At(&'m [usize]),
}

/// One message on the wire: the whole, or the first or a later fragment.
#[derive(Clone, Debug)]
pub struct Piece<'m> {
    head: [u8; HEADER_AND_ID],
    head_length: usize,
    parts: Vec<&'m [u8]>,
}

impl Piece<'_> {
    /// The piece as a gather list: its head, then parts of the message.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        core::iter::once(&self.head[..self.head_length]).chain(self.parts.iter().copied())
    }

    /// Octets of the piece.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.slices().map(<[u8]>::len).sum()
    }
}

impl<'m> Iterator for Fragments<'m> {
    type Item = Piece<'m>;

    fn next(&mut self) -> Option<Piece<'m>> {
        let header = self.header?;
        if self.at >= self.length {
            return None;
        }
        let is_first = self.at == 0;
        // What stands before this piece's share of the message: the message's own header, a gap, or nothing.
        let (skipped, head_length) = match self.cuts {
            _ if is_first => (HEADER_SIZE, HEADER_SIZE),
            Cuts::At(_) => (HEADER_SIZE, HEADER_SIZE),
            _ => (0, HEADER_AND_ID),
        };
        let from = self.at + skipped;
        let end = match self.cuts {
            Cuts::None => self.length,
            Cuts::Every(size) => self.length.min(from + (size - head_length)),
            Cuts::At(gaps) => {
                let next = gaps.partition_point(|&gap| gap <= self.at);
                gaps.get(next).copied().unwrap_or(self.length)
            }
        };
        self.at = end;
        let message = if is_first { header.message } else { MessageType::FRAGMENT };
        let size = u32::try_from(head_length - HEADER_SIZE + (end - from)).ok()?;
        let header = Header { message, size, more_fragments: end < self.length, ..header };
        let mut head = [0; HEADER_AND_ID];
        head[..HEADER_SIZE].copy_from_slice(&header.to_octets());
        head[HEADER_SIZE..].copy_from_slice(&self.id);
        Some(Piece { head, head_length, parts: self.range(from, end) })
    }
}

impl<'m> Fragments<'m> {
    /// The octets `from..end` of the message as slices.
    fn range(&self, from: usize, end: usize) -> Vec<&'m [u8]> {
        let mut start = 0;
        let mut parts = Vec::new();
        for slice in &self.slices {
            let (low, high) = (from.max(start), end.min(start + slice.len()));
            if low < high {
                parts.push(&slice[low - start..high - start]);
            }
            start += slice.len();
        }
        parts
    }
}
