// A host name may have many addresses: it is resolved by a call that says so, not on the side.

use std::time::Instant;
use zorb_ipc::TcpStream;

fn wrong(deadline: Instant) {
    TcpStream::connect("localhost:2809", deadline);
}

fn main() {}
