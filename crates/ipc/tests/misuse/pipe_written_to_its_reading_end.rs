// And the other way round.

use std::io::IoSlice;
use zorb_ipc::PipeReader;

fn wrong(pipe: &PipeReader) {
    pipe.send_now(&[IoSlice::new(b"hello")]);
}

fn main() {}
