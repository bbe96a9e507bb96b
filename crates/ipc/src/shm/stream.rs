//! A channel's end: octets in and out of the rings, and the end of it.

use std::fmt;
use std::io::{IoSlice, IoSliceMut};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use rustix::io::Errno;

use super::closing::renamed;
use super::layout::Lane;
use super::loans::{Borrowing, Candidate, Heard, LENT_FROM, Lending};
use super::ring::{Consumer, Producer};
use super::setup::{self, Hello, Memory};
use super::slabs::Bulk;
use super::{LentBytes, ShmOptions, ShmRole, Slabs, TrustedPeers};
use crate::{
    Credentials, Error, Refused, Segment, Spinner, Spinners, Spinning, Step, UnixAddress, UnixStream,
};

/// Both directions were ended here.
pub(super) const SHUT: u32 = 1;
/// The other side's end of the socket is closed.
pub(super) const HUNG: u32 = 2;
/// The peer broke the rules.
pub(super) const BROKEN: u32 = 4;
/// Any of these ends receiving, once what is there was taken.
pub(super) const OVER: u32 = SHUT | HUNG | BROKEN;
/// The sending direction was ended here. This and any of the others ends sending.
pub(super) const ENDED_HERE: u32 = 8;

/// A connection within a machine whose octets go through shared memory. While the other side is awake, sending and
/// receiving make no system call.
///
/// It can do what a [`Stream`](crate::Stream) can, by calls of the same names, and is generic code's
/// [`ByteStream`](crate::ByteStream). All calls take `&self`: one thread may send while another receives; threads that do the
/// same take turns, call by call.
///
/// A peer that ends its direction or is dropped is noticed at once, one that is killed after 100 ms at the latest by who
/// waits, and at once by who asks [`idle`](Self::idle) or waits in an [`Epoll`](crate::Epoll). What it had sent can still be received.
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::{ShmOptions, ShmStream};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let (one, other) = ShmStream::pair(&ShmOptions::new())?;
/// let deadline = Instant::now() + Duration::from_secs(5);
/// one.send_all(&mut [IoSlice::new(b"hello, "), IoSlice::new(b"world")], deadline)?;
/// let mut text = [0; 12];
/// other.receive_exact(&mut text, deadline)?;
/// assert_eq!(&text, b"hello, world");
/// # Ok(())
/// # }
/// ```
pub struct ShmStream {
    pub(super) socket: UnixStream,
    pub(super) segment: Arc<Segment>,
    pub(super) outgoing: Lane,
    pub(super) incoming: Lane,
    pub(super) sending: Mutex<Producer>,
    receiving: Mutex<Consumer>,
    bulk: Option<Bulk>,
    /// From how many octets on slabs are used.
    much: u32,
    /// What is sent of loans, if any were made known.
    lending: Option<Lending>,
    borrowing: Mutex<Borrowing>,
    /// How many of the peer's loans were taken, as its books say, for a look without the lock.
    borrowed: AtomicU32,
    trust: Option<TrustedPeers>,
    /// [`SHUT`], [`HUNG`], [`BROKEN`], [`ENDED_HERE`].
    pub(super) state: AtomicU32,
    /// How many threads sleep for octets, and for room.
    pub(super) receivers: AtomicU32,
    pub(super) senders: AtomicU32,
    /// What the options say.
    spinning: Option<Spinning>,
    /// Made by the first wait, or by who says how to.
    spinners: OnceLock<Sides<Spinner>>,
}

/// One for each direction.
pub(super) struct Sides<T> {
    pub(super) receive: T,
    pub(super) send: T,
}

/// What a look at the incoming ring brought.
pub(super) enum Taken {
    Octets(usize),
    End,
    /// Nothing yet; the producer stood there.
    Empty(u32),
}

/// What an attempt to fill the outgoing ring brought.
pub(super) enum Put {
    Octets(usize),
    /// No room yet; the consumer stood there.
    Full(u32),
}

