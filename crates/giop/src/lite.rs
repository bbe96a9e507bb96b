//! GIOPlite: GIOP for peers that agreed on it beforehand, with a short head, numbers for operations, and no service
//! contexts.
//!
//! ```text
//! 0         2       3                 4      8    12                     16                24
//! 'z' 'L' │ flags │ type, response │ size │ id │ octets of the key    │ operation's number │ key [name] (to 8) arguments   Request
//! 'z' 'L' │ flags │ type           │ size │ id │ status               │ result, exception, reference                      Reply
//! 'z' 'L' │ flags │ type           │ size │ id │                                                                          CancelRequest
//! 'z' 'L' │ flags │ type           │ size │                                         CloseConnection, MessageError
//! ```
//!
//! Numbers are in the sender's byte order, which bit 0 of the flags says (1: little-endian); the size is the whole message's. The type is
//! GIOP's [`MessageType`], in the lower half of its octet; the upper half of a Request's has its [`ResponseFlags`]. Bodies are CDR as in
//! GIOP 1.2, text in UTF-8 and wide text in UTF-16.
//!
//! # Numbers for names
//!
//! An operation's number is a hash of its name ([`operation_number`]), so that both ends know it without a table that they would have to
//! agree on. Only a servant's skeleton can tell what a number means; where something else must know the name, such as a
//! servant locator, a number is of no use. So a request carries the name too (bit 1 of the flags; an `unsigned long` with its length and its
//! octets, aligned to 4 behind the key) until a reply of the same object has said that numbers will do (bit 1 of its
//! flags). Where the name is, the number is 0; no operation has that one. A server that gets a number all the same and needs the name answers with
//! [`ReplyStatus::NEEDS_ADDRESSING_MODE`](crate::ReplyStatus::NEEDS_ADDRESSING_MODE); the client repeats the request with the name.
//!
//! There are no fragments and no LocateRequest: an object is looked for by calling it.

pub(crate) mod usual;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use zorb_cdr::copies::copied;
use zorb_cdr::{
    Body, ByteOrder, CodeSets, EncodeError, EncodeErrorKind, Encoder, Format, Octets, Segment, Version,
};

use crate::messaging::{Messaging, Parser, TELLING};
use crate::{
    Addressing, Limits, Message, MessageType, ProtocolError, ReceiveBuffer, Reply, ReplyHead, ReplyStatus,
    Request, RequestHead, ResponseFlags, ServiceContexts, Target,
};

/// What every message begins with.
const MAGIC: [u8; 2] = *b"zL";

/// Flags.
const LITTLE_ENDIAN: u8 = 1;
const NAMED: u8 = 2;
const BY_NUMBER: u8 = 2;

/// Where a message says its size.
const SIZE_AT: usize = 4;

/// Where a Request has its id.
pub(crate) const ID_AT: usize = 8;

/// Octets of the shortest messages, and of the heads of the others.
const SHORTEST: usize = 8;
const CANCEL: usize = 12;
const REPLY: usize = 16;
const REQUEST: usize = 24;

/// Where a Request has its operation's number.
const NUMBER_AT: usize = 16;

/// Bodies begin at a multiple of this.
const BODY_ALIGNMENT: usize = 8;

const ORDER: u8 = match ByteOrder::NATIVE {
    ByteOrder::Little => LITTLE_ENDIAN,
    ByteOrder::Big => 0,
};

/// The messaging protocol; see the module's head.
#[derive(Clone, Copy, Debug, Default)]
pub struct GiopLite;

impl GiopLite {
    /// What references and settings call it.
    pub const NAME: &'static str = "giop-lite";
}

impl Messaging for GiopLite {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begins(&self, first: [u8; TELLING]) -> bool {
        first.starts_with(&MAGIC)
    }

    fn format(&self) -> Option<Format> {
        Some(Format { version: Version::V1_2, code_sets: CodeSets::UNICODE })
    }

    fn carries_contexts(&self) -> bool {
        false
    }

