//! Sending memory without copying it (`MSG_ZEROCOPY`; Documentation/networking/msg_zerocopy.rst of Linux).
//!
//! The network card reads the program's own memory, after the call has returned, and again if the peer did
//! not get it. So memory that is sent is handed over, and comes back when the kernel says that it has done
//! with it:
//!
//! ```text
//! send_all(buffer) ─▶ the kernel holds its pages ─▶ completion in the error queue ─▶ completed…() → buffer
//! ```
//!
//! This pays from some 10 KiB a call on, where copying costs more than holding pages and taking completions.
//! Where there is no card in between, as on the loopback interface, or the kernel may hold no more pages
//! (`ulimit -l`), it copies after all, and [`Completed::copied`] says so. Unix sockets cannot do this (they
//! copy once in any case), so only TCP has it.
//!
//! # Why it is sound
//!
//! * A buffer is memory that only its owner could change or free ([`StableOctets`]), and from the call that
//!   hands it over to its completion this crate owns it and does neither; also where the call fails or panics
//!   half-way.
//! * Completions have numbers: the kernel counts a socket's calls with the flag that took at least one octet.
//!   A stream is given away for good to become a [`ZeroCopyStream`], must not have sent in this way before,
//!   and sends by `&mut self` only, so the count here is the kernel's. No second one can be made of a duplicate
//!   of its descriptor. (Whoever borrows that and sends by the same flag themselves makes the kernel count what
//!   is not counted here, as closing it would break it; see [`std::os::fd`] on what borrowing allows. As soon
//!   as a completion shows it, no buffer is given back any more, whatever else completes.)
//! * Dropping it while the kernel still holds buffers keeps those until the program's end: the connection
//!   outlives its descriptor until all has been acknowledged, and no completion can be received any more.
//!   Forgetting it leaks them.

mod completion;
mod octets;

pub use octets::StableOctets;

use completion::Range;

use std::collections::VecDeque;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::control::{self, room};
use crate::options::raw;
use crate::ready::{Waiting, resumed};
use crate::{Error, Refused, Step, TcpStream};

/// A completion and the address that comes with it, and times and other facts, which somebody may have asked
/// for by the stream's descriptor: a completion that finds no room is lost, and its buffer with it.
const BESIDE: usize = room(16 + 28) + 512;

/// The most octets of one call. All that a call offers counts against what a user may have held (`ulimit -l`,
/// usually 8 MiB), also what does not fit the queue, so a large buffer offered whole would always be copied;
/// and calls of this size cost nothing beside what they send.
const AT_ONCE: usize = 1 << 20;

const USUAL: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);
const UNCOPIED: SendFlags = USUAL.union(SendFlags::from_bits_retain(libc::MSG_ZEROCOPY.cast_unsigned()));

/// What the kernel held when nobody could learn any more when it no longer does. Never taken out.
static KEPT: Mutex<Vec<Box<dyn Send>>> = Mutex::new(Vec::new());

/// A TCP stream that sends memory without copying it. For all else it is the [stream](Self::stream) that it
/// was made of.
///
/// The kernel reads a buffer after the call has returned, and again if the peer did not get it. So buffers
/// are handed over, and come back, in their order, when it has done with them; until then nobody can change
/// or free them. Where copying costs less than that, which is so below some 10 KiB a buffer, and on the
/// loopback interface, which copies in any case, the usual way of sending serves better. There is none of
/// this for Unix sockets, which cannot do it.
///
/// What is only borrowed cannot be handed over:
///
/// ```compile_fail,E0597
/// # fn wrong(stream: &mut zorb_ipc::ZeroCopyStream<&'static [u8]>, deadline: std::time::Instant) {
/// let buffer = [0; 100_000];
/// stream.send_all(&buffer, deadline); // `buffer` does not live long enough
/// # }
/// ```
///
/// Buffers that the kernel still holds when this is dropped stay allocated to the program's end: take them
/// back first, by [`completed_by`](Self::completed_by) until it gives `None`. The connection ends as that of
/// any stream.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::{AcceptorOptions, TcpAcceptor, TcpStream, ZeroCopyStream};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let deadline = Instant::now() + Duration::from_secs(60);
/// let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new())?;
/// let mut client = ZeroCopyStream::new(TcpStream::connect(acceptor.local_address(), deadline)?)?;
/// let server = acceptor.accept_by(deadline)?;
///
/// let block: Arc<[u8]> = vec![7; 100_000].into();
/// client.send_all(block.clone(), deadline)?;
/// server.receive_exact(&mut vec![0; 100_000], deadline)?;
/// let completed = client.completed_by(deadline)?.expect("one was sent");
/// assert!(Arc::ptr_eq(&completed.buffer, &block));
/// assert!(completed.copied, "the loopback interface has no card that could read it");
/// # Ok(())
/// # }
/// ```
pub struct ZeroCopyStream<B: StableOctets> {
    stream: TcpStream,
    /// What the kernel took and has not been told to be done with, in the order of sending.
    parts: VecDeque<Part<B>>,
    /// The number that the kernel gives to the next call.
    next: u32,
    /// Whether anything was copied of the buffer whose parts are being taken out.
    copied: bool,
    /// The kernel has counted calls that were not made here, so nobody knows what its numbers mean.
    shared: bool,
}

