// A handle that became a descriptor is none any more.

use std::os::fd::OwnedFd;
use zorb_ipc::{Error, PipeReader};

fn wrong(pipe: PipeReader, buffer: &mut [u8]) -> Result<OwnedFd, Error> {
    let descriptor = pipe.into_descriptor()?;
    pipe.receive_now(buffer)?;
    Ok(descriptor)
}

fn main() {}
