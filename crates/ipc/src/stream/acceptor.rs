//! Listening for connections.
//!
//! The listening socket itself never blocks: a peer may withdraw between the moment it was announced and the
//! moment it is taken, and a blocking `accept` would then wait for the next one, past any deadline. Those
//! calls here that wait do so in `poll`, and only when nobody is in the queue.

use super::queues::QueueSizes;
use super::{Stream, StreamFamily};
use crate::portable::accept;
use crate::ready::attempt_by;
use crate::{Error, Step, counts};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::listen;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// A listening socket: it yields streams, and can neither send nor receive.
///
/// Several threads may accept from one acceptor at once; each peer goes to one of them. Dropping it stops
/// listening: peers in its queue are reset.
pub struct Acceptor<F: StreamFamily> {
    /// Dropped before the descriptor: as long as that is open its file is not abandoned, so that nobody else has
    /// made another one of that name, which could even have the same number.
    held: F::Held,
    fd: OwnedFd,
    local: F::Address,
    own: F::Listening,
    /// What accepted sockets are given that do not inherit it.
    queue_sizes: QueueSizes,
}

/// How an acceptor listens, and what the streams it yields are born with.
pub struct AcceptorOptions<F: StreamFamily> {
    backlog: i32,
    queue_sizes: QueueSizes,
    /// The family's own.
    pub(crate) own: F::Listening,
}

impl<F: StreamFamily> AcceptorOptions<F> {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        // Linux's own ceiling (net.core.somaxconn) since 5.4: a burst of clients is queued as far as the
        // system permits, and an entry costs memory only while it waits.
        Self { backlog: 4096, queue_sizes: QueueSizes::default(), own: F::Listening::default() }
    }

    /// How many connected peers may wait to be accepted; the system caps it at `net.core.somaxconn`. Default:
    /// 4096.
    pub fn backlog(mut self, peers: u32) -> Self {
        self.backlog = peers.try_into().unwrap_or(i32::MAX);
        self
    }

    /// The kernel's buffers for each accepted stream; they must be known before a peer connects, since TCP's
    /// handshake announces them. Default: the kernel's choice.
    pub fn queue_sizes(mut self, sizes: QueueSizes) -> Self {
        self.queue_sizes = sizes;
        self
    }
}

impl<F: StreamFamily> Default for AcceptorOptions<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: StreamFamily> Clone for AcceptorOptions<F> {
    fn clone(&self) -> Self {
        Self { backlog: self.backlog, queue_sizes: self.queue_sizes, own: self.own.clone() }
    }
}

impl<F: StreamFamily> fmt::Debug for AcceptorOptions<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("AcceptorOptions");
        options.field("backlog", &self.backlog).field("queue_sizes", &self.queue_sizes);
        options.field("own", &self.own).finish()
    }
}

impl<F: StreamFamily> Acceptor<F> {
    /// Listens on `address`. Where the system chooses a part of it, such as for port 0, [`local`](Self::local) tells.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`], [`Step::Bind`] or [`Step::Listen`], naming the address;
    /// [`Error::is_address_in_use`] if somebody listens there.
    pub fn bind(address: F::Address, options: &AcceptorOptions<F>) -> Result<Self, Error> {
        let named = |error: Error| error.or_with(|| F::address(&address));
        let at = |step| move |errno| Error::os(step, errno);
        let fd = F::open(&address).map_err(at(Step::Open)).map_err(named)?;
        F::prepare_listening(fd.as_fd(), &address, &options.own).map_err(named)?;
        // Accepted sockets inherit them, or are given them.
        options.queue_sizes.apply(fd.as_fd()).map_err(named)?;
        let mut held = F::bind(fd.as_fd(), &address, &options.own).map_err(named)?;
        listen(&fd, options.backlog).map_err(at(Step::Listen)).map_err(named)?;
        F::listens(&mut held);
        let local = F::local(fd.as_fd()).map_err(at(Step::Configure)).map_err(named)?;
        let (local, own) = (local.unwrap_or(address), options.own.clone());
        let queue_sizes = if F::QUEUES_ARE_INHERITED { QueueSizes::default() } else { options.queue_sizes };
        Ok(Self { fd, local, own, held, queue_sizes })
    }

