//! Looking again before sleeping: what it saves is the system calls of both sides and the way through the scheduler, what
//! it costs is a processor that others might have used.
//!
//! There are two ways to look again. Where the other side has a processor of its own: at once, again and again
//! (spinning). Where both share one: after giving it away once (sched_yield(2)), which costs one system call a turn where
//! sleeping and being woken costs two, and one that sets a timer. Which way pays, and whether any, is learned (`learner.rs`); of
//! sockets, into which a look is a system call besides, also by how fast the exchange goes (`tempo.rs`).

mod learner;
mod policy;
mod tempo;

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::{allowed_cores, counts};
use learner::{Learner, Way};
use policy::How;
use tempo::{Tempo, Verdict};

pub use policy::Spinning;

/// The longest that adaptive spinning takes, unless said otherwise. Where the other side sleeps it has to be woken, which takes
/// some 20 µs between the processors of a virtual machine, before it can answer: half of this is that.
const LONGEST: Duration = Duration::from_micros(50);
/// Turns given away in one wait: the first may go to a third party.
const TURNS: u32 = 2;
/// A turn that took longer went to somebody who works, for whom this thread should have been asleep: then the other
/// side's wake-up would have taken the processor back.
const LONGEST_TURN: Duration = Duration::from_micros(100);
/// From one look at the clock to the next, where a look costs a nanosecond or some.
const ROUNDS: u32 = 32;

/// How the channels of one program spin, and how many of its threads may at once: one fewer than it may use processors, so that
/// there is one for those who work, and at least one, since who is confined to one processor may talk to others elsewhere. A
/// thread that is one too many sleeps.
#[derive(Clone, Debug)]
pub struct Spinners {
    how: Spinning,
    longest: Duration,
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    taken: AtomicU32,
    most: u32,
}

impl Spinners {
    /// As many threads as the calling thread may use processors, less one, and at least one.
    pub fn new(how: Spinning) -> Self {
        let cores = allowed_cores().map_or(1, |cores| cores.len());
        Self::at_most(how, cores.saturating_sub(1).max(1))
    }

    /// So many threads.
    pub fn at_most(how: Spinning, threads: usize) -> Self {
        let most = u32::try_from(threads).unwrap_or(u32::MAX);
        Self { how, longest: LONGEST, places: Arc::new(Places { taken: AtomicU32::new(0), most }) }
    }

    /// The same, with the same count of threads, for waits in which adaptive spinning takes so long at most. Default: 50 µs.
    #[must_use]
    pub fn adaptive_up_to(&self, longest: Duration) -> Self {
        Self { longest, ..self.clone() }
    }

    /// The same, with the same count of threads, in another way.
    #[must_use]
    pub fn spinning(&self, how: Spinning) -> Self {
        Self { how, ..self.clone() }
    }

    /// Whether waits look at nothing before they sleep.
    pub fn sleep_at_once(&self) -> bool {
        self.how.bound() == Some(Duration::ZERO)
    }

    /// For a channel on which a look is a system call. To be asked for by a thread that may run where the channel's waits
    /// will.
    pub fn spinner(&self) -> Spinner {
        self.with(1, &[Way::Spins, Way::TakesTurns])
    }

    /// The same for a channel in memory.
    pub(crate) fn memory_spinner(&self) -> Spinner {
        self.with(ROUNDS, &[Way::Spins, Way::GivesAway])
    }

    fn with(&self, rounds: u32, ways: &'static [Way]) -> Spinner {
        let is_confined = allowed_cores().is_ok_and(|cores| cores.len() == 1);
        let tempo = ways.contains(&Way::TakesTurns).then(Tempo::new);
        Spinner { spinners: self.clone(), rounds, is_confined, learner: Learner::new(ways), tempo }
    }
}

/// What the waits of one direction of a channel look by. Several threads may use it at once.
///
/// ```
/// use std::time::Duration;
/// use zorb_ipc::{Looked, Spinners, Spinning};
///
/// # fn sleep_for_it(_: Duration) -> Option<u8> { None }
/// # let look_for_it = || Some(1_u8);
/// # let time = Duration::from_secs(1);
/// let spinner = Spinners::new(Spinning::adaptive()).spinner();
/// // Each wait:
/// let came = match spinner.look(|| time, look_for_it) {
///     Looked::Came(it) => Some(it),
///     Looked::InVain(sleep) => {
///         let came = sleep_for_it(time.saturating_sub(sleep.spent()));
///         spinner.slept(sleep);
///         came
///     }
/// };
/// # drop(came);
/// ```
#[derive(Debug)]
pub struct Spinner {
    spinners: Spinners,
    /// From one look at the clock to the next.
    rounds: u32,
    /// To one processor, perhaps together with the other side: then a call is so short that reading the clock shows.
    is_confined: bool,
    learner: Learner,
    /// Where a look is a system call.
    tempo: Option<Tempo>,
}

/// What [`Spinner::look`] brought.
#[derive(Debug)]
pub enum Looked<T> {
    /// It is there.
    Came(T),
    /// It is time to sleep.
    InVain(Asleep),
}

