//! Calls that signals interrupt again and again. For tests that are alone in their process, whose signal
//! dispositions they change.

use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use super::LONG;

static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: libc::c_int) {
    INTERRUPTIONS.fetch_add(1, SeqCst);
}

/// Installs a handler that does not ask for interrupted calls to be restarted.
pub(crate) fn interrupting_handler() {
    // SAFETY: the zeroed structure is a valid `sigaction` with an empty mask and no flags, and the handler
    // only counts in an atomic, which a signal handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
    }
}

/// Lets a thread wait in `call`, interrupts it many times, then lets it go on by `release`.
pub(crate) fn interrupted<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
    release: impl FnOnce(),
) -> T {
    INTERRUPTIONS.store(0, SeqCst);
    let thread = thread::spawn(call);
    let handle = thread.as_pthread_t();
    let until = Instant::now() + LONG;
    while INTERRUPTIONS.load(SeqCst) < 20 {
        assert!(Instant::now() < until);
        assert!(!thread.is_finished(), "an interruption ended the call");
        // SAFETY: the thread has not been joined, so its handle is valid.
        unsafe { libc::pthread_kill(handle, libc::SIGUSR1) };
        thread::sleep(Duration::from_millis(2));
    }
    release();
    thread.join().unwrap()
}
