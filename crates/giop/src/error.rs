//! What a peer did wrong: [`ProtocolError`].
//!
//! After any of these nothing further on the connection can be understood. The ORB sends MessageError in the version
//! that [`ProtocolError::answer_version`] names, closes, and tells its own callers COMM_FAILURE or MARSHAL.
//! CORBA 3.4 part 2, §9.4.8.

use core::fmt;

use zorb_cdr::Version;

use crate::MessageType;

/// Why the octets received are not GIOP, or are more than the limits allow. The peer's fault in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A message begins neither with `GIOP` nor as one of another protocol that is known here.
    NotGiop {
        /// The four octets that stood there.
        found: [u8; 4],
    },
    /// A message of another protocol than GIOP that makes no sense.
    NotUnderstood {
        /// What the protocol is called.
        protocol: &'static str,
        /// The part of the message that was being read.
        what: &'static str,
        /// Where it stands, in octets from the start of the message.
        at: usize,
    },
    /// A version that zorb does not speak.
    UnknownVersion {
        /// The version in the header.
        found: Version,
    },
    /// A GIOP 1.0 byte order octet other than 0 and 1.
    UnknownByteOrder {
        /// The octet.
        found: u8,
    },
    /// A message type that the version does not have.
    UnknownMessageType {
        /// The type in the header.
        found: MessageType,
        /// The version in the header.
        version: Version,
    },
    /// "More fragments follow" on a message that cannot be fragmented in its version.
    NotFragmentable {
        /// The type in the header.
        message: MessageType,
        /// The version in the header.
        version: Version,
    },
    /// A Fragment that continues nothing.
    UnexpectedFragment {
        /// The request that it names (1.2); GIOP 1.1 fragments name none.
        id: Option<u32>,
    },
    /// A fragmented message begins while another with the same id (or, in 1.1, any other) is still incomplete.
    AlreadyFragmented {
        /// The request id in 1.2.
        id: Option<u32>,
    },
    /// A message ends, or holds something impossible, inside its head.
    Malformed {
        /// The type in the header.
        message: MessageType,
        /// The part of the head that was being read.
        what: &'static str,
        /// Where it stopped, in octets from the start of the message (of its last fragment read).
        at: usize,
        /// The version in the header.
        version: Version,
    },
    /// A message that only the other side of a connection may send: a Request from a server, a Reply from a client. Found
    /// by the ORB, which knows the roles.
    WrongRole {
        /// The message's type.
        message: MessageType,
        /// The version in use on the connection.
        version: Version,
    },
    /// More than a [`Limits`](crate::Limits) value allows.
    LimitExceeded {
        /// The limit's field name.
        limit: &'static str,
        /// How much there is, or was announced.
        found: usize,
        /// How much is allowed.
        allowed: usize,
        /// The version in the header.
        version: Version,
    },
}

impl ProtocolError {
    /// The GIOP version in which to answer with MessageError before closing: the peer's, or 1.2 if that is unknown.
    #[must_use]
    pub fn answer_version(&self) -> Version {
        match *self {
            Self::UnknownMessageType { version, .. }
            | Self::NotFragmentable { version, .. }
            | Self::Malformed { version, .. }
            | Self::WrongRole { version, .. }
            | Self::LimitExceeded { version, .. } => version,
            Self::UnknownByteOrder { .. } => Version::V1_0,
            Self::UnexpectedFragment { id: None } | Self::AlreadyFragmented { id: None } => Version::V1_1,
            Self::NotGiop { .. } | Self::NotUnderstood { .. } | Self::UnknownVersion { .. } => Version::V1_2,
            Self::UnexpectedFragment { .. } | Self::AlreadyFragmented { .. } => Version::V1_2,
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotGiop { found } => {
                write!(f, "not GIOP: a message begins with \"{}\"", found.escape_ascii())
            }
            Self::NotUnderstood { protocol, what, at } => {
                write!(f, "malformed {protocol} message: {what} at octet {at}")
            }
            Self::UnknownVersion { found } => {
                write!(f, "GIOP {}.{} is not one of 1.0, 1.1, 1.2", found.major, found.minor)
            }
            Self::UnknownByteOrder { found } => {
                write!(f, "byte order octet {found} of a GIOP 1.0 header is neither 0 nor 1")
            }
            Self::UnknownMessageType { found, version } => {
                write!(f, "GIOP {}.{} has no message type {}", version.major, version.minor, found.0)
            }
            Self::NotFragmentable { message, version } => {
                write!(f, "a GIOP {}.{} {message} cannot be fragmented", version.major, version.minor)
            }
            Self::UnexpectedFragment { id: Some(id) } => {
                write!(f, "a Fragment continues request {id}, which is not incomplete")
            }
            Self::UnexpectedFragment { id: None } => f.write_str("a GIOP 1.1 Fragment continues nothing"),
            Self::AlreadyFragmented { id: Some(id) } => {
                write!(f, "request {id} begins again before its last fragment")
            }
            Self::AlreadyFragmented { id: None } => {
                f.write_str("a fragmented GIOP 1.1 message begins before the last fragment of another")
            }
            Self::Malformed { message, what, at, version } => {
                write!(
                    f,
                    "malformed GIOP {}.{} {message}: {what} at octet {at}",
                    version.major, version.minor
                )
            }
            Self::WrongRole { message, version } => {
                write!(f, "a GIOP {}.{} {message} from the wrong side", version.major, version.minor)
            }
            Self::LimitExceeded { limit, found, allowed, .. } => {
                write!(f, "{limit}: {found}, allowed are {allowed}")
            }
        }
    }
}

impl core::error::Error for ProtocolError {}
