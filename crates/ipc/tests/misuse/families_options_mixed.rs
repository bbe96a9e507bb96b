// Unix sockets have no ports to use again.

use zorb_ipc::{AcceptorOptions, Unix};

fn wrong() -> AcceptorOptions<Unix> {
    AcceptorOptions::<Unix>::new().reuse_address(true)
}

fn main() {}