impl ShmStream {
    /// Two ends that are connected with each other, in this process.
    ///
    /// # Errors
    /// At [`Step::Open`] or [`Step::Configure`]: there are no descriptors or there is no memory left; at
    /// [`Step::Map`].
    pub fn pair(options: &ShmOptions) -> Result<(Self, Self), Error> {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let (one, other) = pair.map_err(|errno| Error::os(Step::Open, errno))?;
        let (one, other) = (UnixStream::adopt(one)?, UnixStream::adopt(other)?);
        // Neither waits: the message fits the socket's queue, and is in it.
        let now = Instant::now();
        let one = Self::over(one, ShmRole::Initiator, options, now)?;
        let responder = options.clone().largest_ring(options.ring).largest_slabs(Slabs::MOST);
        Ok((one, Self::over(other, ShmRole::Responder, &responder, now)?))
    }

    /// Makes a connection of two Unix streams into a channel: the other end has to do the same in the other role. From here
    /// on the socket is the channel's, which must be the first to use it.
    ///
    /// The initiator, whose options give the size of the rings, does not wait for the responder.
    ///
    /// # Errors
    /// With the socket, of which a part of what sets the channel up may have been used: as [`pair`](Self::pair), and as
    /// [`UnixStream::send_passing`] and [`UnixStream::receive_passed`]; [`Error::is_broken_by_peer`] if the responder was sent
    /// something else, or rings that are larger than it [accepts](ShmOptions::largest_ring).
    pub fn over(
        socket: UnixStream,
        role: ShmRole,
        options: &ShmOptions,
        deadline: Instant,
    ) -> Result<Self, Refused<UnixStream>> {
        let set_up = || match role {
            ShmRole::Initiator => setup::initiate(&socket, options, deadline),
            ShmRole::Responder => {
                let mut hello = Hello::default();
                hello.receive(&socket, deadline)?;
                hello.memory(options)
            }
        };
        match set_up() {
            Ok(memory) => Ok(Self::of(socket, memory, role, options)),
            Err(error) => Err(Refused::new(error, socket)),
        }
    }

    pub(super) fn of(
        socket: UnixStream,
        Memory { segment, ring, slabs }: Memory,
        role: ShmRole,
        options: &ShmOptions,
    ) -> Self {
        let (ours, theirs) = (Lane::from_initiator(ring), Lane::from_responder(ring));
        let (outgoing, incoming) = match role {
            ShmRole::Initiator => (ours, theirs),
            ShmRole::Responder => (theirs, ours),
        };
        let capacity = ring.octets() as u32;
        let bulk = slabs.map(|(memory, slabs)| Bulk::new(memory, slabs, role));
        let segment = Arc::new(segment);
        // Whose user is not known is lent nothing.
        let user = options.loans.as_ref().and_then(|_| socket.peer_credentials().ok());
        let lending = options.loans.clone().zip(user);
        let lending =
            lending.map(|(loans, user)| Lending::new(loans, user.user, Arc::clone(&segment), outgoing));
        let borrowing = Borrowing::new(Arc::clone(&segment), incoming, options.most_lent.0);
        Self {
            socket,
            segment,
            outgoing,
            incoming,
            sending: Mutex::new(Producer::new(capacity)),
            receiving: Mutex::new(Consumer::new(capacity)),
            much: bulk.as_ref().map_or(u32::MAX, Bulk::threshold),
            bulk,
            lending,
            borrowing: Mutex::new(borrowing),
            borrowed: AtomicU32::new(0),
            trust: options.trust,
            state: AtomicU32::new(0),
            receivers: AtomicU32::new(0),
            senders: AtomicU32::new(0),
            spinning: options.spinning,
            spinners: OnceLock::new(),
        }
    }

    /// Counts this end's threads among those that spin, and has it spin as they do where its [options](ShmOptions::spinning) do
    /// not say how. To be told before the first wait; afterwards it changes nothing.
    pub fn spin(&self, spinners: &Spinners) {
        self.spinners.get_or_init(|| self.sides(spinners));
    }

