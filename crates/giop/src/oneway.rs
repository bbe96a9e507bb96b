//! A GIOP message that came by itself, in a datagram: is it a oneway request, and for whom?
//!
//! Datagrams carry oneway requests alone (CORBA 3.4 part 2, §11.1): nothing can come back. [`Oneway::read`] looks at as
//! much of a message as it takes to know that; the rest is read when the request is. A request to a group of objects
//! names the group; [`Oneway::redirected`] makes of it the same request to one object.

use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use zorb_cdr::{DecodeError, Decoder, Format, Version};

use crate::header::{HEADER_SIZE, Header};
use crate::{
    AddressingDisposition, GroupComponent, Limits, MessageType, ProfileTag, ProtocolError, TaggedProfile,
    UipmcProfile,
};

/// A oneway request, where it lies.
#[derive(Clone, Debug)]
pub struct Oneway<'m> {
    message: &'m [u8],
    header: Header,
    group: Option<GroupComponent>,
    /// 1.2: where the operation begins, behind the target.
    operation: usize,
    /// 1.2: where the head ends, in front of the padding to the body.
    head_end: usize,
}

/// Why a datagram is not a oneway request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOneway {
    /// It is no GIOP message.
    Header(ProtocolError),
    /// It is not one whole message: the header says another length than the datagram has.
    Length {
        /// By the header.
        says: usize,
        /// Of the datagram.
        has: usize,
    },
    /// Another kind of message.
    OtherMessage(MessageType),
    /// A part of a message.
    Fragment,
    /// Its sender waits for a reply.
    ExpectsReply,
    /// Its head goes beyond a limit of [`Limits`].
    BeyondLimit(&'static str),
    /// Its head cannot be read.
    Malformed(DecodeError),
}

impl fmt::Display for NotOneway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Length { says, has } => write!(f, "a message of {says} octets in a datagram of {has}"),
            Self::OtherMessage(found) => write!(f, "a {found} in a datagram"),
            Self::Fragment => f.write_str("a fragment in a datagram"),
            Self::ExpectsReply => f.write_str("a request in a datagram whose sender waits for a reply"),
            Self::BeyondLimit(limit) => write!(f, "a request beyond the limit {limit}"),
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for NotOneway {}

impl From<DecodeError> for NotOneway {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl<'m> Oneway<'m> {
    /// Looks at a datagram, or at what was put together out of packets.
    ///
    /// # Errors
    /// It is anything but one whole oneway request.
    pub fn read(message: &'m [u8]) -> Result<Self, NotOneway> {
        let Some((head, _)) = message.split_first_chunk::<HEADER_SIZE>() else {
            return Err(NotOneway::Length { says: HEADER_SIZE, has: message.len() });
        };
        let header = Header::parse(head).map_err(NotOneway::Header)?;
        if header.message != MessageType::REQUEST {
            return Err(NotOneway::OtherMessage(header.message));
        }
        if header.more_fragments {
            return Err(NotOneway::Fragment);
        }
        if header.total() != message.len() {
            return Err(NotOneway::Length { says: header.total(), has: message.len() });
        }
        let mut from = Decoder::from_slice(message, header.order, Format::new(header.version));
        from.read_octets(HEADER_SIZE)?;
        let mut oneway = Self { message, header, group: None, operation: 0, head_end: 0 };
        if header.version < Version::V1_2 {
            skip_contexts(&mut from)?;
            from.read_u32()?;
            if from.read_u8()? != 0 {
                return Err(NotOneway::ExpectsReply);
            }
            if header.version == Version::V1_1 {
                from.read_octets(3)?;
            }
            skip_octets(&mut from)?;
            skip_operation(&mut from)?;
            // The principal.
            skip_octets(&mut from)?;
            return Ok(oneway);
        }
        from.read_u32()?;
        // Only the lower two bits count: the others are reserved, and TAO sets one.
        if from.read_u8()? & 3 != 0 {
            return Err(NotOneway::ExpectsReply);
        }
        from.read_octets(3)?;
        oneway.group = group(&mut from)?;
        from.align(4)?;
        oneway.operation = from.position();
        skip_operation(&mut from)?;
        skip_contexts(&mut from)?;
        oneway.head_end = from.position();
        Ok(oneway)
    }

    /// The group of objects that it is for, if it names one.
    #[must_use]
    pub fn group(&self) -> Option<&GroupComponent> {
        self.group.as_ref()
    }

