//! Where a flood's time goes: how much of both sides' processor time each function takes, of every system alike.
//!
//! ```text
//!   sampling ── every 0.1 ms: what does each processor execute? ──▶ addresses of a process, counted
//!   names    ── while the processes live: whose address is it?  ──▶ function, and the group it is of
//! ```
//!
//! The processors are looked at while the flood's clock runs and at no other time. The floods are those of [`crate::ttcp`],
//! systems in turns. Looking slows all of them alike, by a few per cent, so rates are not taken here.
//!
//! The field's question (Gokhale and Schmidt, 1996): which functions of sender and receiver does a flood of 64 MB in
//! buffers of 128 K spend its time in: system calls, copies, marshalling?

mod graphs;
mod java;
mod names;
mod places;
mod sampling;

use std::collections::BTreeMap;

use crate::BenchError;
use crate::contest::{Contest, Entry};
use crate::flood::Flood;
use crate::lab::Lab;
use crate::process::Bounds;
use crate::row::{Figures, Row};
use crate::system::{System, octets_text};
use crate::ttcp::{self, Outcome, Plan};

pub use graphs::{Graph, STACKS_ARE_WHOLE, of_calls};
use names::Names;
pub use names::{Function, Group};
use sampling::{Sampler, Samples};

/// Functions of a side that rows name; the others of each group are one row.
const NAMED: usize = 12;

/// A function that takes a smaller part of its side's time is among the others.
const LEAST_SHARE: f64 = 0.005;

/// The name of the row that stands for a group's other functions.
pub const OTHERS: &str = "others";

const GIB: f64 = (1_u64 << 30) as f64;

/// Floods with each system as often as the plan says, the first being the floor, and hands on where the time of each
/// type and size went: a row for each function of each side of each system, the most costly first.
///
/// Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// [`BenchError::Profile`] where processes may not be looked at, any [`BenchError`] of the first system, and
/// [`BenchError::Stopped`].
pub fn run(
    entries: Vec<Entry>,
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    let mut sampler = Sampler::of_all_processors()?;
    ttcp::each_flood(entries, plan, lab, finished, |contest, flood| {
        profile(contest, &mut sampler, plan, lab, flood, None)
    })
}

/// The same, and hands on a flame graph of each side of each system for each type and size.
///
/// # Errors
///
/// As for [`run`].
pub fn run_with_graphs(
    entries: Vec<Entry>,
    plan: &Plan,
    lab: &Lab,
    graphs: &mut (dyn FnMut(Graph) + Send),
    finished: &mut (dyn FnMut(Outcome) + Send),
) -> Result<Vec<String>, BenchError> {
    let mut sampler = Sampler::of_stacks()?;
    ttcp::each_flood(entries, plan, lab, finished, |contest, flood| {
        profile(contest, &mut sampler, plan, lab, flood, Some(&mut *graphs))
    })
}

fn profile(
    contest: &mut Contest,
    sampler: &mut Sampler,
    plan: &Plan,
    lab: &Lab,
    flood: Flood,
    mut drawn: Option<&mut (dyn FnMut(Graph) + Send)>,
) -> Result<Vec<Row>, BenchError> {
    let mut seen = Vec::new();
    for at in 0..contest.len() {
        let count = contest.attempt(at, |client, _| ttcp::warm_up(client, plan, flood))?;
        seen.push((Flood { count: count.unwrap_or(flood.count), ..flood }, Samples::default()));
    }
    for round in 0..plan.repeat {
        for at in contest.order(round) {
            let (flood, samples) = &mut seen[at];
            let more = graphs::watched(contest, at, sampler, |client| client.flood(*flood))?;
            samples.add(more.unwrap_or_default());
            lab.progress.step();
        }
    }
    let (asked, bounds) = (flood, lab.bounds(None));
    let mut rows = Vec::new();
    for (at, (flood, samples)) in seen.iter().enumerate() {
        let gib = flood.total() as f64 * plan.repeat as f64 / GIB;
        let sides = contest.attempt(at, |client, far| {
            let names = Names::default();
            let [sender, receiver] = graphs::processes(client, far);
            let sides = [("sender", sender), ("receiver", receiver)];
            Ok(sides.map(|(side, processes)| (side, functions(&processes, samples, &names, &bounds))))
        })?;
        if let Some(drawn) = &mut drawn {
            let what = format!("{} {}", asked.element, octets_text(asked.octets));
            let graphs = graphs::graphs(contest, at, samples, &bounds, ["sender", "receiver"], &what)?;
            graphs.into_iter().flatten().for_each(&mut **drawn);
        }
        let system = contest.system(at);
        for (side, functions) in sides.into_iter().flatten() {
            let row = |figures| {
                let mut row = row(system, plan, *flood, figures);
                row.parameters.buffers = (*flood != asked).then_some(flood.count);
                row
            };
            rows.extend(rows_of(functions?, row, side, gib));
        }
    }
    Ok(rows)
}

