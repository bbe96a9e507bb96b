//! What a channel's waits have taught: whether looking again pays, and which way of it. No clock is read here.
//!
//! ```text
//!  asleep ──── enough short waits ────► tries a way ──── hits outweigh misses ────► stays with it
//!    ▲  a long one takes one back            │                                          │
//!    └── the pause before the next trial ────┴─ the last way fails ◄── misses outweigh ─┘
//!        is four times as long
//! ```
//!
//! Where both sides sleep, each wait takes two wake-ups, a time in which no reasonable spin would have ended. So the length
//! of the waits cannot tell whether spinning would pay, and it is tried. Of one side alone it saves one wake-up; the other
//! side's waits are short from then on, so that its own next trial succeeds, whenever that is.
//!
//! What comes while it looks is a hit only if it comes clearly earlier than to who sleeps: where both sides share a processor, who
//! spins is sooner or later set aside for the other one, and sees the answer then.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// A way of looking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// At once, again and again.
    Spins,
    /// After giving the processor away.
    GivesAway,
    /// The same where a look is a system call, and what counts is how fast the exchange goes.
    TakesTurns,
}

impl Way {
    /// What a trial begins with.
    fn trial(self) -> u32 {
        match self {
            Self::Spins | Self::GivesAway => TRIAL,
            Self::TakesTurns => 2 * TRIAL,
        }
    }
}

/// Short waits before the first trial, and before the next one where the last trial went well.
const PAUSE: u32 = 8;
/// Short waits from one trial to the next, at the most. Two processes on one core make a call in some 14 µs; spins of 50 µs and
/// 20 µs in as many calls are a quarter of a hundredth.
const LONGEST_PAUSE: u32 = 2048;
/// Trials of the first way alone, after the second one gave the processor to a third party who kept it, for some 3 ms: half a percent of
/// the waits until it does so again.
const PASSED_OVER: u32 = 32;
/// A pause is shorter by up to this part of it, as the last nanoseconds of a wait have it.
const VARIES: u32 = 8;
/// What a trial begins with: one miss ends it, or two where many waits are measured together.
const TRIAL: u32 = MISS;
/// A wait in which spinning might have helped: two wake-ups, of some 20 µs each between the processors of a virtual machine, and as
/// much again twice for noise and work.
const SHORT: Duration = Duration::from_micros(200);
/// What a miss takes away, of which a hit gives one: one miss costs what some four hits save.
const MISS: u32 = 4;
/// The most that hits add up to: four misses in a row end what has paid for long.
const MOST: u32 = 16;

/// What one direction has learned. Several threads may use it at once: what they lose of each other's notes does no harm.
#[derive(Debug)]
pub(super) struct Learner {
    /// Those that come into question, best first. None: it never looks.
    ways: &'static [Way],
    /// The one of them that is tried or used.
    at: AtomicU32,
    /// 0: it sleeps.
    score: AtomicU32,
    /// Short waits left of the pause.
    left: AtomicU32,
    /// How long the pause is.
    pause: AtomicU32,
    /// Trials in which all ways but the first are passed over.
    passed_over: AtomicU32,
    /// How long short waits that slept took of late, in nanoseconds; 0: not known.
    usual: AtomicU32,
}

impl Learner {
    pub(super) fn new(ways: &'static [Way]) -> Self {
        let number = AtomicU32::new;
        Self {
            ways,
            at: number(0),
            score: number(0),
            left: number(PAUSE),
            pause: number(PAUSE),
            passed_over: number(0),
            usual: number(0),
        }
    }

    /// How the next wait looks; `None`: it sleeps at once.
    #[inline]
    pub(super) fn way(&self) -> Option<Way> {
        if self.score.load(Relaxed) == 0 {
            return None;
        }
        self.ways.get(self.at.load(Relaxed) as usize).copied()
    }

    /// Whether it wants to know how long the next wait takes that sleeps from the beginning. `rarely`: only of those just before
    /// a trial.
    #[inline]
    pub(super) fn wants_time(&self, rarely: bool) -> bool {
        !rarely || self.left.load(Relaxed) <= PAUSE
    }

    /// A wait slept from the beginning, for so long, if that was measured.
    pub(super) fn slept(&self, took: Option<Duration>) {
        let left = self.left.load(Relaxed);
        if took.is_some_and(|took| took > SHORT) {
            return self.left.store(self.pause.load(Relaxed).min(left + 1), Relaxed);
        }
        if let Some(took) = took {
            let nanoseconds = took.subsec_nanos();
            let usual = match self.usual.load(Relaxed) {
                0 => nanoseconds,
                usual => usual - usual / 4 + nanoseconds / 4,
            };
            self.usual.store(usual, Relaxed);
        }
        match left {
            0 | 1 => self.begins(),
            _ => self.left.store(left - 1, Relaxed),
        }
    }

