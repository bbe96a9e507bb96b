//! Runs every pairing of peers, judges each case against `known-gaps.toml` and all against `cases.txt`, and prints a table.
//!
//! `interop-run [--only TEXT] [--keep]`, started by `../../run`, which builds what it needs. `--only` runs the steps whose
//! names hold that text; `--keep` leaves the peers' output in the scratch folder. With `ZORB_REQUIRE_PEERS=1` a missing
//! peer or tool is a failure; otherwise it is named in one line and its steps are left out.
//!
//! | file | step |
//! |---|---|
//! | `pairings` | the table of client and server pairs, and one run of each |
//! | `references` | `catior` and `zorb ior` agree on every peer's references |
//! | `naming` | omniNames: `corbaname:`, bind, resolve, list; `nameclt` agrees |
//! | `multicast` | oneways to a group of a zorb and a JacORB object, from either |
//! | `bidirectional` | calls back over the connection that the client opened, in both roles with each peer |
//! | `sockets` | `corbaloc:` of Unix sockets, by which zorb and omniORB call each other |
//! | `explore` | objects without stubs: every operation that echoes, called at run time, and `zorb call` |
//! | `capture` | tshark finds no malformed message in zorb's traffic |

mod bidirectional;
mod capture;
mod cases;
mod explore;
mod gaps;
mod multicast;
mod naming;
mod pairings;
mod peers;
mod process;
mod references;
mod repositories;
mod sockets;
mod walk;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use cases::Cases;
use gaps::Gaps;
use peers::Workshop;

/// How one step of the run ended.
pub(crate) enum Verdict {
    /// All is well; what was done, for the table.
    Passed(String),
    /// What it needs is not there.
    Missing(String),
    /// What was wrong, a line each.
    Failed(Vec<String>),
}

type Step<'w> = (String, Box<dyn Fn() -> Verdict + Send + Sync + 'w>);

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("interop: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let mut only = String::new();
    let mut keep = false;
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => only = words.next().ok_or("--only needs a text")?,
            "--keep" => keep = true,
            _ => return Err(format!("{word}: no such option; there are --only TEXT and --keep")),
        }
    }
    let required = env::var("ZORB_REQUIRE_PEERS").is_ok_and(|value| value == "1");
    let workshop = Workshop::open()?;
    let cases = Cases::read(&workshop.interop.join("cases.txt"))?;
    let gaps = Gaps::read(&workshop.interop.join("known-gaps.toml"))?;

    let mut steps: Vec<Step<'_>> = Vec::new();
    for pairing in pairings::all() {
        let (workshop, cases, gaps) = (&workshop, &cases, &gaps);
        steps.push((pairing.to_string(), Box::new(move || pairing.run(workshop, cases, gaps))));
    }
    steps.push(("samples".into(), Box::new(|| pairings::samples(&workshop))));
    for peer in peers::ALL {
        let workshop = &workshop;
        steps.push((format!("references of {peer}"), Box::new(move || references::agree(workshop, peer))));
    }
    for peer in peers::ALL {
        let (workshop, gaps) = (&workshop, &gaps);
        steps.push((
            format!("dynamic calls of {peer}"),
            Box::new(move || explore::explore(workshop, gaps, peer)),
        ));
    }
    for peer in ["omniorb", "jacorb"] {
        let workshop = &workshop;
        steps.push((
            format!("repository read by {peer}"),
            Box::new(move || repositories::read_by(workshop, peer)),
        ));
    }
    steps.push(("repository queried by JacORB's tool".into(), Box::new(|| repositories::queried(&workshop))));
    steps.push(("repository of JacORB".into(), Box::new(|| repositories::learnt(&workshop))));
    steps.push(("corbaloc of Unix sockets".into(), Box::new(|| sockets::by_corbaloc(&workshop))));
    steps.push(("naming by omniNames".into(), Box::new(|| naming::agree(&workshop))));
    steps.push(("exploring as the pages say".into(), Box::new(|| walk::through(&workshop))));
    steps.push(("multicast by MIOP".into(), Box::new(|| multicast::reaches_both(&workshop))));
    for peer in [peers::Peer::Omniorb, peers::Peer::Jacorb] {
        let workshop = &workshop;
        steps.push((
            format!("bidirectional GIOP with {peer}"),
            Box::new(move || bidirectional::both_ways(workshop, peer)),
        ));
    }
    steps.push(("messages by tshark".into(), Box::new(|| capture::well_formed(&workshop))));
    steps.retain(|(name, _)| name.contains(&only));

    let (failed, missing) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let next = AtomicUsize::new(0);
    // Each step keeps a client and a server busy in turn: as many steps at a time as there are cores, and at most four,
    // since a JVM takes a gigabyte.
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((name, step)) = steps.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    let verdict = step();
                    match &verdict {
                        Verdict::Passed(_) => {}
                        Verdict::Missing(_) => _ = missing.fetch_add(1, Ordering::Relaxed),
                        Verdict::Failed(_) => _ = failed.fetch_add(1, Ordering::Relaxed),
                    }
                    print!("{}", verdict.row(name, began.elapsed()));
                }
            });
        }
    });
    let (failed, missing) = (failed.into_inner(), missing.into_inner());
    println!("interop: {} steps, {failed} failed, {missing} not run", steps.len());
    if keep || failed > 0 {
        println!("interop: the peers' output is in {}", workshop.scratch.display());
    } else {
        // Nothing was wrong; a folder that stays behind is not worth a failure.
        let _ = fs::remove_dir_all(&workshop.scratch);
    }
    let good = failed == 0 && (missing == 0 || !required);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Verdict {
    /// Its row of the table, and what was wrong below it.
    fn row(&self, step: &str, took: Duration) -> String {
        let seconds = took.as_secs_f32();
        match self {
            Verdict::Passed(what) => format!("{step:<46} {seconds:5.1} s  {what}\n"),
            Verdict::Missing(what) => format!("{step:<46}          not run: {what}\n"),
            Verdict::Failed(lines) => {
                let lines: String = lines.iter().map(|line| format!("    {}\n", shorten(line))).collect();
                format!("{step:<46} {seconds:5.1} s  FAILED\n{lines}")
            }
        }
    }
}

/// At most 300 characters: enough to see what differs.
fn shorten(line: &str) -> String {
    if line.chars().count() <= 300 { line.into() } else { line.chars().take(299).chain(['…']).collect() }
}
