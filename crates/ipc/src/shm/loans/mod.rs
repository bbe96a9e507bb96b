//! Loans: memory that is written in place by who sends, and read in place, or copied once, by who receives.
//!
//! ```text
//! sender                                             receiver
//! Loans ── loan ──▶ Loan      written in place
//!   ▲                │ freeze
//!   │              Loaned ── sent: one octet of the ring, and a record ──▶ LentBytes: read in place
//!   └── free ◀── the last one is dropped, and all that it was sent to have given it back ◀── dropped
//! ```
//!
//! Each piece of memory is a memfd of its own, which its owner alone can write: it is sealed against being mapped to write
//! by anybody else (`memory/own.rs`), so that no peer can harm the owner or another peer. Its descriptor is passed over the channel's
//! socket when it is sent by this channel for the first time, and mapped by the receiver, who keeps it. From then on it has a
//! place there, of 64, and to send it again takes no system call.
//!
//! For its octets stands one octet of the ring, as for a slab's; what it stands for says a record, of 16 that each direction has:
//! where that octet stands, which place, where in it and how much. When the receiver has taken all, or dropped what it
//! read in place, it counts one more in a word of that place, which the sender looks at before it writes the memory anew: no message is needed.
//!
//! # Who trusts whom
//!
//! The sender trusts nobody: others cannot write its memory. That a peer says too early to have given something back harms this peer
//! alone. One that never does keeps that memory from being used again, and it counts against the bound of [`Loans`].
//!
//! The receiver cannot keep the sender from writing what it has sent, so by default it copies the octets out, once. Where it trusts
//! its peers ([`TrustedPeers`]) it reads them in place.
//!
//! What a peer's memory lets others see: a process of another user may go on reading a piece of memory after it has given it back, so a piece that was sent
//! to processes of one user goes to no other's; what is sent there all the same is copied.

mod borrowing;
mod lending;
mod pool;

pub(super) use borrowing::{Borrowing, Heard};
pub use borrowing::{LentBytes, TrustedPeers};
pub(super) use lending::{Candidate, Lending};
pub use pool::{Loan, Loaned, Loans};

/// From how many octets on what lies in a loan is lent, not copied: to copy less takes hardly longer than the words of a record and
/// the look whether it is a loan.
pub(super) const LENT_FROM: usize = 16 << 10;

/// Places that one direction of a channel has for memory that is lent.
pub(super) const PLACES: usize = 64;

/// Records of one direction.
pub(super) const RECORDS: usize = 16;

/// The octets of a channel's socket that say something about a place; all others are doorbells. With these comes its memory …
const PLACED: u8 = 0x80;
/// … and with these none: the place is empty now.
const CLEARED: u8 = 0xc0;

/// What is said about octets that are lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Where the octet of the ring stands.
    pub(super) position: u32,
    pub(super) place: usize,
    /// How many memories were in this place before, modulo 2¹⁶.
    pub(super) edition: u16,
    pub(super) offset: u32,
    pub(super) length: u32,
}

impl Record {
    fn to_words(self) -> [u32; 4] {
        [self.position, u32::from(self.edition) << 16 | self.place as u32, self.offset, self.length]
    }

    /// What those words say; `None`: no such thing.
    fn from_words([position, place, offset, length]: [u32; 4]) -> Option<Self> {
        let (edition, place) = ((place >> 16) as u16, (place & 0xffff) as usize);
        (place < PLACES && length > 0).then_some(Self { position, place, edition, offset, length })
    }
}
