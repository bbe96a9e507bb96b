//! Which processor each of the two processes runs on.
//!
//! A round trip between two processes that sleep in turns costs several times more over two processors
//! than on one, because a sleeping processor must be woken. Left to itself the kernel moves the pair
//! between the two regimes, so a figure without its placement says little, and a ratio is only given where
//! both processes stay on one processor ([`Pin::gives_ratios`]).

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::BenchError;

/// Where client and server run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// Both on one processor.
    Same,
    /// Each on one of its own.
    Split,
    /// Wherever the kernel puts them.
    None,
}

/// The processors chosen for a [`Pin`]; `None`: not pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The client's processor.
    pub client: Option<usize>,
    /// The server's processor.
    pub server: Option<usize>,
}

impl Pin {
    /// Chooses processors from those this process may use: the last ones, since the first commonly
    /// serves interrupts.
    ///
    /// # Errors
    ///
    /// [`BenchError::Cores`] if there are too few, [`BenchError::Io`] if the system does not tell.
    pub fn placement(self) -> Result<Placement, BenchError> {
        let usable = usable_processors()?;
        let from_end = |n: usize| usable.len().checked_sub(n).map(|at| usable[at]);
        match self {
            Pin::Same => Ok(Placement { client: from_end(1), server: from_end(1) }),
            Pin::Split if usable.len() < 2 => {
                Err(BenchError::Cores { wanted: "--pin split needs two processors", available: usable.len() })
            }
            Pin::Split => Ok(Placement { client: from_end(1), server: from_end(2) }),
            Pin::None => Ok(Placement { client: None, server: None }),
        }
    }

    /// Whether blocking round trips measured this way may be compared as a ratio.
    pub fn gives_ratios(self) -> bool {
        self == Pin::Same
    }

    /// The name as the command line and the results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Pin::Same => "same",
            Pin::Split => "split",
            Pin::None => "none",
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Pin, String> {
        [Pin::Same, Pin::Split, Pin::None]
            .into_iter()
            .find(|pin| pin.name() == text)
            .ok_or_else(|| "expected same, split or none".to_owned())
    }
}

/// Keeps the calling thread, and every thread that it starts from now on, on one processor.
///
/// # Errors
///
/// [`BenchError::Io`] if the system refuses.
pub fn keep_to(processor: usize) -> Result<(), BenchError> {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only)
        .map_err(|errno| BenchError::io(format!("keep to processor {processor}"))(errno.into()))
}

/// Keeps the calling thread off the processors that a [`Pin`] chooses, as far as there are others: with two, off the client's,
/// which with [`Pin::Same`] is the server's too; with one there is no choice.
///
/// # Errors
///
/// [`BenchError::Io`] if the system refuses.
pub fn keep_off_measured() -> Result<(), BenchError> {
    let usable = usable_processors()?;
    let unmeasured = usable.len().saturating_sub(2).max(1);
    let mut others = CpuSet::new();
    usable.iter().take(unmeasured).for_each(|&processor| others.set(processor));
    sched_setaffinity(None, &others)
        .map_err(|errno| BenchError::io("keep off the measured processors")(errno.into()))
}

/// Runs `body` on a thread that is kept on `processor`, or on the caller's if that is `None`. What `body` starts,
/// threads and processes alike, stays there too: the kernel hands the placement on.
///
/// # Errors
///
/// [`BenchError::Io`] if the system refuses; `body` has not run then.
pub fn on<T: Send>(processor: Option<usize>, body: impl FnOnce() -> T + Send) -> Result<T, BenchError> {
    let Some(processor) = processor else { return Ok(body()) };
    std::thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            keep_to(processor)?;
            Ok(body())
        });
        pinned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn usable_processors() -> Result<Vec<usize>, BenchError> {
    let set = sched_getaffinity(None)
        .map_err(|errno| BenchError::io("ask which processors may be used")(errno.into()))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for pin in [Pin::Same, Pin::Split, Pin::None] {
            assert_eq!(pin.name().parse(), Ok(pin));
        }
        assert!("both".parse::<Pin>().is_err());
    }

    #[test]
    fn same_is_one_processor_and_split_two() {
        let same = Pin::Same.placement().unwrap();
        assert!(same.client.is_some());
        assert_eq!(same.client, same.server);
        match Pin::Split.placement() {
            Ok(split) => assert_ne!(split.client, split.server),
            Err(error) => assert!(matches!(error, BenchError::Cores { available: 1, .. }), "{error}"),
        }
        assert_eq!(Pin::None.placement().unwrap(), Placement { client: None, server: None });
    }

    #[test]
    fn a_pinned_thread_and_its_children_stay() {
        let processor = Pin::Same.placement().unwrap().client.unwrap();
        let before = usable_processors().unwrap();
        let seen = on(Some(processor), || {
            let thread = std::thread::spawn(|| usable_processors().unwrap()).join().unwrap();
            let child = std::process::Command::new("grep")
                .args(["Cpus_allowed_list", "/proc/self/status"])
                .output()
                .unwrap();
            (thread, String::from_utf8(child.stdout).unwrap())
        });
        let (thread, child) = seen.unwrap();
        assert_eq!(thread, [processor]);
        assert_eq!(child.split_whitespace().last(), Some(processor.to_string().as_str()));
        assert_eq!(usable_processors().unwrap(), before, "the caller is left as it was");
        assert_eq!(on(None, || usable_processors().unwrap()).unwrap(), before);
        assert!(on(Some(CpuSet::MAX_CPU - 1), || ()).is_err());
    }
}
