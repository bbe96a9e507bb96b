// No word outlives the memory it is in.

use std::sync::atomic::AtomicU32;
use zorb_ipc::{Error, Segment, SegmentOptions};

fn wrong() -> Result<&'static AtomicU32, Error> {
    let segment = Segment::create("words", 4096, &SegmentOptions::new().words32(0..4))?;
    segment.word32(0)
}

fn main() {}
