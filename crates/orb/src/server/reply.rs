//! Replies: composed in memory that serves again and again, sent by the connection.

use zorb_cdr::{EncodeError, Encoder, Version};
use zorb_giop::{ReplyHead, ReplyStatus, ServiceContexts};

use super::call::Remote;
use crate::probes::{Point, passed};

/// Memory for replies that is kept from one to the next, with the memory of requests. 64 KiB: bulk is borrowed, not copied, so that
/// only unusual replies need more, and each thread keeps one.
const LARGEST_KEPT: usize = 64 << 10;

/// Composes a reply to a request in `memory` and hands it to the connection. Gives the memory back.
///
/// # Errors
/// The body cannot be written; nothing was sent then, and another reply may take its place.
#[inline]
pub(super) fn send<'r>(
    request: &Remote,
    memory: Vec<u8>,
    status: ReplyStatus,
    contexts: Option<&ServiceContexts>,
    body: impl FnOnce(&mut Encoder<'r>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    static NO_CONTEXTS: ServiceContexts = ServiceContexts::new();
    let connection = &request.source().connection;
    let format = request.format();
    let mut message = Encoder::with_buffer(memory, format);
    let messaging = connection.messaging().writer();
    let Remote { id, by_number, .. } = *request;
    let head = ReplyHead { id, status, by_number, contexts: contexts.unwrap_or(&NO_CONTEXTS) };
    messaging.begin_reply(&mut message, &head)?;
    if let (Some(size), Version::V1_1) = (connection.fragment_size(), format.version) {
        message.fragment_every(size);
    }
    body(&mut message)?;
    messaging.finish(&mut message)?;
    passed(Point::Replied);
    connection.send(&message);
    passed(Point::Left);
    let memory = message.into_buffer();
    Ok(if memory.capacity() <= LARGEST_KEPT { memory } else { Vec::new() })
}
