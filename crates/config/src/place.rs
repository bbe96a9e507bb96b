//! Where a value comes from, and what is wrong there.

use std::fmt;

/// Where the value of a setting comes from. Later variants have precedence over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Nobody chose: the ORB's default.
    Default,
    /// The program told its builder.
    Program,
    /// A configuration file.
    File {
        /// Its path, as it was given.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// A variable of the environment.
    Variable(String),
    /// An argument of the command line.
    Argument {
        /// Which one, from 1; the program's name is 0.
        index: usize,
        /// The option's name as it was written.
        option: String,
    },
}

impl Origin {
    /// What goes before what: the larger number.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::Program => 1,
            Origin::File { .. } => 2,
            Origin::Variable(_) => 3,
            Origin::Argument { .. } => 4,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Program => f.write_str("the program"),
            // Files that cannot be read have no line.
            Origin::File { path, line: 0, .. } => write!(f, "file {path}"),
            Origin::File { path, line, column } => write!(f, "file {path}, line {line}, column {column}"),
            Origin::Variable(name) => write!(f, "environment variable {name}"),
            Origin::Argument { index, option } => write!(f, "argument {index} ({option})"),
        }
    }
}

/// Configuration text that means nothing, or that cannot be had. Its text names the place, then says what is wrong there and
/// what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    origin: Origin,
    what: String,
}

impl ConfigError {
    pub(crate) fn new(origin: Origin, what: impl Into<String>) -> ConfigError {
        ConfigError { origin, what: what.into() }
    }

    /// Where it stands.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.what)
    }
}

impl std::error::Error for ConfigError {}
