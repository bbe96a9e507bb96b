// Nor is memory sent that moves with its owner.

use zorb_ipc::ZeroCopyStream;

fn wrong(_: ZeroCopyStream<[u8; 64]>) {}

fn main() {}
