//! Idle connections: what each costs the server in memory, and a null call meanwhile.
//!
//! Each idle connection has made one null call. Numbers are measured in rising order on the same servers, so that
//! connections are added; a server's memory is its resident set, compared with what it was before the first. The floor
//! has no idle connections: beside a bare socket they would measure the kernel's threads.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::BenchError;
use crate::calls::{self, Basis, PAIRS};
use crate::contest::Contest;
use crate::lab::Lab;
use crate::raw::Raw;
use crate::row::{Figures, Parameters, Row};
use crate::system::{Payload, System};

/// Descriptors of a process beside its idle connections, with room.
const OTHERS: u64 = 200;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How, and how many null calls of each system meanwhile.
    pub basis: Basis,
    /// Numbers of idle connections.
    pub connections: Vec<u32>,
}

/// Measures `systems` beside the bare socket, and hands on the rows of each number of connections as soon as they are
/// there: times first, the bare socket's first of all, then memory. Gives what went wrong with single systems, a line
/// each.
///
/// Raises this process's limit of descriptors, which the servers inherit; a number of connections that is still too
/// many is left out with a remark.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let allowed = raise_descriptors();
    let mut numbers = plan.connections.clone();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|&number| {
        let fits = u64::from(number) + OTHERS <= allowed;
        if !fits {
            lab.progress.remark(&format!(
                "{number} connections are left out: a process may have {allowed} descriptors here (ulimit -Hn)"
            ));
        }
        fits
    });
    plan.basis.contest(systems, lab, |contest| {
        lab.progress.expect((numbers.len() * PAIRS * contest.len()) as u64);
        let mut crowds = vec![None; contest.len()];
        for &number in &numbers {
            finished(event(contest, plan, lab, number, &mut crowds)?);
        }
        Ok(())
    })
}

/// A server's idle connections, and what it was without them.
#[derive(Debug, Clone, Copy)]
struct Crowd {
    server: u32,
    before_kib: u64,
    connections: u32,
}

fn event(
    contest: &mut Contest,
    plan: &Plan,
    lab: &Lab,
    number: u32,
    crowds: &mut [Option<Crowd>],
) -> Result<Vec<Row>, BenchError> {
    contest.begin()?;
    for (at, crowd) in crowds.iter_mut().enumerate() {
        if contest.system(at).name() == Raw::Plain.name() {
            continue;
        }
        contest.attempt(at, |client, far| {
            let Some(server) = far.process() else { return Ok(()) };
            // A server that was started anew has none.
            let new = || Crowd { server, before_kib: resident_kib(server).unwrap_or(0), connections: 0 };
            let crowd = match crowd {
                Some(crowd) if crowd.server == server => crowd,
                other => other.insert(new()),
            };
            client.idle(number - crowd.connections)?;
            crowd.connections = number;
            Ok(())
        })?;
    }
    let (_, sides) = calls::event(contest, &plan.basis, lab, Payload::Null)?;
    let parameters = Parameters { connections: Some(number), ..Parameters::default() };
    let mut rows = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let Some(side) = side else { continue };
        let row =
            plan.basis.row("connections", contest.system(at), Payload::Null, side.latency(), &side.ratios);
        rows.push(Row { parameters: parameters.clone(), ..row });
    }
    for (at, crowd) in crowds.iter().enumerate() {
        let Some(crowd) = crowd.filter(|_| contest.takes_part(at)) else { continue };
        let Some(now) = resident_kib(crowd.server) else { continue };
        let kib_per_connection = now.saturating_sub(crowd.before_kib) as f64 / f64::from(number.max(1));
        let figures = Figures::Memory { kib_per_connection };
        let row = plan.basis.row("connections", contest.system(at), Payload::Null, figures, &[]);
        rows.push(Row { parameters: parameters.clone(), ..row });
    }
    Ok(rows)
}

/// A process's resident memory; `None` if there is no such process.
fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Lets this process have as many descriptors as it may, and says how many that are.
fn raise_descriptors() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        Err(_) => current.unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_one_that_is_not_there_has_none() {
        assert!(resident_kib(std::process::id()).is_some_and(|kib| kib > 100));
        assert_eq!(resident_kib(u32::MAX), None);
    }
}
