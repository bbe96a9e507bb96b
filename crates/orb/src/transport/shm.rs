//! Shared memory: the user-level network. Two processes of one machine exchange messages through a ring each way in
//! sealed memory, and while both are awake no system call is made.
//!
//! ```text
//! client ── Unix socket: a sealed memfd ──► server      once, when it connects
//!        ══ ring of requests, ring of replies ══        each message
//!        ── an octet on the socket ──►                  only if the other one sleeps in a set of descriptors
//! ```
//!
//! Addresses to listen at, who may be at the other end, and which machine a reference means: as of [Unix
//! sockets](super::unix). References carry it as zorb's own component ([`ComponentTag::ZORB_SHM`]) of the IIOP profile,
//! which other ORBs pass over.
//!
//! What is written in memory made for it ([`Orb::loan`](crate::Orb::loan)) is sent without a copy: the peer maps it and copies it once, or reads it in
//! place where it [trusts its peers](Shm::trusting).
//!
//! A message may be larger than a ring: much data goes through slabs beside it ([`Shm::slabs`]), and where they are full or
//! too small through the ring in parts, as it is received. What the peer does to the memory harms nobody: `zorb_ipc`'s channel checks what it reads there and copies each octet out once ([`zorb_ipc::ShmStream`]
//! says what a hostile peer can do: end its own connection).

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use zorb_giop::{ComponentTag, IiopProfile, Ior, TaggedProfile};
pub use zorb_ipc::TrustedPeers;
use zorb_ipc::{
    Credentials, Error, Loans, RingSize, ShmAcceptor, ShmOptions, ShmRole, ShmStream, Slabs, Spinners,
    Spinning, UnixAddress, UnixConnector,
};

use super::machine::{Arriving, Machine, Users, invalid};
use super::{
    Acceptor, Armed, Channel, Declined, Endpoint, Idle, Lendable, Received, Transport, Wanted, Ways,
};

const NAME: &str = "shm";

/// Shared memory between processes of this machine.
#[derive(Clone)]
pub struct Shm {
    machine: Machine,
    options: ShmOptions,
    /// What it was told, for people.
    ring: Option<usize>,
    /// `None` in it: that there are none.
    slabs: Option<Option<Slabs>>,
    spinning: Option<Spinning>,
    /// Where loans come from. Copies of this have the same, so that a connection of any of them can lend.
    loans: Option<Loans>,
    lent: Option<usize>,
    borrowed: Option<usize>,
    trusting: bool,
}

impl Shm {
    /// Between processes of this user, with rings of 128 KiB, 32 slabs of 128 KiB each way, and waits that learn whether to spin.
    pub fn new() -> Shm {
        let options = RingSize::new(RING).map(|ring| ShmOptions::new().ring(ring)).unwrap_or_default();
        let options = options.slabs(Slabs::new(SLABS, SLAB).ok());
        Shm {
            machine: Machine::new(NAME),
            options,
            ring: None,
            slabs: None,
            spinning: None,
            loans: Some(Loans::new(LOANS)),
            lent: None,
            borrowed: None,
            trusting: false,
        }
    }

    /// A second transport of this kind, under a name of its own: as [`Tcp::named`](super::tcp::Tcp::named).
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Shm {
        self.machine.rename(name);
        self
    }

    /// Talks to these users, whether they connect or are connected to.
    #[must_use]
    pub fn users(mut self, users: Users) -> Shm {
        self.machine.users = users;
        self
    }

    /// Octets of each ring of the connections that a client opens: a power of two, 4 KiB to 1 GiB; 128 KiB otherwise. A server accepts up to
    /// 16 MiB, or what it has here if that is more. Each connection takes twice as much memory, as it is used.
    ///
    /// # Errors
    /// Any other number.
    pub fn ring(mut self, octets: usize) -> io::Result<Shm> {
        let size = RingSize::new(octets).map_err(invalid)?;
        self.options = self.options.ring(size);
        self.ring = Some(octets);
        if octets > LARGEST {
            self.options = self.options.largest_ring(size);
        }
        Ok(self)
    }

    /// Slabs for much data beside the rings of the connections that a client opens: how many each direction has, 1 to 64, and
    /// octets of each, 4 KiB to 16 MiB; powers of two, 64 MiB together. 32 of 128 KiB otherwise. What is sent at once and would
    /// fill half a slab goes into one, if one is free. A server accepts up to 16 MiB each way, or what it has here if that is
    /// more. A slab takes memory from its first use on until the connection has been idle for some time: one or two where calls wait for their
    /// replies, all of them where oneways follow each other.
    ///
    /// # Errors
    /// Any other numbers.
    pub fn slabs(mut self, count: usize, octets: usize) -> io::Result<Shm> {
        let slabs = Slabs::new(count, octets).map_err(invalid)?;
        self.options = self.options.slabs(Some(slabs));
        self.slabs = Some(Some(slabs));
        if count * octets > LARGEST {
            self.options = self.options.largest_slabs(count * octets);
        }
        Ok(self)
    }

