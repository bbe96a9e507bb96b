//! Flame graphs of both sides: not only which functions the time goes to, but by whom they were called.
//!
//! The kernel follows the frame pointers of what it looks at, so a program is to be built with them; what a compiler has put into its callers comes
//! from the program's line tables. Stacks begin where the measured thing begins: at the call or the flood on the client's side, and on the
//! server's where a thread's own function begins.

use std::collections::{BTreeSet, HashMap};

use super::names::{Function, Names};
use super::sampling::{Sampler, Samples};
use crate::BenchError;
use crate::calls::{self, Basis, Side};
use crate::contest::{Contest, Far};
use crate::cpu;
use crate::lab::Lab;
use crate::process::Bounds;
use crate::report::Flame;
use crate::system::{Call, Client, Payload, System, octets_text};

/// The time of one side of a system.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The system.
    pub system: &'static str,
    /// `client` or `server`, `sender` or `receiver`.
    pub side: &'static str,
    /// What was done: `null`, `octet 1 MiB`.
    pub what: String,
    /// The stacks.
    pub flame: Flame,
}

impl Graph {
    /// A name for its files, without an ending.
    pub fn file_name(&self) -> String {
        format!("{}-{}-{}", self.what, self.system, self.side).replace([' ', '/', ':'], "-")
    }

    /// What stands above the picture.
    pub fn title(&self) -> String {
        format!("{}, {}: {}", self.system, self.side, self.what)
    }
}

/// Whether this program was built so that its stacks can be followed.
pub const STACKS_ARE_WHOLE: bool = cfg!(zorb_frame_pointers);

/// Looks of one burst: few enough for the rings.
const BURST_SECONDS: f64 = 0.2;

/// Bursts of each system for each kind of call: four seconds.
const BURSTS: usize = 20;

/// Makes calls with the floor and each system in turns and hands on the graphs of both sides of each, for each payload.
///
/// Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// [`BenchError::Profile`] where processes may not be looked at, any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn of_calls(
    systems: &[&dyn System],
    (basis, payloads): (&Basis, &[Payload]),
    lab: &Lab,
    finished: &mut (dyn FnMut(Graph) + Send),
) -> Result<Vec<String>, BenchError> {
    let mut sampler = Sampler::of_stacks()?;
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((payloads.len() * BURSTS * contest.len()) as u64);
        for &payload in payloads {
            contest.begin()?;
            let messages = calls::messages(contest, basis, lab, payload)?;
            let mut seen = Vec::new();
            for at in 0..contest.len() {
                let calls = contest.attempt(at, |client, _| {
                    client.prepare(Call { payload, messages })?;
                    Side::default().warm_up(client)?;
                    calls_of_a_burst(client)
                })?;
                seen.push((calls.unwrap_or_default(), Samples::default()));
            }
            for round in 0..BURSTS {
                for at in contest.order(round) {
                    let (calls, samples) = &mut seen[at];
                    let burst =
                        |client: &mut dyn Client| client.burst(*calls, &mut Vec::with_capacity(*calls));
                    if let Some(more) = watched(contest, at, &mut sampler, burst)? {
                        samples.add(more);
                    }
                    lab.progress.step();
                }
            }
            let (bounds, what) = (lab.bounds(None), what(payload));
            for (at, (_, samples)) in seen.iter().enumerate() {
                let sides = ["client", "server"];
                let graphs = graphs(contest, at, samples, &bounds, sides, &what)?;
                graphs.into_iter().flatten().for_each(&mut *finished);
            }
        }
        Ok(())
    })
}

/// The calls' type and size.
fn what(payload: Payload) -> String {
    match payload.size() {
        0 => payload.type_name().to_owned(),
        size => format!("{} {}", payload.type_name(), octets_text(size)),
    }
}

/// So many that the rings hold what is seen of them.
fn calls_of_a_burst(client: &mut dyn Client) -> Result<usize, BenchError> {
    const TASTE: usize = 20;
    let mut times = Vec::with_capacity(TASTE);
    client.burst(TASTE, &mut times)?;
    let each = times.iter().sum::<std::time::Duration>().as_secs_f64() / TASTE as f64;
    Ok(((BURST_SECONDS / each.max(1e-9)) as usize).clamp(calls::LEAST_BURST, 100_000))
}

/// Lets a system do something while the processors are looked at. `None` if it takes no part or failed.
pub(super) fn watched<T>(
    contest: &mut Contest,
    at: usize,
    sampler: &mut Sampler,
    something: impl FnOnce(&mut dyn Client) -> Result<T, BenchError>,
) -> Result<Option<Samples>, BenchError> {
    let mut refused = None;
    let seen = contest.attempt(at, |client, _| match sampler.during(|| something(client)) {
        Ok((done, seen)) => done.map(|_| seen),
        // Not this system's fault.
        Err(error) => {
            refused = Some(error);
            Ok(Samples::default())
        }
    })?;
    match refused {
        Some(error) => Err(error),
        None => Ok(seen),
    }
}

