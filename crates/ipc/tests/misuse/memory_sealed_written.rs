// Sealed memory has no call to write it.

use zorb_ipc::SealedMemfd;

fn wrong(memory: &SealedMemfd) {
    memory.write_at(b"hello", 0);
}

fn main() {}
