//! Receiving a datagram, and finding out whether it was longer than the memory for it: Linux tells its whole
//! length, other systems only that it was cut.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketAddrAny};

/// How long a datagram was.
#[derive(Clone, Copy)]
pub(super) enum Length {
    /// It had so many octets, and there was room for them.
    Fits(usize),
    /// It had so many octets, if that is known, and there was room for fewer.
    Cut(Option<usize>),
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
#[inline]
pub(super) fn take_from(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(Length, Option<SocketAddrAny>), Errno> {
    let room = into.len();
    let taken = rustix::net::recvfrom(fd, into, flags.union(RecvFlags::TRUNC));
    taken.map(|(_, whole, from)| (length(whole, room), from))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take(fd: BorrowedFd<'_>, into: &mut [u8], flags: RecvFlags) -> Result<Length, Errno> {
    take_from(fd, into, flags).map(|(length, _)| length)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take_from(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(Length, Option<SocketAddrAny>), Errno> {
    use rustix::net::{RecvAncillaryBuffer, ReturnFlags, recvmsg};
    let mut slices = [std::io::IoSliceMut::new(into)];
    let message = recvmsg(fd, &mut slices, &mut RecvAncillaryBuffer::default(), flags)?;
    let is_cut = message.flags.contains(ReturnFlags::TRUNC);
    let length = if is_cut { Length::Cut(None) } else { Length::Fits(message.bytes) };
    Ok((length, message.address))
}
