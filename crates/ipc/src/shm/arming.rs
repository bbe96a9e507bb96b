//! Waiting for channels among other descriptors.
//!
//! A channel's descriptor, its socket, says nothing by itself: octets come through memory. It becomes readable when the
//! channel was *armed* before, and when the peer is gone. So it is added to a set once, level-triggered, to receive
//! (whatever is waited for), and then, whenever all is received that there was (or there was no room):
//!
//! ```text
//! loop { arm:  Ready   → receive until would-block
//!              Waiting → wait in the set until the descriptor is reported
//!                        quiet: it is no longer reported for what it was }
//! ```
//!
//! Any thread may arm; who waits, and nobody else, makes it quiet: then no report that another armed for is lost.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::SeqCst;

use super::ShmStream;
use super::doorbell;
use super::loans::Heard;
use super::stream::{HUNG, Taken};
use crate::Error;

/// What arming found.
#[must_use = "if it is `Ready` nothing is armed, and a wait would be for nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Armed {
    /// It would not have to wait: the next call moves something, or says why it never will. Nothing is armed.
    Ready,
    /// There is nothing to do yet. The descriptor becomes readable when there is.
    Waiting,
}

impl ShmStream {
    /// Arms the descriptor for octets to receive, or their end. It stays armed until it was reported, or this is called
    /// again.
    ///
    /// The descriptor may be reported without cause, such as for what was received already: then this says
    /// [`Waiting`](Armed::Waiting) again.
    ///
    /// # Errors
    /// [`Error::is_broken_by_peer`].
    pub fn arm(&self) -> Result<Armed, Error> {
        self.arm_for(true, false)
    }

    /// Arms the descriptor for room to send into, or that sending has become of no use; otherwise as [`arm`](Self::arm).
    ///
    /// # Errors
    /// As [`arm`](Self::arm).
    pub fn arm_to_send(&self) -> Result<Armed, Error> {
        self.arm_for(false, true)
    }

    /// Arms the descriptor for either; otherwise as [`arm`](Self::arm).
    ///
    /// # Errors
    /// As [`arm`](Self::arm).
    pub fn arm_for_both(&self) -> Result<Armed, Error> {
        self.arm_for(true, true)
    }

    fn arm_for(&self, to_receive: bool, to_send: bool) -> Result<Armed, Error> {
        if to_receive {
            let armed = match self.look() {
                Ok(Taken::Empty(seen)) => {
                    let bell = self.incoming.data(&self.segment).word();
                    doorbell::arm(bell, || self.octets_came(seen))
                }
                Err(error) if error.is_broken_by_peer() => return Err(error),
                _ => false,
            };
            if !armed {
                return Ok(Armed::Ready);
            }
        }
        if to_send {
            let bell = self.outgoing.room(&self.segment).word();
            let armed = match self.room()? {
                Some(seen) => doorbell::arm(bell, || self.room_came(seen)),
                None => false,
            };
            if !armed {
                return Ok(Armed::Ready);
            }
        }
        Ok(Armed::Waiting)
    }

    /// Forgets that the descriptor was reported; for who waits for it, before looking at what it was reported for. Until
    /// then it is reported again and again.
    pub fn quiet(&self) {
        if self.hear() == Heard::End {
            self.state.fetch_or(HUNG, SeqCst);
        }
    }
}

/// The descriptor to wait on once it is [armed](ShmStream::arm). Nothing may be sent or received by it.
impl AsFd for ShmStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
