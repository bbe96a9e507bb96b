//! How Linux's TCP sends and acknowledges.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::sockopt;

use super::queues::new_socket;
use super::{Give, Read, SocketFact, failed, option_of, raw};
use crate::{Acceptor, Error, Stream, Tcp, counts};

/// Whether only full segments leave (`TCP_CORK`, tcp(7)): to be set before the parts of a message that are
/// sent one by one, and taken off after the last, which sends the rest. What is held back leaves after 200 ms
/// in any case.
///
/// Of TCP streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cork(pub bool);

option_of!(Cork: Stream<Tcp>);

impl Read for Cork {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        sockopt::tcp_cork(fd).map(Cork).map_err(failed)
    }
}

impl Give for Cork {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        counts::enter();
        sockopt::set_tcp_cork(fd, self.0).map_err(failed)
    }
}

/// Whether what is received is acknowledged at once (`TCP_QUICKACK`, tcp(7)) instead of together with an
/// answer. The kernel changes it by itself, so it holds for what comes next only: to be set again after each
/// message.
///
/// Of TCP streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickAck(pub bool);

option_of!(QuickAck: Stream<Tcp>);

impl Read for QuickAck {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        sockopt::tcp_quickack(fd).map(QuickAck).map_err(failed)
    }
}

impl Give for QuickAck {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        counts::enter();
        sockopt::set_tcp_quickack(fd, self.0).map_err(failed)
    }
}

/// How long octets may stay unacknowledged, or unsent since the peer has no room, before the connection is
/// given up (`TCP_USER_TIMEOUT`, tcp(7)). `None`, the default: by the kernel's count of repetitions, some 15
/// minutes. 1 to 2,147,483,647 ms; parts of one are rounded up.
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserTimeout(pub Option<Duration>);

option_of!(UserTimeout: Stream<Tcp>, Acceptor<Tcp>);

impl Read for UserTimeout {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        let milliseconds = sockopt::tcp_user_timeout(fd).map_err(failed)?;
        Ok(UserTimeout((milliseconds > 0).then(|| Duration::from_millis(milliseconds.into()))))
    }
}

impl Give for UserTimeout {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let milliseconds = match self.0 {
            None => 0,
            Some(time) => {
                let rounded_up = time.as_nanos().div_ceil(1_000_000);
                let fitting = i32::try_from(rounded_up).ok().filter(|milliseconds| *milliseconds > 0);
                fitting
                    .ok_or_else(|| Error::out_of_range("UserTimeout is 1 to 2,147,483,647 milliseconds"))?
            }
        };
        counts::enter();
        sockopt::set_tcp_user_timeout(fd, milliseconds.unsigned_abs()).map_err(failed)
    }
}

/// Which algorithm decides how fast to send (`TCP_CONGESTION`, tcp(7)): `cubic`, `reno`, `bbr` and what else
/// the kernel has. One that it has not is an error, and so is one that is not among
/// `net.ipv4.tcp_allowed_congestion_control` for a process without privileges.
///
/// ```
/// # use zorb_ipc::{CongestionControl, Error, TcpStream};
/// fn modest(stream: &TcpStream) -> Result<(), Error> {
///     stream.set(CongestionControl("reno".into()))
/// }
/// ```
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it; and of streams before they are connected
/// ([`Connector::congestion_control`](crate::Connector::congestion_control)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionControl(pub Cow<'static, str>);

option_of!(CongestionControl: Stream<Tcp>, Acceptor<Tcp>);

impl CongestionControl {
    /// What new TCP sockets of this thread's network namespace have: the system's (`net.ipv4.tcp_congestion_control`).
    ///
    /// # Errors
    /// At [`Step::Open`](crate::Step::Open), such as [`Error::is_descriptors_exhausted`]: a socket is made to be asked.
    pub fn of_new_sockets() -> Result<Self, Error> {
        Self::read(new_socket()?.as_fd())
    }
}

impl Read for CongestionControl {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        sockopt::tcp_congestion(fd).map(|name| CongestionControl(name.into())).map_err(failed)
    }
}

impl Give for CongestionControl {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        // The kernel would cut a longer one, and might find another algorithm by what is left.
        if !(1..=15).contains(&self.0.len()) || self.0.contains('\0') {
            return Err(Error::out_of_range(
                "the name of a CongestionControl has 1 to 15 octets, none of them NUL",
            ));
        }
        counts::enter();
        sockopt::set_tcp_congestion(fd, &self.0).map_err(failed)
    }
}

/// The largest window that this side advertises (`TCP_WINDOW_CLAMP`, tcp(7)): how many octets the peer may send before it hears that there is room for
/// more. Unset, as many as the [queue](crate::ReceiveQueue) has room for. It says nothing of how many may lie in that, not yet taken.
///
/// It has its full effect before the handshake, which says by which power of two windows are counted: the smallest by which this one can be told.
/// Later Linux holds it down to what the queue has room for, and takes it up as that grows, to the [largest](LargestWindow) that can be told so;
/// what is read is what is in force at the moment. The least is a KiB or so; setting it says what was granted.
///
/// Of TCP streams; of TCP acceptors, whose later streams are born with it; and of streams before they are connected
/// ([`Connector::receive_window`](crate::Connector::receive_window)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiveWindow(pub usize);

option_of!(ReceiveWindow: Stream<Tcp>, Acceptor<Tcp>);

impl Read for ReceiveWindow {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let octets = raw::int(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP).map_err(failed)?;
        Ok(ReceiveWindow(octets.unsigned_abs() as usize))
    }
}

impl Give for ReceiveWindow {
    type Granted = ReceiveWindow;

    fn give(self, fd: BorrowedFd<'_>) -> Result<ReceiveWindow, Error> {
        let octets = i32::try_from(self.0).ok().filter(|octets| *octets > 0);
        let octets =
            octets.ok_or_else(|| Error::out_of_range("a ReceiveWindow has 1 to 2,147,483,647 octets"))?;
        raw::set_int(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, octets).map_err(failed)?;
        Self::read(fd)
    }
}

/// The largest window that this side can advertise on a connection (tcp(7), `TCP_INFO`): 65,535 times the power of two that the handshake has
/// named (RFC 7323, 2.2), which [`ReceiveWindow`] has a say in. It cannot be set.
///
/// Of TCP streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LargestWindow(pub usize);

impl SocketFact<Stream<Tcp>> for LargestWindow {}

impl Read for LargestWindow {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        // The beginning of `struct tcp_info`: the seventh octet has both sides' exponents, four bits each.
        let mut info = [0; 8];
        raw::read(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info).map_err(failed)?;
        let own = if cfg!(target_endian = "little") { info[6] >> 4 } else { info[6] & 0xf };
        Ok(LargestWindow(65_535 << own))
    }
}

/// How many octets a segment to the peer carries at most (`TCP_MAXSEG`, tcp(7)), as the two ends agreed and
/// the kernel has found out since. It cannot be set.
///
/// Of TCP streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaximumSegment(pub u32);

impl SocketFact<Stream<Tcp>> for MaximumSegment {}

impl Read for MaximumSegment {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let octets = raw::int(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG).map_err(failed)?;
        Ok(MaximumSegment(octets.unsigned_abs()))
    }
}
