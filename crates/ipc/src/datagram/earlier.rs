//! What had come to a socket from anybody before it had a peer: it waits in the queue, and is not the peer's.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketAddrAny, getpeername, recvfrom};

use super::{DatagramFamily, Sender};
use crate::ready::{events_by, resumed};

/// Whether there may be such datagrams, until the queue was found empty once.
pub(super) struct Earlier<F: DatagramFamily> {
    may_be: AtomicBool,
    /// Who looks at the next datagram takes it, before another thread does.
    taking: Mutex<()>,
    /// As the system names it beside what it sends.
    peer: Option<F::Address>,
}

impl<F: DatagramFamily> Earlier<F> {
    /// Of a socket that received from nobody before it had a peer, or whose peer has no name.
    pub(super) fn none() -> Self {
        Self { may_be: AtomicBool::new(false), taking: Mutex::new(()), peer: None }
    }

    /// Of a socket that received from anybody before.
    pub(super) fn of(fd: BorrowedFd<'_>) -> Self {
        let peer = getpeername(fd).ok().and_then(named::<F>);
        let may_be = peer.is_some() && !is_empty(fd);
        Self { may_be: AtomicBool::new(may_be), taking: Mutex::new(()), peer }
    }

    #[inline]
    pub(super) fn may_be(&self) -> bool {
        self.may_be.load(Relaxed)
    }

    /// Drops what is not the peer's, and takes what is, if that comes next, without waiting. `None`: the queue
    /// is empty, and from here on only the peer's datagrams come into it.
    #[cold]
    pub(super) fn pass<T>(&self, fd: BorrowedFd<'_>, take: impl FnOnce() -> T) -> Result<Option<T>, Errno> {
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let next = |flags| resumed(|| recvfrom(fd, &mut [0_u8; 1], flags | RecvFlags::DONTWAIT));
        loop {
            let from = match next(RecvFlags::PEEK) {
                Ok((_, _, from)) => named::<F>(from),
                Err(Errno::AGAIN) => {
                    self.may_be.store(false, Relaxed);
                    return Ok(None);
                }
                Err(errno) => return Err(errno),
            };
            if from == self.peer {
                let taken = take();
                self.may_be.store(!is_empty(fd), Relaxed);
                return Ok(Some(taken));
            }
            match next(RecvFlags::empty()) {
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

/// Of two forms of an address one may say more.
fn named<F: DatagramFamily>(from: Option<SocketAddrAny>) -> Option<F::Address> {
    Sender::<F>::of(from).map(|sender| sender.address())
}

/// Whether the queue is empty. An error that waits to be told goes on waiting.
fn is_empty(fd: BorrowedFd<'_>) -> bool {
    events_by(fd, PollFlags::IN, Some(Instant::now())).is_ok_and(|events| !events.contains(PollFlags::IN))
}
