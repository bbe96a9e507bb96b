// A connection yields no connections.

use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream) {
    stream.accept();
}

fn main() {}
