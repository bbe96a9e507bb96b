//! How a channel is set up.

use super::layout::MOST_SLABS;
use crate::{Error, Loans, Spinning, TrustedPeers};

/// How many octets one direction holds: a power of two, 4 KiB to 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RingSize(usize);

impl RingSize {
    /// 4 KiB.
    pub const SMALLEST: Self = Self(4 << 10);
    /// 1 GiB: positions, which count modulo 2³², then still tell full from broken.
    pub const LARGEST: Self = Self(1 << 30);

    /// Of that many octets.
    ///
    /// # Errors
    /// [`Error::is_out_of_range`] for any other number.
    pub fn new(octets: usize) -> Result<Self, Error> {
        if octets.is_power_of_two() && (Self::SMALLEST.0..=Self::LARGEST.0).contains(&octets) {
            return Ok(Self(octets));
        }
        Err(Error::out_of_range("a ring has a power of two of octets, 4 KiB to 1 GiB"))
    }

    /// How many octets.
    pub fn octets(self) -> usize {
        self.0
    }
}

impl Default for RingSize {
    /// 64 KiB: most requests and replies fit whole, and ten thousand connections still take little more than a gigabyte.
    fn default() -> Self {
        Self(64 << 10)
    }
}

/// How many slabs each direction has for much data, and how large they are.
///
/// A slab takes memory when it is used for the first time, until the channel ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slabs {
    octets: usize,
    count: usize,
}

impl Slabs {
    /// No more octets in one direction: 64 MiB.
    pub const MOST: usize = 64 << 20;

    /// So many of so many octets each.
    ///
    /// # Errors
    /// [`Error::is_out_of_range`] unless the octets are a power of two, 4 KiB to 16 MiB, the count a power of two, 1 to 64,
    /// and all together no more than [`MOST`](Self::MOST).
    pub fn new(count: usize, octets: usize) -> Result<Self, Error> {
        let counted = count.is_power_of_two() && count <= MOST_SLABS;
        let sized = octets.is_power_of_two() && (4 << 10..=16 << 20).contains(&octets);
        if counted && sized && count * octets <= Self::MOST {
            return Ok(Self { octets, count });
        }
        Err(Error::out_of_range("slabs are 1 to 64 of 4 KiB to 16 MiB, powers of two, 64 MiB together"))
    }

    /// Octets of each.
    pub fn octets(self) -> usize {
        self.octets
    }

    /// How many each direction has.
    pub fn count(self) -> usize {
        self.count
    }

    /// Octets of one direction.
    pub(super) fn total(self) -> usize {
        self.octets * self.count
    }

    /// As one word: the octets are a multiple of more than the count.
    pub(super) fn to_word(self) -> u32 {
        (self.octets | self.count) as u32
    }

    pub(super) fn from_word(word: u32) -> Result<Self, Error> {
        let word = word as usize;
        Self::new(word & 0xfff, word & !0xfff)
    }
}

/// How one end of a channel is set up, and waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShmOptions {
    pub(super) ring: RingSize,
    pub(super) most: MostRing,
    pub(super) slabs: Option<Slabs>,
    pub(super) most_slabs: MostSlabs,
    pub(super) spinning: Option<Spinning>,
    pub(super) loans: Option<Loans>,
    pub(super) most_lent: MostLent,
    pub(super) trust: Option<TrustedPeers>,
}

/// Octets that are mapped of a peer's loans: 256 MiB unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MostLent(pub(super) usize);

impl Default for MostLent {
    fn default() -> Self {
        Self(256 << 20)
    }
}

/// 16 MiB unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MostRing(pub(super) RingSize);

impl Default for MostRing {
    fn default() -> Self {
        Self(RingSize(16 << 20))
    }
}

/// Octets of one direction; 16 MiB unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MostSlabs(pub(super) usize);

impl Default for MostSlabs {
    fn default() -> Self {
        Self(16 << 20)
    }
}

impl ShmOptions {
    /// The defaults, each stated at its method.
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of both rings of a channel that this end sets up. Default: 64 KiB.
    pub fn ring(mut self, size: RingSize) -> Self {
        self.ring = size;
        self
    }

    /// The largest rings that this end accepts where the other sets the channel up; nothing beyond it is mapped. Default:
    /// 16 MiB.
    pub fn largest_ring(mut self, size: RingSize) -> Self {
        self.most = MostRing(size);
        self
    }

    /// The slabs of a channel that this end sets up, beside its rings; `None`: all goes through the rings. Default: none.
    pub fn slabs(mut self, slabs: Option<Slabs>) -> Self {
        self.slabs = slabs;
        self
    }

    /// How many octets the slabs of one direction may have that this end accepts where the other sets the channel up.
    /// Default: 16 MiB.
    pub fn largest_slabs(mut self, octets: usize) -> Self {
        self.most_slabs = MostSlabs(octets);
        self
    }

    /// What is sent of these loans goes without a copy. Default: none.
    pub fn loans(mut self, loans: &Loans) -> Self {
        self.loans = Some(loans.clone());
        self
    }

    /// How many octets of its loans a peer may have mapped here at a time, in whole MiB; 0: none, so that all is copied. Who lends knows, and copies what is
    /// beyond. Default: 256 MiB.
    pub fn largest_loans(mut self, octets: usize) -> Self {
        self.most_lent = MostLent(octets);
        self
    }

    /// What peers lend is read in place ([`ShmStream::receive_lent`](crate::ShmStream::receive_lent)), not copied. Default: no.
    pub fn trusting(mut self, peers: TrustedPeers) -> Self {
        self.trust = Some(peers);
        self
    }

    /// How this end looks for a change before it sleeps. Default: as [`ShmStream::spin`](crate::ShmStream::spin) says, and without
    /// that [`Spinning::adaptive`].
    pub fn spinning(mut self, spinning: Spinning) -> Self {
        self.spinning = Some(spinning);
        self
    }
}
