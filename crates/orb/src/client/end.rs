//! How a shared connection ended, and what that means for the calls on it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use zorb_giop::ProtocolError;

use super::failure::{Failure, Step};

/// How a shared connection ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// By CloseConnection: what is unanswered was not executed.
    InOrder,
    /// It was never there.
    NotConnected { kind: io::ErrorKind, text: Arc<str>, after: Duration },
    /// It broke.
    Broken { step: Step, kind: io::ErrorKind },
    /// This side cannot use it, nor another in its place: it has no thread or no memory to do so.
    Unusable { step: Step, kind: io::ErrorKind },
    /// The peer broke the protocol.
    Protocol(ProtocolError),
    /// The peer could not read what we sent.
    MessageError,
    /// Unused for long.
    Idle,
    /// The ORB shuts down.
    Closed,
}

impl End {
    pub(super) fn failure(&self, sent: bool) -> Failure {
        match self {
            // Of one that was idle nothing was under way.
            End::InOrder | End::Idle => Failure::ClosedInOrder,
            End::Closed if sent => {
                let cause = io::Error::new(io::ErrorKind::NotConnected, "this ORB was shut down");
                Failure::Lost { step: Step::WaitForReply, cause }
            }
            End::Closed => Failure::ClosedInOrder,
            End::NotConnected { kind, text, after } => {
                Failure::not_connected(io::Error::new(*kind, text.to_string()), *after)
            }
            &End::Broken { step, kind } | &End::Unusable { step, kind } if sent => {
                Failure::Lost { step, cause: kind.into() }
            }
            &End::Broken { step, kind: kind @ io::ErrorKind::ConnectionRefused } => {
                Failure::NotConnected { step, cause: kind.into() }
            }
            &End::Broken { step, kind } => Failure::NotSent { step, cause: kind.into() },
            &End::Unusable { step, kind } => Failure::NotConnected { step, cause: kind.into() },
            End::Protocol(error) if sent => Failure::Protocol(*error),
            End::Protocol(error) => {
                let cause = io::Error::new(io::ErrorKind::InvalidData, error.to_string());
                Failure::NotSent { step: Step::Receive, cause }
            }
            End::MessageError => Failure::MessageError,
        }
    }
}
