//! How a channel is set up.

use crate::{Error, Spinning};

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

/// How one end of a channel is set up, and waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShmOptions {
    pub(super) ring: RingSize,
    pub(super) most: MostRing,
    pub(super) spinning: Option<Spinning>,
}

/// 16 MiB unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MostRing(pub(super) RingSize);

impl Default for MostRing {
    fn default() -> Self {
        Self(RingSize(16 << 20))
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

    /// How this end looks for a change before it sleeps. Default: as [`ShmStream::spin`](crate::ShmStream::spin) says, and without
    /// that [`Spinning::adaptive`].
    pub fn spinning(mut self, spinning: Spinning) -> Self {
        self.spinning = Some(spinning);
        self
    }
}
