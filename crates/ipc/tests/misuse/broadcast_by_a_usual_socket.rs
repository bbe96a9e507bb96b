// Broadcasting is asked for: a socket for it is a type of its own.

use zorb_ipc::UdpSocket;

fn wrong(socket: &UdpSocket) {
    socket.set_broadcast(true);
}

fn main() {}
