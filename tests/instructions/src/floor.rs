//! What programs write without handles: system calls by `libc`, in loops that resume what a signal interrupts and go on
//! after a short transfer. Failures end the program: that anybody looks at them costs a comparison, as it does elsewhere.
//!
//! Unsafe, since that is what is compared: each call gets a descriptor that is borrowed for its time, and memory with
//! its length.

#![allow(unsafe_code, reason = "the floor is libc itself")]

use std::collections::VecDeque;
use std::io;
use std::mem::{self, MaybeUninit};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::{Duration, SystemTime};

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

/// What `recvmsg` tells into `parts`, without waiting.
fn receive_message(
    from: BorrowedFd<'_>,
    parts: &mut [libc::iovec],
    beside: &mut [MaybeUninit<usize>],
    flags: i32,
) -> (usize, libc::msghdr) {
    // SAFETY: a `msghdr` of zeros is an empty one.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    message.msg_control = beside.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(beside) as _;
    // SAFETY: the message names `parts`, which name memory of those lengths, and room for what comes beside it.
    let octets =
        resumed(|| unsafe { libc::recvmsg(from.as_raw_fd(), &mut message, flags | libc::MSG_DONTWAIT) });
    (octets, message)
}

fn part(octets: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: octets.len() }
}

#[inline]
pub(crate) fn receive_scattered(from: BorrowedFd<'_>, into: [&mut [u8]; 2]) -> usize {
    receive_message(from, &mut into.map(part), &mut [], 0).0
}

/// Room for what rides on a message, in words: as many descriptors as can, and credentials.
const BESIDE: usize = 160;

#[inline]
pub(crate) fn send_passing(to: BorrowedFd<'_>, octets: &[u8], descriptor: BorrowedFd<'_>) -> usize {
    let mut parts = [libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() }];
    let mut beside = [MaybeUninit::<usize>::uninit(); 4];
    // SAFETY: as above; the header lies at the beginning of room for it and for one descriptor.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = 1;
        message.msg_control = beside.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<i32>().write_unaligned(descriptor.as_raw_fd());
        resumed(|| libc::sendmsg(to.as_raw_fd(), &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT))
    }
}

/// What came beside octets.
#[derive(Default)]
pub(crate) struct Passed {
    pub(crate) octets: usize,
    pub(crate) descriptors: Vec<OwnedFd>,
    pub(crate) credentials: Option<(i32, u32, u32)>,
}

/// All that came beside it, each descriptor in an owner's hands, the sender's process closed.
#[inline]
pub(crate) fn receive_passed(from: BorrowedFd<'_>, into: &mut [u8], flags: i32) -> Passed {
    let mut beside = [MaybeUninit::uninit(); BESIDE];
    let (octets, message) =
        receive_message(from, &mut [part(into)], &mut beside, flags | libc::MSG_CMSG_CLOEXEC);
    assert!(message.msg_flags & libc::MSG_CTRUNC == 0, "there was no room for all of it");
    let mut passed = Passed { octets, ..Passed::default() };
    // SAFETY: the kernel has written headers and what they announce; descriptors are ours, and looked at once.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            let octets = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            let data = libc::CMSG_DATA(header);
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    for at in 0..octets / 4 {
                        let number = data.cast::<i32>().add(at).read_unaligned();
                        passed.descriptors.push(OwnedFd::from_raw_fd(number));
                    }
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {
                    let who = data.cast::<libc::ucred>().read_unaligned();
                    passed.credentials = Some((who.pid, who.uid, who.gid));
                }
                // `SCM_PIDFD`.
                (libc::SOL_SOCKET, 4) => drop(OwnedFd::from_raw_fd(data.cast::<i32>().read_unaligned())),
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
    }
    passed
}

