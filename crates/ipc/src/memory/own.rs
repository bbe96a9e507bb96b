//! Memory that one process alone can write, and that others read.

#![allow(unsafe_code, reason = "memory that others write is copied, and read in place, by its address")]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;

use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::mm::{MapFlags, ProtFlags};

use super::copy::copy;
use super::memfd::{SIZE, WRITING, described, fill, is_filled, seals};
use super::sized::check_size;
use super::{Mapping, Memfd};
use crate::kind::{self, adopted};
use crate::ready::resumed;
use crate::{Error, Step};

/// Memory that this process alone writes: it is mapped here, and sealed against being written by anybody who has not
/// mapped it yet (`F_SEAL_FUTURE_WRITE`, Linux 5.1). What it holds is for whoever holds this to say.
#[derive(Debug)]
pub(crate) struct OwnMemory {
    mapping: Mapping,
    fd: OwnedFd,
}

impl OwnMemory {
    /// So many zeros, all of them there.
    pub(crate) fn create(name: &str, octets: usize) -> Result<Self, Error> {
        let fd = OwnedFd::from(Memfd::create(name, octets as u64)?);
        let configured = |errno| Error::os(Step::Configure, errno);
        fill(fd.as_fd()).map_err(configured)?;
        let (protection, flags) =
            (ProtFlags::READ.union(ProtFlags::WRITE), MapFlags::SHARED | MapFlags::POPULATE);
        let mapping = Mapping::of_file(fd.as_fd(), octets, protection, flags);
        let mapping = mapping.map_err(|errno| Error::os(Step::Map, errno))?;
        // Nobody else has had the descriptor: this mapping is the only one that can write, and stays so.
        let last = SIZE | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        resumed(|| fcntl_add_seals(&fd, last)).map_err(configured)?;
        Ok(Self { mapping, fd })
    }

    /// Its first octet, at a page's beginning. So many can be read and written as it has, as long as it is there.
    pub(crate) fn start(&self) -> *mut u8 {
        self.mapping.start()
    }

    pub(crate) fn octets(&self) -> usize {
        self.mapping.octets()
    }
}

impl AsFd for OwnMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Such memory of another process, which may write it at any time.
#[derive(Debug)]
pub(crate) struct OthersMemory(Mapping);

impl OthersMemory {
    /// Of a descriptor that came from elsewhere, if it is memory of at most so many octets without holes, whose size is final, and that nobody
    /// who has it now can write, nor punch holes into: to touch it raises no fault, and takes no memory that is not there.
    pub(crate) fn adopt(fd: OwnedFd, most: usize) -> Result<Self, Error> {
        let checked = adopted(fd, |fd| {
            let wanted = "memory sealed against shrinking, growing, writing anew";
            let seals = seals(fd, wanted)?;
            if !seals.contains(SIZE) || !seals.intersects(WRITING) {
                return Err(Error::unlike(Step::Adopt, wanted, described(seals)));
            }
            let octets = check_size(fd, &(1..=most))?;
            // To fill them would take memory on another's word.
            if !is_filled(fd).map_err(kind::failed)? {
                return Err(Error::unlike(Step::Adopt, "memory without holes", "memory with holes"));
            }
            Ok(octets)
        });
        let (fd, octets) = checked.map_err(Error::from)?;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        let mapping = Mapping::of_file(fd.as_fd(), octets, ProtFlags::READ, flags);
        mapping.map(Self).map_err(|errno| Error::os(Step::Map, errno))
    }

    pub(crate) fn octets(&self) -> usize {
        self.0.octets()
    }

    /// Copies octets out of it, from offset `at` on. False: it has not so many there.
    #[inline]
    pub(crate) fn copy_out(&self, at: usize, into: &mut [u8]) -> bool {
        if at.checked_add(into.len()).is_none_or(|end| end > self.octets()) {
            return false;
        }
        // SAFETY: so many octets are there, within the mapping, which lives as long as this; the slice is borrowed exclusively
        // and lies elsewhere. Whoever writes them meanwhile, each is read once.
        unsafe { copy(self.0.start().wrapping_add(at), into.as_mut_ptr(), into.len()) };
        true
    }

    /// Octets of it, in place; none where it has not so many.
    ///
    /// # Safety
    /// Its owner does not write them as long as they are borrowed.
    #[inline]
    pub(crate) unsafe fn octets_at(&self, at: usize, octets: usize) -> &[u8] {
        if at.checked_add(octets).is_none_or(|end| end > self.octets()) {
            return &[];
        }
        // SAFETY: so many octets are there, readable as long as this is there, and the caller says that they do not change. To
        // touch them raises no fault: size and pages were looked at when it was adopted, and can go no more.
        unsafe { slice::from_raw_parts(self.0.start().wrapping_add(at), octets) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(octets: usize, filled: bool, seals: SealFlags) -> OwnedFd {
        let fd = OwnedFd::from(Memfd::create("others", octets as u64).unwrap());
        if filled {
            fill(fd.as_fd()).unwrap();
        }
        fcntl_add_seals(&fd, seals).unwrap();
        fd
    }

    #[test]
    fn what_others_may_change_or_have_not_filled_is_not_mapped() {
        let all = SIZE | SealFlags::FUTURE_WRITE;
        let octets = 3 * 4096;
        assert_eq!(OthersMemory::adopt(sealed(octets, true, all), octets).unwrap().octets(), octets);
        assert!(OthersMemory::adopt(sealed(octets, true, SIZE | SealFlags::WRITE), octets).is_ok());
        for refused in [
            sealed(octets, true, SIZE),
            sealed(octets, true, SealFlags::SHRINK | SealFlags::FUTURE_WRITE),
            sealed(octets, false, all),
            sealed(octets + 4096, true, all),
            sealed(0, true, all),
        ] {
            assert!(OthersMemory::adopt(refused, octets).unwrap_err().is_of_another_kind());
        }
    }

    #[test]
    fn own_memory_cannot_be_written_by_others_nor_lose_its_pages() {
        use rustix::fs::{FallocateFlags, fallocate};
        let own = OwnMemory::create("own", 8192).unwrap();
        let fd = own.as_fd().try_clone_to_owned().unwrap();
        let writing = ProtFlags::READ.union(ProtFlags::WRITE);
        assert!(Mapping::of_file(fd.as_fd(), 8192, writing, MapFlags::SHARED).is_err());
        assert!(rustix::io::pwrite(&fd, b"x", 0).is_err());
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        assert!(fallocate(&fd, punch, 0, 4096).is_err());
        let others = OthersMemory::adopt(fd, 8192).unwrap();
        // SAFETY: this memory's own octets, which nobody else has a reference to.
        unsafe { own.start().write_bytes(7, 8192) };
        let mut octets = [0; 4096];
        assert!(others.copy_out(4096, &mut octets) && octets == [7; 4096]);
        assert!(!others.copy_out(4097, &mut octets) && !others.copy_out(usize::MAX, &mut octets));
    }
}
