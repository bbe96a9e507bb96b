//! Memory with a descriptor, of which everything may change.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    FallocateFlags, MemfdFlags, OFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    fstatfs, ftruncate, memfd_create,
};
use rustix::io::{Errno, pread, pwrite};
use rustix::system::sysinfo;

use super::{SealedMemfd, SizedMemfd};
use crate::kind::{self, adopted};
use crate::ready::resumed;
use crate::{Error, Refused, Step};

/// Memory that has a descriptor and can be passed on, of which size and contents may still change, whoever
/// has it (memfd_create(2)). It cannot be mapped: somebody might cut it short. Not executable where the
/// kernel can see to that.
///
/// A size that may change is not mapped:
///
/// ```compile_fail,E0599
/// # fn wrong(memory: zorb_ipc::Memfd) {
/// memory.map(&zorb_ipc::SegmentOptions::new()); // no method `map`: fix its size first
/// # }
/// ```
#[derive(Debug)]
pub struct Memfd {
    fd: OwnedFd,
}

impl Memfd {
    /// So many zeros. The name shows in `/proc` and means nothing; it has at most 249 octets.
    ///
    /// # Errors
    /// At [`Step::Open`], naming the memory; at [`Step::Configure`] for more octets than the system takes.
    pub fn create(name: &str, octets: u64) -> Result<Self, Error> {
        let named = |error: Error| error.with_path(Path::new(name));
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
            // Before Linux 6.3 there was no such flag.
            Err(Errno::INVAL) => memfd_create(name, flags),
            done => done,
        };
        let memory = Self { fd: fd.map_err(|errno| named(Error::os(Step::Open, errno)))? };
        if octets > 0 {
            memory.set_octets(octets).map_err(named)?;
        }
        Ok(memory)
    }

    /// Takes over a descriptor that came from elsewhere. It is not inherited by other programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not memory, or cannot
    /// be written, or bears a seal.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        let (fd, ()) = adopted(fd, |fd| {
            let wanted = "memory without a seal";
            let seals = seals(fd, wanted)?;
            if !seals.difference(SealFlags::EXEC).is_empty() {
                return Err(Error::unlike(Step::Adopt, wanted, described(seals)));
            }
            check_writable(fd)?;
            kind::prepare(fd, true)
        })?;
        Ok(Self { fd })
    }

    /// How many octets it has.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn octets(&self) -> Result<u64, Error> {
        octets(self.as_fd()).map_err(|errno| Error::os(Step::Configure, errno))
    }

    /// Gives it so many octets: the end is cut off, or zeros are added.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn set_octets(&self, octets: u64) -> Result<(), Error> {
        resumed(|| ftruncate(&self.fd, octets)).map_err(|errno| Error::os(Step::Configure, errno))
    }

    /// Reads octets at an offset: as many as there is room for, or as there are from there to the end.
    ///
    /// # Errors
    /// At [`Step::Access`].
    pub fn read_at(&self, into: &mut [u8], at: u64) -> Result<usize, Error> {
        read_at(self.as_fd(), into, at)
    }

    /// Writes octets at an offset, all of them; the memory grows as needed.
    ///
    /// # Errors
    /// At [`Step::Access`]; [`Error::transferred`] octets were written.
    pub fn write_at(&self, octets: &[u8], at: u64) -> Result<(), Error> {
        write_at(self.as_fd(), octets, at)
    }

    /// From here on its size cannot change, for anybody.
    ///
    /// # Errors
    /// At [`Step::Configure`], with the memory: there is not as much memory, or more than fits this process's
    /// addresses.
    pub fn fix_size(self) -> Result<SizedMemfd, Refused<Self>> {
        match fixed(self.as_fd(), SIZE) {
            Ok(octets) => Ok(SizedMemfd::of(self.fd, octets)),
            Err(error) => Err(Refused::new(error, self)),
        }
    }

    /// As [`fix_size`](Self::fix_size), final for good, but with holes: whoever touches a part fills it before
    /// ([`Segment::fill`](super::Segment::fill)).
    pub(crate) fn fix_size_with_holes(self) -> Result<SizedMemfd, Error> {
        let fix = || {
            resumed(|| fcntl_add_seals(&self.fd, SIZE.union(SealFlags::SEAL)))?;
            addressable(octets(self.as_fd())?)
        };
        let octets = fix().map_err(|errno| Error::os(Step::Configure, errno))?;
        Ok(SizedMemfd::of(self.fd, octets))
    }

    /// From here on nothing about it can change, for anybody.
    ///
    /// # Errors
    /// As [`fix_size`](Self::fix_size).
    pub fn seal(self) -> Result<SealedMemfd, Refused<Self>> {
        match fixed(self.as_fd(), ALL) {
            Ok(octets) => Ok(SealedMemfd::of(self.fd, octets)),
            Err(error) => Err(Refused::new(error, self)),
        }
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<Memfd> for OwnedFd {
    fn from(memory: Memfd) -> Self {
        memory.fd
    }
}

// ---- for all three ----

/// The size cannot change.
pub(super) const SIZE: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);
/// Nothing can change, the seals themselves included.
pub(super) const ALL: SealFlags = SIZE.union(SealFlags::WRITE).union(SealFlags::SEAL);
/// Nobody writes, from now on.
pub(super) const WRITING: SealFlags = SealFlags::WRITE.union(SealFlags::FUTURE_WRITE);