/// And when the kernel received it.
#[inline]
pub(crate) fn receive_stamped(from: BorrowedFd<'_>, into: &mut [u8]) -> (usize, Option<SystemTime>) {
    let mut beside = [MaybeUninit::uninit(); 8];
    let (octets, message) = receive_message(from, &mut [part(into)], &mut beside, libc::MSG_TRUNC);
    let mut at = None;
    // SAFETY: the kernel has written headers and what they announce.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                at = SystemTime::UNIX_EPOCH
                    .checked_add(Duration::new(time.tv_sec as u64, time.tv_nsec as u32));
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
    }
    (octets, at)
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
#[inline]
pub(crate) fn gift(to: BorrowedFd<'_>, pages: *mut libc::c_void, octets: usize) {
    let part = libc::iovec { iov_base: pages, iov_len: octets };
    let flags = libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_GIFT;
    // SAFETY: the pages are mapped, and nobody's but the caller's, who gives them up.
    let taken = resumed(|| unsafe { libc::vmsplice(to.as_raw_fd(), &part, 1, flags) });
    assert!(taken == octets, "a pipe has room for a page");
    // SAFETY: as before.
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

#[inline]
fn send_uncopied(to: BorrowedFd<'_>, octets: &[u8]) -> usize {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_ZEROCOPY;
    // SAFETY: the caller keeps the memory as it is until its completion.
    resumed(|| unsafe { libc::send(to.as_raw_fd(), octets.as_ptr().cast(), octets.len(), flags) })
}

/// The calls that the kernel has done with, first and last, and whether it copied, if it tells of any.
#[inline]
fn completed(from: BorrowedFd<'_>) -> Option<(u32, u32, bool)> {
    let mut beside = [MaybeUninit::<usize>::uninit(); 16];
    // SAFETY: as for other messages; the kernel has written what it says that it has.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_control = beside.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&beside) as _;
        if libc::recvmsg(from.as_raw_fd(), &mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) < 0 {
            assert_eq!(io::Error::last_os_error().kind(), io::ErrorKind::WouldBlock);
            return None;
        }
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            let kind = ((*header).cmsg_level, (*header).cmsg_type);
            if kind == (libc::SOL_IP, libc::IP_RECVERR) || kind == (libc::SOL_IPV6, libc::IPV6_RECVERR) {
                let error = libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned();
                assert!(error.ee_origin == 5 && error.ee_errno == 0, "of no copies (linux/errqueue.h)");
                return Some((error.ee_info, error.ee_data, error.ee_code & 1 != 0));
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
        panic!("something else in the queue of errors");
    }
}

/// What a program notes that sends without a copy: the calls that the kernel has not done with, in their order.
#[derive(Default)]
pub(crate) struct Uncopied {
    calls: VecDeque<Call>,
    next: u32,
}

struct Call {
    number: u32,
    held: bool,
    copied: bool,
    octets: &'static [u8],
}

impl Uncopied {
    #[inline]
    pub(crate) fn send(&mut self, to: BorrowedFd<'_>, octets: &'static [u8]) -> usize {
        self.note_completed(to);
        let sent = send_uncopied(to, octets);
        self.calls.push_back(Call { number: self.next, held: true, copied: false, octets });
        self.next = self.next.wrapping_add(1);
        sent
    }

    /// What was sent first, if the kernel has done with it, and whether it was copied after all.
    #[inline]
    pub(crate) fn completed(&mut self, from: BorrowedFd<'_>) -> Option<(&'static [u8], bool)> {
        self.note_completed(from);
        self.calls.pop_front_if(|call| !call.held).map(|call| (call.octets, call.copied))
    }

    /// All that the kernel tells of: what is left there would end each wait at once. Each call is told of once.
    #[inline]
    fn note_completed(&mut self, from: BorrowedFd<'_>) {
        while let Some((first, last, copied)) = completed(from) {
            let mut unknown = u64::from(last.wrapping_sub(first)) + 1;
            for call in &mut self.calls {
                if call.held && call.number.wrapping_sub(first) <= last.wrapping_sub(first) {
                    call.held = false;
                    call.copied = copied;
                    unknown -= 1;
                }
            }
            assert!(unknown == 0, "somebody else sends by this socket");
        }
    }
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
