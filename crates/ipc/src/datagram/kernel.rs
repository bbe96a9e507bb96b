//! The few calls that rustix has no safe form of, and what they share.

#![allow(unsafe_code, reason = "socket options and addresses go to and come from the kernel by pointers")]
#![allow(clippy::unnecessary_cast, reason = "the types of lengths and flags differ between C libraries")]

use std::io;
use std::mem::zeroed;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{c_int, sockaddr_storage, socklen_t};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use crate::counts;

/// Octets that any address fits in.
pub(super) const ADDRESS_ROOM: socklen_t = size_of::<sockaddr_storage>() as socklen_t;

/// What the last call of the C library on this thread failed with.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Memory for an address.
pub(crate) fn no_address() -> sockaddr_storage {
    // SAFETY: it consists of integers, which may all be zero.
    unsafe { zeroed() }
}

/// An address of this length that the kernel has written; `None` if it wrote none.
pub(crate) fn read_address(storage: &sockaddr_storage, length: socklen_t) -> Option<SocketAddrAny> {
    if (length as usize) < size_of::<libc::sa_family_t>() || length > ADDRESS_ROOM {
        return None;
    }
    // SAFETY: so many octets are there, all of them initialised since the memory is born zeroed, and they
    // hold at least the family, by which whoever wants the address as one of a kind checks the rest.
    Some(unsafe { SocketAddrAny::read(ptr::from_ref(storage).cast(), length) })
}

/// An address without a port as the kernel takes it.
pub(crate) fn storage_of(ip: IpAddr) -> sockaddr_storage {
    let address = SocketAddrAny::from(SocketAddr::new(ip, 0));
    let mut storage = no_address();
    // SAFETY: an address is never longer than the memory for any, is initialised for its length, and the two
    // do not overlap.
    unsafe {
        let octets = address.as_ptr().cast::<u8>();
        ptr::copy_nonoverlapping(octets, (&raw mut storage).cast(), address.addr_len() as usize);
    }
    storage
}

/// Sets an option that is a number.
pub(crate) fn set_number(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: c_int) -> Result<(), Errno> {
    set(fd, level, name, &value)
}

/// Sets an option that is about a group and a source (RFC 3678, section 5.1).
pub(crate) fn set_source(
    fd: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    value: &libc::group_source_req,
) -> Result<(), Errno> {
    set(fd, level, name, value)
}

/// `T` holds no pointers.
fn set<T>(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &T) -> Result<(), Errno> {
    counts::enter();
    // SAFETY: the kernel reads as many octets as the value has, while it is borrowed, and keeps no pointer to
    // it.
    let done = unsafe {
        let value = ptr::from_ref(value).cast();
        libc::setsockopt(fd.as_raw_fd(), level, name, value, size_of::<T>() as socklen_t)
    };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_and_read() {
        for text in ["192.0.2.1", "2001:db8::7"] {
            let ip: IpAddr = text.parse().unwrap();
            let length = SocketAddrAny::from(SocketAddr::new(ip, 0)).addr_len();
            let read = read_address(&storage_of(ip), length).unwrap();
            assert_eq!(SocketAddr::try_from(read), Ok(SocketAddr::new(ip, 0)));
        }
    }

    #[test]
    fn without_a_length_there_is_no_address() {
        for length in [0, 1, ADDRESS_ROOM + 1, socklen_t::MAX] {
            assert!(read_address(&no_address(), length).is_none(), "{length}");
        }
    }

    #[test]
    fn a_refused_option_says_why() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let refused = set_number(std::os::fd::AsFd::as_fd(&file), libc::IPPROTO_IP, libc::IP_RECVERR, 1);
        assert_eq!(refused, Err(Errno::NOTSOCK));
    }
}
