//! Where the caller of a joint call waits, and how long it looks again before it sleeps.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Answer;
use crate::transport::Spinners;

/// Where a caller waits.
#[derive(Default)]
pub(super) struct Place {
    told: Mutex<Option<Told>>,
    changed: Condvar,
    state: AtomicU32,
}

/// What a caller is told.
pub(super) enum Told {
    Answer(Answer),
    /// It is to read on.
    Reads,
}

/// States of a place.
const EMPTY: u32 = 0;
const TOLD: u32 = 1;
/// Its caller sleeps, or is about to.
const SLEEPS: u32 = 2;

thread_local! {
    /// The thread's place, whatever it calls: it waits for one answer at a time.
    static PLACE: RefCell<Option<Arc<Place>>> = const { RefCell::new(None) };
}

impl Place {
    /// The calling thread's, empty.
    pub(super) fn take() -> Arc<Place> {
        // Who told it something may not yet have let go of it.
        PLACE.take().filter(|place| Arc::strong_count(place) == 1).unwrap_or_default()
    }

    /// For the thread's next call.
    pub(super) fn give_back(self: Arc<Place>) {
        PLACE.set(Some(self));
    }

    pub(super) fn tell(&self, what: Told) {
        let mut told = self.told.lock();
        *told = Some(what);
        let sleeps = self.state.swap(TOLD, Ordering::Release) == SLEEPS;
        drop(told);
        if sleeps {
            self.changed.notify_one();
        }
    }

    /// What it was told and has not yet heard.
    pub(super) fn hear(&self) -> Option<Told> {
        let mut told = self.told.lock();
        self.state.store(EMPTY, Ordering::Relaxed);
        told.take()
    }

    /// What it is told; `None`: nothing by the deadline.
    pub(super) fn wait(&self, deadline: Instant, patience: &Patience, callers: usize) -> Option<Told> {
        patience.look(callers, || self.state.load(Ordering::Acquire) == TOLD);
        let mut told = self.told.lock();
        self.state.store(SLEEPS, Ordering::Relaxed);
        while told.is_none() {
            if self.changed.wait_until(&mut told, deadline).timed_out() {
                break;
            }
        }
        self.state.store(EMPTY, Ordering::Relaxed);
        told.take()
    }
}

/// Whether callers give the processor away and look again before they sleep.
///
/// Waking a thread that sleeps costs more than all else in a short call, and where many wait there is always one that can run: so they take
/// turns. Where that brings nothing in more than one of five waits, since the server takes its time or a third party has the processor, they sleep at
/// once for a number of waits, which doubles.
pub(super) struct Patience {
    /// False: they always sleep at once.
    looks: bool,
    /// Looks that brought something, less four times those in vain.
    score: AtomicI32,
    /// Waits that sleep at once from now on.
    asleep: AtomicI32,
    /// How many those will be next time.
    penalty: AtomicI32,
}

/// How long a lone caller looks, and how much longer for each other one.
const FIRST: Duration = Duration::from_micros(100);
const EACH: Duration = Duration::from_micros(4);
/// The longest look.
const LONGEST: Duration = Duration::from_micros(500);

/// What a look in vain takes from the score.
const VAIN: i32 = 1;
/// The score of who begins: a few dozen callers may look in vain once.
const TRIAL: i32 = 256;
/// The highest score: a moment in which all of a hundred callers look in vain does not end it.
const SURE: i32 = 1024;
const LEAST_PENALTY: i32 = 64;
const MOST_PENALTY: i32 = 8192;

impl Patience {
    pub(super) fn new(spinners: Option<&Spinners>) -> Patience {
        Patience {
            looks: spinners.is_some_and(|spinners| !spinners.sleep_at_once()),
            score: AtomicI32::new(TRIAL),
            asleep: AtomicI32::new(0),
            penalty: AtomicI32::new(LEAST_PENALTY),
        }
    }

    /// Looks until it is there, or it is time to sleep.
    fn look(&self, callers: usize, is_there: impl Fn() -> bool) {
        if !self.looks || is_there() {
            return;
        }
        // Counts may be lost where several change them at once, which changes little.
        let asleep = self.asleep.load(Ordering::Relaxed);
        if asleep > 0 {
            return self.asleep.store(asleep - 1, Ordering::Relaxed);
        }
        let longest = (FIRST + EACH * u32::try_from(callers).unwrap_or(u32::MAX).min(1000)).min(LONGEST);
        let begun = Instant::now();
        loop {
            thread::yield_now();
            if is_there() {
                return self.pays();
            }
            if begun.elapsed() > longest {
                return self.fails();
            }
        }
    }

    fn pays(&self) {
        let score = self.score.load(Ordering::Relaxed);
        if score < SURE {
            self.score.store(score + 1, Ordering::Relaxed);
        } else if self.penalty.load(Ordering::Relaxed) != LEAST_PENALTY {
            self.penalty.store(LEAST_PENALTY, Ordering::Relaxed);
        }
    }

    fn fails(&self) {
        let score = self.score.load(Ordering::Relaxed) - VAIN;
        if score >= 0 {
            return self.score.store(score, Ordering::Relaxed);
        }
        self.score.store(TRIAL, Ordering::Relaxed);
        let penalty = self.penalty.load(Ordering::Relaxed);
        self.asleep.store(penalty, Ordering::Relaxed);
        self.penalty.store((penalty * 2).min(MOST_PENALTY), Ordering::Relaxed);
    }
}
