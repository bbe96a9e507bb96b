//! A caller: numbered requests of every kind, one after the other, and what it was told of each.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zorb::{Kind, SystemException};

use super::account::Outcome;
use super::idl::soak::Ledger;

/// Numbers that look random, the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// One below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// What goes wrong beside numbers: answers that are not what was sent, calls that took all their time.
#[derive(Default)]
pub(crate) struct Wrongs {
    pub(crate) garbled: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) first: Mutex<Option<String>>,
}

impl Wrongs {
    pub(crate) fn tell(&self, text: impl FnOnce() -> String) {
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert_with(text);
        }
    }

    fn see<T>(&self, result: Result<T, SystemException>, fits: impl FnOnce(&T) -> bool) -> Outcome {
        match &result {
            Ok(value) if !fits(value) => {
                self.garbled.fetch_add(1, Ordering::Relaxed);
                self.tell(|| "an answer was not what had been sent".to_owned());
            }
            Err(exception) if exception.kind == Kind::Timeout => {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                self.tell(|| exception.to_string());
            }
            _ => {}
        }
        Outcome::of(&result)
    }
}

/// What a caller makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// All kinds of calls.
    All,
    /// Oneways alone.
    Oneways,
}

/// What one request was, and what came of it.
pub(crate) struct Told {
    pub(crate) number: u64,
    pub(crate) outcome: Outcome,
    /// It went through both books.
    pub(crate) through: bool,
}

/// The largest argument: more than two rings of shared memory hold.
const BULK: u64 = 300_000;

/// Between two requests, at most: so that all lanes together leave the machine usable.
const PAUSE_US: u64 = 2_000;

/// Calls until told to stop, and has `tell` write down each.
#[allow(clippy::too_many_arguments, reason = "what all callers share and what each has, in one call")]
pub(crate) fn call(
    ledger: &Ledger,
    back: Option<&Ledger>,
    kinds: Kinds,
    numbers: &AtomicU64,
    stop: &AtomicBool,
    random: &mut Random,
    wrongs: &Wrongs,
    mut tell: impl FnMut(Told),
) {
    let started = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let mut through = false;
        let choice = if kinds == Kinds::Oneways { 99 } else { random.below(100) };
        let outcome = match choice {
            0..60 => wrongs.see(ledger.note(number), |same| *same == number),
            60..75 => {
                // Two at a time: what one connection carries at once must not be mixed up.
                let pending = ledger.note_async(number);
                let beside = numbers.fetch_add(1, Ordering::Relaxed);
                let outcome = wrongs.see(ledger.note(beside), |same| *same == beside);
                tell(Told { number: beside, outcome, through });
                wrongs.see(pending.wait(), |same| *same == number)
            }
            75..85 => {
                let length = random.below(BULK);
                let data: Vec<u8> = (0..length).map(|at| (at ^ number) as u8).collect();
                wrongs.see(ledger.bulk(number, &data), |same| same[..] == data[..])
            }
            85..93 if back.is_some() => {
                through = true;
                wrongs.see(ledger.through(number, back), |()| true)
            }
            _ => match Outcome::of(&ledger.tell(number)) {
                // That it was sent is all that is known.
                Outcome::Returned => Outcome::Perhaps,
                other => other,
            },
        };
        tell(Told { number, outcome, through });
        if outcome == Outcome::NotExecuted {
            // Nobody is there: not a busy loop.
            std::thread::sleep(Duration::from_millis(2));
        }
        // Sometimes long enough for the connection to have rested.
        let most = if started.elapsed().as_millis().is_multiple_of(7) { 3 * PAUSE_US } else { PAUSE_US };
        std::thread::sleep(Duration::from_micros(random.below(most)));
    }
}
