//! `zorb bench firstcall`: what is paid once.

use clap::Args;

use zorb_bench::paper::Scenario;

use super::common::{Common, table};
use crate::failure::Failure;

/// First calls: on a new connection, a new interface, a new object; and later ones.
///
/// A null call is made with what it is the first on made anew each time: a connection; an interface that the reference
/// does not name, so that the object is asked whether it has it; an object whose reference is read from its text. Beside
/// them later calls, and a blocking socket that moves as many bytes as one call.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,

    /// First calls of each kind and system.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,
}

const HELP: &str = "\
Peers are measured on new connections and later calls.

Examples:
  zorb bench firstcall
  zorb bench firstcall --peers omniorb,tirpc --json";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(Scenario::FirstCalls(self.common.basis(self.calls), self.common.peers()?))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls } = arguments;
    let scenario = arguments.scenario()?;
    common.measure(
        |lab, finished| scenario.run(lab, finished),
        |rows| {
            let table = table("first on", rows, |row| row.parameters.phase.clone().unwrap_or_default());
            common.title("First calls", &common.rounds(*calls), rows) + &table.to_string()
        },
    )
}
