// Classic error 1: the length that a call is told is not set. A buffer brings its length, and is
// initialised.

use zorb_ipc::{Error, TcpStream};

fn wrong(stream: &TcpStream) -> Result<usize, Error> {
    let mut buffer: [u8; 16];
    stream.receive(&mut buffer)
}

fn main() {}
