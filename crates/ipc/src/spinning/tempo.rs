//! Whether looking again pays on a channel whose looks are system calls: by how fast the exchange goes, asleep and so.
//!
//! ```text
//!  asleep            │ looking: 32 waits │ eight times every fourth … │ eight times every fourth …
//!  … the last eight  │                   │                            │
//!  time from one end │ the other side    │ faster?                    │ faster?
//!  of a wait to next │ may join in       │                            │
//! ```
//!
//! What one side gains the other may lose. Where both share a processor and one of them looks, which way ever, the exchange is slower by a
//! sixth or more than if both sleep, though the one that looks sees its waits grow shorter. If both give the processor away they are faster,
//! over a Unix socket by a fifth. So what is compared is the time from the end of one wait to the end of the next, which both sides share;
//! and as both count the same waits, their trials come at the same time. Times in which a program pauses are left out, and what was seen
//! asleep is not believed for ever: the first calls of a connection are slower than later ones. So it is looked at again after 256
//! waits, and then after four times as many each time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Waits in which the other side may join in. 32: both count the same waits, but for some that were long for one of them.
const JOINING: u32 = 32;
/// Of so many waits one is timed, between two ends: the clock's share is then a tenth of a percent.
const OF: u32 = 4;
/// Times that are judged together, so that an interruption in one of them does not decide.
const TIMES: u32 = 8;
/// Of the time asleep, what has to be saved: a thirty-second. Less is noise.
const SAVED: u64 = 32;
/// Judgements before it is looked at again how fast it goes asleep, at first and at the most.
const FIRST_DOUBT: u32 = 8;
const LONGEST_DOUBT: u32 = 2048;
/// What took longer was a pause. Nanoseconds.
const LONGEST: u64 = 200_000;

/// How fast one direction goes. Several threads may use it at once: what they lose of each other's notes does no harm.
#[derive(Debug)]
pub(super) struct Tempo {
    /// Times count from here.
    born: Instant,
    /// When the last wait ended whose end was looked at; 0: it was not the last one. Nanoseconds.
    since: AtomicU64,
    /// From one end to the next while it sleeps; 0: not known. Nanoseconds.
    asleep: AtomicU64,
    /// Waits that looked, since it slept last.
    waits: AtomicU32,
    /// Times that are to be judged, and their sum in nanoseconds.
    times: AtomicU32,
    sum: AtomicU64,
    /// Judgements until it is looked at again how fast it goes asleep, and how many there were the last time.
    sure_for: AtomicU32,
    was_sure_for: AtomicU32,
}

/// What the times say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Than asleep, by far enough.
    Faster,
    /// No faster.
    Slower,
    /// It would be faster if what was seen asleep still holds: that is to be looked at again.
    InDoubt,
}

impl Tempo {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            since: AtomicU64::new(0),
            asleep: AtomicU64::new(0),
            waits: AtomicU32::new(0),
            times: AtomicU32::new(0),
            sum: AtomicU64::new(0),
            sure_for: AtomicU32::new(FIRST_DOUBT),
            was_sure_for: AtomicU32::new(FIRST_DOUBT),
        }
    }

    /// A wait that slept has ended now, if somebody looked at the clock.
    pub(super) fn slept(&self, now: Option<Instant>) {
        self.begins();
        let Some(took) = self.since_last(now) else { return };
        let asleep = match self.asleep.load(Relaxed) {
            0 => took,
            asleep => asleep - asleep / 4 + bounded(took, asleep) / 4,
        };
        self.asleep.store(asleep, Relaxed);
    }

    /// It sleeps to see how fast that goes.
    pub(super) fn doubts(&self) {
        self.asleep.store(0, Relaxed);
    }

    /// Another way is tried: the other side may join in.
    pub(super) fn begins(&self) {
        self.waits.store(0, Relaxed);
        self.times.store(0, Relaxed);
        self.sum.store(0, Relaxed);
    }

    /// Whether the clock may be read for the wait that begins: it is one of the first, or is timed anyway.
    #[inline]
    pub(super) fn looks_at_clock(&self) -> bool {
        let waits = self.waits.load(Relaxed);
        waits < JOINING || waits % OF == OF - 1
    }

    /// A wait that looked has ended. Now and then the clock is read, and after eight such times they are judged.
    #[inline]
    pub(super) fn looked(&self, now: impl FnOnce() -> Instant) -> Option<Verdict> {
        let waits = self.waits.load(Relaxed);
        // So that it never comes round to the beginning.
        self.waits.store(if waits < u32::MAX { waits + 1 } else { JOINING }, Relaxed);
        if waits % OF < OF - 2 || waits < JOINING { None } else { self.time(waits, now()) }
    }

    fn time(&self, waits: u32, now: Instant) -> Option<Verdict> {
        if waits % OF == OF - 2 {
            self.since.store(self.nanoseconds(now), Relaxed);
            return None;
        }
        let asleep = self.asleep.load(Relaxed);
        let took = bounded(self.since_last(Some(now))?, asleep);
        let (times, sum) = (self.times.load(Relaxed) + 1, self.sum.load(Relaxed) + took);
        let complete = times >= TIMES;
        self.times.store(if complete { 0 } else { times }, Relaxed);
        self.sum.store(if complete { 0 } else { sum }, Relaxed);
        complete.then(|| self.judge(sum / u64::from(times), asleep))
    }

    fn judge(&self, time: u64, asleep: u64) -> Verdict {
        let sure_for = self.sure_for.load(Relaxed);
        if time >= asleep - asleep / SAVED {
            return Verdict::Slower;
        }
        if sure_for > 1 {
            self.sure_for.store(sure_for - 1, Relaxed);
            return Verdict::Faster;
        }
        let sure_for = LONGEST_DOUBT.min(self.was_sure_for.load(Relaxed) * 4);
        self.was_sure_for.store(sure_for, Relaxed);
        self.sure_for.store(sure_for, Relaxed);
        Verdict::InDoubt
    }

    /// How long after the last end, if that is known and there was no pause.
    fn since_last(&self, now: Option<Instant>) -> Option<u64> {
        let now = now.map_or(0, |now| self.nanoseconds(now));
        let since = self.since.load(Relaxed);
        self.since.store(now, Relaxed);
        let took = now.saturating_sub(since);
        (since > 0 && now > 0 && took <= LONGEST).then_some(took)
    }

    fn nanoseconds(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.born).as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A time as it counts: interruptions are not to decide.
