//! What `control.rs` does on Linux, as far as other systems need it: receiving into several slices.

use std::io::IoSliceMut;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};

use crate::ready::resumed;

/// Receives into several slices, one after the other. What may come beside the octets the kernel keeps from us. One
/// system call, unless a signal interrupts it.
#[inline]
pub(crate) fn receive_scattered(
    fd: BorrowedFd<'_>,
    into: &mut [IoSliceMut<'_>],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    let mut nothing = RecvAncillaryBuffer::default();
    resumed(|| recvmsg(fd, into, &mut nothing, flags)).map(|message| message.bytes)
}
