// Without copying only memory is sent that is handed over.

use std::time::Instant;
use zorb_ipc::ZeroCopyStream;

fn wrong(stream: &mut ZeroCopyStream<&'static [u8]>, deadline: Instant) {
    let block = [0; 65_536];
    stream.send_all(&block, deadline);
}

fn main() {}
