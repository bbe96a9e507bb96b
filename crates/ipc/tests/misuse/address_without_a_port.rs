// A host alone is no place to connect to.

use std::net::IpAddr;
use std::time::Instant;
use zorb_ipc::TcpStream;

fn wrong(host: IpAddr, deadline: Instant) {
    TcpStream::connect(host, deadline);
}

fn main() {}
