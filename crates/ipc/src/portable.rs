//! What some Unixes do in one call and others in several: a socket that no other program inherits,
//! that does not wait, and that kills nobody whose peer has gone.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketAddrAny, SocketType};

/// Sending to who has gone is an error, never a signal.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
/// There it is an option of the socket.
#[cfg(target_vendor = "apple")]
pub(crate) const NO_SIGNAL: SendFlags = SendFlags::empty();

/// A socket that is close-on-exec and does not wait.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, socket_with};
    socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, protocol)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> Result<OwnedFd, Errno> {
    prepared(rustix::net::socket(family, kind, protocol)?, true)
}

/// The next peer's socket, close-on-exec, which does wait, and the peer's address.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn accept(fd: BorrowedFd<'_>) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    rustix::net::acceptfrom_with(fd, rustix::net::SocketFlags::CLOEXEC)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn accept(fd: BorrowedFd<'_>) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    let (fd, from) = rustix::net::acceptfrom(fd)?;
    Ok((prepared(fd, false)?, from))
}

/// A program that another thread starts before this inherits the socket: there is no call that does both.
#[cfg(target_vendor = "apple")]
fn prepared(fd: OwnedFd, returns_at_once: bool) -> Result<OwnedFd, Errno> {
    rustix::io::ioctl_fioclex(&fd)?;
    rustix::io::ioctl_fionbio(&fd, returns_at_once)?;
    rustix::net::sockopt::set_socket_nosigpipe(&fd, true)?;
    Ok(fd)
}
