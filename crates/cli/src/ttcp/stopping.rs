//! An end within a second of Ctrl-C, also of a run whose sender waits in a system call.
//!
//! Servers and drivers that this process has started are killed when it is asked to stop, and whoever waits for them
//! goes on. A receiver elsewhere lives on, and may take nothing: then nobody is left to wait for.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use zorb_bench::progress::Stop;

/// How often to look whether to stop: soon enough for a person, and rare enough not to be seen in a measurement.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long a run may take for an orderly end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Lets `run` run. If that has not ended soon after a wish to stop, `abandon` ends the process.
pub(super) fn heeding<R>(stop: &Stop, abandon: impl FnOnce() + Send, run: impl FnOnce() -> R) -> R {
    heeding_for(PATIENCE, stop, abandon, run)
}

fn heeding_for<R>(
    patience: Duration,
    stop: &Stop,
    abandon: impl FnOnce() + Send,
    run: impl FnOnce() -> R,
) -> R {
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        // Beside the thread that measures, which alone is kept on a processor.
        scope.spawn(move || {
            if is_overdue(patience, stop, &ended) {
                abandon();
            }
        });
        let result = run();
        drop(running);
        result
    })
}

/// Waits until the run has ended, or should have.
fn is_overdue(patience: Duration, stop: &Stop, ended: &Receiver<()>) -> bool {
    let runs = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    while !stop.requested() {
        if !runs(LOOK_EVERY) {
            return false;
        }
    }
    runs(patience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_does_not_end_is_abandoned() {
        assert_eq!(heeding(&Stop::new(), || panic!("nobody wants to stop"), || 7), 7);
        let stop = Stop::new();
        let hour = Duration::from_secs(3600);
        heeding_for(hour, &stop, || panic!("it ends in order"), || stop.request());
        let (abandoned, waits) = mpsc::channel();
        heeding(
            &stop,
            move || abandoned.send(()).unwrap(),
            || waits.recv().expect("abandoned, since it waits for that"),
        );
    }
}
