//! Memory that is given to a pipe instead of being copied into it (vmsplice(2)).
//!
//! The kernel then takes references to pages, and whoever reads the pipe sees what they hold *at that time*.
//! That is sound here in two cases, and only these are offered:
//!
//! * [`PipeWriter::gift`]: the pages belong to a [`Pages`], were never lent to anybody beyond the call, and
//!   leave this process with it: their addresses are unmapped before the call returns, so nobody here can
//!   change what is on its way. A reader may even keep them (`SPLICE_F_GIFT`).
//! * [`PipeWriter::send_static`]: the octets are `&'static`, so they never change and are never freed.
//!
//! Left out is a vmsplice of memory that is only borrowed. It would have to stay as it is until the last
//! reader has taken it, and nothing tells when that is: an emptied pipe does not, since a reader may have
//! moved the pages on to a further pipe or a socket's queue, where they are still the same memory. Changed
//! too early the peer receives other octets than were sent; freed too early, whatever this process puts there
//! next, its secrets not excepted.
//!
//! Both raise `SIGPIPE` besides the error if nobody reads any more: vmsplice(2) has no flag against it. A
//! Rust program ignores that signal from its start; others have to do so.

#![allow(unsafe_code, reason = "slices of mapped memory; vmsplice")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::time::Instant;

use rustix::io::Errno;
use rustix::param::page_size;
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

use super::PipeWriter;
use crate::memory::Mapping;
use crate::ready::resumed;
use crate::{Error, Step};

/// Memory of whole pages that can be given away to a pipe: written as a slice, then
/// [gifted](PipeWriter::gift).
///
/// Only who has them alone gives them away, and memory that is merely borrowed is not taken at all: nothing
/// tells when the last reader has taken it.
///
/// ```compile_fail,E0596
/// # fn wrong(writer: &zorb_ipc::PipeWriter, pages: &zorb_ipc::Pages, deadline: std::time::Instant) {
/// writer.gift(pages, deadline); // what is given away cannot be lent to others meanwhile
/// # }
/// ```
pub struct Pages {
    memory: Mapping,
}

impl Pages {
    /// Zeros. The last page may be used in part.
    ///
    /// # Errors
    /// At [`Step::Map`], if there is no memory.
    pub fn new(octets: usize) -> Result<Self, Error> {
        let memory = Mapping::anonymous(octets).map_err(|errno| Error::os(Step::Map, errno))?;
        Ok(Self { memory })
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has that many octets, readable, zero from the beginning, and private to this
        // value, which is borrowed as long as the slice is.
        unsafe { slice::from_raw_parts(self.memory.start(), self.memory.octets()) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; it is writable, and this value is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.memory.start(), self.memory.octets()) }
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("octets", &self.len()).finish()
    }
}

impl PipeWriter {
    /// Gives memory to the pipe with what it holds, by `deadline`: nothing is copied. Each page takes a page
    /// of the pipe's [`capacity`](Self::capacity), and leaves `pages` as it is taken, until nothing is left
    /// of it.
    ///
    /// Worth it from some pages on, if the reader splices them further; a reader that receives them copies
    /// them once, as it would have otherwise.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`]; `pages` is what was not
    /// taken, and [`Error::transferred`] how many octets were.
    pub fn gift(&self, pages: &mut Pages, deadline: Instant) -> Result<(), Error> {
        let mut total = 0;
        while !pages.is_empty() {
            let whole = pages.len() - pages.len() % page_size();
            // Only whole pages are a gift; what is left over in the end is taken, too, but not kept by the
            // reader.
            let (piece, flags) = match whole {
                0 => (&pages[..], SpliceFlags::NONBLOCK),
                _ => (&pages[..whole], SpliceFlags::NONBLOCK.union(SpliceFlags::GIFT)),
            };
            // SAFETY: this is the end that writes, so the kernel only reads the memory. What it takes is
            // given up below, before anybody can write to it again, and never reused: the addresses are
            // unmapped. It begins at a page.
            let give = || resumed(|| unsafe { vmsplice(self, &[IoSliceRaw::from_slice(piece)], flags) });
            let taken = self.attempt_by(deadline, give).map_err(|error| error.with_transferred(total))?;
            let lost = pages.memory.give_up_front(taken);
            total += taken;
            if lost > 0 {
                // The kernel takes pages by the piece; a part of one it could not be made to take again.
                return Err(self.0.failed(Step::Send, Errno::IO).with_transferred(total));
            }
        }
        Ok(())
    }

    /// Sends octets that are there for good, by `deadline`, without copying them: the pipe refers to this
    /// program's own memory.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`], with [`Error::transferred`].
    pub fn send_static(&self, octets: &'static [u8], deadline: Instant) -> Result<(), Error> {
        let mut sent = 0;
        while sent < octets.len() {
            let piece = &octets[sent..];
            // SAFETY: this is the end that writes, so the kernel only reads the memory, which nobody changes
            // or frees: it is borrowed for ever. It is no gift.
            let give = || unsafe { vmsplice(self, &[IoSliceRaw::from_slice(piece)], SpliceFlags::NONBLOCK) };
            let taken = self.attempt_by(deadline, || resumed(give));
            sent += taken.map_err(|error| error.with_transferred(sent))?;
        }
        Ok(())
    }
}
