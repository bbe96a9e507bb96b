// Descriptors that came are owned by what says so: overlooked behind a `?`, they are closed.

#![deny(unused_must_use)]

use std::time::Instant;
use zorb_ipc::{Error, UnixStream};

fn wrong(stream: &UnixStream, kind: &mut [u8], deadline: Instant) -> Result<(), Error> {
    stream.receive_passed(kind, deadline)?;
    Ok(())
}

fn main() {}
