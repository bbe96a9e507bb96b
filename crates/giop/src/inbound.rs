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
mod heads;
mod reassembly;
mod usual;

use crate::header::{HEADER_SIZE, Header};
use crate::{Limits, Message, MessageType, ProtocolError};
use buffer::ReceiveBuffer;
use cursor::Cursor;
use reassembly::Reassembly;

/// The receiving half of a connection: give it what arrives, take the messages.
pub struct Inbound {
    limits: Limits,
    buffer: ReceiveBuffer,
    reassembly: Reassembly,
    /// Octets of the message that the buffer begins with, as far as they are known: a header says.
    expected: usize,
    failed: Option<ProtocolError>,
}

impl Inbound {
    /// Waits for a first message. Allocates nothing before the first [`space`](Self::space).
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            buffer: ReceiveBuffer::new(limits.receive_buffer, limits.first_grant),
            reassembly: Reassembly::default(),
            expected: HEADER_SIZE,
            failed: None,
        }
    }

    /// Memory for the next octets; never empty. Call [`next`](Self::next) until it gives `None` first.
    ///
    /// The message that a read begins with lies at a multiple of 8, so CDR alignment is memory alignment. A message
    /// larger than the buffer is read straight into memory of its own, no further than its end; that memory grows with
    /// what has really arrived (see [`Limits::first_grant`]). If every handle on earlier messages was dropped, the same
    /// memory serves again.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if self.failed.is_some() {
            self.buffer.discard();
        }
        self.buffer.space(self.expected)
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
        if let Some(error) = self.failed {
            return Err(error);
        }
        let message = self.advance();
        if let Err(error) = message {
            self.failed = Some(error);
            self.expected = HEADER_SIZE;
        }
        message
    }

    /// Whether a further complete message (or the rest of one in fragments) lies in the buffer, so that
    /// [`next`](Self::next) has work to do without another read.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        let octets = self.buffer.unparsed();
        let header = octets.first_chunk().and_then(|octets| Header::parse(octets).ok());
        self.failed.is_none() && header.is_some_and(|header| octets.len() >= header.total())
    }

    /// Whether the peer owes us the rest of something: part of a message lies in the buffer, or not all fragments of one
    /// have come. Time for a deadline.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.buffer.unparsed().is_empty() || !self.reassembly.is_empty()
    }

    /// Whether a part of the reply to request `id` has come, and not all of it. In GIOP 1.1, whose fragments name no
    /// request, that holds for every `id` while any message is incomplete.
    #[must_use]
    pub fn has_part_of_reply(&self, id: u32) -> bool {
        self.reassembly.has_part_of_reply(id)
    }

    /// Gives the receive buffer back, for a connection that waits for its peer. Of an incomplete message only what has
    /// arrived is kept, so that one which never goes on holds little. The next [`space`](Self::space) allocates again.
    pub fn release_memory(&mut self) {
        self.buffer.release();
    }

    #[inline]
    fn advance(&mut self) -> Result<Option<Message>, ProtocolError> {
        if let Some(message) = usual::take(&mut self.buffer, &self.limits) {
            self.expected = HEADER_SIZE;
            return Ok(Some(message));
        }
        self.advance_generally()
    }

    /// Whatever message it is.
    #[inline(never)]
    fn advance_generally(&mut self) -> Result<Option<Message>, ProtocolError> {
        while let Some(header) = self.complete()? {
            let message = self.buffer.share(0, header.total());
            self.buffer.take(header.total());
            if header.more_fragments || header.message == MessageType::FRAGMENT {
                if let Some((header, whole)) = self.reassembly.add(header, &message, &self.limits)? {
                    return heads::decode(Cursor::over(&header, &whole), &self.limits);
                }
                continue;
            }
            let message = heads::decode(Cursor::new(&header, &message), &self.limits)?;
            if let Some(Message::CancelRequest { id }) = message {
                self.reassembly.cancel(id);
            }
            return Ok(message);
        }
        Ok(None)
    }

    /// The header of the message that the buffer begins with, if all of that is there.
    fn complete(&mut self) -> Result<Option<Header>, ProtocolError> {
        let octets = self.buffer.unparsed();
        let Some(first) = octets.first_chunk() else { return Ok(None) };
        let header = Header::parse(first)?;
        let total = header.total();
        if total > self.limits.max_message {
            return Err(self.too_large(&header));
        }
        if octets.len() < total {
            self.expected = total;
            return Ok(None);
        }
        self.expected = HEADER_SIZE;
        Ok(Some(header))
    }

    #[cold]
    fn too_large(&self, header: &Header) -> ProtocolError {
        let (found, allowed) = (header.total(), self.limits.max_message);
        ProtocolError::LimitExceeded { limit: "max_message", found, allowed, version: header.version }
    }
}

impl core::fmt::Debug for Inbound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Inbound")
            .field("unparsed", &self.buffer.unparsed().len())
            .field("expected", &self.expected)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use zorb_cdr::{Encoder, Format, Version};

    use crate::{
        Addressing, ReplyHead, ReplyStatus, RequestHead, ResponseFlags, ServiceContexts, begin_reply,
        begin_request, finish,
    };

    fn request(key: &[u8], operation: &str, body: &[u8]) -> Vec<u8> {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head = RequestHead {
            id: 7,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(key),
            operation,
            contexts: &ServiceContexts::new(),
        };
        begin_request(&mut to, &head).unwrap();
        to.write_octets(body);
        finish(&mut to).unwrap();
        to.into_buffer()
    }

    fn reply(body: &[u8]) -> Vec<u8> {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head = ReplyHead { id: 7, status: ReplyStatus(3), contexts: &ServiceContexts::new() };
        begin_reply(&mut to, &head).unwrap();
        to.write_octets(body);
        finish(&mut to).unwrap();
        to.into_buffer()
    }

    /// What an inbound says of these octets, in the usual way where that can read them, and in the general way.
    fn both_ways(octets: &[u8], limits: Limits) -> [Result<Option<Message>, ProtocolError>; 2] {
        [Inbound::advance, Inbound::advance_generally].map(|advance| {
            let mut inbound = Inbound::new(limits);
            inbound.space()[..octets.len()].copy_from_slice(octets);
            inbound.received(octets.len());
            advance(&mut inbound)
        })
    }

    #[test]
    fn the_usual_way_says_what_the_general_way_says() {
        let limits = Limits { max_operation: 9, max_message: 80, ..Limits::default() };
        let mut read = 0;
        for message in [
            request(b"key", "ping", b""),
            request(b"keys", "ping", b"12345"),
            request(b"", "", b"1"),
            request(b"key", "just_fit", b""),
            request(b"key", "too_long_", b""),
            request(b"key", "ping", &[7; 90]),
            reply(b""),
            reply(b"123456789"),
        ] {
            for at in 0..message.len() {
                for octet in [message[at], 0, 1, 2, 3, 5, 0x7f, 0xff, message[at].wrapping_add(4)] {
                    let mut mutated = message.clone();
                    mutated[at] = octet;
                    let [usual, general] = both_ways(&mutated, limits);
                    read += usize::from(matches!(usual, Ok(Some(_))));
                    assert_eq!(format!("{usual:?}"), format!("{general:?}"), "{octet:#x} at {at}");
                }
                let [usual, general] = both_ways(&message[..at], limits);
                assert_eq!(format!("{usual:?}"), format!("{general:?}"), "the first {at}");
            }
        }
        assert!(read > 100, "few of them were messages: {read}");
    }
}
