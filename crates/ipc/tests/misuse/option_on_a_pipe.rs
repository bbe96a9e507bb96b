// A pipe is no socket.

use zorb_ipc::{PipeWriter, SendQueue};

fn wrong(pipe: &PipeWriter) {
    pipe.set(SendQueue(65_536));
}

fn main() {}
