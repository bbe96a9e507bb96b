//! The round-trip scenario: how much longer a call takes than moving its bytes over a bare socket.
//!
//! All servers run at once, the systems' and the bare socket's; the client makes a short burst of calls to one, then
//! to the next, and every round in another order, so that whatever the machine does meanwhile meets all of them. Each
//! round gives for each system the ratio of its median to the bare socket's; the rounds together give the interval. Every
//! reply is compared with its request, outside the measured time.

use std::time::{Duration, Instant};

use crate::BenchError;
use crate::contest::{Contest, Entry};
use crate::lab::Lab;
use crate::latency::Latencies;
use crate::pin::{self, Pin};
use crate::raw::Raw;
use crate::row::{Figures, Parameters, Row};
use crate::statistics::{LEAST_PAIRS, Ratio, Target, median};
use crate::system::{Call, Client, MessageSizes, Payload, Setting, System, Transport};

/// Rounds of bursts for each payload, each a pair with the floor: twice the least, which narrows the interval by a
/// third.
pub const PAIRS: usize = 2 * LEAST_PAIRS;

/// The fewest calls in a burst: below it the burst's median is one call's luck.
pub const LEAST_BURST: usize = 5;

/// How long each system is called before the first burst that counts: connections, caches, branch
/// predictors and the processor's clock settle well within it.
const WARM_UP: Duration = Duration::from_millis(150);

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Over what.
    pub transport: Transport,
    /// On which processors.
    pub pin: Pin,
    /// Calls of each system for each payload, at least [`PAIRS`] × [`LEAST_BURST`] are made.
    pub calls: usize,
    /// What the calls carry.
    pub payloads: Vec<Payload>,
    /// Seeds the interval's resampling.
    pub seed: u64,
}

impl Plan {
    /// The null call and 1, 8 and 64 KiB.
    pub fn standard_payloads() -> Vec<Payload> {
        vec![Payload::Null, Payload::Octets(1 << 10), Payload::Octets(8 << 10), Payload::Octets(64 << 10)]
    }

    /// Calls in one burst.
    pub fn burst(&self) -> usize {
        (self.calls / PAIRS).max(LEAST_BURST)
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
    let placement = plan.pin.placement()?;
    // A thread of its own, so that the caller's is not left pinned.
    pin::on(placement.client, || {
        let all = [&Raw::Plain as &dyn System].into_iter().chain(systems.iter().copied());
        let mut contest = Contest::new(lab, Setting::over(plan.transport), placement, all.map(Entry::here));
        lab.progress.expect((plan.payloads.len() * PAIRS * contest.len()) as u64);
        for &payload in &plan.payloads {
            contest.begin()?;
            finished(measure(&mut contest, plan, lab, payload)?);
        }
        Ok(contest.faults())
    })?
}

fn measure(contest: &mut Contest, plan: &Plan, lab: &Lab, payload: Payload) -> Result<Outcome, BenchError> {
    let setting = Setting::over(plan.transport);
    let leader = if contest.len() > 1 { 1 } else { 0 };
    let system = contest.system(leader);
    let sizes =
        contest.attempt(leader, |_, far| system.message_sizes(lab, &setting, far.address(), payload))?;
    let messages = match sizes {
        Some(messages) => messages,
        None => Raw::Plain.message_sizes(lab, &setting, "", payload)?,
    };
    let call = Call { payload, messages };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        contest.attempt(at, |client, _| {
            client.prepare(call)?;
            side.warm_up(client)
        })?;
    }
    let mut medians = vec![f64::NAN; sides.len()];
    for round in 0..PAIRS {
        for at in contest.order(round) {
            let burst = contest.attempt(at, |client, _| sides[at].burst(client, plan.burst()))?;
            medians[at] = burst.unwrap_or(f64::NAN);
            lab.progress.step();
        }
        for (side, median) in sides.iter_mut().zip(&medians) {
            side.ratios.push(median / medians[0]);
        }
    }
    let finished = sides.iter().enumerate().filter(|&(at, _)| contest.takes_part(at));
    let rows = finished.map(|(at, side)| side.row(contest.system(at), plan, payload)).collect();
    Ok(Outcome { payload, messages, rows })
}

/// One system's calls of one kind, with all their latencies.
#[derive(Default)]
struct Side {
    latencies: Latencies,
    times: Vec<Duration>,
    /// To the floor, one of each round.
    ratios: Vec<f64>,
}

impl Side {
    /// Calls without counting.
    fn warm_up(&mut self, client: &mut dyn Client) -> Result<(), BenchError> {
        let start = Instant::now();
        while start.elapsed() < WARM_UP {
            self.burst(client, LEAST_BURST)?;
        }
        self.latencies = Latencies::new();
        Ok(())
    }

    /// Makes `calls` calls and returns their median in nanoseconds.
    fn burst(&mut self, client: &mut dyn Client, calls: usize) -> Result<f64, BenchError> {
        self.times.clear();
        client.burst(calls, &mut self.times)?;
        for &time in &self.times {
            self.latencies.record(time);
        }
        let mut nanoseconds: Vec<_> = self.times.iter().map(|time| time.as_nanos() as f64).collect();
        Ok(median(&mut nanoseconds))
    }

    fn row(&self, system: &dyn System, plan: &Plan, payload: Payload) -> Row {
        let mut row = Row {
            experiment: "rtt".to_owned(),
            system: system.name().to_owned(),
            transport: plan.transport.name().to_owned(),
            messaging: system.messaging().to_owned(),
            r#type: payload.type_name().to_owned(),
            size: payload.size(),
            pin: plan.pin.name().to_owned(),
            figures: Figures::Latency {
                p50_us: self.latencies.median_us(),
                p99_us: self.latencies.percentile_us(99.0),
            },
            ratio_to_raw: None,
            ratio_low: None,
            ratio_high: None,
            parameters: Parameters::default(),
            command: None,
        };
        if plan.pin.gives_ratios() {
            row.set_ratio(Ratio::of_pairs(&self.ratios, plan.seed));
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(calls: usize) -> Plan {
        let payloads = Plan::standard_payloads();
        Plan { transport: Transport::Tcp, pin: Pin::Same, calls, payloads, seed: 1 }
    }

    #[test]
    fn a_burst_is_never_too_short_to_have_a_median() {
        assert_eq!(plan(10_000).burst(), 250);
        assert_eq!(plan(1).burst(), LEAST_BURST);
    }

    #[test]
    fn targets_hold_for_one_processor_only() {
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Null), Some(Target(1.10)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(64 << 10)), Some(Target(1.50)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(1 << 10)), None);
        assert_eq!(target(Transport::Tcp, Pin::Split, Payload::Null), None);
    }
}
