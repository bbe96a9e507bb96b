//! `zorb ttcp`: floods of typed data, side by side.
//!
//! The measurement is `zorb_bench::ttcp`; here are the command line, the two halves for
//! two hosts ([`recv`] has the receiving one), the table ([`table`]), and the end that Ctrl-C makes ([`stopping`]).

mod profile;
mod recv;
mod stopping;
mod table;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::{Args, Subcommand};

use zorb_bench::BenchError;
use zorb_bench::contest::Entry;
use zorb_bench::flood::Element;
use zorb_bench::lab::Lab;
use zorb_bench::link::Spec;
use zorb_bench::machine;
#[cfg(test)]
use zorb_bench::paper::{Scenario, Systems};
use zorb_bench::pin::Pin;
use zorb_bench::profile::Graph;
use zorb_bench::raw::Raw;
use zorb_bench::statistics::LEAST_PAIRS;
use zorb_bench::system::{System, Transport};
use zorb_bench::ttcp::{self, Outcome, Plan};

use crate::bench::common::{crossing, over};
use crate::bench::flames::{Flames, Folder};
use crate::bench::rtt::print_rows;
use crate::bench::surroundings::{surrounded, tell_if_busy};
use crate::bench::systems;
use crate::failure::Failure;
use crate::sizes::{Buffers, Octets};
use crate::table::octets;

/// Flood a receiver with typed data, over bare sockets, zorb and its peers.
///
/// The field's benchmark: a transmitter sends buffers one way, as fast as it can; the receiver checks each. The
/// clock stops when it has confirmed that every buffer was executed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zorb ttcp run --types octet,struct
  zorb ttcp recv --listen 10.0.0.2:5001")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    half: Half,
}

#[derive(Debug, Subcommand)]
enum Half {
    Run(RunArguments),
    Recv(recv::Arguments),
    Send(SendArguments),
}

/// Both sides on this host, in two processes.
///
/// For each type and buffer size the versions take turns; each turn's time over that of the bare socket in the same
/// round gives a ratio. Shown are the rate until all was confirmed, the rate at which the sender got rid of it, processor
/// seconds for each GiB on both sides, and the median ratio with its 95 % bootstrap interval. A second table has the ratios of both sides'
/// processor time, and of times to raw-equal.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
struct RunArguments {
    /// Versions: raw, raw-equal, framed, ipc, zorb; omniorb, jacorb, tirpc, tirpc-opaque, tonic, capnp, sockets. Default: our own; raw-equal
    /// over sockets only.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    versions: Vec<String>,

    /// The version that ratios are to.
    #[arg(long, default_value = "raw", value_name = "NAME")]
    floor: String,

    /// What the messages travel over: tcp, unix, shm.
    #[arg(long, default_value = "tcp", value_name = "NAME")]
    transport: Transport,

    /// Each side on a processor of its own, both on one, or unpinned: split, same or none.
    #[arg(long, default_value = "split", value_name = "WHERE")]
    pin: Pin,

    /// Put a link between both sides, such as 155mbit,mtu=9180,delay=0.2ms, or wan: two network namespaces. Needs root.
    #[arg(long, value_name = "LINK")]
    link: Option<Spec>,

    /// Instead of rates: which functions of sender and receiver the processors' time goes to. Needs root or CAP_PERFMON.
    #[arg(long)]
    profile: bool,

    #[command(flatten)]
    flames: Flames,

    #[command(flatten)]
    floods: Floods,
}

const RUN_HELP: &str = "\
Versions: raw is a plain loop of write and read, raw-equal the same over sockets
told what zorb tells its own (receive timeouts, queues and congestion control
within the machine) and with as many octets as its messages have, framed puts a head before each buffer as a message has it, ipc is
raw through typed handles, zorb calls oneway operations, zorb-buffered sends 64 of them at a time; zorb-tcp, zorb-unix,
zorb-shm:RING and zorb-shm:RING+COUNTxSLAB, such as zorb-shm:128K+4x1M, are zorb
over another way; the others are peers, built by bench/peers/build NAME.
A ratio has an interval from 20 repetitions on, and there is none for --pin
none: unpinned processes move between two regimes.
With --profile there are no rates: looking slows all versions. With --flame DIR
there are flame graphs too, of a program built with frame pointers:
RUSTFLAGS=-Cforce-frame-pointers=yes cargo build --release --target-dir
target/flame
Ctrl-C ends the run and shows what was measured.

Examples:
  zorb ttcp run
  zorb ttcp run --versions ipc,sockets --floor sockets --types octet
  zorb ttcp run --types octet,struct --buffers 64K,1M --versions raw,zorb
  zorb ttcp run --versions raw,zorb,omniorb --queue 64K --json > ttcp.jsonl
  zorb ttcp run --profile --types struct --buffers 128K --versions raw,zorb";

