//! Streams over shared memory: a ring each way, and a doorbell for each.

mod arming;
mod closing;
mod doorbell;
mod ends;
mod layout;
#[cfg(all(test, zorb_loom))]
mod models;
mod options;
mod ring;
mod setup;
mod spinning;
mod stream;
mod transfers;
mod waiting;
mod word;

pub use arming::Armed;
pub use ends::{Shm, ShmAcceptor, ShmConnector};
pub use options::{RingSize, ShmOptions};
pub use spinning::Spinning;
pub use stream::ShmStream;

/// Which end of a Unix stream sets the channel up, and which follows. The two must differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShmRole {
    /// Makes the memory and passes it on.
    Initiator,
    /// Receives the memory and looks whether it is right.
    Responder,
}
