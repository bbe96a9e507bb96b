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

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::slice;
use std::time::Instant;

use libc::{c_int, cmsghdr, iovec, msghdr, socklen_t};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::addr::SocketAddrStorage;
use rustix::net::{RecvFlags, ReturnFlags, SendFlags, SocketAddrAny};

use crate::ready::Waiting;
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
struct Space<const N: usize> {
    /// The kernel keeps headers apart by whole words, from where this memory begins.
    _align: [usize; 0],
    octets: [MaybeUninit<u8>; N],
}

/// One thing that came beside the octets.
pub(crate) struct Rider<'s> {
    pub(crate) level: c_int,
    pub(crate) kind: c_int,
    pub(crate) octets: &'s [u8],
}

/// A message that was received, less what came beside it.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    pub(crate) octets: usize,
    pub(crate) flags: ReturnFlags,
}

/// What is in a [`Space`], one after the other.
struct Riders<'s> {
    left: &'s [MaybeUninit<u8>],
}

impl<'s> Iterator for Riders<'s> {
    type Item = Rider<'s>;

    #[inline]
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

/// Receives a message, and shows what comes beside it, in up to `N` octets, to `beside`. One system call, unless a signal
/// interrupts it. Descriptors may come by Unix sockets, and have to be taken ([`receive_passed`]) or closed
/// ([`close_passed`]).
#[inline]
pub(crate) fn receive<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
    beside: impl FnMut(&Rider<'_>),
) -> Result<Message, Errno> {
    receive_named::<N>(fd, into, flags, None, beside).map(|(message, _)| message)
}

/// The same, and whom it is from.
pub(crate) fn receive_from<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
    beside: impl FnMut(&Rider<'_>),
) -> Result<(Message, Option<SocketAddrAny>), Errno> {
    let mut from = MaybeUninit::<SocketAddrStorage>::uninit();
    let (message, length) = receive_named::<N>(fd, into, flags, Some(&mut from), beside)?;
    let whole = size_of::<libc::sa_family_t>()..=size_of::<SocketAddrStorage>();
    // SAFETY: the kernel has written an address of that length, which holds at least its family.
    let from = whole.contains(&(length as usize)).then(|| unsafe { SocketAddrAny::new(from, length) });
    Ok((message, from))
}

#[inline]
fn receive_named<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
    from: Option<&mut MaybeUninit<SocketAddrStorage>>,
    mut beside: impl FnMut(&Rider<'_>),
) -> Result<(Message, socklen_t), Errno> {
    let mut space = Space::<N> { _align: [], octets: [MaybeUninit::uninit(); N] };
    let mut slice = iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: it consists of integers and of pointers that may be null.
    let mut message: msghdr = unsafe { zeroed() };
    if let Some(from) = from {
        message.msg_name = from.as_mut_ptr().cast();
        message.msg_namelen = size_of::<SocketAddrStorage>() as socklen_t;
    }
    message.msg_iov = &mut slice;
    message.msg_iovlen = 1;
    message.msg_control = space.octets.as_mut_ptr().cast();
    message.msg_controllen = N as _;
    let octets = take(fd, &mut message, flags | RecvFlags::CMSG_CLOEXEC)?;
    Riders { left: &space.octets[..(message.msg_controllen as usize).min(N)] }
        .for_each(|rider| beside(&rider));
    let flags = ReturnFlags::from_bits_retain(message.msg_flags as u32);
    Ok((Message { octets, flags }, message.msg_namelen))
}

/// Receives a message that descriptors may come with: whoever asks for something else beside the octets owns these too, so
/// that none stays open by being overlooked. Waits for it until `deadline`. Errors are at [`Step::Receive`] and name
/// nobody yet.
#[inline(always)]
pub(crate) fn receive_passed<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
    deadline: Instant,
    mut beside: impl FnMut(&Rider<'_>),
) -> Result<(Message, Vec<OwnedFd>), Error> {
    let mut descriptors = Vec::new();
    let mut sort = |rider: &Rider<'_>| match (rider.level, rider.kind) {
        (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
            owned(rider).for_each(|descriptor| descriptors.push(descriptor))
        }
        // In place of one that it could not make the kernel gives an error's number, which is negative.
        (libc::SOL_SOCKET, SCM_PIDFD) => owned(rider).for_each(drop),
        _ => beside(rider),
    };
    let mut waiting = Waiting::new(PollFlags::IN, Some(deadline));
    loop {
        match receive::<N>(fd, into, flags | RecvFlags::DONTWAIT, &mut sort) {
            Ok(message) => return Ok((message, descriptors)),
            Err(errno) => not_yet(fd, errno, &mut waiting)?,
        }
    }
}

