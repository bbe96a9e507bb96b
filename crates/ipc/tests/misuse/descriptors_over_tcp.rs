// Descriptors stay on the machine.

use std::os::fd::BorrowedFd;
use std::time::Instant;
use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream, file: BorrowedFd<'_>, deadline: Instant) {
    stream.send_passing(b"x", &[file], deadline);
}

fn main() {}
