// That a call failed is not passed over in silence.

#![deny(unused_must_use)]

use zorb_ipc::{EventCounter, TcpStream};

fn wrong(stream: &TcpStream, counter: &EventCounter) {
    stream.shutdown_send();
    counter.add_now(1);
}

fn main() {}