    fn begin_request(&self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        begin_request(to, head)
    }

    fn begin_reply(&self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
        begin_reply(to, head);
        Ok(())
    }

    fn finish(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        finish(to)
    }

    fn cancel_request(&self, to: &mut Encoder<'_>, id: u32) {
        let start = [MAGIC[0], MAGIC[1], ORDER, MessageType::CANCEL_REQUEST.0];
        to.write_octets([start, (CANCEL as u32).to_ne_bytes(), id.to_ne_bytes()].as_flattened());
    }

    fn close_connection(&self, _: Version) -> Vec<u8> {
        last_word(MessageType::CLOSE_CONNECTION)
    }

    fn message_error(&self, _: Version) -> Vec<u8> {
        last_word(MessageType::MESSAGE_ERROR)
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(LiteParser)
    }
}

/// Begins a Request in an empty encoder.
#[inline(always)]
pub(crate) fn begin_request(to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
    let Addressing::ObjectKey(key) = head.target else { return Err(not_by_key()) };
    let (flags, number) = match head.by_number {
        Some(number) => (ORDER, number.get()),
        None => (ORDER | NAMED, 0),
    };
    let kind = MessageType::REQUEST.0 | head.response.0 << 4;
    let start = [MAGIC[0], MAGIC[1], flags, kind];
    let length = length(key.len(), "object key")?;
    let number = number.to_ne_bytes();
    let (words, _) = number.as_chunks();
    to.write_octets([start, [0; 4], head.id.to_ne_bytes(), length, words[0], words[1]].as_flattened());
    to.write_octets(key);
    if head.by_number.is_none() {
        write_name(to, head.operation)?;
    }
    to.align_before_next(BODY_ALIGNMENT);
    Ok(())
}

#[cold]
fn not_by_key() -> EncodeError {
    let what = EncodeErrorKind::Invalid("GIOPlite names objects by their keys alone");
    EncodeError::new(what, "target")
}

#[cold]
fn write_name(to: &mut Encoder<'_>, operation: &str) -> Result<(), EncodeError> {
    to.write_u32(u32::from_ne_bytes(length(operation.len(), "operation name")?));
    to.write_octets(operation.as_bytes());
    Ok(())
}

/// Begins a Reply in an empty encoder.
#[inline]
pub(crate) fn begin_reply(to: &mut Encoder<'_>, head: &ReplyHead<'_>) {
    let flags = if head.by_number { ORDER | BY_NUMBER } else { ORDER };
    let start = [MAGIC[0], MAGIC[1], flags, MessageType::REPLY.0];
    to.write_octets([start, [0; 4], head.id.to_ne_bytes(), head.status.0.to_ne_bytes()].as_flattened());
}

/// Completes a message: sets its size.
#[inline]
pub(crate) fn finish(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let size = length(to.len(), "message")?;
    to.set_u32(SIZE_AT, u32::from_ne_bytes(size));
    copied(to.copied());
    Ok(())
}

fn last_word(message: MessageType) -> Vec<u8> {
    [[MAGIC[0], MAGIC[1], ORDER, message.0], (SHORTEST as u32).to_ne_bytes()].as_flattened().to_vec()
}

#[inline]
fn length(length: usize, what: &'static str) -> Result<[u8; 4], EncodeError> {
    match u32::try_from(length) {
        Ok(length) => Ok(length.to_ne_bytes()),
        Err(_) => Err(EncodeError::new(EncodeErrorKind::TooLong(length), what)),
    }
}

