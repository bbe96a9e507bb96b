//! Streams over shared memory: a ring each way, and a doorbell for each. Linux only.
//!
//! ```text
//!             ring.rs   positions, checked       doorbell.rs   sleep and wake, nothing lost
//!                  \                              /
//! layout.rs ──▶ stream.rs   octets in and out   waiting.rs   spin, sleep, look for death   ◀── ../spinning
//!                  │      transfers.rs, closing.rs, arming.rs: what users call
//! setup.rs ──▶ ends.rs   acceptor, connector, generic code
//! ```
//!
//! # The memory
//!
//! One memfd holds both rings and all that belongs to them; `layout.rs` draws it. Its words are of 32 bits, in the
//! machine's byte order, each written by one side alone, but for the doorbells, of which one side sets bits and the other
//! clears them. What the two sides write at the same time lies on different pairs of cache lines.
//!
//! | words of a lane | written by | read by |
//! |---|---|---|
//! | `head`, `ended` | who sends | who receives |
//! | `tail`, `gone`, and what came back of loans | who receives | who sends |
//! | `data` | who receives sets, who sends clears | both |
//! | `room` | who sends sets, who receives clears | both |
//!
//! The memory is sealed against shrinking, growing and further seals before anybody but its maker has it. How it gets
//! there, and what is looked at before it is mapped, is in `setup.rs`.
//!
//! # Octets
//!
//! Who sends copies octets behind `head` and then moves it (Release); who receives looks at `head` (Acquire), copies, and
//! moves `tail` (Release), which who sends looks at (Acquire) when the room it knows of is used up. Positions count
//! modulo 2³²; rings are no larger than 2³⁰, so that full and empty, true and impossible are told apart.
//!
//! Much data goes through slabs beside the ring, if there are any, in each of whose places stands one octet of the ring:
//! `slabs.rs`. What lies in memory that was made to be lent goes without a copy: `loans/mod.rs`.
//!
//! # Doorbells
//!
//! Nobody makes a system call for another who is awake. After each move stands one fence, then a look at a word that is in
//! the cache unless somebody sleeps. The protocol, and why no wake-up is lost, is in `doorbell.rs`. Whether to look again
//! before sleeping is learned (`../spinning`).
//!
//! # Death
//!
//! Ends are words of the memory and ring the doorbells. Who is killed rings none, but the kernel closes its end of the
//! Unix socket: who waits looks there after 10 ms, and then every 100 ms; a set of descriptors is told at once.
//!
//! # A hostile peer
//!
//! It can write all of the memory at any time, send what it likes into the socket, and read it empty. So:
//!
//! * Each word is loaded once into a local value and checked there. A position that has gone back, or is further than the
//!   ring's size from the other, ends the channel with [`Error::is_broken_by_peer`](crate::Error::is_broken_by_peer).
//! * One's own positions are kept outside of the memory, and never read from there.
//! * Octets are copied by operations that are defined whoever writes meanwhile ([`Segment`](crate::Segment)), from and to
//!   places that follow from one's own positions alone. No reference to them exists.
//! * How many slabs were handed over each side counts for itself; what is said of one, which it is, where its octet stands
//!   and how much it holds, is read once and checked. A slab that is kept for ever leaves the ring to its own connection, and nobody else has it.
//! * What is said of a loan is read once and checked: a place that has no such memory, or octets that it has not got, end the
//!   channel. Memory that is no memfd, whose size may change, or that is more than is accepted is not mapped. It is read in place only of who is
//!   [trusted](TrustedPeers).
//! * Ends that it says, unsays or lies about end its own channel sooner or later; doorbells that it rings for nothing cost
//!   some wake-ups, after which waiters rest a millisecond in between; doorbells that it silences cost one sleep of 100 ms
//!   at the most, as who wakes looks at the positions, and so on until the deadline.
//! * A full socket does not block: a doorbell that does not fit is not needed.
//!
//! # What is tried, and how
//!
//! `tests/shm.rs`, `tests/shm_hostile.rs`, and the conformance suite in `tests/streams.rs`; every interleaving of the
//! protocol, by loom, in `models.rs`. The script `sanitize` of this crate runs all its tests with the address and the thread
//! sanitizer of a nightly compiler.
//!
//! What it costs is measured by `examples/pingpong.rs`, beside a bare futex and bare words.

mod arming;
mod closing;
mod doorbell;
mod ends;
mod layout;
mod loans;
#[cfg(all(test, zorb_loom))]
mod models;
mod options;
mod ring;
mod setup;
mod slabs;
mod stream;
mod transfers;
mod waiting;
mod word;

pub use arming::Armed;
pub use ends::{Shm, ShmAcceptor, ShmConnector};
pub use loans::{LentBytes, Loan, Loaned, Loans, TrustedPeers};
pub use options::{RingSize, ShmOptions, Slabs};
pub use stream::ShmStream;

/// Which end of a Unix stream sets the channel up, and which follows. The two must differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShmRole {
    /// Makes the memory and passes it on.
    Initiator,
    /// Receives the memory and looks whether it is right.
    Responder,
}
