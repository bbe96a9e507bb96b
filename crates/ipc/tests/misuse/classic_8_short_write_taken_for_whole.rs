// Classic error 8, once more: how much was sent is no yes.

use std::io::IoSlice;
use zorb_ipc::{Error, TcpStream};

fn wrong(stream: &TcpStream, message: &[u8]) -> Result<(), Error> {
    stream.send(&[IoSlice::new(message)])
}

fn main() {}
