// Generic code is given what makes no connections.

use zorb_ipc::{StreamTransport, UnixDatagram};

fn serve<T: StreamTransport>() {}

fn wrong() {
    serve::<UnixDatagram>();
}

fn main() {}
