//! The file of a Unix socket: it comes with `bind` and stays behind unless somebody removes it.

use std::fs;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::bind;

pub(super) use crate::named_file::{NamedFile as SocketFile, errno};
use crate::{Error, Step, UnixAddress};

/// Binds a socket, and where the address is a file holds that. A file that is in the way goes if `is_abandoned` says so.
pub(super) fn bind_file(
    fd: BorrowedFd<'_>,
    at: &UnixAddress,
    is_abandoned: impl FnOnce() -> Result<bool, Errno>,
) -> Result<Option<SocketFile>, Error> {
    let failed = |errno| Error::os(Step::Bind, errno);
    let address = at.to_kernel().map_err(failed)?;
    let Some(path) = at.as_path() else {
        return bind(fd, &address).map(|()| None).map_err(failed);
    };
    let mut bound = bind(fd, &address);
    if bound == Err(Errno::ADDRINUSE) && is_abandoned().map_err(failed)? {
        fs::remove_file(path).map_err(|error| failed(errno(&error)))?;
        bound = bind(fd, &address);
    }
    bound.map_err(failed)?;
    SocketFile::at(path).map(Some).map_err(|error| failed(errno(&error)))
}
