//! Memory for many datagrams that one system call moves (recvmmsg(2), sendmmsg(2)): made once, used again and
//! again, so that a call allocates nothing.
//!
//! ```text
//! ReceiveBatch    headers ──▶ slices ──▶ memory: | room for one | room for one | …
//!                         └─▶ addresses
//! SendBatch       headers ──▶ the caller's slices
//!                         └─▶ addresses
//! ```

#![allow(unsafe_code, reason = "the two calls take lists of pointers")]
#![allow(clippy::unnecessary_cast, reason = "the types of lengths and flags differ between C libraries")]

use std::fmt;
use std::io::IoSlice;
use std::marker::PhantomData;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{iovec, mmsghdr, sockaddr_storage, socklen_t};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketAddrAny};

use super::kernel::{ADDRESS_ROOM, last_errno, no_address, read_address};
use super::{DatagramFamily, Sender};
use crate::counts;

/// The most datagrams that one system call takes (`UIO_MAXIOV`).
const MOST: usize = 1024;

/// Room for datagrams to receive, and those that were received last.
pub struct ReceiveBatch<F: DatagramFamily> {
    /// They point into the three below, of which none ever grows.
    headers: Vec<mmsghdr>,
    _slices: Vec<iovec>,
    addresses: Vec<sockaddr_storage>,
    memory: Vec<u8>,
    room: usize,
    /// How many of the headers the last call has filled.
    received: usize,
    _family: PhantomData<fn() -> F>,
}

/// Room for what the system wants to know of datagrams to send; their octets stay where they are.
pub struct SendBatch {
    /// What they point to is looked at only in the call that has set it.
    headers: Vec<mmsghdr>,
    addresses: Vec<SocketAddrAny>,
}

/// One of many datagrams that were received together.
pub struct BatchedDatagram<'a, F: DatagramFamily> {
    octets: &'a [u8],
    whole_length: usize,
    /// Whose, with how much of it the kernel has written.
    address: (&'a sockaddr_storage, socklen_t),
    _family: PhantomData<fn() -> F>,
}

/// One of many datagrams to send together.
#[derive(Debug)]
pub struct Outgoing<'a, A> {
    /// Its octets: at most 1024 slices, one after the other.
    pub slices: &'a [IoSlice<'a>],
    /// Where to.
    pub to: &'a A,
}

impl<A> Clone for Outgoing<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Outgoing<'_, A> {}

// SAFETY: the pointers lead to memory that the batch owns and nobody else knows of, and that does not move
// with it.
unsafe impl<F: DatagramFamily> Send for ReceiveBatch<F> {}
// SAFETY: through a shared batch nothing is written, and no pointer leaves it.
unsafe impl<F: DatagramFamily> Sync for ReceiveBatch<F> {}
// SAFETY: what its pointers lead to is looked at only in the call that has set them, which borrows it.
unsafe impl Send for SendBatch {}
// SAFETY: a shared one can only be looked at.
unsafe impl Sync for SendBatch {}

/// A header without slices and without an address.
fn empty_header() -> mmsghdr {
    // SAFETY: it consists of integers, and of pointers, which may be null.
    unsafe { zeroed() }
}

impl<F: DatagramFamily> ReceiveBatch<F> {
    /// Room for `most` datagrams, from 1 to 1024 (a figure outside of this counts as the nearer of the two),
    /// of up to `room` octets each: it takes their product, and some 250 octets for each.
    ///
    /// # Panics
    /// As [`Vec::with_capacity`], if that is more memory than there can be.
    pub fn new(most: usize, room: usize) -> Self {
        let most = most.clamp(1, MOST);
        let mut memory = vec![0_u8; most.saturating_mul(room)];
        let mut addresses = vec![no_address(); most];
        // The vectors' own pointers, as one to an element would not outlive the next look at its neighbours.
        let (octets, names) = (memory.as_mut_ptr(), addresses.as_mut_ptr());
        let slice = |at: usize| iovec { iov_base: octets.wrapping_add(at * room).cast(), iov_len: room };
        let mut slices: Vec<iovec> = (0..most).map(slice).collect();
        let lists = slices.as_mut_ptr();
        let header = |at: usize| {
            let mut header = empty_header();
            header.msg_hdr.msg_name = names.wrapping_add(at).cast();
            header.msg_hdr.msg_namelen = ADDRESS_ROOM;
            header.msg_hdr.msg_iov = lists.wrapping_add(at);
            header.msg_hdr.msg_iovlen = 1;
            header
        };
        let headers = (0..most).map(header).collect();
        Self { headers, _slices: slices, addresses, memory, room, received: 0, _family: PhantomData }
    }

    /// For how many datagrams there is room.
    pub fn most(&self) -> usize {
        self.headers.len()
    }

    /// How many the last call has received.
    pub fn len(&self) -> usize {
        self.received
    }

    /// Whether the last call has received none.
    pub fn is_empty(&self) -> bool {
        self.received == 0
    }

