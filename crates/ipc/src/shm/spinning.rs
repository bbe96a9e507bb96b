//! Looking again and again before sleeping: what it saves is the system calls of both sides and the way through the
//! scheduler, what it costs is a processor that others might have used.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::allowed_cores;

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

    /// Spins for at most 20 µs, and only while that pays: it begins when eight waits in a row were shorter than that, ends
    /// when two in a row were not, and then begins again only after a pause that grows each time. So two threads on one
    /// processor, who only keep each other from working by spinning, hardly ever do.
    pub const fn adaptive() -> Self {
        Self(How::Adaptive)
    }
}

/// The longest that adaptive spinning takes, some five times what sleeping and being woken costs: what is not there by
/// then will probably not be there soon.
const LONGEST: Duration = Duration::from_micros(20);
/// Short waits in a row before it begins.
const ENOUGH: u32 = 8;
/// Misses in a row before it ends.
const MISSES: u32 = 2;
/// Waits from one attempt to the next, at first and at the most. At the most, two misses of 20 µs are one hundredth of
/// as many waits of one microsecond.
const PAUSE: u32 = 32;
const LONGEST_PAUSE: u32 = 4096;
/// From one look at the clock to the next.
const ROUNDS: u32 = 32;

/// What one direction has learned. Several threads may use it at once: what they lose of each other's notes does no harm.
#[derive(Debug)]
pub(super) struct Spinner {
    how: How,
    on: AtomicU32,
    /// Short waits in a row while off; misses in a row while on.
    count: AtomicU32,
    pause: AtomicU32,
    /// Waits left of the pause.
    left: AtomicU32,
}

impl Spinner {
    pub(super) fn new(spinning: Spinning) -> Self {
        let alone = allowed_cores().is_ok_and(|cores| cores.len() == 1);
        let how = if alone { How::None } else { spinning.0 };
        let zero = || AtomicU32::new(0);
        Self { how, on: zero(), count: zero(), pause: AtomicU32::new(PAUSE), left: zero() }
    }

    /// Looks again and again; true when `came` says so, false when it is time to sleep.
    #[inline]
    pub(super) fn spin(&self, came: impl Fn() -> bool, deadline: Instant) -> bool {
        match self.how {
            How::None => false,
            How::Bounded(longest) => spin(longest, came, deadline),
            How::Adaptive if self.on.load(Relaxed) == 0 => false,
            How::Adaptive => {
                let came = spin(LONGEST, came, deadline);
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
        if self.count.load(Relaxed) != 0 {
            self.count.store(0, Relaxed);
        }
    }

    #[cold]
    fn missed(&self) {
        let missed = self.count.load(Relaxed) + 1;
        self.count.store(missed % MISSES, Relaxed);
        if missed >= MISSES {
            self.on.store(0, Relaxed);
            let pause = self.pause.load(Relaxed);
            self.left.store(pause, Relaxed);
            self.pause.store(LONGEST_PAUSE.min(pause * 4), Relaxed);
        }
    }

    /// Takes note of a wait in which the thread slept so long.
    pub(super) fn slept(&self, time: Duration) {
        if self.how != How::Adaptive || self.on.load(Relaxed) != 0 {
            return;
        }
        let left = self.left.load(Relaxed);
        if left > 0 {
            self.left.store(left - 1, Relaxed);
            return;
        }
        let count = if time < LONGEST { self.count.load(Relaxed) + 1 } else { 0 };
        self.count.store(count % ENOUGH, Relaxed);
        if count >= ENOUGH {
            self.on.store(1, Relaxed);
        }
    }
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
        let spinner = Spinner::new(Spinning::none());
        Spinner { how: How::Adaptive, ..spinner }
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
    fn short_waits_begin_it_and_long_ones_do_not() {
        let spinner = adaptive();
        for wait in [1, 1, 1, 1, 1, 1, 1, 50, 1, 1, 1, 1, 1, 1, 1] {
            spinner.slept(Duration::from_micros(wait));
            assert!(!spins(&spinner, true));
        }
        spinner.slept(Duration::from_micros(1));
        assert!(spins(&spinner, true), "eight in a row");
    }

    #[test]
    fn what_does_not_pay_ends_and_is_tried_ever_more_rarely() {
        let spinner = adaptive();
        let until_on = || {
            let mut waits = 0;
            while spinner.on.load(Relaxed) == 0 {
                spinner.slept(Duration::from_micros(1));
                waits += 1;
            }
            waits
        };
        assert_eq!(until_on(), ENOUGH);
        let mut pause = PAUSE;
        for _ in 0..6 {
            assert!(spins(&spinner, false) && spins(&spinner, true) && spins(&spinner, false), "one miss");
            assert!(spins(&spinner, false) && !spins(&spinner, false), "two in a row");
            assert_eq!(until_on(), pause + ENOUGH);
            pause = LONGEST_PAUSE.min(pause * 4);
        }
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
