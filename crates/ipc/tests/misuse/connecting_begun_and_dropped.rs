// A connection that was begun goes on as long as somebody has it: overlooked behind a `?`, it is given up.

#![deny(unused_must_use)]

use std::net::SocketAddr;
use zorb_ipc::{Error, TcpConnector};

fn wrong(connector: &TcpConnector, address: SocketAddr) -> Result<(), Error> {
    connector.begin(address)?;
    Ok(())
}

fn main() {}
