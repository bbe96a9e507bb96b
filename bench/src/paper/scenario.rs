//! What a step measures: a scenario with its parameters, how it is run, and the command line that repeats it.

use std::fmt;

use super::elsewhere;
use crate::BenchError;
use crate::calls::Basis;
use crate::contest::Entry;
use crate::lab::Lab;
use crate::link::Spec;
use crate::orb::{Studio, Zorb};
use crate::row::Row;
use crate::system::{Payload, System};
use crate::{cube, demux, firstcall, images, iterations, profile, rtt, size, ttcp, whitebox};

/// Systems beside zorb, or the versions of a flood.
#[derive(Clone)]
pub struct Systems(pub Vec<&'static dyn System>);

impl Systems {
    fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|system| system.name()).collect()
    }

    /// Behind zorb, in the manner that a scenario has it.
    pub fn with(&self, zorb: &'static dyn System) -> Vec<&'static dyn System> {
        [zorb].into_iter().chain(self.0.iter().copied()).collect()
    }
}

impl PartialEq for Systems {
    fn eq(&self, other: &Systems) -> bool {
        self.names() == other.names()
    }
}

impl fmt::Debug for Systems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// One of the scenarios with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Scenario {
    /// `zorb ttcp run`, of these versions.
    Floods(ttcp::Plan, Systems),
    /// `zorb ttcp run --profile`, of these versions.
    Profiles(ttcp::Plan, Systems),
    /// `zorb bench rtt`, with what is beside zorb.
    RoundTrips(rtt::Plan, Systems),
    /// `zorb bench rtt --probes`.
    WhiteBox(whitebox::Plan),
    /// `zorb bench cube`.
    Cubes(cube::Plan, Systems),
    /// `zorb bench size`.
    Sizes(size::Plan, Systems),
    /// `zorb bench demux`.
    Lookups(demux::Plan),
    /// `zorb bench demux --iterations`.
    Iterations(iterations::Plan),
    /// `zorb bench firstcall`.
    FirstCalls(Basis, Systems),
    /// `zorb bench images`.
    Images(Basis, Systems),
}

impl Scenario {
    /// Measures, and hands on rows as soon as they are there. Gives what went wrong with single systems, a line each.
    ///
    /// # Errors
    ///
    /// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
    pub fn run(
        &self,
        lab: &Lab,
        finished: &mut (dyn FnMut(Vec<Row>) + Send),
    ) -> Result<Vec<String>, BenchError> {
        match self {
            Scenario::Floods(plan, versions) => {
                let entries = versions.0.iter().map(|&version| Entry::here(version)).collect();
                ttcp::run(entries, plan, lab, &mut |outcome| finished(outcome.rows))
            }
            Scenario::Profiles(plan, versions) => {
                let entries = versions.0.iter().map(|&version| Entry::here(version)).collect();
                profile::run(entries, plan, lab, &mut |outcome| finished(outcome.rows))
            }
            Scenario::RoundTrips(plan, peers) => {
                rtt::run(&peers.with(&Zorb), plan, lab, &mut |outcome| finished(outcome.rows))
            }
            Scenario::WhiteBox(plan) => match &lab.probes {
                Some(program) => elsewhere::run(program, &self.command(None), lab, finished),
                None => {
                    finished(whitebox::run(plan, lab)?.rows(plan));
                    Ok(Vec::new())
                }
            },
            Scenario::Cubes(plan, peers) => cube::run(&peers.with(&Zorb), plan, lab, finished),
            Scenario::Sizes(plan, peers) => size::run(&peers.with(&Zorb), plan, lab, finished),
            Scenario::Lookups(plan) => demux::run(plan, lab, finished),
            Scenario::Iterations(plan) => iterations::run(plan, lab, finished),
            Scenario::FirstCalls(basis, peers) => firstcall::run(&peers.with(&Zorb), basis, lab, finished),
            Scenario::Images(basis, peers) => images::run(&peers.with(&Studio), basis, lab, finished),
        }
    }

