//! Frames: the messaging protocol for audio and video. Oneway requests by datagrams, each with a sequence number and a
//! timestamp; what is lost or late is not sent again, but told.
//!
//! ```text
//!  0        2         3       4      8      12         16          24       28   32
//!  z  F │ version │ flags │ size │ flow │ sequence │ timestamp │ offset │ 0 │ part of the frame …   a datagram
//!  z  F │    1    │ flags │ size │ flow │ sequence │ timestamp │  lost  │ late │ …                   a whole frame
//!                                                                                │
//!                     32       36                                               ▼
//!                     length │ object key │ pad to 4 │ length │ operation │ pad to 8 │ arguments
//! ```
//!
//! Bit 0 of the flags is the byte order of all numbers and of the arguments: 1 is little-endian; the others are 0. The size is
//! the whole frame's, head included. The flow tells one sender's streams apart; the sequence number counts the frames of a flow and
//! wraps after 2³² of them; the timestamp is in nanoseconds of a clock of the sender's choice. Of a frame that is larger
//! than a datagram each part has the head, and `offset` says where it stands behind it. When a frame is whole,
//! [`FrameReceiver`] writes into that place what came before it: how many frames were lost, and how many dropped as late.
//!
//! Operations are named. Text is UTF-8 and UTF-16, as nothing could be agreed on. There are no replies, no service contexts and
//! nothing at the end of a connection. The servant's request has one service context, [`ContextId::ZORB_FRAME`], with what
//! the head says ([`Frame`]).

mod group;
mod receiver;
mod sender;

pub use group::GroupFrame;
pub use receiver::{FrameReceiver, FrameRules, Refused};
pub use sender::FlowNumbers;

use alloc::boxed::Box;
use alloc::vec::Vec;

use zorb_cdr::copies::copied;
use zorb_cdr::{
    Body, ByteOrder, CodeSets, EncodeError, EncodeErrorKind, Encoder, Format, Octets, Segment, Version,
};

use crate::messaging::{Messaging, Parser, TELLING};
use crate::{
    Addressing, ContextId, Limits, Message, ProtocolError, ReceiveBuffer, ReplyHead, Request, RequestHead,
    ResponseFlags, ServiceContexts, Target,
};

/// What every datagram of a frame begins with.
pub const FRAME_MAGIC: [u8; 2] = *b"zF";
const VERSION: u8 = 1;
const LITTLE_ENDIAN: u8 = 1;

/// Octets of the head, which every datagram of a frame has.
pub const FRAME_HEAD: usize = 32;

/// The largest frame sent or taken, in octets with its head. 1 MiB: a picture of video, not a file; what is lost of it
/// is lost as a whole.
pub const LARGEST_FRAME: usize = 1 << 20;

const SIZE_AT: usize = 4;
const FLOW_AT: usize = 8;
const SEQUENCE_AT: usize = 12;
const TIMESTAMP_AT: usize = 16;
const OFFSET_AT: usize = 24;
const LOST_AT: usize = OFFSET_AT;
const LATE_AT: usize = 28;

const ORDER: u8 = match ByteOrder::NATIVE {
    ByteOrder::Little => LITTLE_ENDIAN,
    ByteOrder::Big => 0,
};

/// The messaging protocol; see the module's head.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    timestamp: fn() -> u64,
}

impl Frames {
    /// What references and settings call it.
    pub const NAME: &'static str = "frames";

    /// `timestamp` is asked for each frame's, in nanoseconds, by the thread that makes the call.
    #[must_use]
    pub const fn new(timestamp: fn() -> u64) -> Self {
        Self { timestamp }
    }
}

impl Messaging for Frames {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begins(&self, first: [u8; TELLING]) -> bool {
        first.starts_with(&FRAME_MAGIC)
    }

    fn carries_contexts(&self) -> bool {
        false
    }

    fn format(&self) -> Option<Format> {
        Some(Format { version: Version::V1_2, code_sets: CodeSets::UNICODE })
    }

    fn by_datagrams(&self) -> Option<usize> {
        Some(LARGEST_FRAME)
    }

