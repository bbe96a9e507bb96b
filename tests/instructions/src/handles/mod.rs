//! The data-transfer operations of `zorb-ipc`, and the same loops over `libc`: what the handles add to a system call.
//!
//! Each case is one operation on one end of a connection; what its other end does so that there is always room, or
//! something to receive, is not counted. Beside `ipc/receive` stands `libc/receive`, its floor; other ways of doing the same
//! have their word in front (`ipc/now-receive`, `ipc/by-receive-scattered`), and the same floor.

mod addressed;
mod batches;
mod datagrams;
mod events;
mod memory;
mod messages;
mod passing;
mod pipes;
mod splices;
mod streams;
mod uncopied;

use crate::Prepare;

/// All of them, by kind.
pub(crate) const CASES: [&[(&str, Prepare)]; 11] = [
    streams::CASES,
    datagrams::CASES,
    addressed::CASES,
    batches::CASES,
    messages::CASES,
    passing::CASES,
    pipes::CASES,
    splices::CASES,
    uncopied::CASES,
    events::CASES,
    memory::CASES,
];
