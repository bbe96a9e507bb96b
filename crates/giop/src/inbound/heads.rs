//! The head of each message: what stands between the header and the body. CORBA 3.4 part 2, §9.4.2–9.4.7.
//!
//! ```text
//! Request 1.0   contexts │ id │ response │ object key │ operation │ principal │ body
//! Request 1.1   contexts │ id │ response, 3 reserved │ object key │ operation │ principal │ body
//! Request 1.2   id │ flags, 3 reserved │ target │ operation │ contexts │ (to 8, if there is one) body
//! Reply 1.0/1.1 contexts │ id │ status │ body
//! Reply 1.2     id │ status │ contexts │ (to 8, if there is one) body
//! CancelRequest id
//! LocateRequest id │ object key (1.0, 1.1) or target (1.2)
//! LocateReply   id │ status │ body, unaligned
//! ```

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use zorb_cdr::{Octets, Version};

use super::cursor::Cursor;
use crate::header::Header;
use crate::{
    AddressingDisposition, ContextId, Ior, Limits, LocateReply, LocateRequest, LocateStatus, Message,
    MessageType, ProfileTag, ProtocolError, Reply, ReplyStatus, Request, ResponseFlags, ServiceContext,
    ServiceContexts, TaggedProfile, Target,
};

/// Largest alignment, to which GIOP 1.2 bodies start.
pub(super) const BODY_ALIGNMENT: usize = 8;

/// Decodes a complete message, of which `from` has passed the header; fragments' own headers are gone.
pub(super) fn decode(from: Cursor<'_>, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
    let &Header { version, message, .. } = from.header();
    match message {
        MessageType::REQUEST => request(from, version, limits),
        MessageType::REPLY => reply(from, version, limits),
        MessageType::CANCEL_REQUEST => cancel_request(from),
        MessageType::LOCATE_REQUEST => locate_request(from, version),
        MessageType::LOCATE_REPLY => locate_reply(from, version),
        MessageType::CLOSE_CONNECTION => Ok(Some(Message::CloseConnection)),
        MessageType::MESSAGE_ERROR => Ok(Some(Message::MessageError)),
        found => Err(ProtocolError::UnknownMessageType { found, version }),
    }
}

fn request(
    mut from: Cursor<'_>,
    version: Version,
    limits: &Limits,
) -> Result<Option<Message>, ProtocolError> {
    if version < Version::V1_2 {
        return request_before_1_2(from, version, limits);
    }
    let id = from.u32("request id")?;
    let response = ResponseFlags(from.u8("response flags")?);
    from.skip(3, "reserved octets")?;
    let target = target(&mut from)?;
    let operation = operation(&mut from, version, limits)?;
    let contexts = contexts(&mut from, version, limits)?;
    from.align_body(BODY_ALIGNMENT);
    let body = from.into_body();
    Ok(Some(Message::Request(Request {
        version,
        id,
        response,
        target,
        operation,
        number: None,
        contexts,
        body,
    })))
}

fn request_before_1_2(
    mut from: Cursor<'_>,
    version: Version,
    limits: &Limits,
) -> Result<Option<Message>, ProtocolError> {
    let contexts = contexts(&mut from, version, limits)?;
    let id = from.u32("request id")?;
    let expected = from.u8("response expected")? != 0;
    let response = if expected { ResponseFlags::WITH_TARGET } else { ResponseFlags::NONE };
    if version == Version::V1_1 {
        from.skip(3, "reserved octets")?;
    }
    let target = Target::ObjectKey(from.octets("object key")?);
    let operation = operation(&mut from, version, limits)?;
    // The principal was deprecated by 1.2; no one may rely on it.
    from.octets("requesting principal")?;
    let body = from.into_body();
    Ok(Some(Message::Request(Request {
        version,
        id,
        response,
        target,
        operation,
        number: None,
        contexts,
        body,
    })))
}

