//! Progress over all steps of a run, made of that within each.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::progress::Progress;

/// Parts of a second that progress is counted in.
const PARTS: f64 = 10.0;

/// How many steps of the whole's progress a time is.
pub(super) fn parts(time: Duration) -> u64 {
    ((time.as_secs_f64() * PARTS) as u64).max(1)
}

/// What a step sees of the run's progress: as much as it was estimated to take, whatever it counts itself.
pub(super) struct Share<'a> {
    whole: &'a dyn Progress,
    parts: u64,
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    expected: u64,
    done: u64,
    /// Parts that have been handed on.
    given: u64,
}

impl<'a> Share<'a> {
    pub(super) fn new(whole: &'a dyn Progress, time: Duration) -> Share<'a> {
        Share { whole, parts: parts(time), counted: Mutex::default() }
    }

    /// The step is over, however much of it there was.
    pub(super) fn end(&self) {
        self.advance(|counted| counted.done = counted.expected.max(1));
    }

    fn advance(&self, change: impl FnOnce(&mut Counted)) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut counted);
        let expected = counted.expected.max(1);
        let due = self.parts * counted.done.min(expected) / expected;
        // If more turned out to be expected, the display waits.
        let new = due.saturating_sub(counted.given);
        counted.given += new;
        (0..new).for_each(|_| self.whole.step());
    }
}

impl Progress for Share<'_> {
    fn expect(&self, steps: u64) {
        self.advance(|counted| counted.expected += steps);
    }

    fn step(&self) {
        self.advance(|counted| counted.done += 1);
    }

    fn stage(&self, text: &str) {
        self.whole.stage(text);
    }

    fn remark(&self, text: &str) {
        self.whole.remark(text);
    }

    fn aside(&self, something: &mut dyn FnMut()) {
        self.whole.aside(something);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Default)]
    struct Counting(AtomicU64);

    impl Progress for Counting {
        fn expect(&self, _steps: u64) {}

        fn step(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn remark(&self, _text: &str) {}
    }

    #[test]
    fn a_step_takes_its_share_whatever_it_counts() {
        for steps in [1, 3, 7, 1000] {
            let whole = Counting::default();
            let share = Share::new(&whole, Duration::from_secs(10));
            share.expect(steps);
            (0..steps).for_each(|_| share.step());
            assert_eq!(whole.0.load(Ordering::Relaxed), parts(Duration::from_secs(10)));
            share.step();
            share.end();
            assert_eq!(whole.0.load(Ordering::Relaxed), 100, "and no more");
        }
    }

    #[test]
    fn more_to_do_and_less_done_than_expected_end_in_the_whole_share() {
        let whole = Counting::default();
        let share = Share::new(&whole, Duration::from_secs(10));
        share.expect(10);
        (0..5).for_each(|_| share.step());
        assert_eq!(whole.0.load(Ordering::Relaxed), 50);
        share.expect(90);
        (0..40).for_each(|_| share.step());
        assert_eq!(whole.0.load(Ordering::Relaxed), 50, "it does not run backwards");
        share.end();
        assert_eq!(whole.0.load(Ordering::Relaxed), 100);
        Share::new(&whole, Duration::ZERO).end();
        assert_eq!(whole.0.load(Ordering::Relaxed), 101, "without having begun");
    }
}
