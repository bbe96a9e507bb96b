//! Calls in turns: what the scenarios of calls that are made one at a time have in common.
//!
//! For each *event* (one kind of call) every system is prepared and warmed up; then each makes a short burst of calls,
//! every round in another order, so that whatever the machine does meanwhile meets all of them. A round gives for
//! each system the ratio of its median to the floor's.

use std::time::{Duration, Instant};

use zorb::transport::Spinning;

use crate::BenchError;
use crate::contest::{Contest, Entry, Far};
use crate::lab::Lab;
use crate::latency::Latencies;
use crate::pin::{self, Pin};
use crate::raw::Raw;
use crate::row::{Figures, Row};
use crate::statistics::{LEAST_PAIRS, Ratio, median};
use crate::system::{Call, Client, MessageSizes, Payload, Setting, System, Transport};

/// Rounds of bursts for each event, each a pair with the floor: twice the least, which narrows the interval by a
/// third.
pub const PAIRS: usize = 2 * LEAST_PAIRS;

/// The fewest calls in a burst: below it the burst's median is one call's luck.
pub const LEAST_BURST: usize = 5;

/// How long each system is called before the first burst that counts: connections, caches, branch
/// predictors and the processor's clock settle well within it.
pub(crate) const WARM_UP: Duration = Duration::from_millis(150);

/// What the plan of every scenario has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Basis {
    /// Over what.
    pub transport: Transport,
    /// On which processors.
    pub pin: Pin,
    /// Calls of each system in each event; at least [`PAIRS`] × [`LEAST_BURST`] are made.
    pub calls: usize,
    /// Seeds the interval's resampling.
    pub seed: u64,
    /// What the ratios are to: [`Raw::Plain`], or [`Raw::Spinning`].
    pub floor: Raw,
    /// How zorb's waits look before they sleep; `None`: as every program's.
    pub spinning: Option<Spinning>,
}

impl Default for Basis {
    fn default() -> Basis {
        let (transport, pin) = (Transport::Tcp, Pin::Same);
        Basis { transport, pin, calls: 1, seed: 1, floor: Raw::Plain, spinning: None }
    }
}

impl Basis {
    /// Whether a ratio to the floor means something: where nobody sleeps it does on any processors.
    pub fn gives_ratios(&self) -> bool {
        self.pin.gives_ratios() || self.floor == Raw::Spinning
    }

    /// How the systems are set up.
    fn setting(&self) -> Setting {
        Setting { spinning: self.spinning, ..Setting::over(self.transport) }
    }

    /// Calls in one burst.
    pub fn burst(&self) -> usize {
        (self.calls / PAIRS).max(LEAST_BURST)
    }

    /// Lets `body` measure `systems` beside the bare socket, which has place 0, on a thread of its own, so that the
    /// caller's is not left pinned. Gives what went wrong with single systems, a line each.
    ///
    /// # Errors
    ///
    /// There are too few processors; those of `body`.
    pub fn contest(
        &self,
        systems: &[&dyn System],
        lab: &Lab,
        body: impl FnOnce(&mut Contest) -> Result<(), BenchError> + Send,
    ) -> Result<Vec<String>, BenchError> {
        let placement = self.pin.placement()?;
        pin::on(placement.client, || {
            let all = [&self.floor as &dyn System].into_iter().chain(systems.iter().copied());
            let mut contest = Contest::new(lab, self.setting(), placement, all.map(Entry::here));
            body(&mut contest)?;
            Ok(contest.faults())
        })?
    }

    /// A row of this run. `ratios` are those to the floor, one of each round.
    pub fn row(
        &self,
        experiment: &str,
        system: &dyn System,
        payload: Payload,
        figures: Figures,
        ratios: &[f64],
    ) -> Row {
        let what = (payload.type_name(), payload.size());
        let mut row = Row::new(experiment, system, (self.transport, self.pin), what, figures);
        if self.gives_ratios() {
            row.set_ratio(Ratio::of_pairs(ratios, self.seed));
        }
        row
    }
}

/// What calls of one kind came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the calls carried.
    pub payload: Payload,
    /// The bytes that the bare socket moved each way: as many as the first system's messages have.
    pub messages: MessageSizes,
    /// The figures: the bare socket's first, then those of each system that finished.
    pub rows: Vec<Row>,
}

