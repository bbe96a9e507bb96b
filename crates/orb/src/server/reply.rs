//! Replies: composed in memory that serves again and again, sent by the connection.

use std::cell::Cell;
use std::sync::Arc;

use zorb_cdr::{EncodeError, Encoder, Format, Version};
use zorb_giop::{ReplyHead, ReplyStatus, ServiceContexts};

use super::connection::Connection;
use crate::probes::{Point, passed};

/// Memory for replies that is kept from one to the next. 64 KiB: bulk is borrowed, not copied, so that only unusual
/// replies need more, and each thread keeps one.
const LARGEST_KEPT: usize = 64 << 10;

thread_local! {
    static MEMORY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Composes a reply and hands it to the connection.
///
/// # Errors
/// The body cannot be written; nothing was sent then, and another reply may take its place.
#[inline]
pub(super) fn send<'r>(
    connection: &Arc<Connection>,
    format: Format,
    id: u32,
    status: ReplyStatus,
    by_number: bool,
    contexts: Option<&ServiceContexts>,
    body: impl FnOnce(&mut Encoder<'r>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    static NO_CONTEXTS: ServiceContexts = ServiceContexts::new();
    let mut message = Encoder::with_buffer(MEMORY.take(), format);
    let messaging = connection.messaging().writer();
    let head = ReplyHead { id, status, by_number, contexts: contexts.unwrap_or(&NO_CONTEXTS) };
    let composed = messaging
        .begin_reply(&mut message, &head)
        .and_then(|()| {
            if let (Some(size), Version::V1_1) = (connection.fragment_size(), format.version) {
                message.fragment_every(size);
            }
            body(&mut message)
        })
        .and_then(|()| messaging.finish(&mut message));
    if composed.is_ok() {
        passed(Point::Replied);
        connection.send(&message);
        passed(Point::Left);
    }
    let memory = message.into_buffer();
    if memory.capacity() <= LARGEST_KEPT {
        MEMORY.set(memory);
    }
    composed
}