    /// The same request, arguments and contexts and all, to the object that its server knows by `key`. `None` for GIOP
    /// below 1.2, whose arguments cannot be moved, and which knows no groups.
    #[must_use]
    pub fn redirected(&self, key: &[u8]) -> Option<Vec<u8>> {
        const TARGET: usize = HEADER_SIZE + 8;
        if self.header.version < Version::V1_2 {
            return None;
        }
        let body = self.message.get(self.head_end.next_multiple_of(8)..).unwrap_or_default();
        let mut message = Vec::with_capacity(TARGET + 16 + key.len() + self.message.len() - self.operation);
        message.extend_from_slice(&self.message[..TARGET]);
        // KeyAddr is 0 in either byte order; its octets' count is aligned to 4.
        message.extend([0; 4]);
        message.extend(self.in_order(u32::try_from(key.len()).ok()?));
        message.extend_from_slice(key);
        message.resize(message.len().next_multiple_of(4), 0);
        message.extend_from_slice(&self.message[self.operation..self.head_end]);
        if !body.is_empty() {
            message.resize(message.len().next_multiple_of(8), 0);
            message.extend_from_slice(body);
        }
        let size = u32::try_from(message.len() - HEADER_SIZE).ok()?;
        message[8..HEADER_SIZE].copy_from_slice(&self.in_order(size));
        Some(message)
    }

