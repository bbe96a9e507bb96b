//! `zorb bench cube`: the cubing service.

use clap::Args;

use zorb_bench::cube::{Cube, Plan};
use zorb_bench::paper::Scenario;
use zorb_bench::row::Row;
use zorb_bench::system::octets_text;

use super::common::{Common, table};
use crate::failure::Failure;
use crate::sizes::Buffers;

/// The cubing service: calls per second on void, scalars, a struct, sequences.
///
/// Two-way calls whose argument comes back with each value cubed: void, short, long, octet, struct {octet, long,
/// short}, and sequences of octet and of long. zorb, the peers asked for and a blocking socket that moves as many bytes
/// as zorb take turns; every reply is verified outside the measured time.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,

    /// Types: void, short, long, octet, struct, octets, longs.
    #[arg(long, value_delimiter = ',', default_values_t = Cube::TYPES.map(str::to_owned), hide_default_value = true, value_name = "NAMES")]
    types: Vec<String>,

    /// Octets of the sequences: a list, and runs of powers of two.
    #[arg(long, default_value = "4,4K", value_name = "SIZES")]
    sizes: Buffers,

    /// Calls of each system for each type.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
Calls per second are those of one caller, in the time that its calls take.
The ratio is of times: above 1 is slower than the bare socket. It is given
for --pin same only.

Examples:
  zorb bench cube
  zorb bench cube --types struct,longs --peers omniorb,tirpc
  zorb bench cube --pin split --json > cube.jsonl";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        let mut cubes = Vec::new();
        for name in &self.types {
            cubes.extend(Cube::of_type(name, &self.sizes.0).map_err(Failure::usage)?);
        }
        let plan = Plan { basis: self.common.basis(self.calls), cubes };
        Ok(Scenario::Cubes(plan, self.common.peers()?))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls, .. } = arguments;
    let scenario = arguments.scenario()?;
    common.measure(
        |lab, finished| scenario.run(lab, finished),
        |rows| {
            common.title("The cubing service", &common.rounds(*calls), rows)
                + &table("value", rows, label).to_string()
        },
    )
}

fn label(row: &Row) -> String {
    match row.r#type.as_str() {
        "null" => "void".to_owned(),
        sequence @ ("octets" | "longs") => format!("{sequence} {}", octets_text(row.size)),
        other => other.to_owned(),
    }
}
