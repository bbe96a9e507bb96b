//! Octets that the kernel moves between descriptors, or takes and puts at a place of a file.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use super::resumed;

#[inline]
pub(crate) fn send_file(to: BorrowedFd<'_>, from: BorrowedFd<'_>, at: &mut u64, octets: usize) -> usize {
    // SAFETY: the offset is ours, and as large as the call takes it for.
    resumed(|| unsafe { libc::sendfile(to.as_raw_fd(), from.as_raw_fd(), ptr::from_mut(at).cast(), octets) })
}

#[inline]
pub(crate) fn splice(from: BorrowedFd<'_>, to: BorrowedFd<'_>, octets: usize) -> usize {
    let (none, flags) = (ptr::null_mut(), libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_MOVE);
    // SAFETY: no memory is named.
    resumed(|| unsafe { libc::splice(from.as_raw_fd(), none, to.as_raw_fd(), none, octets, flags) })
}

/// Between a file's place and a pipe, either way round.
#[inline]
pub(crate) fn splice_at(
    from: BorrowedFd<'_>,
    from_at: Option<&mut u64>,
    to: BorrowedFd<'_>,
    to_at: Option<&mut u64>,
    octets: usize,
) -> usize {
    let place = |at: Option<&mut u64>| at.map_or(ptr::null_mut(), |at| ptr::from_mut(at).cast());
    let (from_at, to_at, flags) =
        (place(from_at), place(to_at), libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_MOVE);
    // SAFETY: the offsets are ours, and as large as the call takes them for.
    resumed(|| unsafe { libc::splice(from.as_raw_fd(), from_at, to.as_raw_fd(), to_at, octets, flags) })
}

#[inline]
pub(crate) fn tee(from: BorrowedFd<'_>, to: BorrowedFd<'_>, octets: usize) -> usize {
    // SAFETY: no memory is named.
    resumed(|| unsafe { libc::tee(from.as_raw_fd(), to.as_raw_fd(), octets, libc::SPLICE_F_NONBLOCK) })
}

/// Lends memory that never changes to a pipe.
#[inline]
pub(crate) fn lend(to: BorrowedFd<'_>, octets: &'static [u8]) -> usize {
    let part = libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() };
    // SAFETY: it is only read, and there for ever.
    resumed(|| unsafe { libc::vmsplice(to.as_raw_fd(), &part, 1, libc::SPLICE_F_NONBLOCK) })
}

/// Gives pages to a pipe, and up.
///
/// # Safety
/// The pages are mapped, and nobody's but the caller's, who does not touch them again.
#[inline]
pub(crate) unsafe fn gift(to: BorrowedFd<'_>, pages: *mut libc::c_void, octets: usize) {
    let part = libc::iovec { iov_base: pages, iov_len: octets };
    let flags = libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_GIFT;
    // SAFETY: the caller's promise: the memory is there.
    let taken = resumed(|| unsafe { libc::vmsplice(to.as_raw_fd(), &part, 1, flags) });
    assert!(taken == octets, "a pipe has room for a page");
    // SAFETY: the caller's promise: nobody has a pointer into it.
    assert_eq!(unsafe { libc::munmap(pages, octets) }, 0);
}

#[inline]
pub(crate) fn read_at(from: BorrowedFd<'_>, into: &mut [u8], at: u64) -> usize {
    // SAFETY: `into` is memory of that length, and ours alone.
    resumed(|| unsafe { libc::pread(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), at as _) })
}

#[inline]
pub(crate) fn write_at(to: BorrowedFd<'_>, octets: &[u8], at: u64) -> usize {
    // SAFETY: `octets` is memory of that length, which is only read.
    resumed(|| unsafe { libc::pwrite(to.as_raw_fd(), octets.as_ptr().cast(), octets.len(), at as _) })
}
