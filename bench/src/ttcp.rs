//! The field's benchmark: a transmitter floods a receiver with buffers of typed data.
//!
//! For each type and buffer size the systems take turns, each sending the same buffers the same number of times. A flood's
//! clock runs from the first send until the receiver has confirmed that it has executed every buffer and found each as
//! it should be (`crate::flood`); connecting, filling the first buffers and agreeing on what is to come is before it.
//! The time of each system's flood over that of the floor's in the same round gives a ratio.
//!
//! Where a process's buffers came to lie in memory stays with it as long as it lives, and makes floods of one and the same
//! program several percent faster or slower. More floods of the same processes say nothing about that: where it matters,
//! a plan has several *instances*. The systems are started anew for each, in another order, and the ratio is then the median of the
//! instances' own ratios, with an interval that resamples instances.
//!
//! Each side is a process of its own, also of our own systems, with the threads that the system needs and no more.
//!
//! Processor time is taken from outside, of both processes, at the clock's beginning and end ([`crate::cpu`]).

use std::time::Duration;

use zorb::transport::tcp::Tcp;

use crate::BenchError;
use crate::contest::{Contest, Entry, Far};
use crate::cpu::{self, Spent};
use crate::flood::{Element, Flood};
use crate::lab::Lab;
use crate::machine;
use crate::orb::{Gathering, Zorb};
use crate::pin::{self, Pin};
use crate::raw::Raw;
use crate::row::{Compared, Figures, Row};
use crate::statistics::{LEAST_PAIRS, Ratio, Target, median};
use crate::system::{Client, Setting, System, Transport, octets_text};

/// A warm-up sends this part of the buffers: connections, caches and the kernel's windows have settled by then.
pub(crate) const WARM_UP_PART: u32 = 8;

/// The fewest buffers of a flood that is shortened, and those of a first one that tells how long it would take.
pub const TASTE: u32 = 16;

/// A system whose turns have taken so many times what all of them should, for all that they were shortened, has no further
/// one. One turn that waited, for a timer or for the machine, is no more than an outlier.
const STALLED: u32 = 5;

/// So many times the quickest turn is no scatter: somebody has waited for a timer, or for the machine.
const FAR_LONGER: u32 = 5;

/// Scalars from 8 KiB on are to go at 0.97 of the speed of the bare socket with the same options.
const AS_RAW: Target = Target(1.0 / 0.97);

/// Where the system paces what sockets send within the machine, 1 MiB of octets are to go at 1.5 times the speed of a
/// socket whose options are untouched.
const UNPACED: Target = Target(1.0 / 1.5);

/// Both sides' processor time for octets in buffers of 1 MiB.
const PROCESSOR: Target = Target(1.05);

/// Oneways of 1 KiB that are gathered are to go at five times the speed of a `write` for each.
const GATHERED: Target = Target(1.0 / 5.0);

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
    /// About the longest that a flood should take, in milliseconds: a system that would take longer sends fewer buffers, and at
    /// least [`TASTE`]. In queues as narrow as a buffer a sender can wait for the receiver's window to be probed, a fifth
    /// of a second for each few kilobytes: one to which that happens, by then or later, is not waited for in every
    /// round. `None`: as long as it takes.
    pub longest: Option<u32>,
    /// Octets of the sockets' queues; `None` leaves them to the system.
    pub queue: Option<usize>,
    /// Floods of each system for each type and size.
    pub repeat: usize,
    /// How many times the systems are started anew during those, at least once; no more often than there are floods.
    pub instances: usize,
    /// The name of the system that ratios are to, which is the first; without it there are none.
    pub floor: &'static str,
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

    /// Whose turn a round's flood is: the instances have about as many each.
    fn instance(&self, round: usize) -> usize {
        round * self.instances.clamp(1, self.repeat.max(1)) / self.repeat.max(1)
    }

    fn setting(&self) -> Setting {
        Setting { queue: self.queue, ..Setting::over(self.transport) }
    }
}

/// The figures of one type and buffer size: the systems that finished, in their order.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was sent.
    pub flood: Flood,
    /// Of the systems in their order, one or, of a profile, several of each.
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
    each_flood(entries, plan, lab, finished, |contest, flood| measure(contest, plan, lab, flood))
}

