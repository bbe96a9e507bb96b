// A connection under way is none yet: `complete_by` yields it.

use std::net::SocketAddr;
use zorb_ipc::{Error, TcpConnector};

fn wrong(connector: &TcpConnector, address: SocketAddr, buffer: &mut [u8]) -> Result<usize, Error> {
    connector.begin(address)?.receive_now(buffer)
}

fn main() {}
