// Nor have its octets in place.

use zorb_ipc::SealedBytes;

fn wrong(bytes: &mut SealedBytes) {
    bytes[0] = 1;
}

fn main() {}
