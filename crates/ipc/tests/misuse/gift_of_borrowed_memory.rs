// The kernel keeps pages that it is given: what is only borrowed cannot be given.

use std::time::Instant;
use zorb_ipc::PipeWriter;

fn wrong(pipe: &PipeWriter, octets: &[u8], deadline: Instant) {
    pipe.send_static(octets, deadline);
}

fn main() {}