/// Lets the systems go through all types and sizes, what `measure` finds in each being handed on.
pub(crate) fn each_flood(
    entries: Vec<Entry>,
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
    mut measure: impl FnMut(&mut Contest, Flood) -> Result<Vec<Row>, BenchError> + Send,
) -> Result<Vec<String>, BenchError> {
    let mut placement = plan.pin.placement()?;
    if entries.iter().any(|entry| entry.served_at.is_some()) {
        placement.server = None;
    }
    // A thread of its own, so that the caller's is not left pinned.
    pin::on(placement.client, || {
        let mut contest = Contest::new(lab, plan.setting(), placement, entries).apart();
        let events = plan.elements.len() * plan.buffers.len();
        lab.progress.expect((events * plan.repeat * contest.len()) as u64);
        for &element in &plan.elements {
            for &octets in &plan.buffers {
                contest.begin()?;
                let flood = plan.flood(element, octets);
                finished(Outcome { flood, rows: measure(&mut contest, flood)? });
            }
        }
        Ok(contest.faults())
    })?
}

/// A ratio with an interval that has a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// What it may be.
    pub target: Target,
    /// What it is.
    pub ratio: Ratio,
    /// What it is a ratio to.
    pub of: &'static str,
}

/// The ratios of a row that have targets, which are for the loopback interface. `paced`: see [`is_paced`].
pub fn judged(row: &Row, flood: &Flood, paced: bool) -> Vec<Judged> {
    let (time, processor) = (row.ratio(), row.beside.processor().and_then(Compared::ratio));
    let equal = row.beside.equal().and_then(Compared::ratio);
    let is_zorb = row.system == Zorb.name();
    let is_scalar = !matches!(flood.element, Element::String | Element::Struct | Element::Struct32);
    let (is_tcp, is_unix) = (row.transport == Transport::Tcp.name(), row.transport == Transport::Unix.name());
    let large = is_zorb && is_scalar && flood.octets >= 8 << 10;
    let octets = flood.element == Element::Octet;
    let bulk = is_zorb && is_tcp && octets && flood.octets == 1 << 20;
    let gathered = row.system == Gathering.name() && is_tcp && octets && flood.octets == 1 << 10;
    let all = [
        (large && (is_tcp || is_unix), AS_RAW, equal, "raw-equal's time"),
        (bulk && paced, UNPACED, time, "raw's time"),
        (bulk, PROCESSOR, processor, "raw's processor time"),
        (gathered, GATHERED, time, "raw's time"),
    ];
    // Beside another floor, or across a link, they would say something else.
    let applies = row.parameters.link.is_none() && row.parameters.floor.is_none();
    let judged = all.into_iter().filter(|&(holds, ..)| holds && applies);
    judged.filter_map(|(_, target, ratio, of)| Some(Judged { target, ratio: ratio?, of })).collect()
}

/// Whether this system's congestion control is one that zorb replaces on connections within the machine.
pub fn is_paced() -> bool {
    Tcp::new().loopback_instead_of(&machine::congestion_control()).is_some()
}