/// A scenario that is a list of payloads: measures `systems` beside the bare socket, and hands on the outcome of each
/// payload as soon as it is there. `figures` are what its rows tell of a side. Gives what went wrong with single
/// systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor or the first system's messages, and [`BenchError::Stopped`].
pub fn compare(
    experiment: &str,
    figures: fn(&Side) -> Figures,
    systems: &[&dyn System],
    (basis, payloads): (&Basis, &[Payload]),
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((payloads.len() * PAIRS * contest.len()) as u64);
        for &payload in payloads {
            let (messages, sides) = event(contest, basis, lab, payload)?;
            let rows = sides.iter().enumerate().filter_map(|(at, side)| {
                let side = side.as_ref()?;
                Some(basis.row(experiment, contest.system(at), payload, figures(side), &side.ratios))
            });
            let rows = rows.collect();
            finished(Outcome { payload, messages, rows });
        }
        Ok(())
    })
}

/// Measures calls of one kind. `None` at the place of a system that does not take part to the end. The bare socket
/// moves as many bytes as the messages of the first system beside it.
///
/// # Errors
///
/// The floor failed, or [`BenchError::Stopped`].
pub fn event(
    contest: &mut Contest,
    basis: &Basis,
    lab: &Lab,
    payload: Payload,
) -> Result<(MessageSizes, Vec<Option<Side>>), BenchError> {
    contest.begin()?;
    let messages = messages(contest, basis, lab, payload)?;
    let call = Call { payload, messages };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        contest.attempt(at, |client, _| {
            client.prepare(call)?;
            side.warm_up(client)
        })?;
    }
    rounds(contest, lab, PAIRS, &mut sides, &mut |client, times| client.burst(basis.burst(), times))?;
    Ok((messages, finished(contest, sides)))
}

/// What a system does in its turn: makes calls and adds the time of each.
pub type Burst<'b> = dyn FnMut(&mut dyn Client, &mut Vec<Duration>) -> Result<(), BenchError> + 'b;

/// Lets the systems take `burst` in turns, `rounds` times.
///
/// # Errors
///
/// As for [`event`].
pub fn rounds(
    contest: &mut Contest,
    lab: &Lab,
    rounds: usize,
    sides: &mut [Side],
    burst: &mut Burst<'_>,
) -> Result<(), BenchError> {
    watched_rounds(contest, lab, rounds, sides, &mut |client, _, times| burst(client, times).map(|()| None))
}

/// The same of a burst whose server is looked at: it gives the processor time that this spent meanwhile, where that can
/// be seen.
pub type WatchedBurst<'b> =
    dyn FnMut(&mut dyn Client, &Far, &mut Vec<Duration>) -> Result<Option<Duration>, BenchError> + 'b;

/// [`rounds`] of bursts whose servers are looked at.
///
/// # Errors
///
/// As for [`event`].
pub fn watched_rounds(
    contest: &mut Contest,
    lab: &Lab,
    rounds: usize,
    sides: &mut [Side],
    burst: &mut WatchedBurst<'_>,
) -> Result<(), BenchError> {
    let mut medians = vec![f64::NAN; sides.len()];
    for round in 0..rounds {
        for at in contest.order(round) {
            let taken =
                contest.attempt(at, |client, far| sides[at].take(|times| burst(client, far, times)))?;
            medians[at] = taken.unwrap_or(f64::NAN);
            lab.progress.step();
        }
        for (side, median) in sides.iter_mut().zip(&medians) {
            side.ratios.push(median / medians[0]);
        }
    }
    Ok(())
}

/// Makes `calls` calls, and gives what the server's process has spent on them of the processors. Each look at that is
/// outside of the clock.
///
/// # Errors
///
/// A call's.
pub fn watched_burst(
    client: &mut dyn Client,
    far: &Far,
    calls: usize,
    times: &mut Vec<Duration>,
) -> Result<Option<Duration>, BenchError> {
    let mut looks = Vec::with_capacity(2);
    client.watched_burst(calls, times, &mut || looks.push(far.spent()))?;
    Ok(match looks.as_slice() {
        [Some(first), .., Some(last)] => Some(last.since(first)),
        _ => None,
    })
}

/// The sides of those systems that took part to the end.
pub fn finished(contest: &Contest, sides: Vec<Side>) -> Vec<Option<Side>> {
    sides.into_iter().enumerate().map(|(at, side)| contest.takes_part(at).then_some(side)).collect()
}

