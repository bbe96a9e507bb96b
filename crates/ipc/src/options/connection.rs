//! How a TCP connection treats small messages, silence, and its end.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt;

use super::{Give, Read, failed, option_of};
use crate::{Acceptor, Error, Stream, Tcp, counts};

/// Whether a small message leaves at once (`TCP_NODELAY`, tcp(7)) instead of waiting for the acknowledgement
/// of the one before. Streams are born with yes, unless their [`AcceptorOptions`](crate::AcceptorOptions) or
/// [`Connector`](crate::Connector) says otherwise.
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDelay(pub bool);

option_of!(NoDelay: Stream<Tcp>, Acceptor<Tcp>);

impl Read for NoDelay {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        sockopt::tcp_nodelay(fd).map(NoDelay).map_err(failed)
    }
}

impl Give for NoDelay {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        counts::enter();
        sockopt::set_tcp_nodelay(fd, self.0).map_err(failed)
    }
}

/// Whether a peer that is silent is asked if it is still there (`SO_KEEPALIVE`, tcp(7)). One that does not
/// answer is given up: whoever receives or sends is told so by [`Error::is_connection_reset`]. Default: no.
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive(pub Option<Probes>);

/// When a silent peer is asked, and when it is given up: after `idle + count × interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probes {
    /// How long it may be silent: 1 to 32,767 s. The kernel counts in seconds; parts of one are rounded up.
    pub idle: Duration,
    /// From one question to the next: 1 to 32,767 s, likewise.
    pub interval: Duration,
    /// How many questions may go unanswered: 1 to 127.
    pub count: u32,
}

option_of!(KeepAlive: Stream<Tcp>, Acceptor<Tcp>);

impl Read for KeepAlive {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let read = || -> Result<Self, Errno> {
            counts::enter();
            if !sockopt::socket_keepalive(fd)? {
                return Ok(KeepAlive(None));
            }
            counts::enter();
            let idle = sockopt::tcp_keepidle(fd)?;
            counts::enter();
            let interval = sockopt::tcp_keepintvl(fd)?;
            counts::enter();
            let count = sockopt::tcp_keepcnt(fd)?;
            Ok(KeepAlive(Some(Probes { idle, interval, count })))
        };
        read().map_err(failed)
    }
}

impl Give for KeepAlive {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        if let Some(Probes { idle, interval, count }) = self.0 {
            let longest = Duration::from_secs(32_767);
            if [idle, interval].iter().any(|time| time.is_zero() || *time > longest) {
                return Err(Error::out_of_range("the times of KeepAlive are 1 to 32,767 seconds"));
            }
            if !(1..=127).contains(&count) {
                return Err(Error::out_of_range("the count of KeepAlive is 1 to 127"));
            }
            counts::enter();
            sockopt::set_tcp_keepidle(fd, idle).map_err(failed)?;
            counts::enter();
            sockopt::set_tcp_keepintvl(fd, interval).map_err(failed)?;
            counts::enter();
            sockopt::set_tcp_keepcnt(fd, count).map_err(failed)?;
        }
        counts::enter();
        sockopt::set_socket_keepalive(fd, self.0.is_some()).map_err(failed)
    }
}

/// What becomes of octets that are not yet acknowledged when a stream is dropped (`SO_LINGER`, socket(7)).
/// `None`, the default: the kernel goes on sending them, and nobody learns what became of them. Zero: they
/// are lost, and the peer is told that the connection was reset. Any other time: dropping the stream waits so
/// long for them, at most 2,147,483,647 s; parts of one are rounded up.
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linger(pub Option<Duration>);

option_of!(Linger: Stream<Tcp>, Acceptor<Tcp>);

impl Read for Linger {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        sockopt::socket_linger(fd).map(Linger).map_err(failed)
    }
}

impl Give for Linger {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        if self.0.is_some_and(|time| time > Duration::from_secs(2_147_483_647)) {
            return Err(Error::out_of_range("Linger is at most 2,147,483,647 seconds"));
        }
        counts::enter();
        sockopt::set_socket_linger(fd, self.0).map_err(failed)
    }
}
