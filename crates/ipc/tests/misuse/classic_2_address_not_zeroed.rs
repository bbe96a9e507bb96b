// Classic error 2: an address is used of which a part was never set. All of an address is given when it is
// made.

use zorb_ipc::{UnixAddress, VsockAddress, VsockStream};

fn wrong(deadline: std::time::Instant) {
    VsockStream::connect(VsockAddress { context: 2 }, deadline);
    UnixAddress::default();
}

fn main() {}