    /// No slabs: all goes through the rings of the connections that a client opens.
    #[must_use]
    pub fn without_slabs(mut self) -> Shm {
        self.options = self.options.slabs(None);
        self.slabs = Some(None);
        self
    }

    /// Octets of [loans](crate::Orb::loan) that this ORB's transport may have out or keep for the next: 256 MiB otherwise; 0: none, so that loans are
    /// ordinary memory. Kept memory that was not used goes when a connection that lent some has been idle for a second, twice.
    #[must_use]
    pub fn loans(mut self, octets: usize) -> Shm {
        self.loans = (octets > 0).then(|| Loans::new(octets));
        self.lent = Some(octets);
        self
    }

    /// Octets of its loans that a peer may have mapped here, for each connection, in whole MiB; 256 MiB otherwise, 0: none. Who lends knows, and copies what
    /// is beyond.
    #[must_use]
    pub fn largest_loans(mut self, octets: usize) -> Shm {
        self.options = self.options.largest_loans(octets);
        self.borrowed = Some(octets);
        self
    }

    /// What peers lend is read in place: sequences are views of their memory, and nothing is copied. Otherwise it is copied once, out of their
    /// memory. What the caller vouches for says [`TrustedPeers::new`].
    #[must_use]
    pub fn trusting(mut self, peers: TrustedPeers) -> Shm {
        self.options = self.options.trusting(peers);
        self.trusting = true;
        self
    }

    /// How this side looks for what it waits for before it sleeps. Default: as the ORB was told
    /// ([`OrbBuilder::spinning`](crate::OrbBuilder::spinning)).
    #[must_use]
    pub fn spinning(mut self, spinning: Spinning) -> Shm {
        self.options = self.options.spinning(spinning);
        self.spinning = Some(spinning);
        self
    }
}

impl Shm {
    /// With the loans that there are.
    fn options(&self) -> ShmOptions {
        match &self.loans {
            Some(loans) => self.options.clone().loans(loans),
            None => self.options.clone(),
        }
    }
}

/// Octets of a ring: 64 KiB, of which images and files are often made, and their heads fit whole.
const RING: usize = 128 << 10;

/// How many slabs each way, and octets of each: 4 MiB, so that who sends on and on is not woken for each buffer, and a slab
/// takes what is worth one from 64 KiB on. Half as many of twice the size are faster for calls of 1 MiB and slower for those of
/// 16 MiB and for floods of 64 KiB (BENCHMARKING.md).
const SLABS: usize = 32;
const SLAB: usize = 128 << 10;

/// Octets of loans.
const LOANS: usize = 256 << 20;

/// The largest rings that a server accepts by default, and as many octets of slabs each way.
const LARGEST: usize = 16 << 20;

impl Default for Shm {
    fn default() -> Self {
        Shm::new()
    }
}

