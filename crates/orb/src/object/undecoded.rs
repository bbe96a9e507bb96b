//! Calls whose arguments and results are octets that nobody decodes here: what a bridge sends on, and what dynamic
//! invocation and other languages' mappings stand on.
//!
//! ```text
//! UndecodedRequest ── PendingReply::send ──► the target       never blocks; over the endpoint's shared connection
//! UndecodedReply   ◄── poll, or wait ──────
//! ```
//!
//! A body leaves in the byte order and with the alignment that it has, whatever this machine's: large ones from where they
//! lie, without a copy. It has a GIOP version, since the form of wide text depends on it, and code sets: those that the
//! connection announces are the target reference's, so that the reference decides how text is understood.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use zorb_cdr::{
    Body, CodeSets, Decoder, EncodeError, EncodeErrorKind, Encoder, Format, Octets, Segment, Version,
};
use zorb_giop::{
    Addressing, ContextId, Protocol, ReplyStatus, RequestHead, ResponseFlags, ServiceContexts,
    write_undecoded_request,
};

use super::ObjectRef;
use super::asynchronous::{Flight, wait_for};
use crate::client::message::{Course, Form};
use crate::client::slot::Outcome;
use crate::exception::SystemException;
use crate::skeleton::Operation;

/// What such a call is called in exceptions, before its operation is added.
pub(super) static UNDECODED: Operation = Operation::new("undecoded request");

/// A request whose arguments are not decoded.
#[derive(Clone, Debug)]
pub struct UndecodedRequest {
    /// The GIOP version that the body is written for. It leaves in this one, or in the target's if that is lower; then wide
    /// text in it, whose form differs between 1.0, 1.1 and 1.2, means something else.
    pub version: Version,
    /// The operation's name on the wire: attributes are `_get_x` and `_set_x`.
    pub operation: String,
    /// Whether and when an answer is wanted.
    pub response: ResponseFlags,
    /// What goes beside the request. The code sets are not taken from here: the target's reference names them.
    pub contexts: ServiceContexts,
    /// The arguments.
    pub body: Body,
    /// Whether replies that send the caller elsewhere (LOCATION_FORWARD) are followed here. Otherwise they are given to the
    /// caller.
    pub follows_forwards: bool,
}

/// A reply whose body is not decoded.
#[derive(Clone, Debug)]
pub struct UndecodedReply {
    /// The GIOP version that the body is written in, and the code sets of its text.
    pub format: Format,
    /// What the body holds.
    pub status: ReplyStatus,
    /// What came beside the reply.
    pub contexts: ServiceContexts,
    /// A result, an exception or a reference, by `status`.
    pub body: Body,
}

impl UndecodedRequest {
    /// A two-way call in GIOP 1.2 of `operation`, whose arguments `encode` writes with these code sets.
    ///
    /// # Errors
    /// Those of `encode`.
    pub fn encoded<'a>(
        operation: impl Into<String>,
        code_sets: CodeSets,
        encode: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>,
    ) -> Result<UndecodedRequest, EncodeError> {
        let version = Version::V1_2;
        Ok(UndecodedRequest {
            version,
            operation: operation.into(),
            response: ResponseFlags::WITH_TARGET,
            contexts: ServiceContexts::new(),
            body: encoded(Format { version, code_sets }, encode)?,
            follows_forwards: true,
        })
    }

    /// Writes the whole message.
    #[cold]
    pub(crate) fn compose(
        &self,
        message: &mut Encoder<'_>,
        form: &Form<'_>,
        course: &Course<'_>,
        more: Option<&ServiceContexts>,
    ) -> Result<(), EncodeError> {
        if !matches!(course.candidate.pool.messaging(), Protocol::Giop) {
            let what = EncodeErrorKind::Invalid("bodies that nobody decodes travel by GIOP alone");
            return Err(EncodeError::new(what, "request"));
        }
        let version = self.version.min(form.format.version);
        let mut contexts = self.contexts.clone();
        if version == Version::V1_0 {
            if contexts.find(ContextId::CODE_SETS).is_some() {
                contexts = without_code_sets(&contexts);
            }
        } else if let Some(offer) = &course.candidate.code_sets {
            // With every request, as GIOP allows: a server that reads them once may have been sent one of 1.0 first.
            contexts = offer.contexts.iter().chain(&*without_code_sets(&contexts)).cloned().collect();
        }
        if let Some(more) = more {
            contexts = contexts.iter().chain(more).cloned().collect();
        }
        let head = RequestHead {
            id: form.id,
            response: self.response,
            target: Addressing::from(course.target),
            operation: &self.operation,
            by_number: None,
            contexts: &contexts,
        };
        write_undecoded_request(message, version, &head, &self.body)
    }
}

