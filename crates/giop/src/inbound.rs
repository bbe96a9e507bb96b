//! Octets in, messages out: the receiving half of one connection. CORBA 3.4 part 2, §9.4.
//!
//! ```no_run
//! # use zorb_giop::{Inbound, Limits, ProtocolError};
//! # fn read(into: &mut [u8]) -> usize { 0 }
//! # fn main() -> Result<(), ProtocolError> {
//! let mut inbound = Inbound::new(Limits::default());
//! loop {
//!     let n = read(inbound.space()); // one system call
//!     if n == 0 {
//!         break;
//!     }
//!     inbound.received(n);
//!     while let Some(message) = inbound.next()? {
//!         // …
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Where the octets lie is [`buffer`]'s part, fragments are [`reassembly`]'s, heads are [`heads`]'. It leaves to the
//! ORB: whether a message suits the peer's role, and how long to wait for the rest of one.

mod buffer;
mod cursor;
mod diversion;
mod diverted;
mod giop;
mod heads;
mod pieces;
mod reassembly;
mod repeated;
mod steps;
mod storage;
mod usual;

pub use buffer::ReceiveBuffer;
pub use diversion::{BeginsToCome, Begun};
pub(crate) use giop::GiopParser;
pub use repeated::KnownHead;
pub use storage::Storage;

use alloc::boxed::Box;
use alloc::sync::Arc;

use bytes::Bytes;
use diverted::Diverted;
use giop::Offering;
use pieces::Pieces;
use zorb_cdr::{Body, Memory, Version};

use crate::header::Header;
use crate::lite;
use crate::messaging::{Parser, TELLING};
use crate::{Limits, Message, Protocol, ProtocolError, Reply};

/// The receiving half of a connection: give it what arrives, take the messages.
pub struct Inbound {
    limits: Limits,
    /// The same for messages that are taken the short way, which large ones are not that have their memory from a storage, or
    /// were [declined](Self::decline).
    usual: Limits,
    buffer: ReceiveBuffer,
    reading: Reading,
    protocol: Option<Protocol>,
    offering: Offering,
    /// Memory that a run was received into, for the next one.
    spare: Memory,
}

/// What reads the connection. Those known by name are any other's equals, but their usual messages are read where the caller
/// wants them, which by a pointer to some parser takes a hundred instructions more.
enum Reading {
    Giop(GiopParser),
    Lite,
    Other(Box<dyn Parser>),
    /// Nothing yet: the first octets will tell which of these protocols the peer speaks.
    Undecided(Arc<[Protocol]>),
    /// A message of GIOP's of which some is not in the buffer, and what reads the next one.
    Pieces(Box<Pieces>),
    /// A message of GIOP's of which a part is received elsewhere.
    Diverted(Box<Diverted>),
    /// Nothing any more.
    Failed(ProtocolError),
}

impl Reading {
    fn by(protocol: &Protocol) -> Self {
        match protocol {
            Protocol::Giop => Self::Giop(GiopParser::default()),
            Protocol::Lite => Self::Lite,
            Protocol::Other(messaging) => Self::Other(messaging.parser()),
        }
    }
}

