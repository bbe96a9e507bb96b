//! A message whose large sequence is received straight into memory of somebody's choosing, also where it comes in fragments.
//!
//! ```text
//! 1st read  │ header │ head │ values │ length │ some elements │        the receive buffer: what is some is copied
//! readv     │ elements ………………………………………… │ values, next header │    where they are to stay │ the receive buffer
//!           └── of this message or fragment ┘                          and so on, until the last fragment
//! ```
//!
//! The memory is passed to each step, so that it may be borrowed by who calls. Fragments of GIOP 1.2 go on where the last one ended;
//! those of 1.1 begin their alignment anew, so that only runs of scalars are received so. Between two fragments other messages
//! may come, which are read as ever. The rest of a message in one piece is left to [`Pieces`](super::pieces::Pieces).

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use zorb_cdr::copies::copied;
use zorb_cdr::{Body, ByteOrder, Octets, Piece, Run, Segment, Version};

use super::buffer::ReceiveBuffer;
use super::cursor::Cursor;
use super::giop::complete;
use super::pieces::Pieces;
use super::reassembly::FRAGMENT_CHARGE;
use super::{GiopParser, heads};
use crate::header::{HEADER_SIZE, Header};
use crate::{Limits, Message, MessageType, ProtocolError};

/// What is to come of the current message or fragment.
struct Frame {
    /// With its header.
    size: usize,
    left: usize,
    /// Fragments follow it.
    more: bool,
    /// Octets of padding before its first element: GIOP 1.1 only.
    padding: usize,
}

/// Octets behind the sequence.
struct Behind {
    octets: Vec<u8>,
    phase: usize,
}

/// What has come of it.
pub(super) struct Diverted {
    /// Of the first message.
    header: Header,
    id: u32,
    /// From the header to the sequence's length.
    head: Octets,
    /// Octets of the message before the run.
    before: usize,
    run: Run,
    /// Octets of the run that have come.
    filled: usize,
    frame: Frame,
    behind: Vec<Behind>,
    /// Octets of all fragments, and what they are charged.
    octets: usize,
    charged: usize,
    /// Reads the messages between, and the next one.
    pub(super) parser: GiopParser,
}

impl Diverted {
    /// Whether the run can be received so, out of the message that the buffer begins with; `body_at`: where in it the body begins.
    pub(super) fn may_begin(header: &Header, run: &Run, body_at: usize, buffer: &ReceiveBuffer) -> bool {
        let before = body_at + run.before();
        let known = before <= buffer.unparsed().len().min(header.total());
        let fits = match (header.more_fragments, header.version < Version::V1_2) {
            (false, _) => run.octets() <= header.total().saturating_sub(before),
            (true, false) => true,
            (true, true) => run.scalar().is_some(),
        };
        known && fits && run.octets() > 0
    }

    /// With what the buffer has of it, which is moved to the destination.
    pub(super) fn begin(
        header: Header,
        id: u32,
        run: Run,
        body_at: usize,
        buffer: &mut ReceiveBuffer,
        parser: GiopParser,
    ) -> Self {
        let (head, before) = (body_at + run.head(), body_at + run.before());
        let head = buffer.head(head);
        buffer.take(before);
        // What is missing comes without it.
        buffer.expect(0);
        let (size, more) = (header.total(), header.more_fragments);
        let frame = Frame { size, left: size - before, more, padding: 0 };
        let octets = size;
        Self {
            header,
            id,
            head,
            before,
            run,
            filled: 0,
            frame,
            behind: Vec::new(),
            octets,
            charged: 0,
            parser,
        }
    }

    /// Octets of the run that have not come yet.
    fn missing(&self) -> usize {
        self.run.octets() - self.filled
    }

    /// Octets of the run that have come.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Whether nothing more comes of the run: all of it is there, or the message has ended before.
    pub(super) fn is_over(&self) -> bool {
        match self.header.more_fragments {
            false => self.missing() == 0,
            true => !self.frame.more && self.frame.left == 0,
        }
    }

    /// Whether it is the reply to request `id`.
    pub(super) fn is_reply_to(&self, id: u32) -> bool {
        self.header.message == MessageType::REPLY && self.id == id
    }

    /// Where in the destination the next octets go, and at most how many behind them belong into the receive buffer, of which `pending` lie there.
    pub(super) fn rooms(&self, buffer: &ReceiveBuffer) -> (Range<usize>, usize) {
        let head = match (self.frame.more, self.header.version < Version::V1_2) {
            (false, _) => 0,
            (true, true) => HEADER_SIZE,
            (true, false) => HEADER_SIZE + 4,
        };
        let pending = buffer.unparsed().len();
        let at = self.run.at() + self.filled;
        if self.frame.padding > 0 {
            return (at..at, self.frame.padding);
        }
        if self.frame.left > 0 {
            let elements = self.missing().min(self.frame.left);
            return (at..at + elements, self.frame.left - elements + head);
        }
        match self.belongs(buffer.unparsed()) {
            Some(false) => (at..at, usize::MAX),
            _ => (at..at, head.saturating_sub(pending).max(1)),
        }
    }

