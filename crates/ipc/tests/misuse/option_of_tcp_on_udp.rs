// A datagram is never held back.

use zorb_ipc::{Cork, UdpSocket};

fn wrong(socket: &UdpSocket) {
    socket.set(Cork(true));
}

fn main() {}
