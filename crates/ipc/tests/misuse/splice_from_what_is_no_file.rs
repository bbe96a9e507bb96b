// An acceptor has no octets at offsets.

use std::time::Instant;
use zorb_ipc::{PipeWriter, TcpAcceptor};

fn wrong(pipe: &PipeWriter, acceptor: &TcpAcceptor, deadline: Instant) {
    let mut at = 0;
    pipe.splice_from_file(acceptor, &mut at, 4096, deadline);
}

fn main() {}
