//! How much the kernel holds for a connection.

use std::os::fd::BorrowedFd;

use rustix::net::sockopt;

use crate::Error;
use crate::options::{set_receive, set_send};

/// How many octets the kernel may hold for a connection in each direction; `None` leaves it to the kernel,
/// which adapts the size to the traffic and is right for nearly everyone.
///
/// Linux doubles the figure for its own bookkeeping, caps it by `net.core.wmem_max` and `rmem_max`, and stops
/// adapting once it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSizes {
    /// Octets accepted from this side and not yet acknowledged by the peer.
    pub send: Option<usize>,
    /// Octets received and not yet taken.
    pub receive: Option<usize>,
}

impl QueueSizes {
    pub(crate) fn apply(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        if let Some(octets) = self.send {
            set_send(fd, octets)?;
        }
        if let Some(octets) = self.receive {
            set_receive(fd, octets)?;
        }
        Ok(())
    }
}

/// The sizes in force, bookkeeping included.
pub(crate) fn sizes(fd: BorrowedFd<'_>) -> Result<QueueSizes, rustix::io::Errno> {
    Ok(QueueSizes {
        send: Some(sockopt::socket_send_buffer_size(fd)?),
        receive: Some(sockopt::socket_recv_buffer_size(fd)?),
    })
}
