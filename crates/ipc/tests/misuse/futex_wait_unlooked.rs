// A wait ends when somebody wakes it, and also when time is up or for nothing.

#![deny(unused_must_use)]

use std::time::Instant;
use zorb_ipc::{Error, PrivateFutex};

fn wrong(futex: PrivateFutex<'_>, deadline: Instant) -> Result<(), Error> {
    futex.wait_by(0, deadline)?;
    Ok(())
}

fn main() {}
