//! From an operation's name to its number: the perfect hash of a skeleton.
//!
//! The table is made by `zorb-build`, which knows all names of an interface, inherited ones included; here it
//! is only read. It is a two-level hash ("hash and displace", Belazzougui, Botelho and Dietzfelbinger, 2009):
//!
//! ```text
//! name ── hash ──▶ 64 bits ─┬─ high half ──▶ bucket ──▶ displacement ─┐
//!                           └─ low half ──────────────── + ───────────┴──▶ slot ──▶ number ──▶ compare the name
//! ```
//!
//! so a lookup costs one hash, two table reads and one comparison, however many operations there are. The
//! generator has the same [`hash`]; a test holds the two equal.

/// The operations of one interface. Made by generated code only.
#[derive(Debug)]
pub struct Operations {
    /// Chosen by the generator such that no two names hash alike.
    pub seed: u64,
    /// By bucket: what to add to a name's hash. The length is a power of two.
    pub displacements: &'static [u16],
    /// By slot: the number of an operation, any number where no name leads. The length is a power of two.
    pub slots: &'static [u16],
    /// By number: the name on the wire.
    pub names: &'static [&'static str],
}

impl Operations {
    /// The number of the operation called `name`.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let hash = hash(name, self.seed);
        let bucket = bucket(hash, self.displacements.len());
        let slot = slot(hash, *self.displacements.get(bucket)?, self.slots.len());
        let number = usize::from(*self.slots.get(slot)?);
        (self.names.get(number)?.as_bytes() == name).then_some(number)
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

/// Hashes a name, eight octets a step. The last step overlaps the one before, so that no tail is left.
#[inline]
pub fn hash(name: &[u8], seed: u64) -> u64 {
    let mut state = seed ^ (name.len() as u64).wrapping_mul(FIRST);
    if let Some(last) = name.last_chunk::<8>() {
        for step in name[..name.len() - 1].chunks_exact(8) {
            state = mix(state ^ step.first_chunk().map_or(0, |step| u64::from_le_bytes(*step)));
        }
        mix(state ^ u64::from_le_bytes(*last))
    } else {
        let word = match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            // Up to three octets: each of them at a place of its own.
            _ => name.iter().fold(0, |word, octet| word << 8 | u64::from(*octet)),
        };
        mix(state ^ word)
    }
}

/// Odd constants with about half of their bits set: the fractional parts of the golden ratio and of √3.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xbb67_ae85_84ca_a73b;

/// Spreads every bit over the word: a full multiplication, folded.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ FIRST) * u128::from(SECOND);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_finds_nothing() {
        let none = Operations { seed: 0, displacements: &[], slots: &[], names: &[] };
        assert_eq!(none.find(b""), None);
        assert_eq!(none.find(b"ping"), None);
    }

    #[test]
    fn one_name_is_found_and_no_other() {
        let one = Operations { seed: 7, displacements: &[0], slots: &[0], names: &["ping"] };
        assert_eq!(one.find(b"ping"), Some(0));
        for other in ["", "pin", "pings", "PING", "a_name_of_more_than_eight_octets"] {
            assert_eq!(one.find(other.as_bytes()), None);
        }
    }

    #[test]
    fn every_octet_counts() {
        for length in 1..40 {
            let name = vec![b'a'; length];
            for at in 0..length {
                let mut other = name.clone();
                other[at] = b'b';
                assert_ne!(hash(&name, 0), hash(&other, 0), "octet {at} of {length}");
            }
        }
    }
}
