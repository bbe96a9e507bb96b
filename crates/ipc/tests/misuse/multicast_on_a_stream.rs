// A connection has one peer, and joins no group.

use zorb_ipc::{MulticastGroup, TcpStream};

fn wrong(stream: &TcpStream, group: MulticastGroup) {
    stream.join(group);
}

fn main() {}
