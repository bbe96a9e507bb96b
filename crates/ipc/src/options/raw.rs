//! Options that rustix has no call for, as octets (getsockopt(2), setsockopt(2)).

#![allow(unsafe_code, reason = "getsockopt(2) and setsockopt(2) take memory by pointers")]

use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{c_int, socklen_t};
use rustix::io::Errno;

use crate::control::last_errno;
use crate::counts;

/// Reads as much of an option as there is room for: how many octets that is.
pub(crate) fn read(fd: BorrowedFd<'_>, level: c_int, name: c_int, into: &mut [u8]) -> Result<usize, Errno> {
    let mut length = socklen_t::try_from(into.len()).map_err(|_| Errno::INVAL)?;
    counts::enter();
    // SAFETY: the kernel writes at most `length` octets into `into`, which has as many, and how many into
    // `length`.
    let done =
        unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, into.as_mut_ptr().cast(), &mut length) };
    if done == 0 { Ok(into.len().min(length as usize)) } else { Err(last_errno()) }
}

/// Sets an option that is a C `int`.
pub(crate) fn set_int(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: c_int) -> Result<(), Errno> {
    set(fd, level, name, &value.to_ne_bytes())
}

/// Sets an option to these octets.
pub(crate) fn set(fd: BorrowedFd<'_>, level: c_int, name: c_int, octets: &[u8]) -> Result<(), Errno> {
    let length = socklen_t::try_from(octets.len()).map_err(|_| Errno::INVAL)?;
    counts::enter();
    // SAFETY: the kernel reads `length` octets from `octets`, which has as many, and nothing after the call.
    let done = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, octets.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Reads an option that is a C `int`.
pub(crate) fn int(fd: BorrowedFd<'_>, level: c_int, name: c_int) -> Result<c_int, Errno> {
    let mut octets = [0; size_of::<c_int>()];
    read(fd, level, name, &mut octets)?;
    Ok(c_int::from_ne_bytes(octets))
}
