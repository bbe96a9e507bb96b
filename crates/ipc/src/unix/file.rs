//! The file of a Unix socket: it comes with `bind` and stays behind unless somebody removes it.

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::bind;

use crate::{Error, Step, UnixAddress};

/// The file of a bound socket: removed with it, unless another has taken its place.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    /// Of the socket that was just bound there.
    fn at(path: &Path) -> io::Result<SocketFile> {
        // Relative paths mean another file once the working directory has changed.
        let path = std::path::absolute(path)?;
        let identity = identity(&path)?;
        Ok(SocketFile { path, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // Who may bind there may remove it; if that has changed the file is refused to the next one, who is told.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

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

pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
