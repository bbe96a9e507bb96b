//! The object request broker: references, calls, the object adapter, threads, transports and policies.
//!
//! It knows `cdr` (values), `giop` (messages) and `ipc` (the operating system); it knows no service, no TLS
//! library, no async runtime, not the environment and not the command line.
//!
//! | step of a call | file |
//! |---|---|
//! | deadline, retry, forwarding | `object::journey` |
//! | which target: here, elsewhere, gone | `object::route` |
//! | a connection to that endpoint | `client::pool` |
//! | write, wait, read | `client::message`, `client::private` |
//! | who reads a readable channel | `server::dispatch` |
//! | object key → adapter → servant | [`poa`] |
//! | arguments, method, reply | [`server::request`] |
//!
//! Dependencies: `bytes` (counted buffers), `parking_lot` (locks: half the instructions of the standard library's, and no
//! poisoning, which nothing here could make use of: a lock guards what is whole between two statements), `tracing` (events
//! for operators).
#![forbid(unsafe_code)]

pub mod ami;
pub mod bidirectional;
pub mod deposit;
pub mod dynamic;
pub mod exception;
pub mod frames;
pub mod interceptors;
mod landing;
pub mod loan;
pub mod messaging;
pub mod object;
pub mod orb;
pub mod poa;
pub mod policy;
pub mod probes;
pub mod properties;
pub mod protocols;
pub mod raised;
pub mod rt;
pub mod server;
pub mod skeleton;
pub mod transport;

mod client;
mod known_types;
mod marshal;
mod messages;
mod upcall;
mod values;

pub use exception::{Completion, Exception, Kind, Minor, SystemException, UserException};
pub use loan::Loan;
pub use object::ObjectRef;
pub use object::abstract_interface::{Abstract, AbstractInterface};
pub use object::local::Local;
pub use orb::{Orb, OrbBuilder};
pub use properties::Properties;
pub use server::request::Call;
pub use skeleton::{Interface, IntoServant};
