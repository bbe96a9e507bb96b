//! First calls: what a connection, an interface and an object cost once, beside a later call.
//!
//! The field found a first call to cost more than twice a later one (Forin, Hunt, Li and Wang, 1999). Here each first
//! call is made anew in every turn, so that it has percentiles as any other call has.

use crate::BenchError;
use crate::calls::{self, Basis, PAIRS, Side};
use crate::contest::Contest;
use crate::lab::Lab;
use crate::row::{Parameters, Row};
use crate::system::{Call, Payload, System};

/// What a null call is the first on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A connection, which is opened for it and closed behind it.
    Connection,
    /// An interface: the reference is of an unknown type, and the object is asked whether it has the interface.
    Interface,
    /// An object, whose reference is read from its text, on a connection that is there.
    Object,
    /// Nothing: a later call.
    Later,
}

impl Phase {
    /// All.
    pub const ALL: [Phase; 4] = [Phase::Connection, Phase::Interface, Phase::Object, Phase::Later];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Connection => "connection",
            Phase::Interface => "interface",
            Phase::Object => "object",
            Phase::Later => "later",
        }
    }
}

/// Measures the null call of `systems` in each phase, beside the bare socket: a fresh one in the first phase, one that
/// is there in the others. Hands on each phase's rows as soon as they are there, the bare socket's first. Gives what
/// went wrong with single systems, a line each.
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
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((Phase::ALL.len() * PAIRS * contest.len()) as u64);
        for phase in Phase::ALL {
            let sides = event(contest, basis, lab, phase)?;
            let rows = sides.iter().enumerate().filter_map(|(at, side)| {
                let side = side.as_ref()?;
                let system = contest.system(at);
                let mut row = basis.row("firstcall", system, Payload::Null, side.latency(), &side.ratios);
                row.parameters = Parameters { phase: Some(phase.name().to_owned()), ..Parameters::default() };
                Some(row)
            });
            finished(rows.collect());
        }
        Ok(())
    })
}

fn event(
    contest: &mut Contest,
    basis: &Basis,
    lab: &Lab,
    phase: Phase,
) -> Result<Vec<Option<Side>>, BenchError> {
    contest.begin()?;
    let messages = calls::messages(contest, basis, lab, Payload::Null)?;
    let call = Call { payload: Payload::Null, messages };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        contest.attempt(at, |client, _| {
            client.prepare(call)?;
            side.warm_up(client)?;
            client.first_call(phase).map(|_| ())
        })?;
    }
    calls::rounds(contest, lab, PAIRS, &mut sides, &mut |client, times| {
        for _ in 0..basis.burst() {
            times.push(client.first_call(phase)?);
        }
        Ok(())
    })?;
    Ok(calls::finished(contest, sides))
}
