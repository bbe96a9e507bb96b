//! Demultiplexing: how a call's time depends on how many operations and objects there are to choose from.
//!
//! Operations, 1 to 1,000, the first or the last of them called, found in each of four ways ([`Lookup`]); and objects, 1
//! to 1,000,000, the same or random ones called. Two-way calls are timed one by one. Oneways are timed in bursts that
//! end when the server says it has executed them, so their percentiles are over bursts. Beside the client's time stands
//! what the server's process spends of its processor, looked at before and after each burst. [`crate::iterations`]
//! repeats the field's own experiment.
//!
//! The field's question (Gokhale and Schmidt, 1996): what does the server pay to find the method?

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::BenchError;
use crate::calls::{self, Basis, PAIRS, Side};
use crate::contest::{Contest, Far};
use crate::flood::{Element, Flood};
use crate::lab::Lab;
use crate::orb::Door;
use crate::raw::Raw;
use crate::row::{Parameters, Row};
use crate::system::{Call, Client, Payload, System};

/// How the server finds an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Compares the name with each operation's.
    Linear,
    /// In a hash map.
    Hashed,
    /// By the perfect hash of a generated skeleton: what zorb does.
    Perfect,
    /// The name on the wire is a number, and an index.
    Numbered,
}

impl Lookup {
    /// All, the slowest first.
    pub const ALL: [Lookup; 4] = [Lookup::Linear, Lookup::Hashed, Lookup::Perfect, Lookup::Numbered];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Lookup::Linear => "linear",
            Lookup::Hashed => "hashed",
            Lookup::Perfect => "perfect",
            Lookup::Numbered => "numbered",
        }
    }

    /// An operation's name on the wire.
    pub fn operation(self, number: u32) -> String {
        match self {
            Lookup::Numbered => number.to_string(),
            _ => format!("operation_{number:03}"),
        }
    }
}

/// Whether calls are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// They are.
    Twoway,
    /// They are not.
    Oneway,
}

impl Style {
    /// Both.
    pub const ALL: [Style; 2] = [Style::Twoway, Style::Oneway];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Style::Twoway => "twoway",
            Style::Oneway => "oneway",
        }
    }
}

macro_rules! by_name {
    ($what:literal, $of:ty) => {
        impl FromStr for $of {
            type Err = String;

            fn from_str(text: &str) -> Result<$of, String> {
                <$of>::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| {
                    let known: Vec<_> = <$of>::ALL.iter().map(|one| one.name()).collect();
                    format!("there is no {} {text:?}; there are {}", $what, known.join(", "))
                })
            }
        }

        impl fmt::Display for $of {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

by_name!("lookup", Lookup);
by_name!("style", Style);

/// How many operations an interface may have here: there is a generated one for each.
pub const OPERATIONS: [u32; 4] = [1, 10, 100, 1000];

/// The most objects.
pub const MOST_OBJECTS: u32 = 1_000_000;

/// What is called, among what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Operations of the interface.
    pub operations: u32,
    /// The last of them, or the first.
    pub last: bool,
    /// Objects of the server.
    pub objects: u32,
    /// Another one with each call, drawn from all, or always the same.
    pub random: bool,
    /// Answered or not.
    pub style: Style,
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How, and how many calls of each system in each event.
    pub basis: Basis,
    /// The ways to find an operation.
    pub lookups: Vec<Lookup>,
    /// Numbers of operations, of [`OPERATIONS`].
    pub operations: Vec<u32>,
    /// Numbers of objects, up to [`MOST_OBJECTS`].
    pub objects: Vec<u32>,
    /// Two-way, oneway.
    pub styles: Vec<Style>,
}

impl Plan {
    /// First and last of the operations of one object.
    fn of_operations(&self) -> Vec<Target> {
        self.targets(&self.operations, |operations, last, style| Target {
            operations,
            last,
            objects: 1,
            random: false,
            style,
        })
    }

    /// Same and random ones of objects with one operation.
    fn of_objects(&self) -> Vec<Target> {
        self.targets(&self.objects, |objects, random, style| Target {
            operations: 1,
            last: false,
            objects,
            random,
            style,
        })
    }

    /// Where there is one only, it is the first and the last, the same and a random one.
    fn targets(&self, counts: &[u32], target: impl Fn(u32, bool, Style) -> Target) -> Vec<Target> {
        let mut targets = Vec::new();
        for &style in &self.styles {
            for &count in counts {
                targets.push(target(count, false, style));
                targets.extend((count > 1).then(|| target(count, true, style)));
            }
        }
        targets
    }
}

/// Measures the lookups beside the bare socket, then the numbers of objects, and hands on each event's rows as soon
/// as they are there.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let doors: Vec<Door> = plan.lookups.iter().map(|&lookup| Door(lookup)).collect();
    let (operations, objects) = (plan.of_operations(), plan.of_objects());
    lab.progress.expect((PAIRS * (operations.len() * (1 + doors.len()) + objects.len() * 2)) as u64);
    let mut faults = Vec::new();
    let what_the_orb_does = [Door(Lookup::Perfect)];
    for (doors, targets, objects) in
        [(&doors[..], operations, false), (&what_the_orb_does[..], objects, true)]
    {
        let systems: Vec<&dyn System> = doors.iter().map(|door| door as &dyn System).collect();
        faults.extend(plan.basis.contest(&systems, lab, |contest| {
            for target in targets {
                let sides = event(contest, &plan.basis, lab, target)?;
                let rows = sides.iter().enumerate().filter_map(|(at, side)| {
                    let side = side.as_ref().filter(|side| side.latencies.count() > 0)?;
                    let payload = Payload::Demux(target);
                    let system = contest.system(at);
                    let figures = side.served(plan.basis.burst());
                    let mut row = plan.basis.row("demux", system, payload, figures, &side.ratios);
                    row.parameters = parameters(target, objects);
                    row.parameters.lookup = at.checked_sub(1).map(|door| doors[door].0.name().to_owned());
                    Some(row)
                });
                finished(rows.collect());
            }
            Ok(())
        })?);
    }
    Ok(faults)
}

