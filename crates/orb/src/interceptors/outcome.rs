//! How a request ended, as interceptors see it, and what they may make of it.

use zorb_cdr::{Body, DecodeError, Decoder, Format};

use crate::exception::{Completion, SystemException};
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::raised::ExceptionType;

/// What an interceptor has happen in place of what would (`ForwardRequest`, or a system exception).
#[derive(Clone, Debug)]
pub enum Intervention {
    /// The request ends in this exception.
    Raise(SystemException),
    /// The request is to be made again, to this object (`ForwardRequest`). Raised at the client it concerns this call alone; at the server
    /// it becomes a `LOCATION_FORWARD`, and clients keep to it.
    ForwardRequest(ObjectRef),
}

impl From<SystemException> for Intervention {
    fn from(exception: SystemException) -> Self {
        Intervention::Raise(exception)
    }
}

/// How a request ended (`PortableInterceptor::ReplyStatus`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyStatus {
    /// With a result, or a oneway that was sent or has run.
    Successful,
    /// With a system exception.
    SystemException,
    /// With an exception that the IDL declares.
    UserException,
    /// It goes to another object.
    LocationForward,
    /// It is to be sent again, as the other side asked (`NEEDS_ADDRESSING_MODE`), or because a forward led nowhere.
    TransportRetry,
    /// Nobody knows: the caller has dropped the call's future.
    Unknown,
}

/// An exception on its way to the caller.
#[derive(Clone, Copy, Debug)]
pub enum ObservedException<'e> {
    /// A system exception.
    System(&'e SystemException),
    /// One that the IDL declares, as it travels.
    User(&'e EncodedException),
}

impl ObservedException<'_> {
    /// Its repository id (`received_exception_id`).
    pub fn repository_id(&self) -> &str {
        match self {
            ObservedException::System(exception) => exception.kind.repository_id(),
            ObservedException::User(exception) => exception.repository_id(),
        }
    }
}

/// An exception that the IDL declares, undecoded: an ORB does not know the types of what passes through it.
#[derive(Clone, Debug)]
pub struct EncodedException {
    repository_id: String,
    /// The id, then the members.
    body: Body,
    format: Format,
}

impl EncodedException {
    /// Of a body that begins with the repository id.
    pub(crate) fn new(body: Body, format: Format) -> Result<EncodedException, DecodeError> {
        let repository_id = Decoder::over(&body, format).read_string()?;
        Ok(EncodedException { repository_id, body, format })
    }

    /// Its repository id.
    pub fn repository_id(&self) -> &str {
        &self.repository_id
    }

    /// The exception, if it is an `X`. References in it are bound to `orb`.
    ///
    /// # Errors
    /// It is called one, and its members are not those of an `X`.
    pub fn get<X: ExceptionType>(&self, orb: &Orb) -> Result<Option<X>, DecodeError> {
        if self.repository_id != X::ID {
            return Ok(None);
        }
        let mut members = Decoder::over(&self.body, self.format).with_context(orb);
        members.read_string()?;
        X::decode(&mut members).map(Some)
    }
}

/// How a request ends, unless an interceptor changes that.
pub(crate) enum Outcome {
    /// A result has come, or is given.
    Reply,
    /// A oneway has been sent, or has run.
    Sent,
    System(SystemException),
    User(EncodedException),
    Forward(ObjectRef),
    Retry,
    Unknown,
}

impl Outcome {
    pub(super) fn status(&self) -> ReplyStatus {
        match self {
            Outcome::Reply | Outcome::Sent => ReplyStatus::Successful,
            Outcome::System(_) => ReplyStatus::SystemException,
            Outcome::User(_) => ReplyStatus::UserException,
            Outcome::Forward(_) => ReplyStatus::LocationForward,
            Outcome::Retry => ReplyStatus::TransportRetry,
            Outcome::Unknown => ReplyStatus::Unknown,
        }
    }

    pub(super) fn exception(&self) -> Option<ObservedException<'_>> {
        match self {
            Outcome::System(exception) => Some(ObservedException::System(exception)),
            Outcome::User(exception) => Some(ObservedException::User(exception)),
            _ => None,
        }
    }

    pub(super) fn forward(&self) -> Option<&ObjectRef> {
        match self {
            Outcome::Forward(to) => Some(to),
            _ => None,
        }
    }

    /// Whether the operation has run, for an exception that takes this outcome's place.
    pub(super) fn completion(&self) -> Completion {
        match self {
            Outcome::Reply | Outcome::Sent | Outcome::User(_) => Completion::Yes,
            Outcome::System(exception) => exception.completed,
            Outcome::Forward(_) | Outcome::Retry => Completion::No,
            Outcome::Unknown => Completion::Maybe,
        }
    }
}

impl From<Intervention> for Outcome {
    fn from(intervention: Intervention) -> Self {
        match intervention {
            Intervention::Raise(exception) => Outcome::System(exception),
            Intervention::ForwardRequest(to) => Outcome::Forward(to),
        }
    }
}
