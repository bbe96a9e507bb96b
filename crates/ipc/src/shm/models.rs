//! Every interleaving, and every order that the memory model allows, of what ring and doorbell do: by loom, which runs
//! the code that ships on words of its own. Not part of the usual tests:
//!
//! ```text
//! RUSTFLAGS="--cfg zorb_loom" CARGO_PROFILE_RELEASE_LTO=off \
//!     cargo test -p zorb-ipc --lib --release --target-dir target/models shm::models
//! ```

#![allow(unsafe_code, reason = "cells that loom watches are reached through pointers")]

use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::doorbell::{self, ARMED, SLEEPING};
use super::ring::{Consumer, Producer};
use super::word::word;

mod slabs;

word!(AtomicU32, loom::sync::atomic::fence);

/// Tries all interleavings in which a thread is stopped against its will at most three times, which is where faults of
/// such protocols are found; without a bound it would take hours.
fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

/// The kernel's part: who waits looks at the word and joins the queue as one step.
struct Kernel {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Kernel {
    fn new() -> Self {
        Self { queue: Mutex::new(()), woken: Condvar::new() }
    }

    fn wait(&self, word: &AtomicU32, value: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Relaxed) == value {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    fn wake_all(&self) {
        drop(self.queue.lock().unwrap());
        self.woken.notify_all();
    }
}

/// What a socket does for doorbells: it keeps an octet until it is drained.
struct Socket {
    octet: Mutex<bool>,
    readable: Condvar,
}

impl Socket {
    fn new() -> Self {
        Self { octet: Mutex::new(false), readable: Condvar::new() }
    }

    fn send(&self) {
        *self.octet.lock().unwrap() = true;
        self.readable.notify_all();
    }

    fn drain(&self) {
        *self.octet.lock().unwrap() = false;
    }

    fn wait(&self) {
        let mut octet = self.octet.lock().unwrap();
        while !*octet {
            octet = self.readable.wait(octet).unwrap();
        }
    }
}

/// A ring of cells, which loom watches for accesses that race.
struct Lane {
    head: AtomicU32,
    tail: AtomicU32,
    ended: AtomicU32,
    data: AtomicU32,
    room: AtomicU32,
    data_sleepers: AtomicU32,
    room_sleepers: AtomicU32,
    cells: Vec<UnsafeCell<u32>>,
    data_kernel: Kernel,
    room_kernel: Kernel,
    socket: Socket,
}

// SAFETY: a cell's value is a number, which any thread may have.
unsafe impl Send for Lane {}
// SAFETY: each cell is accessed by one side at a time, which is what loom checks.
unsafe impl Sync for Lane {}

impl Lane {
    fn new(capacity: usize) -> Arc<Self> {
        let zero = || AtomicU32::new(0);
        Arc::new(Self {
            head: zero(),
            tail: zero(),
            ended: zero(),
            data: zero(),
            room: zero(),
            data_sleepers: zero(),
            room_sleepers: zero(),
            cells: (0..capacity).map(|_| UnsafeCell::new(0)).collect(),
            data_kernel: Kernel::new(),
            room_kernel: Kernel::new(),
            socket: Socket::new(),
        })
    }

    fn capacity(&self) -> u32 {
        self.cells.len() as u32
    }

    fn put(&self, producer: &mut Producer, value: u32) {
        // SAFETY: the place is the producer's until it is published; loom ends the test if anybody else is there.
        self.cells[producer.place()].with_mut(|cell| unsafe { *cell = value });
        producer.publish(&self.head, 1);
        self.ring_data();
    }

    fn take(&self, consumer: &mut Consumer) -> u32 {
        // SAFETY: the place is the consumer's until it is consumed; loom ends the test if anybody else is there.
        let value = self.cells[consumer.place()].with(|cell| unsafe { *cell });
        consumer.consume(&self.tail, 1);
        if doorbell::ring(&self.room) & SLEEPING != 0 {
            self.room_kernel.wake_all();
        }
        value
    }

    fn ring_data(&self) {
        let waiting = doorbell::ring(&self.data);
        if waiting & SLEEPING != 0 {
            self.data_kernel.wake_all();
        }
        if waiting & ARMED != 0 {
            self.socket.send();
        }
    }

    /// As a thread that receives waits; false at the end.
    fn sleep_for_data(&self, consumer: &mut Consumer) -> bool {
        loop {
            let ended = self.ended.load(Acquire) != 0;
            if consumer.available(&self.head, 1).unwrap() > 0 {
                return true;
            }
            if ended {
                return false;
            }
            let seen = consumer.seen();
            doorbell::sleep(
                &self.data,
                &self.data_sleepers,
                || self.head.load(Relaxed) != seen || self.ended.load(Relaxed) != 0,
                |value| self.data_kernel.wait(&self.data, value),
                || self.data_kernel.wake_all(),
            );
        }
    }