fn measure(contest: &mut Contest, plan: &Plan, lab: &Lab, flood: Flood) -> Result<Vec<Row>, BenchError> {
    let mut sides = Vec::new();
    for at in 0..contest.len() {
        let count = contest.attempt(at, |client, _| warm_up(client, plan, flood))?;
        sides.push(Side::of(Flood { count: count.unwrap_or(flood.count), ..flood }));
    }
    for round in 0..plan.repeat {
        let instance = plan.instance(round);
        if round > 0 && instance != plan.instance(round - 1) {
            contest.anew(instance)?;
            for at in contest.order(instance) {
                contest.attempt(at, |client, _| settle(client, flood))?;
            }
        }
        for at in contest.order(round) {
            let side = &mut sides[at];
            if !side.has_stalled(plan)
                && let Some(turn) =
                    contest.attempt(at, |client, far| turn(client, far, side.flood, instance))?
            {
                side.turns.push(turn);
                if side.has_stalled(plan) && round + 1 < plan.repeat {
                    let (name, turns) = (contest.system(at).name(), side.turns.len());
                    let octets = octets_text(flood.octets);
                    lab.progress.remark(&format!(
                        "{name}: a flood in buffers of {octets} stalled: {turns} turns of {}",
                        plan.repeat
                    ));
                }
            }
            lab.progress.step();
        }
    }
    // Who still takes part has had all its turns, or the first of them if it stalled, so that turns of the same place in
    // their lists make pairs.
    let floor = Against::of(&sides[0]);
    let equal = (0..contest.len()).find(|&at| contest.system(at).name() == Raw::Equal.name());
    let apart = plan.floor != Raw::Equal.name() && plan.pin != Pin::None;
    let equal = equal.filter(|&at| apart && contest.takes_part(at));
    let equal = equal.map(|at| Against::of(&sides[at]));
    let to_floor = contest.system(0).name() == plan.floor && plan.pin != Pin::None;
    let finished = sides.iter().enumerate().filter(|&(at, _)| contest.takes_part(at));
    let rows = finished.map(|(at, side)| {
        let mut row = side.row(contest.system(at), plan);
        if to_floor {
            row.set_compared(side.compare(&floor.times, Side::times_of_a_buffer, plan.seed));
            row.beside.set_processor(side.compare(&floor.processor, Side::processor_of_a_buffer, plan.seed));
        }
        if let Some(equal) = equal.as_ref().filter(|_| row.system != Raw::Equal.name()) {
            row.beside.set_equal(side.compare(&equal.times, Side::times_of_a_buffer, plan.seed));
        }
        row.parameters.buffers = (side.flood != flood).then_some(side.flood.count);
        row.parameters.turns = (side.turns.len() < plan.repeat).then_some(side.turns.len() as u32);
        row.parameters.stalled = Some(side.stalled()).filter(|&turns| turns > 0);
        row
    });
    Ok(rows.collect())
}

/// Lets connections, caches and windows settle. Gives how many buffers a flood of this system has.
pub(crate) fn warm_up(client: &mut dyn Client, plan: &Plan, flood: Flood) -> Result<u32, BenchError> {
    let part = flood.count.div_ceil(WARM_UP_PART);
    let Some(longest) = plan.longest else {
        return settle(client, flood).map(|()| flood.count);
    };
    let longest = f64::from(longest) / 1e3;
    let mut seconds = |count: u32| Ok(client.flood(Flood { count, ..flood })?.confirmed.as_secs_f64());
    let within = |seconds: f64, each: f64, most: u32| ((seconds / each) as u32).clamp(TASTE.min(most), most);
    // What a flood takes whatever its length, and what its first buffers take longer, is in both and goes out with the difference.
    let each = |(few, less): (u32, f64), (many, more): (u32, f64)| match more > less && many / 2 >= few {
        true => (more - less) / f64::from(many - few),
        false => more / f64::from(many),
    };
    let few = TASTE.min(part);
    let first = (few, seconds(few)?);
    let many = within(longest / f64::from(WARM_UP_PART), first.1 / f64::from(few), part);
    let second = (many, seconds(many)?);
    let count = within(longest, each(first, second), flood.count);
    if count == flood.count {
        return Ok(count);
    }
    // That it is slow is not believed of one flood, which anything may have held up.
    let third = (count, seconds(count)?);
    Ok(count.max(within(longest, each(first, third), flood.count)))
}

/// A part of a flood, whatever it takes.
fn settle(client: &mut dyn Client, flood: Flood) -> Result<(), BenchError> {
    client.flood(Flood { count: flood.count.div_ceil(WARM_UP_PART), ..flood }).map(drop)
}

/// One flood's times.
#[derive(Clone, Copy)]
struct Turn {
    /// Which of the plan's instances it was.
    instance: usize,
    confirmed: Duration,
    sent: Option<Duration>,
    sender: Option<Duration>,
    receiver: Option<Duration>,
}

