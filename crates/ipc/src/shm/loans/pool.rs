//! Memory to be lent: made, written by one owner, and used again.

#![allow(unsafe_code, reason = "slices of mapped memory")]

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::LENT_FROM;
use super::lending::Owed;
use crate::Error;
use crate::memory::OwnMemory;

/// Where loans come from, and go back to: memory that this process writes in place, and lends to peers by
/// [channels](crate::ShmStream) whose [options](crate::ShmOptions::loans) name it. Clones are the same.
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::{Loans, ShmOptions, ShmStream};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let loans = Loans::new(64 << 20);
/// let (one, other) = ShmStream::pair(&ShmOptions::new().loans(&loans))?;
/// let deadline = Instant::now() + Duration::from_secs(5);
///
/// let mut image = loans.loan(1 << 20)?;
/// image.fill(7); // in place
/// let image = image.freeze();
/// one.send_all(&mut [IoSlice::new(&image)], deadline)?; // copies nothing
///
/// let mut received = vec![0; 1 << 20];
/// other.receive_exact(&mut received, deadline)?; // copies it once
/// assert!(received.iter().all(|octet| *octet == 7));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Loans(Arc<Pool>);

struct Pool {
    most: usize,
    kept: Mutex<Kept>,
    /// What is frozen, by its first address.
    frozen: RwLock<BTreeMap<usize, Arc<Region>>>,
}

#[derive(Default)]
struct Kept {
    /// What nobody here has; a peer may still. The latest last.
    free: Vec<Arc<Region>>,
    /// Octets of all, also of what is in somebody's hands.
    octets: usize,
}

/// One piece of memory.
pub(super) struct Region {
    pub(super) memory: OwnMemory,
    /// Nothing more is written.
    frozen: AtomicBool,
    /// Whether it was used since it was last asked whether it can go.
    used: AtomicBool,
    pub(super) owed: Mutex<Owed>,
}

/// The smallest piece: a page.
const SMALLEST: usize = 4096;
/// The largest, as records have 32 bits.
const LARGEST: usize = 1 << 30;

/// Octets of the piece that so many are lent in: at most an eighth more, so that loans of about the same size use the same.
fn size_of(octets: usize) -> usize {
    let step = (octets.next_power_of_two() / 8).max(SMALLEST);
    octets.max(1).next_multiple_of(step)
}

impl Loans {
    /// Loans of so many octets in all, those not counted back yet among them.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Pool { most, kept: Mutex::default(), frozen: RwLock::default() }))
    }

    /// Memory for so many octets, up to 1 GiB, at an address that is a multiple of 4096: zeros if it is new, else what an earlier loan has
    /// left there.
    ///
    /// # Errors
    /// [`Error::is_out_of_range`] if that is more than there may be in all, while others have theirs; at [`Step::Open`](crate::Step::Open) and the like
    /// what the system has not got.
    pub fn loan(&self, octets: usize) -> Result<Loan, Error> {
        if octets > LARGEST {
            return Err(Error::out_of_range("a loan has up to 1 GiB"));
        }
        let size = size_of(octets);
        let mut kept = self.0.kept();
        let found = kept.free.iter().rposition(|region| region.memory.octets() == size && region.is_back());
        let region = match found {
            Some(at) => kept.free.remove(at),
            None => {
                kept.make_room(size, self.0.most)?;
                let memory = OwnMemory::create("zorb-loan", size)?;
                kept.octets += size;
                Arc::new(Region {
                    memory,
                    frozen: AtomicBool::new(false),
                    used: AtomicBool::new(true),
                    owed: Mutex::default(),
                })
            }
        };
        drop(kept);
        region.used.store(true, Release);
        Ok(Loan { lease: Lease { region, pool: Arc::downgrade(&self.0) }, octets })
    }

    /// Octets of all pieces: lent, in somebody's hands, and kept for the next.
    pub fn octets(&self) -> usize {
        self.0.kept().octets
    }

    /// Gives back the memory of those pieces that nobody has, and that were not used since this was last called: for times when
    /// nothing is sent. How many octets that were.
    pub fn rest(&self) -> usize {
        let mut kept = self.0.kept();
        let before = kept.octets;
        kept.let_go(|region| !region.used.swap(false, Release));
        before - kept.octets
    }

    /// The piece, and the offset in it, where these octets lie, if they are frozen and enough to be lent.
    #[inline]
    pub(super) fn find(&self, octets: &[u8]) -> Option<(Arc<Region>, usize)> {
        if octets.len() < LENT_FROM {
            return None;
        }
        self.0.find(octets)
    }
}

impl Pool {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, octets: &[u8]) -> Option<(Arc<Region>, usize)> {
        let at = octets.as_ptr().addr();
        let frozen = self.frozen.read().unwrap_or_else(PoisonError::into_inner);
        let (start, region) = frozen.range(..=at).next_back()?;
        let offset = at - start;
        let within = offset.checked_add(octets.len()).is_some_and(|end| end <= region.memory.octets());
        within.then(|| (Arc::clone(region), offset))
    }
}

impl Kept {
    /// Sees to it that a piece of so many octets may be made.
    fn make_room(&mut self, octets: usize, most: usize) -> Result<(), Error> {
        // What a peer has that is gone is not waited for.
        self.let_go(Region::is_lost);
        while self.octets.saturating_add(octets) > most {
            let Some(at) = self.free.iter().position(|region| region.is_back()) else {
                return Err(Error::out_of_range(
                    "so much memory is not lent at a time: others have theirs, or their peers",
                ));
            };
            self.octets -= self.free.remove(at).memory.octets();
        }
        Ok(())
    }

