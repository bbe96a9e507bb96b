//! The round-trip scenario: how much longer a call takes than moving its bytes over a bare socket.
//!
//! All servers run at once, the systems' and the bare socket's; the client makes a short burst of calls to one, then
//! to the next, and every round in another order, so that whatever the machine does meanwhile meets all of them. Each
//! round gives for each system the ratio of its median to the bare socket's; the rounds together give the interval. Every
//! reply is compared with its request, outside the measured time.

use crate::BenchError;
use crate::calls::{self, Basis, PAIRS};
use crate::lab::Lab;
use crate::pin::Pin;
use crate::row::Row;
use crate::statistics::Target;
use crate::system::{MessageSizes, Payload, System, Transport};

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How, and how many calls for each payload.
    pub basis: Basis,
    /// What the calls carry.
    pub payloads: Vec<Payload>,
}

impl Plan {
    /// The null call and 1, 8 and 64 KiB.
    pub fn standard_payloads() -> Vec<Payload> {
        vec![Payload::Null, Payload::Octets(1 << 10), Payload::Octets(8 << 10), Payload::Octets(64 << 10)]
    }
}

/// One payload's outcome.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the calls carried.
    pub payload: Payload,
    /// The bytes that the bare socket moved each way: as many as the first system's messages have.
    pub messages: MessageSizes,
    /// The figures: the bare socket's first, then those of each system that finished.
    pub rows: Vec<Row>,
}

/// The ratio that a call may cost, where one is set: pinned to one processor, over TCP.
pub fn target(transport: Transport, pin: Pin, payload: Payload) -> Option<Target> {
    match (transport, pin, payload) {
        (Transport::Tcp, Pin::Same, Payload::Null) => Some(Target(1.10)),
        (Transport::Tcp, Pin::Same, Payload::Octets(65_536)) => Some(Target(1.50)),
        _ => None,
    }
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
    plan.basis.contest(systems, lab, |contest| {
        lab.progress.expect((plan.payloads.len() * PAIRS * contest.len()) as u64);
        for &payload in &plan.payloads {
            let (messages, sides) = calls::event(contest, &plan.basis, lab, payload)?;
            let row = |(at, side): (usize, Option<calls::Side>)| {
                let side = side?;
                Some(plan.basis.row("rtt", contest.system(at), payload, side.latency(), &side.ratios))
            };
            let rows = sides.into_iter().enumerate().filter_map(row).collect();
            finished(Outcome { payload, messages, rows });
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_hold_for_one_processor_only() {
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Null), Some(Target(1.10)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(64 << 10)), Some(Target(1.50)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(1 << 10)), None);
        assert_eq!(target(Transport::Tcp, Pin::Split, Payload::Null), None);
    }
}
