// A datagram comes with its sender and its whole length: none of it is just a count of octets.

use zorb_ipc::{Error, UdpSocket};

fn wrong(socket: &UdpSocket, buffer: &mut [u8]) -> Result<usize, Error> {
    socket.receive_from(buffer)
}

fn main() {}
