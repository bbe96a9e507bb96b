// Memory that may shrink under its readers is not mapped.

use zorb_ipc::{Memfd, SizedMemfd};

fn map(_: SizedMemfd) {}

fn wrong(memory: Memfd) {
    map(memory);
}

fn main() {}
