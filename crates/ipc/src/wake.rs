//! Waking a thread that waits in an [`Epoll`](crate::Epoll).

use crate::ready::resumed;
use crate::{Error, Step};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A descriptor that becomes readable when some thread says so (an eventfd).
///
/// Wake-ups do not queue: any number before one [`drain`](Self::drain) count as one, so drain first and look
/// for work afterwards.
#[derive(Debug)]
pub struct Wake {
    fd: OwnedFd,
}

impl Wake {
    /// Not woken yet.
    ///
    /// # Errors
    /// At [`Step::Open`].
    pub fn new() -> Result<Self, Error> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|e| Error::os(Step::Open, e))?;
        Ok(Self { fd })
    }

    /// Makes the descriptor readable. Never blocks; may be called by any thread.
    ///
    /// # Errors
    /// At [`Step::Wake`].
    pub fn wake(&self) -> Result<(), Error> {
        match resumed(|| write(&self.fd, &1u64.to_ne_bytes())) {
            // A counter that is full has not been drained for 2^64 wake-ups: it is readable, as asked.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(Error::os(Step::Wake, errno)),
        }
    }

    /// Makes the descriptor unreadable again, and says whether it had been woken.
    ///
    /// # Errors
    /// At [`Step::Wake`].
    pub fn drain(&self) -> Result<bool, Error> {
        match resumed(|| read(&self.fd, &mut [0; 8])) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(Error::os(Step::Wake, errno)),
        }
    }
}

impl From<Wake> for OwnedFd {
    fn from(wake: Wake) -> Self {
        wake.fd
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
