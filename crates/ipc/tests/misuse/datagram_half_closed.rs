// Datagrams have no end to announce.

use zorb_ipc::ConnectedUdpSocket;

fn wrong(socket: &ConnectedUdpSocket) {
    socket.shutdown_send();
}

fn main() {}
