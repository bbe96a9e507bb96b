//! The round-trip scenario: how much longer a call takes than moving its bytes over a bare socket.
//!
//! Two servers run at once, the system's and the bare socket's, on the same processor; the client makes
//! a short burst of calls to one, then to the other, then begins the next pair in the opposite order, so
//! that whatever the machine does meanwhile meets both. Each pair gives the ratio of its two medians; the
//! pairs together give the interval. Every reply is compared with its request, outside the measured time.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::BenchError;
use crate::latency::Latencies;
use crate::pin::{self, Pin};
use crate::process::Server;
use crate::raw::Raw;
use crate::row::Row;
use crate::statistics::{LEAST_PAIRS, Ratio, Target, median};
use crate::system::{Call, Client, Exchange, MessageSizes, Payload, System, Transport};

/// Pairs of bursts for each payload: twice the least, which narrows the interval by a third.
pub const PAIRS: usize = 2 * LEAST_PAIRS;

/// The fewest calls in a burst: below it the burst's median is one call's luck.
pub const LEAST_BURST: usize = 5;

/// How long each system is called before the first burst that counts: connections, caches, branch
/// predictors and the processor's clock settle well within it.
const WARM_UP: Duration = Duration::from_millis(150);

/// How long one payload's measurement may take before the servers are killed. A thousand times what the
/// slowest figure seen needs for the default number of calls.
const LONGEST: Duration = Duration::from_secs(30 * 60);

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

    /// Bursts in the whole run, warm-up not counted: what a progress bar counts.
    pub fn bursts(&self) -> u64 {
        (self.payloads.len() * PAIRS * 2) as u64
    }
}

/// One payload's outcome.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the calls carried.
    pub payload: Payload,
    /// The bytes that both systems moved each way.
    pub messages: MessageSizes,
    /// The bare socket's figures.
    pub raw: Row,
    /// The system's figures.
    pub system: Row,
}

/// The ratio that a call may cost, where one is set: pinned to one processor, over TCP.
pub fn target(transport: Transport, pin: Pin, payload: Payload) -> Option<Target> {
    match (transport, pin, payload) {
        (Transport::Tcp, Pin::Same, Payload::Null) => Some(Target(1.10)),
        (Transport::Tcp, Pin::Same, Payload::Octets(65_536)) => Some(Target(1.50)),
        _ => None,
    }
}