/// The sending side, to receivers that `zorb ttcp recv` has started elsewhere.
///
/// With `raw` among them there are ratios. What the receivers spend of their processors cannot be seen from here.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: zorb ttcp send raw=10.0.0.2:5001 zorb=IOR:0100... --types struct")]
struct SendArguments {
    /// Receivers, as `recv` prints them. Without a version an address is raw's, a reference is zorb's.
    #[arg(required = true, value_name = "VERSION=ADDRESS|IOR")]
    receivers: Vec<String>,

    /// Keep the sender on one processor (split, same) or not (none).
    #[arg(long, default_value = "split", value_name = "WHERE")]
    pin: Pin,

    #[command(flatten)]
    floods: Floods,
}

/// What is sent.
#[derive(Debug, Args)]
struct Floods {
    /// Sequences of octet, char, short, long, double, struct (24 octets), struct32 (its 32-octet form); or string.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "octet,char,short,long,double,struct,struct32",
        value_name = "NAMES"
    )]
    types: Vec<Element>,

    /// Buffer sizes with K or M: a list, and runs of powers of two.
    #[arg(long, default_value = "1K..16M", value_name = "SIZES")]
    buffers: Buffers,

    /// Octets of each flood.
    #[arg(long, default_value = "64M", value_name = "OCTETS")]
    total: Octets,

    /// The most buffers of a flood: fewer of the small ones.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    most: Option<u32>,

    /// About the longest flood, in milliseconds: a version that would take longer sends fewer buffers, at least 16.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "MS")]
    longest: Option<u32>,

    /// Octets of the sockets' queues; by default the system adapts them.
    #[arg(long, value_name = "OCTETS")]
    queue: Option<Octets>,

    /// Floods of each version for each type and size.
    #[arg(long, default_value_t = LEAST_PAIRS as u32, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    repeat: u32,

    /// Start both sides anew so many times during those floods, since where buffers lie in memory stays with a process:
    /// ratios are then medians of each start's own, and have an interval from 20 starts on.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    instances: u32,

    /// Seed of the interval's resampling.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Longest wait for one answer of a peer, or for a receiver that takes nothing, in seconds.
    #[arg(long, default_value_t = Lab::PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..), value_name = "SECONDS")]
    patience: u64,

    /// One JSON object a line, each as soon as it is measured, instead of the tables.
    #[arg(long)]
    json: bool,
}

#[cfg(test)]
impl Arguments {
    /// What the arguments ask for, of what `zorb bench paper` measures too.
    pub(crate) fn measured(&self) -> Option<Result<(Scenario, Option<Spec>), Failure>> {
        let Half::Run(RunArguments { versions, transport, pin, link, profile, floods, .. }) = &self.half
        else {
            return None;
        };
        let kind = if *profile { Scenario::Profiles } else { Scenario::Floods };
        let flood = |versions| kind(floods.plan(*transport, *pin), Systems(versions));
        let versions = versions_or_own(versions.clone(), *transport);
        Some(systems::versions(&versions).map(|versions| (flood(versions), link.clone())))
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.half {
        Half::Recv(arguments) => recv::run(&arguments),
        Half::Run(RunArguments { versions, floor, transport, pin, link, profile, flames, floods }) => {
            if flames.to.is_some() && !profile {
                return Err(Failure::usage("--flame goes with --profile: with graphs there are no rates"));
            }
            let folder = flames.folder()?;
            crossing(transport, link.as_ref())?;
            let mut versions = systems::versions(&versions_or_own(versions, transport))?;
            versions.sort_by_key(|version| version.name() != floor);
            let plan = Plan { floor: systems::version(&floor)?.name(), ..floods.plan(transport, pin) };
            let place = match pin {
                Pin::Same => "both sides on one processor",
                Pin::Split => "a processor each",
                Pin::None => "not pinned",
            };
            let entries = versions.into_iter().map(Entry::here).collect();
            let what = if profile { What::Functions } else { What::Rates };
            measure((what, folder.as_ref()), entries, plan, link.as_ref(), place, &floods)
        }
        Half::Send(SendArguments { receivers, pin, floods }) => {
            let mut entries = receivers.iter().map(|text| receiver(text)).collect::<Result<Vec<_>, _>>()?;
            entries.sort_by_key(|entry| entry.system.name() != Raw::Plain.name());
            let place = match pin {
                Pin::Same | Pin::Split => "to elsewhere, the sender on one processor",
                Pin::None => "to elsewhere, not pinned",
            };
            measure((What::Rates, None), entries, floods.plan(Transport::Tcp, pin), None, place, &floods)
        }
    }
}

/// The versions that were named; without any, our own that differ over this transport.
fn versions_or_own(named: Vec<String>, transport: Transport) -> Vec<String> {
    let own: &[&str] = match transport {
        Transport::Tcp | Transport::Unix => &["raw", "raw-equal", "framed", "ipc", "zorb"],
        _ => &["raw", "framed", "ipc", "zorb"],
    };
    match named.is_empty() {
        true => own.iter().map(|&name| name.to_owned()).collect(),
        false => named,
    }
}

/// A receiver that is there already: `zorb=IOR:…`, `10.0.0.2:5001`.
fn receiver(text: &str) -> Result<Entry<'static>, Failure> {
    let is_reference = ["IOR:", "ior:", "corbaloc:", "file:"].iter().any(|scheme| text.starts_with(scheme));
    let (version, address) = match text.split_once('=') {
        Some(parts) if !is_reference => parts,
        _ if is_reference => ("zorb", text),
        _ => ("raw", text),
    };
    let system = systems::version(version)?;
    if system.name() == Raw::Plain.name() && address.parse::<std::net::SocketAddr>().is_err() {
        return Err(Failure::usage(format!(
            "{address:?} is neither a numeric address and port nor a reference"
        )));
    }
    Ok(Entry { system, served_at: Some(address.to_owned()) })
}