/// What one call sent.
struct Part<B> {
    number: u32,
    /// The kernel holds its pages.
    held: bool,
    copied: bool,
    /// In the last part of each buffer.
    buffer: Option<B>,
}

/// A buffer that the kernel has done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed<B> {
    /// What was handed over.
    pub buffer: B,
    /// The kernel copied some of it after all: for this connection sending in the usual way costs less.
    pub copied: bool,
}

impl<B: StableOctets> ZeroCopyStream<B> {
    /// Sends by this stream without copying from here on.
    ///
    /// # Errors
    /// At [`Step::Configure`], with the stream: a kernel older than 4.14, or an invalid argument if the stream's
    /// descriptor, or a duplicate of it, has been used in this way already.
    pub fn new(stream: TcpStream) -> Result<Self, Refused<TcpStream>> {
        let prepare = || match raw::int(stream.as_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY)? {
            0 => raw::set_int(stream.as_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1),
            // Its count may not begin at zero.
            _ => Err(Errno::INVAL),
        };
        match prepare() {
            Ok(()) => Ok(Self { stream, parts: VecDeque::new(), next: 0, copied: false, shared: false }),
            Err(errno) => Err(Refused::new(stream.failed(Step::Configure, errno), stream)),
        }
    }

    /// The stream: to receive by, to end a direction, to send small things in the usual way between two
    /// buffers.
    ///
    /// While completions wait to be taken the kernel reports an error condition of it, so that its calls
    /// which wait by a deadline look again every millisecond: take completions first, or use
    /// [`receive_by`](Self::receive_by) of this type, or [`receive`](TcpStream::receive) with a timeout.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a buffer to its end by `deadline`. A system call for each MiB where there is room for it. It
    /// comes back by [`completed_by`](Self::completed_by), also if this fails: after those before it, when
    /// the kernel has done with what it took of it.
    ///
    /// # Errors
    /// As [`send_all`](TcpStream::send_all) of the stream, with [`Error::transferred`]. A protocol error: somebody
    /// else sends in this way by a duplicate of the descriptor; nothing was sent, and nothing comes back any
    /// more.
    #[inline]
    pub fn send_all(&mut self, buffer: B, deadline: Instant) -> Result<(), Error> {
        // Should anything panic, it is leaked instead of freed: the kernel may have begun to read.
        let buffer = ManuallyDrop::new(buffer);
        let octets = buffer.octets();
        // Nothing may fail between a call and the note of it.
        self.parts.reserve(1);
        // What is there by now is for calls before this one: so another's is told from this one's.
        if let Err(error) = self.note_completions().and_then(|()| self.alone()) {
            return self.send_on(ManuallyDrop::into_inner(buffer), Err(error), deadline);
        }
        let first = resumed(|| send(&self.stream, &octets[..octets.len().min(AT_ONCE)], UNCOPIED));
        if first == Ok(octets.len()) && !octets.is_empty() {
            let buffer = Some(ManuallyDrop::into_inner(buffer));
            self.parts.push_back(Part { number: self.next, held: true, copied: false, buffer });
            self.next = self.next.wrapping_add(1);
            return Ok(());
        }
        self.send_on(ManuallyDrop::into_inner(buffer), Ok(first), deadline)
    }

    /// Goes on with what the first call gave, or what kept it from being made.
    #[cold]
    #[inline(never)]
    fn send_on(
        &mut self,
        buffer: B,
        first: Result<Result<usize, Errno>, Error>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let buffer = ManuallyDrop::new(buffer);
        let octets = buffer.octets();
        let mut sent = 0;
        let done = first.and_then(|first| {
            let mut first = Some(first);
            while sent < octets.len() {
                let piece = &octets[sent..octets.len().min(sent + AT_ONCE)];
                sent += self.send_part(piece, first.take(), deadline)?;
            }
            Ok(())
        });
        let done = done.map_err(|error| error.with_transferred(sent));
        let buffer = Some(ManuallyDrop::into_inner(buffer));
        match self.parts.back_mut() {
            Some(last) if sent > 0 => last.buffer = buffer,
            _ => self.parts.push_back(Part { number: self.next, held: false, copied: false, buffer }),
        }
        done
    }

