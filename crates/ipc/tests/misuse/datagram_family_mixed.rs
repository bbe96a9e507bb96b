// A UDP socket sends to no path.

use std::io::IoSlice;
use zorb_ipc::{UdpSocket, UnixAddress};

fn wrong(socket: &UdpSocket, to: &UnixAddress) {
    socket.send_to(&[IoSlice::new(b"hello")], to);
}

fn main() {}
