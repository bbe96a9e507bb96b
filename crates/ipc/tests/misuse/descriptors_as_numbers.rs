// A number is no descriptor: it may be closed, or be another file by now.

use std::time::Instant;
use zorb_ipc::UnixStream;

fn wrong(stream: &UnixStream, deadline: Instant) {
    stream.send_passing(b"x", &[3], deadline);
}

fn main() {}
