// A function that wants the one end is given the other.

use zorb_ipc::{Error, pipe};

fn wrong() -> Result<(), Error> {
    let (reader, writer) = pipe()?;
    let give = |end: zorb_ipc::PipeReader| drop(end);
    give(writer);
    Ok(())
}

fn main() {}
