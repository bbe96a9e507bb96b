// A stream that blocks would splice beyond the deadline: it is made a `SpliceStream` first.

use std::time::Instant;
use zorb_ipc::{PipeReader, TcpStream};

fn wrong(pipe: &PipeReader, stream: &TcpStream, deadline: Instant) {
    pipe.splice_to_stream(stream, 4096, deadline);
}

fn main() {}
