//! Looking again before sleeping: what it saves is the system calls of both sides and the way through the scheduler, what
//! it costs is a processor that others might have used.
//!
//! There are two ways to look again. Where the other side has a processor of its own: at once, again and again
//! (spinning). Where both share one: after giving it away once (sched_yield(2)), which costs one system call a turn where
//! sleeping and being woken costs two, and one that sets a timer.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::{allowed_cores, counts};

/// How one end of a channel looks for a change before it sleeps. Where the thread that sets the channel up may run on one
/// processor only, it never spins, whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spinning(How);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum How {
    None,
    Bounded(Duration),
    #[default]
    Adaptive,
}

impl Spinning {
    /// Sleeps at once.
    pub const fn none() -> Self {
        Self(How::None)
    }

    /// Spins so long in each wait, at the most (and never beyond the wait's deadline).
    pub const fn bounded(longest: Duration) -> Self {
        Self(How::Bounded(longest))
    }

    /// Learns what pays. It tries both ways, giving the processor away and spinning for at most 20 µs, and stays with one
    /// that the other side's answer comes in. Where neither brings it, twice in a row, it sleeps at once, and tries again
    /// after a number of waits that grows each time, to some thousand.
    pub const fn adaptive() -> Self {
        Self(How::Adaptive)
    }
}

/// The longest that adaptive spinning takes, some five times what sleeping and being woken costs: what is not there by
/// then will probably not be there soon.
const LONGEST: Duration = Duration::from_micros(20);
/// Misses in a row before it ends.
const MISSES: u32 = 2;
/// Waits before the first trial, and hits in a row after which the pauses begin anew with this.
const PAUSE: u32 = 8;
/// Waits from one trial to the next, at the most: then two misses of 20 µs are one hundredth of as many waits of one
/// microsecond.
const LONGEST_PAUSE: u32 = 4096;
/// Turns given away in one wait: the first may go to a third party.
const TURNS: u32 = 2;
/// A turn that took longer went to somebody who works, for whom this thread should have been asleep: then the other
/// side's wake-up would have taken the processor back.
const LONGEST_TURN: Duration = Duration::from_micros(100);
/// From one look at the clock to the next.
const ROUNDS: u32 = 32;

/// The two ways.
const GIVES_AWAY: u32 = 0;
const SPINS: u32 = 1;

/// What one direction has learned. Several threads may use it at once: what they lose of each other's notes does no harm.
#[derive(Debug)]
pub(super) struct Spinner {
    how: How,
    /// There is but one processor.
    alone: bool,
    /// Which way it looks: 0 gives turns away, 1 spins.
    way: AtomicU32,
    /// Waits left of the pause; 0: it looks.
    left: AtomicU32,
    /// The next pause.
    pause: AtomicU32,
    hits: AtomicU32,
    misses: AtomicU32,
}

impl Spinner {
    pub(super) fn new(spinning: Spinning) -> Self {
        let alone = allowed_cores().is_ok_and(|cores| cores.len() == 1);
        let number = AtomicU32::new;
        let (left, pause, hits, misses) = (number(PAUSE), number(PAUSE), number(0), number(0));
        Self { how: spinning.0, alone, way: number(GIVES_AWAY), left, pause, hits, misses }
    }

    /// Looks again and again; true when `came` says so, false when it is time to sleep.
    #[inline]
    pub(super) fn spin(&self, came: impl Fn() -> bool, deadline: Instant) -> bool {
        match self.how {
            How::None => false,
            How::Bounded(_) if self.alone => false,
            How::Bounded(longest) => spin(longest, came, deadline),
            How::Adaptive => {
                let left = self.left.load(Relaxed);
                if left > 0 {
                    self.left.store(left - 1, Relaxed);
                    return false;
                }
                let came = match self.way.load(Relaxed) {
                    GIVES_AWAY => give_away(came),
                    _ => spin(LONGEST, came, deadline),
                };
                if came {
                    self.hit()
                } else {
                    self.missed()
                }
                came
            }
        }
    }

    #[inline]
    fn hit(&self) {
        self.misses.store(0, Relaxed);
        let hits = self.hits.load(Relaxed) + 1;
        self.hits.store(hits % PAUSE, Relaxed);
        if hits == PAUSE {
            self.pause.store(PAUSE, Relaxed);
        }
    }

