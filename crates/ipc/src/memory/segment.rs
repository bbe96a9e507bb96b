//! Memory that other processes may read and write at the same time.

#![allow(unsafe_code, reason = "memory that others write cannot be lent as a slice")]

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::mm::{MapFlags, ProtFlags};

use super::copy::copy;
use super::words::Words;
use super::{Mapping, Memfd, SizedMemfd};
use crate::{Error, Refused, SharedFutex, Step};

/// Mapped memory of a size that is final, shared with whoever has its descriptor.
///
/// Octets are copied in and out, as another process may write them at any time, in good or in bad faith: each
/// octet that is copied out is one that was there at some time, and to read it twice may give two answers, so
/// check the copy and not the segment. Words, which [`SegmentOptions`] declares, are atomics and order the
/// copies: store a word with `Release` after a copy in, load it with `Acquire` before a copy out.
///
/// ```
/// use std::sync::atomic::Ordering::{Acquire, Release};
/// use zorb_ipc::{Segment, SegmentOptions};
///
/// # use std::os::fd::AsFd;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = SegmentOptions::new().words32(0..4);
/// let ours = Segment::create("orders", 4096, &options)?;
/// // … and the other process, which was sent the descriptor:
/// let sent = ours.memory().as_fd().try_clone_to_owned()?;
/// let theirs = Segment::adopt(sent, 4096..=4096, &options)?;
///
/// ours.copy_in(64, b"one hundred")?;
/// ours.word32(0)?.store(11, Release);
/// let length = theirs.word32(0)?.load(Acquire) as usize;
/// let mut order = [0; 32];
/// theirs.copy_out(64, order.get_mut(..length).expect("no longer than agreed"))?;
/// assert_eq!(&order[..length], b"one hundred");
/// # Ok(())
/// # }
/// ```
///
/// To touch it raises no fault: its size is sealed, its pages are there, and what a peer cannot undo of that
/// is checked. (Where the system keeps strict account of memory, `vm.overcommit_memory` 2, a hostile peer may
/// punch a hole and so have who touches it killed while memory is exhausted.)
///
/// No slice of it can be had:
///
/// ```compile_fail,E0608
/// # fn wrong(segment: &zorb_ipc::Segment) {
/// let order = &segment[64..75]; // cannot be indexed
/// # }
/// ```
///
/// and no word outlives it:
///
/// ```compile_fail,E0505
/// # fn wrong(segment: zorb_ipc::Segment) -> Result<(), zorb_ipc::Error> {
/// let word = segment.word32(0)?;
/// drop(segment); // cannot move out of `segment` because it is borrowed
/// word.load(std::sync::atomic::Ordering::Relaxed);
/// # Ok(())
/// # }
/// ```
pub struct Segment {
    mapping: Mapping,
    words: Words,
    memory: SizedMemfd,
}

/// How a segment is mapped, and which parts of it are words. Each side says that for itself; it is no part of
/// the memory.
#[derive(Clone, Debug, Default)]
pub struct SegmentOptions {
    words: Words,
    populate: bool,
    huge_pages: bool,
}

impl SegmentOptions {
    /// Octets only, mapped as they are touched.
    pub fn new() -> Self {
        Self::default()
    }

    /// The words at these offsets, multiples of 4, are [`AtomicU32`]s, and cannot be accessed otherwise. May
    /// be said for several parts.
    pub fn words32(mut self, offsets: Range<usize>) -> Self {
        self.words.add(offsets, 4);
        self
    }

    /// The words at these offsets, multiples of 8, are [`AtomicU64`]s, and cannot be accessed otherwise. May
    /// be said for several parts.
    pub fn words64(mut self, offsets: Range<usize>) -> Self {
        self.words.add(offsets, 8);
        self
    }

    /// Whether all pages get their place at once (`MAP_POPULATE`) and not at first touch, which takes the
    /// time of a fault for each. The memory itself is taken in either case. Default: no.
    pub fn populate(mut self, yes: bool) -> Self {
        self.populate = yes;
        self
    }

    /// Whether transparent huge pages are asked for, where the system offers them for shared memory
    /// (`/sys/kernel/mm/transparent_hugepage/shmem_enabled`). Default: no.
    pub fn huge_pages(mut self, yes: bool) -> Self {
        self.huge_pages = yes;
        self
    }
}

impl Segment {
    /// A new one, of so many zeros, under a name that shows in `/proc` and means nothing.
    ///
    /// # Errors
    /// At [`Step::Open`] or [`Step::Configure`]: there is no memory or no descriptor left. At [`Step::Map`]:
    /// words out of bounds ([`Error::is_out_of_bounds`]), not aligned or in two parts
    /// ([`Error::is_of_another_kind`]); no addresses left.
    pub fn create(name: &str, octets: usize, options: &SegmentOptions) -> Result<Self, Error> {
        let memory = Memfd::create(name, octets as u64)?.fix_size()?;
        Ok(memory.map(options)?)
    }

    /// Of a descriptor that came from elsewhere, if it is memory of so many octets, whose size nobody can
    /// change.
    ///
    /// # Errors
    /// With the descriptor: as [`SizedMemfd::adopt`], and at [`Step::Map`] as [`create`](Self::create).
    pub fn adopt(
        fd: OwnedFd,
        sizes: RangeInclusive<usize>,
        options: &SegmentOptions,
    ) -> Result<Self, Refused<OwnedFd>> {
        let memory = SizedMemfd::adopt(fd, sizes)?;
        memory.map(options).map_err(|refused| refused.map(OwnedFd::from))
    }

