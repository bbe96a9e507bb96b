//! The side that lends: which memory has which place at the peer, what is out, and what has come back.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::layout::Lane;
use super::pool::Region;
use super::{CLEARED, Loans, PLACED, PLACES, RECORDS, Record};
use crate::{Segment, UnixStream};

/// What peers have of a piece of memory.
#[derive(Default)]
pub(in super::super) struct Owed {
    /// Whose processes have it, or had it.
    user: Option<u32>,
    by: Vec<Debt>,
}

struct Debt {
    ledger: Arc<Ledger>,
    place: usize,
    /// How often it was sent from that place.
    sent: u32,
}

/// The words in which one peer counts what it gives back.
struct Ledger {
    segment: Arc<Segment>,
    lane: Lane,
    /// The channel is no more.
    over: AtomicBool,
}

impl Debt {
    fn is_paid(&self) -> bool {
        self.ledger.lane.returned(&self.ledger.segment, self.place).load(Acquire) == self.sent
    }
}

impl Owed {
    /// Whether nobody has it.
    pub(super) fn is_back(&mut self) -> bool {
        self.by.retain(|debt| !debt.is_paid());
        self.by.is_empty()
    }

    /// Whether somebody has it who will not give it back: the channel has ended.
    pub(super) fn is_lost(&mut self) -> bool {
        self.by.iter().any(|debt| debt.ledger.over.load(Acquire) && !debt.is_paid())
    }
}

/// The books of one channel.
pub(in super::super) struct Lending {
    loans: Loans,
    /// Whose process the peer is.
    user: u32,
    ledger: Arc<Ledger>,
    books: Mutex<Books>,
}

struct Books {
    places: [Place; PLACES],
    /// Octets in all places.
    octets: usize,
    /// Records that were written, and how many of these the peer has read, modulo 2³².
    posted: u32,
    returned: u32,
    /// Where the octet of each stands.
    out: [u32; RECORDS],
    /// Counts what is sent, so that the place that was used longest ago is known.
    now: u64,
}

#[derive(Default)]
struct Place {
    region: Option<Arc<Region>>,
    edition: u16,
    /// How often something was sent from it.
    sent: u32,
    used: u64,
}

impl Lending {
    pub(in super::super) fn new(loans: Loans, user: u32, segment: Arc<Segment>, lane: Lane) -> Self {
        let ledger = Arc::new(Ledger { segment, lane, over: AtomicBool::new(false) });
        let places = std::array::from_fn(|_| Place::default());
        let books = Books { places, octets: 0, posted: 0, returned: 0, out: [0; RECORDS], now: 0 };
        Self { loans, user, ledger, books: Mutex::new(books) }
    }

    /// The first of these that is a loan, and what it is.
    pub(in super::super) fn first<'s>(
        &self,
        mut slices: impl Iterator<Item = &'s [u8]>,
    ) -> Option<(usize, Candidate)> {
        let mut at = 0;
        slices.find_map(|slice| {
            let found = self.loans.find(slice);
            at += 1;
            found.map(|(region, offset)| (at - 1, Candidate { region, offset, octets: slice.len() }))
        })
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that those octets stand at `head`, where their octet must follow. False: they have to be copied, since too much is on its way, or the peer maps no
    /// more, or is another user's than the one who had it.
    pub(in super::super) fn lend(
        &self,
        candidate: &Candidate,
        (head, tail): (u32, u32),
        socket: &UnixStream,
    ) -> bool {
        let (segment, lane) = (&*self.ledger.segment, self.ledger.lane);
        let mut books = self.books();
        let Some(record) = books.free_record(head, tail) else { return false };
        let mut owed = candidate.region.owed.lock().unwrap_or_else(PoisonError::into_inner);
        if owed.user.is_some_and(|user| user != self.user) {
            return false;
        }
        let Some(place) = books.place_of(candidate, &self.ledger, socket) else { return false };
        let edition = books.places[place].edition;
        let (offset, length) = (candidate.offset as u32, candidate.octets as u32);
        let said = Record { position: head, place, edition, offset, length };
        for (word, said) in lane.record(segment, record).into_iter().zip(said.to_words()) {
            word.store(said, Relaxed);
        }
        books.out[record] = head;
        books.posted = books.posted.wrapping_add(1);
        lane.lent(segment).store(books.posted, Release);
        let sent = books.places[place].sent.wrapping_add(1);
        books.places[place].sent = sent;
        owed.user = Some(self.user);
        match owed.by.iter_mut().find(|debt| Arc::ptr_eq(&debt.ledger, &self.ledger) && debt.place == place) {
            Some(debt) => debt.sent = sent,
            None => owed.by.push(Debt { ledger: Arc::clone(&self.ledger), place, sent }),
        }
        true
    }

    /// Takes the memory out of those places of which nothing is out, so that it can be given back: the peer is told, and unmaps it.
    pub(in super::super) fn rest(&self, socket: &UnixStream) {
        let mut books = self.books();
        for place in 0..PLACES {
            if books.places[place].region.is_some() && books.is_clear(place, &self.ledger) {
                // Where there is no room to say so it stays.
                books.clear(place, socket);
            }
        }
        drop(books);
        self.loans.rest();
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        self.ledger.over.store(true, Release);
    }
}