    /// Forgets free pieces. The memory of one that a peer still has mapped is then that peer's alone.
    fn let_go(&mut self, which: impl Fn(&Region) -> bool) {
        let Self { free, octets } = self;
        free.retain(|region| {
            let goes = (region.is_lost() || region.is_back()) && which(region);
            *octets -= if goes { region.memory.octets() } else { 0 };
            !goes
        });
    }
}

impl Region {
    fn owed(&self) -> std::sync::MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all peers have given it back.
    fn is_back(&self) -> bool {
        self.owed().is_back()
    }

    /// Whether it will never come back.
    fn is_lost(&self) -> bool {
        self.owed().is_lost()
    }
}

/// That somebody here has a piece of memory. One at a time.
struct Lease {
    region: Arc<Region>,
    pool: Weak<Pool>,
}

impl Lease {
    fn start(&self) -> *mut u8 {
        self.region.memory.start()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else { return };
        if self.region.frozen.swap(false, Acquire) {
            pool.frozen.write().unwrap_or_else(PoisonError::into_inner).remove(&self.start().addr());
        }
        pool.kept().free.push(Arc::clone(&self.region));
    }
}

/// Octets to be written in place, and then sent. Dropped, its memory is there for the next.
pub struct Loan {
    lease: Lease,
    octets: usize,
}

impl Loan {
    /// From here on nothing of it changes, and channels send it without a copy.
    #[must_use = "dropped, it is sent to nobody"]
    pub fn freeze(self) -> Loaned {
        let Self { lease, octets } = self;
        if let Some(pool) = lease.pool.upgrade() {
            let mut frozen = pool.frozen.write().unwrap_or_else(PoisonError::into_inner);
            frozen.insert(lease.start().addr(), Arc::clone(&lease.region));
            lease.region.frozen.store(true, Release);
        }
        Loaned { lease: Arc::new(lease), octets }
    }
}

impl Deref for Loan {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the piece has at least so many octets, readable as long as it is there. In this process it is in the hands
        // of this value alone, of which there is one at a time: free pieces are taken out when they are lent. Others
        // cannot write it. To touch it raises no fault: all pages were there before it was sealed, and cannot go.
        unsafe { slice::from_raw_parts(self.lease.start(), self.octets) }
    }
}

impl DerefMut for Loan {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; peers that read what it held before have said that they do not any more, or read what they do not trust.
        unsafe { slice::from_raw_parts_mut(self.lease.start(), self.octets) }
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("octets", &self.octets).finish_non_exhaustive()
    }
}

/// A loan that changes no more. Its clones are the same memory, which goes back when the last of them was dropped and all peers
/// that it was sent to have given it back.
#[derive(Clone)]
pub struct Loaned {
    lease: Arc<Lease>,
    octets: usize,
}

impl Deref for Loaned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: as of a `Loan`, which this was made of; since then nothing gives a way to write it.
        unsafe { slice::from_raw_parts(self.lease.start(), self.octets) }
    }
}

impl AsRef<[u8]> for Loaned {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Loaned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaned").field("octets", &self.octets).finish_non_exhaustive()
    }
}

impl fmt::Debug for Loans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loans").field("octets", &self.octets()).field("most", &self.0.most).finish()
    }
}

/// Whether they are the same.
impl PartialEq for Loans {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Loans {}

#[cfg(all(test, not(zorb_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_an_eighth_larger_at_the_most() {
        for octets in [0, 1, 4096, 4097, 100_000, (1 << 20) + 1, 17 << 20, LARGEST] {
            let size = size_of(octets);
            assert!(size >= octets && size <= octets + octets / 4 + SMALLEST, "{octets}: {size}");
            assert_eq!(size % SMALLEST, 0);
        }
        assert_eq!(size_of(16 << 20), 16 << 20);
    }

    #[test]
    fn what_was_dropped_is_lent_again_and_no_more_than_the_bound() {
        let loans = Loans::new(64 << 10);
        let first = loans.loan(32 << 10).unwrap();
        let at = first.as_ptr();
        assert!(first.iter().all(|octet| *octet == 0));
        let second = loans.loan(32 << 10).unwrap();
        assert!(loans.loan(1).unwrap_err().is_out_of_range());
        drop(first);
        let again = loans.loan(32 << 10).unwrap();
        assert_eq!(again.as_ptr(), at);
        drop((again, second));
        let small = loans.loan(4096).unwrap();
        assert_eq!(loans.octets(), (32 << 10) + 4096, "one of the larger went for it");
        drop(small);
        assert_eq!((loans.rest(), loans.octets()), (0, (32 << 10) + 4096), "they were used");
        assert_eq!((loans.rest(), loans.octets()), ((32 << 10) + 4096, 0));
    }

    #[test]
    fn only_what_is_frozen_is_found() {
        let loans = Loans::new(1 << 20);
        let mut loan = loans.loan(40_000).unwrap();
        loan.fill(1);
        assert!(loans.find(&loan).is_none(), "it may still be written");
        let loaned = loan.freeze();
        assert_eq!(loans.find(&loaned).unwrap().1, 0);
        assert_eq!(loans.find(&loaned[9..30_000]).unwrap().1, 9);
        assert!(loans.find(&loaned[9..9 + LENT_FROM - 1]).is_none(), "too little");
        assert!(loans.find(&vec![0; 40_000]).is_none());
        let kept = loaned.clone();
        drop(loaned);
        assert!(loans.find(&kept).is_some());
        drop(kept);
        assert!(loans.0.frozen.read().unwrap().is_empty());
    }
}
