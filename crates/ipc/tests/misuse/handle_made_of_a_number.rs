// A number is adopted by nobody.

use zorb_ipc::TcpStream;

fn wrong() {
    TcpStream::adopt(3);
}

fn main() {}
