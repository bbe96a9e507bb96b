// What was lent cannot be taken for good.

use std::os::fd::BorrowedFd;
use zorb_ipc::UdpSocket;

fn wrong(descriptor: BorrowedFd<'_>) {
    UdpSocket::adopt(descriptor);
}

fn main() {}
