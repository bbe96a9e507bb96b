//! The messages that nearly all messages are, read with the fewest questions asked: a Request or Reply of GIOP 1.2, in
//! our byte order and in one piece, by object key, without service contexts.
//!
//! ```text
//! 0             12   16          20    24           28
//! header (1.2) │ id │ flags │ 0 │ 0   │ key length │ key │ operation length │ operation, NUL │ 0 │ (to 8) body
//! header (1.2) │ id │ status    │ 0   │ (to 8) body
//! ```
//!
//! What looks otherwise in any way is read by `heads.rs`, which can read everything and says what is wrong. A test in
//! `inbound.rs` holds the two to the same results.

use zorb_cdr::{Body, ByteOrder, Segment, Version};

use super::buffer::ReceiveBuffer;
use super::heads::BODY_ALIGNMENT;
use crate::header::{HEADER_SIZE, Header};
use crate::{
    AddressingDisposition, Limits, Message, MessageType, Reply, ReplyStatus, Request, ResponseFlags,
    ServiceContexts, Target,
};

/// Of which version they are.
pub(super) const VERSION: Version = Version::V1_2;

/// Octets before what differs in length: six words.
const HEAD: usize = 24;

/// Four octets, where numbers of the wire stand.
type Word = [u8; 4];

/// What such messages begin with: all of the header but its size.
pub(super) const REQUEST: [Word; 2] = first_words(MessageType::REQUEST);
const REPLY: [Word; 2] = first_words(MessageType::REPLY);

/// The number of service contexts in them.
pub(super) const NONE: Word = [0; 4];

const fn first_words(message: MessageType) -> [Word; 2] {
    let (version, order) = (VERSION, ByteOrder::NATIVE);
    let [magic, kind, _] = Header { version, order, more_fragments: false, message, size: 0 }.to_words();
    [magic, kind]
}

/// Takes a usual message from the front of the buffer, if that is what lies there. Always inlined: so the message is made
/// where the caller wants it, and not moved there.
#[inline(always)]
pub(super) fn take(buffer: &mut ReceiveBuffer, limits: &Limits) -> Option<Message> {
    let octets = buffer.unparsed();
    let &[magic, kind, size, id, fifth, sixth] = octets.as_chunks().0.first_chunk()?;
    let total = usize::try_from(u32::from_ne_bytes(size)).ok()?.checked_add(HEADER_SIZE)?;
    if total > limits.max_message {
        return None;
    }
    let message = octets.get(..total)?;
    let message = if [magic, kind] == REQUEST {
        Message::Request(request(buffer, message, [id, fifth, sixth], limits)?)
    } else if [magic, kind] == REPLY && sixth == NONE {
        Message::Reply(reply(buffer, message, u32::from_ne_bytes(id), fifth)?)
    } else {
        return None;
    };
    buffer.take(total);
    Some(message)
}

/// Takes the usual reply to this request from the front of the buffer, if that is what lies there.
#[inline(always)]
pub(super) fn take_reply(buffer: &mut ReceiveBuffer, id: u32, limits: &Limits) -> Option<Reply> {
    let octets = buffer.unparsed();
    let &[magic, kind, size, to, status, contexts] = octets.as_chunks().0.first_chunk()?;
    let total = usize::try_from(u32::from_ne_bytes(size)).ok()?.checked_add(HEADER_SIZE)?;
    if [magic, kind] != REPLY || to != id.to_ne_bytes() || contexts != NONE || total > limits.max_message {
        return None;
    }
    let message = octets.get(..total)?;
    let reply = reply(buffer, message, id, status)?;
    buffer.take(total);
    Some(reply)
}

/// A reply without service contexts.
#[inline(always)]
fn reply(buffer: &ReceiveBuffer, message: &[u8], id: u32, status: Word) -> Option<Reply> {
    Some(Reply {
        version: VERSION,
        id,
        status: ReplyStatus(u32::from_ne_bytes(status)),
        by_number: false,
        contexts: ServiceContexts::new(),
        body: body(buffer, message, message.get(HEAD..)?),
    })
}

#[inline]
fn request(
    buffer: &ReceiveBuffer,
    message: &[u8],
    [id, [response, ..], [high, low, ..]]: [Word; 3],
    limits: &Limits,
) -> Option<Request> {
    let (key, after_key) = sequence(message.get(HEAD..)?)?;
    let (operation, after_operation) = sequence(after_key)?;
    let (contexts, rest) = after_operation.split_first_chunk()?;
    let (&0, name) = operation.split_last()? else { return None };
    if AddressingDisposition(u16::from_ne_bytes([high, low])) != AddressingDisposition::KEY_ADDR
        || *contexts != NONE
        || name.len() >= limits.max_operation
    {
        return None;
    }
    // Each stands after the word that is its length.
    let (key_at, operation_at) = (HEAD + 4, message.len() - after_key.len() + 4);
    Some(Request {
        version: VERSION,
        id: u32::from_ne_bytes(id),
        response: ResponseFlags(response),
        target: Target::ObjectKey(buffer.part(key_at, key.len())),
        operation: buffer.part(operation_at, name.len()),
        number: None,
        contexts: ServiceContexts::new(),
        body: body(buffer, message, rest),
    })
}

/// The octets whose number `octets` begin with, at a multiple of 4, and what stands at the next such multiple.
#[inline]
fn sequence(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = octets.split_first_chunk()?;
    let length = usize::try_from(u32::from_ne_bytes(*length)).ok()?;
    let (sequence, rest) = rest.split_at_checked(length)?;
    Some((sequence, rest.get(length.wrapping_neg() % 4..)?))
}

/// What stands in the `rest` of a message, after padding. Often that is nothing, which then keeps nothing.
#[inline]
pub(super) fn body(buffer: &ReceiveBuffer, message: &[u8], rest: &[u8]) -> Body {
    let at = body_at(message, rest);
    if at >= message.len() {
        return Body::empty();
    }
    let octets = buffer.part(at, message.len() - at);
    Body::one(Segment { octets, phase: 0 }, ByteOrder::NATIVE)
}

/// Makes `into`, the body of the message before, the body of this one.
#[inline]
pub(super) fn body_into(into: &mut Body, buffer: &ReceiveBuffer, message: &[u8], rest: &[u8]) {
    let at = body_at(message, rest);
    match message.len().checked_sub(at).filter(|&octets| octets > 0) {
        Some(octets) => buffer.move_body(into, at, octets),
        None => *into = Body::empty(),
    }
}

#[inline]
fn body_at(message: &[u8], rest: &[u8]) -> usize {
    (message.len() - rest.len()).next_multiple_of(BODY_ALIGNMENT)
}