    fn in_order(&self, number: u32) -> [u8; 4] {
        match self.header.order {
            zorb_cdr::ByteOrder::Big => number.to_be_bytes(),
            zorb_cdr::ByteOrder::Little => number.to_le_bytes(),
        }
    }
}

/// Passes the target, and tells the group that it names: by a profile, as the specification has it, or by a key that is
/// the group's component.
fn group(from: &mut Decoder<'_>) -> Result<Option<GroupComponent>, NotOneway> {
    match AddressingDisposition(from.read_u16()?) {
        AddressingDisposition::KEY_ADDR => {
            let key = octets(from)?;
            // Keys of zorb's own and of most others are no encapsulations with a text in them.
            Ok(GroupComponent::from_encapsulation(&key).ok())
        }
        AddressingDisposition::PROFILE_ADDR => profile_group(from),
        AddressingDisposition::REFERENCE_ADDR => {
            let selected = from.read_u32()?;
            skip_octets(from)?;
            let mut group = None;
            for index in 0..from.read_count(8)? {
                let named = profile_group(from)?;
                group = if u32::try_from(index) == Ok(selected) { named } else { group };
            }
            Ok(group)
        }
        AddressingDisposition(other) => {
            let kind = zorb_cdr::DecodeErrorKind::BadDiscriminator(other.into());
            Err(from.error(kind, "addressing disposition").into())
        }
    }
}

fn profile_group(from: &mut Decoder<'_>) -> Result<Option<GroupComponent>, NotOneway> {
    let profile = TaggedProfile { tag: ProfileTag(from.read_u32()?), data: octets(from)? };
    Ok(UipmcProfile::decode(&profile).ok().and_then(|profile| profile.group()))
}

fn octets(from: &mut Decoder<'_>) -> Result<Bytes, DecodeError> {
    let length = from.read_count(1)?;
    Ok(Bytes::copy_from_slice(&from.read_octets(length)?))
}

fn skip_octets(from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let length = from.read_count(1)?;
    from.read_octets(length).map(drop)
}

/// As far as a connection with the usual [`Limits`] would take it.
fn skip_contexts(from: &mut Decoder<'_>) -> Result<(), NotOneway> {
    let count = from.read_count(8)?;
    if count > Limits::default().max_contexts {
        return Err(NotOneway::BeyondLimit("max_contexts"));
    }
    for _ in 0..count {
        from.read_u32()?;
        skip_octets(from)?;
    }
    Ok(())
}

/// The same of the operation's name.
fn skip_operation(from: &mut Decoder<'_>) -> Result<(), NotOneway> {
    let length = from.read_count(1)?;
    if length > Limits::default().max_operation {
        return Err(NotOneway::BeyondLimit("max_operation"));
    }
    let name = from.read_octets(length)?;
    match name.last() {
        Some(0) => Ok(()),
        _ => Err(from.error(zorb_cdr::DecodeErrorKind::Unterminated, "operation name").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inbound, Message, Target};
    use alloc::vec;

    /// What JacORB 3.9 sends to a group: `note(1)`, big-endian, with its code sets.
    const JACORB: &[u8] = b"GIOP\x01\x02\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\x03\0\0\0\x40\
        \0\x01\0\0\0\0\0\x0c239.255.7.1\0\x17\x6f\0\0\0\0\0\x01\0\0\0\x27\0\0\0\x1c\
        \0\x01\0\0\0\0\0\x05zorb\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\
        \0\0\0\x05note\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x0c\0\0\0\0\0\x01\0\x01\0\x01\x01\x09\0\0\0\x01\0\0\0\x01";

    fn received(message: &[u8]) -> crate::Request {
        let mut inbound = Inbound::new(Limits::default());
        inbound.space()[..message.len()].copy_from_slice(message);
        inbound.received(message.len());
        match inbound.next() {
            Ok(Some(Message::Request(request))) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_jacorbs_request_to_a_group_and_no_prefix_of_it() {
        let oneway = Oneway::read(JACORB).unwrap();
        assert_eq!(oneway.group(), Some(&GroupComponent::new("zorb", 7)));
        for end in 0..JACORB.len() {
            assert!(Oneway::read(&JACORB[..end]).is_err(), "{end}");
            let mut short = JACORB[..end].to_vec();
            if end >= HEADER_SIZE {
                short[8..12].copy_from_slice(&((end - HEADER_SIZE) as u32).to_be_bytes());
            }
            // Its body, which is not looked at, is a long behind four octets of padding.
            assert_eq!(Oneway::read(&short).is_ok(), end >= JACORB.len() - 8, "{end}");
        }
    }

    #[test]
    fn redirected_it_is_the_same_request_to_another_target() {
        let oneway = Oneway::read(JACORB).unwrap();
        let before = received(JACORB);
        for length in [0, 1, 3, 4, 7, 20, 100] {
            let key = vec![9; length];
            let after = received(&oneway.redirected(&key).unwrap());
            assert_eq!(after.target, Target::ObjectKey(key[..].into()));
            assert_eq!((after.operation(), after.id), (before.operation(), before.id));
            assert_eq!((&after.contexts, after.response), (&before.contexts, before.response));
            let argument = Decoder::over(&after.body, Format::new(after.version)).read_i32();
            assert_eq!(argument, Ok(1), "a key of {length} octets");
        }
    }

    #[test]
    fn what_is_no_oneway_is_refused_by_name() {
        let with = |at: usize, octet: u8| {
            let mut message = JACORB.to_vec();
            message[at] = octet;
            Oneway::read(&message).map(|_| ()).unwrap_err()
        };
        assert!(matches!(with(0, b'M'), NotOneway::Header(ProtocolError::NotGiop { .. })));
        assert_eq!(with(6, 2), NotOneway::Fragment);
        assert_eq!(with(7, 3), NotOneway::OtherMessage(MessageType::LOCATE_REQUEST));
        assert_eq!(with(11, 0x81), NotOneway::Length { says: 141, has: 140 });
        assert_eq!(with(16, 3), NotOneway::ExpectsReply);
        assert_eq!(with(16, 1), NotOneway::ExpectsReply);
        assert!(matches!(with(21, 7), NotOneway::Malformed(_)));
        // The operation without its NUL; its length, beyond the message, and beyond what names have.
        assert!(matches!(with(104, b'x'), NotOneway::Malformed(_)));
        assert!(matches!(with(98, 1), NotOneway::Malformed(_)));
        let many = [&[0; 12][..], &[0, 0, 0, 65], &[0; 65 * 8]].concat();
        let mut from = Decoder::from_slice(&many, zorb_cdr::ByteOrder::Big, Format::default());
        from.read_octets(12).unwrap();
        assert_eq!(skip_contexts(&mut from), Err(NotOneway::BeyondLimit("max_contexts")));
        assert!(Oneway::read(b"").is_err());
    }

    #[test]
    fn requests_of_all_versions_are_told_apart_by_whether_they_want_a_reply() {
        use crate::{Addressing, RequestHead, ResponseFlags, ServiceContexts, begin_request, finish};
        for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
            for (response, is_oneway) in [(ResponseFlags::NONE, true), (ResponseFlags::WITH_TARGET, false)] {
                let mut to = zorb_cdr::Encoder::new(Format::new(version));
                let contexts = ServiceContexts::new();
                let target = Addressing::ObjectKey(b"key");
                let head = RequestHead {
                    id: 1,
                    response,
                    target,
                    operation: "note",
                    by_number: None,
                    contexts: &contexts,
                };
                begin_request(&mut to, &head).unwrap();
                to.write_u32(7);
                finish(&mut to).unwrap();
                let message = to.to_bytes();
                let read = Oneway::read(&message);
                assert_eq!(read.is_ok(), is_oneway, "{version:?}");
                if let Ok(read) = read {
                    assert_eq!(read.group(), None);
                    assert_eq!(read.redirected(b"x").is_some(), version == Version::V1_2);
                }
            }
        }
    }
}
