//! How the owner of a connection has a large sequence received elsewhere: it is shown the message that begins to come, and says where the
//! elements go, or that it does not care.
//!
//! ```text
//! begins_to_come ─► Message ─► (operation, values, length) ─► divert(run, memory) ─┐
//!       │ Early: a little more is to come first           ┌──── rooms(memory) ◄────┤
//!       │ decline: it is received as ever                 └─► received_apart(n) ───┤ until has_all_of_run
//!       ▼                                                                          ▼
//!                                                                       undivert(elements) ─► the whole message
//! ```

use alloc::boxed::Box;
use alloc::vec;
use core::mem;

use zorb_cdr::{Memory, Piece, Run};

use super::cursor::Cursor;
use super::diverted::Diverted;
use super::giop::Offering;
use super::{Inbound, Reading, heads, repeated};
use crate::header::Header;
use crate::{KnownHead, Message, ProtocolError};

/// How many times as large as a run the memory may be that is used again for it. 4: a mix of sizes shares one, and a small one does not keep a large.
const MOST_TOO_LARGE: usize = 4;

/// What is known of the message that begins to come.
#[derive(Debug)]
pub enum BeginsToCome {
    /// None does that would be worth it: it is small, or not GIOP's, or is being received already, or was declined.
    Nothing,
    /// One does, and too little of it is there to say more. What is received before it is asked again should be little.
    Early,
    /// This one.
    Message(Box<Begun>),
}

/// A message of which a part has come.
#[derive(Debug)]
pub struct Begun {
    /// A Request or a Reply, whose body is what has come of it.
    pub message: Message,
    header: Header,
    body_at: usize,
    /// Octets of it that have come.
    come: usize,
}

impl Begun {
    /// Octets of its body, or of as much of that as comes in the first of several fragments.
    #[must_use]
    pub fn octets_of_body(&self) -> usize {
        self.header.total().saturating_sub(self.body_at)
    }

    /// Whether it comes in fragments.
    #[must_use]
    pub fn is_in_fragments(&self) -> bool {
        self.header.more_fragments
    }

    /// Whether it will not be told any more where the sequence is than now: the first of several fragments is there, or as much of the message as
    /// may be copied.
    pub fn is_last_chance(&self, most: usize) -> bool {
        self.come >= most || (self.header.more_fragments && self.come >= self.header.total())
    }
}

impl Inbound {
    /// Whether [`begins_to_come`](Self::begins_to_come) will be asked whenever [`next`](Self::next) has nothing more to give. While it is so the
    /// first of several fragments is not taken before somebody has [declined](Self::decline).
    pub fn offer_bulk(&mut self, offers: bool) {
        self.offering.is_on = offers;
    }

    /// The large message that begins to come, if one does.
    #[cold]
    pub fn begins_to_come(&mut self) -> BeginsToCome {
        if !matches!(self.reading, Reading::Giop(_)) || !self.offering.is_due() {
            return BeginsToCome::Nothing;
        }
        let octets = self.buffer.unparsed();
        let header = octets.first_chunk().and_then(|first| Header::parse(first).ok());
        let Some(header) = header else { return BeginsToCome::Nothing };
        let is_bulk = header.more_fragments || header.total() > self.limits.receive_buffer;
        let may_be = Offering::concerns(&header) && header.total() <= self.limits.max_message;
        if !is_bulk || !may_be || (!header.more_fragments && octets.len() >= header.total()) {
            return BeginsToCome::Nothing;
        }
        let come = octets.len().min(header.total());
        // It may be received without room for it here.
        self.buffer.expect(0);
        let part = self.buffer.part(0, come);
        let message = match heads::decode(Cursor::new(&header, &part), &self.limits) {
            Ok(Some(message)) => message,
            // The head has not come, or never will: then it is found out as ever.
            _ if come < self.limits.receive_buffer && come < header.total() => return BeginsToCome::Early,
            _ => {
                self.decline();
                return BeginsToCome::Nothing;
            }
        };
        let body = match &message {
            Message::Request(request) => request.body.len(),
            Message::Reply(reply) => reply.body.len(),
            _ => return BeginsToCome::Nothing,
        };
        BeginsToCome::Message(Box::new(Begun { message, header, body_at: come - body, come }))
    }

    /// The message that begins to come is received as ever: it is not shown again.
    pub fn decline(&mut self) {
        self.offering.is_declined = true;
        // Not taken the short way, on which nobody notes that what follows it may be shown again.
        self.usual.max_message = self.limits.max_message.min(self.limits.receive_buffer);
    }

    /// [Declines](Self::decline) the large message that begins to come, if it has this head, which is [of bulk](KnownHead::with_bulk), and comes in one piece;
    /// without reading more of it. Whether it did.
    pub fn decline_like(&mut self, head: &KnownHead) -> bool {
        let octets = self.buffer.unparsed();
        let is_due = matches!(self.reading, Reading::Giop(_)) && self.offering.is_due();
        if !is_due || !head.is_of_bulk() || repeated::begins(octets, head).is_none() {
            return false;
        }
        let header = octets.first_chunk().and_then(|first| Header::parse(first).ok());
        let declines = header.is_some_and(|header| header.total() > self.limits.receive_buffer);
        if declines {
            self.decline();
        }
        declines
    }

