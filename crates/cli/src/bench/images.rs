//! `zorb bench images`: an application.

use clap::Args;

use zorb_bench::images::ALL_CALLS;
use zorb_bench::paper::Scenario;
use zorb_bench::statistics::LEAST_PAIRS;

use super::common::{Common, table};
use crate::failure::Failure;

/// An application: an image editor of 295 objects, 9,000 calls of mixed kinds, 3 MiB of image.
///
/// Calls without arguments, with a struct, a long, a name, and with pieces of an image that come back, on all objects in
/// turn. The whole is run again and again, in turns with blocking sockets that move as many bytes and with the peers
/// asked for, which have one object.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,
}

const HELP: &str = "\
Calls per second are those of one caller, in the time that its calls take.

Examples:
  zorb bench images
  zorb bench images --peers omniorb,capnp --json";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(Scenario::Images(self.common.basis(0), self.common.peers()?))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let scenario = arguments.scenario()?;
    common.measure(
        |lab, finished| scenario.run(lab, finished),
        |rows| {
            let table = table("calls", rows, |_| "mixed".to_owned());
            let how = format!("{LEAST_PAIRS} rounds of {ALL_CALLS} calls");
            common.title("The image editor", &how, rows) + &table.to_string()
        },
    )
}
