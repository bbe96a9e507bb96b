//! What the kernel says beside the octets of a message: descriptors, credentials, times of receipt,
//! completions (recvmsg(2), cmsg(3)).
//!
//! rustix hands out the first two only, and takes every process for one that has a number here; a peer in
//! another process namespace has none. So this crate makes the call itself and reads the answer.

#![allow(unsafe_code, reason = "recvmsg(2) fills memory by pointers, and makes descriptors without an owner")]
#![allow(
    clippy::unnecessary_cast,
    reason = "lengths are `size_t` in some C libraries, `socklen_t` in others"
)]

use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::slice;
use std::time::Instant;

use libc::{c_int, cmsghdr, iovec, msghdr, socklen_t};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::addr::SocketAddrStorage;
use rustix::net::{RecvFlags, ReturnFlags, SocketAddrAny};

use crate::ready::attempt_by;
use crate::{Error, Step, counts};

/// A descriptor of the sender's process, which somebody may have asked for by the socket's descriptor
/// (linux/socket.h; Linux 6.5). Nobody here wants it, and nobody else would close it.
const SCM_PIDFD: c_int = 0x04;

const HEADER: usize = size_of::<cmsghdr>();

/// Octets that something of this length takes in a [`Space`] (`CMSG_SPACE`).
pub(crate) const fn room(length: usize) -> usize {
    HEADER + length.next_multiple_of(size_of::<usize>())
}

/// Memory for what comes beside the octets.
#[repr(C)]
pub(crate) struct Space<const N: usize> {
    /// The kernel keeps headers apart by whole words, from where this memory begins.
    _align: [usize; 0],
    octets: [MaybeUninit<u8>; N],
    /// How much of it the kernel used. It writes headers and what they announce, but not what lies between
    /// them.
    used: usize,
}

/// One thing of those.
pub(crate) struct Rider<'s> {
    pub(crate) level: c_int,
    pub(crate) kind: c_int,
    pub(crate) octets: &'s [u8],
}

/// A message that was received, less what is in the [`Space`].
pub(crate) struct Message {
    pub(crate) octets: usize,
    pub(crate) flags: ReturnFlags,
    pub(crate) from: Option<SocketAddrAny>,
    /// Whoever asks for something else beside the octets owns these too: none stays open by being overlooked.
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl<const N: usize> Space<N> {
    pub(crate) fn new() -> Self {
        Self { _align: [], octets: [MaybeUninit::uninit(); N], used: 0 }
    }

    pub(crate) fn riders(&self) -> Riders<'_> {
        Riders { left: &self.octets[..self.used] }
    }
}

/// What is in a [`Space`], one after the other.
pub(crate) struct Riders<'s> {
    left: &'s [MaybeUninit<u8>],
}

impl<'s> Iterator for Riders<'s> {
    type Item = Rider<'s>;

    fn next(&mut self) -> Option<Rider<'s>> {
        if self.left.len() < HEADER {
            return None;
        }
        // SAFETY: so many octets are there, and the kernel has written a header at their beginning: `left`
        // begins with what it used, and then where the length of the one before says that the next one is.
        let header = unsafe { self.left.as_ptr().cast::<cmsghdr>().read_unaligned() };
        let length = header.cmsg_len as usize;
        let octets = self.left.get(HEADER..length)?;
        // SAFETY: the kernel has written all that its header announces.
        let octets = unsafe { slice::from_raw_parts(octets.as_ptr().cast::<u8>(), octets.len()) };
        self.left = self.left.get(room(length - HEADER)..).unwrap_or_default();
        Some(Rider { level: header.cmsg_level, kind: header.cmsg_type, octets })
    }
}

/// Receives a message, and what comes beside it into `space`. One system call, unless a signal interrupts it.
pub(crate) fn receive<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    space: &mut Space<N>,
    flags: RecvFlags,
) -> Result<Message, Errno> {
    space.used = 0;
    let mut from = MaybeUninit::<SocketAddrStorage>::uninit();
    let mut slice = iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: it consists of integers and of pointers that may be null.
    let mut message: msghdr = unsafe { zeroed() };
    message.msg_name = from.as_mut_ptr().cast();
    message.msg_namelen = size_of::<SocketAddrStorage>() as socklen_t;
    message.msg_iov = &mut slice;
    message.msg_iovlen = 1;
    message.msg_control = space.octets.as_mut_ptr().cast();
    message.msg_controllen = N as _;
    let flags = (flags | RecvFlags::CMSG_CLOEXEC).bits() as c_int;
    let octets = loop {
        counts::enter();
        // SAFETY: each pointer leads to memory that is ours to write, of the length beside it, and outlives
        // the call; a call that fails writes none of the lengths.
        let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut message, flags) };
        match usize::try_from(received) {
            Ok(octets) => break octets,
            Err(_) => match last_errno() {
                Errno::INTR => {}
                errno => return Err(errno),
            },
        }
    };
    space.used = (message.msg_controllen as usize).min(N);
    let mut descriptors = Vec::new();
    for rider in space.riders() {
        let numbers = rider.octets.as_chunks::<4>().0.iter().map(|octets| c_int::from_ne_bytes(*octets));
        // SAFETY: the kernel has just made them for this process, and this is the only time that anybody looks.
        let owned = |number| unsafe { OwnedFd::from_raw_fd(number) };
        match (rider.level, rider.kind) {
            (libc::SOL_SOCKET, libc::SCM_RIGHTS) => descriptors.extend(numbers.map(owned)),
            // In place of one that it could not make it gives an error's number, which is negative.
            (libc::SOL_SOCKET, SCM_PIDFD) => numbers.filter(|n| *n >= 0).map(owned).for_each(drop),
            _ => {}
        }
    }
    let whole = size_of::<libc::sa_family_t>()..=size_of::<SocketAddrStorage>();
    let named = whole.contains(&(message.msg_namelen as usize));
    // SAFETY: the kernel has written an address of that length, which holds at least its family.
    let from = named.then(|| unsafe { SocketAddrAny::new(from, message.msg_namelen) });
    Ok(Message { octets, flags: ReturnFlags::from_bits_retain(message.msg_flags as u32), from, descriptors })
}

/// The same, waiting for a message until `deadline`. Errors are at [`Step::Receive`] and name nobody yet.
pub(crate) fn receive_by<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    space: &mut Space<N>,
    flags: RecvFlags,
    deadline: Instant,
) -> Result<Message, Error> {
    let flags = flags | RecvFlags::DONTWAIT;
    attempt_by(fd, Step::Receive, PollFlags::IN, Some(deadline), || receive(fd, into, space, flags))
}

/// What the last call of the C library in this thread failed with.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
    use std::os::fd::AsFd;

    #[test]
    fn a_message_with_nothing_beside_it_is_only_octets() {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        send(&one, b"hello", SendFlags::empty()).unwrap();
        let (mut into, mut space) = ([0; 8], Space::<64>::new());
        let message = receive(other.as_fd(), &mut into, &mut space, RecvFlags::empty()).unwrap();
        assert_eq!((message.octets, &into[..5]), (5, &b"hello"[..]));
        assert_eq!((space.riders().count(), message.descriptors.len()), (0, 0));
    }

    #[test]
    fn a_header_that_announces_more_than_there_is_ends_it() {
        let mut space = Space::<{ room(8) }>::new();
        space.octets.fill(MaybeUninit::new(0xff));
        space.used = room(8);
        assert!(space.riders().next().is_none());
        space.octets.fill(MaybeUninit::new(0));
        assert!(space.riders().next().is_none(), "shorter than a header");
    }
}
