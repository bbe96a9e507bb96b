//! Messages around a body that nobody has decoded: it goes on in the byte order and with the alignment that it came with.
//!
//! ```text
//! came in   head A │ body, its first octet at phase p          p: distance from the alignment origin, modulo 8
//! goes out  head B │ filler │ body, its first octet at phase p
//! ```
//!
//! Without its types a body cannot be aligned anew, so the head is made to end where the body's phase wants it: in a
//! Request of GIOP 1.0 and 1.1 by octets in the principal, which is deprecated and read by nobody, and in a Reply by a
//! service context ([`ContextId::ZORB_FILLER`]). Bodies of GIOP 1.2 begin at a multiple of 8 in any case. A body
//! that GIOP 1.1 has cut into fragments, whose alignment restarts at each (§9.4.9), leaves in the same fragments.
//!
//! Head and body share one byte order (§9.4.1), so the head is written in the body's.

use zorb_cdr::copies::copied;
use zorb_cdr::{BORROW_FROM, Body, ByteOrder, EncodeError, EncodeErrorKind, Encoder, Version};

use super::{Addressing, ReplyHead, RequestHead};
use crate::header::{HEADER_SIZE, Header};
use crate::{AddressingDisposition, ContextId, IiopProfile, MessageType, ServiceContext};

/// Writes a whole Request of `version` into an empty encoder, with a body that stays as it is. Octets from
/// [`BORROW_FROM`] on are shared, not copied. The encoder's own version and code sets mean nothing here.
///
/// # Errors
/// A name, key or context that CDR cannot carry, a target that the version cannot name, or a body whose alignment the
/// version cannot keep: one of an odd phase in 1.2, or one in fragments of 1.1 that is to leave in another version.
pub fn write_undecoded_request(
    to: &mut Encoder<'_>,
    version: Version,
    head: &RequestHead<'_>,
    body: &Body,
) -> Result<(), EncodeError> {
    let mut message = Undecoded { to, order: body.order, version };
    message.header(MessageType::REQUEST);
    if version >= Version::V1_2 {
        message.u32(head.id);
        message.to.write_octets(&[head.response.0, 0, 0, 0]);
        message.target(head.target)?;
        message.name(head.operation)?;
        message.contexts(head.contexts, 0)?;
        return message.body(MessageType::REQUEST, body);
    }
    message.contexts(head.contexts, 0)?;
    message.u32(head.id);
    message.to.write_octets(&[u8::from(head.response.expects_reply()), 0, 0, 0]);
    message.key(head.target)?;
    message.name(head.operation)?;
    message.to.align(4);
    let principal = filler(message.to.position() + 4, body);
    message.length(principal)?;
    message.to.write_octets(&[0; 8][..principal]);
    message.body(MessageType::REQUEST, body)
}

/// Writes a whole Reply of `version` into an empty encoder, with a body that stays as it is; as
/// [`write_undecoded_request`] does.
///
/// # Errors
/// A context that CDR cannot carry, or a body whose alignment the version cannot keep.
pub fn write_undecoded_reply(
    to: &mut Encoder<'_>,
    version: Version,
    head: &ReplyHead<'_>,
    body: &Body,
) -> Result<(), EncodeError> {
    let mut message = Undecoded { to, order: body.order, version };
    message.header(MessageType::REPLY);
    if version >= Version::V1_2 {
        message.u32(head.id);
        message.u32(head.status.0);
        message.contexts(head.contexts, 0)?;
        return message.body(MessageType::REPLY, body);
    }
    let before = |at: usize, context: &ServiceContext| at.next_multiple_of(4) + 8 + context.data.len();
    let contexts = head.contexts.iter().fold(HEADER_SIZE + 4, before);
    message.contexts(head.contexts, filler(contexts.next_multiple_of(4) + 8, body))?;
    message.u32(head.id);
    message.u32(head.status.0);
    message.body(MessageType::REPLY, body)
}