fn turn(client: &mut dyn Client, far: &Far, flood: Flood, instance: usize) -> Result<Turn, BenchError> {
    let spent_by = |process: Option<u32>| process.and_then(Spent::of);
    let driver = client.process();
    let (receiver, sender, own) = (spent_by(far.process()), spent_by(driver), cpu::own());
    let flooded = client.flood(flood)?;
    let own = cpu::own().saturating_sub(own);
    let since = |before: Option<Spent>, process| Some(spent_by(process)?.since(&before?));
    Ok(Turn {
        instance,
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

    /// Whether its turns take far longer than they should.
    fn has_stalled(&self, plan: &Plan) -> bool {
        let taken: Duration = self.turns.iter().map(|turn| turn.confirmed).sum();
        let all = |longest: u32| Duration::from_millis(longest.into()) * plan.repeat as u32 * STALLED;
        plan.longest.is_some_and(|longest| taken >= all(longest))
    }

    /// Turns that took far longer than the quickest.
    fn stalled(&self) -> u32 {
        let quickest = self.turns.iter().map(|turn| turn.confirmed).min().unwrap_or_default();
        self.turns.iter().filter(|turn| turn.confirmed >= quickest * FAR_LONGER).count() as u32
    }

    /// How many instances had turns.
    fn instances(&self) -> usize {
        self.turns.last().map_or(0, |turn| turn.instance + 1)
    }

    /// Of each turn, in seconds.
    fn times_of_a_buffer(&self) -> Vec<f64> {
        self.turns.iter().map(|turn| turn.confirmed.as_secs_f64() / f64::from(self.flood.count)).collect()
    }

    fn row(&self, system: &dyn System, plan: &Plan) -> Row {
        let flood = self.flood;
        let gbit = flood.total() as f64 * 8.0 / 1e9;
        let rate = |times: Option<Vec<Duration>>| {
            // Of the times, as ratios are: of an even number of turns the middle two may be far apart.
            let mut seconds: Vec<_> = times?.iter().map(Duration::as_secs_f64).collect();
            Some(rounded(gbit / median(&mut seconds)))
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
        row.parameters.floor = Some(plan.floor.to_owned()).filter(|floor| floor != Raw::Plain.name());
        row.parameters.instances = Some(plan.instances as u32).filter(|&instances| instances > 1);
        row
    }

    /// Processor time of both sides in each turn, in seconds; empty where a side's cannot be seen.
    fn processor_of_a_buffer(&self) -> Vec<f64> {
        let both = |turn: &Turn| Some((turn.sender? + turn.receiver?).as_secs_f64());
        let all: Option<Vec<f64>> = self.turns.iter().map(both).collect();
        let count = f64::from(self.flood.count);
        all.unwrap_or_default().iter().map(|seconds| seconds / count).collect()
    }

    /// The ratio of what each turn took to what another system's turn in the same round took: with an interval if there are enough
    /// pairs.
    fn compare(&self, other: &[f64], own: fn(&Side) -> Vec<f64>, seed: u64) -> Option<Compared> {
        let own = own(self);
        let pairs = self.turns.iter().map(|turn| turn.instance).zip(own.iter().zip(other));
        let ratios = pairs.map(|(instance, (own, other))| (instance, own / other));
        let mut ratios = of_instances(ratios, self.instances());
        match ratios.len() {
            0 => None,
            LEAST_PAIRS.. => Ratio::of_pairs(&ratios, seed)
                .map(|Ratio { median, low, high }| Compared { median, interval: Some((low, high)) }),
            _ => Some(Compared { median: median(&mut ratios), interval: None })
                .filter(|compared| compared.median.is_finite()),
        }
    }
}

/// What each turn of a system took, that others are compared with.
struct Against {
    times: Vec<f64>,
    processor: Vec<f64>,
}

impl Against {
    fn of(side: &Side) -> Against {
        Against { times: side.times_of_a_buffer(), processor: side.processor_of_a_buffer() }
    }
}

/// The ratios of all turns, if there is one instance; otherwise the median of each one's.
fn of_instances(ratios: impl Iterator<Item = (usize, f64)>, instances: usize) -> Vec<f64> {
    let mut each = vec![Vec::new(); instances];
    for (instance, ratio) in ratios {
        each[instance].push(ratio);
    }
    if let [one] = &mut each[..] {
        return std::mem::take(one);
    }
    each.iter_mut().filter(|ratios| !ratios.is_empty()).map(|ratios| median(ratios)).collect()
}

/// To five figures, which is below what any run resolves. Buffers of one octet have rates of a ten-thousandth.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_plan(most: Option<u32>) -> Plan {
        Plan {
            transport: Transport::Tcp,
            pin: Pin::Split,
            elements: vec![Element::Octet],
            buffers: vec![1],
            total: 10_000,
            most,
            longest: None,
            queue: None,
            repeat: 1,
            instances: 1,
            floor: Raw::Plain.name(),
            seed: 1,
        }
    }

    #[test]
    fn slow_rates_keep_their_figures() {
        let texts = [0.000_512_345_6, 41.234_56, 985.970_1, 0.0].map(|rate| rounded(rate).to_string());
        assert_eq!(texts, ["0.00051235", "41.235", "985.97", "0"]);
    }

    #[test]
    fn times_and_processor_time_are_compared_turn_by_turn() {
        let turn = |confirmed: u64, sender: u64, receiver: Option<u64>| Turn {
            instance: 0,
            confirmed: Duration::from_millis(confirmed),
            sent: None,
            sender: Some(Duration::from_millis(sender)),
            receiver: receiver.map(Duration::from_millis),
        };
        let side = |count, turns| Side { flood: Flood { element: Element::Octet, octets: 1, count }, turns };
        let floor = Against::of(&side(10, vec![turn(20, 5, Some(5)); 20]));
        // Half as many buffers in as much time: twice the time of each.
        let slow = side(5, vec![turn(20, 3, Some(3)); 20]);
        let compared = slow.compare(&floor.times, Side::times_of_a_buffer, 1).unwrap();
        assert_eq!((compared.median, compared.interval), (2.0, Some((2.0, 2.0))));
        let processor = slow.compare(&floor.processor, Side::processor_of_a_buffer, 1).unwrap();
        assert!((processor.median - 1.2).abs() < 1e-9 && processor.interval.is_some(), "{processor:?}");
        let few = side(10, vec![turn(10, 5, Some(0)); 3]);
        let compared = few.compare(&floor.times, Side::times_of_a_buffer, 1);
        assert_eq!(compared, Some(Compared { median: 0.5, interval: None }));
        let elsewhere = side(10, vec![turn(10, 5, None); 20]);
        assert_eq!(elsewhere.compare(&floor.processor, Side::processor_of_a_buffer, 1), None);
    }

    #[test]
    fn of_one_instance_all_ratios_count_of_several_the_median_of_each() {
        let ratios = |instances: &[usize]| {
            let turns = instances.iter().copied().zip([1.0, 9.0, 2.0, 4.0, 6.0]);
            of_instances(turns, instances.last().map_or(0, |last| last + 1))
        };
        assert_eq!(ratios(&[0, 0, 0, 0, 0]), [1.0, 9.0, 2.0, 4.0, 6.0]);
        assert_eq!(ratios(&[0, 0, 0, 1, 1]), [2.0, 5.0]);
        assert_eq!(ratios(&[0, 1, 2, 3, 4]), [1.0, 9.0, 2.0, 4.0, 6.0]);
        assert_eq!(ratios(&[]), [0.0; 0]);
    }

    #[test]
    fn instances_have_about_as_many_rounds_each() {
        let plan = |repeat, instances| Plan { repeat, instances, ..a_plan(None) };
        let of = |plan: Plan| (0..plan.repeat).map(|round| plan.instance(round)).collect::<Vec<_>>();
        assert_eq!(of(plan(7, 3)), [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(of(plan(3, 1)), [0, 0, 0]);
        assert_eq!(of(plan(3, 9)), [0, 1, 2], "never more than there are rounds");
        assert_eq!(of(plan(3, 0)), [0, 0, 0]);
    }

    #[test]
    fn a_flood_has_its_total_or_the_most_buffers() {
        let count = |most, octets| a_plan(most).flood(Element::Octet, octets).count;
        assert_eq!([count(None, 1), count(None, 999), count(None, 1 << 20)], [10_000, 11, 1]);
        assert_eq!([count(Some(100), 1), count(Some(100), 999), count(Some(0), 999)], [100, 11, 1]);
    }
}
