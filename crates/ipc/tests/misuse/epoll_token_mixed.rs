// A token is the number that was given; an event's descriptor is not in it.

use std::time::Instant;
use zorb_ipc::{Epoll, Error, Events, TcpStream};

fn wrong(set: &Epoll, stream: &TcpStream, events: &mut Events, deadline: Instant) -> Result<(), Error> {
    set.wait_by(events, deadline)?;
    for event in events.iter() {
        if event.token == stream {}
    }
    Ok(())
}

fn main() {}
