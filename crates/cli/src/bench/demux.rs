//! `zorb bench demux`: finding object and operation.

use clap::Args;

use zorb_bench::demux::{Lookup, MOST_OBJECTS, OPERATIONS, Plan, Style};
use zorb_bench::paper::Scenario;
use zorb_bench::row::{Figures, Row};

use super::common::Common;
use crate::failure::Failure;
use crate::table::Table;

/// Finding operation and object: a call among 1 to 1,000 operations, or objects up to a million.
///
/// The first and the last of an interface's operations are called, which the server finds in four ways: by comparing
/// names one after the other, in a hash map, by the perfect hash of a generated skeleton (what zorb does), and by a number in
/// place of a name. Then the same or random ones of many objects. Two-way and oneway, beside a blocking socket that
/// moves as many bytes.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,

    /// Ways to find an operation: linear, hashed, perfect, numbered.
    #[arg(long, value_delimiter = ',', default_values_t = Lookup::ALL, hide_default_value = true, value_name = "NAMES")]
    lookup: Vec<Lookup>,

    /// Numbers of operations, of 1, 10, 100 and 1000; 0 leaves them out.
    #[arg(long, value_delimiter = ',', default_values_t = OPERATIONS, hide_default_value = true, value_name = "NUMBERS")]
    operations: Vec<u32>,

    /// Numbers of objects, 1 to 1,000,000; 0 leaves them out.
    #[arg(long, value_delimiter = ',', default_value = "1,1000,100000,1000000", value_name = "NUMBERS")]
    objects: Vec<u32>,

    /// twoway, oneway.
    #[arg(long, value_delimiter = ',', default_values_t = Style::ALL, hide_default_value = true, value_name = "NAMES")]
    style: Vec<Style>,

    /// Calls of each system for each combination.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
Two-way calls are timed one by one. Oneways are timed in bursts that end when
the server has executed them: their percentiles are over bursts, and the
bare socket beside them sends as many messages one way.

Examples:
  zorb bench demux
  zorb bench demux --operations 100 --objects 0 --lookup linear,perfect
  zorb bench demux --operations 0 --objects 1,1000000 --style twoway --json";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        if self.common.has_peers() {
            return Err(Failure::usage(
                "demux compares ways to find an operation within zorb; peers have no such switch",
            ));
        }
        let plan = Plan {
            basis: self.common.basis(self.calls),
            lookups: self.lookup.clone(),
            operations: counts(&self.operations, |count| match OPERATIONS.contains(&count) {
                true => Ok(()),
                false => {
                    Err(format!("there is no interface of {count} operations; there are 1, 10, 100, 1000"))
                }
            })?,
            objects: counts(&self.objects, |count| match count <= MOST_OBJECTS {
                true => Ok(()),
                false => Err(format!("{count} objects are too many; there may be 1 to {MOST_OBJECTS}")),
            })?,
            styles: self.style.clone(),
        };
        if plan.operations.is_empty() && plan.objects.is_empty() {
            return Err(Failure::usage(
                "neither operations nor objects are left: give --operations or --objects",
            ));
        }
        if plan.operations.is_empty() && plan.lookups != Lookup::ALL && plan.lookups != [Lookup::Perfect] {
            return Err(Failure::usage(
                "--lookup is how operations are found, and --operations 0 leaves them out",
            ));
        }
        Ok(Scenario::Lookups(plan))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls, .. } = arguments;
    let scenario = arguments.scenario()?;
    common.measure(
        |lab, finished| scenario.run(lab, finished),
        |rows| common.title("Demultiplexing", &common.rounds(*calls)) + &layout(rows).to_string(),
    )
}

/// Those that are not 0.
fn counts(counts: &[u32], check: impl Fn(u32) -> Result<(), String>) -> Result<Vec<u32>, Failure> {
    let counts = counts.iter().copied().filter(|&count| count > 0);
    counts.map(|count| check(count).map(|()| count).map_err(Failure::usage)).collect()
}

fn layout(rows: &[Row]) -> Table {
    let mut table =
        Table::new(&["<call", "<style", "<lookup", "p50 µs", "p99 µs", "ratio", "<95 % interval"]);
    let mut last = String::new();
    for row in rows {
        let parameters = &row.parameters;
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let call = match (parameters.operations, parameters.objects) {
            (Some(operations), _) => format!("{} of {operations} op.", word(&parameters.position)),
            (_, Some(objects)) => format!("{} of {objects} obj.", word(&parameters.pick)),
            _ => String::new(),
        };
        let style = word(&parameters.style);
        let label = format!("{call} {style}");
        let mut cells = if label == last { vec![String::new(), String::new()] } else { vec![call, style] };
        last = label;
        cells.push(parameters.lookup.clone().unwrap_or_else(|| format!("({})", row.system)));
        if let Figures::Latency { p50_us, p99_us } = row.figures {
            cells.extend([p50_us, p99_us].map(|us| format!("{us:.2}")));
        }
        if row.messaging != "none"
            && let Some(ratio) = row.ratio()
        {
            cells.push(format!("{:.3}", ratio.median));
            cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
        }
        table.row(cells);
    }
    table
}
