// Only what nobody can write any more becomes a slice.

use zorb_ipc::{Error, SealedBytes, SegmentOptions, SizedMemfd};

fn wrong(memory: SizedMemfd, options: &SegmentOptions) -> Result<SealedBytes, Error> {
    Ok(memory.map(options)?)
}

fn main() {}
