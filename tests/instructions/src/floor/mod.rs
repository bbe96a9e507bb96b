//! What programs write without handles: system calls by `libc`, in loops that resume what a signal interrupts and go on
//! after a short transfer. Failures end the program: that anybody looks at them costs a comparison, as it does elsewhere.
//!
//! Unsafe, since that is what is compared: each call gets a descriptor that is borrowed for its time, and memory with
//! its length.

#![allow(unsafe_code, reason = "the floor is libc itself")]

mod beside;
mod moved;
mod uncopied;

pub(crate) use beside::*;
pub(crate) use moved::*;
pub(crate) use uncopied::*;

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Repeats a call that a signal has interrupted.
#[inline]
fn resumed(mut call: impl FnMut() -> isize) -> usize {
    loop {
        let done = call();
        if done >= 0 {
            return done as usize;
        }
        let error = io::Error::last_os_error();
        assert!(error.kind() == io::ErrorKind::Interrupted, "{error}");
    }
}

#[inline]
pub(crate) fn send(to: BorrowedFd<'_>, octets: &[u8]) -> usize {
    // SAFETY: `octets` is memory of that length, which is only read.
    resumed(|| unsafe {
        libc::send(to.as_raw_fd(), octets.as_ptr().cast(), octets.len(), libc::MSG_NOSIGNAL)
    })
}

#[inline]
pub(crate) fn send_gathered(to: BorrowedFd<'_>, slices: [&[u8]; 2]) -> usize {
    let mut parts =
        slices.map(|slice| libc::iovec { iov_base: slice.as_ptr().cast_mut().cast(), iov_len: slice.len() });
    // SAFETY: a `msghdr` of zeros is an empty one.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    // SAFETY: the message names `parts`, which name the slices' memory; both are only read and live on until then.
    resumed(|| unsafe { libc::sendmsg(to.as_raw_fd(), &message, libc::MSG_NOSIGNAL) })
}

#[inline]
pub(crate) fn send_all(to: BorrowedFd<'_>, octets: &[u8]) {
    let mut sent = 0;
    while sent < octets.len() {
        sent += send(to, &octets[sent..]);
    }
}

#[inline]
pub(crate) fn send_to(from: BorrowedFd<'_>, octets: &[u8], to: &SocketAddr) {
    let SocketAddr::V4(to) = to else { panic!("the floor speaks IPv4") };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
        sin_zero: [0; 8],
    };
    send_to_form(from, octets, &address);
}

#[inline]
pub(crate) fn send_to_form(from: BorrowedFd<'_>, octets: &[u8], to: &libc::sockaddr_in) {
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: `octets` and `to` are memory of those lengths, which is only read.
    resumed(|| unsafe {
        let (octets, room) = (octets.as_ptr().cast(), octets.len());
        libc::sendto(from.as_raw_fd(), octets, room, libc::MSG_NOSIGNAL, ptr::from_ref(to).cast(), length)
    });
}

#[inline]
pub(crate) fn receive(from: BorrowedFd<'_>, into: &mut [u8]) -> usize {
    // SAFETY: `into` is memory of that length, and ours alone.
    resumed(|| unsafe { libc::recv(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) })
}

#[inline]
pub(crate) fn receive_exact(from: BorrowedFd<'_>, into: &mut [u8]) {
    let mut filled = 0;
    while filled < into.len() {
        let received = receive(from, &mut into[filled..]);
        assert!(received > 0, "the peer has ended");
        filled += received;
    }
}

#[inline]
pub(crate) fn receive_now(from: BorrowedFd<'_>, into: &mut [u8]) -> usize {
    receive_with(from, into, libc::MSG_DONTWAIT)
}

#[inline]
pub(crate) fn peek_now(from: BorrowedFd<'_>, into: &mut [u8]) -> usize {
    receive_with(from, into, libc::MSG_DONTWAIT | libc::MSG_PEEK)
}

#[inline]
fn receive_with(from: BorrowedFd<'_>, into: &mut [u8], flags: i32) -> usize {
    // SAFETY: `into` is memory of that length, and ours alone.
    resumed(|| unsafe { libc::recv(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), flags) })
}

#[inline]
pub(crate) fn read(from: BorrowedFd<'_>, into: &mut [u8]) -> usize {
    // SAFETY: `into` is memory of that length, and ours alone.
    resumed(|| unsafe { libc::read(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) })
}

#[inline]
pub(crate) fn read_exact(from: BorrowedFd<'_>, into: &mut [u8]) {
    let mut filled = 0;
    while filled < into.len() {
        let received = read(from, &mut into[filled..]);
        assert!(received > 0, "the writers have ended");
        filled += received;
    }
}

#[inline]
pub(crate) fn write_all(to: BorrowedFd<'_>, octets: &[u8]) {
    let mut sent = 0;
    while sent < octets.len() {
        sent += write(to, &octets[sent..]);
    }
}

#[inline]
pub(crate) fn write(to: BorrowedFd<'_>, octets: &[u8]) -> usize {
    // SAFETY: `octets` is memory of that length, which is only read.
    resumed(|| unsafe { libc::write(to.as_raw_fd(), octets.as_ptr().cast(), octets.len()) })
}

#[inline]
pub(crate) fn receive_from(from: BorrowedFd<'_>, into: &mut [u8]) -> (usize, libc::sockaddr_in) {
    // SAFETY: an address of zeros is one of no family.
    let mut address: libc::sockaddr_in = unsafe { mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: `into` and `address` are memory of those lengths, and ours alone.
    let received = resumed(|| unsafe {
        let (octets, room) = (into.as_mut_ptr().cast(), into.len());
        libc::recvfrom(from.as_raw_fd(), octets, room, 0, ptr::from_mut(&mut address).cast(), &mut length)
    });
    assert!(i32::from(address.sin_family) == libc::AF_INET, "the floor speaks IPv4");
    (received, address)
}

/// Datagrams to a connected socket's peer; there are as many headers, which are kept from call to call.
#[inline]
pub(crate) fn send_many(to: BorrowedFd<'_>, datagrams: &[libc::iovec], headers: &mut [libc::mmsghdr]) {
    for (header, slice) in headers.iter_mut().zip(datagrams) {
        // SAFETY: an `mmsghdr` of zeros is an empty one.
        *header = unsafe { mem::zeroed() };
        header.msg_hdr.msg_iov = ptr::from_ref(slice).cast_mut();
        header.msg_hdr.msg_iovlen = 1;
    }
    let count = headers.len() as _;
    // SAFETY: the headers name the slices, which name memory that outlives the program.
    let sent = resumed(|| unsafe {
        libc::sendmmsg(to.as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_NOSIGNAL) as isize
    });
    assert!(sent == headers.len(), "there was room for {sent} only");
}

/// As many datagrams, with their senders, into headers that were made before.
#[inline]
pub(crate) fn receive_many(from: BorrowedFd<'_>, headers: &mut [libc::mmsghdr]) {
    for header in &mut *headers {
        header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    }
    let count = headers.len() as _;
    // SAFETY: the headers name room for addresses, and slices, which name memory that nobody else uses.
    let received = resumed(|| unsafe {
        let (waits, none) = (libc::MSG_WAITFORONE as _, ptr::null_mut());
        libc::recvmmsg(from.as_raw_fd(), headers.as_mut_ptr(), count, waits, none) as isize
    });
    assert!(received == headers.len(), "{received} came");
}