    /// Sends the beginning of `octets`, the first call of which may have been made: how many the kernel took.
    fn send_part(
        &mut self,
        octets: &[u8],
        mut first: Option<Result<usize, Errno>>,
        deadline: Instant,
    ) -> Result<usize, Error> {
        // Nothing may fail between the call and the note of it.
        self.parts.reserve(1);
        let (taken, held) = self.attempt_by(Step::Send, PollFlags::OUT, deadline, |stream| {
            match first.take().unwrap_or_else(|| resumed(|| send(stream, octets, UNCOPIED))) {
                // It may hold no more pages, or announce no more completions. What is copied has no number.
                Err(Errno::NOBUFS) => Ok((resumed(|| send(stream, octets, USUAL))?, false)),
                taken => Ok((taken?, true)),
            }
        })?;
        self.parts.push_back(Part { number: self.next, held, copied: !held, buffer: None });
        self.next = self.next.wrapping_add(held.into());
        Ok(taken)
    }

    /// The buffer that was handed over first of all that have not come back, if the kernel has done with it.
    ///
    /// # Errors
    /// At [`Step::Send`], if the completions cannot be received, or are not all for what was sent here (a
    /// protocol error): then nothing comes back any more. That the connection is gone is none of these: then
    /// the kernel has done with all of its buffers.
    #[inline]
    pub fn completed_now(&mut self) -> Result<Option<Completed<B>>, Error> {
        loop {
            if let Some(completed) = self.take() {
                return Ok(Some(completed));
            }
            let more = self.note_one()?;
            self.alone()?;
            if !more {
                return Ok(None);
            }
        }
    }

    /// The same, waiting for it until `deadline`. `None`: all have come back.
    ///
    /// # Errors
    /// As [`completed_now`](Self::completed_now), and [`Error::is_timeout`]: the kernel still holds it.
    pub fn completed_by(&mut self, deadline: Instant) -> Result<Option<Completed<B>>, Error> {
        // Those of a connection that is shut down are told by nothing that could be waited for.
        let mut waiting = Waiting::new(PollFlags::empty(), Some(deadline));
        loop {
            if let Some(completed) = self.completed_now()? {
                return Ok(Some(completed));
            }
            if self.parts.is_empty() {
                return Ok(None);
            }
            // A completion is reported as an error condition, which needs no asking for.
            self.wait(Step::Send, &mut waiting)?;
        }
    }

    /// How many buffers have been handed over and have not come back.
    pub fn outstanding(&self) -> usize {
        self.parts.iter().filter(|part| part.buffer.is_some()).count()
    }

    /// Receives what is there, at least one octet, and waits for it until `deadline`, as
    /// [`receive_by`](TcpStream::receive_by) of the stream; takes note of completions while it waits.
    ///
    /// # Errors
    /// As that one.
    pub fn receive_by(&mut self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        let received = self.attempt_by(Step::Receive, PollFlags::IN, deadline, |stream| {
            resumed(|| recv(stream, &mut *into, RecvFlags::DONTWAIT))
        });
        received.map(|(octets, _)| octets)
    }

    /// Attempts what would block until it does not, and takes note of completions in between: one that is left
    /// would end each wait at once.
    fn attempt_by<T>(
        &mut self,
        step: Step,
        what: PollFlags,
        deadline: Instant,
        mut attempt: impl FnMut(&TcpStream) -> Result<T, Errno>,
    ) -> Result<T, Error> {
        let mut waiting = Waiting::new(what, Some(deadline));
        loop {
            match attempt(&self.stream) {
                Err(Errno::AGAIN) => {}
                done => return done.map_err(|errno| self.stream.failed(step, errno)),
            }
            self.note_completions()?;
            self.wait(step, &mut waiting)?;
        }
    }

