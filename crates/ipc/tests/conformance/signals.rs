//! Signals: a call that waits goes on when one has interrupted it. For a test that is alone in its process,
//! whose signal dispositions it changes.

use std::io::IoSlice;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::ByteStream;

use super::streams::{Tried, crowded, receive, send};
use super::{LONG, within};

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

/// Each call that waits, in turn.
pub(crate) fn do_not_cut_short<T: Tried>() {
    let acceptor = Arc::new(T::listen(T::fresh()).unwrap());
    let waiting = Arc::clone(&acceptor);
    let accepting = thread::spawn(move || T::accept_by(&waiting, within(LONG)).unwrap());
    let mut clients = Vec::new();
    let connect = || clients.push(T::connect(T::address(&acceptor), within(LONG)).unwrap());
    let server = Arc::new(finish_interrupted(accepting, connect));
    let client = clients.pop().unwrap();

    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receiver.receive_by(&mut [0; 4], within(LONG)).unwrap());
    assert_eq!(finish_interrupted(receiving, || send(&client, b"abc")), 3);

    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receive(&*receiver, 4));
    assert_eq!(finish_interrupted(receiving, || send(&client, b"abcd")), b"abcd");

    let receiver = Arc::clone(&server);
    let looking = thread::spawn(move || receiver.wait_readable(within(LONG)).unwrap());
    assert!(finish_interrupted(looking, || send(&client, b"x")));
    receive(&*server, 1);

    let sender = Arc::clone(&server);
    let octets = 16 << 20;
    let sending = thread::spawn(move || {
        sender.send_all(&mut [IoSlice::new(&vec![1; octets])], within(LONG)).unwrap();
    });
    finish_interrupted(sending, || drop(receive(&client, octets)));

    if !T::FULL_REFUSES {
        let (acceptor, queued) = crowded::<T>();
        let to = T::address(&acceptor);
        let connecting = thread::spawn(move || drop(T::connect(to, within(LONG)).unwrap()));
        finish_interrupted(connecting, || {
            for _ in 0..=queued.len() {
                T::accept_by(&acceptor, within(LONG)).unwrap();
            }
        });
    }
}
