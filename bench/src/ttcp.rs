//! The field's benchmark: a transmitter floods a receiver with buffers of typed data.
//!
//! For each type and buffer size the systems take turns, each sending the same buffers the same number of times. A flood's
//! clock runs from the first send until the receiver has confirmed that it has executed every buffer and found each as
//! it should be (`crate::flood`); connecting, filling the first buffers and agreeing on what is to come is before it.
//! The time of each system's flood over that of the floor's in the same round gives a ratio.
//!
//! Processor time is taken from outside, of both processes, at the clock's beginning and end ([`crate::cpu`]).

use std::time::Duration;

use crate::BenchError;
use crate::contest::{Contest, Entry, Far};
use crate::cpu::{self, Spent};
use crate::flood::{Element, Flood};
use crate::lab::Lab;
use crate::pin::{self, Pin, Placement};
use crate::raw::Raw;
use crate::row::{Figures, Row};
use crate::statistics::{LEAST_PAIRS, Ratio, median};
use crate::system::{Client, Setting, System, Transport, octets_text};

/// A warm-up sends this part of the buffers: connections, caches and the kernel's windows have settled by then.
pub(crate) const WARM_UP_PART: u32 = 8;

/// Buffers that tell how long a flood would take, where that is bounded.
pub const TASTE: u32 = 16;

/// What so few take only where they stall, and not because it is the first time.
const STALLED: Duration = Duration::from_millis(500);

const GIB: f64 = (1_u64 << 30) as f64;

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Over what.
    pub transport: Transport,
    /// On which processors.
    pub pin: Pin,
    /// Which types.
    pub elements: Vec<Element>,
    /// Octets of a buffer.
    pub buffers: Vec<usize>,
    /// Octets of a flood; at least one buffer is sent.
    pub total: u64,
    /// The most buffers of a flood, which shortens those of small buffers; `None`: as many as `total` takes.
    pub most: Option<u32>,
    /// The longest that a flood may take, in seconds. In queues as narrow as a buffer a sender can wait for the receiver's
    /// window to be probed, a fifth of a second for each few kilobytes: a system to which that happens is measured by
    /// [`TASTE`] buffers, or if it happens later has no further turn. `None`: as long as it takes.
    pub longest: Option<u32>,
    /// Octets of the sockets' queues; `None` leaves them to the system.
    pub queue: Option<usize>,
    /// Floods of each system for each type and size.
    pub repeat: usize,
    /// Seeds the interval's resampling.
    pub seed: u64,
}

impl Plan {
    /// From 1 KiB to 16 MiB in powers of two.
    pub fn standard_buffers() -> Vec<usize> {
        (10..=24).map(|power| 1 << power).collect()
    }

    /// The flood of a type and buffer size.
    pub fn flood(&self, element: Element, octets: usize) -> Flood {
        let one = Flood { element, octets, count: 1 };
        let most = self.most.unwrap_or(u32::MAX).max(1);
        let count = self.total.div_ceil(one.buffer() as u64).clamp(1, most.into());
        Flood { count: count as u32, ..one }
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting { queue: self.queue, ..Setting::over(self.transport) }
    }
}

/// The figures of one type and buffer size: the systems that finished, in their order.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was sent.
    pub flood: Flood,
    /// One of each system; the floor is among them if it was asked for.
    pub rows: Vec<Row>,
}

/// Measures the systems, the first being the floor, and hands on the figures of each type and size as soon as they are
/// there.
///
/// Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the first system, and [`BenchError::Stopped`].
pub fn run(
    entries: Vec<Entry>,
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    let mut placement = plan.pin.placement()?;
    if entries.iter().any(|entry| entry.served_at.is_some()) {
        placement.server = None;
    }
    // A thread of its own, so that the caller's is not left pinned.
    pin::on(placement.client, || compete(entries, plan, lab, placement, finished))?
}

