//! Heads written: the sending half, functions on the [`Encoder`] that holds a whole message. CORBA 3.4 part 2, §9.4.
//!
//! ```text
//! begin_…                          the operation's stub             finish
//! header with size 0, head   │     body, aligned to 8 in 1.2   │    size set
//! ```
//!
//! The message is then sendable as [`Encoder::slices`], or as the pieces of [`fragments`]. The GIOP version is the
//! encoder's [`Format`](zorb_cdr::Format); layouts are drawn in [`message`](crate::Message)'s receiving twin,
//! `inbound/heads.rs`. It leaves to the ORB: which ids are in use, which contexts to send, and the sending.

mod fragments;
mod undecoded;

pub use fragments::{Fragments, Piece, fragments};
pub use undecoded::{write_undecoded_reply, write_undecoded_request};

use core::num::NonZeroU64;

use alloc::vec::Vec;

use zorb_cdr::copies::copied;
use zorb_cdr::{ByteOrder, EncodeError, EncodeErrorKind, Encoder, Version};

use crate::header::{HEADER_SIZE, Header};
use crate::{
    AddressingDisposition, Ior, LocateStatus, MessageType, ReplyStatus, ResponseFlags, ServiceContext,
    ServiceContexts, TaggedProfile, Target,
};

/// Where a header holds the message's size.
const SIZE_AT: usize = 8;

/// Bodies begin at a multiple of this in 1.2, and in GIOPlite.
pub(crate) const BODY_ALIGNMENT: usize = 8;

/// What a Request begins with.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'h> {
    /// Unique among the unanswered requests of the connection: [`RequestIds`](crate::RequestIds).
    pub id: u32,
    /// Whether and when a reply is wanted; 1.0 and 1.1 say only whether. A protocol of one's own must carry it: clients have the
    /// receipt of first oneways confirmed.
    pub response: ResponseFlags,
    /// Whom it is for.
    pub target: Addressing<'h>,
    /// The operation's name as on the wire (`_get_x` for an attribute).
    pub operation: &'h str,
    /// The operation's [number](crate::operation_number), where the server has said that it knows the object's operations by
    /// number: a messaging protocol with numbers may then leave the name out.
    pub by_number: Option<NonZeroU64>,
    /// Service contexts.
    pub contexts: &'h ServiceContexts,
}

/// What a Reply begins with.
#[derive(Clone, Copy, Debug)]
pub struct ReplyHead<'h> {
    /// The request's id.
    pub id: u32,
    /// What the body holds.
    pub status: ReplyStatus,
    /// The object's operations may be called by number, where the messaging protocol has such.
    pub by_number: bool,
    /// Service contexts.
    pub contexts: &'h ServiceContexts,
}

/// How a message is to name its object: a borrowed [`Target`].
#[derive(Clone, Copy, Debug)]
pub enum Addressing<'h> {
    /// By the object key: what every version knows, and the shortest.
    ObjectKey(&'h [u8]),
    /// By one profile of its reference (1.2). In 1.0 and 1.1 the key of an IIOP profile is sent instead.
    Profile(&'h TaggedProfile),
    /// By its whole reference (1.2). In 1.0 and 1.1 the key of the selected IIOP profile is sent instead.
    Reference {
        /// Index of the profile in use.
        selected: u32,
        /// The reference.
        ior: &'h Ior,
    },
}

impl<'h> From<&'h Target> for Addressing<'h> {
    fn from(target: &'h Target) -> Self {
        match target {
            Target::ObjectKey(key) => Self::ObjectKey(key),
            Target::Profile(profile) => Self::Profile(profile),
            Target::Reference { selected, ior } => Self::Reference { selected: *selected, ior },
        }
    }
}

