//! The messages that nearly all messages are, read with the fewest questions asked: a Request by number or a Reply, in our
//! byte order. What looks otherwise in any way is read by the general way, which says what is wrong; a test holds the two
//! to the same results.

use core::num::NonZeroU64;

use zorb_cdr::{Body, ByteOrder, Octets, Segment, Version};

use super::{BODY_ALIGNMENT, BY_NUMBER, MAGIC, ORDER, REPLY, REQUEST};
use crate::{
    Limits, MessageType, ReceiveBuffer, Reply, ReplyStatus, Request, ResponseFlags, ServiceContexts, Target,
};

/// What such messages begin with, as a number with the first octet lowest.
const REQUESTS: u32 = start(0, MessageType::REQUEST.0);
const REPLIES: u32 = start(0, MessageType::REPLY.0);

/// The bits of it in which they differ.
const RESPONSE: u32 = 0xf << RESPONSE_AT;
const RESPONSE_AT: u32 = 28;
const NUMBERS: u32 = (BY_NUMBER as u32) << 16;

const fn start(flags: u8, kind: u8) -> u32 {
    u32::from_le_bytes([MAGIC[0], MAGIC[1], ORDER | flags, kind])
}

/// The front of a message that is there whole.
#[derive(Clone, Copy)]
pub(crate) struct Start<'m> {
    start: u32,
    total: usize,
    id: u32,
    fourth: u32,
    message: &'m [u8],
}

impl<'m> Start<'m> {
    /// `None`: it is read in the general way.
    #[inline(always)]
    pub(crate) fn of(octets: &'m [u8], limits: &Limits) -> Option<Self> {
        let &[start, size, id, fourth] = octets.as_chunks().0.first_chunk()?;
        let total = usize::try_from(u32::from_ne_bytes(size)).ok()?;
        if total > limits.max_message {
            return None;
        }
        let message = octets.get(..total)?;
        let (id, fourth) = (u32::from_ne_bytes(id), u32::from_ne_bytes(fourth));
        Some(Start { start: u32::from_le_bytes(start), total, id, fourth, message })
    }

    /// If it is a usual Reply.
    #[inline(always)]
    pub(crate) fn reply(&self) -> Option<ReplyAt> {
        let &Start { start, total, id, fourth, .. } = self;
        let is_reply = start & !NUMBERS == REPLIES && total >= REPLY;
        is_reply.then_some(ReplyAt {
            total,
            id,
            status: ReplyStatus(fourth),
            by_number: start & NUMBERS != 0,
        })
    }

    /// If it is a usual Request.
    #[inline(always)]
    pub(crate) fn request(&self) -> Option<RequestAt> {
        let &Start { start, total, id, fourth, message } = self;
        let head: &[u8; REQUEST] = message.first_chunk()?;
        let number = NonZeroU64::new(u64::from_ne_bytes(*head.last_chunk()?))?;
        let key = usize::try_from(fourth).ok()?;
        if start & !RESPONSE != REQUESTS || key > total - REQUEST {
            return None;
        }
        let response = ResponseFlags((start >> RESPONSE_AT) as u8);
        Some(RequestAt { total, id, response, number, key })
    }
}

/// Where the parts of a usual Request lie: numbers alone, so that the message is made once, and where the caller wants it.
#[derive(Clone, Copy)]
pub(crate) struct RequestAt {
    total: usize,
    id: u32,
    response: ResponseFlags,
    number: NonZeroU64,
    /// Octets of the key.
    key: usize,
}

/// The same of a Reply.
#[derive(Clone, Copy)]
pub(crate) struct ReplyAt {
    total: usize,
    id: u32,
    status: ReplyStatus,
    by_number: bool,
}

impl RequestAt {
    /// Takes the message from the front of the buffer.
    #[inline(always)]
    pub(crate) fn take(self, buffer: &mut ReceiveBuffer) -> Request {
        let key = buffer.part(REQUEST, self.key);
        let body = body(buffer, self.total, (REQUEST + self.key).next_multiple_of(BODY_ALIGNMENT));
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

/// What stands from `at` on. Often that is nothing, which then keeps nothing.
#[inline(always)]
fn body(buffer: &ReceiveBuffer, total: usize, at: usize) -> Body {
    if at >= total {
        return Body::empty();
    }
    let octets = buffer.part(at, total - at);
    Body::one(Segment { octets, phase: 0 }, ByteOrder::NATIVE)
}