    /// What was waited for came while it looked, after so long; `None`: at once.
    #[inline]
    pub(super) fn came(&self, after: Option<Duration>) {
        if let Some(after) = after
            && !self.is_earlier(after)
        {
            return self.missed();
        }
        let score = self.score.load(Relaxed);
        if score < MOST {
            self.score.store(score + 1, Relaxed);
            if score + 1 == MOST {
                self.pause.store(PAUSE, Relaxed);
            }
        }
    }

    /// What was tried pays, as it was measured over many waits.
    pub(super) fn pays(&self) {
        self.score.store(MOST, Relaxed);
        self.pause.store(PAUSE, Relaxed);
    }

    /// Whether it has paid of late.
    #[inline]
    pub(super) fn is_sure(&self) -> bool {
        self.score.load(Relaxed) > 2 * TRIAL
    }

    /// By a quarter, than to who sleeps.
    fn is_earlier(&self, after: Duration) -> bool {
        match u64::from(self.usual.load(Relaxed)) {
            0 => true,
            usual => after < Duration::from_nanos(usual - usual / 4),
        }
    }

    /// It looked for nothing.
    #[cold]
    pub(super) fn missed(&self) {
        let score = self.score.load(Relaxed).saturating_sub(MISS);
        if score > 0 {
            return self.score.store(score, Relaxed);
        }
        self.fails();
    }

    /// Giving the processor away in a trial gave it to a third party: one who keeps it takes a hundred times what a turn may save, so that twice
    /// is enough.
    #[cold]
    pub(super) fn meets_another(&self) {
        if self.score.load(Relaxed) > TRIAL {
            return self.missed();
        }
        self.passed_over.store(PASSED_OVER, Relaxed);
        self.sleeps();
    }

    /// This way does not pay: the next one is tried, or none for a while.
    #[cold]
    pub(super) fn fails(&self) {
        let next = self.at.load(Relaxed) + 1;
        let Some(way) = self.ways.get(next as usize) else { return self.sleeps() };
        let passed_over = self.passed_over.load(Relaxed);
        if passed_over > 0 {
            self.passed_over.store(passed_over - 1, Relaxed);
            return self.sleeps();
        }
        self.at.store(next, Relaxed);
        self.score.store(way.trial(), Relaxed);
    }

    /// The way that its turn is.
    fn begins(&self) {
        let way = self.ways.get(self.at.load(Relaxed) as usize);
        self.score.store(way.map_or(0, |way| way.trial()), Relaxed);
    }

    /// It sleeps for a few waits, to see how long they take, and goes on in the same way.
    pub(super) fn doubts(&self) {
        self.score.store(0, Relaxed);
        self.left.store(PAUSE, Relaxed);
    }

    fn sleeps(&self) {
        let pause = LONGEST_PAUSE.min(self.pause.load(Relaxed) * 4);
        self.score.store(0, Relaxed);
        self.at.store(0, Relaxed);
        self.pause.store(pause, Relaxed);
        // Not always as many, so that both sides come to try at the same time if they did not.
        self.left.store(pause - self.usual.load(Relaxed) % (pause / VARIES), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two peers in a closed loop on a processor each: how long each one's wait is depends on
    /// who sleeps.
    struct Loop<'a> {
        client: &'a Learner,
        server: &'a Learner,
        /// The longest spins, in microseconds.
        patience: [u32; 2],
    }

    /// Microseconds.
    const WAKE_UP: u32 = 20;
    const WORK: u32 = 3;

    impl Loop<'_> {
        /// One call; its time.
        fn call(&self) -> u32 {
            // Until the other side has sent; who sleeps has to be woken after that.
            let (server_waits, client_waits) = (WORK + self.cost(self.client), WORK + self.cost(self.server));
            Self::wait(self.server, server_waits, self.patience[1]);
            Self::wait(self.client, client_waits, self.patience[0]);
            server_waits + client_waits
        }

        fn cost(&self, whom: &Learner) -> u32 {
            if whom.way().is_some() { 1 } else { WAKE_UP }
        }

        fn wait(learner: &Learner, time: u32, patience: u32) {
            match learner.way() {
                None => learner.slept(Some(Duration::from_micros((time + WAKE_UP).into()))),
                Some(_) if time <= patience => learner.came(Some(Duration::from_micros(time.into()))),
                Some(_) => learner.missed(),
            }
        }
    }

    const LONG: Duration = Duration::from_millis(1);

    fn spins() -> Learner {
        Learner::new(&[Way::Spins])
    }

    /// Short waits until it looks.
    fn waits(learner: &Learner) -> u32 {
        let mut waits = 0;
        while learner.way().is_none() {
            learner.slept(None);
            waits += 1;
        }
        waits
    }

    #[test]
    fn two_that_sleep_find_out_that_spinning_pays() {
        // The server's trials begin wherever they may; the client's patience bridges one wake-up.
        for head_start in 0..600 {
            let (client, server) = (spins(), spins());
            for _ in 0..head_start {
                Loop::wait(&server, 40, 20);
            }
            let both = Loop { client: &client, server: &server, patience: [50, 20] };
            let took: Vec<_> = (0..1_000).map(|_| both.call()).collect();
            assert_eq!(took.last(), Some(&(2 * (WORK + 1))), "{head_start}");
        }
    }

