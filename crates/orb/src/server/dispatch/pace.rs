//! How often the keeper looks at upcalls.
//!
//! ```text
//! looks        │ 1 ms │ 1 ms │  2 ms   │     4 ms      │     4 ms      │ 1 ms │ 1 ms │ … 20 of them │ sleeps
//!              └ all that began have ended: less often ─┘               └ one runs, or none has begun
//! ```
//!
//! Each look wakes a thread, which on a machine of a single processor stops whoever works: 20 µs and more where a hypervisor
//! keeps the clock. Where upcalls are short they are looked at less often, and one that lasts after all is found a little later.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Between two looks where upcalls run, or may: one is found to last after one to two of these. Then a connection costs a wake-up more,
/// which is little beside a millisecond.
const SHORTEST: Duration = Duration::from_millis(1);

/// The same where upcalls are short. One that lasts is found after this and one of the shortest, as it is seen to run then. With longer ones,
/// or without looks, floods were no faster (BENCHMARKING.md, *A look each millisecond*).
const LONGEST: Duration = Duration::from_millis(4);

/// Looks that find no upcall before the keeper sleeps again: a connection with a call every few milliseconds does not have
/// to wake it each time.
const QUIET_LOOKS: u32 = 20;

/// When the next look is, and how many there are before the keeper sleeps.
pub(super) struct Pace {
    at: Cell<Instant>,
    interval: Cell<Duration>,
    left: Cell<u32>,
}

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// So many upcalls have begun since the last look, or rows of upcalls, and none of them has its turn now.
    Ended(u64),
    /// An upcall runs, or requests wait.
    Running,
}

impl Pace {
    /// It sleeps, and looks at once when it wakes.
    pub(super) fn new(now: Instant) -> Pace {
        Pace { at: Cell::new(now), interval: Cell::new(SHORTEST), left: Cell::new(0) }
    }

    /// When it looks next; `None`: it sleeps.
    pub(super) fn next(&self) -> Option<Instant> {
        (self.left.get() > 0).then(|| self.at.get())
    }

    /// There is something to look at.
    pub(super) fn resume(&self) {
        self.left.set(QUIET_LOOKS);
    }

    /// It has looked.
    pub(super) fn looked(&self, now: Instant, found: Found) {
        // Often: one each millisecond.
        let interval = match found {
            Found::Ended(upcalls) if u128::from(upcalls) >= self.interval.get().as_millis() => {
                (self.interval.get() * 2).min(LONGEST)
            }
            _ => SHORTEST,
        };
        self.interval.set(interval);
        self.at.set(now + interval);
        match found {
            Found::Nothing => self.left.set(self.left.get().saturating_sub(1)),
            Found::Ended(_) | Found::Running => self.resume(),
        }
    }
}

impl Found {
    /// What is found in two places.
    pub(super) fn and(self, other: Found) -> Found {
        match (self, other) {
            (Found::Running, _) | (_, Found::Running) => Found::Running,
            (Found::Nothing, found) | (found, Found::Nothing) => found,
            (Found::Ended(some), Found::Ended(others)) => Found::Ended(some.saturating_add(others)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds until each next look.
    fn intervals(pace: &Pace, found: &[Found]) -> Vec<u128> {
        let now = Instant::now();
        let until = |&found| {
            pace.looked(now, found);
            pace.next().map_or(0, |at| (at - now).as_millis())
        };
        found.iter().map(until).collect()
    }

    #[test]
    fn upcalls_that_end_soon_are_looked_at_less_often() {
        let pace = Pace::new(Instant::now());
        assert_eq!(intervals(&pace, &[Found::Ended(1); 2]), [2, 1], "one in two milliseconds is not often");
        assert_eq!(intervals(&pace, &[Found::Ended(4); 4]), [2, 4, 4, 4]);
        assert_eq!(intervals(&pace, &[Found::Ended(3)]), [1]);
        assert_eq!(intervals(&pace, &[Found::Ended(100), Found::Ended(100), Found::Running]), [2, 4, 1]);
        assert_eq!(intervals(&pace, &[Found::Ended(100), Found::Nothing, Found::Nothing]), [2, 1, 1]);
    }

    #[test]
    fn the_keeper_sleeps_when_there_has_been_nothing_for_a_while() {
        let pace = Pace::new(Instant::now());
        assert_eq!(pace.next(), None);
        pace.resume();
        assert!(pace.next().is_some());
        for found in [Found::Running, Found::Ended(1)] {
            intervals(&pace, &[Found::Nothing; 10]);
            intervals(&pace, &[found]);
            let until = intervals(&pace, &[Found::Nothing; QUIET_LOOKS as usize]);
            assert!(until.iter().rev().skip(1).all(|&until| until == 1), "{until:?}");
            assert_eq!(pace.next(), None);
        }
    }

    #[test]
    fn one_connection_whose_upcall_runs_is_enough() {
        let all = |found: &[Found]| found.iter().copied().fold(Found::Nothing, Found::and);
        assert_eq!(all(&[Found::Nothing, Found::Nothing]), Found::Nothing);
        assert_eq!(all(&[Found::Ended(2), Found::Nothing, Found::Ended(3)]), Found::Ended(5));
        assert_eq!(all(&[Found::Ended(2), Found::Running, Found::Ended(3)]), Found::Running);
    }
}
