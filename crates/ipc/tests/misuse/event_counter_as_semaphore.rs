// A counter where a semaphore is wanted would be taken whole.

use zorb_ipc::{EventCounter, EventSemaphore};

fn workers(_: &EventSemaphore) {}

fn wrong(counter: &EventCounter) {
    workers(counter);
}

fn main() {}
