//! Fragments put together. CORBA 3.4 part 2, §9.4.9.
//!
//! ```text
//! 1.2   header │ id … 8·n octets     header │ id │ continues      any number at a time, told apart by id;
//!       └── alignment runs on ───────────────────┘ from here      kept in one piece, so that bodies stay views
//!
//! 1.1   header │ …                   header │ continues           one at a time, no id;
//!       └── alignment origin         └── a new alignment origin   kept as segments, each with its phase
//! ```
//!
//! Fragments are copied out of the receive buffer: a tiny one must not hold a large buffer. The copies are bounded by
//! [`Limits`], and every fragment is charged [`FRAGMENT_CHARGE`] beyond its octets, so that endless empty ones end too.

use alloc::sync::Arc;
use alloc::vec::Vec;

use zorb_cdr::copies::copied;
use zorb_cdr::{Body, ByteOrder, Segment, Version};

use super::storage::{Charged, Storage};
use crate::header::{HEADER_SIZE, Header};
use crate::{Limits, MessageType, ProtocolError};

/// What a fragment costs us beyond its octets: a segment and its allocation, rounded up to a cache line.
pub(super) const FRAGMENT_CHARGE: usize = 64;

/// Octets of the header and the request id that a 1.2 fragment begins with.
const HEADER_AND_ID: usize = HEADER_SIZE + 4;

/// The incomplete messages of one connection.
#[derive(Default)]
pub(super) struct Reassembly {
    /// GIOP 1.2: few at a time, so a list.
    by_id: Vec<(u32, Assembly<Vec<u8>>)>,
    /// GIOP 1.1: one at a time.
    without_id: Option<Assembly<Vec<Part>>>,
    /// What all of them are charged.
    charged: Charged,
}

/// A fragment's octets.
struct Part {
    octets: Vec<u8>,
    /// As in [`Segment::phase`].
    phase: usize,
}

struct Assembly<T> {
    /// Of the first message; says what the whole is.
    header: Header,
    parts: T,
    octets: usize,
    charged: usize,
}

impl<T> Assembly<T> {
    /// Counts `octets` more, or says which limit they would exceed.
    fn charge(&mut self, octets: usize, all: &mut Charged, limits: &Limits) -> Result<(), ProtocolError> {
        self.octets = self.octets.saturating_add(octets);
        let version = self.header.version;
        if self.octets > limits.max_message {
            let (found, allowed) = (self.octets, limits.max_message);
            return Err(ProtocolError::LimitExceeded { limit: "max_message", found, allowed, version });
        }
        let charge = octets.saturating_add(FRAGMENT_CHARGE);
        let all = all.add(charge).map_err(|allowed| ProtocolError::LimitExceeded {
            limit: "message_memory",
            found: allowed.saturating_add(charge),
            allowed,
            version,
        })?;
        self.charged = self.charged.saturating_add(charge);
        if all > limits.max_reassembly_bytes {
            let (found, allowed) = (all, limits.max_reassembly_bytes);
            return Err(ProtocolError::LimitExceeded {
                limit: "max_reassembly_bytes",
                found,
                allowed,
                version,
            });
        }
        Ok(())
    }
}

