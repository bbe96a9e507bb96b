//! What a subcommand fails with: one line for people and an exit code for scripts.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use zorb::SystemException;
use zorb_bench::BenchError;

/// A failure, in one line that names the cause.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    text: String,
    raised: Option<Box<SystemException>>,
}

impl Failure {
    /// What was asked for failed: exit code 1.
    pub(crate) fn new(text: impl Into<String>) -> Failure {
        Failure { code: 1, text: text.into(), raised: None }
    }

    /// The peer answers, but the object is not there or is of another type: exit code 3.
    pub(crate) fn not_there(text: impl Into<String>) -> Failure {
        Failure { code: 3, text: text.into(), raised: None }
    }

    /// A call ended with a system exception, which the text tells, too: exit code 3.
    pub(crate) fn system_exception(text: impl Into<String>, exception: SystemException) -> Failure {
        Failure { code: 3, text: text.into(), raised: Some(Box::new(exception)) }
    }

    /// The system exception that it is.
    pub(crate) fn raised(&self) -> Option<&SystemException> {
        self.raised.as_deref()
    }

    /// A call ended with a user exception: exit code 4.
    pub(crate) fn user_exception(text: impl Into<String>) -> Failure {
        Failure { code: 4, text: text.into(), raised: None }
    }

    /// The command line is wrong in a way that its parser cannot see: exit code 2.
    pub(crate) fn usage(text: impl Into<String>) -> Failure {
        Failure { code: 2, text: text.into(), raised: None }
    }

    /// The same, where what failed is in the command line itself: exit code 2.
    pub(crate) fn of_command_line(self) -> Failure {
        Failure { code: 2, ..self }
    }

    /// The same, said of one of the options.
    pub(crate) fn of(self, option: &str) -> Failure {
        Failure { text: format!("{option}: {}", self.text), ..self }
    }

    /// A file could not be used; `verb` as in "read".
    pub(crate) fn file(verb: &str, path: &Path, cause: impl fmt::Display) -> Failure {
        Failure::new(format!("cannot {verb} {}: {cause}", path.display()))
    }

    /// What a run of measurements ended with: its own failure, or what went wrong with single systems in it, of
    /// which a remark has told the details already.
    pub(crate) fn of_run(ended: Result<Vec<String>, BenchError>) -> Result<(), Failure> {
        match ended?.as_slice() {
            [] => Ok(()),
            [only] => Err(Failure::new(format!("the run is incomplete: {only}"))),
            [first, others @ ..] => {
                let others = others.len();
                Err(Failure::new(format!("the run is incomplete: {first} (and {others} more, noted above)")))
            }
        }
    }

    /// Prints the line on standard error and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        if self.code != 0 {
            // What went wrong in zorb itself, as a system among others, begins with its name already.
            eprintln!("zorb: {}", self.text.strip_prefix("zorb: ").unwrap_or(&self.text));
        }
        ExitCode::from(self.code)
    }
}

impl Failure {
    /// Prints the line on standard error and ends the process with the exit code, from where nothing leads back to `main`.
    pub(crate) fn end(self) -> ! {
        let code = self.code;
        self.report();
        std::process::exit(code.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        let code = match error {
            BenchError::Unsupported { .. } | BenchError::Cores { .. } | BenchError::Taken { .. } => 2,
            // What shells report of a command that Ctrl-C has ended.
            BenchError::Stopped => 130,
            _ => 1,
        };
        Failure { code, text: error.to_string(), raised: None }
    }
}

/// A result could not be written. Where the reader has closed its end, as `head` does, it has what it wanted:
/// that is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let code = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        Failure { code, text: format!("cannot write the result: {error}"), raised: None }
    }
}
