// Who waits privately is not woken by another process.

use zorb_ipc::{PrivateFutex, SharedFutex};

fn wrong(futex: PrivateFutex<'_>) -> SharedFutex<'_> {
    futex
}

fn main() {}
