//! One line a case: what the client prints, and why a case ends.

use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use zorb::Exception;
use zorb::rt::OperationError;

use crate::options::Options;
use crate::sample::{Shape, text};

/// Why a case did not pass.
#[derive(Debug)]
pub enum Trouble {
    /// It cannot be run between these two peers.
    Skip(String),
    /// It failed.
    Fail(String),
}

/// What a case ends with.
pub type Outcome = Result<(), Trouble>;

impl<E: OperationError> From<E> for Trouble {
    fn from(error: E) -> Self {
        let exception: Exception = error.into();
        Trouble::Fail(format!("raised {exception}"))
    }
}

/// A failed expectation.
pub fn fail(reason: impl Into<String>) -> Trouble {
    Trouble::Fail(reason.into())
}

/// Skips a case that needs wide characters where there are none.
pub fn need_wide(has_wide: bool) -> Outcome {
    if has_wide { Ok(()) } else { Err(Trouble::Skip("GIOP 1.0 has no wide characters".into())) }
}

/// Fails unless `holds`.
pub fn ensure(what: impl Display, holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(fail(format!("{what}: expected it to hold"))) }
}

/// Fails unless both are equal.
pub fn equal<T: PartialEq<U> + Debug, U: Debug>(what: impl Display, got: T, wanted: U) -> Outcome {
    if got == wanted {
        return Ok(());
    }
    Err(fail(format!("{what}: expected {wanted:?} got {got:?}")))
}

/// Fails unless both have the same canonical text, which tells NaNs and zeros apart.
pub fn same<S: Shape>(what: impl Display, got: &S::Value, wanted: &S::Value) -> Outcome {
    same_text(what, &text::<S>(got), &text::<S>(wanted))
}

/// Fails unless both texts are the same; says from where they differ.
pub fn same_text(what: impl Display, got: &str, wanted: &str) -> Outcome {
    if got == wanted {
        return Ok(());
    }
    let at = got.bytes().zip(wanted.bytes()).take_while(|(g, w)| g == w).count();
    Err(fail(format!("{what}: expected {} got {}", excerpt(wanted, at), excerpt(got, at))))
}

/// About 120 octets of a text, from shortly before `at`.
fn excerpt(text: &str, at: usize) -> String {
    let from = at.saturating_sub(40);
    let part: String = text.bytes().skip(from).take(120).map(char::from).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + 120 < text.len() { "…" } else { "" });
    format!("{before}{part}{after}")
}

/// Runs cases and counts them.
pub struct Report<'o> {
    options: &'o Options,
    /// Cases that passed.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
}

impl<'o> Report<'o> {
    /// Nothing run yet.
    pub fn new(options: &'o Options) -> Self {
        Report { options, passed: 0, failed: 0 }
    }

    /// What the command line says.
    pub fn options(&self) -> &'o Options {
        self.options
    }

    /// Runs one case, unless the command line leaves it out, and prints how it ended.
    pub fn case(&mut self, name: impl Display, body: impl FnOnce() -> Outcome) {
        let name = name.to_string();
        if !name.starts_with(&self.options.only) {
            return;
        }
        if self.options.list {
            println!("{name}");
            return;
        }
        // A panic in a stub is this case's failure, not the end of all others.
        let outcome = catch_unwind(AssertUnwindSafe(body))
            .unwrap_or_else(|_| Err(fail("panicked; see standard error")));
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok {name}");
            }
            Err(Trouble::Skip(reason)) => println!("skip {name}: {reason}"),
            Err(Trouble::Fail(reason)) => {
                self.failed += 1;
                println!("FAIL {name}: {}", reason.replace('\n', " "));
            }
        }
    }
}
