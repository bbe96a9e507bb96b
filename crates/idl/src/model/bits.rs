//! Bit sets and bit masks. IDL 4.2, 7.4.13.4.3.

use super::{Annotation, Type};
use crate::DefinitionId;
use crate::source::Span;

/// A `bitset`: numbers of a few bits each, packed into one integer, the first at the least significant end.
#[derive(Clone, Debug, Default)]
pub struct Bitset {
    /// The bitset that it inherits from, whose fields come first.
    pub base: Option<DefinitionId>,
    /// The fields, inherited ones first.
    pub fields: Vec<Bitfield>,
    /// How many of [`Bitset::fields`] are inherited.
    pub inherited: usize,
    /// How many bits all fields take, 1 to 64.
    pub bits: u8,
}

/// One `bitfield` of a bitset.
#[derive(Clone, Debug)]
pub struct Bitfield {
    /// Its identifier; `None` for bits that are left free.
    pub name: Option<String>,
    /// The type in which it is handed out: as written, or else the smallest of `boolean` (1 bit), `octet`,
    /// `unsigned short`, `unsigned long` and `unsigned long long` that holds it.
    pub ty: Type,
    /// How many bits it has, 1 to 64.
    pub bits: u8,
    /// Its least significant bit, counted from that of the bitset.
    pub position: u8,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where it stands.
    pub span: Span,
}

/// A `bitmask`: named bits of one integer.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// How many bits it has: `@bit_bound`, 1 to 64; otherwise 32.
    pub bit_bound: u8,
    /// The bits in source order.
    pub flags: Vec<BitFlag>,
}

/// One named bit of a bitmask.
#[derive(Clone, Debug)]
pub struct BitFlag {
    /// Its identifier, which lives in the scope of the bitmask.
    pub name: String,
    /// Which bit: `@position`, otherwise one more than that of the flag before it; less than [`Bitmask::bit_bound`].
    pub position: u8,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where it stands.
    pub span: Span,
}

/// The octets of the integer that holds so many bits: 1, 2, 4 or 8.
pub(crate) fn octets(bits: u8) -> u32 {
    u32::from(bits.max(1)).div_ceil(8).next_power_of_two()
}
