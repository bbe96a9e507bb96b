// A message is received whole; there is no count to fill.

use std::time::Instant;
use zorb_ipc::Seqpacket;

fn wrong(messages: &Seqpacket, buffer: &mut [u8], deadline: Instant) {
    messages.receive_exact(buffer, deadline);
}

fn main() {}
