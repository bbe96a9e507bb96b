// A semaphore is taken one by one: it gives no number.

use zorb_ipc::{Error, EventSemaphore};

fn wrong(semaphore: &EventSemaphore) -> Result<u64, Error> {
    semaphore.take_now()
}

fn main() {}