    pub(super) fn of(memory: SizedMemfd, options: &SegmentOptions) -> Result<Self, Refused<SizedMemfd>> {
        let map = || {
            options.words.check(memory.octets())?;
            let protection = ProtFlags::READ.union(ProtFlags::WRITE);
            let populate = if options.populate { MapFlags::POPULATE } else { MapFlags::empty() };
            let flags = MapFlags::SHARED | populate;
            Mapping::of_file(memory.as_fd(), memory.octets(), protection, flags)
                .map_err(|errno| Error::os(Step::Map, errno))
        };
        match map() {
            Ok(mapping) => {
                if options.huge_pages {
                    mapping.prefer_huge_pages();
                }
                Ok(Self { mapping, words: options.words.clone(), memory })
            }
            Err(error) => Err(Refused::new(error, memory)),
        }
    }

    /// How many octets it has. No system call; the number is this side's own.
    pub fn octets(&self) -> usize {
        self.mapping.octets()
    }

    /// What it lies on, to be passed to others.
    pub fn memory(&self) -> &SizedMemfd {
        &self.memory
    }

    /// What it lies on, no longer mapped here.
    pub fn into_memory(self) -> SizedMemfd {
        self.memory
    }

    /// Takes the memory of a part that may have holes, so that no access to it has to.
    pub(crate) fn fill(&self, at: usize, octets: usize) -> Result<(), Error> {
        super::memfd::fill_part(self.memory.as_fd(), at, octets)
            .map_err(|errno| Error::os(Step::Access, errno))
    }

    /// Gives the memory of a part back to the system: zeros are there, and whoever touches it fills it before.
    pub(crate) fn give_back(&self, at: usize, octets: usize) -> Result<(), Error> {
        super::memfd::punch(self.memory.as_fd(), at, octets).map_err(|errno| Error::os(Step::Access, errno))
    }

    /// Copies octets into it, from offset `at` on.
    ///
    /// # Errors
    /// At [`Step::Access`], and nothing is copied: [`Error::is_out_of_bounds`]; [`Error::is_of_another_kind`]
    /// if a word is among them.
    #[inline]
    pub fn copy_in(&self, at: usize, from: &[u8]) -> Result<(), Error> {
        let place = self.octets_at(at, from.len())?;
        // SAFETY: so many octets are there, within the mapping, which lives as long as this; the slice cannot
        // overlap it, as no slice of a segment exists. Within this process they are only ever copied, octet
        // by octet; no reference leads to them. Other processes are none of this program's business but
        // through what they leave there.
        unsafe { copy(from.as_ptr(), place, from.len()) };
        Ok(())
    }

    /// Copies octets out of it, from offset `at` on.
    ///
    /// # Errors
    /// As [`copy_in`](Self::copy_in).
    #[inline]
    pub fn copy_out(&self, at: usize, into: &mut [u8]) -> Result<(), Error> {
        let place = self.octets_at(at, into.len())?;
        // SAFETY: as in `copy_in`; the slice is borrowed exclusively.
        unsafe { copy(place, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// The word at offset `at`, which was declared as one of 32 bits. What it holds may be any number.
    ///
    /// # Errors
    /// At [`Step::Access`]: [`Error::is_out_of_bounds`]; [`Error::is_of_another_kind`] if no such word was
    /// declared there.
    #[inline]
    pub fn word32(&self, at: usize) -> Result<&AtomicU32, Error> {
        let place = self.word_at(at, 4)?;
        // SAFETY: four octets within the mapping, which lives as long as the reference; aligned, since the
        // mapping begins at a page and the offset is a multiple of four. Within this process they are only
        // ever accessed as this atomic.
        Ok(unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    /// The word at offset `at`, which was declared as one of 64 bits. What it holds may be any number.
    ///
    /// # Errors
    /// As [`word32`](Self::word32).
    #[inline]
    pub fn word64(&self, at: usize) -> Result<&AtomicU64, Error> {
        let place = self.word_at(at, 8)?;
        // SAFETY: as in `word32`, with eight for four.
        Ok(unsafe { AtomicU64::from_ptr(place.cast()) })
    }

    /// The word of 32 bits at offset `at`, to wait on and to wake others by, across processes.
    ///
    /// # Errors
    /// As [`word32`](Self::word32).
    pub fn futex(&self, at: usize) -> Result<SharedFutex<'_>, Error> {
        self.word32(at).map(SharedFutex::of)
    }

    /// Where those octets are, if they are there and no words.
    #[inline]
    fn octets_at(&self, at: usize, octets: usize) -> Result<*mut u8, Error> {
        match at.checked_add(octets) {
            Some(end) if end <= self.octets() => {
                if !self.words.are_octets(&(at..end)) {
                    return Err(Error::unlike(Step::Access, "octets", "declared words among them"));
                }
                // No further than to the end of the mapping.
                Ok(self.mapping.start().wrapping_add(at))
            }
            _ => Err(Error::outside(Step::Access, octets, at, self.octets())),
        }
    }

    /// Where that word is, if it was declared.
    #[inline]
    fn word_at(&self, at: usize, size: usize) -> Result<*mut u8, Error> {
        // Declared ones were found to be within.
        if self.words.is_word(at, size) {
            return Ok(self.mapping.start().wrapping_add(at));
        }
        match at.checked_add(size) {
            Some(end) if end <= self.octets() => {
                let wanted = format!("a word of {size} octets at offset {at}");
                Err(Error::unlike(Step::Access, wanted, "none that was declared"))
            }
            _ => Err(Error::outside(Step::Access, size, at, self.octets())),
        }
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").field("octets", &self.octets()).field("memory", &self.memory).finish()
    }
}
