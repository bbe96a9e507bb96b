// A datagram is whole or cut: there is no rest to wait for.

use std::time::Instant;
use zorb_ipc::ConnectedUdpSocket;

fn wrong(socket: &ConnectedUdpSocket, buffer: &mut [u8], deadline: Instant) {
    socket.receive_exact(buffer, deadline);
}

fn main() {}
