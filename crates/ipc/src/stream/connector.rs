//! Making connections: by an absolute deadline, or begun now and completed later.
//!
//! The socket connects in non-blocking mode and `poll` waits with what is left of the deadline, since the
//! system's own limit (about two minutes) is nobody's choice; a connected stream is then put into blocking
//! mode.

use super::queues::QueueSizes;
use super::{Begun, Stream, StreamFamily};
use crate::ready::{ready_by, rest};
use crate::{Error, Refused, Step};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::sockopt;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How to connect: options that every stream it yields is born with. Holds no descriptor.
///
/// Connecting blocks until a deadline ([`connect`](Self::connect)), or does not block ([`begin`](Self::begin)). Connecting
/// without a deadline does not exist: how long the system itself tries differs from one to the next and is minutes for TCP,
/// and a Unix socket whose peer's queue is full it tries for ever. Who means to wait as long as it takes says so, by a
/// deadline far away; a connection is refused or fails before that all the same, with the system's reason:
///
/// ```no_run
/// use std::time::{Duration, Instant};
/// use zorb_ipc::TcpConnector;
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let blocking = Instant::now() + Duration::from_secs(365 * 24 * 3600);
/// let stream = TcpConnector::new().connect("192.0.2.1:2809".parse().unwrap(), blocking)?;
/// # Ok(())
/// # }
/// ```
pub struct Connector<F: StreamFamily> {
    queue_sizes: QueueSizes,
    /// The family's own.
    pub(crate) own: F::Connecting,
}

impl<F: StreamFamily> Connector<F> {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self { queue_sizes: QueueSizes::default(), own: F::Connecting::default() }
    }

    /// The kernel's buffers, set before TCP's handshake, which announces them. Default: the kernel's choice.
    pub fn queue_sizes(mut self, sizes: QueueSizes) -> Self {
        self.queue_sizes = sizes;
        self
    }

    /// Connects to `address` by `deadline`.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`], [`Step::Bind`] or [`Step::Connect`], naming the address:
    /// [`Error::is_connection_refused`], [`Error::is_timeout`], [`Error::is_descriptors_exhausted`].
    pub fn connect(&self, address: F::Address, deadline: Instant) -> Result<Stream<F>, Error> {
        Ok(self.begin(address)?.complete_by(deadline)?)
    }

    /// Begins to connect to `address`, and does not wait.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), but for a deadline: what is known at once.
    pub fn begin(&self, address: F::Address) -> Result<Connecting<F>, Error> {
        let named = |error: Error| error.or_with(|| F::address(&address));
        let fd = F::open(&address).map_err(|errno| named(Error::os(Step::Open, errno)))?;
        F::prepare_connecting(fd.as_fd(), &self.own).map_err(named)?;
        self.queue_sizes.apply(fd.as_fd()).map_err(named)?;
        let begun = F::begin(fd.as_fd(), &address);
        let begun = begun.map_err(|errno| named(Error::os(Step::Connect, F::refusal(errno))))?;
        Ok(Connecting { fd, address, begun, failure: None })
    }

    /// Connects to the first of `addresses` that answers, in their order, all by one deadline.
    ///
    /// The time left is shared equally by the addresses left, so that a first one that swallows packets does
    /// not keep the second from being tried.
    ///
    /// # Errors
    /// The last address's, as [`connect`](Self::connect); for no addresses an invalid-argument error.
    /// Descriptors exhausted ends the attempts, as no other address would help.
    pub fn connect_any(&self, addresses: &[F::Address], deadline: Instant) -> Result<Stream<F>, Error> {
        let mut last = Error::os(Step::Connect, Errno::INVAL);
        for (index, address) in addresses.iter().enumerate() {
            let now = Instant::now();
            let remaining = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let share = now + deadline.saturating_duration_since(now) / remaining;
            match self.connect(address.clone(), share) {
                Err(error) if !error.is_descriptors_exhausted() => last = error,
                done => return done,
            }
        }
        Err(last)
    }
}

impl<F: StreamFamily> Default for Connector<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: StreamFamily> Clone for Connector<F> {
    fn clone(&self) -> Self {
        Self { queue_sizes: self.queue_sizes, own: self.own.clone() }
    }
}

impl<F: StreamFamily> fmt::Debug for Connector<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("queue_sizes", &self.queue_sizes).field("own", &self.own).finish()
    }
}

/// A connection under way. It cannot send or receive yet; [`complete_now`](Self::complete_now) turns it into a stream that can.
///
/// It may wait in an [`Epoll`](crate::Epoll) set, with the interest to send. Dropping it gives the connection up.
#[must_use = "dropped, it gives the connection up: `complete_now` or `complete_by` makes it a stream"]
pub struct Connecting<F: StreamFamily> {
    fd: OwnedFd,
    address: F::Address,
    begun: Begun,
    /// What it came to, if it failed.
    failure: Option<Errno>,
}

