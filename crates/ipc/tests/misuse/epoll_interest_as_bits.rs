// Bits of the kernel's are no interest.

use zorb_ipc::{Epoll, TcpStream, Trigger};

fn wrong(set: &Epoll, stream: &TcpStream) {
    set.add(stream, 1, 0x1 | 0x4, Trigger::Level);
}

fn main() {}
