//! The end of a channel: of one direction, of both, and because the peer broke the rules.

use std::io::IoSliceMut;
use std::sync::atomic::Ordering::{Release, SeqCst};

use rustix::io::Errno;

use super::ShmStream;
use super::stream::{BROKEN, ENDED_HERE, SHUT, lock};
use crate::error::ENDED;
use crate::{Address, Error, Idle, Step};

impl ShmStream {
    /// Ends the sending direction: the peer receives what was sent, then 0. Receiving goes on.
    ///
    /// # Errors
    /// None yet; it may have some, as other streams' have.
    pub fn shutdown_send(&self) -> Result<(), Error> {
        let producer = lock(&self.sending);
        self.state.fetch_or(ENDED_HERE, SeqCst);
        self.outgoing.ended(&self.segment).store(1, Release);
        drop(producer);
        self.ring(self.outgoing.data(&self.segment));
        // Whoever waits for room here finds that it may not send.
        self.wake_own();
        Ok(())
    }

    /// Ends both directions, whichever threads are sending or receiving: they are woken, and receive what is left, then 0.
    ///
    /// # Errors
    /// At [`Step::Shutdown`].
    pub fn shutdown_both(&self) -> Result<(), Error> {
        self.state.fetch_or(SHUT, SeqCst);
        self.say_gone();
        self.wake_own();
        match self.socket.shutdown_both() {
            Err(error) if error.raw_os_error() != Some(Errno::NOTCONN.raw_os_error()) => Err(renamed(error)),
            _ => Ok(()),
        }
    }

    /// That nothing is taken any more comes first: who sees the end has to see that, too.
    fn say_gone(&self) {
        self.incoming.gone(&self.segment).store(1, Release);
        self.outgoing.ended(&self.segment).store(1, Release);
        self.ring(self.outgoing.data(&self.segment));
        self.ring(self.incoming.room(&self.segment));
    }

    /// What an idle connection's peer has been up to. One system call, none if something waits; takes nothing.
    ///
    /// [`Quiet`](Idle::Quiet) is no promise: the peer's end may be under way.
    pub fn idle(&self) -> Idle {
        match self.take_now(&mut [IoSliceMut::new(&mut [0])], true) {
            Ok(0) => Idle::Closed,
            Ok(_) => Idle::Readable,
            Err(error) if error.is_would_block() => Idle::Quiet,
            Err(_) => Idle::Closed,
        }
    }

    /// From here on nothing goes either way, and the peer is told.
    #[cold]
    pub(super) fn broken(&self, step: Step) -> Error {
        self.broken_by(step, "a position that cannot be")
    }

    /// The same, where something else than a position cannot be.
    #[cold]
    pub(super) fn broken_by(&self, step: Step, what: &'static str) -> Error {
        if self.state.fetch_or(BROKEN, SeqCst) & BROKEN == 0 {
            self.say_gone();
            self.wake_own();
            let _ = self.socket.shutdown_both();
        }
        self.naming(Error::broken(step, what))
    }

    #[cold]
    pub(super) fn failed(&self, step: Step, errno: Errno) -> Error {
        self.naming(Error::os(step, errno))
    }

    /// Names the peer, where it has a name.
    #[cold]
    pub(super) fn naming(&self, error: Error) -> Error {
        renamed(self.socket.naming(error))
    }

    #[cold]
    pub(super) fn ended_early(&self, filled: usize) -> Error {
        self.failed(Step::Receive, ENDED).with_transferred(filled)
    }
}

/// What concerns the Unix socket of a channel concerns the channel.
#[cold]
pub(super) fn renamed(error: Error) -> Error {
    match error.address() {
        Some(Address::Unix(address)) => {
            let address = Address::Shm(address.clone());
            error.with(address)
        }
        _ => error,
    }
}

impl Drop for ShmStream {
    fn drop(&mut self) {
        self.say_gone();
    }
}
