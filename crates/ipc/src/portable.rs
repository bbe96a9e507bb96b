//! What some Unixes do in one call and others in several: a socket that no other program inherits,
//! that does not wait, and that kills nobody whose peer has gone.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

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

/// The same, which does wait.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn waiting_socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, socket_with};
    socket_with(family, kind, SocketFlags::CLOEXEC, protocol)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn waiting_socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> Result<OwnedFd, Errno> {
    prepared(rustix::net::socket(family, kind, protocol)?, false)
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

/// A pipe whose ends, the one that reads first, are close-on-exec and do not wait.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    use rustix::pipe::{PipeFlags, pipe_with};
    pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (reader, writer) = rustix::pipe::pipe()?;
    for end in [&reader, &writer] {
        rustix::io::ioctl_fioclex(end)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((reader, writer))
}

/// Makes a FIFO, with what the process's mask leaves of these permissions.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn make_fifo(path: &Path, mode: u32) -> Result<(), Errno> {
    use rustix::fs::{CWD, Mode, RawMode, mkfifoat};
    mkfifoat(CWD, path, Mode::from_raw_mode(mode as RawMode))
}

/// rustix has no call for that there.
#[cfg(target_vendor = "apple")]
#[allow(unsafe_code, reason = "mkfifo(2) takes a pointer")]
pub(crate) fn make_fifo(path: &Path, mode: u32) -> Result<(), Errno> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the path is a string that ends with a zero and is borrowed for the call.
    match unsafe { libc::mkfifo(path.as_ptr(), mode as libc::mode_t) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// A program that another thread starts before this inherits the socket: there is no call that does both.
#[cfg(target_vendor = "apple")]
fn prepared(fd: OwnedFd, returns_at_once: bool) -> Result<OwnedFd, Errno> {
    rustix::io::ioctl_fioclex(&fd)?;
    rustix::io::ioctl_fionbio(&fd, returns_at_once)?;
    rustix::net::sockopt::set_socket_nosigpipe(&fd, true)?;
    Ok(fd)
}
