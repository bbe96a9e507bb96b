//! What went wrong: at which step, with which address, for which reason of the operating system.
//!
//! One type serves the whole crate, because a caller's questions are few and the same everywhere: *did
//! time run out, is there nothing right now, is the connection gone, are we out of descriptors?* Each has a
//! predicate; whoever wants more finds the [`Step`] and the system's error number.

use crate::Address;
use rustix::io::Errno;
use std::fmt;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;

/// A failed operation: its step, whom it concerned, and why.
///
/// Making one allocates nothing unless a name has to be kept, so "nothing there yet" stays cheap.
///
/// ```
/// # use std::time::{Duration, Instant};
/// # use zorb_ipc::{Step, TcpStream};
/// # let deadline = Instant::now() + Duration::from_secs(5);
/// let error = TcpStream::connect("127.0.0.1:1".parse().unwrap(), deadline).unwrap_err();
/// assert_eq!(error.step(), Step::Connect);
/// assert_eq!(error.to_string(), "connect to tcp:127.0.0.1:1: Connection refused (os error 111)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    step: Step,
    subject: Subject,
    cause: Cause,
    transferred: usize,
}

/// What was being done when an [`Error`] occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Looking up the addresses of a host name.
    Resolve,
    /// Making the descriptor.
    Open,
    /// Setting or reading an option of a descriptor.
    Configure,
    /// Giving a socket its local address.
    Bind,
    /// Beginning to listen.
    Listen,
    /// Taking a connection that a peer made.
    Accept,
    /// Making a connection to a peer.
    Connect,
    /// Joining a multicast group.
    Join,
    /// Leaving a multicast group.
    Leave,
    /// Sending to the peer.
    Send,
    /// Receiving from the peer.
    Receive,
    /// Closing one or both directions.
    Shutdown,
    /// Changing or waiting on a set of descriptors.
    Wait,
    /// Waking a waiting thread, or taking note of having been woken.
    Wake,
    /// Asking this machine about itself: its interfaces, its cores.
    Inspect,
    /// Making a handle of a descriptor that came from elsewhere.
    Adopt,
    /// Giving memory a place in this process.
    Map,
    /// Reading or writing memory that processes share.
    Access,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    None,
    Address(Address),
    Host(Box<str>),
    Path(Box<Path>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    Os(Errno),
    /// The caller's deadline or timeout, as opposed to one of the system's own.
    OutOfTime,
    /// A datagram of this length, of which only a part was received.
    Truncated(Option<usize>),
    /// A datagram of this length, larger than the system sends; what a packet may have, if it said so.
    TooLarge(usize, Option<NonZeroU32>),
    /// An option's value that the kernel would refuse or take for another; this says what may be.
    OutOfRange(&'static str),
    /// A datagram that was sent before could not be delivered.
    Reported(Reported),
    /// Such reports wait to be taken.
    ReportsWaiting,
    /// The name service's answer has no error number, only a text.
    Said(Box<str>),
    /// What was wanted, and what was there instead.
    Unlike(Box<str>, Box<str>),
    /// The peer broke the rules of what both sides share; this says which.
    Broken(&'static str),
    /// So many octets at this offset of so many in all.
    Outside {
        octets: usize,
        at: usize,
        of: usize,
    },
}

/// Stands for the peer's end before all had come: a number that none of the calls here fails with.
#[cfg(not(any(target_os = "freebsd", target_os = "dragonfly", target_os = "openbsd")))]
pub(crate) const ENDED: Errno = Errno::NODATA;
#[cfg(any(target_os = "freebsd", target_os = "dragonfly", target_os = "openbsd"))]
pub(crate) const ENDED: Errno = Errno::NOMSG;

/// What came back of a datagram instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The system's number for it.
    pub errno: Errno,
    /// Who on the way said so; `None`: this host.
    pub said_by: Option<IpAddr>,
    /// The octets that a packet on that path may have, where it had too many.
    pub path_mtu: Option<NonZeroU32>,
}

impl Error {
    #[cold]
    pub(crate) fn os(step: Step, cause: Errno) -> Self {
        Self { step, subject: Subject::None, cause: Cause::Os(cause), transferred: 0 }
    }

    #[cold]
    pub(crate) fn out_of_time(step: Step) -> Self {
        Self { step, subject: Subject::None, cause: Cause::OutOfTime, transferred: 0 }
    }

    #[cold]
    pub(crate) fn truncated(length: impl Into<Option<usize>>, room: usize) -> Self {
        let cause = Cause::Truncated(length.into());
        Self { step: Step::Receive, subject: Subject::None, cause, transferred: room }
    }

    /// `allowed` names the option and what it may be.
    #[cold]
    pub(crate) fn out_of_range(allowed: &'static str) -> Self {
        let cause = Cause::OutOfRange(allowed);
        Self { step: Step::Configure, subject: Subject::None, cause, transferred: 0 }
    }

    #[cold]
    pub(crate) fn reported(step: Step, what: Reported) -> Self {
        Self { step, subject: Subject::None, cause: Cause::Reported(what), transferred: 0 }
    }

    #[cold]
    pub(crate) fn reports_waiting() -> Self {
        Self { step: Step::Receive, subject: Subject::None, cause: Cause::ReportsWaiting, transferred: 0 }
    }

    #[cold]
    pub(crate) fn said(step: Step, text: &str) -> Self {
        Self { step, subject: Subject::None, cause: Cause::Said(text.into()), transferred: 0 }
    }

    #[cold]
    pub(crate) fn unlike(step: Step, wanted: impl Into<Box<str>>, found: impl Into<Box<str>>) -> Self {
        let cause = Cause::Unlike(wanted.into(), found.into());
        Self { step, subject: Subject::None, cause, transferred: 0 }
    }

    #[cold]
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "of shared memory"))]
    pub(crate) fn broken(step: Step, rule: &'static str) -> Self {
        Self { step, subject: Subject::None, cause: Cause::Broken(rule), transferred: 0 }
    }

    #[cold]
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "of memory"))]
    pub(crate) fn outside(step: Step, octets: usize, at: usize, of: usize) -> Self {
        let cause = Cause::Outside { octets, at, of };
        Self { step, subject: Subject::None, cause, transferred: 0 }
    }

    /// Tells the length of the datagram that was to be sent, if that was too large.
    #[cold]
    pub(crate) fn of_slices(mut self, slices: &[IoSlice<'_>]) -> Self {
        let octets = || slices.iter().map(|slice| slice.len()).sum();
        match self.cause {
            Cause::Os(Errno::MSGSIZE) => self.cause = Cause::TooLarge(octets(), None),
            Cause::Reported(Reported { errno: Errno::MSGSIZE, said_by: None, path_mtu }) => {
                self.cause = Cause::TooLarge(octets(), path_mtu);
            }
            _ => {}
        }
        self
    }

    pub(crate) fn with(mut self, address: Address) -> Self {
        self.subject = Subject::Address(address);
        self
    }

    /// Names the address, unless another one is named already.
    pub(crate) fn or_with(self, address: impl FnOnce() -> Address) -> Self {
        match self.subject {
            Subject::None => self.with(address()),
            _ => self,
        }
    }

    pub(crate) fn with_host(mut self, host: &str) -> Self {
        self.subject = Subject::Host(host.into());
        self
    }

    pub(crate) fn with_path(mut self, path: &Path) -> Self {
        self.subject = Subject::Path(path.into());
        self
    }

    pub(crate) fn with_transferred(mut self, octets: usize) -> Self {
        self.transferred = octets;
        self
    }

    /// What was being done.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The address it concerned: the peer's for a connection, the local one for an acceptor.
    pub fn address(&self) -> Option<&Address> {
        match &self.subject {
            Subject::Address(address) => Some(address),
            _ => None,
        }
    }

    /// The host name that was looked up, at [`Step::Resolve`].
    pub fn host(&self) -> Option<&str> {
        match &self.subject {
            Subject::Host(host) => Some(host),
            _ => None,
        }
    }

    /// The file it concerned, of a FIFO; the name of memory that was to be made.
    pub fn path(&self) -> Option<&Path> {
        match &self.subject {
            Subject::Path(path) => Some(path),
            _ => None,
        }
    }

    /// The operating system's error number, where the cause is one: a deadline that passed has none.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.errno().map(Errno::raw_os_error)
    }

    fn errno(&self) -> Option<Errno> {
        match self.cause {
            Cause::Os(errno) | Cause::Reported(Reported { errno, .. }) => Some(errno),
            Cause::TooLarge(..) => Some(Errno::MSGSIZE),
            _ => None,
        }
    }

    /// How many octets had gone through before the error, for the operations that repeat until all are
    /// through ([`send_all`](crate::TcpStream::send_all),
    /// [`receive_exact`](crate::TcpStream::receive_exact)): zero means that the peer saw nothing of it.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// Time ran out: the caller's deadline or timeout, or at [`Step::Connect`] also the system's own.
    ///
    /// The handle is as usable as before. (A connection that the system gives up since the peer acknowledges
    /// nothing is gone, and therefore answers to [`is_connection_reset`](Self::is_connection_reset) instead.)
    pub fn is_timeout(&self) -> bool {
        match self.cause {
            Cause::OutOfTime => true,
            Cause::Os(errno) => errno == Errno::TIMEDOUT && self.step == Step::Connect,
            _ => false,
        }
    }

    /// A `_now` operation found nothing to receive, no room to send into, nobody to accept. The handle is
    /// fine.
    pub fn is_would_block(&self) -> bool {
        self.is_os(&[Errno::AGAIN])
    }

    /// The process or the system has no descriptors left (`EMFILE`, `ENFILE`).
    ///
    /// At [`Step::Accept`] the peer stays in the acceptor's queue, so a level-triggered
    /// [`Epoll`](crate::Epoll) reports the acceptor again at once: close something, or stop watching it for a
    /// while.
    pub fn is_descriptors_exhausted(&self) -> bool {
        self.is_os(&[Errno::MFILE, Errno::NFILE])
    }

    /// The system has no memory for it at the moment (`ENOBUFS`, `ENOMEM`). The handle is fine.
    pub fn is_memory_exhausted(&self) -> bool {
        self.is_os(&[Errno::NOBUFS, Errno::NOMEM])
    }

    /// The connection is gone: reset or aborted by the peer, or given up by the system.
    ///
    /// An orderly end is no error: [`receive`](crate::TcpStream::receive) answers 0. A datagram that has no
    /// way to its peer ends nothing: see [`is_unreachable`](Self::is_unreachable).
    pub fn is_connection_reset(&self) -> bool {
        matches!(self.step, Step::Send | Step::Receive | Step::Shutdown)
            && !matches!(self.subject, Subject::Address(Address::Udp(_) | Address::Multicast(_)))
            && self.is_os(&[
                Errno::CONNRESET,
                Errno::PIPE,
                Errno::CONNABORTED,
                Errno::NOTCONN,
                Errno::TIMEDOUT,
                Errno::HOSTUNREACH,
                Errno::NETUNREACH,
            ])
    }

    /// Nobody listens at that address, be it that the file is not there which a Unix socket would have, or reads
    /// from that FIFO; of a datagram: the host is there, and nobody on it receives at that port.
    pub fn is_connection_refused(&self) -> bool {
        self.is_os(&[Errno::CONNREFUSED])
            || self.step == Step::Open && self.is_os(&[Errno::NXIO])
            || self.step == Step::Connect && self.is_os(&[Errno::NOENT])
    }

    /// No interface of this machine has that local address; of a connection: no local port is free from which
    /// it could be made.
    pub fn is_address_unavailable(&self) -> bool {
        self.is_os(&[Errno::ADDRNOTAVAIL])
    }

    /// The local address, or the FIFO's path, is taken.
    pub fn is_address_in_use(&self) -> bool {
        self.is_os(&[Errno::ADDRINUSE]) || self.step == Step::Open && self.is_os(&[Errno::EXIST])
    }

    /// This process may not do that: a port below 1024, a filter.
    pub fn is_permission_denied(&self) -> bool {
        self.is_os(&[Errno::ACCESS, Errno::PERM])
    }

    /// The peer ended its direction before all that was expected had come
    /// ([`receive_exact`](crate::TcpStream::receive_exact)).
    pub fn is_unexpected_end(&self) -> bool {
        self.is_os(&[ENDED])
    }

    /// A datagram is larger than the system sends, or than fits the sender's queue (`EMSGSIZE`): nothing of it was sent.
    /// [`whole_length`](Self::whole_length) says how large it is.
    pub fn is_too_large(&self) -> bool {
        self.is_os(&[Errno::MSGSIZE]) && self.said_by().is_none()
    }

    /// A datagram that was sent before did not fit a part of its way, and somebody there dropped it:
    /// [`path_mtu`](Self::path_mtu) says what fits. From here on the system cuts what it sends there into
    /// packets of that size, so that the same datagram sent again may arrive.
    pub fn is_too_large_for_path(&self) -> bool {
        self.is_os(&[Errno::MSGSIZE]) && self.said_by().is_some()
    }

    /// The octets that a packet may have on its way to that address, heads of IP and UDP included, where one
    /// had too many and it was said how many may be.
    pub fn path_mtu(&self) -> Option<u32> {
        match self.cause {
            Cause::Reported(Reported { path_mtu, .. }) | Cause::TooLarge(_, path_mtu) => {
                path_mtu.map(NonZeroU32::get)
            }
            _ => None,
        }
    }

    /// Who said that a datagram could not be delivered: a router on its way, the host that it was for, or an
    /// address of this host, whose neighbour did not answer. `None`: this host's system itself, or no such
    /// report.
    pub fn said_by(&self) -> Option<IpAddr> {
        match self.cause {
            Cause::Reported(Reported { said_by, .. }) => said_by,
            _ => None,
        }
    }

    /// Of datagrams that were sent before some could not be delivered: take the reports
    /// ([`next_report`](crate::UdpSocket::next_report)) until there is none, and go on. Nothing was received.
    pub fn has_reports_waiting(&self) -> bool {
        matches!(self.cause, Cause::ReportsWaiting)
    }

    /// A datagram was longer than the memory for it: [`transferred`](Self::transferred) octets of it are there, the rest is
    /// lost.
    pub fn is_truncated(&self) -> bool {
        matches!(self.cause, Cause::Truncated(_))
    }

    /// How long the datagram was that [`is_truncated`](Self::is_truncated), of which only Linux tells; how long the one is
    /// that [`is_too_large`](Self::is_too_large).
    pub fn whole_length(&self) -> Option<usize> {
        match self.cause {
            Cause::Truncated(length) => length,
            Cause::TooLarge(length, _) => Some(length),
            _ => None,
        }
    }

    /// More descriptors are on their way in messages that nobody has received than the system allows this user
    /// (`ETOOMANYREFS`): nothing was sent.
    pub fn is_too_many_in_flight(&self) -> bool {
        self.is_os(&[Errno::TOOMANYREFS])
    }

    /// A descriptor, a file or a piece of memory is not what it has to be here; the text says what was wanted
    /// and what was found.
    pub fn is_of_another_kind(&self) -> bool {
        matches!(self.cause, Cause::Unlike(..))
    }

    /// An offset, or it and a length together, lies beyond the end of the memory. Nothing of it was touched.
    pub fn is_out_of_bounds(&self) -> bool {
        matches!(self.cause, Cause::Outside { .. })
    }

    /// The peer broke the rules of what both sides share, and so cannot be talked to any more: in bad faith, or because
    /// something else writes its memory.
    pub fn is_broken_by_peer(&self) -> bool {
        matches!(self.cause, Cause::Broken(_))
    }

    /// An option was given a value that it cannot have; the text says which it can.
    pub fn is_out_of_range(&self) -> bool {
        matches!(self.cause, Cause::OutOfRange(_))
    }

    /// There is no way to that address: no route, or somebody on the way said so.
    pub fn is_unreachable(&self) -> bool {
        self.is_os(&[Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::NETDOWN, Errno::HOSTDOWN])
    }

    /// No way to the host: it does not answer, or a router next to it said so.
    pub fn is_host_unreachable(&self) -> bool {
        self.is_os(&[Errno::HOSTUNREACH, Errno::HOSTDOWN])
    }

    /// No way to the host's network: this host has no route, or a router on the way has none.
    pub fn is_network_unreachable(&self) -> bool {
        self.is_os(&[Errno::NETUNREACH, Errno::NETDOWN])
    }

    /// The system refuses a broadcast as it refuses what a route forbids.
    fn is_perhaps_broadcast(&self) -> bool {
        self.step == Step::Send && matches!(self.subject, Subject::Address(Address::Udp(SocketAddr::V4(_))))
    }

    fn is_os(&self, which: &[Errno]) -> bool {
        self.errno().is_some_and(|errno| which.contains(&errno))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.step.as_str())?;
        match &self.subject {
            Subject::None => {}
            Subject::Address(address) => write!(f, " {}{address}", self.step.preposition())?,
            Subject::Host(host) => write!(f, " {host:?}")?,
            Subject::Path(path) => write!(f, " {}{path:?}", self.step.preposition())?,
        }
        if self.transferred > 0 {
            write!(f, " after {} octets", self.transferred)?;
        }
        match &self.cause {
            Cause::OutOfTime => f.write_str(": out of time"),
            Cause::Os(ENDED) => f.write_str(": the peer ended the connection"),
            Cause::Os(Errno::ACCESS) if self.is_perhaps_broadcast() => {
                f.write_str(": Permission denied; a broadcast address takes a BroadcastSocket")
            }
            Cause::Os(errno) => write!(f, ": {}", io::Error::from(*errno)),
            Cause::Truncated(Some(length)) => write!(f, ": the datagram has {length}"),
            Cause::TooLarge(length, mtu) => {
                let what = Reported { errno: Errno::MSGSIZE, said_by: None, path_mtu: *mtu };
                write!(f, "{what}: the datagram has {length}")
            }
            Cause::Truncated(None) => f.write_str(": the datagram has more"),
            Cause::OutOfRange(allowed) => write!(f, ": out of range: {allowed}"),
            Cause::Reported(what) => write!(f, "{what}"),
            Cause::ReportsWaiting => {
                f.write_str(": reports of datagrams that were sent before wait to be taken")
            }
            Cause::Said(text) => write!(f, ": {text}"),
            Cause::Broken(rule) => write!(f, ": the peer broke the channel's rules: {rule}"),
            Cause::Unlike(wanted, found) => write!(f, ": wanted {wanted}, found {found}"),
            Cause::Outside { octets, at, of } => {
                write!(f, ": {octets} octets at offset {at} of a memory of {of}")
            }
        }
    }
}

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ": {}", io::Error::from(self.errno))?;
        if let Some(mtu) = self.path_mtu {
            write!(f, ", a packet may have {mtu}")?;
        }
        match self.said_by {
            Some(said_by) => write!(f, ", said {said_by}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.cause {
            Cause::OutOfTime => io::ErrorKind::TimedOut,
            Cause::Os(ENDED) => io::ErrorKind::UnexpectedEof,
            Cause::Os(errno) | Cause::Reported(Reported { errno, .. }) => io::Error::from(*errno).kind(),
            Cause::TooLarge(..) => io::Error::from(Errno::MSGSIZE).kind(),
            Cause::Truncated(_) | Cause::Broken(_) => io::ErrorKind::InvalidData,
            Cause::OutOfRange(_) | Cause::Unlike(..) | Cause::Outside { .. } => io::ErrorKind::InvalidInput,
            Cause::ReportsWaiting | Cause::Said(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

impl Step {
    fn as_str(self) -> &'static str {
        match self {
            Step::Resolve => "resolve",
            Step::Open => "open a descriptor",
            Step::Configure => "configure",
            Step::Bind => "bind",
            Step::Listen => "listen",
            Step::Accept => "accept",
            Step::Connect => "connect",
            Step::Join => "join",
            Step::Leave => "leave",
            Step::Send => "send",
            Step::Receive => "receive",
            Step::Shutdown => "shut down",
            Step::Wait => "wait",
            Step::Wake => "wake",
            Step::Inspect => "inspect this machine",
            Step::Adopt => "adopt a descriptor",
            Step::Map => "map memory",
            Step::Access => "access memory",
        }
    }

    fn preposition(self) -> &'static str {
        match self {
            Step::Bind | Step::Connect | Step::Send => "to ",
            Step::Open | Step::Wait | Step::Map => "for ",
            Step::Listen | Step::Accept => "on ",
            Step::Receive => "from ",
            _ => "",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: Step, errno: Errno) -> Error {
        Error::os(step, errno)
    }

    #[test]
    fn each_question_has_its_own_answer() {
        let would_block = at(Step::Receive, Errno::AGAIN);
        assert!(would_block.is_would_block() && !would_block.is_timeout());
        let late = Error::out_of_time(Step::Receive);
        assert!(late.is_timeout() && !late.is_would_block() && late.raw_os_error().is_none());
        assert!(at(Step::Accept, Errno::MFILE).is_descriptors_exhausted());
        assert!(at(Step::Open, Errno::NFILE).is_descriptors_exhausted());
        let memory = at(Step::Accept, Errno::NOBUFS);
        assert!(memory.is_memory_exhausted() && !memory.is_descriptors_exhausted());
        let gone = at(Step::Connect, Errno::NOENT);
        assert!(gone.is_connection_refused() && !at(Step::Bind, Errno::NOENT).is_connection_refused());
        let unavailable = at(Step::Bind, Errno::ADDRNOTAVAIL);
        assert!(unavailable.is_address_unavailable() && !unavailable.is_address_in_use());
        assert!(at(Step::Send, Errno::PIPE).is_connection_reset());
        assert!(!at(Step::Connect, Errno::CONNRESET).is_connection_reset(), "there was no connection yet");
    }

    #[test]
    fn the_systems_timeout_ends_a_connection_but_only_delays_a_connect() {
        assert!(at(Step::Connect, Errno::TIMEDOUT).is_timeout());
        let lost = at(Step::Receive, Errno::TIMEDOUT);
        assert!(lost.is_connection_reset() && !lost.is_timeout());
    }

    #[test]
    fn the_text_names_step_address_progress_and_cause() {
        let error =
            Error::out_of_time(Step::Send).with("tcp:[::1]:2809".parse().unwrap()).with_transferred(7);
        assert_eq!(error.to_string(), "send to tcp:[::1]:2809 after 7 octets: out of time");
        let error = Error::said(Step::Resolve, "no such name").with_host("nowhere");
        assert_eq!(error.to_string(), "resolve \"nowhere\": no such name");
        let error = at(Step::Open, Errno::NXIO).with_path("/run/orders".as_ref());
        assert_eq!(
            error.to_string(),
            "open a descriptor for \"/run/orders\": No such device or address (os error 6)"
        );
        assert!(error.is_connection_refused());
        let error = Error::unlike(Step::Adopt, "a pipe's reading end", "a regular file");
        assert_eq!(
            error.to_string(),
            "adopt a descriptor: wanted a pipe's reading end, found a regular file"
        );
        let error = Error::outside(Step::Access, 8, 4090, 4096);
        assert_eq!(error.to_string(), "access memory: 8 octets at offset 4090 of a memory of 4096");
    }

    #[test]
    fn what_came_back_is_told_apart_and_ends_no_connection() {
        let to: Address = "udp:192.0.2.7:9".parse().unwrap();
        let said_by = Some("192.0.2.1".parse().unwrap());
        let report = |errno, said_by, mtu| {
            let what = Reported { errno, said_by, path_mtu: NonZeroU32::new(mtu) };
            Error::reported(Step::Send, what).with(to.clone())
        };
        let host = report(Errno::HOSTUNREACH, said_by, 0);
        assert!(host.is_host_unreachable() && host.is_unreachable() && !host.is_network_unreachable());
        assert!(!host.is_connection_reset(), "{host}");
        assert!(report(Errno::NETUNREACH, said_by, 0).is_network_unreachable());
        assert!(report(Errno::CONNREFUSED, said_by, 0).is_connection_refused());
        let path = report(Errno::MSGSIZE, said_by, 1400);
        assert!(path.is_too_large_for_path() && !path.is_too_large());
        assert_eq!((path.path_mtu(), path.said_by()), (Some(1400), said_by));
        assert_eq!(
            path.to_string(),
            "send to udp:192.0.2.7:9: Message too long (os error 90), a packet may have 1400, said 192.0.2.1"
        );
        let here = report(Errno::MSGSIZE, None, 1400);
        assert!(here.is_too_large() && !here.is_too_large_for_path());
        let local = report(Errno::MSGSIZE, None, 1400).of_slices(&[IoSlice::new(&[0; 1401])]);
        assert!(local.is_too_large() && local.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error()));
        assert_eq!((local.path_mtu(), local.whole_length()), (Some(1400), Some(1401)));
        let large = at(Step::Send, Errno::MSGSIZE).of_slices(&[IoSlice::new(&[0; 7]), IoSlice::new(&[0; 2])]);
        assert!(large.is_too_large() && large.whole_length() == Some(9));
        assert_eq!(large.to_string(), "send: Message too long (os error 90): the datagram has 9");
        assert_eq!(path.clone().of_slices(&[IoSlice::new(&[0; 9])]), path, "that is another datagram");
        let refused = at(Step::Send, Errno::ACCESS).with(to);
        assert!(refused.is_permission_denied() && refused.to_string().contains("BroadcastSocket"));
    }

    #[test]
    fn as_an_io_error_it_keeps_its_kind() {
        assert_eq!(io::Error::from(Error::out_of_time(Step::Send)).kind(), io::ErrorKind::TimedOut);
        assert_eq!(io::Error::from(at(Step::Send, Errno::PIPE)).kind(), io::ErrorKind::BrokenPipe);
    }
}