/// The same, of what is there now.
pub(crate) fn receive_passed_now<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> Result<Message, Errno> {
    receive::<N>(fd, into, RecvFlags::DONTWAIT, |rider| match (rider.level, rider.kind) {
        (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
            owned(rider).for_each(|descriptor| descriptors.push(descriptor));
        }
        _ => close_passed(rider),
    })
}

/// Closes descriptors, if that is what has come.
#[inline]
pub(crate) fn close_passed(rider: &Rider<'_>) {
    if rider.level == libc::SOL_SOCKET && matches!(rider.kind, libc::SCM_RIGHTS | SCM_PIDFD) {
        owned(rider).for_each(drop);
    }
}

/// Descriptors that have just come.
#[inline]
fn owned(rider: &Rider<'_>) -> impl Iterator<Item = OwnedFd> {
    let numbers = rider.octets.as_chunks::<4>().0.iter().map(|octets| c_int::from_ne_bytes(*octets));
    // SAFETY: the kernel has just made them for this process, and this is the only time that anybody looks.
    numbers.filter(|number| *number >= 0).map(|number| unsafe { OwnedFd::from_raw_fd(number) })
}

/// [`receive`], waiting for a message until `deadline`. Errors are at [`Step::Receive`] and name nobody yet.
#[inline(always)]
pub(crate) fn receive_by<const N: usize>(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: RecvFlags,
    deadline: Instant,
    mut beside: impl FnMut(&Rider<'_>),
) -> Result<Message, Error> {
    let mut waiting = Waiting::new(PollFlags::IN, Some(deadline));
    loop {
        match receive::<N>(fd, into, flags | RecvFlags::DONTWAIT, &mut beside) {
            Ok(message) => return Ok(message),
            Err(errno) => not_yet(fd, errno, &mut waiting)?,
        }
    }
}

/// Waits, if that is what the error asks for.
#[cold]
#[inline(never)]
fn not_yet(fd: BorrowedFd<'_>, errno: Errno, waiting: &mut Waiting) -> Result<(), Error> {
    if errno != Errno::AGAIN {
        return Err(Error::os(Step::Receive, errno));
    }
    match waiting.next(fd) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Error::out_of_time(Step::Receive)),
        Err(errno) => Err(Error::os(Step::Receive, errno)),
    }
}