fn reply(mut from: Cursor<'_>, version: Version, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
    if version < Version::V1_2 {
        let contexts = contexts(&mut from, version, limits)?;
        let id = from.u32("request id")?;
        let status = ReplyStatus(from.u32("reply status")?);
        return Ok(Some(Message::Reply(Reply {
            version,
            id,
            status,
            by_number: false,
            contexts,
            body: from.into_body(),
        })));
    }
    let id = from.u32("request id")?;
    let status = ReplyStatus(from.u32("reply status")?);
    let contexts = contexts(&mut from, version, limits)?;
    from.align_body(BODY_ALIGNMENT);
    Ok(Some(Message::Reply(Reply {
        version,
        id,
        status,
        by_number: false,
        contexts,
        body: from.into_body(),
    })))
}

fn cancel_request(mut from: Cursor<'_>) -> Result<Option<Message>, ProtocolError> {
    Ok(Some(Message::CancelRequest { id: from.u32("request id")? }))
}

fn locate_request(mut from: Cursor<'_>, version: Version) -> Result<Option<Message>, ProtocolError> {
    let id = from.u32("request id")?;
    let target = if version < Version::V1_2 {
        Target::ObjectKey(from.octets("object key")?)
    } else {
        target(&mut from)?
    };
    Ok(Some(Message::LocateRequest(LocateRequest { version, id, target })))
}

fn locate_reply(mut from: Cursor<'_>, version: Version) -> Result<Option<Message>, ProtocolError> {
    let id = from.u32("request id")?;
    let status = LocateStatus(from.u32("locate status")?);
    Ok(Some(Message::LocateReply(LocateReply { version, id, status, body: from.into_body() })))
}

fn operation(from: &mut Cursor<'_>, version: Version, limits: &Limits) -> Result<Octets, ProtocolError> {
    let name = from.string("operation name")?;
    // Its NUL counts too.
    if name.len() >= limits.max_operation {
        let (found, allowed) = (name.len() + 1, limits.max_operation);
        return Err(ProtocolError::LimitExceeded { limit: "max_operation", found, allowed, version });
    }
    Ok(name)
}

fn contexts(
    from: &mut Cursor<'_>,
    version: Version,
    limits: &Limits,
) -> Result<ServiceContexts, ProtocolError> {
    let count = from.count(8, "service contexts")?;
    if count > limits.max_contexts {
        let (found, allowed) = (count, limits.max_contexts);
        return Err(ProtocolError::LimitExceeded { limit: "max_contexts", found, allowed, version });
    }
    if count == 0 {
        return Ok(ServiceContexts::new());
    }
    some_contexts(from, count)
}

fn some_contexts(from: &mut Cursor<'_>, count: usize) -> Result<ServiceContexts, ProtocolError> {
    (0..count)
        .map(|_| {
            let id = ContextId(from.u32("service context")?);
            Ok(ServiceContext { id, data: from.octets("service context")?.to_bytes() })
        })
        .collect()
}

fn target(from: &mut Cursor<'_>) -> Result<Target, ProtocolError> {
    match AddressingDisposition(from.u16("addressing disposition")?) {
        AddressingDisposition::KEY_ADDR => Ok(Target::ObjectKey(from.octets("object key")?)),
        AddressingDisposition::PROFILE_ADDR => Ok(Target::Profile(Box::new(profile(from)?))),
        AddressingDisposition::REFERENCE_ADDR => reference(from),
        // A union without a default: what follows cannot be told.
        _ => Err(from.stopped("addressing disposition")),
    }
}

#[cold]
fn reference(from: &mut Cursor<'_>) -> Result<Target, ProtocolError> {
    let selected = from.u32("selected profile")?;
    let type_id = from.string("type id")?;
    let Ok(type_id) = core::str::from_utf8(&type_id) else { return Err(from.stopped("type id")) };
    let type_id = String::from(type_id);
    let count = from.count(8, "profiles")?;
    let profiles = (0..count).map(|_| profile(from)).collect::<Result<Vec<_>, _>>()?;
    Ok(Target::Reference { selected, ior: Box::new(Ior { type_id, profiles }) })
}

fn profile(from: &mut Cursor<'_>) -> Result<TaggedProfile, ProtocolError> {
    Ok(TaggedProfile {
        tag: ProfileTag(from.u32("profile tag")?),
        data: from.octets("profile data")?.to_bytes(),
    })
}