/// Octets to be put before a body that would begin at `at`, so that it keeps its phase.
fn filler(at: usize, body: &Body) -> usize {
    if body.is_empty() { 0 } else { body.first().phase.wrapping_sub(at) & 7 }
}

/// A message in the byte order of its body.
struct Undecoded<'w, 'a> {
    to: &'w mut Encoder<'a>,
    order: ByteOrder,
    version: Version,
}

impl Undecoded<'_, '_> {
    fn number(&self, value: u32) -> [u8; 4] {
        match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        }
    }

    fn header(&mut self, message: MessageType) {
        let header =
            Header { version: self.version, order: self.order, more_fragments: false, message, size: 0 };
        self.to.write_octets(&header.to_octets());
    }

    fn u32(&mut self, value: u32) {
        self.to.align(4);
        let octets = self.number(value);
        self.to.write_octets(&octets);
    }

    fn length(&mut self, length: usize) -> Result<(), EncodeError> {
        let length = u32::try_from(length)
            .map_err(|_| EncodeError::new(EncodeErrorKind::TooLong(length), "message's head"))?;
        self.u32(length);
        Ok(())
    }

    fn octets(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.length(octets.len())?;
        self.to.write_octets(octets);
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<(), EncodeError> {
        if name.as_bytes().contains(&0) {
            return Err(invalid("a name holds a NUL"));
        }
        self.length(name.len() + 1)?;
        self.to.write_octets(name.as_bytes());
        self.to.write_octets(&[0]);
        Ok(())
    }

    /// `filler`: how much further the head is to end, a multiple of 4 below 8.
    fn contexts(&mut self, contexts: &[ServiceContext], filler: usize) -> Result<(), EncodeError> {
        if !filler.is_multiple_of(4) {
            return Err(unaligned());
        }
        self.length(contexts.len() + usize::from(filler > 0))?;
        for context in contexts {
            self.u32(context.id.0);
            self.octets(&context.data)?;
        }
        if filler > 0 {
            // Twelve octets with its own head: four, modulo eight.
            self.u32(ContextId::ZORB_FILLER.0);
            self.octets(&[0; 4])?;
        }
        Ok(())
    }

    fn target(&mut self, target: Addressing<'_>) -> Result<(), EncodeError> {
        let disposition = |how: AddressingDisposition, order| match order {
            ByteOrder::Big => how.0.to_be_bytes(),
            ByteOrder::Little => how.0.to_le_bytes(),
        };
        match target {
            Addressing::ObjectKey(key) => {
                self.to.write_octets(&disposition(AddressingDisposition::KEY_ADDR, self.order));
                self.octets(key)
            }
            Addressing::Profile(profile) => {
                self.to.write_octets(&disposition(AddressingDisposition::PROFILE_ADDR, self.order));
                self.u32(profile.tag.0);
                self.octets(&profile.data)
            }
            Addressing::Reference { selected, ior } => {
                self.to.write_octets(&disposition(AddressingDisposition::REFERENCE_ADDR, self.order));
                self.u32(selected);
                self.name(&ior.type_id)?;
                self.length(ior.profiles.len())?;
                for profile in &ior.profiles {
                    self.u32(profile.tag.0);
                    self.octets(&profile.data)?;
                }
                Ok(())
            }
        }
    }

    /// The object key (1.0, 1.1).
    fn key(&mut self, target: Addressing<'_>) -> Result<(), EncodeError> {
        let profile = match target {
            Addressing::ObjectKey(key) => return self.octets(key),
            Addressing::Profile(profile) => Some(profile),
            Addressing::Reference { selected, ior } => {
                usize::try_from(selected).ok().and_then(|selected| ior.profiles.get(selected))
            }
        };
        match profile.and_then(|profile| IiopProfile::decode(profile).ok()) {
            Some(profile) => self.octets(&profile.object_key),
            None => Err(invalid("GIOP 1.0 and 1.1 name an object by its key, and the profile has none")),
        }
    }

    /// The body, and the message's size.
    fn body(mut self, message: MessageType, body: &Body) -> Result<(), EncodeError> {
        if !body.is_empty() {
            if self.version >= Version::V1_2 {
                self.to.align(8);
            }
            if (self.to.position() ^ body.first().phase) & 7 != 0 {
                return Err(unaligned());
            }
        }
        let (mut start, mut kind) = (0, message);
        let mut phase = body.first().phase;
        for segment in body.segments() {
            if (segment.phase ^ phase) & 7 != 0 {
                // Alignment restarts: a fragment of 1.1, which aligns by its own header.
                if self.version != Version::V1_1 || segment.phase & 7 != HEADER_SIZE & 7 {
                    return Err(unaligned());
                }
                self.end(start, kind, true)?;
                (start, kind) = (self.to.len(), MessageType::FRAGMENT);
                self.header(kind);
            }
            match segment.octets.len() < BORROW_FROM {
                true => self.to.write_octets(&segment.octets),
                false => self.to.write_shared(segment.octets.to_bytes()),
            }
            phase = segment.phase.wrapping_add(segment.octets.len());
        }
        self.end(start, kind, false)?;
        copied(self.to.copied());
        Ok(())
    }

    /// Completes the header of the message that begins at `start` and has just been written.
    fn end(&mut self, start: usize, message: MessageType, more_fragments: bool) -> Result<(), EncodeError> {
        let octets = self.to.len() - start - HEADER_SIZE;
        let size = u32::try_from(octets)
            .map_err(|_| EncodeError::new(EncodeErrorKind::TooLong(octets), "message"))?;
        let header = Header { version: self.version, order: self.order, more_fragments, message, size };
        let octets = header.to_octets();
        let (words, _) = octets.as_chunks();
        for (at, word) in [0, 4, 8].into_iter().zip(words) {
            self.to.set_u32(start + at, u32::from_ne_bytes(*word));
        }
        Ok(())
    }
}