/// Receives into several slices, one after the other. What may come beside the octets the kernel keeps from us, and
/// closes. One system call, unless a signal interrupts it.
#[inline]
pub(crate) fn receive_scattered(
    fd: BorrowedFd<'_>,
    into: &mut [IoSliceMut<'_>],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    // SAFETY: it consists of integers and of pointers that may be null.
    let mut message: msghdr = unsafe { zeroed() };
    // Each is an `iovec`, as its documentation says, of memory that is ours to write.
    message.msg_iov = into.as_mut_ptr().cast();
    message.msg_iovlen = into.len() as _;
    take(fd, &mut message, flags)
}

/// A message whose pointers lead to memory that is ours to write, of the lengths beside them.
#[inline]
fn take(fd: BorrowedFd<'_>, message: &mut msghdr, flags: RecvFlags) -> Result<usize, Errno> {
    loop {
        counts::enter();
        // SAFETY: the memory outlives the call; a call that fails writes none of the lengths.
        let received = unsafe { libc::recvmsg(fd.as_raw_fd(), message, flags.bits() as c_int) };
        if let Some(octets) = done(received)? {
            return Ok(octets);
        }
    }
}

/// Descriptors that may ride on one message (`SCM_MAX_FD`).
pub(crate) const MOST_RIGHTS: usize = 253;

/// Memory for one thing beside the octets: descriptors.
#[repr(C)]
struct Rights {
    header: MaybeUninit<cmsghdr>,
    numbers: [MaybeUninit<c_int>; MOST_RIGHTS],
}

/// Sends the slices, and up to [`MOST_RIGHTS`] descriptors that ride on them; more are not sent. One system call, unless a
/// signal interrupts it.
#[inline(always)]
pub(crate) fn send_riding(
    fd: BorrowedFd<'_>,
    slices: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> Result<usize, Errno> {
    const { assert!(std::mem::offset_of!(Rights, numbers) == HEADER) };
    let mut rights =
        Rights { header: MaybeUninit::uninit(), numbers: [const { MaybeUninit::uninit() }; MOST_RIGHTS] };
    // SAFETY: it consists of integers and of pointers that may be null.
    let mut message: msghdr = unsafe { zeroed() };
    // Each is an `iovec`, as its documentation says, of memory that is only read.
    message.msg_iov = slices.as_ptr().cast_mut().cast();
    message.msg_iovlen = slices.len() as _;
    let count = descriptors.len().min(MOST_RIGHTS);
    if count > 0 {
        // SAFETY: it consists of integers.
        let mut header: cmsghdr = unsafe { zeroed() };
        header.cmsg_len = (HEADER + 4 * count) as _;
        header.cmsg_level = libc::SOL_SOCKET;
        header.cmsg_type = libc::SCM_RIGHTS;
        rights.header.write(header);
        match descriptors {
            // The usual number.
            [only] => _ = rights.numbers[0].write(only.as_raw_fd()),
            _ => {
                for (place, descriptor) in rights.numbers.iter_mut().zip(descriptors) {
                    place.write(descriptor.as_raw_fd());
                }
            }
        }
        message.msg_control = (&raw mut rights).cast();
        message.msg_controllen = room(4 * count) as _;
    }
    loop {
        counts::enter();
        // SAFETY: the message's pointers lead to memory of the lengths beside them, which is only read, outlives the call, and
        // is initialised: of the last word beside the octets the kernel looks at no more than the header announces.
        let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &message, flags.bits() as c_int) };
        if let Some(octets) = done(sent)? {
            return Ok(octets);
        }
    }
}

/// How many octets that was; `None`: a signal came before any.
#[inline]
fn done(octets: libc::ssize_t) -> Result<Option<usize>, Errno> {
    match usize::try_from(octets) {
        Ok(octets) => Ok(Some(octets)),
        Err(_) => match last_errno() {
            Errno::INTR => Ok(None),
            errno => Err(errno),
        },
    }
}

/// What the last call of the C library in this thread failed with.
#[inline]
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
        let (mut into, mut riders) = ([0; 8], 0);
        let (message, descriptors) =
            receive_passed::<64>(other.as_fd(), &mut into, RecvFlags::empty(), Instant::now(), |_| {
                riders += 1
            })
            .unwrap();
        assert_eq!((message.octets, &into[..5]), (5, &b"hello"[..]));
        assert_eq!((riders, descriptors.len()), (0, 0));
    }

    #[test]
    fn a_header_that_announces_more_than_there_is_ends_it() {
        let mut space = Space::<{ room(8) }> { _align: [], octets: [MaybeUninit::new(0xff); _] };
        assert!(Riders { left: &space.octets }.next().is_none());
        space.octets.fill(MaybeUninit::new(0));
        assert!(Riders { left: &space.octets }.next().is_none(), "shorter than a header");
    }
}