/// Begins a Request in an empty encoder: header and head. The arguments follow, then [`finish`].
///
/// # Errors
/// A name, key or context that CDR cannot carry, or a target that the version cannot name.
#[inline]
pub fn begin_request(to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
    if to.format().version < Version::V1_2 {
        return begin_request_before_1_2(to, head);
    }
    let [magic, kind, size] = header(to, MessageType::REQUEST);
    let [disposition, first] = target_start(head.target)?;
    let response = [head.response.0, 0, 0, 0];
    to.write_octets([magic, kind, size, head.id.to_ne_bytes(), response, disposition, first].as_flattened());
    write_target_rest(to, head.target)?;
    write_name(to, head.operation, "operation name")?;
    to.write_length(head.contexts.len())?;
    write_contexts(to, head.contexts)?;
    to.align_before_next(BODY_ALIGNMENT);
    Ok(())
}

#[cold]
fn begin_request_before_1_2(to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
    let header = header(to, MessageType::REQUEST);
    to.write_octets(header.as_flattened());
    to.write_length(head.contexts.len())?;
    write_contexts(to, head.contexts)?;
    to.write_u32(head.id);
    to.write_bool(head.response.expects_reply());
    if to.format().version == Version::V1_1 {
        to.write_octets(&[0; 3]);
    }
    write_key(to, head.target)?;
    write_name(to, head.operation, "operation name")?;
    // No principal.
    to.write_u32(0);
    Ok(())
}

/// Begins a Reply in an empty encoder: header and head. The result follows, then [`finish`].
///
/// # Errors
/// A context that CDR cannot carry.
#[inline(always)]
pub fn begin_reply(to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
    if to.format().version < Version::V1_2 || !head.contexts.is_empty() {
        return begin_any_reply(to, head);
    }
    const USUAL: [[u8; 4]; 3] = empty(Version::V1_2, MessageType::REPLY).to_words();
    let ([magic, kind, size], contexts) = (USUAL, [0; 4]);
    let (id, status) = (head.id.to_ne_bytes(), head.status.0.to_ne_bytes());
    to.write_octets([magic, kind, size, id, status, contexts].as_flattened());
    to.align_before_next(BODY_ALIGNMENT);
    Ok(())
}

/// Of another version than 1.2, or with contexts.
#[inline(never)]
fn begin_any_reply(to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
    let [magic, kind, size] = header(to, MessageType::REPLY);
    let contexts = length(head.contexts.len())?;
    if to.format().version < Version::V1_2 {
        to.write_octets([magic, kind, size, contexts].as_flattened());
        write_contexts(to, head.contexts)?;
        to.write_u32(head.id);
        to.write_u32(head.status.0);
        return Ok(());
    }
    let (id, status) = (head.id.to_ne_bytes(), head.status.0.to_ne_bytes());
    to.write_octets([magic, kind, size, id, status, contexts].as_flattened());
    write_contexts(to, head.contexts)?;
    to.align_before_next(BODY_ALIGNMENT);
    Ok(())
}

/// Begins a LocateRequest in an empty encoder; it has no body. [`finish`] completes it.
///
/// # Errors
/// A target that CDR cannot carry or the version cannot name.
pub fn begin_locate_request(
    to: &mut Encoder<'_>,
    id: u32,
    target: Addressing<'_>,
) -> Result<(), EncodeError> {
    let header = header(to, MessageType::LOCATE_REQUEST);
    to.write_octets(header.as_flattened());
    to.write_u32(id);
    if to.format().version < Version::V1_2 {
        return write_key(to, target);
    }
    to.write_octets(target_start(target)?.as_flattened());
    write_target_rest(to, target)
}

/// Begins a LocateReply in an empty encoder. What the status asks for follows, unaligned, then [`finish`].
pub fn begin_locate_reply(to: &mut Encoder<'_>, id: u32, status: LocateStatus) {
    let [magic, kind, size] = header(to, MessageType::LOCATE_REPLY);
    to.write_octets([magic, kind, size, id.to_ne_bytes(), status.0.to_ne_bytes()].as_flattened());
}

/// Writes a whole CancelRequest into an empty encoder.
pub fn write_cancel_request(to: &mut Encoder<'_>, id: u32) {
    let [magic, kind, _] = header(to, MessageType::CANCEL_REQUEST);
    to.write_octets([magic, kind, 4u32.to_ne_bytes(), id.to_ne_bytes()].as_flattened());
}