impl Reassembly {
    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.without_id.is_none()
    }

    /// Adds a message that fragments continue, or a Fragment; hands out the whole if that was the last.
    #[cold]
    pub(super) fn add(
        &mut self,
        header: Header,
        octets: &[u8],
        limits: &Limits,
        storage: Option<&Arc<dyn Storage>>,
    ) -> Result<Option<(Header, Body)>, ProtocolError> {
        self.charged.count_in(storage);
        if header.message != MessageType::FRAGMENT {
            self.begin(header, octets, limits).map(|()| None)
        } else if header.version < Version::V1_2 {
            self.go_on_1_1(header, octets, limits)
        } else {
            self.go_on_1_2(header, octets, limits)
        }
    }

    /// Whether a reply to `id` has begun and not ended.
    pub(super) fn has_part_of_reply(&self, id: u32) -> bool {
        let is_reply = |header: &Header| header.message == MessageType::REPLY;
        self.without_id.as_ref().is_some_and(|assembly| is_reply(&assembly.header))
            || self.by_id.iter().any(|(known, assembly)| *known == id && is_reply(&assembly.header))
    }

    /// Keeps the first message of several.
    fn begin(&mut self, header: Header, message: &[u8], limits: &Limits) -> Result<(), ProtocolError> {
        let many = self.by_id.len() + usize::from(self.without_id.is_some()) + 1;
        if many > limits.max_reassembly_messages {
            return Err(ProtocolError::LimitExceeded {
                limit: "max_reassembly_messages",
                found: many,
                allowed: limits.max_reassembly_messages,
                version: header.version,
            });
        }
        if header.version < Version::V1_2 {
            if self.without_id.is_some() {
                return Err(ProtocolError::AlreadyFragmented { id: None });
            }
            let mut assembly = Assembly { header, parts: Vec::new(), octets: 0, charged: 0 };
            assembly.charge(message.len(), &mut self.charged, limits)?;
            copied(message.len());
            assembly.parts.push(Part { octets: message.to_vec(), phase: 0 });
            self.without_id = Some(assembly);
            return Ok(());
        }
        let id = request_id(&header, message)?;
        if self.by_id.iter().any(|&(known, _)| known == id) {
            return Err(ProtocolError::AlreadyFragmented { id: Some(id) });
        }
        let mut assembly = Assembly { header, parts: Vec::new(), octets: 0, charged: 0 };
        assembly.charge(message.len(), &mut self.charged, limits)?;
        assembly.parts.extend_from_slice(message);
        copied(message.len());
        self.by_id.push((id, assembly));
        Ok(())
    }

    fn go_on_1_1(
        &mut self,
        header: Header,
        fragment: &[u8],
        limits: &Limits,
    ) -> Result<Option<(Header, Body)>, ProtocolError> {
        let Some(assembly) = &mut self.without_id else {
            return Err(ProtocolError::UnexpectedFragment { id: None });
        };
        same_order(&assembly.header, &header)?;
        let data = &fragment[HEADER_SIZE..];
        assembly.charge(data.len(), &mut self.charged, limits)?;
        if !data.is_empty() {
            copied(data.len());
            assembly.parts.push(Part { octets: data.to_vec(), phase: HEADER_SIZE % 8 });
        }
        if header.more_fragments {
            return Ok(None);
        }
        Ok(self.without_id.take().map(|Assembly { header, parts, charged, .. }| {
            let mut left = charged;
            let segments = parts.into_iter().map(|Part { octets, phase }| {
                let charge = octets.len().saturating_add(FRAGMENT_CHARGE);
                left = left.saturating_sub(charge);
                Segment { octets: self.charged.hand_out(octets, charge), phase }
            });
            let body = Body::many(segments.collect(), header.order);
            self.charged.subtract(left);
            (header, body)
        }))
    }

    fn go_on_1_2(
        &mut self,
        header: Header,
        fragment: &[u8],
        limits: &Limits,
    ) -> Result<Option<(Header, Body)>, ProtocolError> {
        let id = request_id(&header, fragment)?;
        let Some(index) = self.by_id.iter().position(|&(known, _)| known == id) else {
            return Err(ProtocolError::UnexpectedFragment { id: Some(id) });
        };
        let assembly = &mut self.by_id[index].1;
        same_order(&assembly.header, &header)?;
        let data = &fragment[HEADER_AND_ID..];
        assembly.charge(data.len(), &mut self.charged, limits)?;
        assembly.parts.extend_from_slice(data);
        copied(data.len());
        if header.more_fragments {
            return Ok(None);
        }
        let (_, Assembly { header, parts, charged, .. }) = self.by_id.swap_remove(index);
        let octets = self.charged.hand_out(parts, charged);
        Ok(Some((header, Body::one(Segment { octets, phase: 0 }, header.order))))
    }

    /// Drops what has come of a request that its sender will not complete.
    pub(super) fn cancel(&mut self, id: u32) {
        if let Some(index) = self.by_id.iter().position(|(known, assembly)| {
            // The sender cancels its own requests; the same id on a reply is another's.
            *known == id
                && matches!(assembly.header.message, MessageType::REQUEST | MessageType::LOCATE_REQUEST)
        }) {
            let (_, assembly) = self.by_id.swap_remove(index);
            self.charged.subtract(assembly.charged);
        }
    }
}

/// The id that every fragmentable 1.2 message and every 1.2 Fragment begins with.
fn request_id(header: &Header, message: &[u8]) -> Result<u32, ProtocolError> {
    let octets = message[HEADER_SIZE..].first_chunk::<4>().ok_or(ProtocolError::Malformed {
        message: header.message,
        what: "request id",
        at: message.len(),
        version: header.version,
    })?;
    Ok(match header.order {
        ByteOrder::Little => u32::from_le_bytes(*octets),
        ByteOrder::Big => u32::from_be_bytes(*octets),
    })
}

fn same_order(first: &Header, fragment: &Header) -> Result<(), ProtocolError> {
    if first.order == fragment.order {
        return Ok(());
    }
    Err(ProtocolError::Malformed {
        message: fragment.message,
        what: "byte order other than the first fragment's",
        at: 6,
        version: fragment.version,
    })
}