/// At once, when holes are filled: the kernel undoes a piece that a signal interrupts.
const PIECE: u64 = 16 << 20;

/// What the kernel counts the octets of a file by (stat(3type)).
const BLOCK: u64 = 512;

pub(super) fn read_at(fd: BorrowedFd<'_>, into: &mut [u8], at: u64) -> Result<usize, Error> {
    resumed(|| pread(fd, &mut *into, at)).map_err(|errno| Error::os(Step::Access, errno))
}

pub(super) fn write_at(fd: BorrowedFd<'_>, octets: &[u8], at: u64) -> Result<(), Error> {
    let mut written = 0;
    while written < octets.len() {
        let failed = |errno| Error::os(Step::Access, errno).with_transferred(written);
        let at = at.checked_add(written as u64).ok_or_else(|| failed(Errno::FBIG))?;
        written += resumed(|| pwrite(fd, &octets[written..], at)).map_err(failed)?;
    }
    Ok(())
}

/// Adds seals that make the size final, and says what it is. Its pages are all there then.
pub(super) fn fixed(fd: BorrowedFd<'_>, seals: SealFlags) -> Result<usize, Error> {
    let fix = || {
        // Before, as there may not be as much memory. What is cut off or added meanwhile is looked at once it
        // is final.
        fill(fd)?;
        resumed(|| fcntl_add_seals(fd, seals))?;
        fill(fd)?;
        addressable(octets(fd)?)
    };
    fix().map_err(|errno| Error::os(Step::Configure, errno))
}

fn octets(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    let status = resumed(|| fstat(fd))?;
    u64::try_from(status.st_size).map_err(|_| Errno::OVERFLOW)
}

/// As a length of something in this process, of which none is longer than `isize` says.
pub(super) fn addressable(octets: u64) -> Result<usize, Errno> {
    isize::try_from(octets).map(isize::unsigned_abs).map_err(|_| Errno::OVERFLOW)
}

/// Fills holes with zeros, so that no access has to.
pub(super) fn fill(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    if is_filled(fd)? {
        return Ok(());
    }
    let octets = octets(fd)?;
    // It would take all there is before it found out.
    if octets > machine() {
        return Err(Errno::NOMEM);
    }
    let mut at = 0;
    while at < octets {
        let piece = PIECE.min(octets - at);
        resumed(|| fallocate(fd, FallocateFlags::empty(), at, piece))?;
        at += piece;
    }
    Ok(())
}

/// Whether all pages are there.
pub(super) fn is_filled(fd: BorrowedFd<'_>) -> Result<bool, Errno> {
    let (octets, blocks) = (octets(fd)?, fstat(fd)?.st_blocks);
    Ok(u64::try_from(blocks).is_ok_and(|blocks| blocks.saturating_mul(BLOCK) >= octets))
}

/// Fills the holes of a part.
pub(super) fn fill_part(fd: BorrowedFd<'_>, at: usize, octets: usize) -> Result<(), Errno> {
    resumed(|| fallocate(fd, FallocateFlags::empty(), at as u64, octets as u64))
}

/// Makes a hole of a part: its memory is the system's again, and what was there is zeros.
pub(super) fn punch(fd: BorrowedFd<'_>, at: usize, octets: usize) -> Result<(), Errno> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    resumed(|| fallocate(fd, flags, at as u64, octets as u64))
}

/// How many octets this machine could hold in all.
fn machine() -> u64 {
    let all = sysinfo();
    let units = (all.totalram as u64).saturating_add(all.totalswap as u64);
    units.saturating_mul(u64::from(all.mem_unit))
}

/// The seals of memory that is not one of huge pages.
pub(super) fn seals(fd: BorrowedFd<'_>, wanted: &str) -> Result<SealFlags, Error> {
    /// `HUGETLBFS_MAGIC` (linux/magic.h).
    const HUGE_PAGES: u32 = 0x9584_58f6;
    let seals = fcntl_get_seals(fd).map_err(|_| kind::unlike(wanted, fd))?;
    // The field's type differs from one architecture to the next; the number has 32 bits.
    if fstatfs(fd).map_err(kind::failed)?.f_type as u32 == HUGE_PAGES {
        return Err(Error::unlike(
            Step::Adopt,
            wanted,
            "memory of huge pages, which may go away while it is used",
        ));
    }
    Ok(seals)
}

pub(super) fn check_writable(fd: BorrowedFd<'_>) -> Result<(), Error> {
    match kind::access(fd) {
        Ok(access) if access == OFlags::RDWR => Ok(()),
        Ok(_) => Err(Error::unlike(
            Step::Adopt,
            "a descriptor that reads and writes",
            "one that was opened for less",
        )),
        Err(errno) => Err(kind::failed(errno)),
    }
}

/// Seals, in words.
#[cold]
pub(super) fn described(seals: SealFlags) -> String {
    let names = [
        (SealFlags::SHRINK, "shrinking"),
        (SealFlags::GROW, "growing"),
        (SealFlags::WRITE, "writing"),
        (SealFlags::FUTURE_WRITE, "writing anew"),
        (SealFlags::SEAL, "further seals"),
    ];
    let found: Vec<_> =
        names.iter().filter(|(seal, _)| seals.contains(*seal)).map(|(_, name)| *name).collect();
    match found[..] {
        [] => "memory without a seal".into(),
        _ => format!("memory sealed against {}", found.join(", ")),
    }
}
