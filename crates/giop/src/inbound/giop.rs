//! GIOP in what was received: whole messages, and those that come in fragments. CORBA 3.4 part 2, §9.4.

use super::buffer::ReceiveBuffer;
use super::cursor::Cursor;
use super::reassembly::Reassembly;
use super::{heads, usual};
use crate::header::Header;
use crate::messaging::Parser;
use crate::{Limits, Message, MessageType, ProtocolError};

/// Reads one connection that speaks GIOP.
#[derive(Default)]
pub(crate) struct GiopParser {
    reassembly: Reassembly,
}

impl Parser for GiopParser {
    fn next(&mut self, from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
        if let Some(message) = usual::take(from, limits) {
            return Ok(Some(message));
        }
        self.next_generally(from, limits, &mut Offering::default())
    }

    fn size(&self, octets: &[u8]) -> Option<usize> {
        octets.first_chunk().and_then(|octets| Header::parse(octets).ok()).map(|header| header.total())
    }

    fn is_incomplete(&self) -> bool {
        !self.reassembly.is_empty()
    }

    fn has_part_of_reply(&self, id: u32) -> bool {
        self.reassembly.has_part_of_reply(id)
    }
}

impl GiopParser {
    /// Whatever message it is. A first one of several fragments is left lying while somebody is to be asked where the rest goes.
    #[inline(never)]
    pub(super) fn next_generally(
        &mut self,
        from: &mut ReceiveBuffer,
        limits: &Limits,
        offering: &mut Offering,
    ) -> Result<Option<Message>, ProtocolError> {
        while let Some(header) = complete(from, limits)? {
            if header.more_fragments && Offering::concerns(&header) && offering.is_due() {
                break;
            }
            offering.is_declined = false;
            if let Some(message) = self.one(header, from, limits)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Takes the message with this header, all of which is there: `None`, if it is one of several fragments.
    pub(super) fn one(
        &mut self,
        header: Header,
        from: &mut ReceiveBuffer,
        limits: &Limits,
    ) -> Result<Option<Message>, ProtocolError> {
        let message = from.part(0, header.total());
        from.take(header.total());
        if header.more_fragments || header.message == MessageType::FRAGMENT {
            let whole = self.reassembly.add(header, &message, limits, from.storage())?;
            return match whole {
                Some((header, whole)) => heads::decode(Cursor::over(&header, &whole), limits),
                None => Ok(None),
            };
        }
        let message = heads::decode(Cursor::new(&header, &message), limits)?;
        if let Some(Message::CancelRequest { id }) = message {
            self.reassembly.cancel(id);
        }
        Ok(message)
    }
}

/// Whether somebody is asked where a large message that begins to come goes on.
#[derive(Default)]
pub(super) struct Offering {
    pub(super) is_on: bool,
    /// Of the message that the buffer begins with nobody wants to have it.
    pub(super) is_declined: bool,
}

impl Offering {
    /// Whether a message of this kind may have bulk in it.
    pub(super) fn concerns(header: &Header) -> bool {
        matches!(header.message, MessageType::REQUEST | MessageType::REPLY)
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_on && !self.is_declined
    }
}

/// The header of the message that the buffer begins with, if all of that is there.
pub(super) fn complete(from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Header>, ProtocolError> {
    let octets = from.unparsed();
    let Some(first) = octets.first_chunk() else { return Ok(None) };
    let header = Header::parse(first)?;
    let total = header.total();
    if total > limits.max_message {
        return Err(too_large(&header, limits));
    }
    if octets.len() < total {
        from.expect(total);
        return Ok(None);
    }
    Ok(Some(header))
}

#[cold]
fn too_large(header: &Header, limits: &Limits) -> ProtocolError {
    let (found, allowed) = (header.total(), limits.max_message);
    ProtocolError::LimitExceeded { limit: "max_message", found, allowed, version: header.version }
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
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        begin_request(&mut to, &head).unwrap();
        to.write_octets(body);
        finish(&mut to).unwrap();
        to.into_buffer()
    }

    fn reply(body: &[u8]) -> Vec<u8> {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head =
            ReplyHead { id: 7, status: ReplyStatus(3), by_number: false, contexts: &ServiceContexts::new() };
        begin_reply(&mut to, &head).unwrap();
        to.write_octets(body);
        finish(&mut to).unwrap();
        to.into_buffer()
    }

    /// What a parser says of these octets, in the usual way where that can read them, and in the general way.
    fn both_ways(octets: &[u8], limits: Limits) -> [Result<Option<Message>, ProtocolError>; 2] {
        let generally = |parser: &mut GiopParser, from: &mut ReceiveBuffer, limits: &Limits| {
            parser.next_generally(from, limits, &mut Offering::default())
        };
        [GiopParser::next, generally].map(|next| {
            let mut buffer = ReceiveBuffer::new(limits.receive_buffer, limits.first_grant);
            buffer.space()[..octets.len()].copy_from_slice(octets);
            buffer.received(octets.len());
            next(&mut GiopParser::default(), &mut buffer, &limits)
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