fn parameters(target: Target, objects: bool) -> Parameters {
    let word = |yes: bool, words: [&str; 2]| Some(words[usize::from(yes)].to_owned());
    let style = Some(target.style.name().to_owned());
    match objects {
        true => Parameters {
            objects: Some(target.objects),
            pick: word(target.random, ["same", "random"]),
            style,
            ..Parameters::default()
        },
        false => Parameters {
            operations: Some(target.operations),
            position: word(target.last, ["first", "last"]),
            style,
            ..Parameters::default()
        },
    }
}

fn event(
    contest: &mut Contest,
    basis: &Basis,
    lab: &Lab,
    target: Target,
) -> Result<Vec<Option<Side>>, BenchError> {
    contest.begin()?;
    // What is metered are calls that are answered; the messages of oneways are as long as their requests.
    let twoway = Payload::Demux(Target { style: Style::Twoway, ..target });
    let messages = calls::messages(contest, basis, lab, twoway)?;
    let call = Call { payload: Payload::Demux(target), messages };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    let mut burst = |client: &mut dyn Client, far: &Far, times: &mut Vec<Duration>| match target.style {
        Style::Twoway => calls::watched_burst(client, far, basis.burst(), times),
        Style::Oneway => oneways(client, far, basis.burst(), messages.request, times),
    };
    for (at, side) in sides.iter_mut().enumerate() {
        contest.attempt(at, |client, far| {
            client.prepare(call)?;
            match target.style {
                Style::Twoway => side.warm_up(client),
                Style::Oneway => burst(client, far, &mut Vec::new()).map(|_| ()),
            }
        })?;
    }
    calls::watched_rounds(contest, lab, PAIRS, &mut sides, &mut burst)?;
    Ok(calls::finished(contest, sides))
}

/// A burst of oneways, for the floor as many messages one way, where it can; and what the server has spent on it.
fn oneways(
    client: &mut dyn Client,
    far: &Far,
    calls: usize,
    octets: usize,
    times: &mut Vec<Duration>,
) -> Result<Option<Duration>, BenchError> {
    if client.system() != Raw::Plain.name() {
        return calls::watched_burst(client, far, calls, times);
    }
    let count = u32::try_from(calls).unwrap_or(u32::MAX);
    // What the server has spent would be more than on the messages: both sides agree on a flood before its clock runs.
    match client.flood(Flood { element: Element::Octet, octets, count }) {
        Ok(flooded) => {
            times.push(flooded.confirmed / count);
            Ok(None)
        }
        Err(BenchError::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin::Pin;
    use crate::system::Transport;

    #[test]
    fn one_of_one_is_measured_once() {
        let basis =
            Basis { transport: Transport::Tcp, pin: Pin::Same, calls: 1, seed: 1, ..Basis::default() };
        let plan = Plan {
            basis,
            lookups: Lookup::ALL.to_vec(),
            operations: vec![1, 100],
            objects: vec![1, 1000],
            styles: Style::ALL.to_vec(),
        };
        let operations: Vec<_> =
            plan.of_operations().iter().map(|target| (target.operations, target.last)).collect();
        assert_eq!(operations[..3], [(1, false), (100, false), (100, true)]);
        assert_eq!(operations.len(), 6);
        assert!(plan.of_objects().iter().all(|target| target.operations == 1 && !target.last));
    }

    #[test]
    fn names_round_trip() {
        for lookup in Lookup::ALL {
            assert_eq!(lookup.name().parse(), Ok(lookup));
        }
        assert_eq!(
            "both".parse::<Style>().unwrap_err(),
            "there is no style \"both\"; there are twoway, oneway"
        );
        assert_eq!(Lookup::Linear.operation(7), "operation_007");
        assert_eq!(Lookup::Numbered.operation(7), "7");
    }
}