    fn begin_request(&self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        let refused = |why| Err(EncodeError::new(EncodeErrorKind::Invalid(why), "request"));
        let Addressing::ObjectKey(key) = head.target else {
            return refused("frames name objects by their keys alone");
        };
        if head.response != ResponseFlags::NONE {
            return refused("frames carry oneways alone");
        }
        to.write_octets(&[FRAME_MAGIC[0], FRAME_MAGIC[1], VERSION, ORDER]);
        // The size is written at the end; flow and sequence number when the frame leaves.
        to.write_octets(&[0; 12]);
        to.write_octets(&(self.timestamp)().to_ne_bytes());
        to.write_octets(&[0; 8]);
        for (octets, what) in [(key, "object key"), (head.operation.as_bytes(), "operation name")] {
            let too_long = |_| EncodeError::new(EncodeErrorKind::TooLong(octets.len()), what);
            to.write_u32(u32::try_from(octets.len()).map_err(too_long)?);
            to.write_octets(octets);
        }
        to.align_before_next(8);
        Ok(())
    }

    fn begin_reply(&self, _: &mut Encoder<'_>, _: &ReplyHead<'_>) -> Result<(), EncodeError> {
        Err(EncodeError::new(EncodeErrorKind::Invalid("frames have no replies"), "reply"))
    }

    fn finish(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let too_long = |_| EncodeError::new(EncodeErrorKind::TooLong(to.len()), "frame");
        let size = u32::try_from(to.len()).map_err(too_long)?;
        to.set_u32(SIZE_AT, size);
        copied(to.copied());
        Ok(())
    }

    /// Nobody waits for anything, so there is nothing to say.
    fn cancel_request(&self, _: &mut Encoder<'_>, _: u32) {}

    fn close_connection(&self, _: Version) -> Vec<u8> {
        Vec::new()
    }

    fn message_error(&self, _: Version) -> Vec<u8> {
        Vec::new()
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(FrameParser)
    }
}

/// What a servant may know of the frame that it was called by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Its place among the frames that its sender sent to the object; wraps after 2³².
    pub sequence: u32,
    /// When it was made, in nanoseconds of the sender's clock.
    pub timestamp: u64,
    /// Frames that had not come when this one did, of those between it and the one handed on or dropped as late before it.
    pub lost: u32,
    /// Frames dropped since the last one handed on, because they came too late, or behind later ones (and were then counted
    /// as lost before).
    pub late: u32,
}

impl Frame {
    const OCTETS: usize = 20;

    /// What the service context says, if there is such a context, 20 octets long.
    #[must_use]
    pub fn of(contexts: &ServiceContexts) -> Option<Frame> {
        let data: &[u8; Self::OCTETS] = contexts.find(ContextId::ZORB_FRAME)?[..].try_into().ok()?;
        let (words, _) = data.as_chunks::<4>();
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_be_bytes(*word));
        Some(Frame {
            sequence: word(0),
            timestamp: u64::from(word(1)) << 32 | u64::from(word(2)),
            lost: word(3),
            late: word(4),
        })
    }

    fn encode(self) -> [u8; Self::OCTETS] {
        let [high, low] = [(self.timestamp >> 32) as u32, self.timestamp as u32];
        let words = [self.sequence, high, low, self.lost, self.late].map(u32::to_be_bytes);
        let mut data = [0; Self::OCTETS];
        data.copy_from_slice(words.as_flattened());
        data
    }
}

/// What every datagram of a frame says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    order: ByteOrder,
    size: usize,
    flow: u32,
    sequence: u32,
    timestamp: u64,
    /// The offset; in a whole frame how many were lost.
    offset: u32,
    late: u32,
}