/// The number that stands for an operation's name: a hash of its octets, eight a step. The last step overlaps the one
/// before, so that no tail is left.
#[inline]
#[must_use]
pub const fn operation_number(name: &[u8]) -> u64 {
    let mut state = (name.len() as u64).wrapping_mul(FIRST);
    if let Some(last) = name.last_chunk::<8>() {
        let mut rest = name;
        while let Some((step, after)) = rest.split_first_chunk::<8>() {
            if after.is_empty() {
                break;
            }
            state = mix(state ^ u64::from_le_bytes(*step));
            rest = after;
        }
        return mix(state ^ u64::from_le_bytes(*last));
    }
    let word = match (name.first_chunk::<4>(), name.last_chunk::<4>(), name) {
        (Some(first), Some(last), _) => {
            (u32::from_le_bytes(*first) as u64) << 32 | u32::from_le_bytes(*last) as u64
        }
        // Up to three octets: each of them at a place of its own.
        (_, _, &[a, b, c]) => (a as u64) << 16 | (b as u64) << 8 | c as u64,
        (_, _, &[a, b]) => (a as u64) << 8 | b as u64,
        (_, _, &[a]) => a as u64,
        _ => 0,
    };
    mix(state ^ word)
}

/// Odd constants with about half of their bits set: the fractional parts of the golden ratio and of √3.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xbb67_ae85_84ca_a73b;

/// Spreads every bit over the word: a full multiplication, folded.
#[inline]
const fn mix(word: u64) -> u64 {
    let product = (word ^ FIRST) as u128 * SECOND as u128;
    (product >> 64) as u64 ^ product as u64
}

/// Reads one connection. Each message stands for itself.
struct LiteParser;

impl Parser for LiteParser {
    fn next(&mut self, from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
        next(from, limits)
    }

    fn size(&self, octets: &[u8]) -> Option<usize> {
        size(octets)
    }
}

/// The size of the message that `octets` begin with, as soon as they tell.
pub(crate) fn size(octets: &[u8]) -> Option<usize> {
    octets.first_chunk().and_then(|start| Head::read(*start).ok()).map(|head| head.size)
}

/// Takes the next message from the front of the buffer.
pub(crate) fn next(from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
    if let Some(start) = usual::Start::of(from.unparsed(), limits) {
        if let Some(at) = start.reply() {
            return Ok(Some(Message::Reply(at.take(from))));
        }
        if let Some(at) = start.request() {
            return Ok(Some(Message::Request(at.take(from))));
        }
    }
    next_generally(from, limits)
}

/// Whatever message it is.
#[inline(never)]
fn next_generally(from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
    let octets = from.unparsed();
    let Some((&start, _)) = octets.split_first_chunk::<SHORTEST>() else { return Ok(None) };
    let head = Head::read(start)?;
    if head.size > limits.max_message {
        let (found, allowed) = (head.size, limits.max_message);
        let version = Version::V1_2;
        return Err(ProtocolError::LimitExceeded { limit: "max_message", found, allowed, version });
    }
    let Some(octets) = octets.get(..head.size) else {
        from.expect(head.size);
        return Ok(None);
    };
    let message = match head.kind {
        MessageType::REQUEST => Message::Request(request(from, octets, &head, limits)?),
        MessageType::REPLY => Message::Reply(reply(from, octets, &head)?),
        MessageType::CANCEL_REQUEST => Message::CancelRequest { id: head.word(octets, 8)? },
        MessageType::CLOSE_CONNECTION => Message::CloseConnection,
        MessageType::MESSAGE_ERROR => Message::MessageError,
        _ => return Err(malformed("message type", 3)),
    };
    from.take(head.size);
    Ok(Some(message))
}

/// What every message says first.
struct Head {
    order: ByteOrder,
    flags: u8,
    kind: MessageType,
    response: ResponseFlags,
    size: usize,
}

impl Head {
    #[inline]
    fn read(octets: [u8; SHORTEST]) -> Result<Self, ProtocolError> {
        let [z, l, flags, kind, size @ ..] = octets;
        if [z, l] != MAGIC {
            let [a, b, c, d, ..] = octets;
            return Err(ProtocolError::NotGiop { found: [a, b, c, d] });
        }
        let order = if flags & LITTLE_ENDIAN == 0 { ByteOrder::Big } else { ByteOrder::Little };
        let size = number(size, order) as usize;
        if size < SHORTEST {
            return Err(malformed("size", SIZE_AT));
        }
        let (kind, response) = (MessageType(kind & 15), ResponseFlags(kind >> 4));
        Ok(Self { order, flags, kind, response, size })
    }

