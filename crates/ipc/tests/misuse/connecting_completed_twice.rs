// A connection under way becomes a stream once.

use std::time::Instant;
use zorb_ipc::{Connecting, Error, Tcp};

fn wrong(connecting: Connecting<Tcp>, deadline: Instant) -> Result<(), Error> {
    connecting.complete_now()?;
    connecting.complete_by(deadline)?;
    Ok(())
}

fn main() {}
