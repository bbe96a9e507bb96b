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

/// Only these are a gift.
const WHOLE_PAGES: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::GIFT);

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
    #[inline]
    pub fn gift(&self, pages: &mut Pages, deadline: Instant) -> Result<(), Error> {
        let page = page_size();
        // Usually there is room for all.
        if !pages.is_empty() && pages.len() & (page - 1) == 0 {
            let taken = self.take_front(pages, pages.len(), WHOLE_PAGES);
            if taken == Ok(pages.len()) {
                pages.memory.give_up();
                return Ok(());
            }
            return self.gift_on(pages, Some(taken), deadline);
        }
        self.gift_on(pages, None, deadline)
    }

    /// Goes on with what a first attempt of all of it has given, if there was one.
    #[cold]
    #[inline(never)]
    fn gift_on(
        &self,
        pages: &mut Pages,
        mut first: Option<Result<usize, Errno>>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let (mut total, page) = (0, page_size());
        while !pages.is_empty() {
            let (octets, flags) = match pages.len() & !(page - 1) {
                // What is left over in the end is taken, too, but not kept by the reader.
                0 => (pages.len(), SpliceFlags::NONBLOCK),
                whole => (whole, WHOLE_PAGES),
            };
            let attempt = || first.take().unwrap_or_else(|| self.take_front(pages, octets, flags));
            let taken = self.attempt_by(deadline, attempt).map_err(|error| error.with_transferred(total))?;
            let lost = pages.memory.give_up_front(taken, page);
            total += taken;
            if lost > 0 {
                // The kernel takes pages by the piece; a part of one it could not be made to take again.
                return Err(self.0.failed(Step::Send, Errno::IO).with_transferred(total));
            }
        }
        Ok(())
    }

    /// Lets the kernel take so many octets of the front, or as many of these as there is room for. What it has taken must
    /// be given up before anybody can write to it.
    #[inline]
    fn take_front(&self, pages: &Pages, octets: usize, flags: SpliceFlags) -> Result<usize, Errno> {
        let piece = &pages[..octets];
        // SAFETY: this is the end that writes, so the kernel only reads the memory. What it takes both callers
        // give up, before anybody can write to it again, and it is never reused: the addresses are unmapped. It
        // begins at a page.
        resumed(|| unsafe { vmsplice(self, &[IoSliceRaw::from_slice(piece)], flags) })
    }

    /// Sends octets that are there for good, by `deadline`, without copying them: the pipe refers to this
    /// program's own memory.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`], with [`Error::transferred`].
    #[inline]
    pub fn send_static(&self, octets: &'static [u8], deadline: Instant) -> Result<(), Error> {
        match self.lend(octets) {
            Ok(taken) if taken == octets.len() => Ok(()),
            first => self.send_static_on(octets, first, deadline),
        }
    }

    /// Goes on with what a first attempt of all of it has given.
    #[cold]
    #[inline(never)]
    fn send_static_on(
        &self,
        octets: &'static [u8],
        first: Result<usize, Errno>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let (mut sent, mut first) = (0, Some(first));
        while sent < octets.len() {
            let attempt = || first.take().unwrap_or_else(|| self.lend(&octets[sent..]));
            sent += self.attempt_by(deadline, attempt).map_err(|error| error.with_transferred(sent))?;
        }
        Ok(())
    }

    #[inline]
    fn lend(&self, octets: &'static [u8]) -> Result<usize, Errno> {
        // SAFETY: this is the end that writes, so the kernel only reads the memory, which nobody changes or frees:
        // it is borrowed for ever. It is no gift.
        resumed(|| unsafe { vmsplice(self, &[IoSliceRaw::from_slice(octets)], SpliceFlags::NONBLOCK) })
    }
}
