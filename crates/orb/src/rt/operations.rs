//! From an operation's name, or its number on the wire, to its place: the perfect hash of a skeleton.
//!
//! The table is made by `zorb-build`, which knows all names of an interface, inherited ones included; here it
//! is only read. It is a two-level hash ("hash and displace", Belazzougui, Botelho and Dietzfelbinger, 2009):
//!
//! ```text
//! name ──▶ number, 64 bits ─┬─ high half ──▶ bucket ──▶ displacement ─┐
//!                           └─ low half ──────────────── + ───────────┴──▶ slot ──▶ place ──▶ compare the name
//! ```
//!
//! so a lookup costs one hash, two table reads and one comparison, however many operations there are. The
//! generator has the same [`hash`]; a test holds the two equal.

use std::num::NonZeroU64;

use zorb_giop::operation_number;

/// The operations of one interface. Made by generated code only.
#[derive(Debug)]
pub struct Operations {
    /// How far numbers are turned: chosen by the generator such that the table is small.
    pub seed: u64,
    /// By bucket: what to add to a name's hash. The length is a power of two.
    pub displacements: &'static [u16],
    /// By slot: the place of an operation, any place where no name leads. The length is a power of two.
    pub slots: &'static [u16],
    /// By place: the name on the wire.
    pub names: &'static [&'static str],
    /// By place: the name's number.
    pub numbers: &'static [u64],
}

impl Operations {
    /// The place of the operation called `name`.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let place = self.place(hash(name, self.seed))?;
        (self.names.get(place)?.as_bytes() == name).then_some(place)
    }

    /// The place of the operation with this [number](operation_number), which messages may name it by.
    #[inline]
    pub fn find_number(&self, number: NonZeroU64) -> Option<usize> {
        let place = self.place(number.get().rotate_left(self.seed as u32))?;
        (*self.numbers.get(place)? == number.get()).then_some(place)
    }

    #[inline]
    fn place(&self, hash: u64) -> Option<usize> {
        let bucket = bucket(hash, self.displacements.len());
        let slot = slot(hash, *self.displacements.get(bucket)?, self.slots.len());
        self.slots.get(slot).map(|place| usize::from(*place))
    }
}

/// The bucket of a hash among `buckets`, a power of two.
#[inline]
pub fn bucket(hash: u64, buckets: usize) -> usize {
    (hash >> 32) as usize & buckets.wrapping_sub(1)
}

/// The slot of a hash among `slots`, a power of two, in a bucket with this displacement.
#[inline]
pub fn slot(hash: u64, displacement: u16, slots: usize) -> usize {
    // Odd, so that it runs through all slots; from bits that the bucket does not use.
    let step = (hash as u32 >> 16) | 1;
    (hash as u32).wrapping_add(step.wrapping_mul(displacement.into())) as usize & slots.wrapping_sub(1)
}

/// The hash of a name: its number, turned by `seed` bits.
#[inline]
pub fn hash(name: &[u8], seed: u64) -> u64 {
    operation_number(name).rotate_left(seed as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_finds_nothing() {
        let none = Operations { seed: 0, displacements: &[], slots: &[], names: &[], numbers: &[] };
        assert_eq!(none.find(b""), None);
        assert_eq!(none.find(b"ping"), None);
    }

    #[test]
    fn one_name_is_found_and_no_other() {
        const NUMBERS: &[u64] = &[operation_number(b"ping")];
        let one =
            Operations { seed: 7, displacements: &[0], slots: &[0], names: &["ping"], numbers: NUMBERS };
        let find = |name: &[u8]| one.find_number(NonZeroU64::new(operation_number(name)).unwrap());
        assert_eq!(one.find(b"ping"), Some(0));
        assert_eq!(find(b"ping"), Some(0));
        assert_eq!(find(b"pong"), None);
        for other in ["", "pin", "pings", "PING", "a_name_of_more_than_eight_octets"] {
            assert_eq!(one.find(other.as_bytes()), None);
        }
    }
}
