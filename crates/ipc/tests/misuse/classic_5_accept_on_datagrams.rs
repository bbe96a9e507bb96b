// Classic error 5: a datagram socket accepts.

use zorb_ipc::UdpSocket;

fn wrong(socket: &UdpSocket) {
    socket.accept();
}

fn main() {}
