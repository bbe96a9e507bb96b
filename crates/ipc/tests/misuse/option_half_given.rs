// Keep-alive is all of its three figures, or none.

use std::time::Duration;
use zorb_ipc::{KeepAlive, Probes, TcpStream};

fn wrong(stream: &TcpStream) {
    stream.set(KeepAlive(Some(Probes { idle: Duration::from_secs(60) })));
}

fn main() {}
