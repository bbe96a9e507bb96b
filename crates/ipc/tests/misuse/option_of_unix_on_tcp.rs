// Over a network nobody vouches for a sender.

use zorb_ipc::{ReceiveCredentials, TcpStream};

fn wrong(stream: &TcpStream) {
    stream.set(ReceiveCredentials(true));
}

fn main() {}