    #[test]
    fn what_pays_goes_on_and_some_misses_do_not_end_it() {
        let learner = spins();
        assert_eq!(waits(&learner), PAUSE);
        for round in 0..1_000 {
            match round % 6 {
                5 => learner.missed(),
                _ => learner.came(None),
            }
            assert_eq!(learner.way(), Some(Way::Spins));
        }
        while learner.way().is_some() {
            learner.missed();
        }
        assert_eq!(waits(&learner), 4 * PAUSE, "what was long ago is forgotten");
    }

    #[test]
    fn what_does_not_pay_is_tried_ever_more_rarely() {
        let learner = spins();
        let mut pause = PAUSE;
        for _ in 0..9 {
            assert_eq!(waits(&learner), pause);
            learner.missed();
            pause = LONGEST_PAUSE.min(pause * 4);
        }
        assert_eq!(waits(&learner), LONGEST_PAUSE);
        for _ in 0..MOST {
            learner.came(None);
        }
        for _ in 0..MOST / MISS {
            learner.missed();
        }
        assert_eq!(waits(&learner), 4 * PAUSE);
    }

    #[test]
    fn half_of_the_waits_in_vain_is_too_many() {
        let learner = spins();
        waits(&learner);
        for _ in 0..3 * MOST {
            if learner.way().is_some() {
                learner.came(None);
                learner.missed();
            }
        }
        assert_eq!(learner.way(), None);
    }

    #[test]
    fn long_waits_lead_to_no_trial() {
        let learner = spins();
        for _ in 0..10_000 {
            learner.slept(Some(LONG));
            assert_eq!(learner.way(), None);
            learner.slept(None);
            assert_eq!(learner.way(), None, "as many short ones change nothing");
        }
        assert!(waits(&learner) <= PAUSE);
    }

    #[test]
    fn the_second_way_has_its_trial_when_the_first_fails() {
        let learner = Learner::new(&[Way::Spins, Way::GivesAway]);
        waits(&learner);
        learner.missed();
        assert_eq!(learner.way(), Some(Way::GivesAway));
        for _ in 0..MOST {
            learner.came(None);
            assert_eq!(learner.way(), Some(Way::GivesAway));
        }
        for _ in 0..MOST / MISS {
            learner.missed();
        }
        assert_eq!(learner.way(), None);
        waits(&learner);
        assert_eq!(learner.way(), Some(Way::Spins));
    }

    #[test]
    fn who_met_a_third_party_tries_the_first_way_alone_for_long() {
        let learner = Learner::new(&[Way::Spins, Way::TakesTurns]);
        waits(&learner);
        learner.missed();
        assert_eq!(learner.way(), Some(Way::TakesTurns));
        learner.meets_another();
        assert_eq!(learner.way(), Some(Way::TakesTurns), "once may be chance");
        learner.meets_another();
        for _ in 0..PASSED_OVER {
            assert_eq!(learner.way(), None);
            waits(&learner);
            assert_eq!(learner.way(), Some(Way::Spins));
            learner.missed();
        }
        waits(&learner);
        learner.missed();
        assert_eq!(learner.way(), Some(Way::TakesTurns));
        learner.missed();
        assert_eq!(learner.way(), Some(Way::TakesTurns), "two stretches are measured");
        learner.missed();
        assert_eq!(learner.way(), None);
        waits(&learner);
        learner.pays();
        assert!(learner.is_sure());
    }

    #[test]
    fn what_comes_no_earlier_than_to_who_sleeps_is_no_hit() {
        let learner = spins();
        let micros = Duration::from_micros;
        while learner.way().is_none() {
            learner.slept(Some(micros(16)));
        }
        learner.came(Some(micros(11)));
        assert_eq!(learner.way(), Some(Way::Spins));
        learner.came(Some(micros(13)));
        learner.came(Some(micros(14)));
        assert_eq!(learner.way(), None, "as where both share a processor");
    }

    #[test]
    fn only_the_waits_before_a_trial_need_be_measured() {
        let learner = spins();
        waits(&learner);
        learner.missed();
        let measured = (0..4 * PAUSE).filter(|_| {
            let wants = learner.wants_time(true);
            assert!(learner.wants_time(false));
            learner.slept(None);
            wants
        });
        assert_eq!(measured.count() as u32, PAUSE);
        assert!(learner.way().is_some());
    }

    #[test]
    fn who_doubts_sleeps_a_little_and_goes_on() {
        let learner = Learner::new(&[Way::Spins, Way::TakesTurns]);
        waits(&learner);
        learner.missed();
        learner.pays();
        learner.doubts();
        assert_eq!(learner.way(), None);
        assert!(learner.wants_time(true), "each of them is measured");
        assert_eq!(waits(&learner), PAUSE);
        assert_eq!(learner.way(), Some(Way::TakesTurns));
    }

    #[test]
    fn without_a_way_it_sleeps() {
        let learner = Learner::new(&[]);
        for _ in 0..1_000 {
            learner.slept(None);
            assert_eq!(learner.way(), None);
        }
    }
}