impl Transport for Shm {
    fn name(&self) -> &'static str {
        self.machine.name
    }

    fn is_by_name_alone(&self) -> bool {
        self.machine.name != NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let ours = self.options();
        let bind = |at, options: &_| ShmAcceptor::bind(at, options, &ours);
        Ok(Box::new(self.machine.listen(address, ComponentTag::ZORB_SHM, bind)?))
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let address = self.machine.address(to)?;
        let socket = UnixConnector::new().connect(address, deadline)?;
        // Before it is given any memory.
        self.machine.users.check(socket.peer_credentials()?, &format!("the server at {to}"))?;
        let stream = ShmStream::over(socket, ShmRole::Initiator, &self.options(), deadline);
        Ok(ShmAcceptor::channel(stream.map_err(Error::from)?, to.clone()))
    }

    fn ways(&self, profile: &TaggedProfile, _: &Ior) -> Option<Ways> {
        let profile = IiopProfile::decode(profile).ok()?;
        let endpoints = self.machine.endpoints(&profile, ComponentTag::ZORB_SHM);
        Ways::iiop(profile, endpoints)
    }

    fn declines(&self, profile: &TaggedProfile, _: &Ior) -> Vec<Declined> {
        let profile = IiopProfile::decode(profile);
        profile.map_or_else(|_| Vec::new(), |profile| self.machine.declined(&profile, ComponentTag::ZORB_SHM))
    }

    fn loan(&self, octets: usize) -> Option<io::Result<Box<dyn Lendable>>> {
        let loan = self.loans.as_ref()?.loan(octets);
        Some(loan.map(|loan| Box::new(OfShm(loan)) as Box<dyn Lendable>).map_err(io::Error::from))
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let ring = self.ring.map(|octets| ("ring", octets.to_string()));
        let told = |slabs: Option<Slabs>| {
            slabs.map_or_else(|| "off".to_owned(), |slabs| format!("{}x{}", slabs.count(), slabs.octets()))
        };
        let slabs = self.slabs.map(|slabs| ("slabs", told(slabs)));
        let spinning = self.spinning.map(|spinning| ("spinning", spinning.to_string()));
        let loans = self.lent.map(|octets| ("loans", octets.to_string()));
        let largest = self.borrowed.map(|octets| ("largest_loans", octets.to_string()));
        let trusting = self.trusting.then(|| ("peers", "trusted".to_owned()));
        let told = ring.into_iter().chain(slabs).chain(spinning).chain(loans).chain(largest).chain(trusting);
        told.chain(self.machine.users.property()).collect()
    }
}

impl Arriving for ShmAcceptor {
    type Stream = ShmStream;

    fn local(&self) -> &UnixAddress {
        ShmAcceptor::local(self)
    }

    fn accept_now(&self) -> Result<ShmStream, Error> {
        ShmAcceptor::accept_now(self)
    }

    fn credentials(stream: &ShmStream) -> Result<Credentials, Error> {
        stream.peer_credentials()
    }

    fn channel(stream: ShmStream, peer: Endpoint) -> Arc<dyn Channel> {
        Arc::new(ShmChannel { stream, peer })
    }
}

/// A loan of this transport's.
struct OfShm(zorb_ipc::Loan);

impl AsRef<[u8]> for OfShm {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for OfShm {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Lendable for OfShm {
    fn freeze(self: Box<Self>) -> Bytes {
        Bytes::from_owner(self.0.freeze())
    }
}

struct ShmChannel {
    stream: ShmStream,
    peer: Endpoint,
}

/// What a receive brought.
#[inline]
fn received(count: Result<usize, Error>) -> io::Result<Received> {
    match count {
        Ok(0) => Ok(Received::Closed),
        Ok(count) => Ok(Received::Octets(count)),
        Err(error) if error.is_would_block() || error.is_timeout() => Ok(Received::Empty),
        Err(error) => Err(error.into()),
    }
}

impl Channel for ShmChannel {
    #[inline]
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        received(self.stream.receive_by(into, deadline))
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        received(self.stream.receive_now(into))
    }

    fn receive_slices(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> io::Result<Received> {
        received(self.stream.receive_slices_by(into, deadline))
    }

    fn receive_slices_now(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Received> {
        received(self.stream.receive_slices_now(into))
    }

    fn lends(&self) -> bool {
        true
    }

    fn receive_lent(&self, most: usize) -> io::Result<Option<Bytes>> {
        Ok(self.stream.receive_lent(most)?.map(Bytes::from_owner))
    }

    #[inline]
    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        Ok(self.stream.send_by(parts, deadline)?.count())
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.stream.send_now(parts) {
            Err(error) if error.is_would_block() => Ok(0),
            sent => Ok(sent?.count()),
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        let armed = match wanted {
            Wanted::Input => self.stream.arm(),
            Wanted::Room => self.stream.arm_to_send(),
        };
        match armed {
            Ok(zorb_ipc::Armed::Waiting) => Armed::Readable,
            // What is wrong the next attempt says.
            Ok(zorb_ipc::Armed::Ready) | Err(_) => Armed::Ready,
        }
    }

    fn spin(&self, spinners: &Spinners) {
        self.stream.spin(spinners);
    }

    fn heard(&self) {
        self.stream.quiet();
    }

    fn rest(&self) {
        // What is wrong the next call finds out.
        let _ = self.stream.give_back_memory();
    }

    fn shutdown_send(&self) {
        let _ = self.stream.shutdown_send();
    }

    fn close(&self) {
        let _ = self.stream.shutdown_both();
    }

    fn state(&self) -> Idle {
        match self.stream.idle() {
            zorb_ipc::Idle::Quiet => Idle::Quiet,
            zorb_ipc::Idle::Readable => Idle::Unread,
            zorb_ipc::Idle::Closed => Idle::Closed,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }
}
