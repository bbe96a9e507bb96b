//! `zorb bench`: figures beside a bare socket, for people and as JSON lines.
//!
//! The scenarios are in `zorb-bench`; here are the command line, the list of systems, the layout, and the
//! hidden subcommand that the server processes run.

use std::io::Write;
use std::process::Command;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use zorb_bench::orb::Zorb;
use zorb_bench::pin::{self, Pin};
use zorb_bench::process::serve_until_parent_goes;
use zorb_bench::raw::Raw;
use zorb_bench::row::Row;
use zorb_bench::rtt::{self, Outcome, Plan};
use zorb_bench::system::Transport;
use zorb_bench::{BenchError, System};

use crate::failure::Failure;
use crate::table::Table;

/// Measure zorb beside bare sockets moving the same bytes.
#[derive(Debug, Args)]
#[command(after_help = "Example: zorb bench rtt --pin same --json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Debug, Subcommand)]
enum Scenario {
    Rtt(RttArguments),
    #[command(hide = true)]
    Peer(PeerArguments),
}

/// Round trips: the null call and 1, 8 and 64 KiB of octets echoed.
///
/// Client and server are two processes. Short bursts of calls alternate between zorb and a blocking socket
/// that moves as many bytes; each pair of bursts gives one ratio. Shown are the median ratio and its 95 %
/// bootstrap interval; every reply is verified.
#[derive(Debug, Args)]
#[command(after_help = RTT_HELP)]
struct RttArguments {
    /// What the messages travel over: tcp.
    #[arg(long, default_value = "tcp", value_name = "NAME")]
    transport: Transport,

    /// Both processes on one processor, on two, or unpinned: same, split or none.
    #[arg(long, default_value = "same", value_name = "WHERE")]
    pin: Pin,

    /// Calls of each system for each size.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,

    /// Seed of the interval's resampling.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// One JSON object a line instead of the table.
    #[arg(long)]
    json: bool,
}

const RTT_HELP: &str = "\
Ratios are given for --pin same only: over two processors a blocking round
trip is dominated by waking the other one, and unpinned processes move
between the two regimes. Without a ratio the JSON fields are null.

Examples:
  zorb bench rtt
  zorb bench rtt --pin split --calls 5000
  zorb bench rtt --json > rtt.jsonl";

/// The server half of a measurement.
#[derive(Debug, Args)]
struct PeerArguments {
    system: String,
    #[arg(long)]
    transport: Transport,
    #[arg(long)]
    processor: Option<usize>,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.scenario {
        Scenario::Rtt(arguments) => round_trips(&arguments),
        Scenario::Peer(arguments) => serve(&arguments),
    }
}

/// Every system that can be measured, the bare socket included. A further one joins here.
fn systems() -> Vec<Box<dyn System>> {
    vec![Box::new(Zorb), Box::new(Raw)]
}

fn system(name: &str) -> Result<Box<dyn System>, Failure> {
    systems()
        .into_iter()
        .find(|system| system.name() == name)
        .ok_or_else(|| Failure::usage(format!("there is no system {name:?} to measure")))
}

fn serve(arguments: &PeerArguments) -> Result<(), Failure> {
    let system = system(&arguments.system)?;
    if let Some(processor) = arguments.processor {
        pin::keep_to(processor)?;
    }
    let mut announced = Ok(());
    system.serve(arguments.transport, &mut |address| announced = serve_until_parent_goes(address))?;
    Ok(announced?)
}

/// The command that runs [`serve`] in a process of its own.
pub(crate) fn peer_command(system: &str, transport: Transport, processor: Option<usize>) -> Command {
    // `current_exe` fails only where /proc is missing; the name then leads to a clear error on start.
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "zorb".into()));
    command.args(["bench", "peer", system, "--transport", transport.name()]);
    if let Some(processor) = processor {
        command.args(["--processor", &processor.to_string()]);
    }
    command
}

/// Measures zorb as planned, with a progress bar where someone looks.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Outcome>, BenchError> {
    if cfg!(debug_assertions) {
        eprintln!("note: built without optimisation; measure with cargo run --release");
    }
    let bar = ProgressBar::new(plan.bursts());
    bar.set_style(
        ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.set_message("measuring");
    let outcomes = rtt::run(&Zorb, plan, &peer_command, &mut || bar.inc(1));
    bar.finish_and_clear();
    outcomes
}

