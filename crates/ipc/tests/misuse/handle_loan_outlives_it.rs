// A descriptor that was lent is not kept beyond its handle.

use std::os::fd::{AsFd, BorrowedFd};
use zorb_ipc::TcpStream;

fn wrong(stream: TcpStream) -> BorrowedFd<'static> {
    stream.as_fd()
}

fn main() {}
