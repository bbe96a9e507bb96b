//! All of the field's studies in one run: the experiments of the five papers that set its questions, one after the
//! other, kept in a directory that a report is drawn from.
//!
//! ```text
//! plan: which steps, by scale and peers ──► scenario: what a step measures, and its command line
//!                                               │
//! directory: what is there already ──► run ─────┴──► rows, each with its step's command ──► directory
//!   (journal: what of it counts)        └──► overall: progress over all steps (estimate: how long each takes)
//! ```
//!
//! Steps are scenarios as `zorb bench` and `zorb ttcp` run them. A run that was stopped goes on where it was: a
//! step that has not ended is done again, its rows are replaced.

mod directory;
mod elsewhere;
mod estimate;
mod journal;
mod overall;
mod plan;
mod scenario;

use std::time::{Duration, Instant};

use crate::BenchError;
use crate::lab::Lab;
use crate::link::{Link, Spec};
use crate::machine::{MUCH, Taken};
use crate::row::Row;

pub use directory::{Directory, STEPS};
pub use journal::{Ended, Head};
pub use plan::{Scale, Step, Study, steps};
pub use scenario::{Scenario, Systems};

/// What went wrong in the steps of a `steps.jsonl`, a line each.
pub fn failures(steps: &[u8]) -> Vec<String> {
    let of_each = journal::ended(steps).into_iter().map(|ended| ended.failures());
    of_each.flatten().collect()
}

/// The steps of a `steps.jsonl` of which nothing could be measured, each with the reason.
pub fn left_out(steps: &[u8]) -> Vec<String> {
    let reason = |ended: Ended| Some(format!("{}: {}", ended.step, ended.left_out?));
    journal::ended(steps).into_iter().filter_map(reason).collect()
}

/// The steps of a `steps.jsonl` during which the host took much of the processors' time, each with how much.
pub fn disturbed(steps: &[u8]) -> Vec<String> {
    let ended = journal::ended(steps).into_iter().filter(|ended| ended.taken >= MUCH);
    ended.map(|ended| format!("{} ({:.0} %)", ended.step, ended.taken * 100.0)).collect()
}

/// About how long the steps take that have not ended, on a machine with nothing else to do.
pub fn left(directory: &Directory, steps: &[Step]) -> Duration {
    steps.iter().filter(|step| !directory.has(step)).map(Step::estimate).sum()
}

/// Measures the steps that have not ended. A step of which nothing can be measured is left out with a remark. Gives
/// what went wrong, a line each.
///
/// # Errors
///
/// [`BenchError::Io`] if rows cannot be written, [`BenchError::Stopped`].
pub fn run(directory: &mut Directory, steps: &[Step], lab: &Lab) -> Result<Vec<String>, BenchError> {
    let to_do: Vec<_> =
        steps.iter().zip(1..).filter(|(step, _)| !directory.has(step)).collect::<Vec<(&Step, usize)>>();
    lab.progress.expect(to_do.iter().map(|(step, _)| overall::parts(step.estimate())).sum());
    let mut faults = Vec::new();
    for (step, number) in to_do {
        if lab.stop.requested() {
            return Err(BenchError::Stopped);
        }
        lab.progress.stage(&format!("{number} of {}: {}", steps.len(), step.name));
        faults.extend(measure(directory, step, lab)?);
    }
    Ok(faults)
}

fn measure(directory: &mut Directory, step: &Step, lab: &Lab) -> Result<Vec<String>, BenchError> {
    let share = overall::Share::new(lab.progress, step.estimate());
    let command = step.command();
    let (mut rows, mut unwritten) = (0, None);
    let (began, taken) = (Instant::now(), Taken::watch());
    let measured = across(step, &Lab { progress: &share, ..lab.clone() }, &mut |mut event| {
        for row in &mut event {
            row.parameters.study = Some(step.study.name().to_owned());
            row.parameters.link = step.link.as_ref().map(Spec::to_string);
            row.command = Some(command.clone());
        }
        rows += event.len();
        if unwritten.is_none()
            && let Err(error) = directory.keep(&event)
        {
            unwritten = Some(error);
            lab.stop.request();
        }
    });
    if let Some(error) = unwritten {
        return Err(error);
    }
    match measured {
        Ok(faults) => {
            let ended = Ended { rows, faults, ..ended(step, began, &taken) };
            let failures = ended.failures();
            directory.end(ended)?;
            share.end();
            Ok(failures)
        }
        Err(_) if lab.stop.requested() => Err(BenchError::Stopped),
        Err(error) => {
            share.end();
            lab.progress.remark(&format!("{} is left out: {error}", step.name));
            directory.note(&Ended { left_out: Some(error.to_string()), ..ended(step, began, &taken) })?;
            // What this machine does not have is no failure of anything.
            let lacking = matches!(
                error,
                BenchError::Link { .. } | BenchError::Cores { .. } | BenchError::Profile { .. }
            );
            Ok(if lacking { Vec::new() } else { vec![format!("{}: {error}", step.name)] })
        }
    }
}

/// That a step has come to its end.
fn ended(step: &Step, began: Instant, taken: &Taken) -> Ended {
    Ended {
        step: step.name.to_owned(),
        command: step.command(),
        rows: 0,
        seconds: (began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        faults: Vec::new(),
        taken: (taken.share().unwrap_or(0.0) * 1e3).round() / 1e3,
        left_out: None,
    }
}

/// Runs a step's scenario, over its link if it has one.
fn across(
    step: &Step,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    match &step.link {
        None => step.scenario.run(lab, finished),
        Some(spec) => {
            let (link, _holder) = Link::up(spec, lab.carrier, lab.lifetime)?;
            step.scenario.run(&Lab { link: Some(&link), ..lab.clone() }, finished)
        }
    }
}
