//! Who is at the other end of a Unix socket, as the kernel vouches for it (unix(7)).

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::sockopt;

use super::{Unix, UnixStream};
use crate::control::Rider;
use crate::options::{Give, Read, option_of, raw};
use crate::stream::{Acceptor, AcceptorOptions, Stream};
use crate::{Error, Seqpacket, Step, counts};

/// A process and its user, by the numbers that they have for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Credentials {
    /// The process. `None`: it has no number here, as it is in another process namespace, or it is not known.
    /// The number may have passed to another process since.
    pub process: Option<u32>,
    /// Its effective user. 65534 (`kernel.overflowuid`): one that has no number here, or it is not known.
    pub user: u32,
    /// Its effective group, likewise.
    pub group: u32,
}

/// Octets of C's `struct ucred`: a process, a user and a group, of 32 bits each.
pub(super) const OCTETS: usize = 12;

impl Credentials {
    /// This process's own, as a peer is told of them now: what [`UnixStream::peer_credentials`] is compared with.
    pub fn own() -> Self {
        Self {
            process: Some(std::process::id()),
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        }
    }

    fn of_kernel(octets: &[u8]) -> Option<Self> {
        let (words, _) = octets.as_chunks::<4>();
        let &[process, user, group] = words else { return None };
        let process = u32::try_from(i32::from_ne_bytes(process)).ok().filter(|process| *process > 0);
        Some(Self { process, user: u32::from_ne_bytes(user), group: u32::from_ne_bytes(group) })
    }

    /// Those that came beside the octets of a message.
    pub(super) fn riding(rider: &Rider<'_>) -> Option<Self> {
        let these = (rider.level, rider.kind) == (libc::SOL_SOCKET, libc::SCM_CREDENTIALS);
        if these { Self::of_kernel(rider.octets) } else { None }
    }

    /// Those of the process at the other end, as they were when it connected or began to listen
    /// (`SO_PEERCRED`).
    pub(crate) fn of_peer(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let mut octets = [0; OCTETS];
        let length = raw::read(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, &mut octets)?;
        Self::of_kernel(&octets[..length]).ok_or(Errno::NODATA)
    }
}

/// The other groups of that process (`SO_PEERGROUPS`).
pub(crate) fn groups_of_peer(fd: BorrowedFd<'_>) -> Result<Vec<u32>, Errno> {
    // Few have more than these; the kernel's limit is 65,536.
    let mut octets = vec![0; 4 * 64];
    loop {
        match raw::read(fd, libc::SOL_SOCKET, libc::SO_PEERGROUPS, &mut octets) {
            Ok(length) => {
                let (groups, _) = octets[..length].as_chunks::<4>();
                return Ok(groups.iter().map(|group| u32::from_ne_bytes(*group)).collect());
            }
            Err(Errno::RANGE) if octets.len() < 4 * 65_536 => octets.resize(4 * octets.len(), 0),
            Err(errno) => return Err(errno),
        }
    }
}

/// Whether what is received says who sent it: [`Passed::credentials`](crate::Passed::credentials)
/// (`SO_PASSCRED`). Default: no. What was sent before it was set may come without.
///
/// Of Unix streams and seqpackets; of Unix acceptors, whose later streams are born with it. From a stream's first octet on
/// it holds if the acceptor was [bound with it](AcceptorOptions::credentials).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveCredentials(pub bool);

option_of!(ReceiveCredentials: Stream<Unix>, Acceptor<Unix>, Seqpacket);

impl Read for ReceiveCredentials {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        counts::enter();
        let passed = sockopt::socket_passcred(fd);
        passed.map(ReceiveCredentials).map_err(|errno| Error::os(Step::Configure, errno))
    }
}

impl Give for ReceiveCredentials {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        counts::enter();
        sockopt::set_socket_passcred(fd, self.0).map_err(|errno| Error::os(Step::Configure, errno))
    }
}

impl AcceptorOptions<Unix> {
    /// Whether what accepted streams receive says who sent it, from the first octet on:
    /// [`ReceiveCredentials`]. Default: no.
    pub fn credentials(mut self, yes: bool) -> Self {
        self.own.credentials = yes;
        self
    }
}

impl UnixStream {
    /// Who is at the other end: of a stream that was accepted, the process that connected, as it was then; of
    /// one that was connected, the process that listens, as it was when it began to. Whoever holds the
    /// descriptor now may be somebody else, to whom it was passed: [`ReceiveCredentials`] tells who sends.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn peer_credentials(&self) -> Result<Credentials, Error> {
        Credentials::of_peer(self.as_fd()).map_err(|errno| self.failed(Step::Configure, errno))
    }

    /// The supplementary groups that this process had then, in no order. Whether its
    /// [group](Credentials::group) is among them depends on the system.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn peer_groups(&self) -> Result<Vec<u32>, Error> {
        groups_of_peer(self.as_fd()).map_err(|errno| self.failed(Step::Configure, errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_number_here_is_none() {
        let octets = |process: i32| {
            let words = [process.to_ne_bytes(), 7_u32.to_ne_bytes(), u32::MAX.to_ne_bytes()];
            words.concat()
        };
        let known = Credentials { process: Some(1), user: 7, group: u32::MAX };
        assert_eq!(Credentials::of_kernel(&octets(1)), Some(known));
        for nobody in [0, -1] {
            let unknown = Credentials { process: None, ..known };
            assert_eq!(Credentials::of_kernel(&octets(nobody)), Some(unknown));
        }
        assert_eq!(Credentials::of_kernel(&octets(1)[..8]), None, "cut off");
    }
}
