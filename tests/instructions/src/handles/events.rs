//! Counters and semaphores of events.

use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{EventCounter, EventSemaphore};

use crate::stage::{after, before, kept, soon};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/event-add", event_add),
    ("ipc/by-event-add", event_add_by),
    ("libc/event-add", floors_event_add),
    ("ipc/event-take", event_take),
    ("ipc/by-event-take", event_take_by),
    ("libc/event-take", floors_event_take),
    ("ipc/semaphore-add", semaphore_add),
    ("ipc/semaphore-take", semaphore_take),
];

fn adds(counted: fn(&EventCounter)) -> Case {
    let counter = kept(EventCounter::new(0).expect("descriptors are left"));
    before(move || counted(counter), || assert_eq!(counter.take_now().expect("a number"), 7))
}

fn event_add() -> Case {
    adds(|counter| counter.add_now(7).expect("room"))
}

fn event_add_by() -> Case {
    adds(|counter| counter.add_by(7, soon_once()).expect("room"))
}

fn floors_event_add() -> Case {
    adds(|counter| {
        floor::write(counter.as_fd(), &7_u64.to_ne_bytes());
    })
}

fn takes(counted: fn(&EventCounter) -> u64) -> Case {
    let counter = kept(EventCounter::new(0).expect("descriptors are left"));
    after(|| counter.add_now(7).expect("room"), move || assert_eq!(counted(counter), 7))
}

fn event_take() -> Case {
    takes(|counter| counter.take_now().expect("a number"))
}

fn event_take_by() -> Case {
    takes(|counter| counter.take_by(soon_once()).expect("a number"))
}

fn floors_event_take() -> Case {
    takes(|counter| {
        let mut number = [0; 8];
        floor::read(counter.as_fd(), &mut number);
        u64::from_ne_bytes(number)
    })
}

/// One deadline for all: reading the clock is no part of the transfer.
fn soon_once() -> Instant {
    static SOON: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *SOON.get_or_init(soon)
}

fn semaphore_add() -> Case {
    let semaphore = kept(EventSemaphore::new(0).expect("descriptors are left"));
    before(|| semaphore.add_now(1).expect("room"), || semaphore.take_now().expect("one"))
}

fn semaphore_take() -> Case {
    let semaphore = kept(EventSemaphore::new(0).expect("descriptors are left"));
    after(|| semaphore.add_now(1).expect("room"), || semaphore.take_now().expect("one"))
}