fn round_trips(arguments: &RttArguments) -> Result<(), Failure> {
    let plan = Plan {
        transport: arguments.transport,
        pin: arguments.pin,
        calls: arguments.calls as usize,
        payloads: Plan::standard_payloads(),
        seed: arguments.seed,
    };
    let outcomes = measure(&plan)?;
    let mut output = std::io::stdout().lock();
    if arguments.json {
        for outcome in &outcomes {
            writeln!(output, "{}\n{}", outcome.raw.to_json(), outcome.system.to_json())?;
        }
    } else {
        write!(output, "{}\n\n{}", describe(&plan), layout(&outcomes))?;
        let verdicts = verdicts(&plan, &outcomes);
        if !verdicts.is_empty() {
            write!(output, "\n{verdicts}")?;
        }
    }
    Ok(())
}

fn describe(plan: &Plan) -> String {
    let place = match plan.pin {
        Pin::Same => "both processes on one processor",
        Pin::Split => "a processor each",
        Pin::None => "not pinned",
    };
    format!(
        "Round trips over {}, {place}; {} pairs of {} calls a size",
        plan.transport.name(),
        rtt::PAIRS,
        plan.burst()
    )
}

/// The table for people.
pub(crate) fn layout(outcomes: &[Outcome]) -> Table {
    let mut table =
        Table::new(&["call", "<system", "bytes out", "back", "p50 µs", "p99 µs", "ratio", "<95 % interval"]);
    for outcome in outcomes {
        let mut cells = vec![
            outcome.payload.to_string(),
            outcome.raw.system.to_owned(),
            outcome.messages.request.to_string(),
            outcome.messages.reply.to_string(),
        ];
        cells.extend(latencies(&outcome.raw));
        table.row(cells);
        let blank = String::new;
        let mut cells = vec![blank(), outcome.system.system.to_owned(), blank(), blank()];
        cells.extend(latencies(&outcome.system));
        if let Some(ratio) = outcome.system.ratio() {
            cells.push(format!("{:.3}", ratio.median));
            cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
        }
        table.row(cells);
    }
    table
}

fn latencies(row: &Row) -> [String; 2] {
    [row.p50_us, row.p99_us].map(|us| format!("{us:.1}"))
}

/// One line for each ratio that has a target.
fn verdicts(plan: &Plan, outcomes: &[Outcome]) -> String {
    let judged = outcomes.iter().filter_map(|outcome| {
        let target = rtt::target(plan.transport, plan.pin, outcome.payload)?;
        let verdict = target.judge(&outcome.system.ratio()?);
        Some(format!("{}: at most {:.2} times the bare socket: {verdict}\n", outcome.payload, target.0))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::statistics::Ratio;
    use zorb_bench::system::{MessageSizes, Payload};

    fn outcome(payload: Payload, ratio: Option<Ratio>) -> Outcome {
        let row = |system, ratio| {
            let mut row = Row {
                experiment: "rtt",
                system,
                transport: "tcp",
                messaging: "giop",
                r#type: payload.type_name(),
                size: payload.size(),
                pin: "same",
                p50_us: 12_345.67,
                p99_us: 23_456.78,
                ratio_to_raw: None,
                ratio_low: None,
                ratio_high: None,
            };
            row.set_ratio(ratio);
            row
        };
        let messages = MessageSizes { request: 65_620, reply: 65_564 };
        Outcome { payload, messages, raw: row("raw", ratio.map(|_| Ratio::ONE)), system: row("zorb", ratio) }
    }

    #[test]
    fn the_table_fits_80_columns_and_targets_are_judged() {
        let plan =
            Plan { transport: Transport::Tcp, pin: Pin::Same, calls: 1, payloads: Vec::new(), seed: 1 };
        let wide = Ratio { median: 1.09, low: 1.05, high: 1.2 };
        let outcomes = [outcome(Payload::Null, Some(wide)), outcome(Payload::Octets(64 << 10), Some(wide))];
        let table = layout(&outcomes);
        assert!(table.width() <= 80, "{}\n{table}", table.width());
        assert_eq!(
            verdicts(&plan, &outcomes),
            "null: at most 1.10 times the bare socket: not resolved\n\
             64 KiB: at most 1.50 times the bare socket: met\n"
        );
        assert_eq!(verdicts(&plan, &[outcome(Payload::Null, None)]), "", "no verdict without a ratio");
    }

    #[test]
    fn systems_have_names_of_their_own() {
        let mut names: Vec<_> = systems().iter().map(|system| system.name()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(system("none-such").is_err());
    }
}
