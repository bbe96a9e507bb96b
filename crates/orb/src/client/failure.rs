//! Why a call got no reply, in the terms that decide what happens next: try elsewhere, try again, give up.

use std::time::Duration;
use std::{fmt, io};

use zorb_cdr::EncodeError;
use zorb_giop::ProtocolError;

use crate::exception::{Completion, Minor, SystemException};
use crate::marshal::encode_exception;
use crate::transport::Endpoint;

/// What was being done when it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Starting the thread that reads shared connections.
    StartReactor,
    /// Starting the thread that connects for an `_async` call.
    StartConnecting,
    Connect,
    /// Having the reactor watch a connection.
    Watch,
    /// Waiting for other messages on the same connection to leave.
    WaitToSend,
    Send,
    Receive,
    WaitForReply,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::StartReactor => "start the client reactor",
            Step::StartConnecting => "start a thread to connect",
            Step::Connect => "connect",
            Step::Watch => "watch",
            Step::WaitToSend => "wait to send",
            Step::Send => "send",
            Step::Receive => "receive",
            Step::WaitForReply => "wait for the reply",
        })
    }
}

/// A call's step over one connection that did not bring a reply.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments cannot be written. The caller's fault; no octet has left.
    Encode(EncodeError),
    /// There is no connection that could carry the request: another endpoint may be tried.
    NotConnected { step: Step, cause: io::Error },
    /// The connection ended before an octet of the request had left: it may be tried again on another, at the same endpoint.
    NotSent { step: Step, cause: io::Error },
    /// The server closed the connection in order before it answered: the request was not executed (CORBA 3.4 part 2 §9.4.8).
    ClosedInOrder,
    /// The request left at least in part, and then the connection ended.
    Lost { step: Step, cause: io::Error },
    /// A deadline passed.
    Timeout { step: Step, sent: bool, after: Duration },
    /// The peer broke the protocol; the connection is closed.
    Protocol(ProtocolError),
    /// The peer says that it could not read our message (MessageError).
    MessageError,
    /// A limit of this side was reached before anything was sent.
    Limit(String),
    /// The message is larger than the endpoint's transport carries; nothing was sent.
    TooLarge { octets: usize, largest: usize },
}

impl Failure {
    /// The same, where the connection was opened by another call: that it took as long as that one may wait says nothing of
    /// this one.
    pub(crate) fn of_another(self) -> Failure {
        match self {
            Failure::Timeout { step: step @ Step::Connect, sent: false, .. } => {
                Failure::NotSent { step, cause: io::ErrorKind::TimedOut.into() }
            }
            other => other,
        }
    }

    /// A connect that ended with `cause`, by a deadline or otherwise.
    pub(crate) fn not_connected(cause: io::Error, after: Duration) -> Failure {
        let step = Step::Connect;
        match cause.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                Failure::Timeout { step, sent: false, after }
            }
            _ => Failure::NotConnected { step, cause },
        }
    }

    /// What went wrong, without where.
    pub(crate) fn reason(&self) -> String {
        match self {
            Failure::NotConnected { step, cause } | Failure::NotSent { step, cause } => {
                format!("{step}: {cause}")
            }
            Failure::Timeout { step, after, .. } => {
                format!("{step}: no end after {:.3} s", after.as_secs_f64())
            }
            other => format!("{other:?}"),
        }
    }

    /// The exception that the caller sees when nothing more can be tried.
    pub(crate) fn into_exception(self, endpoint: &Endpoint, operation: &str) -> SystemException {
        let whole = |text: String| format!("{operation} at {endpoint}: {text}");
        match self {
            Failure::Encode(error) => encode_exception(&error, Completion::No).context(operation),
            Failure::NotConnected { step, cause } | Failure::NotSent { step, cause } => {
                SystemException::Transient(whole(format!("{step}: {cause}"))).minor(Minor::omg(2))
            }
            Failure::ClosedInOrder => {
                SystemException::Transient(whole("the server keeps closing the connection".into()))
            }
            Failure::Lost { step, cause } => {
                SystemException::CommFailure(whole(format!("{step}: {cause}"))).completed(Completion::Maybe)
            }
            Failure::Timeout { step, sent, after } => SystemException::Timeout(whole(format!(
                "{step}: no end after {:.3} s, the deadline of this call",
                after.as_secs_f64()
            )))
            .completed(if sent { Completion::Maybe } else { Completion::No }),
            Failure::Protocol(error @ ProtocolError::LimitExceeded { .. }) => SystemException::ImpLimit(
                whole(format!("the server sent more than this side accepts: {error}")),
            )
            .completed(Completion::Maybe),
            Failure::Protocol(error) => {
                SystemException::CommFailure(whole(format!("the peer broke the protocol: {error}")))
                    .completed(Completion::Maybe)
            }
            Failure::MessageError => SystemException::CommFailure(whole(
                "the peer could not read our message (MessageError)".into(),
            ))
            .completed(Completion::Maybe),
            Failure::Limit(text) => SystemException::NoResources(whole(text)),
            Failure::TooLarge { octets, largest } => SystemException::ImpLimit(whole(format!(
                "a message of {octets} octets, where at most {largest} can be sent at once"
            ))),
        }
    }
}