    /// `fd` is a listening socket, not blocking.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "of what was adopted"))]
    pub(crate) fn of(fd: OwnedFd, local: F::Address, own: F::Listening, held: F::Held) -> Self {
        Self { fd, local, own, held, queue_sizes: QueueSizes::default() }
    }

    /// Where it listens, with what the system chose.
    pub fn local(&self) -> &F::Address {
        &self.local
    }

    /// The family's own options.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only what asks for interfaces asks for them")
    )]
    pub(crate) fn own(&self) -> &F::Listening {
        &self.own
    }

    /// Takes the next peer, and waits for one as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Accept`]; [`Error::is_descriptors_exhausted`] leaves the peer in the queue. A peer that
    /// withdrew while it waited is passed over in silence.
    pub fn accept(&self) -> Result<Stream<F>, Error> {
        self.accept_until(None)
    }

    /// Takes the next peer, and waits for one until `deadline`.
    ///
    /// # Errors
    /// As [`accept`](Self::accept), and [`Error::is_timeout`].
    pub fn accept_by(&self, deadline: Instant) -> Result<Stream<F>, Error> {
        self.accept_until(Some(deadline))
    }

    fn accept_until(&self, deadline: Option<Instant>) -> Result<Stream<F>, Error> {
        let accepted = attempt_by(self.as_fd(), Step::Accept, PollFlags::IN, deadline, || self.take());
        self.with_queues(accepted.map_err(|error| error.with(F::address(&self.local)))?)
    }

    fn with_queues(&self, stream: Stream<F>) -> Result<Stream<F>, Error> {
        let named = |error: Error| error.with(F::address(&self.local));
        self.queue_sizes.apply(stream.as_fd()).map_err(named)?;
        Ok(stream)
    }

    /// Takes the next peer if one is waiting.
    ///
    /// # Errors
    /// As [`accept`](Self::accept), and [`Error::is_would_block`] if nobody is waiting.
    pub fn accept_now(&self) -> Result<Stream<F>, Error> {
        let failed = |errno| Error::os(Step::Accept, errno).with(F::address(&self.local));
        self.with_queues(self.take().map_err(failed)?)
    }

    fn take(&self) -> Result<Stream<F>, Errno> {
        loop {
            counts::enter();
            match accept(self.fd.as_fd()) {
                Ok((fd, from)) => {
                    if let Some(peer) = F::accepted(from)? {
                        return Ok(Stream::of_connected(fd, peer));
                    }
                }
                Err(errno) if concerns_one_peer(errno) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl<F: StreamFamily> fmt::Debug for Acceptor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").field("fd", &self.fd).field("local", &self.local).finish()
    }
}

/// It goes on listening, for whoever takes it over, and does not block. The file of a Unix socket stays.
impl<F: StreamFamily> From<Acceptor<F>> for OwnedFd {
    fn from(acceptor: Acceptor<F>) -> Self {
        F::give_up(acceptor.held);
        acceptor.fd
    }
}

impl<F: StreamFamily> AsFd for Acceptor<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Linux hands errors that the new connection already has to whoever accepts it (accept(2), "Error
/// handling"); they say nothing about the acceptor, whose next peer may be fine.
fn concerns_one_peer(errno: Errno) -> bool {
    [
        Errno::INTR,
        Errno::CONNABORTED,
        Errno::PROTO,
        Errno::NOPROTOOPT,
        Errno::NETDOWN,
        Errno::NETUNREACH,
        Errno::HOSTDOWN,
        Errno::HOSTUNREACH,
        #[cfg(target_os = "linux")]
        Errno::NONET,
    ]
    .contains(&errno)
}
