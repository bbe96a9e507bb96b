//! Waiting on words, between threads and between processes.

use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{Futex, FutexScope, PrivateFutex, Segment, SegmentOptions, SharedFutex, Waited};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

/// Wakes until so many have been woken in all: waiters come when they come.
fn wake_until<S: FutexScope + Copy>(futex: Futex<'_, S>, count: usize) {
    let until = soon();
    let mut woken = 0;
    while woken < count {
        assert!(Instant::now() < until, "{woken} of {count} were waiting");
        woken += futex.wake_all().unwrap();
        thread::yield_now();
    }
    assert_eq!(woken, count);
}

fn each_end_of_a_wait_is_told<S: FutexScope + Copy + Send + Sync>() {
    let word = AtomicU32::new(1);
    let futex = Futex::<S>::of(&word);
    assert_eq!(futex.word().load(Relaxed), 1);

    assert_eq!(futex.wait_by(2, soon()).unwrap(), Waited::Different);
    let begun = Instant::now();
    assert_eq!(futex.wait_by(1, begun + SHORT).unwrap(), Waited::OutOfTime);
    assert!(begun.elapsed() >= SHORT);
    assert_eq!(futex.wait_by(1, begun).unwrap(), Waited::OutOfTime, "a deadline in the past");

    assert_eq!(futex.wake_all().unwrap(), 0);
    assert!(!futex.wake_one().unwrap());
    thread::scope(|scope| {
        // The word changes before the waker finds anybody, who therefore comes too late or is woken.
        let waiting = scope.spawn(|| futex.wait_by(1, soon()).unwrap());
        thread::sleep(SHORT);
        word.store(2, Release);
        futex.wake_one().unwrap();
        assert!([Waited::Woken, Waited::Different].contains(&waiting.join().unwrap()));

        // It does not change.
        let waiting = scope.spawn(|| futex.wait_by(2, soon()).unwrap());
        wake_until(futex, 1);
        assert_eq!(waiting.join().unwrap(), Waited::Spurious);
    });
}

#[test]
fn each_end_of_a_private_wait_is_told() {
    each_end_of_a_wait_is_told::<zorb_ipc::Private>();
}

#[test]
fn each_end_of_a_shared_wait_is_told() {
    each_end_of_a_wait_is_told::<zorb_ipc::Shared>();
}

#[test]
fn as_many_are_woken_as_were_to_be() {
    let word = AtomicU32::new(0);
    let futex = PrivateFutex::of(&word);
    thread::scope(|scope| {
        let waiters = [(); 5].map(|()| scope.spawn(|| futex.wait_by(0, soon()).unwrap()));
        assert_eq!(futex.wake(0).unwrap(), 0);
        let until = soon();
        let mut woken = 0;
        while woken < 5 {
            assert!(Instant::now() < until);
            let now = futex.wake(2).unwrap();
            assert!(now <= 2);
            woken += now;
        }
        let waited = waiters.map(|waiter| waiter.join().unwrap());
        assert_eq!(waited, [Waited::Spurious; 5]);
    });
    assert_eq!(futex.wake_all().unwrap(), 0);
}

#[test]
fn a_word_of_a_segment_is_waited_on_through_any_mapping() {
    let options = SegmentOptions::new().words32(0..8);
    let ours = Segment::create("futex", 64, &options).unwrap();
    let sent = ours.memory().as_fd().try_clone_to_owned().unwrap();
    let theirs = Segment::adopt(sent, 64..=64, &options).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| ours.futex(4).unwrap().wait_by(0, soon()).unwrap());
        wake_until(theirs.futex(4).unwrap(), 1);
        assert_eq!(waiting.join().unwrap(), Waited::Spurious);
    });
    assert_eq!(theirs.futex(0).unwrap().wake_all().unwrap(), 0);
}

/// Counts up to this with the other process, each in turn.
const TURNS: u32 = 200;

fn take_turns(futex: SharedFutex<'_>, mine: u32) {
    let word = futex.word();
    let until = soon();
    loop {
        let turn = word.load(Acquire);
        if turn >= TURNS {
            return;
        }
        if turn % 2 == mine {
            word.store(turn + 1, Release);
            futex.wake_one().unwrap();
        } else {
            assert_ne!(futex.wait_by(turn, until).unwrap(), Waited::OutOfTime, "at {turn}");
        }
    }
}

#[test]
fn two_processes_wake_each_other_in_turn() {
    let options = SegmentOptions::new().words32(0..4);
    let segment = Segment::create("turns", 4096, &options).unwrap();
    // Its standard input is the memory.
    let memory = segment.memory().as_fd().try_clone_to_owned().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_other_process", "--ignored", "--nocapture"])
        .stdin(Stdio::from(memory))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    take_turns(segment.futex(0).unwrap(), 0);
    assert!(child.wait().unwrap().success());
    let mut farewell = [0; 8];
    segment.copy_out(100, &mut farewell).unwrap();
    assert_eq!(&farewell, b"farewell");
}

#[test]
#[ignore = "started by another test, with memory for its standard input"]
fn the_other_process() {
    let memory = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let options = SegmentOptions::new().words32(0..4);
    let segment = Segment::adopt(memory, 4096..=4096, &options).unwrap();
    segment.copy_in(100, b"farewell").unwrap();
    take_turns(segment.futex(0).unwrap(), 1);
}
