// What to be told about and how often are not each other.

use zorb_ipc::{Epoll, Interest, TcpStream, Trigger};

fn wrong(set: &Epoll, stream: &TcpStream) {
    set.add(stream, 1, Trigger::Edge, Interest::RECEIVE);
}

fn main() {}
