//! What an operation of the object adapter can refuse, and what would be right instead.
//!
//! CORBA declares these as exceptions of `PortableServer::POA` and `POAManager` (CORBA 3.4 part 1 §11.3); they
//! never travel. A servant that lets one pass with `?` answers its caller with [`SystemException`]'s form of it.

use std::fmt;

use super::id::ObjectId;
use super::policies::InvalidPolicy;
use crate::exception::{Minor, SystemException};

/// Why an operation of a [`Poa`](super::Poa) or a [`PoaManager`](super::PoaManager) did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoaError {
    /// `create_child`: the parent has a child of that name.
    AdapterAlreadyExists {
        /// The name.
        name: Box<str>,
    },
    /// `find_child`: there is no child of that name, and no adapter activator made one.
    AdapterNonExistent {
        /// The name.
        name: Box<str>,
    },
    /// The manager is inactive for good: its adapters serve no more.
    AdapterInactive,
    /// `create_child`: two policies exclude each other.
    InvalidPolicy(InvalidPolicy),
    /// The adapter's policies do not allow the operation.
    WrongPolicy {
        /// The operation.
        operation: &'static str,
        /// The policies that it needs.
        needs: &'static str,
    },
    /// An object with that id is active.
    ObjectAlreadyActive {
        /// The id.
        id: ObjectId,
    },
    /// The servant is active, and the adapter allows one id to a servant (`IdUniqueness::Unique`).
    ServantAlreadyActive {
        /// The id that it is active under.
        id: ObjectId,
    },
    /// No object with that id is active.
    ObjectNotActive {
        /// The id.
        id: ObjectId,
    },
    /// The servant is not active in this adapter.
    ServantNotActive,
    /// No default servant or servant manager was set.
    NoServant,
    /// The reference was not made by this adapter.
    WrongAdapter,
    /// In an adapter that assigns ids itself: it never assigned this one.
    ForeignId {
        /// The id.
        id: ObjectId,
    },
    /// A name that no object key can hold: longer than 65,535 octets with the names of all its parents.
    NameTooLong,
    /// The adapter was destroyed, or is being destroyed.
    Destroyed,
    /// The adapter has its servant manager; it cannot be replaced (`BAD_INV_ORDER` OMG 6).
    ServantManagerSet,
    /// Waiting for running requests from within a request would wait for itself (`BAD_INV_ORDER` OMG 3).
    WouldDeadlock,
    /// The time given for running requests to end was not enough. What was asked for goes on.
    StillRunning,
    /// The reference could not be made: as a rule, this ORB cannot listen.
    System(SystemException),
}

impl fmt::Display for PoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoaError::AdapterAlreadyExists { name } => {
                write!(f, "the adapter has a child {name:?}: find_child finds it, another name makes a new one")
            }
            PoaError::AdapterNonExistent { name } => {
                write!(f, "the adapter has no child {name:?}, and no adapter activator made one: create_child does")
            }
            PoaError::AdapterInactive => {
                f.write_str("the manager was deactivated, which is for good: its adapters have to be made anew")
            }
            PoaError::InvalidPolicy(invalid) => invalid.fmt(f),
            PoaError::WrongPolicy { operation, needs } => write!(f, "{operation} needs an adapter with {needs}"),
            PoaError::ObjectAlreadyActive { id } => {
                write!(f, "object {id} is active: deactivate it first, or choose another id")
            }
            PoaError::ServantAlreadyActive { id } => write!(
                f,
                "the servant is active as {id}: an adapter with IdUniqueness::Multiple lets it be several objects"
            ),
            PoaError::ObjectNotActive { id } => write!(f, "no object {id} is active: activate_with_id makes it so"),
            PoaError::ServantNotActive => f.write_str("the servant is not active in this adapter: activate does it"),
            PoaError::NoServant => f.write_str("none was set: set_default_servant or a set_servant_… does it"),
            PoaError::WrongAdapter => f.write_str("the reference was made by another adapter or another ORB"),
            PoaError::ForeignId { id } => {
                write!(f, "id {id} was not assigned by this adapter: IdAssignment::User lets the program choose ids")
            }
            PoaError::NameTooLong => {
                f.write_str("the names from the root to this adapter have more than 65,535 octets together")
            }
            PoaError::Destroyed => f.write_str("the adapter was destroyed"),
            PoaError::ServantManagerSet => f.write_str("the servant manager was set before and stays"),
            PoaError::WouldDeadlock => f.write_str(
                "waiting for requests from within a request would wait for itself: do not wait, or do it elsewhere",
            ),
            PoaError::StillRunning => f.write_str("requests were still running when the time to wait was over"),
            PoaError::System(exception) => exception.fmt(f),
        }
    }
}

impl std::error::Error for PoaError {}

impl From<SystemException> for PoaError {
    fn from(exception: SystemException) -> Self {
        PoaError::System(exception)
    }
}

impl From<InvalidPolicy> for PoaError {
    fn from(invalid: InvalidPolicy) -> Self {
        PoaError::InvalidPolicy(invalid)
    }
}

impl From<PoaError> for SystemException {
    fn from(error: PoaError) -> Self {
        let text = error.to_string();
        match error {
            PoaError::System(exception) => exception,
            PoaError::WouldDeadlock => SystemException::BadInvOrder(text).minor(Minor::omg(3)),
            PoaError::ServantManagerSet => SystemException::BadInvOrder(text).minor(Minor::omg(6)),
            PoaError::Destroyed => SystemException::ObjectNotExist(text),
            PoaError::ForeignId { .. } => SystemException::BadParam(text).minor(Minor::omg(14)),
            PoaError::NameTooLong => SystemException::ImpLimit(text),
            _ => SystemException::ObjAdapter(text),
        }
    }
}
