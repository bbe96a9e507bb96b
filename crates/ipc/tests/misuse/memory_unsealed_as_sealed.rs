// Memory that others may still write is not sealed.

use zorb_ipc::{Memfd, SealedMemfd};

fn trust(_: &SealedMemfd) {}

fn wrong(memory: &Memfd) {
    trust(memory);
}

fn main() {}
