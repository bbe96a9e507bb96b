// Connecting says until when it may take.

use std::net::SocketAddr;
use zorb_ipc::TcpStream;

fn wrong(address: SocketAddr) {
    TcpStream::connect(address);
}

fn main() {}
