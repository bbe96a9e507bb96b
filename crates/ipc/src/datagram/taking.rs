//! Receiving a datagram, and finding out whether it was longer than the memory for it: Linux tells its whole
//! length, other systems only that it was cut.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::DatagramFamily;
use super::sender::Origin;

/// How long a datagram was.
#[derive(Clone, Copy)]
pub(super) enum Length {
    /// It had so many octets, and there was room for them.
    Fits(usize),
    /// It had so many octets, if that is known, and there was room for fewer.
    Cut(Option<usize>),
}

/// What an attempt to receive a datagram ended with instead.
#[derive(Clone, Copy)]
pub(super) enum Ended {
    /// What waits may have come before the socket had a peer: nothing was attempted.
    Earlier,
    /// One came that there was less room for; its length, if that is known.
    Cut(Option<usize>),
    Os(Errno),
}

/// How long a call waits for a datagram.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Not,
    Ever,
    Until(Instant),
}

#[cfg(target_os = "linux")]
#[inline]
fn length(whole: usize, room: usize) -> Length {
    if whole <= room { Length::Fits(whole) } else { Length::Cut(Some(whole)) }
}

/// The next datagram of a connected socket.
#[cfg(target_os = "linux")]
#[inline]
pub(super) fn take(fd: BorrowedFd<'_>, into: &mut [u8], flags: RecvFlags) -> Result<Length, Errno> {
    let room = into.len();
    // The second number is the datagram's whole length.
    rustix::net::recv(fd, into, flags.union(RecvFlags::TRUNC)).map(|(_, whole)| length(whole, room))
}

/// The next datagram, and who sent it.
#[cfg(target_os = "linux")]
#[inline(always)]
pub(super) fn take_from<F: DatagramFamily>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(Length, Origin<F>), Errno> {
    let room = into.len();
    let (_, whole, from) = rustix::net::recvfrom(fd, into, flags.union(RecvFlags::TRUNC))?;
    Ok((length(whole, room), Origin::of(from)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take(fd: BorrowedFd<'_>, into: &mut [u8], flags: RecvFlags) -> Result<Length, Errno> {
    take_any(fd, into, flags).map(|(length, _)| length)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take_from<F: DatagramFamily>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(Length, Origin<F>), Errno> {
    take_any(fd, into, flags).map(|(length, from)| (length, Origin::of(from)))
}

#[cfg(not(target_os = "linux"))]
fn take_any(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(Length, Option<rustix::net::SocketAddrAny>), Errno> {
    use rustix::net::{RecvAncillaryBuffer, ReturnFlags, recvmsg};
    let mut slices = [std::io::IoSliceMut::new(into)];
    let message = recvmsg(fd, &mut slices, &mut RecvAncillaryBuffer::default(), flags)?;
    let is_cut = message.flags.contains(ReturnFlags::TRUNC);
    let length = if is_cut { Length::Cut(None) } else { Length::Fits(message.bytes) };
    Ok((length, message.address))
}