/// A wait that sleeps.
#[derive(Debug)]
#[must_use = "the spinner learns from it"]
pub struct Asleep {
    spent: Duration,
    since: Option<Instant>,
}

impl Asleep {
    /// How much of the wait's time has passed.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    const AT_ONCE: Asleep = Asleep { spent: Duration::ZERO, since: None };
}

impl Spinner {
    /// Looks again and again while that pays and `most` has not passed, which is asked for when the clock is first read.
    #[inline]
    pub fn look<T>(&self, most: impl FnOnce() -> Duration, look: impl FnMut() -> Option<T>) -> Looked<T> {
        match self.spinners.how.how() {
            How::None => Looked::InVain(Asleep::AT_ONCE),
            How::Bounded(longest) => match self.spin(longest, most, look) {
                Spun::Came(it, _) => Looked::Came(it),
                Spun::Missed(spent) => Looked::InVain(Asleep { spent, since: None }),
                Spun::NoPlace => Looked::InVain(Asleep::AT_ONCE),
            },
            How::Adaptive => match self.learner.way() {
                None => Looked::InVain(self.sleeps()),
                Some(Way::Spins) => self.spin_and_learn(most, look),
                Some(Way::GivesAway) => self.give_away_and_learn(look),
                Some(Way::TakesTurns) => self.take_turns(look),
            },
        }
    }

    /// To be told when a wait has ended that slept.
    #[inline]
    pub fn slept(&self, asleep: Asleep) {
        if let Some(since) = asleep.since {
            let now = Instant::now();
            self.learner.slept(Some(now.saturating_duration_since(since)));
            if let Some(tempo) = &self.tempo {
                tempo.slept(Some(now));
            }
        }
    }

    /// A wait that sleeps from the beginning.
    fn sleeps(&self) -> Asleep {
        if self.learner.wants_time(self.is_confined) {
            return Asleep { spent: Duration::ZERO, since: Some(Instant::now()) };
        }
        self.learner.slept(None);
        if let Some(tempo) = &self.tempo {
            tempo.slept(None);
        }
        Asleep::AT_ONCE
    }

    #[inline]
    fn spin_and_learn<T>(
        &self,
        most: impl FnOnce() -> Duration,
        look: impl FnMut() -> Option<T>,
    ) -> Looked<T> {
        match self.spin(self.spinners.longest, most, look) {
            Spun::Came(it, after) => {
                // To who looks by a system call, and only once, it may have been there before: it would have come to a sleeper as soon.
                if after.is_some() || self.rounds > 1 {
                    self.learner.came(after);
                }
                if let Some(tempo) = &self.tempo
                    && let Some(verdict) = tempo.looked(Instant::now)
                {
                    self.heed(tempo, verdict);
                }
                Looked::Came(it)
            }
            Spun::Missed(spent) => {
                self.learner.missed();
                if let Some(tempo) = &self.tempo
                    && self.learner.way() != Some(Way::Spins)
                {
                    tempo.begins();
                }
                Looked::InVain(Asleep { spent, since: None })
            }
            Spun::NoPlace => Looked::InVain(Asleep::AT_ONCE),
        }
    }

    fn give_away_and_learn<T>(&self, look: impl FnMut() -> Option<T>) -> Looked<T> {
        match give_away(look) {
            (Some(it), late) => {
                if late {
                    self.learner.missed();
                } else {
                    self.learner.came(None);
                }
                Looked::Came(it)
            }
            (None, _) => {
                self.learner.missed();
                Looked::InVain(Asleep::AT_ONCE)
            }
        }
    }

    /// Gives the processor away and looks, where that is a system call. A wait in vain is none where it is being tried: the other side may
    /// not yet have begun.
    #[inline]
    fn take_turns<T>(&self, mut look: impl FnMut() -> Option<T>) -> Looked<T> {
        let Some(tempo) = &self.tempo else { return self.give_away_and_learn(look) };
        let begun = tempo.looks_at_clock().then(Instant::now);
        let it = (0..TURNS).find_map(|_| {
            counts::enter();
            thread::yield_now();
            look()
        });
        let is_sure = self.learner.is_sure();
        let late = begun.is_some_and(|begun| begun.elapsed() > LONGEST_TURN);
        match tempo.looked(Instant::now) {
            _ if late && !is_sure => self.learner.meets_another(),
            Some(verdict) => self.heed(tempo, verdict),
            None if is_sure && (late || it.is_none()) => self.learner.missed(),
            None => {}
        }
        match it {
            Some(it) => Looked::Came(it),
            None => Looked::InVain(Asleep::AT_ONCE),
        }
    }

    #[cold]
    fn heed(&self, tempo: &Tempo, verdict: Verdict) {
        let way = self.learner.way();
        match verdict {
            Verdict::Faster => self.learner.pays(),
            Verdict::InDoubt => {
                self.learner.doubts();
                tempo.doubts();
            }
            // Spinning is faster by far, or not at all.
            Verdict::Slower if way == Some(Way::Spins) => self.learner.fails(),
            Verdict::Slower => self.learner.missed(),
        }
        if self.learner.way() != way {
            tempo.begins();
        }
    }

