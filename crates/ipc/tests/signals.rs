//! Signals: a vanished peer kills nobody, and an interrupted call goes on. Alone in its process, whose signal
//! dispositions it changes.

use std::io::IoSlice;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use zorb_ipc::{AcceptorOptions, TcpAcceptor, TcpStream};

const LONG: Duration = Duration::from_secs(30);

static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: libc::c_int) {
    INTERRUPTIONS.fetch_add(1, SeqCst);
}

/// Installs a handler that does not ask for interrupted calls to be restarted.
fn interrupting_handler() {
    // SAFETY: the zeroed structure is a valid `sigaction` with an empty mask and no flags, and the handler
    // only counts in an atomic, which a signal handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
    }
}

/// Interrupts a thread again and again until it has ended.
fn finish_interrupted<T>(thread: thread::JoinHandle<T>, meanwhile: impl FnOnce()) -> T {
    let handle = thread.as_pthread_t();
    let until = Instant::now() + LONG;
    while INTERRUPTIONS.load(SeqCst) < 20 {
        assert!(Instant::now() < until);
        assert!(!thread.is_finished(), "an interruption ended the call");
        // SAFETY: the thread has not been joined, so its handle is valid.
        unsafe { libc::pthread_kill(handle, libc::SIGUSR1) };
        thread::sleep(Duration::from_millis(2));
    }
    meanwhile();
    INTERRUPTIONS.store(0, SeqCst);
    thread.join().unwrap()
}

#[test]
fn signals_neither_kill_nor_cut_short() {
    let deadline = Instant::now() + LONG;
    let acceptor =
        Arc::new(TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap());
    let to = acceptor.local_address();

    // A Rust program ignores SIGPIPE from its start; a C program that calls into this crate does not.
    // SAFETY: restores the default disposition, which involves no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    interrupting_handler();

    // Accepting.
    let waiting = Arc::clone(&acceptor);
    let mut clients = Vec::new();
    let accepting = thread::spawn(move || waiting.accept_by(deadline).unwrap());
    let server = finish_interrupted(accepting, || clients.push(TcpStream::connect(to, deadline).unwrap()));

    // Receiving, by timeout and by deadline.
    let server = Arc::new(server);
    server.set_receive_timeout(Some(LONG)).unwrap();
    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receiver.receive(&mut [0; 4]).unwrap());
    let sent = || assert_eq!(clients[0].send(&[IoSlice::new(b"abc")]).unwrap(), 3);
    assert_eq!(finish_interrupted(receiving, sent), 3);
    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || {
        let mut buffer = [0; 4];
        receiver.receive_exact(&mut buffer, deadline).unwrap();
        buffer
    });
    let sent = || assert_eq!(clients[0].send(&[IoSlice::new(b"abcd")]).unwrap(), 4);
    assert_eq!(&finish_interrupted(receiving, sent), b"abcd");

    // Sending more than fits.
    let sender = Arc::clone(&server);
    let octets = 16 << 20;
    let sending = thread::spawn(move || {
        sender.send_all(&mut [IoSlice::new(&vec![1; octets])], deadline).unwrap();
    });
    finish_interrupted(sending, || clients[0].receive_exact(&mut vec![0; octets], deadline).unwrap());

    // A peer that is gone: every way of sending says so, and the process lives.
    drop(clients);
    let mut failures = 0;
    while failures < 20 {
        assert!(Instant::now() < deadline);
        let one = [IoSlice::new(b"x")];
        let two = [IoSlice::new(b"x"), IoSlice::new(b"y")];
        for result in [server.send(&one), server.send(&two), server.send_now(&one), server.send_now(&two)] {
            if let Err(error) = result {
                assert!(error.is_connection_reset(), "{error}");
                failures += 1;
            }
        }
        if let Err(error) = server.send_all(&mut two.clone(), deadline) {
            assert!(error.is_connection_reset(), "{error}");
        }
    }
}
