//! `zorb soak`: every protocol at once for a time, with processes killed at random, and a verdict.
//!
//! ```text
//!   lanes              this process                     processes that are killed
//!   tcp unix shm udp   callers  ── numbered requests ──▶  servers, each with a book in a file
//!                      ledger   ◀── called back ────────
//!   tcp unix shm       ledger   ◀── numbered requests ──  callers, which write down what they are told
//!   memory             callers  ── numbered requests ──▶  (an ORB here that is shut down)
//!   all                callers  ── numbered requests ──▶  a server that lives on
//! ```
//!
//! Every request has a number. A servant enters it in its book before it returns; a caller knows whether it returned, was
//! surely not executed, or may have been. When a process has died, [`account`] compares both. At the end [`resources`]
//! tells whether anything is left.

mod account;
mod book;
mod calls;
mod idl;
mod lane;
mod peer;
mod resources;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use zorb::policy::Policies;
use zorb::server::ServerLimits;
use zorb::transport::memory::Memory;
use zorb::transport::udp::Udp;
use zorb::{Orb, OrbBuilder};

use crate::failure::Failure;
use crate::table::{Table, thousands};
use account::Account;
use calls::Wrongs;
use lane::{Field, Lane, Part, Passed};
use resources::{Resources, settle};

/// Run every protocol at once, kill processes at random, and see that nothing is lost or left.
///
/// Callers here make numbered requests to server processes by TCP, Unix sockets, shared memory, UDP and within the process;
/// other processes call back. Servers and callers are killed at random, and each request is accounted for: one that
/// returned was executed once, one that failed with COMPLETED_NO not at all, any other at most once. At the end
/// descriptors, threads and shared segments are counted.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Exit codes: 0 nothing is lost, doubled or left; 1 something is, or it could not run.

Examples:
  zorb soak --for 30s
  zorb soak --for 2h --seed 7"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    half: Option<peer::Half>,

    /// How long: a number with s, m or h.
    #[arg(long = "for", value_name = "TIME", default_value = "20m", value_parser = time)]
    lasting: Duration,

    /// Which random times and calls.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Threads that call, of each lane. Two: calls at once, and cores left for the other lanes.
const CALLERS: u64 = 2;

/// How long what is no longer needed may take to go: twice the idle time of connections, and threads that end after 128 ms,
/// on a busy machine.
const SETTLE: Duration = Duration::from_secs(20);

/// What an ORB may hold when nobody uses it, above what it held when it had started: its client's reactor with two
/// descriptors, threads that it makes when first needed, and the few connections that were used last.
const STANDING: Resources = Resources { descriptors: 6, threads: 4, segments: 0 };

/// An ORB as every part has it. Connections that are not used close soon, so that closing is soaked too: those of clients, and
/// those that a server makes of the senders of datagrams, of which each has a descriptor until it has been silent for so long.
fn builder() -> OrbBuilder {
    let mut limits = ServerLimits::default();
    limits.idle = Duration::from_secs(4);
    Orb::builder()
        .transport(Arc::new(Udp::new()))
        .policies(Policies::new().call_timeout(peer::CALL_TIMEOUT))
        .client_idle(Duration::from_secs(2))
        .server_limits(limits)
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Some(half) = arguments.half {
        return peer::run(half);
    }
    let directory = std::env::temp_dir().join(format!("zorb-soak-{}", std::process::id()));
    std::fs::create_dir(&directory).map_err(|cause| Failure::file("make", &directory, cause))?;
    let ended = soak(arguments.lasting, arguments.seed, directory.clone());
    let _ = std::fs::remove_dir_all(&directory);
    ended
}

fn lanes() -> Vec<Lane> {
    let lane = |part| move |protocol| Lane { protocol, part };
    let servers = ["tcp", "unix", "shm", "udp"].map(lane(Part::Servers));
    let callers = ["tcp", "unix", "shm"].map(lane(Part::Callers));
    let mut lanes: Vec<_> = servers.into_iter().chain(callers).collect();
    lanes.push(Lane { protocol: "memory", part: Part::Orbs });
    lanes.push(Lane { protocol: "all", part: Part::Nobody });
    lanes
}

