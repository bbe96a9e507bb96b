//! Listening for connections.
//!
//! The listening socket itself never blocks: a peer may withdraw between the moment it was announced and the
//! moment it is taken, and a blocking `accept` would then wait for the next one, past any deadline. Those
//! calls here that wait do so in `poll`, and only when nobody is in the queue.

use super::{QueueSizes, TcpStream, canonical, local_address, open};
use crate::ready::ready_by;
use crate::{Error, Step, counts};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with, bind, listen, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// A listening TCP socket: it yields streams, and can neither send nor receive.
///
/// Several threads may accept from one acceptor at once; each peer goes to one of them. Dropping it stops
/// listening: peers in its queue are reset.
#[derive(Debug)]
pub struct TcpAcceptor {
    fd: OwnedFd,
    local: SocketAddr,
    v6_only: bool,
}

/// How an acceptor listens, and what the streams it yields are born with.
#[derive(Clone, Debug)]
pub struct AcceptorOptions {
    backlog: i32,
    reuse_address: bool,
    v6_only: bool,
    no_delay: bool,
    queue_sizes: QueueSizes,
}

impl AcceptorOptions {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self {
            // Linux's own ceiling (net.core.somaxconn) since 5.4: a burst of clients is queued as far as the
            // system permits, and an entry costs memory only while it waits.
            backlog: 4096,
            reuse_address: true,
            v6_only: false,
            no_delay: true,
            queue_sizes: QueueSizes::default(),
        }
    }

    /// How many connected peers may wait to be accepted; the system caps it at `net.core.somaxconn`. Default:
    /// 4096.
    pub fn backlog(mut self, peers: u32) -> Self {
        self.backlog = peers.try_into().unwrap_or(i32::MAX);
        self
    }

    /// Whether a port may be taken whose earlier owner's connections still linger (`SO_REUSEADDR`), which is
    /// what lets a server restart at once. A port that somebody listens on stays refused. Default: yes.
    pub fn reuse_address(mut self, yes: bool) -> Self {
        self.reuse_address = yes;
        self
    }

    /// Whether an acceptor on an IPv6 address refuses IPv4 peers (`IPV6_V6ONLY`). Set in either case, so that
    /// the host's settings do not decide. Default: no, `[::]` serves both.
    pub fn v6_only(mut self, yes: bool) -> Self {
        self.v6_only = yes;
        self
    }

    /// Whether accepted streams send small messages at once ([`TcpStream::set_no_delay`]). Default: yes.
    pub fn no_delay(mut self, yes: bool) -> Self {
        self.no_delay = yes;
        self
    }

    /// The kernel's buffers for each accepted stream; they must be known before a peer connects, since the
    /// handshake announces them. Default: the kernel's choice.
    pub fn queue_sizes(mut self, sizes: QueueSizes) -> Self {
        self.queue_sizes = sizes;
        self
    }
}

impl Default for AcceptorOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TcpAcceptor {
    /// Listens on `address`; port 0 lets the system choose one, which [`local_address`](Self::local_address)
    /// tells.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`], [`Step::Bind`] or [`Step::Listen`], naming the address;
    /// [`Error::is_address_in_use`] if somebody listens there.
    pub fn bind(address: SocketAddr, options: &AcceptorOptions) -> Result<Self, Error> {
        let failed = |step: Step| move |e: Errno| Error::os(step, e).with_address(address);
        let fd = open(address)?;
        sockopt::set_socket_reuseaddr(&fd, options.reuse_address).map_err(failed(Step::Configure))?;
        if address.is_ipv6() {
            sockopt::set_ipv6_v6only(&fd, options.v6_only).map_err(failed(Step::Configure))?;
        }
        // Accepted sockets inherit both, which saves two system calls a peer.
        sockopt::set_tcp_nodelay(&fd, options.no_delay).map_err(failed(Step::Configure))?;
        options.queue_sizes.apply(fd.as_fd()).map_err(|e| e.with_address(address))?;
        bind(&fd, &address).map_err(failed(Step::Bind))?;
        listen(&fd, options.backlog).map_err(failed(Step::Listen))?;
        let local = local_address(fd.as_fd()).map_err(|e| e.with_address(address))?;
        Ok(Self { fd, local, v6_only: options.v6_only })
    }

    /// Listens on the first free port of a range, in its order.
    ///
    /// # Errors
    /// As [`bind`](Self::bind). Ports that are taken, or that this process may not use, are passed over; if
    /// none is left, the last one's error is returned, and for an empty range an invalid-argument error at
    /// [`Step::Bind`].
    pub fn bind_in(
        host: IpAddr,
        ports: RangeInclusive<u16>,
        options: &AcceptorOptions,
    ) -> Result<Self, Error> {
        let none = SocketAddr::new(host, *ports.start());
        let mut last = Error::os(Step::Bind, Errno::INVAL).with_address(none);
        for port in ports {
            match Self::bind(SocketAddr::new(host, port), options) {
                // Two processes may both bind a reusable address; the second then fails to listen.
                Err(error) if error.is_address_in_use() || error.is_permission_denied() => last = error,
                done => return done,
            }
        }
        Err(last)
    }

    /// Where it listens, with the port in force. A wildcard stays a wildcard; see
    /// [`reachable_address`](Self::reachable_address).
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Where others reach it, never a wildcard: [`reachable_address`](crate::reachable_address) with the port
    /// in force.
    ///
    /// # Errors
    /// At [`Step::Inspect`].
    pub fn reachable_address(&self) -> Result<SocketAddr, Error> {
        if !self.local.ip().is_unspecified() {
            return Ok(self.local);
        }
        let host = crate::reachable_address(self.local.ip(), self.v6_only)?;
        Ok(SocketAddr::new(host, self.local.port()))
    }

    /// Takes the next peer, and waits for one as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Accept`]; [`Error::is_descriptors_exhausted`] leaves the peer in the queue. A peer that
    /// withdrew while it waited is passed over in silence.
    pub fn accept(&self) -> Result<TcpStream, Error> {
        self.accept_until(None)
    }

    /// Takes the next peer, and waits for one until `deadline`.
    ///
    /// # Errors
    /// As [`accept`](Self::accept), and [`Error::is_timeout`].
    pub fn accept_by(&self, deadline: Instant) -> Result<TcpStream, Error> {
        self.accept_until(Some(deadline))
    }

    fn accept_until(&self, deadline: Option<Instant>) -> Result<TcpStream, Error> {
        loop {
            match self.accept_now() {
                Err(error) if error.is_would_block() => {}
                done => return done,
            }
            match ready_by(self.as_fd(), PollFlags::IN, deadline) {
                Ok(true) => {}
                Ok(false) => return Err(Error::out_of_time(Step::Accept).with_address(self.local)),
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    /// Takes the next peer if one is waiting.
    ///
    /// # Errors
    /// As [`accept`](Self::accept), and [`Error::is_would_block`] if nobody is waiting.
    pub fn accept_now(&self) -> Result<TcpStream, Error> {
        loop {
            counts::enter();
            match acceptfrom_with(&self.fd, SocketFlags::CLOEXEC) {
                Ok((fd, Some(peer))) => {
                    let peer = SocketAddr::try_from(peer).map_err(|e| self.failed(e))?;
                    return Ok(TcpStream::new(fd, canonical(peer)));
                }
                Ok((_, None)) => {}
                Err(errno) if concerns_one_peer(errno) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    fn failed(&self, errno: Errno) -> Error {
        Error::os(Step::Accept, errno).with_address(self.local)
    }
}

impl AsFd for TcpAcceptor {
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
        Errno::NONET,
    ]
    .contains(&errno)
}
