//! What came back of a datagram: the queue of errors that the system keeps for a socket which asked for it
//! (ip(7), "IP_RECVERR"; ipv6(7), "IPV6_RECVERR"; RFC 1122, section 4.1.3.3).
//!
//! A report comes beside no octets, as one of the kernel's records:
//!
//! ```text
//! | length (a word) | level 4 | type 4 | errno 4 | origin 1 | type 1 | code 1 | – 1 | info 4 | data 4 | who said so … |
//! ```
//!
//! where `info` is the size of a packet that fits, if one was too large, and who said so is an address: its
//! family in two octets, then an IPv4 address from the fourth, or an IPv6 address from the eighth.

#![allow(unsafe_code, reason = "recvmsg(2) takes pointers")]
#![allow(clippy::unnecessary_cast, reason = "the types of lengths differ between C libraries")]

use std::mem::zeroed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, sockopt};

use super::{Udp, UdpSocket};
use crate::datagram::kernel::{last_errno, no_address, read_address, set_number};
use crate::datagram::{Calls, Report};
use crate::error::Reported;
use crate::{Error, Refused, Sender, Step, counts};

/// Octets beside a report: its record, and those of whatever else the socket was told to receive.
const BESIDE: usize = 512;
/// Octets of a record before what it holds.
const HEAD: usize = size_of::<usize>() + 8;

impl UdpSocket {
    /// From here on the system reports which datagrams could not be delivered: that nobody receives at that
    /// port, that there is no way to the host or to its network, that a part of the way takes no packets of
    /// that size.
    ///
    /// Reports wait to be taken by [`next_report`](Self::next_report), and take room in the queue of what is
    /// received: so take them. A receiving call that would wait, or that waits, ends with
    /// [`Error::has_reports_waiting`] as long as there are any. Sending goes on regardless.
    ///
    /// # Errors
    /// At [`Step::Configure`], with the socket.
    pub fn reporting(mut self) -> Result<Self, Refused<Self>> {
        match Udp::ask_for_reports(self.as_fd(), true) {
            Ok(()) => {
                self.set_reporting();
                Ok(self)
            }
            Err(errno) => Err(Refused::new(self.reports_failed(Step::Configure, errno), self)),
        }
    }

    /// Takes the next report of a datagram that could not be delivered, without waiting; `None`: there is
    /// none.
    ///
    /// It is an error at [`Step::Send`] with the address that the datagram was for:
    /// [`Error::is_connection_refused`], [`Error::is_host_unreachable`], [`Error::is_network_unreachable`],
    /// or [`Error::is_too_large_for_path`] with [`Error::path_mtu`]. [`Error::said_by`] tells who said so.
    /// Anybody on the way may drop such a report, or forge one.
    ///
    /// # Errors
    /// At [`Step::Receive`]: an invalid argument, if they were not asked for by
    /// [`reporting`](Self::reporting).
    pub fn next_report(&self) -> Result<Option<Error>, Error> {
        if !self.is_reporting() {
            return Err(self.reports_failed(Step::Receive, Errno::INVAL));
        }
        loop {
            let report = match Udp::next_report(self.as_fd()) {
                Ok(Some(report)) => report,
                Ok(None) => return Ok(None),
                Err(errno) => return Err(self.reports_failed(Step::Receive, errno)),
            };
            // What this host itself refused the call that sent it has said.
            if report.what.said_by.is_some() {
                let error = Error::reported(Step::Send, report.what);
                return Ok(Some(match report.to {
                    Some(to) => error.with(Udp::address(&to)),
                    None => error,
                }));
            }
        }
    }

    fn reports_failed(&self, step: Step, errno: Errno) -> Error {
        let error = Error::os(step, errno);
        match self.local() {
            Some(local) => error.with(Udp::address(local)),
            None => error,
        }
    }
}

/// Asks for reports, or no longer.
pub(super) fn ask(fd: BorrowedFd<'_>, yes: bool) -> Result<(), Errno> {
    // An IPv6 socket may send by IPv4 too.
    set_number(fd, libc::IPPROTO_IP, libc::IP_RECVERR, yes.into())?;
    if sockopt::socket_domain(fd)? == AddressFamily::INET6 {
        set_number(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, yes.into())?;
    }
    Ok(())
}

/// Takes the next report.
pub(super) fn next(fd: BorrowedFd<'_>) -> Result<Option<Report<SocketAddr>>, Errno> {
    let mut to = no_address();
    let mut beside = [0_u8; BESIDE];
    loop {
        // SAFETY: it consists of integers, and of pointers, which may be null.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_name = (&raw mut to).cast();
        header.msg_namelen = size_of_val(&to) as _;
        header.msg_control = beside.as_mut_ptr().cast();
        header.msg_controllen = BESIDE as _;
        counts::enter();
        // SAFETY: the two pointers lead to memory of ours, of the lengths beside them, that outlives the
        // call; there is none for octets.
        let taken =
            unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
        if taken < 0 {
            match last_errno() {
                Errno::INTR => continue,
                Errno::AGAIN => return Ok(None),
                errno => return Err(errno),
            }
        }
        let used = (header.msg_controllen as usize).min(BESIDE);
        // The queue has other things too, such as times of sending, if somebody has asked for them.
        if let Some(what) = records(&beside[..used]).find_map(reported) {
            let to = Sender::<Udp>::of(read_address(&to, header.msg_namelen)).map(SocketAddr::from);
            return Ok(Some(Report { to, what }));
        }
    }
}