    #[inline]
    fn spin<T>(
        &self,
        longest: Duration,
        most: impl FnOnce() -> Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> Spun<T> {
        if longest.is_zero() {
            return Spun::Missed(Duration::ZERO);
        }
        let rounds = self.rounds;
        let mut looks = || {
            (0..rounds).find_map(|_| {
                hint::spin_loop();
                look()
            })
        };
        // What is there soon needs neither clock nor place.
        if let Some(it) = looks() {
            return Spun::Came(it, None);
        }
        let Some(_place) = Place::take(&self.spinners.places) else { return Spun::NoPlace };
        let longest = longest.min(most());
        let begun = Instant::now();
        loop {
            let it = looks();
            let spent = begun.elapsed();
            if let Some(it) = it {
                return Spun::Came(it, Some(spent));
            }
            if spent >= longest {
                return Spun::Missed(spent);
            }
        }
    }
}

/// What spinning brought.
enum Spun<T> {
    /// It, after so long; `None`: at once.
    Came(T, Option<Duration>),
    /// Nothing, in that time.
    Missed(Duration),
    /// Others spin.
    NoPlace,
}

/// A thread among those that spin.
struct Place<'a>(&'a Places);

impl<'a> Place<'a> {
    #[inline]
    fn take(places: &'a Places) -> Option<Self> {
        // Given back at once where there is none: meanwhile another may go to sleep that need not.
        let place = Self(places);
        (places.taken.fetch_add(1, Relaxed) < places.most).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Relaxed);
    }
}

/// What came while somebody else had the processor, and whether he had it for long.
fn give_away<T>(mut look: impl FnMut() -> Option<T>) -> (Option<T>, bool) {
    let mut begun = Instant::now();
    for _ in 0..TURNS {
        counts::enter();
        thread::yield_now();
        let (now, it) = (Instant::now(), look());
        let late = now - begun > LONGEST_TURN;
        if late || it.is_some() {
            return (it, late);
        }
        begun = now;
    }
    (None, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const LONG: Duration = Duration::from_secs(30);

    fn with(how: Spinning, places: usize) -> Spinner {
        let spinners = Spinners::at_most(how, places);
        Spinner { spinners, rounds: 1, is_confined: false, learner: Learner::new(&[Way::Spins]), tempo: None }
    }

    /// How often it looks in a wait.
    fn looks(spinner: &Spinner, comes: bool) -> u32 {
        let looks = Cell::new(0);
        let looked = spinner.look(
            || LONG,
            || {
                looks.set(looks.get() + 1);
                comes.then_some(())
            },
        );
        match looked {
            Looked::Came(()) => assert!(comes),
            Looked::InVain(sleep) => spinner.slept(sleep),
        }
        looks.get()
    }

    #[test]
    fn none_is_none_and_a_bound_is_one() {
        assert_eq!(looks(&with(Spinning::none(), 1), true), 0);
        let bounded = |longest| with(Spinning::bounded(longest), 1);
        assert_eq!(looks(&bounded(Duration::ZERO), true), 0);
        assert!(looks(&bounded(Duration::from_millis(5)), false) > 1, "and it comes back");
        let Looked::InVain(sleep) = bounded(Duration::MAX).look(|| Duration::from_millis(1), || None::<()>)
        else {
            panic!("nothing comes")
        };
        assert!(sleep.spent() >= Duration::from_millis(1), "to the wait's end");
    }

    #[test]
    fn giving_away_looks_once_a_turn() {
        assert_eq!(give_away(|| Some(7)).0, Some(7));
        let looks = Cell::new(0);
        let (it, _) = give_away(|| {
            looks.set(looks.get() + 1);
            None::<()>
        });
        assert!(it.is_none() && (1..=TURNS).contains(&looks.get()));
    }

    #[test]
    fn who_is_one_too_many_sleeps_and_learns_nothing_from_it() {
        let spinner = with(Spinning::bounded(Duration::from_millis(1)), 1);
        let other = Place::take(&spinner.spinners.places).expect("the first");
        assert_eq!(looks(&spinner, false), 1, "a look needs no place");
        assert_eq!(spinner.spinners.places.taken.load(Relaxed), 1);
        drop(other);
        assert!(looks(&spinner, false) > 1);
        assert_eq!(spinner.spinners.places.taken.load(Relaxed), 0);
        // Copies for other waits share the count.
        let other = spinner.spinners.adaptive_up_to(LONG).spinning(Spinning::bounded(LONG)).places;
        assert!(Arc::ptr_eq(&other, &spinner.spinners.places));
    }

    #[test]
    fn a_wait_that_sleeps_is_measured_until_it_tries() {
        let spinner = with(Spinning::adaptive(), 1);
        let begun = |ago| Instant::now().checked_sub(ago);
        for _ in 0..100 {
            spinner.slept(Asleep { spent: Duration::ZERO, since: begun(LONG) });
        }
        assert_eq!(spinner.learner.way(), None, "long ones count for nothing");
        for _ in 0..100 {
            if spinner.learner.way().is_none() {
                spinner.learner.slept(None);
            }
        }
        assert_eq!(looks(&spinner, true), 1);
    }
}
