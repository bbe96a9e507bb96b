// Classic error 3: an address of one family goes to a socket of another.

use std::time::Instant;
use zorb_ipc::{TcpStream, UnixAddress};

fn wrong(address: UnixAddress, deadline: Instant) {
    TcpStream::connect(address, deadline);
}

fn main() {}