/// The bytes of a call's messages: those of the first system beside the floor, or of the bare payload.
///
/// # Errors
///
/// As for [`event`].
pub fn messages(
    contest: &mut Contest,
    basis: &Basis,
    lab: &Lab,
    payload: Payload,
) -> Result<MessageSizes, BenchError> {
    let setting = basis.setting();
    let leader = if contest.len() > 1 { 1 } else { 0 };
    let system = contest.system(leader);
    let sizes =
        contest.attempt(leader, |_, far| system.message_sizes(lab, &setting, far.address(), payload))?;
    match sizes {
        Some(messages) => Ok(messages),
        None => Raw::Plain.message_sizes(lab, &setting, "", payload),
    }
}

/// One system's calls of one kind.
#[derive(Debug, Default)]
pub struct Side {
    /// Of every call.
    pub latencies: Latencies,
    /// Of all calls together.
    pub total: Duration,
    /// To the floor, one of each round.
    pub ratios: Vec<f64>,
    /// One of each round that it has taken part in.
    pub turns: Vec<Turn>,
    times: Vec<Duration>,
}

/// A system's calls of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The time of all of them together.
    pub took: Duration,
    /// What the server spent on them of its processor; `None` if nobody looked, or could.
    pub server: Option<Duration>,
}

impl Side {
    /// Calls without counting.
    ///
    /// # Errors
    ///
    /// A call's.
    pub fn warm_up(&mut self, client: &mut dyn Client) -> Result<(), BenchError> {
        let start = Instant::now();
        while start.elapsed() < WARM_UP {
            self.take(|times| client.burst(LEAST_BURST, times).map(|()| None))?;
        }
        *self = Side::default();
        Ok(())
    }

    /// Makes calls and returns their median in nanoseconds.
    fn take(
        &mut self,
        burst: impl FnOnce(&mut Vec<Duration>) -> Result<Option<Duration>, BenchError>,
    ) -> Result<f64, BenchError> {
        self.times.clear();
        let server = burst(&mut self.times)?;
        let took = self.times.iter().sum();
        self.times.iter().for_each(|&time| self.latencies.record(time));
        self.total += took;
        self.turns.push(Turn { took, server });
        let mut nanoseconds: Vec<_> = self.times.iter().map(|time| time.as_nanos() as f64).collect();
        Ok(median(&mut nanoseconds))
    }

    /// Median and 99th percentile.
    pub fn latency(&self) -> Figures {
        Figures::Latency { p50_us: self.latencies.median_us(), p99_us: self.latencies.percentile_us(99.0) }
    }

    /// The same, and the server's processor time for a call, if each turn of so many has been looked at.
    pub fn served(&self, calls: usize) -> Figures {
        let nanoseconds = |turn: &Turn| Some(turn.server?.as_nanos() as f64 / calls.max(1) as f64);
        let server: Option<Vec<f64>> = self.turns.iter().map(nanoseconds).collect();
        Figures::Served {
            p50_us: self.latencies.median_us(),
            p99_us: self.latencies.percentile_us(99.0),
            // To a nanosecond: there is nothing below it.
            server_us: server.map(|mut of_turns| median(&mut of_turns).round() / 1e3),
        }
    }

    /// The same as [`Side::latency`], and how many calls end in a second of calling.
    pub fn calls(&self) -> Figures {
        Figures::Calls {
            p50_us: self.latencies.median_us(),
            p99_us: self.latencies.percentile_us(99.0),
            calls_s: self.latencies.count() as f64 / self.total.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_is_that_of_its_turns_or_unknown() {
        let turn = |server| Turn { took: Duration::from_micros(100), server };
        let server_us = |turns: Vec<Turn>| match (Side { turns, ..Side::default() }).served(10) {
            Figures::Served { server_us, .. } => server_us,
            other => panic!("{other:?}"),
        };
        let micros = |micros| turn(Some(Duration::from_micros(micros)));
        assert_eq!(server_us(vec![micros(40), micros(10_000), micros(42)]), Some(4.2));
        assert_eq!(server_us(vec![micros(40), turn(None)]), None);
    }

    #[test]
    fn a_burst_is_never_too_short_to_have_a_median() {
        let basis =
            |calls| Basis { transport: Transport::Tcp, pin: Pin::Same, calls, seed: 1, ..Basis::default() };
        assert_eq!(basis(10_000).burst(), 250);
        assert_eq!(basis(1).burst(), LEAST_BURST);
    }
}