    /// The number at `at`.
    #[inline]
    fn word(&self, octets: &[u8], at: usize) -> Result<u32, ProtocolError> {
        let word = octets.get(at..).and_then(|octets| octets.first_chunk());
        word.map(|word| number(*word, self.order)).ok_or(malformed("head", at))
    }

    /// The long number at `at`.
    fn long_word(&self, octets: &[u8], at: usize) -> Result<u64, ProtocolError> {
        let Some(&word) = octets.get(at..).and_then(|octets| octets.first_chunk()) else {
            return Err(malformed("head", at));
        };
        Ok(match self.order {
            ByteOrder::Little => u64::from_le_bytes(word),
            ByteOrder::Big => u64::from_be_bytes(word),
        })
    }
}

#[inline]
fn number(octets: [u8; 4], order: ByteOrder) -> u32 {
    match order {
        ByteOrder::Little => u32::from_le_bytes(octets),
        ByteOrder::Big => u32::from_be_bytes(octets),
    }
}

fn request(
    from: &ReceiveBuffer,
    octets: &[u8],
    head: &Head,
    limits: &Limits,
) -> Result<Request, ProtocolError> {
    let (id, key) = (head.word(octets, 8)?, head.word(octets, 12)? as usize);
    if octets.len() < REQUEST {
        return Err(malformed("operation's number", NUMBER_AT));
    }
    if key > octets.len() - REQUEST {
        return Err(malformed("object key", 12));
    }
    let mut end = REQUEST + key;
    let mut number = None;
    let mut operation = Octets::new();
    if head.flags & NAMED == 0 {
        number = NonZeroU64::new(head.long_word(octets, NUMBER_AT)?);
        if number.is_none() {
            return Err(malformed("operation's number", NUMBER_AT));
        }
    } else {
        let at = end.next_multiple_of(4) + 4;
        let name = head.word(octets, at - 4)? as usize;
        // The NUL that GIOP has behind it counts there.
        if name >= limits.max_operation {
            let (found, allowed, version) = (name + 1, limits.max_operation, Version::V1_2);
            return Err(ProtocolError::LimitExceeded { limit: "max_operation", found, allowed, version });
        }
        if name > octets.len() - at {
            return Err(malformed("operation name", at));
        }
        end = at + name;
        operation = from.part(at, name);
    }
    Ok(Request {
        version: Version::V1_2,
        id,
        response: head.response,
        target: Target::ObjectKey(from.part(REQUEST, key)),
        operation,
        number,
        contexts: ServiceContexts::new(),
        body: body(from, octets, end, head.order),
    })
}

fn reply(from: &ReceiveBuffer, octets: &[u8], head: &Head) -> Result<Reply, ProtocolError> {
    let (id, status) = (head.word(octets, 8)?, ReplyStatus(head.word(octets, 12)?));
    Ok(Reply {
        version: Version::V1_2,
        id,
        status,
        by_number: head.flags & BY_NUMBER != 0,
        contexts: ServiceContexts::new(),
        body: body(from, octets, REPLY, head.order),
    })
}

/// What stands behind a head that ends at `end`. Often that is nothing, which then keeps nothing.
#[inline]
fn body(from: &ReceiveBuffer, octets: &[u8], end: usize, order: ByteOrder) -> Body {
    let at = end.next_multiple_of(BODY_ALIGNMENT);
    let octets = match octets.len().checked_sub(at) {
        None | Some(0) => Octets::new(),
        Some(length) => from.part(at, length),
    };
    // Its order is the number's too.
    Body::one(Segment { octets, phase: 0 }, order)
}

#[cold]
fn malformed(what: &'static str, at: usize) -> ProtocolError {
    ProtocolError::NotUnderstood { protocol: GiopLite::NAME, what, at }
}

#[cfg(test)]
mod tests;