/// Socket queues of a length that the system grants: it would shorten longer ones and not say so.
///
/// # Errors
///
/// What it grants.
fn granted_queue(queue: Option<Octets>) -> Result<Option<usize>, Failure> {
    let Some(Octets(wanted)) = queue else { return Ok(None) };
    for limit in machine::queue_limits() {
        if wanted > limit.octets {
            return Err(Failure::usage(format!(
                "--queue: this system grants sockets at most {} octets ({})",
                limit.octets, limit.name
            )));
        }
    }
    Ok(usize::try_from(wanted).ok())
}

impl Floods {
    fn plan(&self, transport: Transport, pin: Pin) -> Plan {
        Plan {
            transport,
            pin,
            elements: self.types.clone(),
            buffers: self.buffers.0.clone(),
            total: self.total.0,
            most: self.most,
            longest: self.longest,
            queue: self.queue.map(|octets| octets.0 as usize),
            repeat: self.repeat as usize,
            instances: self.instances as usize,
            floor: Raw::Plain.name(),
            seed: self.seed,
        }
    }
}

type Describe = fn(&Plan, &str) -> String;

/// What of floods is asked for.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Rates,
    /// What the time goes to.
    Functions,
}

fn measure(
    (what, folder): (What, Option<&Folder<'_>>),
    entries: Vec<Entry<'static>>,
    plan: Plan,
    link: Option<&Spec>,
    place: &str,
    floods: &Floods,
) -> Result<(), Failure> {
    granted_queue(floods.queue)?;
    plan.pin.placement()?;
    tell_if_busy(floods.json)?;
    let kept = Mutex::new(Report { what, json: floods.json, last: None, outcomes: Vec::new() });
    // Rows are there for whoever ends the run, whatever the measuring thread did last.
    let report = || -> MutexGuard<Report> { kept.lock().unwrap_or_else(PoisonError::into_inner) };
    let mut unwritten = Ok(());
    let mut undrawn = Ok(());
    let describe: Describe = match what {
        What::Rates => describe,
        What::Functions => profile::describe,
    };
    let ended = surrounded("flooding", Duration::from_secs(floods.patience), link, |lab| {
        if !floods.json {
            unwritten = write!(std::io::stdout(), "{}", describe(&plan, &placed(lab, place)));
            if unwritten.is_err() {
                lab.stop.request();
            }
        }
        let abandon = || {
            // Who holds it writes to an output that may take nothing.
            let Ok(mut report) = kept.try_lock() else { Failure::from(BenchError::Stopped).end() };
            lab.progress.aside(&mut || match report.print() {
                Ok(()) => Failure::from(BenchError::Stopped).end(),
                Err(error) => Failure::from(error).end(),
            });
        };
        stopping::heeding(&lab.stop, abandon, || {
            let mut finished = |mut outcome: Outcome| {
                over(lab.link, &mut outcome.rows);
                let mut outcome = Some(outcome);
                lab.progress.aside(&mut || {
                    if let (Some(outcome), Ok(())) = (outcome.take(), &unwritten) {
                        unwritten = report().add(outcome);
                    }
                });
                if unwritten.is_err() {
                    lab.stop.request();
                }
            };
            match (what, folder) {
                (What::Rates, _) => ttcp::run(entries, &plan, lab, &mut finished),
                (What::Functions, None) => zorb_bench::profile::run(entries, &plan, lab, &mut finished),
                (What::Functions, Some(folder)) => {
                    let mut draw = |graph: Graph| {
                        if undrawn.is_ok() {
                            lab.progress.aside(&mut || undrawn = folder.write(&graph));
                        }
                    };
                    zorb_bench::profile::run_with_graphs(entries, &plan, lab, &mut draw, &mut finished)
                }
            }
        })
    });
    unwritten?;
    undrawn?;
    // What is left, also of a run that has failed.
    report().print()?;
    Failure::of_run(ended)
}

/// Where both sides run, and across what.
fn placed(lab: &Lab, place: &str) -> String {
    let link = lab.link.map(|link| format!("across {}, ", link.spec())).unwrap_or_default();
    link + place
}

fn describe(plan: &Plan, place: &str) -> String {
    let queue = plan.queue.map(|size| format!(", socket queues of {}", octets(size))).unwrap_or_default();
    let anew = match plan.instances {
        1 => String::new(),
        instances => format!(", both sides started anew {instances} times"),
    };
    let text = format!(
        "Floods of {} over {}, {place}{queue}; {} of each{anew}. Gbit/s until the receiver has confirmed every buffer; \
         sender: until it had sent the last; CPU: processor seconds for each GiB; ratio: of times, to {}.",
        octets(plan.total as usize),
        plan.transport.name(),
        plan.repeat,
        plan.floor,
    );
    crate::table::wrapped(&text, 0)
}

/// Prints what is measured: rows at once, tables as each type ends.
struct Report {
    what: What,
    json: bool,
    last: Option<Element>,
    outcomes: Vec<Outcome>,
}

impl Report {
    fn add(&mut self, outcome: Outcome) -> std::io::Result<()> {
        if self.json {
            return print_rows(&outcome.rows);
        }
        if self.what == What::Functions {
            let mut output = std::io::stdout().lock();
            write!(output, "\n{}", profile::layout(&outcome))?;
            return output.flush();
        }
        let element = outcome.flood.element;
        if self.last.replace(element).is_some_and(|last| last != element) {
            self.print()?;
        }
        self.outcomes.push(outcome);
        Ok(())
    }

    fn print(&mut self) -> std::io::Result<()> {
        let outcomes = std::mem::take(&mut self.outcomes);
        let Some(first) = outcomes.first() else { return Ok(()) };
        let mut output = std::io::stdout().lock();
        let table = table::layout(&outcomes);
        write!(output, "\n{}\n{table}{}", first.flood.element, table::footnote(&outcomes))?;
        if let Some(beside) = table::beside(&outcomes) {
            write!(output, "\n{beside}")?;
        }
        let verdicts = table::verdicts(&outcomes, ttcp::is_paced());
        if !verdicts.is_empty() {
            write!(output, "\n{verdicts}")?;
        }
        output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_with_zorbs_options_is_measured_where_they_differ() {
        let versions = |named: &[&str], transport| {
            versions_or_own(named.iter().map(|&name| name.to_owned()).collect(), transport).join(",")
        };
        for transport in [Transport::Tcp, Transport::Unix] {
            assert_eq!(versions(&[], transport), "raw,raw-equal,framed,ipc,zorb");
        }
        assert_eq!(versions(&[], Transport::Shm), "raw,framed,ipc,zorb");
        assert_eq!(versions(&["raw", "zorb"], Transport::Tcp), "raw,zorb");
    }

    #[test]
    fn receivers_are_recognised() {
        let of = |text: &str| receiver(text).map(|entry| (entry.system.name(), entry.served_at.unwrap()));
        assert_eq!(of("zorb=IOR:00").unwrap(), ("zorb", "IOR:00".to_owned()));
        assert_eq!(of("IOR:00").unwrap(), ("zorb", "IOR:00".to_owned()));
        assert_eq!(of("corbaloc::h/k=v").unwrap(), ("zorb", "corbaloc::h/k=v".to_owned()));
        assert_eq!(of("10.0.0.2:5001").unwrap(), ("raw", "10.0.0.2:5001".to_owned()));
        assert_eq!(of("ipc=10.0.0.2:5001").unwrap().0, "ipc");
        assert_eq!(of("tonic=10.0.0.2:5001").unwrap().0, "tonic");
        assert!(of("raw=there").unwrap_err().to_string().contains("\"there\" is neither"));
        assert!(of("orbix=10.0.0.2:1").unwrap_err().to_string().contains("there are raw, raw-equal, framed"));
    }
}
