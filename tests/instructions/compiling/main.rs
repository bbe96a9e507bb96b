//! The program whose instructions `../run` counts for compiling IDL to Rust: `zorb-compiling CALLS [--densest] [CASE…]`, with a
//! thousand calls.
//!
//! It stands apart from the other program, since what is linked with that changes its counts. A case is compiled once, and its "calls" are
//! parts of its lines: the figure of 1,000 lines is that of one line, and the figure of 10,000 that of ten, which are to cost no more than
//! ten times as much. The IDL is as people write it, with at least as much to a hundred lines as the OMG's service specifications;
//! `--densest` counts what is as dense as it gets, which has no budget.

#[path = "../../mapping/tests/ten_thousand_lines/text.rs"]
mod text;

use std::process::ExitCode;

use zorb_build::Config;
use zorb_idl::Memory;

/// By name, how many lines.
const CASES: &[(&str, usize)] = &[("compile/1000-lines", 1_000), ("compile/10000-lines", 10_000)];

/// What callgrind counts: it knows the name.
#[inline(never)]
fn measured(idl: &str) -> usize {
    let files = Memory::new([("large.idl", idl)]);
    Config::new().generate_from(&files, &["large.idl"]).map_or(0, |generated| generated.text.len())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((calls, mut wanted)) = arguments.split_first() else { return usage() };
    let mut area: fn(&mut String, usize) = text::as_written;
    if let Some(("--densest", rest)) = wanted.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        (area, wanted) = (text::densest, rest);
    }
    if calls != "1000" || wanted.iter().any(|start| CASES.iter().all(|(name, _)| !name.starts_with(start))) {
        return usage();
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start));
    for (name, lines) in CASES.iter().filter(|(name, _)| is_wanted(name)) {
        let idl = text::idl(*lines, area);
        println!("{name}");
        if measured(&idl) < idl.len() {
            eprintln!("compiling: {name} made too little Rust");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: zorb-compiling 1000 [--densest] [CASE…], where a CASE is the beginning of one of these:"
    );
    CASES.iter().for_each(|(name, _)| eprintln!("  {name}"));
    ExitCode::FAILURE
}