impl Head {
    fn read(octets: &[u8]) -> Result<Self, (&'static str, usize)> {
        let Some(head) = octets.first_chunk::<FRAME_HEAD>() else { return Err(("head", octets.len())) };
        let [z, f, version, flags, ..] = *head;
        if [z, f] != FRAME_MAGIC || version != VERSION {
            return Err(("version", 0));
        }
        if flags & !LITTLE_ENDIAN != 0 {
            return Err(("flags", 3));
        }
        let order = if flags == 0 { ByteOrder::Big } else { ByteOrder::Little };
        let word = |at| word(order, octets, at).ok_or(("head", at));
        let first = u64::from(word(TIMESTAMP_AT)?);
        let second = u64::from(word(TIMESTAMP_AT + 4)?);
        let head = Self {
            order,
            size: word(SIZE_AT)? as usize,
            flow: word(FLOW_AT)?,
            sequence: word(SEQUENCE_AT)?,
            timestamp: match order {
                ByteOrder::Big => first << 32 | second,
                ByteOrder::Little => second << 32 | first,
            },
            offset: word(OFFSET_AT)?,
            late: word(LATE_AT)?,
        };
        match head.size {
            FRAME_HEAD..=LARGEST_FRAME => Ok(head),
            _ => Err(("size", SIZE_AT)),
        }
    }
}

fn word(order: ByteOrder, octets: &[u8], at: usize) -> Option<u32> {
    let octets = *octets.get(at..)?.first_chunk()?;
    Some(match order {
        ByteOrder::Little => u32::from_le_bytes(octets),
        ByteOrder::Big => u32::from_be_bytes(octets),
    })
}

/// Where the parts of a whole frame are.
struct Parts {
    key: core::ops::Range<usize>,
    operation: core::ops::Range<usize>,
}

impl Parts {
    fn find(octets: &[u8], order: ByteOrder, limits: &Limits) -> Result<Self, (&'static str, usize)> {
        let run = |at: usize, what| {
            let length = word(order, octets, at).ok_or((what, at))? as usize;
            // No sum overflows: what is added is within the frame.
            if length > octets.len().saturating_sub(at + 4) {
                Err((what, at))
            } else {
                Ok(at + 4..at + 4 + length)
            }
        };
        let key = run(FRAME_HEAD, "object key")?;
        let at = key.end.next_multiple_of(4);
        let operation = run(at, "operation name")?;
        // The NUL that GIOP has behind it counts there.
        if operation.len() >= limits.max_operation {
            return Err(("operation name", at));
        }
        Ok(Self { key, operation })
    }
}

/// Reads what one sender's frames were made into. Each stands for itself.
struct FrameParser;

impl Parser for FrameParser {
    fn next(&mut self, from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
        let octets = from.unparsed();
        if octets.len() < FRAME_HEAD {
            return Ok(None);
        }
        let malformed = |(what, at)| ProtocolError::NotUnderstood { protocol: Frames::NAME, what, at };
        let head = Head::read(octets).map_err(malformed)?;
        if head.size > limits.max_message {
            let (found, allowed, version) = (head.size, limits.max_message, Version::V1_2);
            return Err(ProtocolError::LimitExceeded { limit: "max_message", found, allowed, version });
        }
        let Some(octets) = octets.get(..head.size) else {
            from.expect(head.size);
            return Ok(None);
        };
        let parts = Parts::find(octets, head.order, limits).map_err(malformed)?;
        let at = parts.operation.end.next_multiple_of(8);
        let body = match head.size.checked_sub(at) {
            None | Some(0) => Octets::new(),
            Some(length) => from.part(at, length),
        };
        let Head { sequence, timestamp, offset: lost, late, .. } = head;
        let mut contexts = ServiceContexts::new();
        contexts
            .push(ContextId::ZORB_FRAME, Frame { sequence, timestamp, lost, late }.encode().to_vec().into());
        let request = Request {
            version: Version::V1_2,
            id: sequence,
            response: ResponseFlags::NONE,
            target: Target::ObjectKey(from.part(parts.key.start, parts.key.len())),
            operation: from.part(parts.operation.start, parts.operation.len()),
            number: None,
            contexts,
            body: Body::one(Segment { octets: body, phase: 0 }, head.order),
        };
        from.take(head.size);
        Ok(Some(Message::Request(request)))
    }

    fn size(&self, octets: &[u8]) -> Option<usize> {
        Head::read(octets).ok().map(|head| head.size)
    }
}

#[cfg(test)]
mod tests;
