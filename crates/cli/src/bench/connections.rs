//! `zorb bench connections`: idle connections.

use clap::Args;

use zorb_bench::connections::{self, Plan};
use zorb_bench::row::{Figures, Row};

use super::common::Common;
use crate::failure::Failure;
use crate::table::Table;

/// Idle connections, 10 to 10,000: the server's memory for each, and a null call meanwhile.
///
/// Each of them has made one null call. Memory is what the server's resident set has grown by since it had none. The
/// floor is one bare socket, without others.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,

    /// Numbers of idle connections.
    #[arg(long, value_delimiter = ',', default_value = "10,100,1000,10000", value_parser = clap::value_parser!(u32).range(1..), value_name = "NUMBERS")]
    connections: Vec<u32>,

    /// Null calls of each system for each number.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
The limit of descriptors is raised as far as it may be; numbers that do not
fit are left out with a line that says so.

Examples:
  zorb bench connections
  zorb bench connections --connections 1000 --peers omniorb --json";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, connections, calls } = arguments;
    let plan = Plan { basis: common.basis(*calls), connections: connections.clone() };
    let systems = common.systems()?;
    common.measure(
        |lab, finished| connections::run(&systems, &plan, lab, finished),
        |rows| common.title("Idle connections", &common.rounds(*calls), rows) + &layout(rows).to_string(),
    )
}

/// A line for each system and number: its times, and the memory that another row has.
fn layout(rows: &[Row]) -> Table {
    let mut table =
        Table::new(&["idle", "<system", "p50 µs", "p99 µs", "KiB each", "ratio", "<95 % interval"]);
    for row in rows {
        let Figures::Latency { p50_us, p99_us } = row.figures else { continue };
        let number = row.parameters.connections;
        let floor = row.messaging == "none";
        let label = number.filter(|_| floor).map(|number| number.to_string()).unwrap_or_default();
        let mut cells = vec![label, row.system.clone()];
        cells.extend([p50_us, p99_us].map(|us| format!("{us:.1}")));
        let memory = rows.iter().find_map(|other| match other.figures {
            Figures::Memory { kib_per_connection }
                if other.system == row.system && other.parameters.connections == number =>
            {
                Some(format!("{kib_per_connection:.1}"))
            }
            _ => None,
        });
        cells.push(memory.unwrap_or_default());
        if !floor && let Some(ratio) = row.ratio() {
            cells.push(format!("{:.3}", ratio.median));
            cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
        }
        table.row(cells);
    }
    table
}
