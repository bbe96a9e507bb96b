//! Counts of what was dropped, and their report.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_giop::Refused;

use super::super::Endpoint;

/// From one report to the next, however much is dropped.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// What a transport's acceptors have dropped so far, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Datagrams beyond the rate; nobody looked at them.
    pub rate: u64,
    /// Datagrams that are no packet, and messages that are no whole oneway request.
    pub malformed: u64,
    /// Messages for groups that no object here is in.
    pub not_here: u64,
    /// Messages of senders beyond the limit, all others being busy.
    pub senders: u64,
    /// Messages of a sender of whom too much waits already.
    pub queue: u64,
    /// Messages that were given up incomplete: packets were lost, contradict each other, or go beyond a limit.
    pub incomplete: u64,
    /// [Frames](crate::frames) that came later than the rules allow, or behind later ones.
    pub late: u64,
    /// Frames, or parts of them, that had come before.
    pub duplicates: u64,
}

impl Dropped {
    /// All of them.
    pub fn total(&self) -> u64 {
        let frames = self.late + self.duplicates;
        self.rate + self.malformed + self.not_here + self.senders + self.queue + self.incomplete + frames
    }
}

/// The same, being counted.
#[derive(Default)]
pub(in crate::transport) struct Counts {
    pub(in crate::transport) rate: AtomicU64,
    pub(in crate::transport) malformed: AtomicU64,
    pub(in crate::transport) not_here: AtomicU64,
    pub(in crate::transport) senders: AtomicU64,
    pub(in crate::transport) queue: AtomicU64,
    pub(in crate::transport) incomplete: AtomicU64,
    pub(in crate::transport) late: AtomicU64,
    pub(in crate::transport) duplicates: AtomicU64,
    reported: Mutex<Option<(Instant, Dropped)>>,
}

impl Counts {
    pub(in crate::transport) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Of a frame.
    pub(in crate::transport) fn refused(&self, why: Refused) {
        Self::add(match why {
            Refused::Late => &self.late,
            Refused::Duplicate => &self.duplicates,
            Refused::Full => &self.queue,
            _ => &self.malformed,
        });
    }

    pub(in crate::transport) fn so_far(&self) -> Dropped {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Dropped {
            rate: now(&self.rate),
            malformed: now(&self.malformed),
            not_here: now(&self.not_here),
            senders: now(&self.senders),
            queue: now(&self.queue),
            incomplete: now(&self.incomplete),
            late: now(&self.late),
            duplicates: now(&self.duplicates),
        }
    }

    /// Says what was dropped since the last report, if anything was and that is long enough ago.
    pub(in crate::transport) fn report(&self, at: &Endpoint, now: Instant) {
        let dropped = self.so_far();
        if dropped.total() == 0 {
            return;
        }
        let mut reported = self.reported.lock();
        let (due, before) = match *reported {
            Some((last, before)) => (now.saturating_duration_since(last) >= REPORT_EVERY, before),
            None => (true, Dropped::default()),
        };
        if !due || dropped == before {
            return;
        }
        *reported = Some((now, dropped));
        drop(reported);
        let more = dropped.total() - before.total();
        tracing::warn!(%at, more, so_far = ?dropped, "datagrams were dropped");
    }
}
