//! A step that another program measures: a zorb with time probes, so that what is measured besides carries none.

use std::path::Path;
use std::process::Command;

use crate::BenchError;
use crate::lab::Lab;
use crate::process::Process;
use crate::row::Row;

/// Runs a step's command line by `program` in place of `zorb`, and hands on its rows.
///
/// # Errors
///
/// [`BenchError::Io`] if it cannot be started, [`BenchError::Process`] if it fails or says something else than rows.
pub(super) fn run(
    program: &Path,
    command: &str,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let mut zorb = Command::new(program);
    zorb.args(command.split(' ').skip(1)).arg("--json");
    let mut process = Process::start(zorb, &lab.bounds(None))?;
    let mut rows = Vec::new();
    loop {
        match process.line(lab.patience, "a row") {
            Ok(line) => {
                let row = Row::from_json(&line);
                rows.push(row.map_err(|what| process.fault(&format!("said no row ({what}): {line}")))?);
            }
            Err(_) if process.has_succeeded() => break,
            Err(error) => return Err(error),
        }
    }
    finished(rows);
    Ok(Vec::new())
}
