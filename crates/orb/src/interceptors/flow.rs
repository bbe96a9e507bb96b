//! Which points run, in which order, and what becomes of an exception in one of them: the flow rules of the specification's
//! chapter.
//!
//! ```text
//! starting point   A, B, C …   the first that raises is the last called; those before it are on the flow stack
//! ending point     … C, B, A   each by the outcome as it then is: a result, an exception, or something else
//!                              who raises an exception, or forwards, changes the outcome for those that follow
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outcome::{Intervention, Outcome};
use crate::exception::{Completion, SystemException};

/// The kind of ending point that an outcome asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Reply,
    Exception,
    Other,
}

impl Outcome {
    pub(super) fn ending(&self) -> Ending {
        match self {
            Outcome::Reply => Ending::Reply,
            Outcome::System(_) | Outcome::User(_) => Ending::Exception,
            Outcome::Sent | Outcome::Forward(_) | Outcome::Retry | Outcome::Unknown => Ending::Other,
        }
    }
}

/// Runs a starting or an intermediate point. A panic becomes `UNKNOWN`.
pub(super) fn guarded(
    name: &str,
    point: &str,
    completed: Completion,
    run: impl FnOnce() -> Result<(), Intervention>,
) -> Result<(), Intervention> {
    // What a panic leaves in the interceptor is for its own locks to tell.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
        let text = format!("interceptor {name:?} panicked in {point}: {text}");
        tracing::error!("{text}");
        Err(Intervention::Raise(SystemException::Unknown(text).completed(completed)))
    })
}

/// Runs the ending points of those on the flow stack, the last first. True: the outcome in `info` is now another.
pub(super) fn unwind<Info>(
    stack: &mut usize,
    info: &mut Info,
    outcome: impl Fn(&mut Info) -> &mut Outcome,
    run: impl Fn(usize, &mut Info, Ending) -> Result<(), Intervention>,
) -> bool {
    let mut changed = false;
    while *stack > 0 {
        *stack -= 1;
        let ending = outcome(info).ending();
        if let Err(intervention) = run(*stack, info, ending) {
            *outcome(info) = intervention.into();
            changed = true;
        }
    }
    changed
}
