//! Whether many callers get more done on one connection or on one each: that is tried.
//!
//! ```text
//! joint, measured ──► alone, measured ──► the better way, for a while ──┐
//!        ▲                                                              │
//!        └── the while over: both are measured again; it doubles ◄──────┘   another outcome: as at the beginning
//! ```
//!
//! Sharing saves system calls. What it costs is that callers wait for each other, and how much that is lies in what nobody knows beforehand: how long a
//! processor takes to wake, what the server does with requests of one connection, what else runs. So the calls begun in a time are counted in both ways.

use std::time::{Duration, Instant};

/// How calls of a crowd travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Way {
    /// On one connection.
    Joint,
    /// Each on its own.
    Alone,
}

impl Way {
    fn other(self) -> Way {
        match self {
            Way::Joint => Way::Alone,
            Way::Alone => Way::Joint,
        }
    }
}

/// How long a way is measured. 20 ms: a few hundred calls at the least, of which one that is held up changes little.
const MEASURED: Duration = Duration::from_millis(20);
/// Calls that are measured at the least.
const LEAST: u32 = 64;
/// What is left aside when the way has changed: connections are opened, and calls end that went the other way.
const UNSETTLED: Duration = Duration::from_millis(5);
/// A time without a call ends what was being measured.
const PAUSE: Duration = Duration::from_millis(5);
/// How long the better way is taken before both are measured again, at first and at the most.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(16);

/// What was found so far.
#[derive(Debug)]
pub(in crate::client) struct Trial {
    way: Way,
    phase: Phase,
    /// When the last call began.
    last: Option<Instant>,
    /// What was found last, and for how long it holds.
    found: Option<Way>,
    holds: Duration,
}

#[derive(Debug)]
enum Phase {
    /// From `begun` on, calls are counted. `before`: calls a second in the other way.
    Measures { begun: Instant, calls: u32, before: Option<f64> },
    /// Nothing is measured until then.
    Holds { until: Instant },
}

impl Trial {
    /// Begins on one connection.
    pub(in crate::client) fn new(now: Instant) -> Trial {
        Trial {
            way: Way::Joint,
            phase: Phase::Measures { begun: now, calls: 0, before: None },
            last: None,
            found: None,
            holds: FIRST,
        }
    }

    /// A call of a crowd begins: its way.
    pub(in crate::client) fn way(&mut self, now: Instant) -> Way {
        let pauses = self.last.replace(now).is_none_or(|last| now.saturating_duration_since(last) > PAUSE);
        match &mut self.phase {
            Phase::Holds { until } if now >= *until => {
                self.phase = Phase::Measures { begun: now, calls: 0, before: None };
            }
            Phase::Holds { .. } => {}
            Phase::Measures { begun, calls, .. } if pauses => (*begun, *calls) = (now, 0),
            Phase::Measures { begun, calls, before } => {
                // Those before `begun` are left aside.
                let time = now.saturating_duration_since(*begun);
                *calls += u32::from(now >= *begun);
                if time >= MEASURED && *calls >= LEAST {
                    let (rate, before) = (f64::from(*calls) / time.as_secs_f64(), *before);
                    self.measured(rate, before, now);
                }
            }
        }
        self.way
    }

    fn measured(&mut self, rate: f64, before: Option<f64>, now: Instant) {
        let Some(before) = before else {
            self.way = self.way.other();
            self.phase = Phase::Measures { begun: now + UNSETTLED, calls: 0, before: Some(rate) };
            return;
        };
        let better = if rate > before { self.way } else { self.way.other() };
        self.holds = match self.found == Some(better) {
            true => (self.holds * 2).min(LONGEST),
            false => FIRST,
        };
        (self.way, self.found) = (better, Some(better));
        self.phase = Phase::Holds { until: now + self.holds };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets calls begin for so long, at the way's rate, and says for how long they went on one connection.
    fn calls(trial: &mut Trial, now: &mut Instant, time: Duration, joint: u64, alone: u64) -> Duration {
        let (end, mut joined) = (*now + time, Duration::ZERO);
        while *now < end {
            let way = trial.way(*now);
            let gap = Duration::from_micros(if way == Way::Joint { joint } else { alone });
            *now += gap;
            joined += if way == Way::Joint { gap } else { Duration::ZERO };
        }
        joined
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_better_way_is_taken_nearly_always() {
        let mut now = Instant::now();
        let mut trial = Trial::new(now);
        let joined = calls(&mut trial, &mut now, MINUTE, 5, 20);
        assert!(joined > MINUTE.mul_f64(0.99), "{joined:?}");
        let mut trial = Trial::new(now);
        let joined = calls(&mut trial, &mut now, MINUTE, 20, 5);
        assert!(joined < MINUTE.mul_f64(0.01), "{joined:?}");
        assert!(!joined.is_zero());
    }

    #[test]
    fn what_changes_is_noticed() {
        let mut now = Instant::now();
        let mut trial = Trial::new(now);
        calls(&mut trial, &mut now, MINUTE, 5, 20);
        // It may have been found a moment ago.
        calls(&mut trial, &mut now, LONGEST + Duration::from_secs(1), 50, 20);
        let joined = calls(&mut trial, &mut now, Duration::from_secs(1), 50, 20);
        assert!(joined < Duration::from_millis(200), "{joined:?}");
    }

    #[test]
    fn slow_calls_are_counted_until_they_are_enough_and_pauses_are_not_measured() {
        let mut now = Instant::now();
        let mut trial = Trial::new(now);
        // A gap of 4 ms is none.
        calls(&mut trial, &mut now, Duration::from_millis(240), 4_000, 1_000);
        assert_eq!(trial.way, Way::Joint, "60 calls are too few");
        calls(&mut trial, &mut now, Duration::from_millis(400), 4_000, 1_000);
        assert_eq!((trial.way, trial.found), (Way::Alone, Some(Way::Alone)));
        let mut trial = Trial::new(now);
        for _ in 0..100 {
            calls(&mut trial, &mut now, Duration::from_millis(15), 10, 10);
            now += Duration::from_millis(100);
        }
        assert_eq!(trial.found, None);
    }
}