    fn sleep_for_room(&self, producer: &mut Producer) {
        while producer.room(&self.tail, 1).unwrap() == 0 {
            let seen = producer.seen();
            doorbell::sleep(
                &self.room,
                &self.room_sleepers,
                || self.tail.load(Relaxed) != seen,
                |value| self.room_kernel.wait(&self.room, value),
                || self.room_kernel.wake_all(),
            );
        }
    }
}

#[test]
fn what_is_put_in_comes_out_and_no_access_races() {
    model(|| {
        let lane = Lane::new(2);
        let other = Arc::clone(&lane);
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(other.capacity());
            for value in 1..=3 {
                while producer.room(&other.tail, 1).unwrap() == 0 {
                    thread::yield_now();
                }
                other.put(&mut producer, value);
            }
        });
        let mut consumer = Consumer::new(lane.capacity());
        for value in 1..=3 {
            while consumer.available(&lane.head, 1).unwrap() == 0 {
                thread::yield_now();
            }
            assert_eq!(lane.take(&mut consumer), value);
        }
        producing.join().unwrap();
    });
}

#[test]
fn who_sleeps_for_octets_is_woken() {
    model(|| {
        let lane = Lane::new(2);
        let other = Arc::clone(&lane);
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(2);
            other.put(&mut producer, 1);
            other.put(&mut producer, 2);
        });
        let mut consumer = Consumer::new(2);
        for value in 1..=2 {
            assert!(lane.sleep_for_data(&mut consumer));
            assert_eq!(lane.take(&mut consumer), value);
        }
        producing.join().unwrap();
    });
}

#[test]
fn both_sides_sleep_and_wake_each_other() {
    model(|| {
        let lane = Lane::new(1);
        let other = Arc::clone(&lane);
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(1);
            for value in 1..=2 {
                other.sleep_for_room(&mut producer);
                other.put(&mut producer, value);
            }
        });
        let mut consumer = Consumer::new(1);
        for value in 1..=2 {
            assert!(lane.sleep_for_data(&mut consumer));
            assert_eq!(lane.take(&mut consumer), value);
        }
        producing.join().unwrap();
    });
}

#[test]
fn an_end_wakes_who_sleeps_and_comes_after_what_was_sent() {
    model(|| {
        let lane = Lane::new(2);
        let other = Arc::clone(&lane);
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(2);
            other.put(&mut producer, 7);
            other.ended.store(1, Release);
            other.ring_data();
        });
        let mut consumer = Consumer::new(2);
        assert!(lane.sleep_for_data(&mut consumer));
        assert_eq!(lane.take(&mut consumer), 7);
        assert!(!lane.sleep_for_data(&mut consumer));
        producing.join().unwrap();
    });
}

#[test]
fn who_is_armed_finds_an_octet_in_the_socket() {
    model(|| {
        let lane = Lane::new(2);
        let other = Arc::clone(&lane);
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(2);
            other.put(&mut producer, 1);
            other.put(&mut producer, 2);
        });
        let mut consumer = Consumer::new(2);
        let mut taken = 0;
        while taken < 2 {
            lane.socket.drain();
            if consumer.available(&lane.head, 1).unwrap() == 0 {
                let seen = consumer.seen();
                if doorbell::arm(&lane.data, || lane.head.load(Relaxed) != seen) {
                    lane.socket.wait();
                }
                continue;
            }
            taken += 1;
            assert_eq!(lane.take(&mut consumer), taken);
        }
        producing.join().unwrap();
    });
}

/// Who does not wait as long as it takes, and clears the bit of both when it leaves.
#[test]
fn a_sleeper_that_gives_up_does_not_take_anothers_wake_up_away() {
    model(|| {
        let lane = Lane::new(2);
        let (gives_up, puts) = (Arc::clone(&lane), Arc::clone(&lane));
        let giving_up = thread::spawn(move || {
            // Its time is over at once.
            doorbell::sleep(
                &gives_up.data,
                &gives_up.data_sleepers,
                || false,
                |_value| (),
                || gives_up.data_kernel.wake_all(),
            );
        });
        let producing = thread::spawn(move || {
            let mut producer = Producer::new(2);
            puts.put(&mut producer, 5);
        });
        let mut consumer = Consumer::new(2);
        assert!(lane.sleep_for_data(&mut consumer));
        assert_eq!(lane.take(&mut consumer), 5);
        giving_up.join().unwrap();
        producing.join().unwrap();
    });
}
