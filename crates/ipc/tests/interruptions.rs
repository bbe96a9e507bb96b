//! Signals: a vanished reader kills nobody where the system can help it, and an interrupted wait goes on.
//! Alone in its process, whose signal dispositions it changes.

#[allow(dead_code, reason = "calls that end by themselves are for other files")]
#[path = "conformance/interruptions.rs"]
mod interruptions;
mod left_out;

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use zorb_ipc::{EventCounter, Fifo, PrivateFutex, SpliceStream, Timer, Waited, pipe};

use interruptions::{interrupted, interrupting_handler};
use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

fn waits_go_on() {
    let deadline = Instant::now() + LONG;
    let (reader, writer) = pipe().unwrap();
    let reader = Arc::new(reader);
    let receiving = Arc::clone(&reader);
    let received = interrupted(
        move || {
            let mut text = [0; 4];
            receiving.receive_exact(&mut text, deadline).unwrap();
            text
        },
        || assert_eq!(writer.send_now(&[IoSlice::new(b"text")]).unwrap(), 4),
    );
    assert_eq!(&received, b"text");
    let writer = interrupted(
        move || {
            writer.send_all(&mut [IoSlice::new(&vec![1; 1 << 20])], deadline).unwrap();
            writer
        },
        || reader.receive_exact(&mut vec![0; 1 << 20], deadline).unwrap(),
    );
    let stream = {
        let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
        let one = zorb_ipc::UnixStream::adopt(one.into()).unwrap();
        (SpliceStream::of(one).unwrap(), zorb_ipc::UnixStream::adopt(other.into()).unwrap())
    };
    let (inner, outer) = stream;
    let moved = interrupted(
        move || writer.splice_from_stream(&inner, 100, deadline).unwrap(),
        || assert_eq!(outer.send(&[IoSlice::new(b"abc")]).unwrap(), 3),
    );
    assert_eq!(moved, 3);

    let path = std::env::temp_dir().join(format!("zorb-ipc-interrupted-{}", std::process::id()));
    let fifo = Arc::new(Fifo::create(path, 0o600).unwrap());
    let opening = Arc::clone(&fifo);
    let mut reader = None;
    interrupted(move || opening.writer_by(deadline).unwrap(), || reader = Some(fifo.reader().unwrap()));

    let counter = Arc::new(EventCounter::new(0).unwrap());
    let taking = Arc::clone(&counter);
    let taken = interrupted(move || taking.take_by(deadline).unwrap(), || counter.add_now(7).unwrap());
    assert_eq!(taken, 7);
    let timer = Arc::new(Timer::new().unwrap());
    let waiting = Arc::clone(&timer);
    let fire = || timer.fire_after(Duration::ZERO).unwrap();
    assert_eq!(interrupted(move || waiting.expirations_by(deadline).unwrap(), fire), 1);

    static WORD: AtomicU32 = AtomicU32::new(0);
    let futex = PrivateFutex::of(&WORD);
    let waited = interrupted(
        move || futex.wait_by(0, deadline).unwrap(),
        || {
            WORD.store(1, SeqCst);
            futex.wake_all().unwrap();
        },
    );
    // If the last interruption is being served when the word changes it finds another value.
    assert!([Waited::Woken, Waited::Different].contains(&waited));
}

/// Whether this kernel has a flag against `SIGPIPE` for pipes, which came with Linux 6.18.
fn has_flag_for_pipes() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 18)
}

fn a_vanished_reader_kills_nobody() {
    if !has_flag_for_pipes() {
        left_out("pipes without SIGPIPE", "before Linux 6.18 there is no flag for them");
        return;
    }
    // A Rust program ignores SIGPIPE from its start; a C program that calls into this crate does not.
    // SAFETY: restores the default disposition, which involves no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let one = [IoSlice::new(b"x")];
    let two = [IoSlice::new(b"x"), IoSlice::new(b"y")];
    assert!(writer.send_now(&one).unwrap_err().is_connection_reset());
    assert!(writer.send_now(&two).unwrap_err().is_connection_reset());
    let error = writer.send_all(&mut two.clone(), Instant::now() + LONG).unwrap_err();
    assert!(error.is_connection_reset(), "{error}");
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

#[test]
fn signals_neither_kill_nor_cut_short() {
    interrupting_handler();
    waits_go_on();
    a_vanished_reader_kills_nobody();
}
