//! How many octets are copied: a count for measuring, built in by the feature `probes`.
//!
//! Counted is what is moved from one place in memory to another, in user space: all that a message holds but for what is
//! borrowed or shared, and of what is received the runs that are taken out of the message or moved within its buffer. Not
//! counted are single values as they are read, which pass through registers only.
//!
//! It is one number for the process. Whoever measures makes one call at a time; a number for each thread would need
//! threads, of which this crate knows nothing.

use core::sync::atomic::{AtomicUsize, Ordering};

static COPIED: AtomicUsize = AtomicUsize::new(0);

/// Counts so many octets; without the feature it does nothing.
#[inline(always)]
pub fn copied(octets: usize) {
    if cfg!(feature = "probes") {
        COPIED.fetch_add(octets, Ordering::Relaxed);
    }
}

/// Octets counted since the process began, from 0 again after the largest number; 0 without the feature.
pub fn so_far() -> usize {
    COPIED.load(Ordering::Relaxed)
}

#[cfg(all(test, feature = "probes"))]
mod tests {
    use super::*;
    use crate::{BORROW_FROM, ByteOrder, Decode, Decoder, Encode, Encoder, Format, Sequence, VIEW_FROM};
    use alloc::vec;

    /// The only test here that looks at the number, and so the only one that others could disturb: at least is all that
    /// it can ask for.
    #[test]
    fn runs_are_counted_where_they_are_copied() {
        let few: Sequence<i32> = vec![7; VIEW_FROM / 4 - 1].into();
        let mut to = Encoder::new(Format::default());
        few.encode(&mut to).unwrap();
        assert_eq!(to.copied(), 4 * (few.len() + 1));
        let octets = to.to_bytes();
        let before = so_far();
        let read = Sequence::<i32>::decode(&mut Decoder::new(&octets, ByteOrder::NATIVE, Format::default()));
        assert_eq!(read.unwrap(), *few);
        assert!(so_far() - before >= 4 * few.len());

        let many = vec![7u8; BORROW_FROM];
        let mut to = Encoder::new(Format::default());
        to.write_octet_sequence(&many).unwrap();
        assert_eq!(to.copied(), 4, "the octets are borrowed");
    }
}
