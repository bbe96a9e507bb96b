//! `zorb bench concurrency`: many callers.

use std::time::Duration;

use clap::Args;

use zorb_bench::concurrency::{self, MOST_CALLERS, Plan};
use zorb_bench::statistics::LEAST_PAIRS;
use zorb_bench::system::Payload;

use super::common::{Common, table};
use crate::failure::Failure;

/// Many callers: how many calls 1, 8, 64 and 512 of them complete in a second.
///
/// All callers of a system call at once, as its users would let them: zorb's are threads that share one reference, the
/// floor's have a blocking socket each. Systems take turns of a set time.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,

    /// Numbers of callers.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64,512", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CALLERS)), value_name = "NUMBERS")]
    callers: Vec<u32>,

    /// Octets that each call echoes; 0: the null call.
    #[arg(long, default_value_t = 0, value_name = "OCTETS")]
    size: usize,

    /// How long the callers call in a turn, in milliseconds.
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..), value_name = "MS")]
    time: u64,
}

const HELP: &str = "\
The ratio is of the time for a call: above 1 is slower than the sockets. It
is given for --pin same only.

Examples:
  zorb bench concurrency --pin none
  zorb bench concurrency --callers 1,64 --peers omniorb,tonic --json";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, callers, size, time } = arguments;
    let plan = Plan {
        basis: common.basis(0),
        callers: callers.clone(),
        payload: if *size == 0 { Payload::Null } else { Payload::Octets(*size) },
        time: Duration::from_millis(*time),
    };
    let systems = common.systems()?;
    common.measure(
        |lab, finished| concurrency::run(&systems, &plan, lab, finished),
        |rows| {
            let table = table("callers", rows, |row| row.parameters.callers.unwrap_or(1).to_string());
            common.title("Callers at a time", &format!("{LEAST_PAIRS} rounds of {time} ms"), rows)
                + &table.to_string()
        },
    )
}
