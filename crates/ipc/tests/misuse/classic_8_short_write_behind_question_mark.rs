// Classic error 8, behind a `?`: that there was no error does not mean that all of it has gone.

#![deny(unused_must_use)]

use std::io::IoSlice;
use zorb_ipc::{Error, TcpStream};

fn wrong(stream: &TcpStream, message: &[u8]) -> Result<(), Error> {
    stream.send(&[IoSlice::new(message)])?;
    Ok(())
}

fn main() {}
