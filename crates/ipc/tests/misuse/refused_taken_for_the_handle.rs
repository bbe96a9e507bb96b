// A handle that was refused comes with the reason, and is asked for.

use std::os::fd::OwnedFd;
use zorb_ipc::{TcpStream, UnixStream};

fn wrong(descriptor: OwnedFd) -> Option<UnixStream> {
    TcpStream::adopt(descriptor).err().and_then(|refused| UnixStream::adopt(refused).ok())
}

fn main() {}
