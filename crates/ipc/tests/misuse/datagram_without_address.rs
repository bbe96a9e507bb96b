// A socket that is not connected has nobody to send to.

use std::io::IoSlice;
use zorb_ipc::UdpSocket;

fn wrong(socket: &UdpSocket) {
    socket.send(&[IoSlice::new(b"hello")]);
}

fn main() {}
