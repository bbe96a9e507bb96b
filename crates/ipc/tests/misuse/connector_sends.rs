// A connector holds how to connect, and no connection.

use std::io::IoSlice;
use zorb_ipc::TcpConnector;

fn wrong(connector: &TcpConnector) {
    connector.send(&[IoSlice::new(b"hello")]);
}

fn main() {}