    /// The one that came as number `at` of those that the last call has received, from 0.
    pub fn datagram(&self, at: usize) -> Option<BatchedDatagram<'_, F>> {
        let header = self.headers[..self.received].get(at)?;
        let whole_length = header.msg_len as usize;
        let octets = &self.memory[at * self.room..][..whole_length.min(self.room)];
        let address = (&self.addresses[at], header.msg_hdr.msg_namelen);
        Some(BatchedDatagram { octets, whole_length, address, _family: PhantomData })
    }

    /// Those that the last call has received, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = BatchedDatagram<'_, F>> {
        (0..self.received).map(|at| self.datagram(at).expect("it is one of those received"))
    }

    /// Forgets what the last call has received.
    pub(super) fn clear(&mut self) {
        self.make_room();
        self.received = 0;
    }

    /// Room for the addresses of the next ones.
    #[inline]
    fn make_room(&mut self) {
        // The kernel has put the lengths of addresses in place of the room for them.
        for header in &mut self.headers[..self.received] {
            header.msg_hdr.msg_namelen = ADDRESS_ROOM;
        }
    }

    /// Receives as many as there are and as there is room for, no more than `most`; if it `waits`, then for the
    /// first one.
    #[inline]
    pub(super) fn receive(&mut self, fd: BorrowedFd<'_>, most: usize, waits: bool) -> Result<usize, Errno> {
        self.make_room();
        // The kernel then tells each datagram's whole length.
        let flags = libc::MSG_TRUNC | if waits { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        loop {
            counts::enter();
            // SAFETY: there are as many headers, or more. Each points to room for an address and to one slice, which
            // points to room for a datagram, with their true lengths, and to nothing else; all of it belongs
            // to this batch, is borrowed for this call alone, and was not moved since it was made, as its
            // vectors never grow. Without a time limit nothing is read from the last pointer.
            let received = unsafe {
                let headers = self.headers.as_mut_ptr();
                let most = most.min(self.headers.len());
                libc::recvmmsg(fd.as_raw_fd(), headers, most as _, flags as _, ptr::null_mut())
            };
            if let Ok(received) = usize::try_from(received) {
                self.received = received;
                return Ok(received);
            }
            self.received = 0;
            unless_interrupted()?;
        }
    }
}

/// What the last call failed with, unless a signal came in between.
#[cold]
#[inline(never)]
fn unless_interrupted() -> Result<(), Errno> {
    match last_errno() {
        Errno::INTR => Ok(()),
        errno => Err(errno),
    }
}

impl<'a, F: DatagramFamily> BatchedDatagram<'a, F> {
    /// Its octets, as many as there was room for. An empty datagram has none.
    pub fn octets(&self) -> &'a [u8] {
        self.octets
    }

    /// How many octets it had when it was sent.
    pub fn whole_length(&self) -> usize {
        self.whole_length
    }

    /// Whether it was longer than the room for it: the rest is lost.
    pub fn is_truncated(&self) -> bool {
        self.whole_length > self.octets.len()
    }

    /// Who sent it; `None` if the sender has no address, as a Unix socket may.
    pub fn from(&self) -> Option<Sender<F>> {
        let (address, length) = self.address;
        Sender::of(read_address(address, length))
    }
}

impl SendBatch {
    /// Room for `most` datagrams at once, from 1 to 1024 (a figure outside of this counts as the nearer of
    /// the two): some 200 octets for each.
    pub fn new(most: usize) -> Self {
        let most = most.clamp(1, MOST);
        Self { headers: vec![empty_header(); most], addresses: Vec::with_capacity(most) }
    }

    /// For how many datagrams there is room.
    pub fn most(&self) -> usize {
        self.headers.len()
    }

    /// Sends as many of the datagrams as there is room for, as far as it goes: how many have gone. All of
    /// them have an address, or none has. What fails is repeated if `again` says so.
    pub(super) fn send<'a>(
        &mut self,
        fd: BorrowedFd<'_>,
        datagrams: impl Iterator<Item = (&'a [IoSlice<'a>], Option<SocketAddrAny>)>,
        flags: SendFlags,
        mut again: impl FnMut(Errno) -> bool,
    ) -> Result<usize, Errno> {
        self.addresses.clear();
        let mut given = 0;
        for (header, (slices, to)) in self.headers.iter_mut().zip(datagrams) {
            // The same in memory (`IoSlice`'s documentation), and only read.
            header.msg_hdr.msg_iov = slices.as_ptr().cast_mut().cast();
            header.msg_hdr.msg_iovlen = slices.len() as _;
            header.msg_hdr.msg_name = ptr::null_mut();
            header.msg_hdr.msg_namelen = 0;
            self.addresses.extend(to);
            given += 1;
        }
        for (header, address) in self.headers.iter_mut().zip(&self.addresses) {
            header.msg_hdr.msg_name = address.as_ptr().cast_mut().cast();
            header.msg_hdr.msg_namelen = address.addr_len();
        }
        loop {
            counts::enter();
            // SAFETY: at least so many headers are there, of which the kernel writes only how much of each was
            // sent. Each points to slices that are borrowed for longer than this call, and perhaps to an
            // address of ours, with true lengths.
            let sent = unsafe {
                let headers = self.headers.as_mut_ptr();
                libc::sendmmsg(fd.as_raw_fd(), headers, given, flags.bits() as _)
            };
            match usize::try_from(sent).map_err(|_| last_errno()) {
                Err(errno) if again(errno) => {}
                done => return done,
            }
        }
    }
}

impl<F: DatagramFamily> fmt::Debug for ReceiveBatch<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<F: DatagramFamily> fmt::Debug for BatchedDatagram<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut datagram = f.debug_struct("BatchedDatagram");
        datagram.field("octets", &self.octets).field("whole_length", &self.whole_length);
        datagram.field("from", &self.from()).finish()
    }
}

impl fmt::Debug for SendBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBatch").field("most", &self.most()).finish()
    }
}
