//! Collocated calls: null calls of an object of the caller's own process, beside a method's call through a trait object, which is the floor.
//!
//! A call is far shorter than a look at the clock: the clock runs around many, and each round gives their average.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::BenchError;
use crate::calls::{self, Basis, PAIRS, Side, WARM_UP};
use crate::lab::Lab;
use crate::row::{Figures, Row};
use crate::system::{Payload, System};

/// What collocated objects do: count the calls, so that it is seen that all have come. Not for several threads at a time.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    #[inline]
    pub(crate) fn count(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Begins anew, and checks that there were so many.
    pub(crate) fn verify(&self, system: &'static str, calls: u32) -> Result<(), BenchError> {
        match self.0.swap(0, Ordering::Relaxed) {
            counted if counted == calls => Ok(()),
            counted => {
                Err(BenchError::Corrupt { system, what: format!("{counted} of {calls} calls have come") })
            }
        }
    }
}

trait Method {
    fn call(&self);
}

impl Method for Counter {
    fn call(&self) {
        self.count();
    }
}

/// The floor: a method of an object of whose type the compiler knows a trait alone.
pub(crate) fn methods(system: &'static str, calls: u32) -> Result<Duration, BenchError> {
    let counter = Arc::new(Counter::default());
    let object: Arc<dyn Method> = counter.clone();
    let start = Instant::now();
    for _ in 0..calls {
        black_box(&object).call();
    }
    let took = start.elapsed();
    counter.verify(system, calls).map(|()| took)
}

/// Measures `systems` beside a method's call, and hands on the rows, the floor's first. Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    basis: &Basis,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let burst = u32::try_from(basis.burst()).unwrap_or(u32::MAX);
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((PAIRS * contest.len()) as u64);
        contest.begin()?;
        let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
        for at in 0..contest.len() {
            contest.attempt(at, |client, _| {
                let mut called = Duration::ZERO;
                while called < WARM_UP {
                    called += client.collocated(burst)?;
                }
                Ok(())
            })?;
        }
        calls::rounds(contest, lab, PAIRS, &mut sides, &mut |client, times| {
            times.push(client.collocated(burst)?);
            Ok(())
        })?;
        let sides = calls::finished(contest, sides);
        let rows = sides.iter().enumerate().filter_map(|(at, side)| {
            let side = side.as_ref()?;
            let of_one = |us: f64| us * 1000.0 / f64::from(burst);
            let figures = Figures::Collocated { p50_ns: of_one(side.latencies.median_us()) };
            Some(basis.row("collocated", contest.system(at), Payload::Null, figures, &side.ratios))
        });
        finished(rows.collect());
        Ok(())
    })
}