    fn wait(&self, step: Step, waiting: &mut Waiting) -> Result<(), Error> {
        match waiting.next(self.stream.as_fd()) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(self.stream.naming(Error::out_of_time(step))),
            Err(errno) => Err(self.stream.failed(step, errno)),
        }
    }

    /// The first buffer, if nothing of it is held.
    fn take(&mut self) -> Option<Completed<B>> {
        if self.shared {
            return None;
        }
        while self.parts.front().is_some_and(|part| !part.held) {
            let part = self.parts.pop_front()?;
            self.copied |= part.copied;
            if let Some(buffer) = part.buffer {
                return Some(Completed { buffer, copied: mem::take(&mut self.copied) });
            }
        }
        None
    }

    /// Receives all completions that are there.
    #[inline]
    fn note_completions(&mut self) -> Result<(), Error> {
        while self.note_one()? {}
        Ok(())
    }

    /// Receives one, if there is one.
    #[inline]
    fn note_one(&mut self) -> Result<bool, Error> {
        let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
        let mut range = None;
        let received = control::receive::<BESIDE>(self.stream.as_fd(), &mut [], flags, |rider| {
            range = range.or_else(|| Range::of(rider));
        });
        match received {
            Ok(_) => {
                if let Some(range) = range {
                    self.note(range);
                }
                Ok(true)
            }
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(self.stream.failed(Step::Send, errno)),
        }
    }

    #[inline]
    fn note(&mut self, range: Range) {
        match self.parts.front_mut() {
            // Usually it is the call that was made first.
            Some(first) if first.held && range.first == first.number && range.last == first.number => {
                first.held = false;
                first.copied = range.copied;
            }
            _ => self.note_several(range),
        }
    }

    #[inline(never)]
    fn note_several(&mut self, range: Range) {
        let mut unknown = u64::from(range.last.wrapping_sub(range.first)) + 1;
        let oldest = self.parts.front().map_or(0, |part| part.number);
        for part in &mut self.parts {
            // They stand in the order of their numbers, which begin anew after the greatest.
            if part.number.wrapping_sub(oldest) > range.last.wrapping_sub(oldest) {
                break;
            }
            if part.held && range.contains(part.number) {
                part.held = false;
                part.copied = range.copied;
                unknown -= 1;
            }
        }
        // The kernel announces each call once. So some call was another's, and which is anybody's guess.
        self.shared |= unknown > 0;
    }

    /// Whether all that completed was sent here.
    fn alone(&self) -> Result<(), Error> {
        if self.shared { Err(self.stream.failed(Step::Send, Errno::PROTO)) } else { Ok(()) }
    }
}

impl<B: StableOctets> Drop for ZeroCopyStream<B> {
    fn drop(&mut self) {
        // What cannot be found out counts as held.
        let _ = self.note_completions();
        while self.take().is_some() {}
        if !self.parts.is_empty() {
            let kept = Box::new(mem::take(&mut self.parts));
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        }
    }
}

impl<B: StableOctets> fmt::Debug for ZeroCopyStream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ZeroCopyStream");
        debug.field("stream", &self.stream).field("outstanding", &self.outstanding()).finish()
    }
}

impl<B: StableOctets> AsFd for ZeroCopyStream<B> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AcceptorOptions, TcpAcceptor};
    use std::time::Duration;

    /// Numbers begin anew after 2^32 calls, and completions may come out of order.
    #[test]
    fn completions_find_their_parts_across_the_end_of_the_numbers() {
        let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
        let soon = Instant::now() + Duration::from_secs(30);
        let stream = TcpStream::connect(acceptor.local_address(), soon).unwrap();
        let mut sender = ZeroCopyStream::<&'static [u8]>::new(stream).unwrap();
        let buffers: [&'static [u8]; 3] = [b"a", b"b", b"c"];
        let numbers = [u32::MAX - 1, u32::MAX, 0, 1];
        let owners = [None, Some(buffers[0]), Some(buffers[1]), Some(buffers[2])];
        for (number, buffer) in numbers.into_iter().zip(owners) {
            sender.parts.push_back(Part { number, held: true, copied: false, buffer });
        }
        assert_eq!(sender.outstanding(), 3);
        sender.note(Range { first: u32::MAX, last: 0, copied: false });
        assert_eq!(sender.take(), None, "the first part of the first buffer is still held");
        sender.note(Range { first: u32::MAX - 1, last: u32::MAX - 1, copied: true });
        assert_eq!(sender.take(), Some(Completed { buffer: buffers[0], copied: true }));
        assert_eq!(sender.take(), Some(Completed { buffer: buffers[1], copied: false }));
        assert_eq!((sender.take(), sender.outstanding()), (None, 1));
        sender.note(Range { first: 1, last: 1, copied: false });
        assert_eq!(sender.take(), Some(Completed { buffer: buffers[2], copied: false }));
    }

    /// Of no call, of one that was announced before, of one that is not held, of one too many.
    #[test]
    fn completions_that_belong_to_nobody_here_end_all_giving_back() {
        for (first, last) in [(7, 7), (0, 0), (2, 2), (1, 2), (4, 1)] {
            let acceptor =
                TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
            let soon = Instant::now() + Duration::from_secs(30);
            let stream = TcpStream::connect(acceptor.local_address(), soon).unwrap();
            let mut sender = ZeroCopyStream::<&'static [u8]>::new(stream).unwrap();
            for (number, held) in [(0, true), (1, true), (2, false)] {
                sender.parts.push_back(Part { number, held, copied: false, buffer: Some(b"x") });
            }
            sender.note(Range { first: 0, last: 0, copied: false });
            sender.note(Range { first, last, copied: false });
            assert_eq!(sender.take(), None, "{first} to {last}");
            assert!(sender.completed_now().is_err() && sender.send_all(b"y", soon).is_err());
        }
    }
}
