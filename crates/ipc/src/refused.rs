//! A handle that was given away and could not be taken: it comes back with the reason.

use std::fmt;

use crate::Error;

/// Why a call that takes a handle for good did not, and the handle, as usable as before.
///
/// Where nobody wants it back `?` turns this into the [`Error`] alone, and the handle is closed.
pub struct Refused<T> {
    /// Apart, so that a call that succeeds does not move room for both.
    error: Box<Error>,
    handle: T,
}

impl<T> Refused<T> {
    pub(crate) fn new(error: Error, handle: T) -> Self {
        Self { error: Box::new(error), handle }
    }

    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Refused<U> {
        Refused { error: self.error, handle: change(self.handle) }
    }

    /// Why.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The handle.
    pub fn into_handle(self) -> T {
        self.handle
    }
}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        *refused.error
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for Refused<T> {}
