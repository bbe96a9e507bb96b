//! A piece of this process's addresses, and what lies behind it.

#![allow(unsafe_code, reason = "memory is mapped and unmapped by address")]

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// Mapped memory that begins at a page, unmapped when this is dropped. To touch it is up to who holds this,
/// and unsafe.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    octets: usize,
}

// SAFETY: memory belongs to the process, not to a thread, and this is but its place: all that reads or writes
// it is in those who hold one, and argued there.
unsafe impl Send for Mapping {}
// SAFETY: as above; a shared one offers no more than its place.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// A file's octets from its beginning. The caller has made sure that the file has, and keeps, as many.
    pub(crate) fn of_file(
        fd: BorrowedFd<'_>,
        octets: usize,
        protection: ProtFlags,
        flags: MapFlags,
    ) -> Result<Self, Errno> {
        if octets == 0 {
            return Ok(Self::empty());
        }
        // SAFETY: without an address the kernel finds a place that nothing else has.
        let start = unsafe { mmap(ptr::null_mut(), octets, protection, flags, fd, 0) }?;
        Self::at(start, octets)
    }

    /// Zeros that nobody else has.
    pub(crate) fn anonymous(octets: usize) -> Result<Self, Errno> {
        if octets == 0 {
            return Ok(Self::empty());
        }
        let protection = ProtFlags::READ.union(ProtFlags::WRITE);
        // SAFETY: as above.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), octets, protection, MapFlags::PRIVATE) }?;
        Self::at(start, octets)
    }

    fn empty() -> Self {
        Self { start: NonNull::dangling(), octets: 0 }
    }

    fn at(start: *mut c_void, octets: usize) -> Result<Self, Errno> {
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { start, octets })
    }

    /// Its first octet.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    /// Asks for transparent huge pages; where there are none it stays as it is.
    pub(crate) fn prefer_huge_pages(&self) {
        if self.octets > 0 {
            // SAFETY: this advice changes no contents, and the memory is this value's own.
            let _ = unsafe { madvise(self.start().cast(), self.octets, Advice::LinuxHugepage) };
        }
    }

    /// Unmaps the pages of the first so many octets, and says how many octets more than that are gone with
    /// the last one of them.
    pub(crate) fn give_up_front(&mut self, octets: usize, page: usize) -> usize {
        // A power of two.
        let gone = (octets.saturating_add(page - 1) & !(page - 1)).min(self.octets);
        self.unmap(gone);
        self.octets -= gone;
        // SAFETY: what is left begins so many octets further, or is empty; the end of a mapping is a valid
        // place, too.
        self.start = unsafe { self.start.add(gone) };
        gone.saturating_sub(octets)
    }

    /// Gives up all of it.
    #[inline]
    pub(crate) fn give_up(&mut self) {
        self.unmap(self.octets);
        self.octets = 0;
    }

    #[inline]
    fn unmap(&self, octets: usize) {
        if octets > 0 {
            // SAFETY: these addresses are this value's own and begin at a page; who holds it has lent nothing
            // beyond a borrow of it. It can fail only if the kernel finds no memory to note that a mapping
            // has become two: then it stays.
            let _ = unsafe { munmap(self.start().cast(), octets) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.unmap(self.octets);
    }
}
