//! The program whose instructions `tests/instructions/run` counts, under valgrind: `zorb-instructions CASE CALLS`.
//!
//! Everything runs on one thread and in memory, so that a count is the same on every run. A case sets itself up, warms
//! up, and then makes its calls in [`measured`], the only function that is counted.

mod messages;
mod whole;

use std::process::ExitCode;

/// Calls before counting starts: more than any table, buffer or pool takes to find its size.
const WARM_UP: u32 = 1000;

/// A case, made ready: makes one call, which is given its number.
type Case = Box<dyn FnMut(u32)>;

/// Sets a case up.
type Prepare = fn() -> Case;

/// The cases by name.
const CASES: &[(&str, Prepare)] = &[
    ("messages", messages::null),
    ("call", || whole::small(1)),
    ("call-of-1000-operations", whole::large),
    ("call-among-1000000-objects", || whole::small(1_000_000)),
];

/// What callgrind counts: it knows the name.
#[inline(never)]
fn measured(case: &mut dyn FnMut(u32), calls: u32) {
    for number in 0..calls {
        case(number);
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, calls] = &arguments[..] else { return usage() };
    let (Some((_, prepare)), Ok(calls)) = (CASES.iter().find(|(known, _)| known == name), calls.parse())
    else {
        return usage();
    };
    let mut case = prepare();
    for number in 0..WARM_UP {
        case(number);
    }
    measured(&mut *case, calls);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: zorb-instructions CASE CALLS, where CASE is one of:");
    CASES.iter().for_each(|(name, _)| eprintln!("  {name}"));
    ExitCode::FAILURE
}
