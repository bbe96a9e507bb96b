// A stream is connected from the moment it exists.

use zorb_ipc::TcpStream;

fn wrong() {
    TcpStream::new();
}

fn main() {}
