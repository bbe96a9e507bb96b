// Connecting a socket takes the one that was not.

use std::net::SocketAddr;
use zorb_ipc::{Error, UdpSocket};

fn wrong(socket: UdpSocket, peer: SocketAddr, buffer: &mut [u8]) -> Result<(), Error> {
    socket.connect(peer)?;
    socket.receive_from(buffer)?;
    Ok(())
}

fn main() {}
