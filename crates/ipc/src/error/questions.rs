//! What a caller asks of an error: whom it concerned, how far it came, and which of the few reasons it had.

use super::{Cause, ENDED, Error, Reported, Step, Subject};
use crate::Address;
use rustix::io::Errno;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;

impl Error {
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
    pub(super) fn is_perhaps_broadcast(&self) -> bool {
        self.step == Step::Send && matches!(self.subject, Subject::Address(Address::Udp(SocketAddr::V4(_))))
    }

    fn is_os(&self, which: &[Errno]) -> bool {
        self.errno().is_some_and(|errno| which.contains(&errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::IoSlice;

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
}
