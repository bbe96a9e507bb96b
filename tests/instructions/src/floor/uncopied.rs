//! Sending from the program's own memory, of which the kernel says when it has done with it.

use std::collections::VecDeque;
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, BorrowedFd};

use super::resumed;

#[inline]
fn send_uncopied(to: BorrowedFd<'_>, octets: &'static [u8]) -> usize {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_ZEROCOPY;
    // SAFETY: it is only read, and there for ever.
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

struct Call {
    number: u32,
    held: bool,
    copied: bool,
    octets: &'static [u8],
}
