//! Calls that signals interrupt again and again. For tests that are alone in their process, whose signal
//! dispositions they change.

use std::thread;

use super::signals::finish_interrupted;
#[allow(unused_imports, reason = "for those that interrupt something")]
pub(crate) use super::signals::interrupting_handler;

/// Lets a thread wait in `call`, interrupts it many times, then lets it go on by `release`.
pub(crate) fn interrupted<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
    release: impl FnOnce(),
) -> T {
    finish_interrupted(thread::spawn(call), release)
}
