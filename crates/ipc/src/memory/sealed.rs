//! Memory that nobody can change any more.

#![allow(unsafe_code, reason = "a slice of mapped memory")]

use std::fmt;
use std::ops::{Deref, RangeInclusive};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;

use rustix::fs::SealFlags;
use rustix::mm::{MapFlags, ProtFlags};

use super::Mapping;
use super::memfd::{SIZE, described, fill, read_at, seals};
use super::sized::check_size;
use crate::kind::{self, adopted};
use crate::{Error, Refused, Step};

/// Memory of which neither size nor contents can change any more, so that a message from an untrusted peer
/// can be read in place.
///
/// Nobody writes it:
///
/// ```compile_fail,E0599
/// # fn wrong(memory: &zorb_ipc::SealedMemfd) {
/// memory.write_at(b"again", 0); // no method `write_at`
/// # }
/// ```
#[derive(Debug)]
pub struct SealedMemfd {
    fd: OwnedFd,
    octets: usize,
}

impl SealedMemfd {
    pub(super) fn of(fd: OwnedFd, octets: usize) -> Self {
        Self { fd, octets }
    }

    /// Takes over a descriptor that came from elsewhere, if it is sealed memory of so many octets. It is not
    /// inherited by other programs. The bound keeps a peer from having this process fill an endless hole.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not memory, or may
    /// still change, or has another size; an error of the system if it has holes that cannot be filled.
    pub fn adopt(fd: OwnedFd, sizes: RangeInclusive<usize>) -> Result<Self, Refused<OwnedFd>> {
        let (fd, octets) = adopted(fd, |fd| {
            let wanted = "memory sealed against shrinking, growing, writing";
            let seals = seals(fd, wanted)?;
            // A seal against writing anew would not do: who had it mapped before goes on writing.
            if !seals.contains(SIZE | SealFlags::WRITE) {
                return Err(Error::unlike(Step::Adopt, wanted, described(seals)));
            }
            let octets = check_size(fd, &sizes)?;
            fill(fd).map_err(kind::failed)?;
            kind::prepare(fd, true)?;
            Ok(octets)
        })?;
        Ok(Self { fd, octets })
    }

    /// How many octets it has.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Reads octets at an offset: as many as there is room for, or as there are from there to the end.
    ///
    /// # Errors
    /// At [`Step::Access`].
    pub fn read_at(&self, into: &mut [u8], at: u64) -> Result<usize, Error> {
        read_at(self.as_fd(), into, at)
    }

    /// Gives it a place in this process, which stays when the descriptor is closed.
    ///
    /// # Errors
    /// At [`Step::Map`], if there are no addresses left.
    pub fn map(&self) -> Result<SealedBytes, Error> {
        // Private, since older kernels take a shared mapping for one that could become writable; nothing is
        // written, so nothing is copied.
        let mapping = Mapping::of_file(self.as_fd(), self.octets, ProtFlags::READ, MapFlags::PRIVATE);
        mapping.map(SealedBytes).map_err(|errno| Error::os(Step::Map, errno))
    }
}

impl AsFd for SealedMemfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<SealedMemfd> for OwnedFd {
    fn from(memory: SealedMemfd) -> Self {
        memory.fd
    }
}

/// What sealed memory holds, in place: a slice like any other.
pub struct SealedBytes(Mapping);

impl Deref for SealedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has that many octets, readable as long as this is there. They do not change:
        // the seal against writing is given only while no mapping exists that can write or could become one
        // that can, and from then on the kernel refuses to make one, to write to the file, and to punch holes
        // into it; seals are never taken off. Touching them raises no fault: the size is sealed, and all
        // pages were there when it was looked at and cannot go.
        unsafe { slice::from_raw_parts(self.0.start(), self.0.octets()) }
    }
}

impl AsRef<[u8]> for SealedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SealedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedBytes").field("octets", &self.len()).finish()
    }
}