/// Octets that can be lent.
pub(in super::super) struct Candidate {
    region: Arc<Region>,
    offset: usize,
    pub(in super::super) octets: usize,
}

impl Books {
    /// A record that the peer has read, or that was not used yet.
    fn free_record(&mut self, head: u32, tail: u32) -> Option<usize> {
        let unread = head.wrapping_sub(tail);
        while self.returned != self.posted {
            let position = self.out[self.returned as usize % RECORDS];
            // One that stands in the ring is never further back than what is unread.
            if head.wrapping_sub(position) <= unread {
                break;
            }
            self.returned = self.returned.wrapping_add(1);
        }
        let free = self.posted.wrapping_sub(self.returned) < RECORDS as u32;
        free.then_some(self.posted as usize % RECORDS)
    }

    /// The place that this memory has at the peer, or gets now.
    fn place_of(&mut self, candidate: &Candidate, ledger: &Ledger, socket: &UnixStream) -> Option<usize> {
        self.now += 1;
        let has_it = |place: &Place| {
            place.region.as_ref().is_some_and(|region| Arc::ptr_eq(region, &candidate.region))
        };
        let place = match self.places.iter().position(has_it) {
            Some(place) => place,
            None => self.make_place(candidate, ledger, socket)?,
        };
        self.places[place].used = self.now;
        Some(place)
    }

    #[cold]
    fn make_place(&mut self, candidate: &Candidate, ledger: &Ledger, socket: &UnixStream) -> Option<usize> {
        let size = candidate.region.memory.octets();
        let most = (ledger.lane.takes(&ledger.segment).load(Acquire) as usize) << 20;
        let mut place = self.places.iter().position(|place| place.region.is_none());
        while place.is_none() || self.octets + size > most {
            // What was used longest ago makes room.
            let clear = (0..PLACES)
                .filter(|place| self.places[*place].region.is_some() && self.is_clear(*place, ledger));
            let oldest = clear.min_by_key(|place| self.places[*place].used)?;
            if !self.clear(oldest, socket) {
                return None;
            }
            place = Some(oldest);
        }
        let place = place?;
        // The octet comes with the descriptor, and before the record.
        if !socket.pass_now(PLACED | place as u8, candidate.region.memory.as_fd()) {
            return None;
        }
        self.octets += size;
        let at = &mut self.places[place];
        at.edition = at.edition.wrapping_add(1);
        at.region = Some(Arc::clone(&candidate.region));
        Some(place)
    }

    /// Whether all that was sent from the place has come back.
    fn is_clear(&self, place: usize, ledger: &Ledger) -> bool {
        ledger.lane.returned(&ledger.segment, place).load(Acquire) == self.places[place].sent
    }

    /// Takes the memory out of the place, and tells the peer. False: that cannot be said now.
    fn clear(&mut self, place: usize, socket: &UnixStream) -> bool {
        let said = socket.send_now(&[IoSlice::new(&[CLEARED | place as u8])]).is_ok();
        if said && let Some(region) = self.places[place].region.take() {
            self.octets -= region.memory.octets();
        }
        said
    }
}
