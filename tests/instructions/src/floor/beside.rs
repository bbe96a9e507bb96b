//! Messages with more than one place to go to, and with something beside their octets.

use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, SystemTime};

use super::resumed;

fn part(octets: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: octets.len() }
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

#[inline]
pub(crate) fn receive_scattered(from: BorrowedFd<'_>, into: [&mut [u8]; 2]) -> usize {
    receive_message(from, &mut into.map(part), &mut [], 0).0
}

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

/// Room for what rides on a message, in words: as many descriptors as can, and credentials.
const BESIDE: usize = 160;

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
