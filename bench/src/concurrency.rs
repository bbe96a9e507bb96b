//! Concurrency: how many calls many callers get done together.
//!
//! Each system lets its callers call as its users would (threads, tasks, connections as it has them) for a set time; what
//! counts is how many calls are completed. Systems take turns; a round gives the ratio of the time for each call.

use std::sync::{Barrier, RwLock};
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::BenchError;
use crate::calls::{self, Basis, Side};
use crate::contest::Contest;
use crate::lab::Lab;
use crate::row::{Figures, Parameters, Row};
use crate::statistics::LEAST_PAIRS;
use crate::system::{Call, Completed, Exchange, Payload, System};

/// The most callers: a thread each, on both sides of some systems.
pub const MOST_CALLERS: u32 = 4_096;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How; its number of calls does not matter.
    pub basis: Basis,
    /// Numbers of callers.
    pub callers: Vec<u32>,
    /// What they call.
    pub payload: Payload,
    /// How long they call, in each of [`LEAST_PAIRS`] rounds.
    pub time: Duration,
}

/// Measures `systems` beside bare sockets, one for each caller, and hands on the rows of each number of callers as soon
/// as they are there, the bare sockets' first. Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    plan.basis.contest(systems, lab, |contest| {
        lab.progress.expect((plan.callers.len() * LEAST_PAIRS * contest.len()) as u64);
        for &callers in &plan.callers {
            let sides = event(contest, plan, lab, callers)?;
            let rows = sides.iter().enumerate().filter_map(|(at, side)| {
                let side = side.as_ref()?;
                // Each sample is the time for one call in one round.
                let calls_s = side.latencies.count() as f64 / side.total.as_secs_f64();
                let figures = Figures::Rate { calls_s };
                let system = contest.system(at);
                let mut row = plan.basis.row("concurrency", system, plan.payload, figures, &side.ratios);
                row.parameters = Parameters { callers: Some(callers), ..Parameters::default() };
                Some(row)
            });
            finished(rows.collect());
        }
        Ok(())
    })
}

fn event(
    contest: &mut Contest,
    plan: &Plan,
    lab: &Lab,
    callers: u32,
) -> Result<Vec<Option<Side>>, BenchError> {
    contest.begin()?;
    let messages = calls::messages(contest, &plan.basis, lab, plan.payload)?;
    let call = Call { payload: plan.payload, messages };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    calls::rounds(contest, lab, LEAST_PAIRS, &mut sides, &mut |client, times| {
        let completed = client.callers(callers, plan.time, call)?;
        if completed.calls == 0 {
            let what = format!("{callers} callers completed no call in {:?}", plan.time);
            return Err(BenchError::System { system: client.system(), what });
        }
        times.push(completed.elapsed.div_f64(completed.calls as f64));
        Ok(())
    })?;
    Ok(calls::finished(contest, sides))
}

/// Lets `callers` threads make calls for that long, each on an exchange of its own that `make` makes. The clock runs
/// from when the first begins, which is when all have made one call, and until the last has ended its last.
///
/// # Errors
///
/// The first call that failed, or exchange that could not be made; that there cannot be so many threads.
pub fn threads(
    callers: u32,
    time: Duration,
    make: &(dyn Fn() -> Result<Box<dyn Exchange>, BenchError> + Sync),
) -> Result<Completed, BenchError> {
    let ready = Barrier::new(callers as usize);
    // Nobody begins, and waits for the others, before it is certain that there are so many.
    let all_there = RwLock::new(false);
    let shifts = thread::scope(|scope| {
        let mut gate = all_there.write();
        let caller = |_| {
            thread::Builder::new().spawn_scoped(scope, || {
                if !all_there.read().is_ok_and(|all| *all) {
                    return Err(BenchError::Stopped);
                }
                let exchange = make().and_then(|mut exchange| once(&mut *exchange).map(|()| exchange));
                // Whoever failed comes here too: the others wait for it.
                ready.wait();
                Shift::work(&mut *exchange?, time)
            })
        };
        let started: io::Result<Vec<_>> = (0..callers).map(caller).collect();
        let callers = started.map_err(BenchError::io(format!("start {callers} threads")))?;
        if let Ok(all) = &mut gate {
            **all = true;
        }
        drop(gate);
        let join = |caller: thread::ScopedJoinHandle<'_, Result<Shift, BenchError>>| {
            caller.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok(callers.into_iter().map(join).collect::<Vec<_>>())
    })?;
    let shifts = shifts.into_iter().collect::<Result<Vec<Shift>, BenchError>>()?;
    let began = shifts.iter().map(|shift| shift.began).min();
    let ended = shifts.iter().map(|shift| shift.ended).max();
    let elapsed = began.zip(ended).map(|(began, ended)| ended - began).unwrap_or_default();
    Ok(Completed { calls: shifts.iter().map(|shift| shift.calls).sum(), elapsed })
}

/// What one caller did. Each keeps its own clock: a thread that watched them all might be woken long after they began.
struct Shift {
    calls: u64,
    began: Instant,
    ended: Instant,
}

impl Shift {
    fn work(exchange: &mut dyn Exchange, time: Duration) -> Result<Self, BenchError> {
        let (began, mut calls) = (Instant::now(), 0);
        loop {
            once(exchange)?;
            calls += 1;
            let ended = Instant::now();
            if ended - began >= time {
                return Ok(Self { calls, began, ended });
            }
        }
    }
}

fn once(exchange: &mut dyn Exchange) -> Result<(), BenchError> {
    exchange.round_trip()?;
    exchange.verify()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Instantly;

    impl Exchange for Instantly {
        fn round_trip(&mut self) -> Result<(), BenchError> {
            Ok(())
        }

        fn verify(&mut self) -> Result<(), BenchError> {
            Ok(())
        }
    }

    #[test]
    fn all_callers_call_for_the_whole_time() {
        let time = Duration::from_millis(10);
        let completed = threads(3, time, &|| Ok(Box::new(Instantly))).unwrap();
        assert!(completed.calls > 0 && completed.elapsed >= time);
    }

    #[test]
    fn one_that_fails_holds_nobody_up() {
        let made = AtomicU32::new(0);
        let make = || match made.fetch_add(1, Ordering::Relaxed) {
            1 => Err(BenchError::Stopped),
            _ => Ok(Box::new(Instantly) as Box<dyn Exchange>),
        };
        assert!(matches!(threads(3, Duration::ZERO, &make), Err(BenchError::Stopped)));
    }
}