    /// Says that the first `n` octets of the destination's [room](Self::rooms) hold what arrived.
    pub(super) fn received(&mut self, n: usize) {
        let n = n.min(self.missing()).min(self.frame.left);
        self.filled += n;
        self.frame.left -= n;
    }

    /// Takes out of the buffer what belongs to the message.
    pub(super) fn advance(
        &mut self,
        buffer: &mut ReceiveBuffer,
        into: &mut [u8],
        limits: &Limits,
    ) -> Result<(), ProtocolError> {
        loop {
            let available = buffer.unparsed().len().min(self.frame.left);
            if self.frame.padding > 0 {
                let passed = available.min(self.frame.padding);
                self.pass(passed, buffer);
                self.frame.padding -= passed;
                if self.frame.left == 0 {
                    self.frame.padding = 0;
                }
                if passed == 0 {
                    return Ok(());
                }
            } else if self.frame.left > 0 && self.missing() > 0 {
                let octets = available.min(self.missing());
                if octets == 0 {
                    return Ok(());
                }
                let at = self.run.at() + self.filled;
                // Memory that has become smaller since is the owner's business: what it lacks it does not get.
                if let Some(into) = into.get_mut(at..at + octets) {
                    into.copy_from_slice(&buffer.unparsed()[..octets]);
                }
                copied(octets);
                self.filled += octets;
                self.pass(octets, buffer);
            } else if self.frame.left > 0 && self.header.more_fragments {
                if available == 0 {
                    return Ok(());
                }
                self.keep(available, buffer);
            } else if self.frame.left > 0 || !self.frame.more || !self.next_fragment(buffer, limits)? {
                return Ok(());
            }
        }
    }

    fn pass(&mut self, octets: usize, buffer: &mut ReceiveBuffer) {
        buffer.take(octets);
        self.frame.left -= octets;
    }

    /// Keeps octets behind the run: copied, since a tiny fragment must not hold a large buffer.
    fn keep(&mut self, octets: usize, buffer: &mut ReceiveBuffer) {
        if self.behind.is_empty() {
            // Alignment runs on from the first message, or counts from the fragment's header.
            let phase = match self.header.version < Version::V1_2 {
                true => self.frame.size - self.frame.left,
                false => self.before + self.run.octets(),
            };
            self.behind.push(Behind { octets: Vec::new(), phase });
        }
        if let Some(behind) = self.behind.last_mut() {
            behind.octets.extend_from_slice(&buffer.unparsed()[..octets]);
            copied(octets);
        }
        self.pass(octets, buffer);
    }

    /// Whether the message that these octets begin with continues this one; `None`: they do not tell yet.
    fn belongs(&self, octets: &[u8]) -> Option<bool> {
        let header = Header::parse(octets.first_chunk()?).ok();
        let Some(header) = header.filter(|header| header.message == MessageType::FRAGMENT) else {
            return Some(false);
        };
        if header.version < Version::V1_2 || self.header.version < Version::V1_2 {
            return Some(header.version == self.header.version);
        }
        Some(id_of(&header, octets)? == self.id)
    }

    /// Goes on in the next fragment, if it lies in the buffer.
    fn next_fragment(&mut self, buffer: &mut ReceiveBuffer, limits: &Limits) -> Result<bool, ProtocolError> {
        let octets = buffer.unparsed();
        let (Some(true), Some(first)) = (self.belongs(octets), octets.first_chunk()) else {
            return Ok(false);
        };
        let header = Header::parse(first)?;
        let is_1_1 = header.version < Version::V1_2;
        let head = if is_1_1 { HEADER_SIZE } else { HEADER_SIZE + 4 };
        let malformed = |what, at| {
            let (message, version) = (header.message, header.version);
            ProtocolError::Malformed { message, what, at, version }
        };
        let Some(data) = header.total().checked_sub(head) else {
            return Err(malformed("request id", header.total()));
        };
        if header.order != self.header.order {
            return Err(malformed("byte order other than the first fragment's", 6));
        }
        self.charge(data, limits)?;
        buffer.take(head);
        let scalar = self.run.scalar().filter(|scalar| is_1_1 && self.filled.is_multiple_of(*scalar));
        let padding = match scalar {
            Some(scalar) if self.missing() > 0 && data > 0 => {
                HEADER_SIZE.next_multiple_of(scalar) - HEADER_SIZE
            }
            _ => 0,
        };
        self.frame = Frame { size: header.total(), left: data, more: header.more_fragments, padding };
        if is_1_1 && self.missing() == 0 && data > 0 {
            self.behind.push(Behind { octets: Vec::new(), phase: HEADER_SIZE });
        }
        Ok(true)
    }

