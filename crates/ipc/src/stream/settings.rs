//! What a stream is told about itself, and asked: timeouts, queues, the names of its ends.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::getsockname;
use rustix::net::sockopt::{self, Timeout};

use super::queues::{self, QueueSizes};
use super::{Stream, StreamFamily};
use crate::{Error, Step, counts};

/// The longest timeout that every kernel counts.
const LONGEST: Duration = Duration::from_secs(2_147_483_647);

impl<F: StreamFamily> Stream<F> {
    /// How long [`receive`](Self::receive) waits; `None`, as a stream is born, for as long as it takes. The
    /// kernel counts in ticks of a few milliseconds and rounds up.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> Result<(), Error> {
        self.set_timeout(Timeout::Recv, timeout)
    }

    /// How long [`send`](Self::send) waits for room; `None`, as a stream is born, for as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_send_timeout(&self, timeout: Option<Duration>) -> Result<(), Error> {
        self.set_timeout(Timeout::Send, timeout)
    }

    fn set_timeout(&self, which: Timeout, timeout: Option<Duration>) -> Result<(), Error> {
        // To the kernel zero means forever, the opposite of what was asked for, and 68 years are forever to anybody.
        let timeout = timeout.map(|timeout| timeout.clamp(Duration::from_micros(1), LONGEST));
        counts::enter();
        sockopt::set_socket_timeout(self, which, timeout).map_err(|e| self.failed(Step::Configure, e))
    }

    /// Sets the kernel's buffers of a live connection. TCP's handshake is over, so a receive buffer beyond 64
    /// KiB may not be used to the full: better set them on the [`Connector`](crate::Connector) or the
    /// [`AcceptorOptions`](crate::AcceptorOptions).
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_queue_sizes(&self, sizes: QueueSizes) -> Result<(), Error> {
        sizes.apply(self.as_fd()).map_err(|e| self.naming(e))
    }

    /// The kernel's buffers as they are, bookkeeping included.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn queue_sizes(&self) -> Result<QueueSizes, Error> {
        queues::sizes(self.as_fd()).map_err(|e| self.failed(Step::Configure, e))
    }

    /// This end, as the peer knows it. A Unix socket has a name only if it was given one, as those have that
    /// were accepted.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn local(&self) -> Result<F::Peer, Error> {
        counts::enter();
        let local = getsockname(self).map(Some).and_then(F::accepted);
        let local = local.and_then(|local| local.ok_or(Errno::NOTCONN));
        local.map_err(|errno| self.failed(Step::Configure, errno))
    }
}