impl Inbound {
    /// Waits for a first message of GIOP. Allocates no buffer before the first [`space`](Self::space).
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self::of(Protocol::Giop, limits)
    }

    /// Waits for a first message of this protocol.
    #[must_use]
    pub fn of(protocol: Protocol, limits: Limits) -> Self {
        Self::with(Reading::by(&protocol), Some(protocol), limits)
    }

    /// Waits for a first message of one of these protocols, and then takes those of the same one.
    #[must_use]
    pub fn one_of(protocols: Arc<[Protocol]>, limits: Limits) -> Self {
        match &*protocols {
            [only] => Self::of(only.clone(), limits),
            _ => Self::with(Reading::Undecided(protocols), None, limits),
        }
    }

    fn with(reading: Reading, protocol: Option<Protocol>, limits: Limits) -> Self {
        let buffer = ReceiveBuffer::new(limits.receive_buffer, limits.first_grant);
        Self {
            limits,
            usual: limits,
            buffer,
            reading,
            protocol,
            offering: Offering::default(),
            spare: Memory::new(),
        }
    }

    /// The same, with the memory of large messages from there.
    #[must_use]
    pub fn with_storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.buffer.set_storage(storage);
        self.usual.max_message = self.limits.max_message.min(self.limits.receive_buffer);
        self
    }

    /// Of what is on its way to here the system holds little, half a MiB at most. Of a flood of large messages then no more is read at once than as many
    /// [first grants](Limits::first_grant) as hold three of them.
    pub fn expect_little(&mut self) {
        self.buffer.expect_little();
    }

    /// The protocol that the peer speaks, as soon as it is known.
    #[must_use]
    pub fn protocol(&self) -> Option<&Protocol> {
        self.protocol.as_ref()
    }

    /// Memory for the next octets; never empty. Call [`next`](Self::next) until it gives `None` first.
    ///
    /// The message that a read begins with lies at a multiple of 8, so CDR alignment is memory alignment; in a flood of
    /// bulk, of which several are read at once, at one of what that wants ([`KnownHead::with_bulk`]). A message
    /// larger than the buffer is read straight into memory of its own, no further than its end; that memory grows with
    /// what has really arrived (see [`Limits::first_grant`]). If every handle on earlier messages was dropped, the same
    /// memory serves again.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if matches!(self.reading, Reading::Failed(_)) || !self.buffer.is_ready() {
            self.make_room();
        }
        self.buffer.room()
    }

    #[inline(never)]
    fn make_room(&mut self) {
        if let Reading::Failed(_) = self.reading {
            self.buffer.discard();
        }
        if let Some(wanted) = self.buffer.make_ready() {
            self.refuse(wanted);
        }
    }

    /// The message is larger than there is memory for: nothing of it is kept.
    #[cold]
    fn refuse(&mut self, wanted: usize) {
        let header = self.buffer.unparsed().first_chunk().and_then(|first| Header::parse(first).ok());
        let version = header.map_or(Version::V1_2, |header| header.version);
        let allowed = self.buffer.storage().map_or(0, |storage| storage.most());
        let error = ProtocolError::LimitExceeded { limit: "message_memory", found: wanted, allowed, version };
        self.reading = Reading::Failed(error);
        self.buffer.begin_small();
    }

    /// Says that the first `n` octets of the last [`space`](Self::space) now hold what arrived. More than that space
    /// holds count as all of it.
    #[inline]
    pub fn received(&mut self, n: usize) {
        self.buffer.received(n);
    }

    /// The next complete message; `None` when more octets are needed.
    ///
    /// # Errors
    /// What the peer did wrong. The connection is then beyond repair: every later call gives the same error, and what
    /// still arrives (while the connection is drained) is dropped. Answer with
    /// MessageError in [`ProtocolError::answer_version`] and close.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it is not an iterator: `None` means later, not never")]
    pub fn next(&mut self) -> Result<Option<Message>, ProtocolError> {
        if let Reading::Giop(_) = self.reading
            && let Some(message) = usual::take(&mut self.buffer, &self.usual)
        {
            return Ok(Some(message));
        }
        self.next_otherwise()
    }

    /// The next message, if it is the whole reply to this request and looks as nearly all replies do. `None` says nothing of what
    /// comes: that is for [`next`](Self::next) to give.
    #[inline]
    pub fn next_reply(&mut self, id: u32) -> Option<Reply> {
        match self.reading {
            Reading::Giop(_) => usual::take_reply(&mut self.buffer, id, &self.usual),
            _ => None,
        }
    }

    /// The next message, if it is a whole request with this head: its id and its arguments. `None` says nothing of what comes:
    /// that is for [`next`](Self::next) to give.
    #[inline]
    pub fn next_like(&mut self, head: &KnownHead) -> Option<(u32, Body)> {
        match self.reading {
            Reading::Giop(_) => repeated::take(&mut self.buffer, head, &self.usual),
            _ => None,
        }
    }

    /// The same, of what may be large: with structs to be brought in phase, [declined](Self::decline), or in part [deposited](Self::deposit). Apart, so
    /// that others take no longer.
    /// With a storage, which is to be parted with behind a large message, only small ones.
    #[inline(never)]
    pub fn next_large_like(&mut self, head: &KnownHead) -> Option<(u32, Body)> {
        match &mut self.reading {
            Reading::Giop(_) => {}
            Reading::Pieces(pieces) => {
                let next = pieces.finish_like(&mut self.buffer, head)?;
                self.end_pieces();
                return Some(next);
            }
            _ => return None,
        }
        let was_declined = self.offering.is_declined && self.buffer.storage().is_none();
        let limits = if was_declined { &self.limits } else { &self.usual };
        let next = repeated::take_in_phase(&mut self.buffer, head, limits)?;
        if was_declined {
            self.offering.is_declined = false;
            self.usual.max_message = self.limits.max_message;
        }
        Some(next)
    }

    /// As [`next_like`](Self::next_like), behind another message with that head, whose `body` becomes this one's: that costs less than to let go of the one and make the
    /// other, where both lie in the same memory. Returns the id.
    #[inline]
    pub fn next_like_into(&mut self, head: &KnownHead, body: &mut Body) -> Option<u32> {
        match self.reading {
            Reading::Giop(_) => repeated::take_into(&mut self.buffer, head, &self.usual, body),
            _ => None,
        }
    }

    /// Whether [`next_like`](Self::next_like) would give one.
    #[inline]
    #[must_use]
    pub fn comes_like(&self, head: &KnownHead) -> bool {
        matches!(self.reading, Reading::Giop(_))
            && repeated::find(self.buffer.unparsed(), head, &self.usual).is_some()
    }

    /// GIOPlite's, or whatever there is. Apart from GIOP's usual messages, which take some forty instructions more where both
    /// are read in one place.
    #[inline(never)]
    fn next_otherwise(&mut self) -> Result<Option<Message>, ProtocolError> {
        if let Reading::Lite = self.reading
            && let Some(start) = lite::usual::Start::of(self.buffer.unparsed(), &self.usual)
        {
            if let Some(at) = start.reply() {
                return Ok(Some(Message::Reply(at.take(&mut self.buffer))));
            }
            if let Some(at) = start.request() {
                return Ok(Some(Message::Request(at.take(&mut self.buffer))));
            }
        }
        self.next_anyway()
    }

    /// Whatever protocol it is, and whatever message.
    #[inline(never)]
    fn next_anyway(&mut self) -> Result<Option<Message>, ProtocolError> {
        let message = match &mut self.reading {
            Reading::Giop(parser) => {
                parser.next_generally(&mut self.buffer, &self.limits, &mut self.offering)
            }
            Reading::Lite => lite::next(&mut self.buffer, &self.limits),
            Reading::Other(parser) => parser.next(&mut self.buffer, &self.limits),
            Reading::Pieces(pieces) => {
                let message = pieces.finish(&mut self.buffer, &self.limits);
                if let Ok(Some(_)) = message {
                    self.end_pieces();
                }
                message
            }
            Reading::Diverted(_) => self.next_between(),
            Reading::Undecided(_) => return self.decide(),
            Reading::Failed(error) => return Err(*error),
        };
        if let Err(error) = message {
            self.reading = Reading::Failed(error);
        }
        if self.buffer.storage().is_some() {
            self.buffer.part_with_storage();
        } else if !self.offering.is_declined {
            self.usual.max_message = self.limits.max_message;
        }
        message
    }

    /// A message that came in pieces is whole: further ones are read, and shown, as ever.
    fn end_pieces(&mut self) {
        if let Reading::Pieces(pieces) = &mut self.reading {
            self.reading = Reading::Giop(core::mem::take(&mut pieces.parser));
        }
        self.offering.is_declined = false;
        if self.buffer.storage().is_none() {
            self.usual.max_message = self.limits.max_message;
        }
    }

    /// How many octets are missing of the message that has begun to come and may be [deposited](Self::deposit), as far as is known. 0 between messages, and
    /// for those that take none: fragments, and messages of other protocols than GIOP. Call [`next`](Self::next) until it gives `None` first.
    #[inline]
    #[must_use]
    pub fn missing(&mut self) -> usize {
        if self.buffer.may_miss() { self.missing_of_message() } else { 0 }
    }

    #[cold]
    #[inline(never)]
    fn missing_of_message(&mut self) -> usize {
        match &self.reading {
            Reading::Pieces(pieces) => pieces.missing().saturating_sub(self.buffer.unparsed().len()),
            Reading::Giop(_) if Pieces::may_begin(&self.buffer, &self.limits) => self.buffer.missing(),
            _ => {
                self.buffer.misses_nothing();
                0
            }
        }
    }

    /// Takes octets that come next and lie elsewhere, such as in memory that the peer has lent: they are not copied, and become a segment of
    /// the message's body.
    ///
    /// # Errors
    /// The octets, where they are none, or more than are [missing](Self::missing): they then have to go the usual way.
    pub fn deposit(&mut self, octets: Bytes) -> Result<(), Bytes> {
        if octets.len() > self.missing() || octets.is_empty() {
            return Err(octets);
        }
        if let Reading::Giop(parser) = &mut self.reading {
            let begun = Pieces::begin(&mut self.buffer, &self.limits, octets.len());
            let Some(mut pieces) = begun else { return Err(octets) };
            pieces.parser = core::mem::take(parser);
            self.reading = Reading::Pieces(Box::new(pieces));
        }
        match &mut self.reading {
            Reading::Pieces(pieces) => {
                pieces.take(&mut self.buffer);
                pieces.add(octets);
                Ok(())
            }
            _ => Err(octets),
        }
    }

    /// Looks which protocol the first octets are of.
    #[cold]
    fn decide(&mut self) -> Result<Option<Message>, ProtocolError> {
        let Reading::Undecided(protocols) = &self.reading else { return Ok(None) };
        let Some(&first) = self.buffer.unparsed().first_chunk() else { return Ok(None) };
        let Some(protocol) = protocols.iter().find(|protocol| protocol.begins(first)) else {
            let error = ProtocolError::NotGiop { found: first };
            self.reading = Reading::Failed(error);
            return Err(error);
        };
        let protocol = protocol.clone();
        self.reading = Reading::by(&protocol);
        self.protocol = Some(protocol);
        self.next()
    }

    /// Whether a further complete message (or the rest of one in fragments) lies in the buffer, so that
    /// [`next`](Self::next) has work to do without another read.
    #[inline]
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        let has_some =
            !self.buffer.is_empty() || matches!(self.reading, Reading::Pieces(_) | Reading::Diverted(_));
        has_some && self.has_whole_buffered()
    }

    #[inline(never)]
    fn has_whole_buffered(&self) -> bool {
        let octets = self.buffer.unparsed();
        match &self.reading {
            Reading::Pieces(pieces) => return octets.len() >= pieces.missing(),
            Reading::Diverted(diverted) => return diverted.has_work(&self.buffer),
            _ => {}
        }
        let size = match &self.reading {
            Reading::Giop(parser) => parser.size(octets),
            Reading::Lite => lite::size(octets),
            Reading::Other(parser) => parser.size(octets),
            Reading::Undecided(_) => Some(TELLING),
            Reading::Pieces(..) | Reading::Diverted(..) | Reading::Failed(_) => None,
        };
        size.is_some_and(|size| octets.len() >= size)
    }

    /// Whether the peer owes us the rest of something: part of a message lies in the buffer, or not all fragments of one
    /// have come. Time for a deadline.
    #[inline]
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.buffer.is_empty() || self.is_owed_more()
    }

    /// Whether more is to come than what the buffer shows.
    #[inline]
    fn is_owed_more(&self) -> bool {
        if let Reading::Giop(parser) = &self.reading {
            parser.is_incomplete()
        } else {
            self.is_owed_otherwise()
        }
    }

    #[inline(never)]
    fn is_owed_otherwise(&self) -> bool {
        match &self.reading {
            Reading::Giop(parser) => parser.is_incomplete(),
            Reading::Other(parser) => parser.is_incomplete(),
            Reading::Pieces(..) | Reading::Diverted(..) => true,
            Reading::Lite | Reading::Undecided(_) | Reading::Failed(_) => false,
        }
    }

    /// Whether a part of the reply to request `id` has come, and not all of it. In GIOP 1.1, whose fragments name no
    /// request, that holds for every `id` while any message is incomplete.
    #[must_use]
    pub fn has_part_of_reply(&self, id: u32) -> bool {
        match &self.reading {
            Reading::Giop(parser) => parser.has_part_of_reply(id),
            Reading::Other(parser) => parser.has_part_of_reply(id),
            Reading::Pieces(pieces) => pieces.is_reply_to(id) || pieces.parser.has_part_of_reply(id),
            Reading::Diverted(diverted) => diverted.is_reply_to(id) || diverted.parser.has_part_of_reply(id),
            Reading::Lite | Reading::Undecided(_) | Reading::Failed(_) => false,
        }
    }

    /// Gives the receive buffer back, for a connection that waits for its peer. Of an incomplete message only what has
    /// arrived is kept, so that one which never goes on holds little. The next [`space`](Self::space) allocates again.
    pub fn release_memory(&mut self) {
        self.spare = Memory::new();
        self.buffer.release();
    }
}

impl core::fmt::Debug for Inbound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Inbound")
            .field("unparsed", &self.buffer.unparsed().len())
            .field("protocol", &self.protocol())
            .finish_non_exhaustive()
    }
}
