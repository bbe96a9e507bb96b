//! When something was received: by the kernel, that is, not by the program that comes to it later.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::PollFlags;
use rustix::net::RecvFlags;

use super::{Give, Read, SocketFact, SocketOption, failed, named, raw};
use crate::control::{self, Rider, room};
use crate::datagram::Origin;
use crate::ready::attempt_by;
use crate::{ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Error, Received, Step, Stream, Tcp};

/// Whether the kernel notes when it receives (`SO_TIMESTAMPNS`, socket(7)), which the calls for [`Stamped`]
/// then tell. Default: no. A clock is read for each packet of the machine while any socket has this.
///
/// Of TCP streams and all datagram sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveTimestamps(pub bool);

impl SocketFact<Stream<Tcp>> for ReceiveTimestamps {}
impl SocketOption<Stream<Tcp>> for ReceiveTimestamps {}
impl<F: DatagramFamily> SocketFact<DatagramSocket<F>> for ReceiveTimestamps {}
impl<F: DatagramFamily> SocketOption<DatagramSocket<F>> for ReceiveTimestamps {}
impl<F: DatagramFamily> SocketFact<ConnectedDatagramSocket<F>> for ReceiveTimestamps {}
impl<F: DatagramFamily> SocketOption<ConnectedDatagramSocket<F>> for ReceiveTimestamps {}

impl Read for ReceiveTimestamps {
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error> {
        let on = raw::int(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS).map_err(failed)?;
        Ok(ReceiveTimestamps(on != 0))
    }
}

impl Give for ReceiveTimestamps {
    type Granted = ();

    fn give(self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        raw::set_int(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, self.0.into()).map_err(failed)
    }
}

/// Something received, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped<R> {
    /// What: octets in the beginning of the caller's memory, or a [`Received`] that has them.
    pub received: R,
    /// When, by the clock of the system, which somebody may set. Of a stream's octets it is the last ones'
    /// time. `None`: the kernel did not note it, for want of [`ReceiveTimestamps`] when it came.
    pub at: Option<SystemTime>,
}

/// A time has two words, and a header for which there is room; so has one other thing that somebody may have
/// asked for.
const BESIDE: usize = 2 * room(2 * size_of::<i64>());

impl Stream<Tcp> {
    /// Receives what is there, and waits for it until `deadline`, as [`receive_by`](Self::receive_by), and
    /// tells when the last of it came.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by).
    #[inline]
    pub fn receive_stamped_by(&self, into: &mut [u8], deadline: Instant) -> Result<Stamped<usize>, Error> {
        let mut at = None;
        let message =
            control::receive_by::<BESIDE>(self.as_fd(), into, RecvFlags::empty(), deadline, |rider| {
                note(&mut at, rider)
            });
        let message = message.map_err(|error| self.naming(error))?;
        Ok(Stamped { received: message.octets, at })
    }
}

impl<F: DatagramFamily> DatagramSocket<F> {
    /// Receives the next datagram, and waits for it until `deadline`, as
    /// [`receive_from_by`](Self::receive_from_by), and tells when it came.
    ///
    /// # Errors
    /// As [`receive_from_by`](Self::receive_from_by).
    pub fn receive_from_stamped_by(
        &self,
        into: &mut [u8],
        deadline: Instant,
    ) -> Result<Stamped<Received<F>>, Error> {
        let (mut at, flags) = (None, RecvFlags::TRUNC | RecvFlags::DONTWAIT);
        let (message, from) = attempt_by(self.as_fd(), Step::Receive, PollFlags::IN, Some(deadline), || {
            control::receive_from::<BESIDE>(self.as_fd(), into, flags, |rider| note(&mut at, rider))
        })?;
        let octets = whole(message.octets, into.len())?;
        Ok(Stamped { received: Received::of(octets, Origin::of(from)), at })
    }
}

impl<F: DatagramFamily> ConnectedDatagramSocket<F> {
    /// Receives the next datagram, and waits for it until `deadline`, as [`receive_by`](Self::receive_by),
    /// and tells when it came.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by).
    #[inline]
    pub fn receive_stamped_by(&self, into: &mut [u8], deadline: Instant) -> Result<Stamped<usize>, Error> {
        let mut at = None;
        let message =
            control::receive_by::<BESIDE>(self.as_fd(), into, RecvFlags::TRUNC, deadline, |rider| {
                note(&mut at, rider)
            });
        let octets = message.and_then(|message| whole(message.octets, into.len()));
        Ok(Stamped { received: octets.map_err(|error| named(error, self))?, at })
    }
}

/// The octets of a datagram of this length, if there was room for all of it.
fn whole(length: usize, room: usize) -> Result<usize, Error> {
    if length <= room { Ok(length) } else { Err(Error::truncated(length, room)) }
}

fn note(at: &mut Option<SystemTime>, rider: &Rider<'_>) {
    match (rider.level, rider.kind) {
        (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => *at = time(rider.octets),
        // Nobody asked for what may come by Unix sockets.
        _ => control::close_passed(rider),
    }
}

/// `struct timespec`.
fn time(octets: &[u8]) -> Option<SystemTime> {
    if let &[seconds, nanoseconds] = octets.as_chunks::<8>().0 {
        // Nothing is as frequent.
        let (seconds, nanoseconds) = (i64::from_ne_bytes(seconds), i64::from_ne_bytes(nanoseconds));
        let (seconds, nanoseconds) = (u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        return SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
    }
    let (seconds, nanoseconds) = octets.split_at(octets.len() / 2);
    let seconds = u64::try_from(word(seconds)?).ok()?;
    let nanoseconds = u32::try_from(word(nanoseconds)?).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

fn word(octets: &[u8]) -> Option<i64> {
    let long = || octets.try_into().ok().map(i64::from_ne_bytes);
    let short = || octets.try_into().ok().map(i32::from_ne_bytes).map(i64::from);
    long().or_else(short)
}
