//! Stream sockets of every family: a listener, a way to connect, a connection under way, and a connection are four types.
//!
//! ```text
//! Acceptor<F>  ── accept ──▶ Stream<F> ◀── complete ── Connecting<F> ◀── begin ── Connector<F>
//! ```
//!
//! All four are written once; what differs is in the family `F` ([`family`]).

mod acceptor;
mod connector;
pub(crate) mod family;
mod queues;
mod scatter;
mod settings;
#[expect(clippy::module_inception, reason = "the connection itself, among what leads to one")]
mod stream;

pub use acceptor::{Acceptor, AcceptorOptions};
pub use connector::{Completion, Connecting, Connector};
pub use family::StreamFamily;
pub(crate) use family::{Begun, Calls};
pub use queues::QueueSizes;
pub use stream::{Idle, Stream};
