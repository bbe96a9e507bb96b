// Unix sockets copy in any case: there is no such stream over them.

use zorb_ipc::{Error, UnixStream, ZeroCopyStream};

fn wrong(stream: UnixStream) -> Result<ZeroCopyStream<Vec<u8>>, Error> {
    Ok(ZeroCopyStream::new(stream)?)
}

fn main() {}
