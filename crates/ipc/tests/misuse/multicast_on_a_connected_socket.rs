// Nor does a connected datagram socket.

use zorb_ipc::{ConnectedUdpSocket, MulticastGroup};

fn wrong(socket: &ConnectedUdpSocket, group: MulticastGroup) {
    socket.join(group);
}

fn main() {}