/// A record without its head.
struct Record<'a> {
    level: i32,
    kind: i32,
    octets: &'a [u8],
}

/// The records, up to one that does not fit (cmsg(3)).
fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        const WORD: usize = size_of::<usize>();
        let length = usize::from_ne_bytes(array(bytes, 0)?);
        let level = i32::from_ne_bytes(array(bytes, WORD)?);
        let kind = i32::from_ne_bytes(array(bytes, WORD + 4)?);
        let octets = bytes.get(HEAD..length)?;
        bytes = bytes.get(length.next_multiple_of(WORD)..).unwrap_or(&[]);
        Some(Record { level, kind, octets })
    })
}

/// What the record reports, if it is a report of the network or of this host about a datagram.
fn reported(record: Record<'_>) -> Option<Reported> {
    let reports = [(libc::IPPROTO_IP, libc::IP_RECVERR), (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)];
    if !reports.contains(&(record.level, record.kind)) {
        return None;
    }
    let errno = i32::from_ne_bytes(array(record.octets, 0)?);
    let [origin] = array(record.octets, 4)?;
    let info = u32::from_ne_bytes(array(record.octets, 8)?);
    let said_by = match origin {
        libc::SO_EE_ORIGIN_LOCAL => None,
        libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => Some(address(record.octets.get(16..)?)?),
        _ => return None,
    };
    let errno = Errno::from_raw_os_error(errno.clamp(1, 4095));
    let path_mtu = if errno == Errno::MSGSIZE { NonZeroU32::new(info) } else { None };
    Some(Reported { errno, said_by, path_mtu })
}

/// The address in a `sockaddr_in` or `sockaddr_in6`.
fn address(octets: &[u8]) -> Option<IpAddr> {
    match i32::from(u16::from_ne_bytes(array(octets, 0)?)) {
        libc::AF_INET => Some(Ipv4Addr::from(array::<4>(octets, 4)?).into()),
        libc::AF_INET6 => Some(Ipv6Addr::from(array::<16>(octets, 8)?).to_canonical()),
        _ => None,
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(level: i32, kind: i32, octets: &[u8]) -> Vec<u8> {
        let length = HEAD + octets.len();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(octets);
        bytes.resize(length.next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    fn report(errno: Errno, origin: u8, info: u32, said_by: &[u8]) -> Vec<u8> {
        let errno = errno.raw_os_error().to_ne_bytes();
        [&errno, &[origin, 3, 4, 0][..], &info.to_ne_bytes(), &[0; 4], said_by].concat()
    }

    fn read(bytes: &[u8]) -> Option<Reported> {
        records(bytes).find_map(reported)
    }

    #[test]
    fn a_report_is_read_and_every_prefix_is_harmless() {
        let router = [&2_u16.to_ne_bytes()[..], &[0, 0, 192, 0, 2, 1], &[0; 8]].concat();
        let too_large = report(Errno::MSGSIZE, libc::SO_EE_ORIGIN_ICMP, 1400, &router);
        let bytes =
            [record(1, 2, b"another"), record(libc::IPPROTO_IP, libc::IP_RECVERR, &too_large)].concat();
        let expected = Reported {
            errno: Errno::MSGSIZE,
            said_by: Some(Ipv4Addr::new(192, 0, 2, 1).into()),
            path_mtu: NonZeroU32::new(1400),
        };
        assert_eq!(read(&bytes), Some(expected));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_mapped_address_is_the_ipv4_one() {
        let said_by = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
        let router = [&10_u16.to_ne_bytes()[..], &[0; 6], &said_by.octets(), &[0; 4]].concat();
        let refused = report(Errno::CONNREFUSED, libc::SO_EE_ORIGIN_ICMP, 7, &router);
        let found = read(&record(libc::IPPROTO_IPV6, libc::IPV6_RECVERR, &refused)).unwrap();
        assert_eq!(found.said_by, Some(Ipv4Addr::new(192, 0, 2, 1).into()));
        assert_eq!(found.path_mtu, None, "that figure says something else");
    }

    #[test]
    fn what_is_no_report_is_passed_over() {
        let sent = report(Errno::NOMSG, libc::SO_EE_ORIGIN_TIMESTAMPING, 0, &[0; 16]);
        assert_eq!(read(&record(libc::IPPROTO_IP, libc::IP_RECVERR, &sent)), None);
        for length in [0, 1, HEAD - 1, usize::MAX] {
            let bytes = [&length.to_ne_bytes()[..], &[0; 64]].concat();
            assert_eq!(records(&bytes).count(), 0, "{length}");
        }
    }
}
