//! What arrives: one [`Message`] per complete GIOP message. CORBA 3.4 part 2, §9.4.
//!
//! Keys, contexts and bodies are ranges of the receive buffer, which they keep from being written again while they
//! live. Bodies stay CDR: the operation knows their types.

use alloc::boxed::Box;
use core::num::NonZeroU64;

use zorb_cdr::{Body, Octets, Version};

use crate::{
    IiopProfile, Ior, LocateStatus, MessageType, ReplyStatus, ResponseFlags, ServiceContexts, TaggedProfile,
};

/// A message from the peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// A call.
    Request(Request),
    /// The answer to a call.
    Reply(Reply),
    /// The peer no longer waits for the reply to this request.
    CancelRequest {
        /// The request's id.
        id: u32,
    },
    /// Asks where an object is.
    LocateRequest(LocateRequest),
    /// Answers a LocateRequest.
    LocateReply(LocateReply),
    /// The peer has processed nothing that it has not answered, and will send nothing more.
    CloseConnection,
    /// The peer did not understand us, and will send nothing more.
    MessageError,
}

impl Message {
    /// Which of GIOP's message types it is.
    #[must_use]
    pub fn message_type(&self) -> MessageType {
        match self {
            Self::Request(_) => MessageType::REQUEST,
            Self::Reply(_) => MessageType::REPLY,
            Self::CancelRequest { .. } => MessageType::CANCEL_REQUEST,
            Self::LocateRequest(_) => MessageType::LOCATE_REQUEST,
            Self::LocateReply(_) => MessageType::LOCATE_REPLY,
            Self::CloseConnection => MessageType::CLOSE_CONNECTION,
            Self::MessageError => MessageType::MESSAGE_ERROR,
        }
    }
}

/// A call, head decoded.
#[derive(Clone, Debug)]
pub struct Request {
    /// The reply goes out in the same version.
    pub version: Version,
    /// Unique among the sender's unanswered requests on this connection.
    pub id: u32,
    /// Whether and when to answer.
    pub response: ResponseFlags,
    /// Whom it is for.
    pub target: Target,
    /// Service contexts, known or not.
    pub contexts: ServiceContexts,
    /// The arguments.
    pub body: Body,
    /// The operation's name as it was sent, without a NUL. Empty where the request has a number in its place.
    pub operation: Octets,
    /// The operation's [number](crate::operation_number), where the request has that in place of its name.
    pub number: Option<NonZeroU64>,
}

/// What is larger is moved by a call of the C library's.
const _: () = assert!(size_of::<Request>() <= 128);

impl Request {
    /// The operation's name, where it lies in the message. A name that is not UTF-8 cannot be an IDL identifier; it is
    /// given as U+FFFD, which no operation has. Empty where the
    /// request has a number in its place.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> &str {
        core::str::from_utf8(&self.operation).unwrap_or("\u{fffd}")
    }

    /// The octets of the operation's name, as they were sent.
    #[inline]
    #[must_use]
    pub fn operation_bytes(&self) -> &[u8] {
        &self.operation
    }
}

/// The answer to a call, head decoded.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Version of this message.
    pub version: Version,
    /// The request that it answers.
    pub id: u32,
    /// What the body holds.
    pub status: ReplyStatus,
    /// The object's operations may be called by their numbers, where the messaging protocol has such.
    pub by_number: bool,
    /// Service contexts, known or not.
    pub contexts: ServiceContexts,
    /// Result, exception or reference, by `status`.
    pub body: Body,
}

/// Asks where an object is.
#[derive(Clone, Debug)]
pub struct LocateRequest {
    /// The reply goes out in the same version.
    pub version: Version,
    /// Ids are shared with requests.
    pub id: u32,
    /// Which object.
    pub target: Target,
}

/// Answers a LocateRequest.
#[derive(Clone, Debug)]
pub struct LocateReply {
    /// Version of this message.
    pub version: Version,
    /// The request that it answers.
    pub id: u32,
    /// What the body holds.
    pub status: LocateStatus,
    /// Nothing, a reference, an exception or an addressing mode, by `status`. It follows the head unaligned.
    pub body: Body,
}

/// How a message names its object (§9.4.2.1, `TargetAddress`). GIOP 1.0 and 1.1 have object keys only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By the object key.
    ObjectKey(Octets),
    /// By one profile of its reference.
    Profile(Box<TaggedProfile>),
    /// By its whole reference.
    Reference {
        /// Index of the profile in use.
        selected: u32,
        /// The reference.
        ior: Box<Ior>,
    },
}

impl Target {
    /// The object key, whichever way the target is named, if the profile in question is one that zorb reads
    /// (IIOP). A server that gets `None` answers NEEDS_ADDRESSING_MODE with
    /// [`KEY_ADDR`](crate::AddressingDisposition::KEY_ADDR).
    #[must_use]
    pub fn object_key(&self) -> Option<Octets> {
        match self {
            Self::ObjectKey(key) => Some(key.clone()),
            Self::Profile(profile) => profile_key(profile),
            Self::Reference { selected, ior } => {
                ior.profiles.get(usize::try_from(*selected).ok()?).and_then(profile_key)
            }
        }
    }
}

fn profile_key(profile: &TaggedProfile) -> Option<Octets> {
    IiopProfile::decode(profile).ok().map(|profile| profile.object_key[..].into())
}
