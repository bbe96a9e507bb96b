// The wall clock may be set while somebody waits.

use std::time::{Duration, SystemTime};
use zorb_ipc::PipeReader;

fn wrong(pipe: &PipeReader, buffer: &mut [u8]) {
    pipe.receive_by(buffer, SystemTime::now() + Duration::from_secs(5));
}

fn main() {}