    /// Receives the run, which begins in what has come of the message, into `into`; what has come of it is copied there. False: it cannot be received so, and
    /// the message is declined.
    ///
    /// # Errors
    /// What the peer did wrong, as by [`next`](Self::next).
    pub fn divert(&mut self, begun: Begun, run: Run, into: &mut [u8]) -> Result<bool, ProtocolError> {
        let id = match &begun.message {
            Message::Request(request) => request.id,
            Message::Reply(reply) => reply.id,
            _ => return Ok(false),
        };
        let Begun { header, body_at, message, .. } = begun;
        // It has handles on the receive buffer.
        drop(message);
        match &mut self.reading {
            Reading::Giop(parser)
                if into.len() >= run.size() && Diverted::may_begin(&header, &run, body_at, &self.buffer) =>
            {
                run.begin_in(into);
                let parser = mem::take(parser);
                let diverted = Diverted::begin(header, id, run, body_at, &mut self.buffer, parser);
                self.reading = Reading::Diverted(Box::new(diverted));
                self.received_apart(0, into).map(|_| true)
            }
            _ => {
                self.decline();
                Ok(false)
            }
        }
    }

    /// Memory for a run of so many octets, where the memory of large messages is from, and what the limits allow: no more than
    /// [`Limits::first_grant`](crate::Limits::first_grant), or what the peer has `earned` by having sent as much before. `None`: there is none.
    #[must_use]
    pub fn memory_for_run(&mut self, octets: usize, earned: usize) -> Option<Memory> {
        if octets > self.limits.first_grant.max(earned) || octets > self.limits.max_message {
            return None;
        }
        if let Some(storage) = self.buffer.storage() {
            return storage.take(octets);
        }
        let spare = mem::take(&mut self.spare);
        let fits = octets <= spare.len() && spare.len() / MOST_TOO_LARGE <= octets && !spare.is_shared();
        Some(if fits { spare } else { Memory::from(vec![0; octets]) })
    }

    /// Keeps such memory, into which a run was received, for the next one: it is used again if nobody has a handle on it then. What others share is
    /// not kept.
    pub fn keep_for_runs(&mut self, memory: Memory) {
        if self.buffer.storage().is_none() {
            self.spare = memory;
        }
    }

    /// Says that the next receive is not to be as ever, which [`comes_apart`](Self::comes_apart) then tells.
    pub fn expect_apart(&mut self) {
        self.buffer.may_miss_something();
    }

    /// Whether the next receive may have to be done otherwise than into [`space`](Self::space): a message may have come in part, or somebody
    /// [expects](Self::expect_apart) as much. The quick question for who does not want to ask [`missing`](Self::missing) and the others each time.
    #[inline]
    #[must_use]
    pub fn comes_apart(&self) -> bool {
        self.buffer.may_miss()
    }

    /// Whether a run is being received elsewhere.
    #[must_use]
    pub fn is_diverted(&self) -> bool {
        matches!(self.reading, Reading::Diverted(_))
    }

    /// Where the next octets go, one after the other: into the memory that the run is received into, and behind that into the receive buffer. Never both
    /// empty while [`has_all_of_run`](Self::has_all_of_run) is not the case.
    pub fn rooms<'s>(&'s mut self, into: &'s mut [u8]) -> [&'s mut [u8]; 2] {
        let Reading::Diverted(diverted) = &self.reading else { return [&mut [], self.space()] };
        let (here, behind) = diverted.rooms(&self.buffer);
        let here = into.get_mut(here).unwrap_or_default();
        if behind == 0 {
            return [here, &mut []];
        }
        let space = self.space();
        let most = space.len().min(behind);
        [here, &mut space[..most]]
    }

    /// Says that the first `n` octets of the last [`rooms`](Self::rooms) now hold what arrived; `into` is the same memory. True: some of the receive
    /// buffer was taken, and [`next`](Self::next) is to be asked. To be called with 0 when that has nothing more to give.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn received_apart(&mut self, n: usize, into: &mut [u8]) -> Result<bool, ProtocolError> {
        let Reading::Diverted(diverted) = &mut self.reading else {
            self.buffer.received(n);
            return Ok(true);
        };
        let (here, _) = diverted.rooms(&self.buffer);
        let here = into.get(here).map_or(0, <[u8]>::len).min(n);
        diverted.received(here);
        self.buffer.received(n - here);
        let before = self.buffer.unparsed().len();
        if let Err(error) = diverted.advance(&mut self.buffer, into, &self.limits) {
            self.reading = Reading::Failed(error);
            return Err(error);
        }
        Ok(self.buffer.unparsed().len() < before)
    }

    /// How many octets of the run have come, when no more will: all of them, unless the message has ended before.
    #[must_use]
    pub fn has_all_of_run(&self) -> Option<usize> {
        match &self.reading {
            Reading::Diverted(diverted) if diverted.is_over() => Some(diverted.filled()),
            _ => None,
        }
    }

    /// Goes on with the message, whose run is over: `elements` become a segment of its body, unless they are `None`, where the body has a gap behind
    /// the sequence's length. Its message, if all of that is there, as from [`next`](Self::next).
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn undivert(&mut self, elements: Option<Piece>) -> Result<Option<Message>, ProtocolError> {
        if self.has_all_of_run().is_none() {
            return Ok(None);
        }
        let Reading::Diverted(diverted) = mem::replace(&mut self.reading, Reading::Lite) else {
            return Ok(None);
        };
        if diverted.is_in_one_piece() {
            self.reading = Reading::Pieces(Box::new(diverted.go_on(elements)));
            return self.next();
        }
        let (parser, message) = diverted.finish(elements, &self.limits);
        self.reading = match message {
            Err(error) => Reading::Failed(error),
            Ok(_) => Reading::Giop(parser),
        };
        message
    }

    /// A message between two fragments of one that is received elsewhere. If it cancels that one, this is over.
    pub(super) fn next_between(&mut self) -> Result<Option<Message>, ProtocolError> {
        let Reading::Diverted(diverted) = &mut self.reading else { return Ok(None) };
        let (message, cancelled) = diverted.between(&mut self.buffer, &self.limits)?;
        if cancelled {
            self.reading = Reading::Giop(mem::take(&mut diverted.parser));
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests;