fn compete(
    entries: Vec<Entry>,
    plan: &Plan,
    lab: &Lab,
    placement: Placement,
    finished: &mut dyn FnMut(Outcome),
) -> Result<Vec<String>, BenchError> {
    let mut contest = Contest::new(lab, plan.setting(), placement, entries);
    let events = plan.elements.len() * plan.buffers.len();
    lab.progress.expect((events * plan.repeat * contest.len()) as u64);
    for &element in &plan.elements {
        for &octets in &plan.buffers {
            contest.begin()?;
            finished(measure(&mut contest, plan, lab, plan.flood(element, octets))?);
        }
    }
    Ok(contest.faults())
}

fn measure(contest: &mut Contest, plan: &Plan, lab: &Lab, flood: Flood) -> Result<Outcome, BenchError> {
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::of(flood)).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        if let Some((turn, seconds)) = taste(contest, at, plan, flood)? {
            let system = contest.system(at).name();
            lab.progress.remark(&format!(
                "{system}: {} buffers of {} would take {seconds:.0} s: measured by {TASTE} of them, without a ratio",
                flood.count,
                octets_text(flood.octets)
            ));
            *side = Side { flood: Flood { count: TASTE, ..flood }, turns: vec![turn] };
        }
    }
    let warm_up = Flood { count: flood.count.div_ceil(WARM_UP_PART), ..flood };
    for at in (0..contest.len()).filter(|&at| sides[at].turns.is_empty()) {
        contest.attempt(at, |client, _| client.flood(warm_up))?;
    }
    for round in 0..plan.repeat {
        for at in contest.order(round) {
            if !sides[at].is_over(flood, plan)
                && let Some(turn) = contest.attempt(at, |client, far| turn(client, far, flood))?
            {
                sides[at].turns.push(turn);
            }
            lab.progress.step();
        }
    }
    // Who still takes part has had all its turns, or the first of them if they took too long, so that turns of the same place in their lists make pairs.
    let floor: Vec<_> = sides[0].turns.iter().map(|turn| turn.confirmed).collect();
    let finished = sides.iter().enumerate().filter(|&(at, _)| contest.takes_part(at));
    let to_floor =
        contest.system(0).name() == Raw::Plain.name() && plan.pin != Pin::None && sides[0].flood == flood;
    let rows = finished.map(|(at, side)| {
        let mut row = side.row(contest.system(at), plan);
        if to_floor && side.flood == flood {
            side.compare(&floor, plan.seed, &mut row);
        }
        row
    });
    Ok(Outcome { flood, rows: rows.collect() })
}

/// A first small flood of a system that would take too long for a whole one, and how many seconds that would be.
fn taste(
    contest: &mut Contest,
    at: usize,
    plan: &Plan,
    flood: Flood,
) -> Result<Option<(Turn, f64)>, BenchError> {
    let Some(longest) = plan.longest.filter(|_| flood.count > TASTE) else { return Ok(None) };
    let taste = Flood { count: TASTE, ..flood };
    let turn = contest.attempt(at, |client, far| turn(client, far, taste))?;
    Ok(turn.and_then(|turn| {
        let seconds = turn.confirmed.as_secs_f64() / f64::from(TASTE) * f64::from(flood.count);
        (turn.confirmed > STALLED && seconds > f64::from(longest)).then_some((turn, seconds))
    }))
}

/// One flood's times.
struct Turn {
    confirmed: Duration,
    sent: Option<Duration>,
    sender: Option<Duration>,
    receiver: Option<Duration>,
}

fn turn(client: &mut dyn Client, far: &Far, flood: Flood) -> Result<Turn, BenchError> {
    let spent_by = |process: Option<u32>| process.and_then(Spent::of);
    let driver = client.process();
    let (receiver, sender, own) = (spent_by(far.process()), spent_by(driver), cpu::own());
    let flooded = client.flood(flood)?;
    let own = cpu::own().saturating_sub(own);
    let since = |before: Option<Spent>, process| Some(spent_by(process)?.since(&before?));
    Ok(Turn {
        confirmed: flooded.confirmed,
        sent: flooded.sent,
        sender: if driver.is_some() { since(sender, driver) } else { Some(own) },
        receiver: since(receiver, far.process()),
    })
}