/// A whole CloseConnection.
#[must_use]
pub fn close_connection(version: Version) -> [u8; HEADER_SIZE] {
    empty(version, MessageType::CLOSE_CONNECTION).to_octets()
}

/// A whole MessageError.
#[must_use]
pub fn message_error(version: Version) -> [u8; HEADER_SIZE] {
    empty(version, MessageType::MESSAGE_ERROR).to_octets()
}

/// Completes a message: sets its size. Nothing may be written after it.
///
/// # Errors
/// The message is 4 GiB or larger.
#[inline]
pub fn finish(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let size = to.len().saturating_sub(HEADER_SIZE);
    let Ok(octets) = u32::try_from(size) else {
        return Err(EncodeError::new(EncodeErrorKind::TooLong(size), "message"));
    };
    to.set_u32(SIZE_AT, octets);
    copied(to.copied());
    Ok(())
}

/// Begins a request behind other messages in one memory with the head of one before, of version 1.2, but for the id, and with the padding
/// before arguments. [`finish_behind`] completes it.
#[inline]
pub fn repeat_request_behind(to: &mut Vec<u8>, head: &[u8], id: u32) {
    let from = to.len();
    to.extend_from_slice(head);
    if let Some(place) = to.get_mut(from + HEADER_SIZE..).and_then(|rest| rest.first_chunk_mut()) {
        *place = id.to_ne_bytes();
    }
    // Eight and back: a copy of known size, where a variable one would be a call.
    let end = from + head.len().next_multiple_of(BODY_ALIGNMENT);
    to.extend_from_slice(&[0; BODY_ALIGNMENT]);
    to.truncate(end);
}

/// Completes a message of so long a head that begins `from` octets behind the memory's beginning: without arguments it ends with
/// its head. False: it is larger than its header can say.
#[inline]
#[must_use]
pub fn finish_behind(to: &mut Vec<u8>, from: usize, head: usize) -> bool {
    if to.len() - from == head.next_multiple_of(BODY_ALIGNMENT) {
        to.truncate(from + head);
    }
    let size = to.len().saturating_sub(from + HEADER_SIZE);
    let place = to.get_mut(from + SIZE_AT..).and_then(|rest| rest.first_chunk_mut());
    let (Ok(octets), Some(place)) = (u32::try_from(size), place) else { return false };
    *place = octets.to_ne_bytes();
    copied(size + HEADER_SIZE);
    true
}

const fn empty(version: Version, message: MessageType) -> Header {
    Header { version, order: ByteOrder::NATIVE, more_fragments: false, message, size: 0 }
}

/// The header of a message that the encoder is to hold, its size still 0.
#[inline]
fn header(to: &Encoder<'_>, message: MessageType) -> [[u8; 4]; 3] {
    debug_assert!(to.is_empty(), "a message begins in an empty encoder");
    empty(to.format().version, message).to_words()
}

/// The length of a sequence as it is written.
#[inline]
fn length(length: usize) -> Result<[u8; 4], EncodeError> {
    match u32::try_from(length) {
        Ok(length) => Ok(length.to_ne_bytes()),
        Err(_) => Err(EncodeError::new(EncodeErrorKind::TooLong(length), "sequence")),
    }
}

#[inline]
fn write_octet_sequence(to: &mut Encoder<'_>, octets: &[u8]) -> Result<(), EncodeError> {
    to.write_length(octets.len())?;
    to.write_octets(octets);
    Ok(())
}

/// Names in heads are written before code sets are known: IDL identifiers and repository ids are ASCII.
#[inline]
fn write_name(to: &mut Encoder<'_>, name: &str, what: &'static str) -> Result<(), EncodeError> {
    to.write_raw_string(name.as_bytes()).map_err(|error| error.in_what(what))
}

/// What follows the number of contexts.
#[inline]
fn write_contexts(to: &mut Encoder<'_>, contexts: &ServiceContexts) -> Result<(), EncodeError> {
    if contexts.is_empty() { Ok(()) } else { write_some_contexts(to, contexts) }
}

#[cold]
fn write_some_contexts(to: &mut Encoder<'_>, contexts: &[ServiceContext]) -> Result<(), EncodeError> {
    for context in contexts {
        to.write_u32(context.id.0);
        write_octet_sequence(to, &context.data)?;
    }
    Ok(())
}

