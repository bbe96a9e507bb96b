//! What an error says: the step, the address, how far it came, and the reason.

use super::{Cause, ENDED, Error, Reported, Subject};
use rustix::io::Errno;
use std::fmt;
use std::io;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;

    fn at(step: Step, errno: Errno) -> Error {
        Error::os(step, errno)
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
}
