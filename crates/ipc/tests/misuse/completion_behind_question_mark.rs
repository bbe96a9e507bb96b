// What became of a connection under way is the connection itself: overlooked behind a `?`, it is given up.

#![deny(unused_must_use)]

use zorb_ipc::{Connecting, Refused, Tcp};

fn wrong(connecting: Connecting<Tcp>) -> Result<(), Refused<Connecting<Tcp>>> {
    connecting.complete_now()?;
    Ok(())
}

fn main() {}
