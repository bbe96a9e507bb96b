//! The messages that nearly all messages are, read with the fewest questions asked: a Request by number or a Reply, in our
//! byte order. What looks otherwise in any way is read by the general way, which says what is wrong; a test holds the two
//! to the same results.

use core::num::NonZeroU64;

use zorb_cdr::{Body, ByteOrder, Octets, Segment, Version};

use super::{BODY_ALIGNMENT, BY_NUMBER, MAGIC, ORDER, REPLY, REQUEST};
use crate::{
    Limits, MessageType, ReceiveBuffer, Reply, ReplyStatus, Request, ResponseFlags, ServiceContexts, Target,
};

/// What such messages begin with.
const REQUESTS: u32 = start(0, MessageType::REQUEST.0);
const REPLIES: u32 = start(0, MessageType::REPLY.0);

/// The bits of it in which they differ.
const RESPONSE: u32 = start(0, 0xf0) ^ start(0, 0);
const NUMBERS: u32 = start(BY_NUMBER, 0) ^ start(0, 0);

const fn start(flags: u8, kind: u8) -> u32 {
    u32::from_ne_bytes([MAGIC[0], MAGIC[1], ORDER | flags, kind])
}

/// What a usual message says before what is kept of it is shared: numbers alone, so that the message itself is made once, where
/// the caller wants it.
#[derive(Clone, Copy)]
pub(crate) enum Usual {
    Request(RequestAt),
    Reply(ReplyAt),
}

#[derive(Clone, Copy)]
pub(crate) struct RequestAt {
    total: usize,
    id: u32,
    response: ResponseFlags,
    number: NonZeroU64,
    /// Octets of the key.
    key: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct ReplyAt {
    total: usize,
    id: u32,
    status: ReplyStatus,
    by_number: bool,
}

/// The usual message at the front of what was received, if that is what lies there.
#[inline(always)]
pub(crate) fn usual(octets: &[u8], limits: &Limits) -> Option<Usual> {
    let &[start, size, id, fourth] = octets.as_chunks().0.first_chunk()?;
    let (start, id, fourth) = (u32::from_ne_bytes(start), u32::from_ne_bytes(id), u32::from_ne_bytes(fourth));
    let total = usize::try_from(u32::from_ne_bytes(size)).ok()?;
    if total > limits.max_message || total > octets.len() {
        return None;
    }
    if start & !RESPONSE == REQUESTS {
        let head: &[u8; REQUEST] = octets.first_chunk()?;
        let number = NonZeroU64::new(u64::from_ne_bytes(*head.last_chunk()?))?;
        let key = usize::try_from(fourth).ok()?;
        if key > total.checked_sub(REQUEST)? {
            return None;
        }
        let [.., kind] = start.to_ne_bytes();
        Some(Usual::Request(RequestAt { total, id, response: ResponseFlags(kind >> 4), number, key }))
    } else if start & !NUMBERS == REPLIES && total >= REPLY {
        let by_number = start & NUMBERS != 0;
        Some(Usual::Reply(ReplyAt { total, id, status: ReplyStatus(fourth), by_number }))
    } else {
        None
    }
}

impl RequestAt {
    /// Takes the message from the front of the buffer.
    #[inline(always)]
    pub(crate) fn take(self, buffer: &mut ReceiveBuffer) -> Request {
        let key = buffer.part(REQUEST, self.key);
        let body = body(buffer, self.total, REQUEST + self.key);
        buffer.take(self.total);
        Request {
            version: Version::V1_2,
            id: self.id,
            response: self.response,
            target: Target::ObjectKey(key),
            operation: Octets::new(),
            number: Some(self.number),
            contexts: ServiceContexts::new(),
            body,
        }
    }
}

impl ReplyAt {
    /// Takes the message from the front of the buffer.
    #[inline(always)]
    pub(crate) fn take(self, buffer: &mut ReceiveBuffer) -> Reply {
        let body = body(buffer, self.total, REPLY);
        buffer.take(self.total);
        Reply {
            version: Version::V1_2,
            id: self.id,
            status: self.status,
            by_number: self.by_number,
            contexts: ServiceContexts::new(),
            body,
        }
    }
}

/// What stands behind a head that ends at `end`, in a message of so many octets. Often that is nothing, which then keeps
/// nothing.
#[inline(always)]
fn body(buffer: &ReceiveBuffer, total: usize, end: usize) -> Body {
    let at = end.next_multiple_of(BODY_ALIGNMENT);
    if at >= total {
        return Body::empty();
    }
    let octets = buffer.part(at, total - at);
    Body::one(Segment { octets, phase: 0 }, ByteOrder::NATIVE)
}
