//! Datagram sockets of every family: one that sends to anybody and takes an address for each datagram, and one that is
//! connected and takes none, are two types.

mod connected;
pub(crate) mod family;
mod unconnected;

pub use connected::ConnectedDatagramSocket;
pub use family::DatagramFamily;
pub use unconnected::{DatagramSocket, Received};

pub(crate) use family::Calls;

use crate::Error;

/// The octets of a datagram of this length, of which there was room for so many.
fn received(length: usize, room: usize) -> Result<usize, Error> {
    if length <= room { Ok(length) } else { Err(Error::truncated(length, room)) }
}