fn without_code_sets(contexts: &ServiceContexts) -> ServiceContexts {
    contexts.iter().filter(|context| context.id != ContextId::CODE_SETS).cloned().collect()
}

/// What `encode` writes, as a body.
pub(crate) fn encoded<'a>(
    format: Format,
    encode: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>,
) -> Result<Body, EncodeError> {
    let mut values = Encoder::new(format);
    encode(&mut values)?;
    let octets: Bytes = values.to_bytes();
    let octets = match octets.is_empty() {
        true => Octets::new(),
        false => Octets::from(Vec::from(octets)),
    };
    Ok(Body::one(Segment { octets, phase: 0 }, zorb_cdr::ByteOrder::NATIVE))
}

impl UndecodedReply {
    /// A reply whose body `encode` writes.
    ///
    /// # Errors
    /// Those of `encode`.
    pub fn encoded<'a>(
        format: Format,
        status: ReplyStatus,
        encode: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>,
    ) -> Result<UndecodedReply, EncodeError> {
        Ok(UndecodedReply {
            format,
            status,
            contexts: ServiceContexts::new(),
            body: encoded(format, encode)?,
        })
    }

    /// Reads the body where it lies.
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder::over(&self.body, self.format)
    }
}

/// A call in flight that was [sent](Self::send): a future of its reply, `None` where none comes back. Dropping it cancels the
/// call: a CancelRequest follows what has left.
#[must_use = "dropping it cancels the call"]
pub struct PendingReply {
    flight: Option<Result<Flight, SystemException>>,
    operation: String,
}

impl PendingReply {
    /// Sends `request` to `target` as far as that goes without blocking; the ORB's reactor thread sends the rest, reads the
    /// reply, and ends the call at its deadline (the policy `call_timeout`). What goes wrong is learnt by polling.
    ///
    /// Requests sent one after the other by a thread leave in this order. A request to an object of this ORB goes by message,
    /// too. Messages that wait for one connection hold a limited number of octets; a call beyond ends in `NO_RESOURCES`.
    pub fn send(target: &ObjectRef, request: UndecodedRequest) -> PendingReply {
        let operation = request.operation.clone();
        PendingReply { flight: Some(Flight::of_undecoded(target, request)), operation }
    }

    /// Blocks this thread until the call has ended.
    ///
    /// # Errors
    /// Those of [polling](Self::poll).
    pub fn wait(self) -> Result<Option<UndecodedReply>, SystemException> {
        let deadline = match &self.flight {
            Some(Ok(flight)) => Some(flight.deadline()),
            _ => None,
        };
        let operation = self.operation.clone();
        wait_for(self, deadline, &operation)?
    }
}

/// # Errors
/// The reply was not got: the target cannot be reached (`TRANSIENT`), its connection was lost (`COMM_FAILURE`), the deadline has
/// passed (`TIMEOUT`), the body cannot go in a version that the target speaks (`BAD_PARAM`). Exceptions that the target raised
/// are replies.
impl Future for PendingReply {
    type Output = Result<Option<UndecodedReply>, SystemException>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.flight {
            Some(Ok(flight)) => std::task::ready!(flight.poll(cx.waker())),
            Some(Err(exception)) => Err(exception.clone()),
            None => Err(SystemException::BadInvOrder("a call's future was polled after it was ready")),
        };
        self.flight = None;
        Poll::Ready(match outcome {
            Ok(Outcome::Reply(reply, format)) => Ok(Some(UndecodedReply {
                format,
                status: reply.status,
                contexts: reply.contexts,
                body: reply.body,
            })),
            Ok(Outcome::Sent) => Ok(None),
            Err(exception) => Err(exception.context(&self.operation)),
        })
    }
}