/// One system's turns of one kind of flood.
struct Side {
    flood: Flood,
    turns: Vec<Turn>,
}

impl Side {
    fn of(flood: Flood) -> Side {
        Side { flood, turns: Vec::new() }
    }

    /// Whether it has had its last turn, because it stalls.
    fn is_over(&self, flood: Flood, plan: &Plan) -> bool {
        let too_long = |turn: &Turn| plan.longest.is_some_and(|most| turn.confirmed.as_secs() >= most.into());
        self.flood != flood || self.turns.last().is_some_and(too_long)
    }

    fn row(&self, system: &dyn System, plan: &Plan) -> Row {
        let flood = self.flood;
        let gbit = flood.total() as f64 * 8.0 / 1e9;
        let rate = |times: Option<Vec<Duration>>| {
            let mut rates: Vec<_> = times?.iter().map(|time| gbit / time.as_secs_f64()).collect();
            Some(rounded(median(&mut rates)))
        };
        let all =
            |time: fn(&Turn) -> Option<Duration>| self.turns.iter().map(time).collect::<Option<Vec<_>>>();
        let gib = flood.total() as f64 * self.turns.len() as f64 / GIB;
        let each_gib =
            |times: Option<Vec<Duration>>| Some(times?.iter().sum::<Duration>().as_secs_f64() / gib);
        let (sender, receiver) = (each_gib(all(|turn| turn.sender)), each_gib(all(|turn| turn.receiver)));
        let figures = Figures::Throughput {
            gbit_s: rate(all(|turn| Some(turn.confirmed))).unwrap_or_default(),
            sender_gbit_s: rate(all(|turn| turn.sent)),
            cpu_s_per_gib: sender.zip(receiver).map(|(sender, receiver)| rounded(sender + receiver)),
            sender_cpu_s_per_gib: sender.map(rounded),
            receiver_cpu_s_per_gib: receiver.map(rounded),
        };
        let what = (flood.element.name(), flood.octets);
        let mut row = Row::new("ttcp", system, (plan.transport, plan.pin), what, figures);
        row.parameters.queue = plan.queue;
        row
    }

    /// Enters the ratio of times to the floor's: with an interval if there are enough pairs.
    fn compare(&self, floor: &[Duration], seed: u64, row: &mut Row) {
        let pairs = self.turns.iter().zip(floor);
        let mut ratios: Vec<_> =
            pairs.map(|(turn, floor)| turn.confirmed.as_secs_f64() / floor.as_secs_f64()).collect();
        if ratios.len() >= LEAST_PAIRS {
            row.set_ratio(Ratio::of_pairs(&ratios, seed));
        } else if !ratios.is_empty() {
            row.set_unresolved_ratio(median(&mut ratios));
        }
    }
}

/// To five figures, which is below what any run resolves. Buffers of one octet have rates of a ten-thousandth.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rates_keep_their_figures() {
        let texts = [0.000_512_345_6, 41.234_56, 985.970_1, 0.0].map(|rate| rounded(rate).to_string());
        assert_eq!(texts, ["0.00051235", "41.235", "985.97", "0"]);
    }

    #[test]
    fn a_flood_has_its_total_or_the_most_buffers() {
        let plan = |most| Plan {
            transport: Transport::Tcp,
            pin: Pin::Split,
            elements: vec![Element::Octet],
            buffers: vec![1],
            total: 10_000,
            most,
            longest: None,
            queue: None,
            repeat: 1,
            seed: 1,
        };
        let count = |most, octets| plan(most).flood(Element::Octet, octets).count;
        assert_eq!([count(None, 1), count(None, 999), count(None, 1 << 20)], [10_000, 11, 1]);
        assert_eq!([count(Some(100), 1), count(Some(100), 999), count(Some(0), 999)], [100, 11, 1]);
    }
}