/// The processes of both sides, the client's or sender's first.
pub(super) fn processes(client: &dyn Client, far: &Far) -> [Vec<u32>; 2] {
    let server = far.process().map(cpu::family).unwrap_or_default();
    // This process has started the others.
    let client = client.process().map_or_else(|| vec![std::process::id()], cpu::family);
    [client, server]
}

/// Both sides of a system, while their processes live.
pub(super) fn graphs(
    contest: &mut Contest,
    at: usize,
    samples: &Samples,
    bounds: &Bounds,
    sides: [&'static str; 2],
    what: &str,
) -> Result<Option<[Graph; 2]>, BenchError> {
    let system = contest.system(at).name();
    let processes = contest.attempt(at, |client, far| Ok(processes(client, far)))?;
    let Some([client, server]) = processes else { return Ok(None) };
    let graph = |side, processes: &[u32]| {
        let flame = flame(processes, samples, bounds)?;
        Ok::<_, BenchError>(Graph { system, side, what: what.to_owned(), flame })
    };
    Ok(Some([graph(sides[0], &client)?, graph(sides[1], &server)?]))
}

fn flame(processes: &[u32], samples: &Samples, bounds: &Bounds) -> Result<Flame, BenchError> {
    let names = Names::default();
    let mut flame = Flame::default();
    for &process in processes {
        let addresses: BTreeSet<u64> =
            samples.stacks(process).flat_map(|(stack, _)| called_from(stack)).collect();
        let addresses: Vec<u64> = addresses.into_iter().collect();
        let frames = names.frames(process, &addresses, bounds)?;
        let known: HashMap<u64, Vec<Function>> = addresses.into_iter().zip(frames).collect();
        for (stack, seconds) in samples.stacks(process) {
            let addresses: Vec<u64> = called_from(stack).collect();
            let functions = addresses.iter().rev().filter_map(|address| known.get(address)).flatten();
            let functions: Vec<Function> = functions.cloned().collect();
            flame.add(&functions[beginning(&functions)..], seconds);
        }
    }
    Ok(flame)
}

/// The addresses of a stack, each within the instruction that was executed: of callers that is the one before where they go on.
fn called_from(stack: &[u64]) -> impl Iterator<Item = u64> {
    stack.iter().enumerate().map(|(at, &address)| if at == 0 { address } else { address - 1 })
}

/// Where what is measured begins: what lies below is this program's own way there, or that of the standard library's to a thread's function.
fn beginning(functions: &[Function]) -> usize {
    const MEASURED: [&str; 2] = ["::round_trip", "::flood"];
    const THREAD: &str = "__rust_begin_short_backtrace";
    const BELOW: [&str; 8] =
        ["std::", "core::", "alloc::", "<core::", "<alloc::", "<std::", "no name, in ", "stubs of calls"];
    let is_measured = |name: &str| MEASURED.iter().any(|end| name.ends_with(end));
    if let Some(at) = functions.iter().position(|function| is_measured(&function.name)) {
        return at;
    }
    // A closure's name has no module where a compiler has put it into its caller.
    let is_below = |name: &str| {
        BELOW.iter().any(|part| name.starts_with(part))
            || ["main", "_start", "start_thread", "clone3", "call_once"]
                .iter()
                .any(|other| name.starts_with(other))
            || name.starts_with("{closure")
    };
    let thread = functions.iter().rposition(|function| function.name.contains(THREAD)).map_or(0, |at| at + 1);
    let above = functions[thread..].iter().position(|function| !is_below(&function.name));
    above.map_or(0, |at| thread + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Group;

    fn functions(names: &[&str]) -> Vec<Function> {
        names.iter().map(|&name| Function { group: Group::Program, name: name.to_owned() }).collect()
    }

    #[test]
    fn stacks_begin_with_what_is_measured() {
        let client =
            ["main", "zorb::run", "<bench::Pings as Exchange>::round_trip", "bench::Echo::ping", "sendto"];
        assert_eq!(beginning(&functions(&client)), 2);
        let server = [
            "no name, in libc.so.6",
            "std::sys::thread::start",
            "core::ops::call",
            "zorb_orb::server::work",
            "std::io::x",
        ];
        assert_eq!(beginning(&functions(&server)), 3);
        let inlined = [
            "{closure#1}",
            "catch_unwind<i32>",
            "__rust_begin_short_backtrace<a, b>",
            "{closure#0}",
            "call_once",
            "work",
        ];
        assert_eq!(beginning(&functions(&inlined)), 5);
        assert_eq!(beginning(&functions(&["std::a"])), 0, "nothing is lost");
        assert_eq!(beginning(&[]), 0);
    }

    #[test]
    fn callers_are_looked_up_where_they_called() {
        assert_eq!(called_from(&[0x10, 0x20, 0x30]).collect::<Vec<_>>(), [0x10, 0x1f, 0x2f]);
    }
}
