// An address as text may be of any family: which it is is looked at first.

use std::time::Instant;
use zorb_ipc::{Address, TcpStream};

fn wrong(address: Address, deadline: Instant) {
    TcpStream::connect(address, deadline);
}

fn main() {}
