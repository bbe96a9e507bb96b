//! `zorb bench collocated`: calls within one process.

use clap::Args;

use zorb_bench::collocated;
use zorb_bench::row::{Figures, Row};

use super::common::Common;
use crate::failure::Failure;
use crate::table::Table;

/// Calls of an object that lives in the caller's own process.
///
/// A stub calls the servant's method there, and nothing is marshalled. The floor is a method's call through a trait object. A call is too short for a
/// clock: the time is the average of each round.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,

    /// Calls of each system.
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
Each object counts its calls, and the count is checked.

Examples:
  zorb bench collocated
  zorb bench collocated --peers omniorb,jacorb --json";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls } = arguments;
    let (systems, basis) = (common.systems()?, common.basis(*calls));
    common.measure(
        |lab, finished| collocated::run(&systems, &basis, lab, finished),
        |rows| {
            let how = common.rounds(*calls);
            crate::table::wrapped(&format!("Collocated calls, {how}"), 0) + "\n" + &layout(rows).to_string()
        },
    )
}

fn layout(rows: &[Row]) -> Table {
    let mut table = Table::new(&["<system", "ns", "ratio", "<95 % interval"]);
    for row in rows {
        let floor = row.messaging == "none";
        let name = if floor { "a method" } else { &row.system };
        let mut cells = vec![name.to_owned()];
        if let Figures::Collocated { p50_ns } = row.figures {
            cells.push(format!("{p50_ns:.1}"));
        }
        if !floor && let Some(ratio) = row.ratio() {
            cells.push(format!("{:.1}", ratio.median));
            cells.push(format!("{:.1} - {:.1}", ratio.low, ratio.high));
        }
        table.row(cells);
    }
    table
}