    /// The command line that repeats it, over this link. What it does not say is as the command has it by default.
    pub fn command(&self, link: Option<&Spec>) -> String {
        let words = |command, pin| Words::new(command).word("--pin", pin).maybe("--link", link);
        match self {
            Scenario::Floods(plan, versions) => {
                words("zorb ttcp run", plan.pin).floods(plan, versions).line()
            }
            Scenario::Profiles(plan, versions) => {
                words("zorb ttcp run --profile", plan.pin).floods(plan, versions).line()
            }
            Scenario::RoundTrips(plan, peers) => words("zorb bench rtt", plan.basis.pin)
                .payloads(&plan.payloads, Payload::type_name)
                .word("--calls", plan.basis.calls)
                .peers(peers)
                .line(),
            Scenario::WhiteBox(plan) => {
                words("zorb bench rtt --probes", plan.pin).payloads(&plan.payloads, Payload::type_name).line()
            }
            Scenario::Cubes(plan, peers) => {
                let payloads: Vec<_> = plan.cubes.iter().map(|&cube| Payload::Cube(cube)).collect();
                let type_name = |payload| match payload {
                    Payload::Cube(cube) => cube.type_name(),
                    other => other.type_name(),
                };
                words("zorb bench cube", plan.basis.pin)
                    .payloads(&payloads, type_name)
                    .word("--calls", plan.basis.calls)
                    .peers(peers)
                    .line()
            }
            Scenario::Sizes(plan, peers) => words("zorb bench size", plan.basis.pin)
                .word("--sizes", sizes(&plan.sizes))
                .word("--calls", plan.basis.calls)
                .peers(peers)
                .line(),
            Scenario::Lookups(plan) => words("zorb bench demux", plan.basis.pin)
                .list("--lookup", plan.lookups.iter().map(|lookup| lookup.name()))
                .list("--operations", counts(&plan.operations))
                .list("--objects", counts(&plan.objects))
                .list("--style", plan.styles.iter().map(|style| style.name()))
                .word("--calls", plan.basis.calls)
                .line(),
            Scenario::Iterations(plan) => words("zorb bench demux", plan.pin)
                .list("--iterations", &plan.iterations)
                .list("--lookup", plan.lookups.iter().map(|lookup| lookup.name()))
                .list("--style", plan.styles.iter().map(|style| style.name()))
                .word("--repeat", plan.repeat)
                .line(),
            Scenario::FirstCalls(basis, peers) => {
                words("zorb bench firstcall", basis.pin).word("--calls", basis.calls).peers(peers).line()
            }
            Scenario::Images(basis, peers) => words("zorb bench images", basis.pin).peers(peers).line(),
        }
    }
}

/// A command line as it grows.
struct Words(String);

impl Words {
    fn new(command: &str) -> Words {
        Words(command.to_owned())
    }

    fn word(mut self, option: &str, value: impl fmt::Display) -> Words {
        self.0.push_str(&format!(" {option} {value}"));
        self
    }

    fn maybe(self, option: &str, value: Option<impl fmt::Display>) -> Words {
        match value {
            Some(value) => self.word(option, value),
            None => self,
        }
    }

    fn list<T: fmt::Display>(self, option: &str, values: impl IntoIterator<Item = T>) -> Words {
        let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
        self.word(option, values.join(","))
    }

    fn floods(self, plan: &ttcp::Plan, versions: &Systems) -> Words {
        self.list("--versions", versions.names())
            .list("--types", plan.elements.iter().map(|element| element.name()))
            .word("--buffers", sizes(&plan.buffers))
            .word("--total", octets(plan.total as usize))
            .maybe("--most", plan.most)
            .maybe("--longest", plan.longest)
            .maybe("--queue", plan.queue.map(octets))
            .word("--repeat", plan.repeat)
    }

    fn peers(self, peers: &Systems) -> Words {
        if peers.0.is_empty() { self } else { self.list("--peers", peers.names()) }
    }

    /// Types, and the sizes of those that have several.
    fn payloads(self, payloads: &[Payload], type_name: impl Fn(Payload) -> &'static str) -> Words {
        let sequence = |payload: &Payload| match payload {
            Payload::Octets(size) | Payload::Cube(cube::Cube::Octets(size) | cube::Cube::Longs(size)) => {
                Some(*size)
            }
            _ => None,
        };
        let mut types: Vec<_> = payloads.iter().map(|&payload| type_name(payload)).collect();
        types.dedup();
        let mut of_sequences: Vec<_> = payloads.iter().filter_map(sequence).collect();
        // Those of the first type; the other types have the same.
        let all = of_sequences.len();
        let first = of_sequences.first().copied();
        let again = of_sequences.iter().skip(1).position(|&size| Some(size) == first);
        of_sequences.truncate(again.map_or(all, |at| at + 1));
        let words = self.list("--types", types);
        if of_sequences.is_empty() { words } else { words.word("--sizes", sizes(&of_sequences)) }
    }

    fn line(self) -> String {
        self.0
    }
}

/// None is 0 to the command.
fn counts(counts: &[u32]) -> Vec<u32> {
    if counts.is_empty() { vec![0] } else { counts.to_vec() }
}

/// A number of octets as the command line takes it.
fn octets(octets: usize) -> String {
    match octets {
        octets if octets > 0 && octets % (1 << 20) == 0 => format!("{}M", octets >> 20),
        octets if octets > 0 && octets % (1 << 10) == 0 => format!("{}K", octets >> 10),
        octets => octets.to_string(),
    }
}

/// Sizes as the command line takes them: from three on, those that doubling leads through are a run.
fn sizes(sizes: &[usize]) -> String {
    let mut parts = Vec::new();
    let mut rest = sizes;
    while let Some(&first) = rest.first() {
        let run = 1 + rest.windows(2).take_while(|pair| pair[1] == 2 * pair[0]).count();
        match run {
            1 | 2 => {
                parts.push(octets(first));
                rest = &rest[1..];
            }
            _ => {
                parts.push(format!("{}..{}", octets(first), octets(rest[run - 1])));
                rest = &rest[run..];
            }
        }
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_sizes_are_short() {
        assert_eq!(sizes(&[1, 2, 4, 8, 1000, 1024, 2048, 5 << 20]), "1..8,1000,1K,2K,5M");
        assert_eq!(sizes(&[64, 128]), "64,128");
        assert_eq!(sizes(&[]), "");
    }
}
