// And it is not touched until it comes back.

use std::time::Instant;
use zorb_ipc::{Error, ZeroCopyStream};

fn wrong(stream: &mut ZeroCopyStream<Vec<u8>>, deadline: Instant) -> Result<(), Error> {
    let mut block = vec![0; 65_536];
    stream.send_all(block, deadline)?;
    block[0] = 1;
    Ok(())
}

fn main() {}