/// Seconds of each function of some processes.
fn functions(
    processes: &[u32],
    samples: &Samples,
    names: &Names,
    bounds: &Bounds,
) -> Result<BTreeMap<Function, f64>, BenchError> {
    let mut functions = BTreeMap::new();
    for &process in processes {
        let (addresses, seconds) = samples.of(process);
        for (function, seconds) in names.of(process, &addresses, bounds)?.into_iter().zip(seconds) {
            *functions.entry(function).or_default() += seconds;
        }
    }
    Ok(functions)
}

/// The most costly functions of a side, and of each group what the others take together.
fn rows_of(
    functions: BTreeMap<Function, f64>,
    row: impl Fn(Figures) -> Row,
    side: &str,
    gib: f64,
) -> Vec<Row> {
    let whole: f64 = functions.values().sum();
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let costly = functions.iter().take(NAMED).take_while(|(_, seconds)| seconds / whole >= LEAST_SHARE);
    let others = functions.split_off(costly.count());
    for group in Group::ALL {
        let of_group = others.iter().filter(|(function, _)| function.group == group);
        let seconds: f64 = of_group.map(|(_, seconds)| seconds).sum();
        if seconds > 0.0 {
            functions.push((Function { group, name: OTHERS.to_owned() }, seconds));
        }
    }
    let figures = |(function, seconds): (Function, f64)| Figures::Function {
        side: side.to_owned(),
        group: function.group.name().to_owned(),
        function: function.name,
        cpu_s_per_gib: rounded(seconds / gib),
        share: rounded(seconds / whole),
    };
    functions.into_iter().map(figures).map(row).collect()
}

fn row(system: &dyn System, plan: &Plan, flood: Flood, figures: Figures) -> Row {
    let what = (flood.element.name(), flood.octets);
    let mut row = Row::new("profile", system, (plan.transport, plan.pin), what, figures);
    row.parameters.queue = plan.queue;
    row
}

/// To four figures, which is below what so many samples resolve.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flood::Element;
    use crate::orb::Zorb;
    use crate::pin::Pin;
    use crate::system::Transport;

    #[test]
    fn small_functions_are_one_row_for_each_group_and_nothing_is_lost() {
        let function = |group, name: &str| Function { group, name: name.to_owned() };
        let mut functions: BTreeMap<_, _> =
            (0..40).map(|n| (function(Group::Kernel, &format!("k{n:02}")), f64::from(n))).collect();
        functions.insert(function(Group::Program, "marshal"), 1000.0);
        functions.insert(function(Group::Copies, "memcpy"), 0.5);
        let flood = Flood { element: Element::Struct, octets: 1024, count: 1 };
        let figures = |figures| {
            Row::new("profile", &Zorb, (Transport::Tcp, Pin::Split), (flood.element.name(), 1024), figures)
        };
        let rows = rows_of(functions, figures, "sender", 2.0);
        let of = |row: &Row| match &row.figures {
            Figures::Function { group, function, cpu_s_per_gib, share, .. } => {
                (group.clone(), function.clone(), *cpu_s_per_gib, *share)
            }
            other => panic!("{other:?}"),
        };
        let all: Vec<_> = rows.iter().map(of).collect();
        let names: Vec<_> = all.iter().map(|(group, name, ..)| format!("{group}: {name}")).collect();
        assert_eq!(names[..3], ["program: marshal", "kernel: k39", "kernel: k38"]);
        assert_eq!(names.len(), NAMED + 2);
        assert_eq!(names[NAMED..], ["kernel: others", "copies: others"]);
        assert_eq!(all[0].2, 500.0);
        assert!((all.iter().map(|(.., share)| share).sum::<f64>() - 1.0).abs() < 0.01, "{all:?}");
    }

    #[test]
    fn nothing_seen_is_no_row() {
        let row = |_| -> Row { unreachable!() };
        assert!(rows_of(BTreeMap::new(), row, "sender", 1.0).is_empty());
    }
}
