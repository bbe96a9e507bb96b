//! Datagram sockets of every family: one that sends to anybody and takes an address for each datagram, and one that is
//! connected and takes none, are two types.
//!
//! What a call's name says:
//!
//! ```text
//! receive  receive_from  send  send_to   wait as long as it takes
//! …_now                                  do not wait
//! …_by                                   wait until a deadline
//! receive_many…  send_many…              as many datagrams as a batch has room for, in one system call
//! ```

#[cfg(target_os = "linux")]
mod batch;
mod connected;
mod earlier;
pub(crate) mod family;
#[cfg(target_os = "linux")]
pub(crate) mod kernel;
#[cfg(target_os = "linux")]
mod many;
mod sender;
mod taking;
mod unconnected;
mod waiting;

use std::io::IoSlice;

use rustix::io::Errno;

#[cfg(target_os = "linux")]
pub use batch::{BatchedDatagram, Outgoing, ReceiveBatch, SendBatch};
pub use connected::ConnectedDatagramSocket;
pub(crate) use family::Calls;
pub use family::DatagramFamily;
#[cfg(target_os = "linux")]
pub(crate) use family::Report;
#[cfg(target_os = "linux")]
pub(crate) use sender::Origin;
pub use sender::Sender;
pub use unconnected::{DatagramSocket, Received};
#[cfg(target_os = "linux")]
pub(crate) use waiting::send_until;
pub(crate) use waiting::{receive_after, send_after};

/// The most slices that one system call takes (`IOV_MAX`, uio(7)).
pub(crate) const MOST_SLICES: usize = 1024;

/// Sends slices that are too many for one system call as so many as it takes: a message goes whole, so the
/// last ones are copied into one.
#[cold]
pub(crate) fn with_fewer<T>(slices: &[IoSlice<'_>], send: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
    let (head, tail) = slices.split_at(MOST_SLICES - 1);
    let mut joined = Vec::with_capacity(tail.iter().map(|slice| slice.len()).sum());
    for slice in tail {
        joined.extend_from_slice(slice);
    }
    let mut few = head.to_vec();
    few.push(IoSlice::new(&joined));
    send(&few)
}

/// Whether a call fails with this because of a datagram that was sent before (ip(7), icmp(7);
/// `icmp_err_convert` in Linux's net/ipv4/icmp.c and net/ipv6/icmp.c).
fn concerns_earlier(errno: Errno) -> bool {
    [
        Errno::CONNREFUSED,
        Errno::HOSTUNREACH,
        Errno::NETUNREACH,
        Errno::MSGSIZE,
        Errno::PROTO,
        Errno::NOPROTOOPT,
        Errno::OPNOTSUPP,
        Errno::ACCESS,
        Errno::HOSTDOWN,
        #[cfg(target_os = "linux")]
        Errno::NONET,
    ]
    .contains(&errno)
}
