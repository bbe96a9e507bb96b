// A handle closes its descriptor, so there is one of it.

use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream) -> TcpStream {
    stream.clone()
}

fn main() {}
