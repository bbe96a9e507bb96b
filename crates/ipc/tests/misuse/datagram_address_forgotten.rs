// To whom is an argument of every call.

use std::io::IoSlice;
use zorb_ipc::UdpSocket;

fn wrong(socket: &UdpSocket) {
    socket.send_to(&[IoSlice::new(b"hello")]);
}

fn main() {}
