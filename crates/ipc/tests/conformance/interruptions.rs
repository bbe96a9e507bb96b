//! Calls that signals interrupt again and again. For tests that are alone in their process, whose signal
//! dispositions they change.

use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Far beyond what any of this takes.
const LONG: Duration = Duration::from_secs(30);

static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: libc::c_int) {
    INTERRUPTIONS.fetch_add(1, SeqCst);
}

/// Installs a handler that does not ask for interrupted calls to be restarted.
pub(crate) fn interrupting_handler() {
    // SAFETY: a zeroed `sigaction` is one with an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as *const () as libc::sighandler_t;
    // SAFETY: the handler only counts in an atomic, which a signal handler may do; nothing is written.
    let done = unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) };
    assert_eq!(done, 0);
}

/// Interrupts a thread again and again, lets it finish by `meanwhile`, and gives what it found.
pub(crate) fn finish_interrupted<R>(thread: thread::JoinHandle<R>, meanwhile: impl FnOnce()) -> R {
    INTERRUPTIONS.store(0, SeqCst);
    interrupt_while(&thread, |finished| {
        assert!(!finished, "an interruption ended the call");
        INTERRUPTIONS.load(SeqCst) < 20
    });
    meanwhile();
    thread.join().unwrap()
}

/// Interrupts a thread again and again until it ends, and gives what it found.
pub(crate) fn interrupted_to_its_end<R>(thread: thread::JoinHandle<R>) -> R {
    interrupt_while(&thread, |finished| !finished);
    thread.join().unwrap()
}

/// Interrupts a thread as long as `more` says, which is told whether it has finished.
fn interrupt_while<R>(thread: &thread::JoinHandle<R>, mut more: impl FnMut(bool) -> bool) {
    let until = Instant::now() + LONG;
    while more(thread.is_finished()) {
        assert!(Instant::now() < until, "it never ends");
        // SAFETY: the thread has not been joined, so its handle is valid.
        unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGUSR1) };
        thread::sleep(Duration::from_millis(2));
    }
}

/// Lets a thread wait in `call`, interrupts it many times, then lets it go on by `release`.
pub(crate) fn interrupted<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
    release: impl FnOnce(),
) -> T {
    finish_interrupted(thread::spawn(call), release)
}