/// Measures `system` beside the bare socket. `server` makes the command that serves the named system on
/// a processor, `measured` is called after each burst.
///
/// # Errors
///
/// Any [`BenchError`]; figures of a run that failed are not returned.
pub fn run(
    system: &dyn System,
    plan: &Plan,
    server: &dyn Fn(&str, Transport, Option<usize>) -> Command,
    measured: &mut (dyn FnMut() + Send),
) -> Result<Vec<Outcome>, BenchError> {
    let placement = plan.pin.placement()?;
    let lifetime = LONGEST * plan.payloads.len().try_into().unwrap_or(u32::MAX);
    let start = |name| Server::start(server(name, plan.transport, placement.server), lifetime);
    let servers = (start(system.name())?, start(Raw.name())?);
    let outcomes = thread::scope(|scope| {
        // A thread of its own, so that the caller's is not left pinned.
        let client = scope.spawn(|| {
            if let Some(processor) = placement.client {
                pin::keep_to(processor)?;
            }
            measure(system, plan, servers.0.address(), servers.1.address(), measured)
        });
        client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match outcomes {
        Err(_) if servers.0.expired() || servers.1.expired() => Err(BenchError::TooLong { limit: lifetime }),
        outcomes => outcomes,
    }
}

fn measure(
    system: &dyn System,
    plan: &Plan,
    system_address: &str,
    raw_address: &str,
    measured: &mut dyn FnMut(),
) -> Result<Vec<Outcome>, BenchError> {
    let mut client = system.connect(plan.transport, system_address)?;
    let mut raw_client = Raw.connect(plan.transport, raw_address)?;
    plan.payloads
        .iter()
        .map(|&payload| {
            let messages = system.message_sizes(plan.transport, system_address, payload)?;
            let call = Call { payload, messages };
            measure_one(system, plan, call, client.as_mut(), raw_client.as_mut(), measured)
        })
        .collect()
}

fn measure_one(
    system: &dyn System,
    plan: &Plan,
    call: Call,
    client: &mut dyn Client,
    raw_client: &mut dyn Client,
    measured: &mut dyn FnMut(),
) -> Result<Outcome, BenchError> {
    let mut ours = Side::new(client.exchange(call)?);
    let mut raw = Side::new(raw_client.exchange(call)?);
    ours.warm_up()?;
    raw.warm_up()?;

    let mut ratios = Vec::with_capacity(PAIRS);
    for pair in 0..PAIRS {
        let (mut system_median, mut raw_median) = (0.0, 0.0);
        for turn in 0..2 {
            if (pair + turn) % 2 == 0 {
                system_median = ours.burst(plan.burst())?;
            } else {
                raw_median = raw.burst(plan.burst())?;
            }
            measured();
        }
        ratios.push(system_median / raw_median);
    }

    let row = |system: &dyn System, latencies: &Latencies| Row {
        experiment: "rtt",
        system: system.name(),
        transport: plan.transport.name(),
        messaging: system.messaging(),
        r#type: call.payload.type_name(),
        size: call.payload.size(),
        pin: plan.pin.name(),
        p50_us: latencies.median_us(),
        p99_us: latencies.percentile_us(99.0),
        ratio_to_raw: None,
        ratio_low: None,
        ratio_high: None,
    };
    let mut raw_row = row(&Raw, &raw.latencies);
    let mut system_row = row(system, &ours.latencies);
    if plan.pin.gives_ratios() {
        raw_row.set_ratio(Some(Ratio::ONE));
        system_row.set_ratio(Ratio::of_pairs(&ratios, plan.seed));
    }
    Ok(Outcome { payload: call.payload, messages: call.messages, raw: raw_row, system: system_row })
}

/// One system's calls of one kind, with all their latencies.
struct Side<'c> {
    exchange: Box<dyn Exchange + 'c>,
    latencies: Latencies,
    burst: Vec<f64>,
}

impl<'c> Side<'c> {
    fn new(exchange: Box<dyn Exchange + 'c>) -> Side<'c> {
        Side { exchange, latencies: Latencies::new(), burst: Vec::new() }
    }

    /// Calls without counting.
    fn warm_up(&mut self) -> Result<(), BenchError> {
        let start = Instant::now();
        while start.elapsed() < WARM_UP {
            self.burst(LEAST_BURST)?;
        }
        self.latencies = Latencies::new();
        Ok(())
    }

    /// Makes `calls` calls and returns their median in nanoseconds.
    fn burst(&mut self, calls: usize) -> Result<f64, BenchError> {
        self.burst.clear();
        for _ in 0..calls {
            let start = Instant::now();
            self.exchange.round_trip()?;
            let took = start.elapsed();
            self.exchange.verify()?;
            self.latencies.record(took);
            self.burst.push(took.as_nanos() as f64);
        }
        Ok(median(&mut self.burst))
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
        assert_eq!(plan(1).bursts(), 4 * 2 * PAIRS as u64);
    }

    #[test]
    fn targets_hold_for_one_processor_only() {
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Null), Some(Target(1.10)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(64 << 10)), Some(Target(1.50)));
        assert_eq!(target(Transport::Tcp, Pin::Same, Payload::Octets(1 << 10)), None);
        assert_eq!(target(Transport::Tcp, Pin::Split, Payload::Null), None);
    }

    /// Answers correctly `good` times, then not.
    struct Failing {
        good: usize,
    }

    impl Exchange for Failing {
        fn round_trip(&mut self) -> Result<(), BenchError> {
            Ok(())
        }

        fn verify(&mut self) -> Result<(), BenchError> {
            let what = "a test says so".to_owned();
            self.good = self.good.checked_sub(1).ok_or(BenchError::Corrupt { system: "test", what })?;
            Ok(())
        }
    }

    #[test]
    fn corrupt_data_ends_the_run() {
        let mut side = Side::new(Box::new(Failing { good: 7 }));
        assert!(side.burst(7).unwrap() > 0.0);
        assert_eq!(side.latencies.count(), 7);
        assert!(matches!(side.burst(1), Err(BenchError::Corrupt { .. })));
    }
}
