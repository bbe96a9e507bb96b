//! What can go wrong while measuring.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a measurement could not be made or may not be believed.
#[derive(Debug)]
#[non_exhaustive]
pub enum BenchError {
    /// A system call failed; `step` says what it was for.
    Io {
        /// What was being done, as in "connect to 127.0.0.1:4711".
        step: String,
        /// What the operating system answered.
        source: io::Error,
    },
    /// A process that serves or drives a system ended, said nothing within the time it had, or said something
    /// else than it should.
    Process {
        /// Its command, without the path.
        command: String,
        /// What happened to it, with its last words on standard error.
        what: String,
    },
    /// What came back is not what was sent: no figure of this run may be used.
    Corrupt {
        /// The system that returned it.
        system: &'static str,
        /// The first difference, in words.
        what: String,
    },
    /// The processors asked for are not there.
    Cores {
        /// What was asked for.
        wanted: &'static str,
        /// How many processors this process may use.
        available: usize,
    },
    /// The system under test refused or failed a call.
    System {
        /// The system's name.
        system: &'static str,
        /// Its own words.
        what: String,
    },
    /// The system cannot do what was asked of it; others may.
    Unsupported {
        /// The system's name.
        system: &'static str,
        /// What it cannot do, and why if it said so.
        what: String,
    },
    /// The peer's program has not been built.
    Missing {
        /// The peer's name.
        system: &'static str,
        /// The command that builds it.
        build: String,
    },
    /// A directory of results is in use for something else.
    Taken {
        /// Which.
        directory: PathBuf,
        /// For what.
        what: String,
    },
    /// A picture could not be made.
    Image {
        /// Which one, and why.
        what: String,
    },
    /// The link to measure on cannot be made.
    Link {
        /// Why.
        what: String,
    },
    /// What processors execute cannot be looked at.
    Profile {
        /// Why.
        what: String,
    },
    /// The run lasted longer than it may.
    TooLong {
        /// The time it had.
        limit: Duration,
    },
    /// Somebody asked for the run to stop.
    Stopped,
}

impl BenchError {
    /// Names the step that an I/O error belongs to.
    pub fn io(step: impl Into<String>) -> impl FnOnce(io::Error) -> BenchError {
        let step = step.into();
        move |source| BenchError::Io { step, source }
    }

    /// The system cannot do `what`.
    pub fn unsupported(system: &'static str, what: impl Into<String>) -> BenchError {
        BenchError::Unsupported { system, what: what.into() }
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Io { step, source } => write!(f, "cannot {step}: {source}"),
            BenchError::Process { command, what } => write!(f, "process `{command}`: {what}"),
            BenchError::Corrupt { system, what } => {
                write!(f, "{system} delivered other data than was sent: {what}")
            }
            BenchError::Cores { wanted, available } => {
                write!(f, "{wanted}, and this process may use {available}")
            }
            BenchError::System { system, what } => write!(f, "{system}: {what}"),
            BenchError::Unsupported { system, what } => write!(f, "{system} does not do this: {what}"),
            BenchError::Missing { system, build } => {
                write!(f, "{system} is left out: it is not built yet, which {build} does")
            }
            BenchError::Taken { directory, what } => write!(f, "cannot use {}: {what}", directory.display()),
            BenchError::Image { what } => write!(f, "cannot make a picture: {what}"),
            BenchError::Link { what } => write!(f, "the link cannot be made: {what}"),
            BenchError::Profile { what } => write!(f, "a profile cannot be taken: {what}"),
            BenchError::TooLong { limit } => {
                write!(f, "the run did not end within {} s and was stopped", limit.as_secs())
            }
            BenchError::Stopped => f.write_str("stopped; what was measured before is kept"),
        }
    }
}

impl std::error::Error for BenchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BenchError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
