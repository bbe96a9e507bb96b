// What the kernel alone decides is read only.

use zorb_ipc::{MaximumSegment, TcpStream};

fn wrong(stream: &TcpStream) {
    stream.set(MaximumSegment(1460));
}

fn main() {}