    #[cold]
    fn missed(&self) {
        self.hits.store(0, Relaxed);
        let misses = self.misses.load(Relaxed) + 1;
        self.misses.store(misses % MISSES, Relaxed);
        if misses < MISSES {
            return;
        }
        if self.way.load(Relaxed) == GIVES_AWAY && !self.alone {
            self.way.store(SPINS, Relaxed);
        } else {
            self.way.store(GIVES_AWAY, Relaxed);
            let pause = LONGEST_PAUSE.min(self.pause.load(Relaxed) * 4);
            self.pause.store(pause, Relaxed);
            self.left.store(pause, Relaxed);
        }
    }
}

/// Whether it came while somebody else had the processor, and not for long.
fn give_away(came: impl Fn() -> bool) -> bool {
    let mut begun = Instant::now();
    for _ in 0..TURNS {
        counts::enter();
        thread::yield_now();
        let (now, came) = (Instant::now(), came());
        if now - begun > LONGEST_TURN {
            return false;
        }
        if came {
            return true;
        }
        begun = now;
    }
    false
}

#[inline]
fn spin(longest: Duration, came: impl Fn() -> bool, deadline: Instant) -> bool {
    if longest.is_zero() {
        return false;
    }
    let rounds = || {
        (0..ROUNDS).any(|_| {
            hint::spin_loop();
            came()
        })
    };
    // What is there soon needs no clock.
    if rounds() {
        return true;
    }
    let begun = Instant::now();
    let until = begun.checked_add(longest).map_or(deadline, |end| end.min(deadline));
    while Instant::now() < until {
        if rounds() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn adaptive() -> Spinner {
        Spinner { alone: false, ..Spinner::new(Spinning::adaptive()) }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    /// Whether it looks at all.
    fn spins(spinner: &Spinner, comes: bool) -> bool {
        let looks = Cell::new(0);
        spinner.spin(
            || {
                looks.set(looks.get() + 1);
                comes
            },
            soon(),
        );
        looks.get() > 0
    }

    #[test]
    fn what_pays_goes_on() {
        let spinner = adaptive();
        for _ in 0..PAUSE {
            assert!(!spins(&spinner, true));
        }
        spinner.way.store(SPINS, Relaxed);
        for _ in 0..1000 {
            assert!(spins(&spinner, true));
        }
        assert!(spins(&spinner, false) && spins(&spinner, true) && spins(&spinner, true), "one miss is none");
        assert_eq!(spinner.way.load(Relaxed), SPINS);
    }

    #[test]
    fn what_does_not_pay_is_tried_ever_more_rarely() {
        let spinner = adaptive();
        let waits = || (0..).find(|_| spins(&spinner, false)).unwrap();
        let mut pause = PAUSE;
        for _ in 0..7 {
            assert_eq!(waits(), pause);
            assert!(spins(&spinner, false), "two in a row");
            assert_eq!(spinner.way.load(Relaxed), SPINS, "the other way");
            assert!(spins(&spinner, false) && spins(&spinner, false));
            assert_eq!(spinner.way.load(Relaxed), GIVES_AWAY);
            pause = LONGEST_PAUSE.min(pause * 4);
        }
        assert_eq!(waits(), LONGEST_PAUSE);
        spinner.way.store(SPINS, Relaxed);
        for _ in 0..PAUSE {
            assert!(spins(&spinner, true), "it pays");
        }
        assert!(spins(&spinner, false) && spins(&spinner, false));
        assert_eq!(waits(), 4 * PAUSE, "what was long ago is forgotten");
    }

    #[test]
    fn alone_it_only_gives_away() {
        let spinner = Spinner { alone: true, ..adaptive() };
        for _ in 0..1000 {
            spins(&spinner, false);
            assert_eq!(spinner.way.load(Relaxed), GIVES_AWAY);
        }
        let bounded = Spinner { how: How::Bounded(Duration::from_secs(1)), alone: true, ..adaptive() };
        assert!(!spins(&bounded, true));
    }

    #[test]
    fn none_is_none_and_a_bound_is_one() {
        assert!(!spins(&Spinner::new(Spinning::none()), true));
        let bounded = Spinner { how: How::Bounded(Duration::ZERO), ..adaptive() };
        assert!(!spins(&bounded, true));
        let bounded = Spinner { how: How::Bounded(Duration::from_millis(5)), ..adaptive() };
        assert!(spins(&bounded, false), "and it comes back");
        let endless = Spinner { how: How::Bounded(Duration::MAX), ..adaptive() };
        assert!(
            !endless.spin(|| false, Instant::now() + Duration::from_millis(1)),
            "not beyond the deadline"
        );
    }
}
