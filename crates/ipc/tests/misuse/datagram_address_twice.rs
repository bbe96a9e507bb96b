// A connected socket has its peer, and takes no other.

use std::io::IoSlice;
use std::net::SocketAddr;
use zorb_ipc::ConnectedUdpSocket;

fn wrong(socket: &ConnectedUdpSocket, to: SocketAddr) {
    socket.send_to(&[IoSlice::new(b"hello")], &to);
}

fn main() {}
