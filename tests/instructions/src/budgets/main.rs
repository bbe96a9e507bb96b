//! Holds counted instructions to the file `budgets`: `zorb-budgets BUDGETS COUNTS CALLS [--some]`.
//!
//! With `--some`, not every case was counted; otherwise a budget whose case was not counted is a fault.
//!
//! `COUNTS` is a directory in which `run` has left the names of the counted cases, one a line (`cases`), callgrind's
//! profile of each line (`profile.1`, …), the same of those of which locked instructions were counted (`locked-cases`, `locked.1`, …, and
//! the program's `disassembly`), and the file of budgets as earlier commits had it (`earlier/*`, where git knows them).

mod budget;
mod locked;
mod profile;
mod verdict;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use budget::Budget;
use profile::Figures;
use verdict::Counted;

/// Whose locked instructions are counted.
const PROGRAM: &str = "zorb-instructions";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (budgets, counts, calls, counted) = match arguments[..] {
        [budgets, counts, calls] => (budgets, counts, calls, Counted::All),
        [budgets, counts, calls, "--some"] => (budgets, counts, calls, Counted::Some),
        _ => {
            eprintln!("usage: zorb-budgets BUDGETS COUNTS CALLS [--some]");
            return ExitCode::FAILURE;
        }
    };
    match judge(Path::new(budgets), Path::new(counts), calls, counted) {
        Ok(report) => {
            print!("{}", report.table);
            report.faults.iter().for_each(|fault| eprintln!("instructions: {fault}"));
            if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn judge(budgets: &Path, counts: &Path, calls: &str, counted: Counted) -> Result<verdict::Report, String> {
    let calls = calls.parse().map_err(|_| format!("{calls} is no number of calls"))?;
    let now = budget::parse(&read(budgets)?).map_err(|error| format!("{}: {error}", budgets.display()))?;
    let mut figures = Figures::default();
    for (case, number) in read(&counts.join("cases"))?.lines().zip(1..) {
        let profile = read(&counts.join(format!("profile.{number}")))?;
        figures.enter(case, &profile, calls)?;
    }
    let of_locked = counts.join("locked-cases");
    if of_locked.exists() {
        let places = locked::places(&read(&counts.join("disassembly"))?);
        for (case, number) in read(&of_locked)?.lines().zip(1..) {
            let found = locked::count(&read(&counts.join(format!("locked.{number}")))?, PROGRAM, &places);
            let found =
                found.ok_or_else(|| format!("the profile of {case} does not tell of each instruction"))?;
            figures.enter_locked(case, found / calls);
        }
    }
    let mut earlier: Vec<Vec<Budget>> = Vec::new();
    for entry in fs::read_dir(counts.join("earlier")).into_iter().flatten().flatten() {
        // A version that this program cannot read is none that it could hold anybody to.
        earlier.extend(budget::parse(&read(&entry.path())?).ok());
    }
    Ok(verdict::report(&now, &earlier, &figures, counted))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
