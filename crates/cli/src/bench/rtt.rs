//! `zorb bench rtt`: round trips.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use zorb::transport::Spinning;
use zorb_bench::calls::{self, Basis, Outcome};
use zorb_bench::lab::Lab;
use zorb_bench::link::Spec;
use zorb_bench::orb::Zorb;
#[cfg(test)]
use zorb_bench::paper::Scenario;
use zorb_bench::paper::Systems;
use zorb_bench::pin::Pin;
use zorb_bench::profile;
use zorb_bench::raw::Raw;
use zorb_bench::row::{Figures, Row};
use zorb_bench::rtt::{self, Plan};
use zorb_bench::statistics::Verdict;
use zorb_bench::system::{Payload, Transport};
use zorb_bench::{BenchError, System};

use super::common::{across, crossing, over};
use super::flames::{Flames, Folder, describe as describe_flames};
use super::surroundings::{surrounded, tell_if_busy};
use super::{systems, whitebox};
use crate::failure::Failure;
use crate::sizes::Buffers;
use crate::table::{Table, wrapped};

/// Round trips: the null call, and octets echoed, or values cubed.
///
/// Client and server are two processes. Short bursts of calls alternate between zorb, the peers asked for, and a
/// blocking socket that moves as many bytes as zorb; each round gives one ratio. Shown are the median ratio and its
/// 95 % bootstrap interval; every reply is verified.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// What the messages travel over: tcp, unix, shm.
    #[arg(long, default_value = "tcp", value_name = "NAME")]
    transport: Transport,

    /// Both processes on one processor, on two, or unpinned: same, split or none.
    #[arg(long, default_value = "same", value_name = "WHERE")]
    pin: Pin,

    /// What to measure beside zorb: omniorb, jacorb, tirpc, tonic, capnp, sockets; ipc, the socket through typed handles;
    /// zorb-asleep, zorb without spinning; zorb-buffered, whose oneways leave together; zorb-bridged, zorb by TCP through `zorb bridge`; zorb-tcp, zorb-unix, zorb-shm:RING and zorb-shm:RING+COUNTxSLAB, zorb
    /// over another way, such as zorb-shm:128K+4x1M; zorb-loan, zorb over shared memory that lends what it gives, and zorb-trusting, whose server reads
    /// that in place; spin, sockets that never sleep.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    peers: Vec<String>,

    /// Types: null, octet (sequences, echoed), given (octets that are not sent back); short, long, struct, octets, longs (cubed).
    #[arg(long, value_delimiter = ',', default_value = "null,octet", value_name = "NAMES")]
    types: Vec<String>,

    /// Octets of the sequences: a list, and runs of powers of two.
    #[arg(long, default_value = "1K,8K,64K", value_name = "SIZES")]
    sizes: Buffers,

    /// Calls of each system for each type and size.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,

    /// So many calls a second, with what the server's process spends of its processor on each, in place of one after the other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,

    /// How zorb looks for a message before it sleeps, on both sides: off, adaptive (the default of every program), or so many
    /// microseconds.
    #[arg(long, value_name = "HOW")]
    spinning: Option<Spinning>,

    /// What ratios are to: raw, a blocking socket; spin, one that never sleeps, on either side, for --pin split.
    #[arg(long, default_value = "raw", value_name = "NAME", value_parser = floor)]
    floor: Raw,

    /// Put a link between both sides, such as 155mbit,mtu=9180,delay=0.2ms, or wan: two network namespaces. Needs root.
    #[arg(long, value_name = "LINK")]
    link: Option<Spec>,

    /// Seed of the interval's resampling.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Longest wait for one answer of a peer, in seconds.
    #[arg(long, default_value_t = Lab::PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..), value_name = "SECONDS")]
    patience: u64,

    /// One JSON object a line, each as soon as it is measured, instead of the table.
    #[arg(long)]
    json: bool,

    /// Instead: how long each step of zorb's calls takes, and what a call takes that can be counted, on both sides.
    #[arg(long, conflicts_with_all = ["peers", "calls", "link", "floor", "spinning", "rate", "to"])]
    probes: bool,

    #[command(flatten)]
    flames: Flames,

    /// With --probes: write the first calls to FILE as a trace that Perfetto opens.
    #[arg(long, requires = "probes", value_name = "FILE")]
    trace: Option<PathBuf>,
}

const HELP: &str = "\
Ratios to raw are given for --pin same only: over two processors a blocking round
trip is dominated by waking the other one, and unpinned processes move
between the two regimes. Without a ratio the JSON fields are null.

Peers are built by bench/peers/build NAME; one that is not built is left out.
Ctrl-C ends the run and shows what was measured.

Time probes (--probes) have to be built in:
  cargo run --release --features probes -- bench rtt --probes

Flame graphs (--flame DIR) need a program built with frame pointers, and root:
  RUSTFLAGS=-Cforce-frame-pointers=yes \\
    cargo run --release --target-dir target/flame -- bench rtt --flame DIR