    /// Counts a fragment of so many octets: endless empty ones end too.
    fn charge(&mut self, octets: usize, limits: &Limits) -> Result<(), ProtocolError> {
        let version = self.header.version;
        self.octets = self.octets.saturating_add(octets);
        self.charged = self.charged.saturating_add(FRAGMENT_CHARGE);
        let all = self.octets.saturating_add(self.charged);
        let (limit, found, allowed) = match self.octets > limits.max_message {
            true => ("max_message", self.octets, limits.max_message),
            false if all > limits.max_reassembly_bytes => {
                ("max_reassembly_bytes", all, limits.max_reassembly_bytes)
            }
            false => return Ok(()),
        };
        Err(ProtocolError::LimitExceeded { limit, found, allowed, version })
    }

    /// Another message that lies between two fragments. A CancelRequest of this one ends it: the second value.
    pub(super) fn between(
        &mut self,
        buffer: &mut ReceiveBuffer,
        limits: &Limits,
    ) -> Result<(Option<Message>, bool), ProtocolError> {
        while self.frame.left == 0 && self.frame.more && self.belongs(buffer.unparsed()) == Some(false) {
            let Some(header) = complete(buffer, limits)? else { break };
            let begins_anew = header.more_fragments && header.message == self.header.message;
            if begins_anew
                && header.version >= Version::V1_2
                && id_of(&header, buffer.unparsed()) == Some(self.id)
            {
                return Err(ProtocolError::AlreadyFragmented { id: Some(self.id) });
            }
            if let Some(message) = self.parser.one(header, buffer, limits)? {
                let is_request = self.header.message == MessageType::REQUEST;
                let cancels = matches!(message, Message::CancelRequest { id } if id == self.id && is_request);
                return Ok((Some(message), cancels));
            }
        }
        Ok((None, false))
    }

    /// Whether there is work to do without another octet: for [`between`](Self::between), or for [`advance`](Self::advance).
    pub(super) fn has_work(&self, buffer: &ReceiveBuffer) -> bool {
        let octets = buffer.unparsed();
        if self.is_over() || self.frame.left > 0 {
            return self.is_over() || !octets.is_empty();
        }
        let size =
            octets.first_chunk().and_then(|first| Header::parse(first).ok()).map(|header| header.total());
        match self.belongs(octets) {
            Some(true) => true,
            Some(false) => size.is_none_or(|size| octets.len() >= size),
            None => false,
        }
    }

    /// Whether the message comes in one piece, which [`go_on`](Self::go_on) then goes on with.
    pub(super) fn is_in_one_piece(&self) -> bool {
        !self.header.more_fragments
    }

    /// What reads the rest of a message in one piece, when the run [is over](Self::is_over): `elements`, where they are to be a part of its body.
    pub(super) fn go_on(self, elements: Option<Piece>) -> Pieces {
        let come = self.before + self.run.octets();
        let segments = self.segments(elements);
        Pieces::go_on(self.header, segments, come, self.parser)
    }

    fn segments(&self, elements: Option<Piece>) -> Vec<Segment<Piece>> {
        let mut segments = vec![Segment { octets: self.head.clone().into(), phase: 0 }];
        segments.extend(elements.map(|octets| Segment { octets, phase: 0 }));
        segments
    }

    /// The message, when the last fragment has come.
    pub(super) fn finish(
        mut self,
        elements: Option<Piece>,
        limits: &Limits,
    ) -> (GiopParser, Result<Option<Message>, ProtocolError>) {
        let mut segments = self.segments(elements);
        segments.extend(self.behind.drain(..).filter(|behind| !behind.octets.is_empty()).map(|behind| {
            Segment { octets: Piece::from(Octets::from(behind.octets)), phase: behind.phase & 7 }
        }));
        let whole = Body::many(segments, self.header.order);
        let message = heads::decode(Cursor::over(&self.header, &whole), limits);
        (self.parser, message)
    }
}

/// The id that every message and fragment of GIOP 1.2 begins with.
fn id_of(header: &Header, octets: &[u8]) -> Option<u32> {
    let octets = octets.get(HEADER_SIZE..)?.first_chunk::<4>()?;
    Some(match header.order {
        ByteOrder::Little => u32::from_le_bytes(*octets),
        ByteOrder::Big => u32::from_be_bytes(*octets),
    })
}
