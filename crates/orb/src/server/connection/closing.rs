//! The end of a connection: in order, by a deadline, or at once.

use std::cell::Cell;
use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::both_ways::broken;
use super::{CLOSING, Connection, DRAINING, ENDED, Farewell, OPEN, UNKNOWN};
use crate::client::end::End;
use crate::transport::{Armed, Received, Wanted};

/// Octets thrown away at a time from a connection that is being closed.
const DRAIN: usize = 4096;

/// How long a thread throws away what peers go on sending before it looks after others. 20 ms: the largest message by memory takes less.
const DRAINS_IN_A_ROW: Duration = Duration::from_millis(20);

thread_local! {
    /// Until when the keeper may, however many connections drain; each is drained once at the least.
    static DRAINS_UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The keeper has waited, and now looks after all connections.
pub(in crate::server) fn begin_round() {
    DRAINS_UNTIL.set(Some(Instant::now() + DRAINS_IN_A_ROW));
}

/// A connection that has been parked for so long gives its receive buffer back, and its transport what that can do without. A second: allocating it costs as much as
/// a call, so that only connections that are really idle do.
const RELEASE: Duration = Duration::from_secs(1);

impl Connection {
    /// Begins to close it, in order. For the thread that has the turn, which nobody gets any more.
    pub(in crate::server) fn close(self: &Arc<Self>, farewell: Farewell, reason: &str) {
        self.watch().farewell = farewell;
        if self.stage.compare_exchange(OPEN, CLOSING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return;
        }
        tracing::debug!(peer = %self.peer(), reason, "connection closing");
        if self.is_both_ways() {
            self.end_calls(if farewell == Farewell::Silence {
                broken(ErrorKind::UnexpectedEof)
            } else {
                End::Closed
            });
        }
        if farewell == Farewell::Silence {
            self.cancelled.cancel_all();
        }
        if self.flight.is_empty() {
            self.say_farewell();
        }
    }

    /// All requests are answered: says the last word.
    #[cold]
    pub(super) fn say_farewell(self: &Arc<Self>) {
        // Before the stage says so: whoever sees a connection that drains must see since when, or ends it at once.
        self.times.draining.store(self.engine.now(), Ordering::Release);
        if self.stage.compare_exchange(CLOSING, DRAINING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return;
        }
        self.release_replies();
        let farewell = self.watch().farewell;
        let version = self.version();
        let octets = match farewell {
            Farewell::Close => self.messaging().close_connection(version),
            Farewell::Error(version) => self.messaging().message_error(version),
            Farewell::Silence => return self.end("closed by the client"),
        };
        self.send_parts(&mut [IoSlice::new(&octets)], octets.len());
        if !self.writing.is_blocked() {
            self.channel.shutdown_send();
        }
        match self.engine.has_keeper() {
            true => self.arm(self.watch()),
            false => self.end("closed in order"),
        }
    }

    /// Throws away what arrives after the last word. Bounded: the set reports again if there is more.
    pub(super) fn drain(&self) {
        match self.channel.receive_now(&mut [0; DRAIN]) {
            Ok(Received::Octets(_) | Received::Empty) => {}
            Ok(Received::Closed) => self.end("closed in order"),
            Err(_) => self.end("closed in order, then reset by the peer"),
        }
    }

    /// The same of what no descriptor tells of. False: the descriptor has nothing to tell of yet, since the connection has ended, or its peer
    /// goes on sending; the next look at the clock goes on.
    pub(super) fn drain_what_is_there(&self) -> bool {
        let enough = DRAINS_UNTIL.get().unwrap_or_else(|| Instant::now() + DRAINS_IN_A_ROW);
        loop {
            self.drain();
            if self.stage() == ENDED {
                return false;
            }
            if self.channel.arm(Wanted::Input) != Armed::Ready {
                return true;
            }
            if Instant::now() >= enough {
                return false;
            }
        }
    }

    /// Ends it at once.
    pub(in crate::server) fn end(&self, reason: &str) {
        if self.stage.swap(ENDED, Ordering::SeqCst) == ENDED {
            return;
        }
        tracing::debug!(peer = %self.peer(), reason, "connection closed");
        self.writing.end();
        self.engine.disarm(self.channel.descriptor());
        self.channel.close();
        self.engine.forget(self.token);
        self.cancelled.cancel_all();
        if self.is_both_ways() {
            self.end_calls(broken(ErrorKind::ConnectionAborted));
        }
    }

    /// The keeper's look at the clock: ends what is overdue.
    pub(in crate::server) fn check_times(self: &Arc<Self>, now: u64) {
        let limits = &self.engine.settings.limits;
        let passed = |since: u64, limit: Duration| u128::from(now.saturating_sub(since)) > limit.as_millis();
        let since = || self.times.draining.load(Ordering::Acquire);
        if self.stage() == DRAINING && passed(since(), self.engine.drain_time()) {
            return self.end("the peer did not close its end in time");
        }
        if u128::from(self.writing.stalled_for(now)) > limits.send_time.as_millis() {
            tracing::warn!(peer = %self.peer(), "closed: it does not read its replies");
            return self.end("the peer does not read its replies");
        }
        if self.stage() == DRAINING {
            // Of what was left lying no descriptor may tell.
            return self.arm(self.watch());
        }
        let parked = self.times.parked.load(Ordering::Relaxed);
        // A message that a thread is receiving stays where it is, however long that takes.
        if passed(parked, RELEASE)
            && self.watch().free
            && let Some(mut reading) = self.reading.try_lock()
        {
            // Whoever reads holds the lock, so it was not read just now; if it is next, it allocates again.
            reading.inbound.release_memory();
            drop(reading);
            self.channel.rest();
        }
        let message = self.times.message.load(Ordering::Relaxed);
        if message > 0 && self.is_open() {
            let octets = self.times.octets.load(Ordering::Relaxed);
            if passed(message - 1, limits.message_time(octets)) {
                tracing::warn!(peer = %self.peer(), octets, "closed: it does not complete a message");
                self.end("a message was not completed in time");
            }
        } else if passed(parked, limits.idle) && !self.is_both_ways() {
            self.close_if_idle("idle");
        }
    }

    /// Since when it has been idle; `None`: it is not.
    pub(in crate::server) fn idle_since(&self) -> Option<u64> {
        let is_needed = || self.is_opened_here() || self.has_waiting();
        let idle = self.is_open() && self.flight.is_empty() && self.watch().free && !is_needed();
        idle.then(|| self.times.parked.load(Ordering::Relaxed))
    }

    /// Closes it in order if no request is under way and nobody reads it. True: it does.
    pub(in crate::server) fn close_if_idle(self: &Arc<Self>, reason: &str) -> bool {
        let is_needed = || self.is_opened_here() || self.has_waiting();
        let takes = self.flight.is_empty() && self.is_open() && !is_needed() && self.take_turn();
        if takes {
            self.close(Farewell::Close, reason);
        }
        takes
    }

    /// Whether a call or the like has come on it: before that it is not idle, its client has only just opened it.
    pub(in crate::server) fn was_used(&self) -> bool {
        self.minor.load(Ordering::Relaxed) != UNKNOWN
    }

    /// The ORB shuts down: closes it in order, now or when its requests are answered. Who has the turn looks by himself.
    pub(in crate::server) fn close_for_shutdown(self: &Arc<Self>) {
        if !self.must_stay() && self.take_turn() {
            self.close(Farewell::Close, "shutdown");
        }
    }
}