Examples:
  zorb bench rtt
  zorb bench rtt --peers omniorb,tonic
  zorb bench rtt --pin split --types octet --sizes 64..1M
  zorb bench rtt --pin split --types null --floor spin
  zorb bench rtt --json > rtt.jsonl";

impl Arguments {
    fn payloads(&self) -> Result<Vec<Payload>, Failure> {
        let of_each = self.types.iter().map(|name| Plan::of_type(name, &self.sizes.0));
        Ok(of_each.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?.concat())
    }

    fn white_box(&self) -> Result<whitebox::Plan, Failure> {
        whitebox::plan(self.transport, self.pin, self.payloads()?)
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let &Arguments { transport, pin, calls, seed, floor, spinning, .. } = self;
        let basis = Basis { transport, pin, calls: calls as usize, seed, floor, spinning };
        Ok(Plan { basis, payloads: self.payloads()?, rate: self.rate })
    }

    fn peers(&self) -> Result<Systems, Failure> {
        systems::beside_zorb(&self.peers).map(Systems)
    }

    #[cfg(test)]
    pub(super) fn link(&self) -> Option<Spec> {
        self.link.clone()
    }

    /// What these arguments ask for.
    #[cfg(test)]
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(match self.probes {
            true => Scenario::WhiteBox(self.white_box()?),
            false => Scenario::RoundTrips(self.plan()?, self.peers()?),
        })
    }
}

fn floor(name: &str) -> Result<Raw, String> {
    let floors = [Raw::Plain, Raw::Spinning];
    floors.into_iter().find(|floor| floor.name() == name).ok_or_else(|| "expected raw or spin".to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.probes {
        return whitebox::run(&arguments.white_box()?, arguments.json, arguments.trace.as_deref());
    }
    let (plan, systems) = (arguments.plan()?, arguments.peers()?.with(&Zorb));
    if let Some(folder) = arguments.flames.folder()? {
        return flames(arguments, &plan, &systems, &folder);
    }
    tell_if_busy(arguments.json)?;
    let mut outcomes = Vec::new();
    let mut unwritten = Ok(());
    crossing(arguments.transport, arguments.link.as_ref())?;
    let (patience, link) = (Duration::from_secs(arguments.patience), arguments.link.as_ref());
    let ended = surrounded("measuring", patience, link, |lab| {
        rtt::run(&systems, &plan, lab, &mut |mut outcome| {
            over(lab.link, &mut outcome.rows);
            if arguments.json && unwritten.is_ok() {
                lab.progress.aside(&mut || unwritten = print_rows(&outcome.rows));
                if unwritten.is_err() {
                    lab.stop.request();
                }
            }
            outcomes.push(outcome);
        })
    });
    unwritten?;
    if !arguments.json && !outcomes.is_empty() {
        let mut output = std::io::stdout().lock();
        write!(output, "{}\n{}", describe(&plan, &outcomes), layout(&outcomes))?;
        let verdicts = verdicts(&plan, &outcomes);
        // The aims are for the loopback interface.
        if !verdicts.is_empty() && link.is_none() {
            write!(output, "\n{verdicts}")?;
        }
    }
    Failure::of_run(ended)
}

/// Flame graphs in place of times.
fn flames(
    arguments: &Arguments,
    plan: &Plan,
    systems: &[&dyn System],
    folder: &Folder<'_>,
) -> Result<(), Failure> {
    crossing(arguments.transport, arguments.link.as_ref())?;
    writeln!(std::io::stdout(), "{}", describe_flames("Round trips").trim_end())?;
    let patience = Duration::from_secs(arguments.patience);
    let mut unwritten = Ok(());
    let ended = surrounded("looking", patience, arguments.link.as_ref(), |lab| {
        profile::of_calls(systems, (&plan.basis, &plan.payloads), lab, &mut |graph| {
            if unwritten.is_ok() {
                lab.progress.aside(&mut || unwritten = folder.write(&graph));
                if unwritten.is_err() {
                    lab.stop.request();
                }
            }
        })
    });
    unwritten?;
    Failure::of_run(ended)
}

/// Rows as lines of JSON, at once.
pub(crate) fn print_rows(rows: &[Row]) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    for row in rows {
        writeln!(output, "{}", row.to_json())?;
    }
    output.flush()
}

/// Measures zorb beside the bare socket.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Outcome>, BenchError> {
    let mut outcomes = Vec::new();
    surrounded("measuring", Lab::PATIENCE, None, |lab| {
        rtt::run(&[&Zorb], plan, lab, &mut |outcome| outcomes.push(outcome))
    })?;
    Ok(outcomes)
}