/// What a `TargetAddress` (1.2) begins with: its discriminator and padding after it, then an `unsigned long`, whichever the
/// arm.
#[inline]
fn target_start(target: Addressing<'_>) -> Result<[[u8; 4]; 2], EncodeError> {
    let (disposition, first) = match target {
        Addressing::ObjectKey(key) => (AddressingDisposition::KEY_ADDR, length(key.len())?),
        Addressing::Profile(profile) => (AddressingDisposition::PROFILE_ADDR, profile.tag.0.to_ne_bytes()),
        Addressing::Reference { selected, .. } => {
            (AddressingDisposition::REFERENCE_ADDR, selected.to_ne_bytes())
        }
    };
    let [high, low] = disposition.0.to_ne_bytes();
    Ok([[high, low, 0, 0], first])
}

/// The rest of a `TargetAddress` (1.2), after its [start](target_start).
#[inline]
fn write_target_rest(to: &mut Encoder<'_>, target: Addressing<'_>) -> Result<(), EncodeError> {
    match target {
        Addressing::ObjectKey(key) => {
            to.write_octets(key);
            Ok(())
        }
        Addressing::Profile(profile) => write_octet_sequence(to, &profile.data),
        Addressing::Reference { ior, .. } => write_reference(to, ior),
    }
}

#[cold]
fn write_reference(to: &mut Encoder<'_>, ior: &Ior) -> Result<(), EncodeError> {
    write_name(to, &ior.type_id, "type id")?;
    to.write_length(ior.profiles.len())?;
    for profile in &ior.profiles {
        to.write_u32(profile.tag.0);
        write_octet_sequence(to, &profile.data)?;
    }
    Ok(())
}

/// The object key (1.0, 1.1).
fn write_key(to: &mut Encoder<'_>, target: Addressing<'_>) -> Result<(), EncodeError> {
    let profile = match target {
        Addressing::ObjectKey(key) => return write_octet_sequence(to, key),
        Addressing::Profile(profile) => Some(profile),
        Addressing::Reference { selected, ior } => {
            usize::try_from(selected).ok().and_then(|selected| ior.profiles.get(selected))
        }
    };
    match profile.and_then(|profile| crate::IiopProfile::decode(profile).ok()) {
        Some(profile) => write_octet_sequence(to, &profile.object_key),
        None => Err(EncodeError::new(
            EncodeErrorKind::Invalid(
                "GIOP 1.0 and 1.1 name an object by its key only, and the profile has none",
            ),
            "target",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServiceContexts;
    use alloc::vec;
    use zorb_cdr::Format;

    fn written(id: u32, arguments: impl Fn(&mut Encoder<'_>)) -> (Vec<u8>, usize) {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head = RequestHead {
            id,
            response: ResponseFlags::NONE,
            target: Addressing::ObjectKey(b"a key"),
            operation: "tell",
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        begin_request(&mut to, &head).unwrap();
        let head = to.len();
        arguments(&mut to);
        finish(&mut to).unwrap();
        (to.into_buffer(), head)
    }

    #[test]
    fn behind_others_a_message_is_what_it_is_alone() {
        let (first, head) = written(7, |_| ());
        // Whatever stands before it, it is aligned from where it begins.
        for before in 0..16 {
            for count in 0..20u8 {
                let arguments = |to: &mut Encoder<'_>| {
                    (0..count).for_each(|number| to.write_u8(number));
                    if count > 10 {
                        to.write_u64(u64::MAX);
                    }
                };
                let mut memory = vec![0xa5; before];
                repeat_request_behind(&mut memory, &first[..head], 9);
                let mut to = Encoder::behind(memory, before, Format::new(Version::V1_2));
                arguments(&mut to);
                let mut memory = to.into_buffer();
                assert!(finish_behind(&mut memory, before, head));
                assert_eq!(memory[before..], written(9, arguments).0, "{count} octets behind {before}");
                assert!(memory[..before].iter().all(|octet| *octet == 0xa5));
            }
        }
    }
}
