// Room for addresses of one family is no room for those of another.

use zorb_ipc::{ReceiveBatch, UdpSocket, UnixDatagram};

fn wrong(socket: &UdpSocket, batch: &mut ReceiveBatch<UnixDatagram>) {
    socket.receive_many(batch);
}

fn main() {}