fn soak(lasting: Duration, seed: u64, directory: PathBuf) -> Result<(), Failure> {
    let before = Resources::now()?;
    let memory = Arc::new(Memory::new());
    let listen = ["tcp:127.0.0.1:0", "unix:", "shm:", "memory:"];
    let orb = builder().transport(memory.clone()).listen_at(listen).build();
    orb.listen().map_err(|exception| Failure::new(format!("cannot listen: {exception}")))?;
    let opening = Resources::now()?;
    let field = Field {
        orb,
        numbers: AtomicU64::new(1),
        until: Instant::now() + lasting,
        wrongs: Wrongs::default(),
        directory,
        memory,
        seed,
    };
    let lanes = lanes();
    let (passed, most) = drive(&field, &lanes)?;

    let bound = opening.and(STANDING);
    let idle = settle(bound, SETTLE, Resources::now)?;
    field.orb.shutdown(true, Duration::from_secs(5));
    let wrongs = field.wrongs;
    drop((field.orb, field.memory));
    let after = settle(before, SETTLE, Resources::now)?;

    let mut say = std::io::stdout().lock();
    write!(say, "{}", table(&lanes, &passed))?;
    writeln!(say)?;
    let steady = passed.iter().find_map(|passed| passed.held);
    for (what, held) in [
        ("before", before),
        ("listening", opening),
        ("at most", most),
        ("idle again", idle),
        ("after", after),
    ] {
        writeln!(say, "{what:<11} {held}")?;
    }
    if let Some((first, last)) = steady {
        writeln!(say, "the server that lives on: {first}")?;
        writeln!(say, "  when callers had gone:  {last}")?;
    }
    let mut faults = faults(&passed, &wrongs);
    let mut check = |what: &str, held: Resources, bound: Resources| {
        if !held.within(bound) {
            faults.push(format!("{what}: {held}; expected at most {bound}"));
        }
    };
    check("left when idle", idle, bound);
    check("left at the end", after, before);
    if let Some((first, last)) = steady {
        check("left in the server that lives on", last, first.and(STANDING));
    }
    writeln!(say)?;
    if faults.is_empty() {
        writeln!(say, "nothing lost, nothing doubled, nothing left")?;
        return Ok(());
    }
    for fault in &faults {
        writeln!(say, "fault: {fault}")?;
    }
    Err(Failure::new(format!("the soak found {} faults; seed {seed}", faults.len())))
}

/// All lanes to their ends, and the most that was held meanwhile.
fn drive(field: &Field, lanes: &[Lane]) -> Result<(Vec<Passed>, Resources), Failure> {
    let mut most = Resources::now()?;
    let passed = std::thread::scope(|scope| {
        let running: Vec<_> = lanes
            .iter()
            .enumerate()
            .map(|(index, lane)| scope.spawn(move || lane.run(field, index as u64)))
            .collect();
        while running.iter().any(|lane| !lane.is_finished()) {
            if let Ok(now) = Resources::now() {
                most = most.most(now);
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        let ended = running.into_iter().zip(lanes);
        ended
            .map(|(lane, which)| {
                let ended = lane.join().unwrap_or_else(|_| Err(Failure::new("a lane panicked")));
                ended.map_err(|failure| {
                    Failure::new(format!("{} ({}): {failure}", which.protocol, part(which.part)))
                })
            })
            .collect::<Result<Vec<_>, _>>()
    })?;
    Ok((passed, most))
}

fn part(part: Part) -> &'static str {
    match part {
        Part::Servers => "servers",
        Part::Callers => "callers",
        Part::Orbs => "ORBs",
        Part::Nobody => "none",
    }
}

fn table(lanes: &[Lane], passed: &[Passed]) -> Table {
    let heads = ["<protocol", "<who dies", "lives", "returned", "not executed", "perhaps", "lost", "doubled"];
    let mut table = Table::new(&heads);
    for (lane, passed) in lanes.iter().zip(passed) {
        let Account { returned, not_executed, perhaps, lost, doubled, denied, strange, .. } = passed.account;
        let numbers =
            [passed.lives, returned, not_executed, perhaps, lost, doubled + denied + strange].map(thousands);
        let names = [lane.protocol.to_owned(), part(lane.part).to_owned()];
        table.row(names.into_iter().chain(numbers));
    }
    table
}

fn faults(passed: &[Passed], wrongs: &Wrongs) -> Vec<String> {
    let mut faults = Vec::new();
    let mut all = Account::default();
    for passed in passed {
        all.add(passed.account.clone());
    }
    if all.faults() > 0 {
        faults.push(format!(
            "{} lost, {} doubled, {} executed in spite of COMPLETED_NO, {} that nobody made",
            all.lost, all.doubled, all.denied, all.strange
        ));
        faults.extend(all.examples);
    }
    let (garbled, timeouts) =
        (wrongs.garbled.load(Ordering::Relaxed), wrongs.timeouts.load(Ordering::Relaxed));
    if garbled + timeouts > 0 {
        let first = wrongs.first.lock().ok().and_then(|mut first| first.take()).unwrap_or_default();
        faults.push(format!("{garbled} wrong answers, {timeouts} calls without an end; the first: {first}"));
    }
    faults
}

/// A number with a unit of time.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time such as 30s, 20m or 2h");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(unit).filter(|seconds| (1..=7 * 86_400).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("20m"), Ok(Duration::from_secs(1200)));
        assert_eq!(time("30s"), Ok(Duration::from_secs(30)));
        for wrong in ["", "s", "20", "0s", "1d", "999999h", "1é"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