fn describe(plan: &Plan, outcomes: &[Outcome]) -> String {
    let place = match plan.basis.pin {
        Pin::Same => "one processor",
        Pin::Split => "a processor each",
        Pin::None => "not pinned",
    };
    let link = outcomes.first().map(|outcome| across(&outcome.rows)).unwrap_or_default();
    let (transport, burst) = (plan.basis.transport.name(), plan.basis.burst());
    wrapped(
        &format!("Round trips over {transport}{link}, {place}; {} rounds of {burst} calls", calls::PAIRS),
        0,
    )
}

/// The table for people.
pub(crate) fn layout(outcomes: &[Outcome]) -> Table {
    let served = |row: &Row| matches!(row.figures, Figures::Served { .. });
    let mut heads = vec!["call", "<system", "bytes out", "back", "p50 µs", "p99 µs"];
    heads.extend(outcomes.iter().any(|outcome| outcome.rows.iter().any(served)).then_some("server µs"));
    heads.extend(["ratio", "<95 % interval"]);
    let mut table = Table::new(&heads);
    for outcome in outcomes {
        for (at, row) in outcome.rows.iter().enumerate() {
            let mut cells = match at {
                0 => {
                    let sizes =
                        [outcome.messages.request, outcome.messages.reply].map(|size| size.to_string());
                    let [request, reply] = sizes;
                    vec![outcome.payload.to_string(), row.system.clone(), request, reply]
                }
                _ => vec![String::new(), row.system.clone(), String::new(), String::new()],
            };
            if let Figures::Latency { p50_us, p99_us } | Figures::Served { p50_us, p99_us, .. } = row.figures
            {
                cells.extend([p50_us, p99_us].map(|us| format!("{us:.1}")));
            }
            if let Figures::Served { server_us, .. } = row.figures {
                cells.push(server_us.map(|us| format!("{us:.1}")).unwrap_or_default());
            }
            if at > 0
                && let Some(ratio) = row.ratio()
            {
                cells.push(format!("{:.3}", ratio.median));
                cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
            }
            table.row(cells);
        }
    }
    table
}

/// One line for each ratio of zorb's that has a target.
fn verdicts(plan: &Plan, outcomes: &[Outcome]) -> String {
    let judged = outcomes.iter().filter_map(|outcome| {
        let target = rtt::target(plan.basis.transport, plan.basis.pin, outcome.payload)
            .filter(|_| plan.basis.floor == Raw::Plain)?;
        let zorb = outcome.rows.iter().find(|row| row.system == Zorb.name())?;
        let verdict = target.judge(&zorb.ratio()?);
        let deciding = rtt::deciding_budget(outcome.payload).filter(|_| verdict == Verdict::NotResolved);
        let decides = deciding.map(|budget| format!("; the budget {budget} decides")).unwrap_or_default();
        let (payload, most) = (outcome.payload, target.0);
        Some(format!("{payload}: at most {most:.2} times the bare socket: {verdict}{decides}\n"))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::row::{Beside, Parameters};
    use zorb_bench::statistics::Ratio;
    use zorb_bench::system::MessageSizes;

    fn outcome(payload: Payload, ratio: Option<Ratio>) -> Outcome {
        let row = |system: &str, ratio| {
            let mut row = Row {
                experiment: "rtt".to_owned(),
                system: system.to_owned(),
                transport: "tcp".to_owned(),
                messaging: "giop".to_owned(),
                r#type: payload.type_name().to_owned(),
                size: payload.size(),
                pin: "same".to_owned(),
                figures: Figures::Latency { p50_us: 12_345.67, p99_us: 23_456.78 },
                ratio_to_raw: None,
                ratio_low: None,
                ratio_high: None,
                beside: Beside::default(),
                parameters: Parameters::default(),
                command: None,
            };
            row.set_ratio(ratio);
            row
        };
        let messages = MessageSizes { request: 65_620, reply: 65_564 };
        let raw = row("raw", ratio.map(|_| Ratio::ONE));
        Outcome { payload, messages, rows: vec![raw, row("zorb", ratio), row("omniorb", ratio)] }
    }

    #[test]
    fn the_table_fits_80_columns_and_targets_are_judged() {
        let basis =
            Basis { transport: Transport::Tcp, pin: Pin::Same, calls: 1, seed: 1, ..Basis::default() };
        let plan = Plan { basis, payloads: Vec::new(), rate: None };
        let wide = Ratio { median: 1.09, low: 1.05, high: 1.2 };
        let outcomes = [outcome(Payload::Null, Some(wide)), outcome(Payload::Octets(64 << 10), Some(wide))];
        let table = layout(&outcomes);
        assert!(table.width() <= 80, "{}\n{table}", table.width());
        assert_eq!(
            verdicts(&plan, &outcomes),
            "null: at most 1.10 times the bare socket: not resolved; the budget call/null decides\n\
             64 KiB: at most 1.50 times the bare socket: met\n"
        );
        assert_eq!(verdicts(&plan, &[outcome(Payload::Null, None)]), "", "no verdict without a ratio");
    }
}
