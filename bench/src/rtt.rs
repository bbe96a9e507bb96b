//! The round-trip scenario: how much longer a call takes than moving its bytes over a bare socket.
//!
//! All servers run at once, the systems' and the bare socket's; the client makes a short burst of calls to one, then
//! to the next, and every round in another order, so that whatever the machine does meanwhile meets all of them. Each
//! round gives for each system the ratio of its median to the bare socket's; the rounds together give the interval. Every
//! reply is compared with its request, outside the measured time.

use std::thread;
use std::time::{Duration, Instant};

use crate::BenchError;
use crate::calls::{self, Basis, Outcome, PAIRS, Side};
use crate::cube::Cube;
use crate::lab::Lab;
use crate::pin::Pin;
use crate::statistics::Target;
use crate::system::{Call, Payload, System, Transport};

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How, and how many calls for each payload.
    pub basis: Basis,
    /// What the calls carry.
    pub payloads: Vec<Payload>,
    /// So many calls a second, and what the server spends on each; `None`: one follows the other.
    pub rate: Option<u32>,
}

impl Plan {
    /// What calls may carry: nothing, octets that come back, octets that do not, or what the cubing service cubes.
    pub const TYPES: [&'static str; 8] =
        ["null", "octet", "given", "short", "long", "struct", "octets", "longs"];

    /// Octets of the sequences, unless others are asked for.
    pub const SIZES: [usize; 3] = [1 << 10, 8 << 10, 64 << 10];

    /// The null call and 1, 8 and 64 KiB.
    pub fn standard_payloads() -> Vec<Payload> {
        let sequences = Plan::SIZES.into_iter().map(Payload::Octets);
        std::iter::once(Payload::Null).chain(sequences).collect()
    }

    /// The calls of a type: sequences have one for each of `sizes`.
    ///
    /// # Errors
    ///
    /// There is no such type; the text lists those that there are. A size that no sequence of longs can have.
    pub fn of_type(name: &str, sizes: &[usize]) -> Result<Vec<Payload>, String> {
        match name {
            "null" => Ok(vec![Payload::Null]),
            "octet" => Ok(sizes.iter().map(|&size| Payload::Octets(size)).collect()),
            "given" => Ok(sizes.iter().map(|&size| Payload::Given(size)).collect()),
            name if Plan::TYPES.contains(&name) => {
                Ok(Cube::of_type(name, sizes)?.into_iter().map(Payload::Cube).collect())
            }
            other => Err(format!("there is no type {other:?}; there are {}", Plan::TYPES.join(", "))),
        }
    }
}

/// The ratio that a call may cost, where one is set: pinned to one processor.
pub fn target(transport: Transport, pin: Pin, payload: Payload) -> Option<Target> {
    match (transport, pin, payload) {
        (Transport::Tcp | Transport::Unix, Pin::Same, Payload::Null) => Some(Target(1.10)),
        (Transport::Tcp, Pin::Same, Payload::Octets(65_536)) => Some(Target(1.50)),
        _ => None,
    }
}

/// The count of instructions whose budget decides about a call's target where its interval does not: a target within a tenth
/// of the floor lies within what a busy machine adds to both.
pub fn deciding_budget(payload: Payload) -> Option<&'static str> {
    (payload == Payload::Null).then_some("call/null")
}

/// Measures `systems` beside the bare socket, and hands on each payload's outcome as soon as it is there. The bare
/// socket moves as many bytes as the first system does.
///
/// Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor or the first system's messages, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    match plan.rate {
        None => calls::compare("rtt", Side::latency, systems, (&plan.basis, &plan.payloads), lab, finished),
        Some(rate) => paced(systems, plan, rate, lab, finished),
    }
}

/// The same of calls that begin at equal intervals, as far as they end in time.
fn paced(
    systems: &[&dyn System],
    plan: &Plan,
    rate: u32,
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    let (basis, interval) = (&plan.basis, Duration::from_secs(1) / rate.max(1));
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((plan.payloads.len() * PAIRS * contest.len()) as u64);
        for &payload in &plan.payloads {
            contest.begin()?;
            let messages = calls::messages(contest, basis, lab, payload)?;
            let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
            for (at, side) in sides.iter_mut().enumerate() {
                contest.attempt(at, |client, _| {
                    client.prepare(Call { payload, messages })?;
                    side.warm_up(client)
                })?;
            }
            calls::watched_rounds(contest, lab, PAIRS, &mut sides, &mut |client, far, times| {
                let before = far.spent();
                let mut next = Instant::now();
                for _ in 0..basis.burst() {
                    thread::sleep(next.saturating_duration_since(Instant::now()));
                    next += interval;
                    client.burst(1, times)?;
                }
                Ok(before.zip(far.spent()).map(|(before, after)| after.since(&before)))
            })?;
            let sides = calls::finished(contest, sides);
            let rows = sides.iter().enumerate().filter_map(|(at, side)| {
                let side = side.as_ref()?;
                let figures = side.served(basis.burst());
                Some(basis.row("rtt", contest.system(at), payload, figures, &side.ratios))
            });
            let rows = rows.collect();
            finished(Outcome { payload, messages, rows });
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_calls() {
        let all: Vec<_> =
            Plan::TYPES.iter().flat_map(|name| Plan::of_type(name, &[8, 64]).unwrap()).collect();
        let texts: Vec<_> = all.iter().map(Payload::to_string).collect();
        let sequences = ["octets 8 B", "octets 64 B", "longs 8 B", "longs 64 B"];
        let given = ["given 8 B", "given 64 B"];
        let echoed = ["null", "8 B", "64 B"];
        assert_eq!(texts, [&echoed[..], &given, &["short", "long", "struct"], &sequences].concat());
        assert!(Plan::of_type("void", &[]).unwrap_err().contains("there are null, octet, given, short"));
        assert!(Plan::of_type("longs", &[6]).unwrap_err().contains("6 octets"));
    }

    #[test]
    fn targets_hold_for_one_processor_only() {
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Null), Some(Target(1.10)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(64 << 10)), Some(Target(1.50)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(1 << 10)), None);
        assert_eq!(target(Transport::Tcp, Pin::Split, Payload::Null), None);
    }
}
