// Sealing takes the handle that could write.

use zorb_ipc::{Error, Memfd};

fn wrong(memory: Memfd) -> Result<(), Error> {
    memory.seal()?;
    memory.write_at(b"too late", 0)
}

fn main() {}
