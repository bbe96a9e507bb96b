//! How this machine and those on the way treat a socket's packets.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use libc::c_ulong;
use rustix::net::{AddressFamily, sockopt};

use super::{Give, Read, SocketFact, failed, option_of, raw};
use crate::{Acceptor, ConnectedDatagramSocket, DatagramSocket, Error, Stream, Tcp, Udp, counts};

/// Which of this machine's packets leave first (`SO_PRIORITY`, socket(7)): 0, the default, to 6, the most
/// urgent; more than 6 takes the privilege `CAP_NET_ADMIN` or `CAP_NET_RAW`
/// ([`Error::is_permission_denied`]).
///
/// Of TCP streams and UDP sockets; no stream is born with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(pub u32);

option_of!(Priority: Stream<Tcp>, DatagramSocket<Udp>, ConnectedDatagramSocket<Udp>);

impl Read for Priority {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let priority = raw::int(fd, libc::SOL_SOCKET, libc::SO_PRIORITY).map_err(failed)?;
        Ok(Priority(priority.cast_unsigned()))
    }
}

impl Give for Priority {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let priority = i32::try_from(self.0);
        let priority = priority.map_err(|_| Error::out_of_range("Priority is at most 2,147,483,647"))?;
        raw::set_int(fd, libc::SOL_SOCKET, libc::SO_PRIORITY, priority).map_err(failed)
    }
}

/// How those on the way shall treat packets (`IP_TOS`, ip(7); `IPV6_TCLASS`, ipv6(7)): the octet of RFC 2474,
/// of which the upper six bits are a class, as in 0xb8, expedited forwarding. The lower two belong to TCP's
/// congestion control, so on a TCP socket they stay as they are; setting it says what was granted. Linux sets
/// [`Priority`] by it too.
///
/// Of TCP and UDP sockets, IPv4 and IPv6; streams of an acceptor are born with its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeOfService(pub u8);

option_of!(
    TypeOfService: Stream<Tcp>, Acceptor<Tcp>, DatagramSocket<Udp>, ConnectedDatagramSocket<Udp>
);

impl Read for TypeOfService {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        let class = match sockopt::socket_domain(fd).map_err(failed)? {
            AddressFamily::INET6 => {
                counts::enter();
                // It is an octet of the header.
                sockopt::ipv6_tclass(fd).map(|class| class as u8)
            }
            _ => {
                counts::enter();
                sockopt::ip_tos(fd)
            }
        };
        class.map(TypeOfService).map_err(failed)
    }
}

impl Give for TypeOfService {
    type Granted = TypeOfService;

    fn give(self, fd: BorrowedFd<'_>) -> Result<TypeOfService, Error> {
        counts::enter();
        if sockopt::socket_domain(fd).map_err(failed)? == AddressFamily::INET6 {
            counts::enter();
            sockopt::set_ipv6_tclass(fd, self.0.into()).map_err(failed)?;
        }
        counts::enter();
        // Of an IPv6 socket it is for its IPv4 peers.
        sockopt::set_ip_tos(fd, self.0).map_err(failed)?;
        Self::read(fd)
    }
}

/// How long a call that finds nothing asks the network card again and again before it waits (`SO_BUSY_POLL`,
/// socket(7)); zero is not at all. Default: `net.core.busy_read`. At most 2,147 s; parts of a microsecond are
/// rounded up. To ask for more than is in force takes `CAP_NET_ADMIN` ([`Error::is_permission_denied`]).
///
/// Of TCP and UDP sockets; streams of an acceptor are born with its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BusyPoll(pub Duration);

option_of!(
    BusyPoll: Stream<Tcp>, Acceptor<Tcp>, DatagramSocket<Udp>, ConnectedDatagramSocket<Udp>
);

impl Read for BusyPoll {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let microseconds = raw::int(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL).map_err(failed)?;
        Ok(BusyPoll(Duration::from_micros(microseconds.unsigned_abs().into())))
    }
}

impl Give for BusyPoll {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let microseconds = i32::try_from(self.0.as_nanos().div_ceil(1000));
        let microseconds =
            microseconds.map_err(|_| Error::out_of_range("BusyPoll is at most 2,147 seconds"))?;
        raw::set_int(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, microseconds).map_err(failed)
    }
}

/// How many octets a second leave at most (`SO_MAX_PACING_RATE`, socket(7)): they wait in the socket's queue, and
/// leave at even distances. `None`, the default, is no bound. At least 1, and on 32-bit systems at most
/// 4,294,967,294. The first ten segments of a TCP connection are not held back.
///
/// TCP keeps to it by itself. What UDP sockets send is held back only where the network interface's queue is `fq`
/// (tc-fq(8)); anywhere else, loopback included, it leaves at once.
///
/// ```
/// # use zorb_ipc::{Error, PeakRate, TcpStream};
/// fn leave_room_for_others(stream: &TcpStream) -> Result<(), Error> {
///     stream.set(PeakRate(Some(10_000_000)))
/// }
/// ```
///
/// Of TCP and UDP sockets; streams of an acceptor are born with its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRate(pub Option<u64>);

option_of!(
    PeakRate: Stream<Tcp>, Acceptor<Tcp>, DatagramSocket<Udp>, ConnectedDatagramSocket<Udp>
);

impl Read for PeakRate {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let mut octets = [0; size_of::<c_ulong>()];
        raw::read(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &mut octets).map_err(failed)?;
        let rate = c_ulong::from_ne_bytes(octets);
        #[allow(clippy::useless_conversion, reason = "it has 32 bits elsewhere")]
        Ok(PeakRate((rate != c_ulong::MAX).then(|| u64::from(rate))))
    }
}

impl Give for PeakRate {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let rate = match self.0 {
            None => c_ulong::MAX,
            // The kernel takes the largest number for none.
            Some(rate) => c_ulong::try_from(rate)
                .ok()
                .filter(|rate| (1..c_ulong::MAX).contains(rate))
                .ok_or_else(|| {
                    Error::out_of_range(
                        "PeakRate is at least 1 octet a second, and less than the largest number",
                    )
                })?,
        };
        raw::set(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate.to_ne_bytes()).map_err(failed)
    }
}

/// The core that handled what was received last (`SO_INCOMING_CPU`, socket(7)): where a thread that answers
/// finds it in the cache ([`pin_to_core`](crate::pin_to_core)). `None`: nothing was received yet. It cannot
/// be set.
///
/// Of TCP streams and UDP sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingCore(pub Option<usize>);

impl SocketFact<Stream<Tcp>> for IncomingCore {}
impl SocketFact<DatagramSocket<Udp>> for IncomingCore {}
impl SocketFact<ConnectedDatagramSocket<Udp>> for IncomingCore {}

impl Read for IncomingCore {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        // Before anything came it is a C `int` of -1.
        let core = sockopt::socket_incoming_cpu(fd).map_err(failed)?.cast_signed();
        Ok(IncomingCore(usize::try_from(core).ok()))
    }
}
