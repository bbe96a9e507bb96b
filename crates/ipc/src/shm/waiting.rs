//! Waiting for the other side: spin if that pays, then sleep on the doorbell, and look now and then whether the other
//! side is still alive.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::doorbell::{self, ARMED, SLEEPING};
use super::stream::{HUNG, OVER, SHUT, ShmStream};
use crate::ready::{events_by, rest, resumed};
use crate::{Error, Looked, SharedFutex, Step, Waited};

/// The first sleep of a wait, and each later one, before looking at the socket: a peer that was killed rings no
/// doorbell. So its death is noticed after 100 ms at the latest, by ten wake-ups a second.
const FIRST_SLEEP: Duration = Duration::from_millis(10);
const SLEEP: Duration = Duration::from_millis(100);
/// Wake-ups in one wait that nothing came with. More than a few are made by a peer that means to keep this processor
/// busy, which then rests in between.
const IDLE_RINGS: u32 = 16;

impl ShmStream {
    /// Waits until the producer has moved on from there, or anything else is to be looked at. False: the deadline came.
    pub(super) fn wait_for_octets(&self, seen: u32, deadline: Instant) -> Result<bool, Error> {
        let came = || self.octets_came(seen);
        self.wait(Step::Receive, deadline, came)
    }

    /// Waits until the consumer has moved on from there, or anything else is to be looked at. False: the deadline came.
    pub(super) fn wait_for_room(&self, seen: u32, deadline: Instant) -> Result<bool, Error> {
        let came = || self.room_came(seen);
        self.wait(Step::Send, deadline, came)
    }

    #[inline]
    pub(super) fn octets_came(&self, seen: u32) -> bool {
        self.incoming.head(&self.segment).load(Relaxed) != seen
            || self.incoming.ended(&self.segment).load(Relaxed) != 0
            || self.state.load(Relaxed) & OVER != 0
    }

    #[inline]
    pub(super) fn room_came(&self, seen: u32) -> bool {
        self.outgoing.tail(&self.segment).load(Relaxed) != seen
            || self.outgoing.gone(&self.segment).load(Relaxed) != 0
            || self.state.load(Relaxed) != 0
    }

    #[inline]
    fn wait(&self, step: Step, deadline: Instant, came: impl Fn() -> bool) -> Result<bool, Error> {
        let spinner = match step {
            Step::Receive => &self.spinners().receive,
            _ => &self.spinners().send,
        };
        let look = || came().then_some(());
        match spinner.look(|| deadline.saturating_duration_since(Instant::now()), look) {
            Looked::Came(()) => Ok(true),
            Looked::InVain(asleep) => {
                let waited = self.sleep(step, deadline, came);
                spinner.slept(asleep);
                waited
            }
        }
    }

    fn sleep(&self, step: Step, deadline: Instant, came: impl Fn() -> bool) -> Result<bool, Error> {
        let (bell, sleepers) = match step {
            Step::Receive => (self.incoming.data(&self.segment), &self.receivers),
            _ => (self.outgoing.room(&self.segment), &self.senders),
        };
        let (mut now, mut sleep, mut rings) = (Instant::now(), FIRST_SLEEP, 0);
        loop {
            if now >= deadline {
                // Who asks again and again without time to wait has to learn of a death, too.
                return Ok(came() || self.hangs_up());
            }
            let most = deadline.saturating_duration_since(now).min(sleep);
            let waited = doorbell::sleep(
                bell.word(),
                sleepers,
                &came,
                |value| bell.wait_once(value, most),
                || wake(bell),
            );
            match waited {
                None => return Ok(true),
                Some(Ok(Waited::OutOfTime)) => {
                    // A wait by a deadline that is near looks there, too.
                    if most == sleep && self.hangs_up() {
                        return Ok(true);
                    }
                    sleep = SLEEP;
                }
                Some(Ok(Waited::Spurious)) => {}
                Some(Ok(Waited::Woken | Waited::Different)) => rings += 1,
                Some(Err(error)) => return Err(error),
            }
            if came() {
                return Ok(true);
            }
            now = Instant::now();
            if rings > IDLE_RINGS {
                // The deadline is looked at above.
                rest(Some(deadline));
                now = Instant::now();
            }
        }
    }

    /// Tells the peer's waiters that something has moved. No system call if there are none.
    #[inline]
    pub(super) fn ring(&self, bell: SharedFutex<'_>) {
        let waiting = doorbell::ring(bell.word());
        if waiting != 0 {
            self.wake_peer(bell, waiting);
        }
    }

    fn wake_peer(&self, bell: SharedFutex<'_>, waiting: u32) {
        if waiting & SLEEPING != 0 {
            wake(bell);
        }
        if waiting & ARMED != 0 {
            // A queue that is full is readable, as asked; a peer that has gone is met by whoever waits for it.
            let _ = resumed(|| send(&self.socket, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL));
        }
    }

    /// Wakes this side's own waiters, to look at `state`.
    pub(super) fn wake_own(&self) {
        for bell in [self.incoming.data(&self.segment), self.outgoing.room(&self.segment)] {
            if doorbell::ring_own(bell.word()) {
                wake(bell);
            }
        }
    }

    /// Whether the other side's end of the socket is closed, and so itself gone or going. One system call, unless that is
    /// known.
    pub(super) fn hangs_up(&self) -> bool {
        if self.state.load(Acquire) & (SHUT | HUNG) != 0 {
            return true;
        }
        let events = events_by(self.socket.as_fd(), PollFlags::RDHUP, Some(Instant::now()));
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        match events {
            Ok(events) if !events.intersects(gone) => false,
            // There is no memory for the call right now.
            Err(Errno::NOMEM) => false,
            _ => {
                self.state.fetch_or(HUNG, SeqCst);
                true
            }
        }
    }
}

fn wake(bell: SharedFutex<'_>) {
    // It fails for no valid word.
    let _ = bell.wake_all();
}
