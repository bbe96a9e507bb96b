//! What a descriptor leads to: asked before one that came from elsewhere is taken for a handle, and told
//! where it is something else.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags, fcntl_get_seals, fcntl_getfl, fstat};
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, Protocol, SocketType, getpeername, ipproto, sockopt};

use crate::{Error, Refused, Step};

/// The descriptor with what `check` found out about it; it comes back if that fails.
pub(crate) fn adopted<T>(
    fd: OwnedFd,
    check: impl FnOnce(BorrowedFd<'_>) -> Result<T, Error>,
) -> Result<(OwnedFd, T), Refused<OwnedFd>> {
    match check(fd.as_fd()) {
        Ok(known) => Ok((fd, known)),
        Err(error) => Err(Refused::new(error, fd)),
    }
}

pub(crate) fn failed(errno: Errno) -> Error {
    Error::os(Step::Adopt, errno)
}

/// The error of a descriptor that is not what was wanted.
#[cold]
pub(crate) fn unlike(wanted: &str, fd: BorrowedFd<'_>) -> Error {
    Error::unlike(Step::Adopt, wanted, found(fd))
}

/// Gives a descriptor that was checked what every handle here has: it is not inherited, and blocks or does
/// not.
pub(crate) fn prepare(fd: BorrowedFd<'_>, blocks: bool) -> Result<(), Error> {
    let prepared = fcntl_setfd(fd, FdFlags::CLOEXEC).and_then(|()| ioctl_fionbio(fd, !blocks));
    prepared.map_err(failed)
}

/// What a descriptor was opened to do: `RDONLY`, `WRONLY`, `RDWR`, or `PATH` for nothing.
pub(crate) fn access(fd: BorrowedFd<'_>) -> Result<OFlags, Errno> {
    fcntl_getfl(fd).map(|flags| flags & (OFlags::RWMODE | OFlags::PATH))
}

/// The kernel's name for a descriptor without a file, such as `[eventfd]`; `None` of one that has a file.
pub(crate) fn anonymous(fd: BorrowedFd<'_>) -> Result<Option<String>, Error> {
    let link = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).map_err(untold)?;
    Ok(link.to_str().and_then(|link| link.strip_prefix("anon_inode:")).map(str::to_owned))
}

/// What the kernel says about a descriptor under this name in proc(5), "fdinfo".
pub(crate) fn told(fd: BorrowedFd<'_>, name: &str) -> Result<Option<String>, Error> {
    let lines = fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).map_err(untold)?;
    let values = lines.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(values.map(|value| value.trim().to_owned()).next())
}

fn untold(error: std::io::Error) -> Error {
    failed(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn found(fd: BorrowedFd<'_>) -> String {
    let Ok(status) = fstat(fd) else { return "something that does not say what it is".into() };
    let found = match FileType::from_raw_mode(status.st_mode) {
        FileType::Fifo => pipe(fd),
        FileType::Socket => return socket(fd),
        FileType::RegularFile if fcntl_get_seals(fd).is_ok() => "a file in memory",
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => {
            let name = anonymous(fd).ok().flatten();
            return format!("a descriptor of the kind {}", name.as_deref().unwrap_or("unknown"));
        }
    };
    found.into()
}

fn pipe(fd: BorrowedFd<'_>) -> &'static str {
    let names = [
        (OFlags::RDONLY, "a pipe's reading end"),
        (OFlags::WRONLY, "a pipe's writing end"),
        (OFlags::RDWR, "a FIFO opened for both directions"),
    ];
    let access = access(fd);
    let name = names.iter().find(|(flags, _)| access == Ok(*flags));
    name.map_or("a FIFO's place in the file system", |(_, name)| name)
}

// ---- sockets ----

/// A kind of sockets, as the kernel tells it.
#[derive(Clone, Copy, Debug)]
pub struct SocketKind {
    name: &'static str,
    families: &'static [AddressFamily],
    form: SocketType,
    /// `None` where the family has but one.
    protocol: Option<Protocol>,
}

/// How a socket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Listening,
    Connected,
    Unconnected,
}

const INTERNET: &[AddressFamily] = &[AddressFamily::INET, AddressFamily::INET6];
const LOCAL: &[AddressFamily] = &[AddressFamily::UNIX];

impl SocketKind {
    pub(crate) const TCP: Self = Self {
        name: "a TCP socket",
        families: INTERNET,
        form: SocketType::STREAM,
        protocol: Some(ipproto::TCP),
    };
    pub(crate) const UDP: Self = Self {
        name: "a UDP socket",
        families: INTERNET,
        form: SocketType::DGRAM,
        protocol: Some(ipproto::UDP),
    };
    pub(crate) const UNIX_STREAM: Self =
        Self { name: "a Unix stream socket", families: LOCAL, form: SocketType::STREAM, protocol: None };
    pub(crate) const UNIX_DATAGRAM: Self =
        Self { name: "a Unix datagram socket", families: LOCAL, form: SocketType::DGRAM, protocol: None };
    pub(crate) const UNIX_SEQPACKET: Self = Self {
        name: "a Unix seqpacket socket",
        families: LOCAL,
        form: SocketType::SEQPACKET,
        protocol: None,
    };
    pub(crate) const VSOCK: Self = Self {
        name: "a vsock socket",
        families: &[AddressFamily::VSOCK],
        form: SocketType::STREAM,
        protocol: None,
    };
    const ALL: [Self; 6] =
        [Self::TCP, Self::UDP, Self::UNIX_STREAM, Self::UNIX_DATAGRAM, Self::UNIX_SEQPACKET, Self::VSOCK];

    /// Whether that is what the descriptor leads to, standing so.
    pub(crate) fn check(&self, fd: BorrowedFd<'_>, standing: Standing) -> Result<(), Error> {
        if self.is(fd) && standing_of(fd) == standing {
            return Ok(());
        }
        Err(unlike(&described(self.name, standing), fd))
    }

    fn is(&self, fd: BorrowedFd<'_>) -> bool {
        sockopt::socket_domain(fd).is_ok_and(|family| self.families.contains(&family))
            && sockopt::socket_type(fd).is_ok_and(|form| form == self.form)
            && (self.protocol.is_none() || sockopt::socket_protocol(fd) == Ok(self.protocol))
    }
}

fn standing_of(fd: BorrowedFd<'_>) -> Standing {
    if sockopt::socket_acceptconn(fd) == Ok(true) {
        Standing::Listening
    } else if getpeername(fd).is_ok() {
        Standing::Connected
    } else {
        Standing::Unconnected
    }
}

fn socket(fd: BorrowedFd<'_>) -> String {
    let kind = SocketKind::ALL.iter().find(|kind| kind.is(fd));
    described(kind.map_or("a socket of another family", |kind| kind.name), standing_of(fd))
}

fn described(name: &str, standing: Standing) -> String {
    let standing = match standing {
        Standing::Listening => "that listens",
        Standing::Connected => "that is connected",
        Standing::Unconnected => "without a peer",
    };
    format!("{name} {standing}")
}
