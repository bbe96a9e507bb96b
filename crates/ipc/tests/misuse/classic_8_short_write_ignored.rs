// Classic error 8: a write that took less than all is taken for a whole one. What may send less says how
// much, which is not thrown away unseen.

#![deny(unused_must_use)]

use std::io::IoSlice;
use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream, message: &[u8]) {
    stream.send(&[IoSlice::new(message)]);
}

fn main() {}
