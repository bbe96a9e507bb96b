// A number alone does not say which option it is.

use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream) {
    stream.set(65_536);
}

fn main() {}
