//! Memory that processes share: made here, passed over a Unix socket, mapped there.
//!
//! What may still change about it is in its type, which the kernel enforces by *seals* (memfd_create(2),
//! fcntl(2)). A seal is never taken off, whoever has the descriptor:
//!
//! ```text
//! Memfd        ── fix_size ──▶  SizedMemfd        ── seal ──▶  SealedMemfd
//! everything                    its size cannot change,        nothing can change:
//! may change                    so it can be mapped:           mapped, it is a plain `&[u8]`
//!                               a Segment                      (SealedBytes)
//! ```
//!
//! A received descriptor is adopted as one of the three after looking at what it is, at its seals and at its
//! size, in that order, as the size is good only once it is sealed.
//!
//! # No fault by touching it
//!
//! To touch a page beyond the end of a mapped file kills with `SIGBUS`. Memory is therefore mapped only if
//! its size is sealed, and only as far as that. Its pages are there before it is mapped: a hole would be
//! filled at first touch, which may fail where the system keeps strict account of memory
//! (`vm.overcommit_memory` 2). In that mode alone a hostile peer that can write may punch a new hole into a
//! [`Segment`] and so kill who touches it while memory is exhausted; into a [`SealedMemfd`] nobody can.
//!
//! Memory that is lent ([`Loans`](crate::Loans)) is a fourth kind: sealed against being written anew, so that who made and mapped
//! it is the only one who writes.
//!
//! Left out, since no seal makes it safe:
//!
//! * memory of explicit huge pages (`MFD_HUGETLB`): a peer that punches a hole gives its reserved page back,
//!   and the next touch kills if the pool is empty by then. It is refused when adopted. Transparent huge
//!   pages do the same good ([`SegmentOptions::huge_pages`]).
//! * POSIX shared memory by name (shm_open(3)): it cannot be sealed, so whoever can open it may cut it short
//!   at any time. What processes find each other by is a Unix socket, over which a memfd is passed.

mod copy;
mod mapping;
mod memfd;
mod own;
mod sealed;
mod segment;
mod sized;
mod words;

pub(crate) use mapping::Mapping;
pub use memfd::Memfd;
pub(crate) use own::{OthersMemory, OwnMemory};
pub use sealed::{SealedBytes, SealedMemfd};
pub use segment::{Segment, SegmentOptions};
pub use sized::SizedMemfd;