fn bounded(took: u64, asleep: u64) -> u64 {
    took.min(asleep + asleep / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A clock that only goes as it is told.
    struct Clock {
        now: Instant,
        reads: u32,
    }

    impl Clock {
        fn new() -> Self {
            Self { now: Instant::now() + Duration::from_secs(1), reads: 0 }
        }

        fn after(&mut self, nanoseconds: u64) -> Instant {
            self.now += Duration::from_nanos(nanoseconds);
            self.now
        }
    }

    /// Eight waits of so long asleep.
    fn asleep(tempo: &Tempo, clock: &mut Clock, each: u64) {
        for _ in 0..8 {
            tempo.slept(Some(clock.after(each)));
        }
    }

    /// Waits of so long that look, until something is said of them, and how many.
    fn looks(tempo: &Tempo, clock: &mut Clock, each: impl Fn(u32) -> u64) -> (Option<Verdict>, u32) {
        for wait in 0..1_000 {
            let now = clock.after(each(wait));
            let said = tempo.looked(|| {
                clock.reads += 1;
                now
            });
            if said.is_some() {
                return (said, wait + 1);
            }
        }
        (None, 1_000)
    }

    #[test]
    fn it_pays_if_the_exchange_is_faster_once_the_other_side_has_joined_in() {
        let (tempo, mut clock) = (Tempo::new(), Clock::new());
        asleep(&tempo, &mut clock, 10_000);
        let joins_in = |wait| if wait < JOINING { 11_600 } else { 8_000 };
        let first = (Some(Verdict::Faster), JOINING + OF * TIMES);
        assert_eq!(looks(&tempo, &mut clock, joins_in), first);
        assert_eq!(clock.reads, 2 * TIMES);
        let verdicts = [(9_600, Verdict::Faster), (9_800, Verdict::Slower), (11_600, Verdict::Slower)];
        for (each, verdict) in verdicts {
            assert_eq!(looks(&tempo, &mut clock, |_| each), (Some(verdict), OF * TIMES), "{each}");
        }
        asleep(&tempo, &mut clock, 10_000);
        assert_eq!(looks(&tempo, &mut clock, joins_in), first, "each trial so");
    }

    #[test]
    fn one_interruption_does_not_decide() {
        let (tempo, mut clock) = (Tempo::new(), Clock::new());
        asleep(&tempo, &mut clock, 10_000);
        tempo.slept(Some(clock.after(150_000)));
        asleep(&tempo, &mut clock, 10_000);
        assert!(tempo.asleep.load(Relaxed) < 10_100);
        let interrupted = |wait| if wait == JOINING + OF - 1 { 150_000 } else { 9_000 };
        assert_eq!(looks(&tempo, &mut clock, interrupted).0, Some(Verdict::Faster));
    }

    #[test]
    fn pauses_are_left_out() {
        let (tempo, mut clock) = (Tempo::new(), Clock::new());
        asleep(&tempo, &mut clock, 10_000);
        tempo.slept(Some(clock.after(1_000_000_000)));
        tempo.slept(None);
        clock.after(100_000);
        tempo.slept(Some(clock.after(100_000)));
        assert_eq!(tempo.asleep.load(Relaxed), 10_000);
        // Bursts of eleven calls.
        let bursts = |wait| if wait % 11 == 0 { 5_000_000 } else { 8_000 };
        let (said, waits) = looks(&tempo, &mut clock, bursts);
        assert_eq!(said, Some(Verdict::Faster));
        assert!(waits < 2 * (JOINING + OF * TIMES), "{waits}");
    }

    #[test]
    fn what_was_never_seen_asleep_is_not_beaten() {
        let (tempo, mut clock) = (Tempo::new(), Clock::new());
        assert_eq!(looks(&tempo, &mut clock, |_| 1).0, Some(Verdict::Slower));
    }

    #[test]
    fn what_was_seen_asleep_is_doubted_ever_more_rarely() {
        let (tempo, mut clock) = (Tempo::new(), Clock::new());
        asleep(&tempo, &mut clock, 25_000);
        for sure_for in [FIRST_DOUBT, 32, 128, 512, LONGEST_DOUBT, LONGEST_DOUBT] {
            for _ in 1..sure_for {
                assert_eq!(looks(&tempo, &mut clock, |_| 15_000).0, Some(Verdict::Faster));
            }
            assert_eq!(looks(&tempo, &mut clock, |_| 15_000).0, Some(Verdict::InDoubt));
        }
        tempo.doubts();
        asleep(&tempo, &mut clock, 14_000);
        assert_eq!(looks(&tempo, &mut clock, |_| 15_000).0, Some(Verdict::Slower));
    }
}