    fn sides(&self, spinners: &Spinners) -> Sides<Spinner> {
        let spinners = match self.spinning {
            Some(own) => &spinners.spinning(own),
            None => spinners,
        };
        Sides { receive: spinners.memory_spinner(), send: spinners.memory_spinner() }
    }

    #[inline]
    pub(super) fn spinners(&self) -> &Sides<Spinner> {
        self.spinners.get_or_init(|| self.sides(&Spinners::new(Spinning::adaptive())))
    }

    /// Who is at the other end, as [`UnixStream::peer_credentials`] tells it.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn peer_credentials(&self) -> Result<Credentials, Error> {
        self.socket.peer_credentials().map_err(renamed)
    }

    /// The address that the peer listens on, if this end made the connection, or one that it chose to have.
    pub fn peer(&self) -> Option<&UnixAddress> {
        self.socket.peer_address()
    }

    // ---- receiving ----

    /// Takes what is there, or only looks at it.
    #[inline]
    pub(super) fn take(&self, into: &mut [IoSliceMut<'_>], keep: bool) -> Result<Taken, Error> {
        let wanted: usize = into.iter().map(|slice| slice.len()).sum();
        if wanted == 0 {
            return Ok(Taken::Octets(0));
        }
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let head = self.incoming.head(&self.segment);
        let mut consumer = lock(&self.receiving);
        let mut available = consumer.available(head, wanted).map_err(|_| self.broken(Step::Receive))?;
        if available == 0 {
            let ended = self.incoming.ended(&self.segment).load(Acquire) != 0;
            if !ended && self.state.load(Acquire) & OVER == 0 {
                return Ok(Taken::Empty(consumer.seen()));
            }
            // What was sent before the end was there before the end was.
            available = consumer.available(head, wanted).map_err(|_| self.broken(Step::Receive))?;
            if available == 0 {
                drop(consumer);
                return self.end();
            }
        }
        let mut most = available.min(wanted) as usize;
        match self.loan_ahead(&consumer)? {
            Some(0) => return Ok(Taken::Octets(self.take_loan(&mut consumer, into, keep))),
            Some(ahead) => most = most.min(ahead as usize),
            None => {}
        }
        if let Some(bulk) = &self.bulk {
            let (posted, capacity) = (self.incoming.posted(&self.segment), self.incoming.capacity() as u32);
            let words = |place| self.incoming.reference(place);
            let ahead = bulk.ahead(posted, consumer.position(), capacity, words, &self.segment);
            match ahead.map_err(|_| self.broken_by(Step::Receive, "a slab that cannot be"))? {
                Some(0) => return self.take_slab(bulk, &mut consumer, into, keep),
                Some(ahead) => most = most.min(ahead as usize),
                None => {}
            }
        }
        let (mut place, mut taken) = (consumer.place(), 0);
        let round = self.incoming.capacity() - 1;
        for slice in into {
            let octets = slice.len().min(most - taken);
            let Some(part) = slice.get_mut(..octets) else { break };
            self.incoming.take(&self.segment, place, part)?;
            (place, taken) = ((place + octets) & round, taken + octets);
            if taken == most {
                break;
            }
        }
        if !keep {
            consumer.consume(self.incoming.tail(&self.segment), taken as u32);
            drop(consumer);
            self.ring(self.incoming.room(&self.segment));
        }
        Ok(Taken::Octets(taken))
    }

    /// How many octets of the ring come before those that stand for a loan, if there is one.
    #[inline]
    pub(super) fn loan_ahead(&self, consumer: &Consumer) -> Result<Option<u32>, Error> {
        let lent = self.incoming.lent(&self.segment).load(Acquire);
        if lent == self.borrowed.load(Relaxed) {
            return Ok(None);
        }
        let ahead = lock(&self.borrowing).ahead(lent, consumer.position(), &self.socket);
        ahead.map_err(|_| self.broken_by(Step::Receive, "a loan that cannot be"))
    }

    /// Copies of a loan, whose octet is the next of the ring.
    fn take_loan(&self, consumer: &mut Consumer, into: &mut [IoSliceMut<'_>], keep: bool) -> usize {
        let mut borrowing = lock(&self.borrowing);
        let (taken, all) = borrowing.copy(into, keep);
        if all {
            self.borrowed.store(borrowing.taken(), Relaxed);
            drop(borrowing);
            consumer.consume(self.incoming.tail(&self.segment), 1);
            self.ring(self.incoming.room(&self.segment));
        }
        taken
    }

    /// What comes next, in place, if a [trusted](ShmOptions::trusting) peer has lent it, nothing of it was received yet, and it is at most so many
    /// octets; `None` in all other cases, in which [`receive_now`](Self::receive_now) tells more. Never waits.
    ///
    /// # Errors
    /// [`Error::is_broken_by_peer`].
    pub fn receive_lent(&self, most: usize) -> Result<Option<LentBytes>, Error> {
        let Some(trust) = self.trust else { return Ok(None) };
        let mut consumer = lock(&self.receiving);
        let head = self.incoming.head(&self.segment);
        let available = consumer.available(head, 1).map_err(|_| self.broken(Step::Receive))?;
        if available == 0 || self.loan_ahead(&consumer)? != Some(0) {
            return Ok(None);
        }
        let mut borrowing = lock(&self.borrowing);
        let Some(lent) = borrowing.lend(most, trust) else { return Ok(None) };
        self.borrowed.store(borrowing.taken(), Relaxed);
        drop(borrowing);
        consumer.consume(self.incoming.tail(&self.segment), 1);
        drop(consumer);
        self.ring(self.incoming.room(&self.segment));
        Ok(Some(lent))
    }

    /// Takes what the socket holds.
    pub(super) fn hear(&self) -> Heard {
        lock(&self.borrowing).hear(&self.socket)
    }

    /// Takes of a slab, whose octet is the next of the ring.
    fn take_slab(
        &self,
        bulk: &Bulk,
        consumer: &mut Consumer,
        into: &mut [IoSliceMut<'_>],
        keep: bool,
    ) -> Result<Taken, Error> {
        let (taken, all) = bulk.empty(keep, |memory, at, left| {
            let mut taken = 0;
            for slice in into {
                let octets = slice.len().min(left - taken);
                let Some(part) = slice.get_mut(..octets) else { break };
                memory.copy_out(at + taken, part)?;
                taken += octets;
            }
            Ok(taken)
        })?;
        if all {
            consumer.consume(self.incoming.tail(&self.segment), 1);
            self.ring(self.incoming.room(&self.segment));
        }
        Ok(Taken::Octets(taken))
    }

    /// Nothing is left to receive: whether the peer left something, too, is for the sender to know.
    #[cold]
    fn end(&self) -> Result<Taken, Error> {
        let state = self.state.load(Acquire);
        if state & BROKEN != 0 {
            return Err(self.broken(Step::Receive));
        }
        let gone = state & HUNG != 0 || self.outgoing.gone(&self.segment).load(Acquire) != 0;
        let unread = || lock(&self.sending).is_unread(self.outgoing.tail(&self.segment));
        if gone && state & SHUT == 0 && unread() {
            return Err(self.failed(Step::Receive, Errno::CONNRESET));
        }
        Ok(Taken::End)
    }

    /// Looks without waiting, also at whether the peer is still there.
    pub(super) fn take_now(&self, into: &mut [IoSliceMut<'_>], keep: bool) -> Result<usize, Error> {
        loop {
            match self.take(into, keep)? {
                Taken::Octets(taken) => return Ok(taken),
                Taken::End => return Ok(0),
                // Once known, it is empty no more.
                Taken::Empty(_) if self.hangs_up() => {}
                Taken::Empty(_) => return Err(self.failed(Step::Receive, Errno::AGAIN)),
            }
        }
    }

    #[inline]
    pub(super) fn take_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        loop {
            match self.take(into, false)? {
                Taken::Octets(taken) => return Ok(taken),
                Taken::End => return Ok(0),
                Taken::Empty(seen) => {
                    if !self.wait_for_octets(seen, deadline)? {
                        return Err(self.naming(Error::out_of_time(Step::Receive)));
                    }
                }
            }
        }
    }

    /// What there is to receive, without taking it.
    pub(super) fn look(&self) -> Result<Taken, Error> {
        self.take(&mut [IoSliceMut::new(&mut [0])], true)
    }

    // ---- sending ----

    #[inline]
    pub(super) fn put(&self, slices: &[IoSlice<'_>]) -> Result<Put, Error> {
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        if wanted == 0 {
            return Ok(Put::Octets(0));
        }
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let mut producer = lock(&self.sending);
        if self.is_closed_to_sending() {
            drop(producer);
            return Err(self.cannot_send());
        }
        let (mut slices, mut wanted) = (slices, wanted);
        if wanted >= LENT_FROM as u32
            && let Some(lending) = &self.lending
            && let Some((at, loan)) = lending.first(slices.iter().map(|slice| &**slice))
        {
            // What comes before it goes with it, if there is room for that, or else first.
            let before = slices.get(..at).unwrap_or_default();
            let octets: usize = before.iter().map(|slice| slice.len()).sum();
            if self.lend(lending, &loan, &mut producer, before, octets)? {
                drop(producer);
                self.ring(self.outgoing.data(&self.segment));
                return Ok(Put::Octets(octets + loan.octets));
            }
            if octets > 0 {
                (slices, wanted) = (before, u32::try_from(octets).unwrap_or(u32::MAX));
            }
        }
        if wanted >= self.much
            && let Some(bulk) = &self.bulk
            && let Some(put) = self.put_slab(bulk, &mut producer, slices, wanted)?
        {
            drop(producer);
            self.ring(self.outgoing.data(&self.segment));
            return Ok(Put::Octets(put));
        }
        let room = producer.room(self.outgoing.tail(&self.segment), wanted);
        let room = room.map_err(|_| self.broken(Step::Send))?;
        if room == 0 {
            return Ok(Put::Full(producer.seen()));
        }
        let put = self.fill(producer.place(), slices, room.min(wanted) as usize)?;
        producer.publish(self.outgoing.head(&self.segment), put as u32);
        drop(producer);
        self.ring(self.outgoing.data(&self.segment));
        Ok(Put::Octets(put))
    }

    /// Copies so many octets into the ring, for which there is room.
    #[inline]
    fn fill(&self, mut place: usize, slices: &[IoSlice<'_>], most: usize) -> Result<usize, Error> {
        let (mut put, round) = (0, self.outgoing.capacity() - 1);
        for slice in slices {
            let octets = slice.len().min(most - put);
            let Some(part) = slice.get(..octets) else { break };
            self.outgoing.put(&self.segment, place, part)?;
            (place, put) = ((place + octets) & round, put + octets);
            if put == most {
                break;
            }
        }
        Ok(put)
    }

    /// Lends what is a loan, behind what comes before it, of so many octets, if that and the loan's octet fit the ring. All of it is published at once, so
    /// that who receives the head of a message finds the rest there.
    fn lend(
        &self,
        lending: &Lending,
        loan: &Candidate,
        producer: &mut Producer,
        before: &[IoSlice<'_>],
        octets: usize,
    ) -> Result<bool, Error> {
        // As much as there can be, so that it looks what was taken.
        let room = producer.room(self.outgoing.tail(&self.segment), u32::MAX);
        let room = room.map_err(|_| self.broken(Step::Send))?;
        if octets >= room as usize {
            return Ok(false);
        }
        let head = producer.position().wrapping_add(octets as u32);
        if !lending.lend(loan, (head, producer.seen()), &self.socket) {
            return Ok(false);
        }
        self.fill(producer.place(), before, octets)?;
        producer.publish(self.outgoing.head(&self.segment), octets as u32 + 1);
        Ok(true)
    }

    /// Puts octets into a slab, if one is free and its octet fits the ring.
    fn put_slab(
        &self,
        bulk: &Bulk,
        producer: &mut Producer,
        slices: &[IoSlice<'_>],
        wanted: u32,
    ) -> Result<Option<usize>, Error> {
        // As much as there can be, so that it looks what was taken.
        let room = producer.room(self.outgoing.tail(&self.segment), u32::MAX);
        if room.map_err(|_| self.broken(Step::Send))? == 0 {
            return Ok(None);
        }
        let most = bulk.size().min(wanted as usize);
        // One's own word, which the peer may have changed: it is a hint.
        let heard = self.incoming.tail(&self.segment).load(Relaxed);
        let positions = (producer.position(), producer.seen(), heard);
        let (posted, words) = (self.outgoing.posted(&self.segment), |place| self.outgoing.reference(place));
        let filled = bulk.fill(positions, most as u32, posted, words, &self.segment, |memory, at| {
            let mut put = 0;
            for slice in slices {
                let octets = slice.len().min(most - put);
                memory.copy_in(at + put, &slice[..octets])?;
                put += octets;
            }
            Ok(())
        })?;
        if !filled {
            return Ok(None);
        }
        producer.publish(self.outgoing.head(&self.segment), 1);
        Ok(Some(most))
    }

    /// Gives the memory of slabs that nothing lies in back to the system, of those that this end fills; how many octets. The next
    /// large message takes memory again, a system call for each slab: for a connection that is idle. Of loans the peer is told to unmap those that it has
    /// given back, and [those that nobody uses](crate::Loans::rest) go.
    ///
    /// # Errors
    /// At [`Step::Send`] if the peer broke the rules, at [`Step::Access`] what the system says.
    pub fn give_back_memory(&self) -> Result<usize, Error> {
        if let Some(lending) = &self.lending {
            lending.rest(&self.socket);
        }
        let Some(bulk) = &self.bulk else { return Ok(0) };
        let mut producer = lock(&self.sending);
        // As much as there can be, so that it looks what was taken.
        let room = producer.room(self.outgoing.tail(&self.segment), u32::MAX);
        room.map_err(|_| self.broken(Step::Send))?;
        bulk.give_back((producer.position(), producer.seen()))
    }

    /// What there is room for; `None`: there is some, or sending would fail.
    pub(super) fn room(&self) -> Result<Option<u32>, Error> {
        let mut producer = lock(&self.sending);
        if self.is_closed_to_sending() {
            return Ok(None);
        }
        let room = producer.room(self.outgoing.tail(&self.segment), 1);
        match room.map_err(|_| self.broken(Step::Send))? {
            0 => Ok(Some(producer.seen())),
            _ => Ok(None),
        }
    }

    #[inline]
    fn is_closed_to_sending(&self) -> bool {
        self.state.load(Relaxed) != 0 || self.outgoing.gone(&self.segment).load(Relaxed) != 0
    }

    #[cold]
    fn cannot_send(&self) -> Error {
        if self.state.load(Acquire) & BROKEN != 0 {
            return self.broken(Step::Send);
        }
        self.failed(Step::Send, Errno::PIPE)
    }

    #[inline]
    pub(super) fn put_now(&self, slices: &[IoSlice<'_>]) -> Result<usize, Error> {
        loop {
            match self.put(slices)? {
                Put::Octets(put) => return Ok(put),
                Put::Full(_) if self.hangs_up() => {}
                Put::Full(_) => return Err(self.failed(Step::Send, Errno::AGAIN)),
            }
        }
    }

    #[inline]
    pub(super) fn put_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<usize, Error> {
        loop {
            match self.put(slices)? {
                Put::Octets(put) => return Ok(put),
                Put::Full(seen) => {
                    if !self.wait_for_room(seen, deadline)? {
                        return Err(self.naming(Error::out_of_time(Step::Send)));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for ShmStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = self.incoming.capacity();
        f.debug_struct("ShmStream").field("socket", &self.socket).field("ring", &ring).finish_non_exhaustive()
    }
}

/// What a lock protects is whole after every step, so that a panic in one thread does not concern the others.
#[inline]
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
