//! What went wrong: at which step, with which address, for which reason of the operating system.
//!
//! One type serves the whole crate, because a caller's questions are few and the same everywhere: *did
//! time run out, is there nothing right now, is the connection gone, are we out of descriptors?* Each has a
//! predicate; whoever wants more finds the [`Step`] and the system's error number.

mod questions;
mod step;
mod text;

pub use step::Step;

use crate::Address;
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::net::IpAddr;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_an_io_error_it_keeps_its_kind() {
        let broken = Error::os(Step::Send, Errno::PIPE);
        assert_eq!(io::Error::from(broken).kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(io::Error::from(Error::out_of_time(Step::Send)).kind(), io::ErrorKind::TimedOut);
    }
}
