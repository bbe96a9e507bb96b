// Between two streams there has to be a pipe.

use std::time::Instant;
use zorb_ipc::{SpliceStream, Tcp};

fn wrong(from: &SpliceStream<Tcp>, to: &SpliceStream<Tcp>, deadline: Instant) {
    from.splice_to_stream(to, 4096, deadline);
}

fn main() {}
