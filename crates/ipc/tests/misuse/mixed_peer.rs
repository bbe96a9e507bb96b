// A stream over Unix sockets where one over TCP is wanted.

use zorb_ipc::{TcpStream, UnixStream};

fn wrong(stream: UnixStream) -> TcpStream {
    stream
}

fn main() {}
