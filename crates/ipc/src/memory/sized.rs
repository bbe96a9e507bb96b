//! Memory with a descriptor, whose size is final.

use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::memfd::{
    ALL, SIZE, WRITING, addressable, check_writable, described, fill, fixed, read_at, seals, write_at,
};
use super::{SealedMemfd, Segment, SegmentOptions};
use crate::kind::{self, adopted};
use crate::{Error, Refused, Step};
use rustix::fs::fstat;
use rustix::io::Errno;

/// Memory whose size nobody can change any more, but whoever has it can change what it holds. It can be
/// mapped.
#[derive(Debug)]
pub struct SizedMemfd {
    fd: OwnedFd,
    octets: usize,
}

impl SizedMemfd {
    pub(super) fn of(fd: OwnedFd, octets: usize) -> Self {
        Self { fd, octets }
    }

    /// Takes over a descriptor that came from elsewhere, if it is memory of so many octets. It is not
    /// inherited by other programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not memory, or cannot
    /// be written, or its size may change, or is another one; an error of the system if there is not as much
    /// memory.
    pub fn adopt(fd: OwnedFd, sizes: RangeInclusive<usize>) -> Result<Self, Refused<OwnedFd>> {
        Self::adopt_as(fd, &sizes, true)
    }

    /// As [`adopt`](Self::adopt), but holes stay: whoever touches a part fills it before
    /// ([`Segment::fill`](super::Segment::fill)).
    pub(crate) fn adopt_with_holes(fd: OwnedFd, octets: usize) -> Result<Self, Refused<OwnedFd>> {
        Self::adopt_as(fd, &(octets..=octets), false)
    }

    fn adopt_as(fd: OwnedFd, sizes: &RangeInclusive<usize>, filled: bool) -> Result<Self, Refused<OwnedFd>> {
        let (fd, octets) = adopted(fd, |fd| {
            let wanted = "memory sealed against shrinking, growing";
            let seals = seals(fd, wanted)?;
            if !seals.contains(SIZE) || seals.intersects(WRITING) {
                return Err(Error::unlike(Step::Adopt, wanted, described(seals)));
            }
            check_writable(fd)?;
            let octets = check_size(fd, sizes)?;
            if filled {
                fill(fd).map_err(kind::failed)?;
            }
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

    /// Writes octets at an offset, all of them.
    ///
    /// # Errors
    /// At [`Step::Access`]; [`Error::transferred`] octets were written, as many as lie before the end.
    pub fn write_at(&self, octets: &[u8], at: u64) -> Result<(), Error> {
        write_at(self.as_fd(), octets, at)
    }

    /// Gives it a place in this process.
    ///
    /// # Errors
    /// At [`Step::Map`], with the memory: as [`Segment::create`].
    pub fn map(self, options: &SegmentOptions) -> Result<Segment, Refused<Self>> {
        Segment::of(self, options)
    }

    /// From here on nothing about it can change, for anybody.
    ///
    /// # Errors
    /// At [`Step::Configure`], with the memory: busy (`EBUSY`) while anybody has it mapped to write, here or
    /// elsewhere; not permitted if somebody sealed it against that.
    pub fn seal(self) -> Result<SealedMemfd, Refused<Self>> {
        match fixed(self.as_fd(), ALL) {
            Ok(octets) => Ok(SealedMemfd::of(self.fd, octets)),
            Err(error) => Err(Refused::new(error, self)),
        }
    }
}

/// The size of memory that was sealed, if it is one of these.
pub(super) fn check_size(fd: BorrowedFd<'_>, sizes: &RangeInclusive<usize>) -> Result<usize, Error> {
    let status = fstat(fd).map_err(kind::failed)?;
    let octets = u64::try_from(status.st_size).map_err(|_| Errno::OVERFLOW).and_then(addressable);
    match octets {
        Ok(octets) if sizes.contains(&octets) => Ok(octets),
        _ => {
            let wanted = format!("memory of {} to {} octets", sizes.start(), sizes.end());
            Err(Error::unlike(Step::Adopt, wanted, format!("{} octets", status.st_size)))
        }
    }
}

impl AsFd for SizedMemfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<SizedMemfd> for OwnedFd {
    fn from(memory: SizedMemfd) -> Self {
        memory.fd
    }
}
