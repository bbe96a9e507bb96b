//! Making connections, each by an absolute deadline.
//!
//! The socket connects in non-blocking mode and `poll` waits with what is left of the deadline, since the
//! system's own limit (about two minutes) is nobody's choice; a connected stream is then put into blocking
//! mode.

use super::{QueueSizes, TcpStream, canonical, local_address, open};
use crate::ready::ready_by;
use crate::{Error, Step};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{connect, sockopt};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

/// How to connect: options that every stream it yields is born with. Cheap to copy, holds no descriptor.
#[derive(Clone, Copy, Debug)]
pub struct TcpConnector {
    no_delay: bool,
    queue_sizes: QueueSizes,
    local: Option<SocketAddr>,
}

impl TcpConnector {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self { no_delay: true, queue_sizes: QueueSizes::default(), local: None }
    }

    /// Whether small messages are sent at once ([`TcpStream::set_no_delay`]). Default: yes.
    pub fn no_delay(mut self, yes: bool) -> Self {
        self.no_delay = yes;
        self
    }

    /// The kernel's buffers, set before the handshake, which announces them. Default: the kernel's choice.
    pub fn queue_sizes(mut self, sizes: QueueSizes) -> Self {
        self.queue_sizes = sizes;
        self
    }

    /// The local address to connect from; port 0 for any. Default: the system's choice.
    pub fn from(mut self, local: SocketAddr) -> Self {
        self.local = Some(local);
        self
    }

    /// Connects to `address` by `deadline`.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`], [`Step::Bind`] or [`Step::Connect`], naming the address:
    /// [`Error::is_connection_refused`], [`Error::is_timeout`], [`Error::is_descriptors_exhausted`].
    pub fn connect(&self, address: SocketAddr, deadline: Instant) -> Result<TcpStream, Error> {
        let failed = |step: Step| move |e: Errno| Error::os(step, e).with_address(address);
        let fd = open(address)?;
        sockopt::set_tcp_nodelay(&fd, self.no_delay).map_err(failed(Step::Configure))?;
        self.queue_sizes.apply(fd.as_fd()).map_err(|e| e.with_address(address))?;
        if let Some(local) = self.local {
            rustix::net::bind(&fd, &local).map_err(|e| Error::os(Step::Bind, e).with_address(local))?;
        }
        match connect(&fd, &address) {
            Ok(()) => {}
            // An interrupted connect goes on in the background, just as one in progress.
            Err(Errno::INPROGRESS | Errno::INTR) => self.complete(&fd, address, deadline)?,
            Err(errno) => return Err(failed(Step::Connect)(errno)),
        }
        // A port of the ephemeral range that nobody listens on can be chosen as the local port of its own
        // connection: TCP then connects the socket to itself.
        if local_address(fd.as_fd()).map_err(|e| e.with_address(address))? == address {
            return Err(failed(Step::Connect)(Errno::CONNREFUSED));
        }
        rustix::io::ioctl_fionbio(&fd, false).map_err(failed(Step::Configure))?;
        Ok(TcpStream::new(fd, canonical(address)))
    }

    fn complete(&self, fd: &OwnedFd, address: SocketAddr, deadline: Instant) -> Result<(), Error> {
        let failed = |e: Errno| Error::os(Step::Connect, e).with_address(address);
        if !ready_by(fd.as_fd(), PollFlags::OUT, Some(deadline)).map_err(failed)? {
            return Err(Error::out_of_time(Step::Connect).with_address(address));
        }
        sockopt::socket_error(fd).map_err(failed)?.map_err(failed)
    }

    /// Connects to the first of `addresses` that answers, in their order, all by one deadline.
    ///
    /// The time left is shared equally by the addresses left, so that a first one that swallows packets does
    /// not keep the second from being tried.
    ///
    /// # Errors
    /// The last address's, as [`connect`](Self::connect); for no addresses an invalid-argument error.
    /// Descriptors exhausted ends the attempts, as no other address would help.
    pub fn connect_any(&self, addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, Error> {
        let mut last = Error::os(Step::Connect, Errno::INVAL);
        for (index, &address) in addresses.iter().enumerate() {
            let now = Instant::now();
            let remaining = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let share = now + deadline.saturating_duration_since(now) / remaining;
            match self.connect(address, share) {
                Err(error) if !error.is_descriptors_exhausted() => last = error,
                done => return done,
            }
        }
        Err(last)
    }
}

impl Default for TcpConnector {
    fn default() -> Self {
        Self::new()
    }
}