fn invalid(why: &'static str) -> EncodeError {
    EncodeError::new(EncodeErrorKind::Invalid(why), "message of an undecoded body")
}

#[cold]
fn unaligned() -> EncodeError {
    invalid("its alignment cannot be kept in this GIOP version")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use bytes::Bytes;
    use zorb_cdr::{Decoder, Format, Octets, Segment};

    use crate::{Inbound, Limits, Message, ReplyStatus, Request, ResponseFlags, ServiceContexts};

    const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];
    const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

    fn body(octets: &[u8], phase: usize, order: ByteOrder) -> Body {
        Body::one(Segment { octets: Octets::from(octets), phase }, order)
    }

    fn read(octets: &[u8]) -> Message {
        let mut inbound = Inbound::new(Limits::default());
        let mut read = None;
        for part in octets.chunks(1000) {
            inbound.space()[..part.len()].copy_from_slice(part);
            inbound.received(part.len());
            read = inbound.next().expect("well-formed").or(read);
        }
        read.expect("complete")
    }

    fn request(version: Version, key: &[u8], contexts: &ServiceContexts, body: &Body) -> Option<Vec<u8>> {
        let head = RequestHead {
            id: 0x0102_0304,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(key),
            operation: "ping",
            by_number: None,
            contexts,
        };
        let mut to = Encoder::new(Format::default());
        write_undecoded_request(&mut to, version, &head, body).ok()?;
        Some(to.to_bytes().to_vec())
    }

    fn as_request(octets: &[u8]) -> Request {
        let Message::Request(request) = read(octets) else { panic!("a request was written") };
        request
    }

    fn some_contexts(octets: usize) -> ServiceContexts {
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId(0x77), Bytes::from(vec![9; octets]));
        contexts
    }

    #[test]
    fn a_request_keeps_order_phase_and_octets_behind_every_head() {
        for version in VERSIONS {
            for order in ORDERS {
                for (key, context) in (0..9).flat_map(|key| (0..9).map(move |context| (key, context))) {
                    let phases = if version == Version::V1_2 { 0..1 } else { 0..8 };
                    for phase in phases {
                        let sent = body(b"twelve octets", phase, order);
                        let key = &b"123456789"[..key];
                        let contexts = some_contexts(context);
                        let octets = request(version, key, &contexts, &sent).expect("can be kept");
                        let got = as_request(&octets);
                        assert_eq!((got.version, got.body.order, got.operation()), (version, order, "ping"));
                        assert_eq!((got.id, got.response), (0x0102_0304, ResponseFlags::WITH_TARGET));
                        assert_eq!(got.target.object_key().as_deref(), Some(key));
                        assert_eq!(got.contexts, contexts);
                        assert_eq!(&*got.body.first().octets, b"twelve octets");
                        assert_eq!(got.body.first().phase % 8, phase, "{version} {order:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_reply_keeps_what_a_request_keeps() {
        for version in VERSIONS {
            for order in ORDERS {
                for (context, phase) in (0..9).flat_map(|context| [0, 4].map(|phase| (context, phase))) {
                    let contexts = some_contexts(context);
                    let status = ReplyStatus::USER_EXCEPTION;
                    let head = ReplyHead { id: 77, status, by_number: false, contexts: &contexts };
                    let mut to = Encoder::new(Format::default());
                    let sent = body(b"five!", phase, order);
                    let written = write_undecoded_reply(&mut to, version, &head, &sent);
                    assert_eq!(written.is_err(), version == Version::V1_2 && phase == 4);
                    if written.is_err() {
                        continue;
                    }
                    let Message::Reply(got) = read(&to.to_bytes()) else { panic!("a reply was written") };
                    assert_eq!((got.version, got.id, got.status), (version, 77, status));
                    assert_eq!((got.body.order, got.body.first().phase % 8), (order, phase));
                    assert_eq!(&*got.body.first().octets, b"five!");
                    assert_eq!(got.contexts[0], contexts[0]);
                }
            }
        }
    }

    #[test]
    fn nothing_follows_the_head_of_a_message_without_a_body() {
        for version in VERSIONS {
            let octets = request(version, b"key", &ServiceContexts::new(), &Body::empty()).unwrap();
            assert!(as_request(&octets).body.is_empty(), "{version}");
        }
    }

    #[test]
    fn fragments_of_1_1_leave_as_fragments_of_1_1_and_no_other_version() {
        for order in ORDERS {
            let part = |octets: &[u8], phase| Segment { octets: Octets::from(octets), phase };
            // The second begins at a multiple of 8 by the first, and at 4 by its own header; the third goes on.
            let parts = vec![part(&[1; 12], 4), part(&[2; 20], 12), part(&[3; 4], 32)];
            let sent = Body::many(parts, order);
            let octets = request(Version::V1_1, b"key", &ServiceContexts::new(), &sent).expect("can be kept");
            let got = as_request(&octets);
            let phases: Vec<_> = got.body.segments().map(|one| (one.octets.len(), one.phase % 8)).collect();
            assert_eq!(phases, [(12, 4), (24, 4)]);
            let mut values = Decoder::over(&got.body, Format::new(Version::V1_1));
            let mut all = [0; 36];
            all.fill_with(|| values.read_u8().unwrap());
            assert_eq!([&all[..12], &all[12..32], &all[32..]], [&[1; 12][..], &[2; 20], &[3; 4]]);
            for version in [Version::V1_0, Version::V1_2] {
                assert_eq!(request(version, b"key", &ServiceContexts::new(), &sent), None, "{version}");
            }
        }
    }

    #[test]
    fn large_bodies_are_shared() {
        let sent = body(&vec![7; 4 * BORROW_FROM], 0, ByteOrder::FOREIGN);
        let head = RequestHead {
            id: 1,
            response: ResponseFlags::NONE,
            target: Addressing::ObjectKey(b"key"),
            operation: "put",
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        let mut to = Encoder::new(Format::default());
        write_undecoded_request(&mut to, Version::V1_2, &head, &sent).unwrap();
        assert!(to.copied() < 100);
        let last = to.slices().last().unwrap();
        assert_eq!(last.as_ptr(), sent.first().octets.as_ptr());
    }
}
