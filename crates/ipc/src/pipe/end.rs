//! What both ends of a pipe have in common.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread};
#[cfg(target_os = "linux")]
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

#[cfg(target_os = "linux")]
use crate::kind::{self, adopted};
use crate::ready::{attempt_by, resumed};
use crate::{Error, Refused, Step};

/// One end of a pipe, not blocking.
pub(super) struct End {
    fd: OwnedFd,
    /// Of a FIFO.
    path: Option<Box<Path>>,
}

impl End {
    pub(super) fn new(fd: OwnedFd, path: Option<&Path>) -> Self {
        Self { fd, path: path.map(Box::from) }
    }

    #[cfg(target_os = "linux")]
    /// Of a descriptor that came from elsewhere, if that is what it is.
    pub(super) fn adopt(fd: OwnedFd, opened: OFlags, wanted: &str) -> Result<Self, Refused<OwnedFd>> {
        let (fd, ()) = adopted(fd, |fd| {
            let status = fstat(fd).map_err(kind::failed)?;
            let is_pipe = FileType::from_raw_mode(status.st_mode) == FileType::Fifo;
            if !is_pipe || kind::access(fd) != Ok(opened) {
                return Err(kind::unlike(wanted, fd));
            }
            kind::prepare(fd, false)
        })?;
        Ok(Self { fd, path: None })
    }

    pub(super) fn into_descriptor(self) -> Result<OwnedFd, Refused<Self>> {
        match ioctl_fionbio(&self.fd, false) {
            Ok(()) => Ok(self.fd),
            Err(errno) => Err(Refused::new(self.failed(Step::Configure, errno), self)),
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn capacity(&self) -> Result<usize, Error> {
        fcntl_getpipe_size(&self.fd).map_err(|errno| self.failed(Step::Configure, errno))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn set_capacity(&self, octets: usize) -> Result<usize, Error> {
        fcntl_setpipe_size(&self.fd, octets).map_err(|errno| self.failed(Step::Configure, errno))
    }

    pub(super) fn queued(&self) -> Result<usize, Error> {
        let octets = ioctl_fionread(&self.fd).map_err(|errno| self.failed(Step::Configure, errno))?;
        // A pipe's capacity fits a C int.
        Ok(octets as usize)
    }

    /// Attempts it until it does not block, as [`attempt_by`] says.
    #[inline]
    pub(super) fn attempt_by<T>(
        &self,
        step: Step,
        what: PollFlags,
        deadline: Instant,
        attempt: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Error> {
        attempt_by(self.as_fd(), step, what, Some(deadline), attempt).map_err(|error| self.naming(error))
    }

    /// How it is right now, whatever that is.
    pub(super) fn look(&self, what: PollFlags) -> Result<PollFlags, Errno> {
        let mut this = [PollFd::from_borrowed_fd(self.as_fd(), what)];
        resumed(|| poll(&mut this, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })))?;
        Ok(this[0].revents())
    }

    #[cold]
    pub(super) fn failed(&self, step: Step, errno: Errno) -> Error {
        self.naming(Error::os(step, errno))
    }

    /// Names the FIFO, if it is one.
    #[cold]
    pub(super) fn naming(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.with_path(path),
            None => error,
        }
    }
}

impl From<End> for OwnedFd {
    fn from(end: End) -> Self {
        end.fd
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe").field("fd", &self.fd).field("path", &self.path).finish()
    }
}
