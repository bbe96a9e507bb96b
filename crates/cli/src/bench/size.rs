//! `zorb bench size`: the ORB's share of a call against the size of its argument.

use clap::Args;

use zorb_bench::paper::Scenario;
use zorb_bench::row::{Figures, Row};
use zorb_bench::size::{self, Plan};
use zorb_bench::system::octets_text;

use super::common::Common;
use crate::failure::Failure;
use crate::sizes::Buffers;
use crate::table::Table;

/// The ORB's share of a call against the size of its argument.
///
/// Octets are echoed, beside a blocking socket that moves as many bytes. What a call takes longer than the socket is the
/// ORB's share of it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,

    /// Octets of the argument: a list, and runs of powers of two.
    #[arg(long, default_value = "4..64K", value_name = "SIZES")]
    sizes: Buffers,

    /// Calls of each system for each size.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
The share is 1 - 1 / ratio, in per cent of the call's time; it is there for
--pin same only, as the ratio is.

Examples:
  zorb bench size
  zorb bench size --sizes 4,64,2048 --peers omniorb --json";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        let plan = Plan { basis: self.common.basis(self.calls), sizes: self.sizes.0.clone() };
        Ok(Scenario::Sizes(plan, self.common.peers()?))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls, .. } = arguments;
    let scenario = arguments.scenario()?;
    common.measure(
        |lab, finished| scenario.run(lab, finished),
        |rows| common.title("Echoed octets", &common.rounds(*calls), rows) + &layout(rows).to_string(),
    )
}

fn layout(rows: &[Row]) -> Table {
    let mut table = Table::new(&["size", "<system", "p50 µs", "p99 µs", "ratio", "<95 % interval", "share"]);
    for row in rows {
        let floor = row.messaging == "none";
        let size = if floor { octets_text(row.size) } else { String::new() };
        let mut cells = vec![size, row.system.clone()];
        if let Figures::Latency { p50_us, p99_us } = row.figures {
            cells.extend([p50_us, p99_us].map(|us| format!("{us:.1}")));
        }
        if !floor && let (Some(ratio), Some(share)) = (row.ratio(), size::share(row)) {
            cells.push(format!("{:.3}", ratio.median));
            cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
            cells.push(format!("{:.0} %", share * 100.0));
        }
        table.row(cells);
    }
    table
}
