// A duration would begin anew with each part of a transfer; a deadline does not.

use std::time::Duration;
use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream, buffer: &mut [u8]) {
    stream.receive_exact(buffer, Duration::from_secs(5));
}

fn main() {}
