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

use core::ops::Range;

use zorb_cdr::{Body, ByteOrder, Segment, Version};

use super::buffer::ReceiveBuffer;
use super::heads::BODY_ALIGNMENT;
use crate::header::{HEADER_SIZE, Header};
use crate::{
    AddressingDisposition, Limits, MessageType, Reply, ReplyStatus, Request, ResponseFlags, ServiceContexts,
    Target,
};

/// What such messages begin with: all of the header but its size.
const REQUEST: [u8; 8] = first_octets(MessageType::REQUEST);
const REPLY: [u8; 8] = first_octets(MessageType::REPLY);

const fn first_octets(message: MessageType) -> [u8; 8] {
    let (version, order) = (Version::V1_2, ByteOrder::NATIVE);
    let [g, i, o, p, major, minor, flags, message, ..] =
        Header { version, order, more_fragments: false, message, size: 0 }.to_octets();
    [g, i, o, p, major, minor, flags, message]
}

/// The message of this kind that `octets` begin with, if all of it is there.
#[inline]
fn whole<'m>(octets: &'m [u8], first: &[u8; 8], limits: &Limits) -> Option<&'m [u8]> {
    if octets.first_chunk() != Some(first) {
        return None;
    }
    let total = usize::try_from(u32_at(octets, 8)?).ok()?.checked_add(HEADER_SIZE)?;
    if total <= limits.max_message { octets.get(..total) } else { None }
}

/// A usual Request in front of a receive buffer. Offsets count from its start.
pub(super) struct UsualRequest {
    id: u32,
    response: ResponseFlags,
    key: Range<usize>,
    /// Without its NUL.
    operation: Range<usize>,
    rest: Range<usize>,
}

impl UsualRequest {
    /// Finds one at the start of `octets`.
    #[inline]
    pub(super) fn at(octets: &[u8], limits: &Limits) -> Option<Self> {
        let octets = whole(octets, &REQUEST, limits)?;
        let (id, &response, disposition) = (u32_at(octets, 12)?, octets.get(16)?, octets.get(20..22)?);
        let key = sequence_at(octets, 24)?;
        let operation = sequence_at(octets, key.end)?;
        let contexts = sequence_at(octets, operation.end)?;
        let (&0, name) = octets[operation.clone()].split_last()? else { return None };
        let is_usual = disposition == AddressingDisposition::KEY_ADDR.0.to_ne_bytes()
            && contexts.is_empty()
            && name.len() < limits.max_operation;
        is_usual.then_some(Self {
            id,
            response: ResponseFlags(response),
            key,
            operation: operation.start..operation.start + name.len(),
            rest: contexts.end..octets.len(),
        })
    }

    /// Takes it from the buffer.
    #[inline]
    pub(super) fn take(self, buffer: &mut ReceiveBuffer) -> Request {
        let start = buffer.take(self.rest.end);
        Request {
            version: Version::V1_2,
            id: self.id,
            response: self.response,
            target: Target::ObjectKey(buffer.share(start, self.key)),
            operation: buffer.share(start, self.operation),
            contexts: ServiceContexts::new(),
            body: body(buffer, start, self.rest),
        }
    }
}

/// A usual Reply in front of a receive buffer. Offsets count from its start.
pub(super) struct UsualReply {
    id: u32,
    status: ReplyStatus,
    rest: Range<usize>,
}

impl UsualReply {
    /// Finds one at the start of `octets`.
    #[inline]
    pub(super) fn at(octets: &[u8], limits: &Limits) -> Option<Self> {
        let octets = whole(octets, &REPLY, limits)?;
        let (id, status) = (u32_at(octets, 12)?, ReplyStatus(u32_at(octets, 16)?));
        let contexts = sequence_at(octets, 20)?;
        contexts.is_empty().then_some(Self { id, status, rest: contexts.end..octets.len() })
    }

    /// Takes it from the buffer.
    #[inline]
    pub(super) fn take(self, buffer: &mut ReceiveBuffer) -> Reply {
        let start = buffer.take(self.rest.end);
        Reply {
            version: Version::V1_2,
            id: self.id,
            status: self.status,
            contexts: ServiceContexts::new(),
            body: body(buffer, start, self.rest),
        }
    }
}

/// What stands in `rest` of the message that starts at `start`, after padding.
#[inline]
fn body(buffer: &mut ReceiveBuffer, start: usize, rest: Range<usize>) -> Body {
    let from = rest.start.next_multiple_of(BODY_ALIGNMENT).min(rest.end);
    let segment = Segment { bytes: buffer.share(start, from..rest.end), phase: from % BODY_ALIGNMENT };
    Body::one(segment, ByteOrder::NATIVE)
}

#[inline]
fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

/// Where the octets stand whose number stands at the next multiple of 4.
#[inline]
fn sequence_at(octets: &[u8], at: usize) -> Option<Range<usize>> {
    let at = at.next_multiple_of(4);
    let length = usize::try_from(u32_at(octets, at)?).ok()?;
    let end = (at + 4).checked_add(length)?;
    (end <= octets.len()).then_some(at + 4..end)
}
