// Arming may find that there is something to do at once. Nothing is armed then, and nobody wakes who waits nevertheless.

#![deny(unused_must_use)]

use zorb_ipc::{Epoll, Error, Events, ShmStream};

fn wrong(stream: &ShmStream, set: &Epoll, events: &mut Events) -> Result<(), Error> {
    stream.arm()?;
    set.wait(events, None)?;
    Ok(())
}

fn main() {}