/// What became of a connection under way.
#[must_use = "dropped, it gives the connection up, which may be there or still under way"]
pub enum Completion<F: StreamFamily> {
    /// It is there.
    Connected(Stream<F>),
    /// It is not decided yet.
    Pending(Connecting<F>),
}

impl<F: StreamFamily> Connecting<F> {
    /// Where to.
    pub fn address(&self) -> &F::Address {
        &self.address
    }

    /// The stream, if the connection is there by now.
    ///
    /// A Unix socket whose peer's queue is full is tried again by this, and becomes ready in no
    /// [`Epoll`](crate::Epoll) set: ask from time to time.
    ///
    /// # Errors
    /// At [`Step::Connect`], naming the address. What comes back with it fails in the same way again.
    pub fn complete_now(mut self) -> Result<Completion<F>, Refused<Self>> {
        match self.look() {
            Ok(true) => self.stream().map(Completion::Connected),
            Ok(false) => Ok(Completion::Pending(self)),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// The stream, if the connection is there by `deadline`.
    ///
    /// # Errors
    /// At [`Step::Connect`], naming the address. [`Error::is_timeout`], with the connection, which is still
    /// under way and can be completed later; after any other error it fails in the same way again.
    pub fn complete_by(mut self, deadline: Instant) -> Result<Stream<F>, Refused<Self>> {
        loop {
            match self.look() {
                Ok(true) => return self.stream(),
                Ok(false) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
            let waited = match self.begun {
                Begun::Full => Ok(rest(Some(deadline))),
                _ => ready_by(self.fd.as_fd(), PollFlags::OUT, Some(deadline)),
            };
            match waited {
                Ok(true) => {}
                Ok(false) => return Err(self.refused(Error::out_of_time(Step::Connect))),
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    /// Finds out how it stands, without waiting: whether it is there.
    fn look(&mut self) -> Result<bool, Errno> {
        if let Some(errno) = self.failure {
            return Err(errno);
        }
        let found = match self.begun {
            Begun::Connected => Ok(Begun::Connected),
            Begun::Full => F::begin(self.fd.as_fd(), &self.address),
            Begun::Pending => match ready_by(self.fd.as_fd(), PollFlags::OUT, Some(Instant::now())) {
                Ok(false) => Ok(Begun::Pending),
                Ok(true) => {
                    sockopt::socket_error(&self.fd).and_then(|error| error).map(|()| Begun::Connected)
                }
                Err(errno) => Err(errno),
            },
        };
        // The kernel tells a failure once, and would from then on say that there is none.
        let found = found.inspect_err(|errno| self.failure = Some(*errno));
        found.map(|begun| {
            self.begun = begun;
            begun == Begun::Connected
        })
    }

    fn stream(mut self) -> Result<Stream<F>, Refused<Self>> {
        let fd = self.fd.as_fd();
        // A port of the ephemeral range that nobody listens on can be chosen as the local port of its own
        // connection: TCP then connects the socket to itself.
        match F::is_connected_to_itself(fd, &self.address) {
            Ok(false) => {}
            Ok(true) => {
                // Closed in the usual way it would keep the port for a minute from whoever is to listen there.
                let _ = sockopt::set_socket_linger(fd, Some(Duration::ZERO));
                self.failure = Some(Errno::CONNREFUSED);
                return Err(self.failed(Errno::CONNREFUSED));
            }
            Err(errno) => return Err(self.refused(Error::os(Step::Configure, errno))),
        }
        if let Err(errno) = rustix::io::ioctl_fionbio(fd, false) {
            return Err(self.refused(Error::os(Step::Configure, errno)));
        }
        let peer = F::connected(&self.address);
        Ok(Stream::of_connected(self.fd, peer))
    }

    fn failed(self, errno: Errno) -> Refused<Self> {
        self.refused(Error::os(Step::Connect, F::refusal(errno)))
    }

    fn refused(self, error: Error) -> Refused<Self> {
        Refused::new(error.with(F::address(&self.address)), self)
    }
}

impl<F: StreamFamily> fmt::Debug for Connecting<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connecting").field("fd", &self.fd).field("address", &self.address).finish()
    }
}

impl<F: StreamFamily> fmt::Debug for Completion<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected(stream) => f.debug_tuple("Connected").field(stream).finish(),
            Self::Pending(connecting) => f.debug_tuple("Pending").field(connecting).finish(),
        }
    }
}

/// It goes on connecting, and does not block.
impl<F: StreamFamily> From<Connecting<F>> for OwnedFd {
    fn from(connecting: Connecting<F>) -> Self {
        connecting.fd
    }
}

impl<F: StreamFamily> AsFd for Connecting<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
