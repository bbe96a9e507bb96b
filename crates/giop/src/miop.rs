//! MIOP: GIOP messages in multicast packets. CORBA 3.4 part 2, §11.2.
//!
//! ```text
//!   0   1   2   3     4      5     6    7    8          12          16        20
//! ┌───┬───┬───┬───┬──────┬───────┬──────────┬───────────┬───────────┬─────────┬────┬┄┄┄┄┄┄┄┬──────┐
//! │ M │ I │ O │ P │ 0x10 │ flags │ length   │ number    │ of        │ id: len │ id │ to 8·n │ data │
//! └───┴───┴───┴───┴──────┴───────┴──────────┴───────────┴───────────┴─────────┴────┴┄┄┄┄┄┄┄┴──────┘
//!  flags   bit 0: little-endian, bit 1: the last packet of its message
//!  length  octets of data, a ushort
//!  number  from 0; of: how many packets the message has, 0 where that is not known before the last one
//!  id      the message's, at most 252 octets: packets of one sender with one id make one message
//! ```
//!
//! A message is sent in as many packets as it takes ([`Packets`]) and put together again by its receiver ([`Reassembly`]).
//! Nothing is acknowledged and nothing sent again: a message of which a packet is lost is lost.

mod reassembly;

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use zorb_cdr::ByteOrder;

pub use reassembly::{MiopLimits, Reassembled, Reassembly};

const MAGIC: [u8; 4] = *b"MIOP";
/// Version 1.0: the major in the upper half, the minor in the lower.
const VERSION: u8 = 0x10;
const LITTLE: u8 = 1;
const LAST: u8 = 2;
/// Octets in front of the id.
const BEFORE_ID: usize = 20;
const ALIGNMENT: usize = 8;

/// The longest id of a message, in octets.
pub const LONGEST_ID: usize = 252;

/// One packet, where it lies in its datagram.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet<'p> {
    /// Its place in the message, from 0.
    pub number: u32,
    /// How many packets the message has, if the packet says so.
    pub of: Option<u32>,
    /// It is the message's last one.
    pub last: bool,
    /// The message's id.
    pub id: &'p [u8],
    /// Its part of the message.
    pub data: &'p [u8],
}

impl fmt::Debug for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut packet = f.debug_struct("Packet");
        packet.field("number", &self.number).field("of", &self.of).field("last", &self.last);
        packet.field("id", &self.id.escape_ascii()).field("octets", &self.data.len()).finish()
    }
}

/// Why a datagram is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketError {
    /// It does not begin with `MIOP`.
    NotMiop,
    /// Another major version than 1.
    UnknownVersion {
        /// The octet that says so.
        found: u8,
    },
    /// It ends before its header, or before the data that the header promises.
    Truncated,
    /// The message's id is longer than an id may be.
    LongId {
        /// What the packet says.
        found: u32,
    },
    /// Its number, the count of packets and the mark of the last one contradict each other.
    Numbers {
        /// The packet's number.
        number: u32,
        /// The count that it says.
        of: u32,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMiop => f.write_str("it does not begin with \"MIOP\""),
            Self::UnknownVersion { found } => write!(f, "MIOP version {found:#04x}"),
            Self::Truncated => f.write_str("it ends before what its header promises"),
            Self::LongId { found } => write!(f, "an id of {found} octets, of {LONGEST_ID} at most"),
            Self::Numbers { number, of } => write!(f, "packet number {number} of {of}, counted from 0"),
        }
    }
}

impl core::error::Error for PacketError {}

impl<'p> Packet<'p> {
    /// Reads a datagram. Octets behind the packet's data are passed over.
    ///
    /// # Errors
    /// It is no packet of MIOP 1, or contradicts itself.
    pub fn decode(datagram: &'p [u8]) -> Result<Self, PacketError> {
        let Some((head, _)) = datagram.split_first_chunk::<BEFORE_ID>() else {
            let is_beginning = datagram.iter().zip(MAGIC).all(|(found, letter)| *found == letter);
            return Err(if is_beginning { PacketError::Truncated } else { PacketError::NotMiop });
        };
        let &[m, i, o, p, version, flags, l0, l1, n0, n1, n2, n3, c0, c1, c2, c3, i0, i1, i2, i3] = head;
        if [m, i, o, p] != MAGIC {
            return Err(PacketError::NotMiop);
        }
        if version >> 4 != VERSION >> 4 {
            return Err(PacketError::UnknownVersion { found: version });
        }
        let is_little = flags & LITTLE != 0;
        let long = |octets| if is_little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) };
        let length = if is_little { u16::from_le_bytes([l0, l1]) } else { u16::from_be_bytes([l0, l1]) };
        let (number, of) = (long([n0, n1, n2, n3]), long([c0, c1, c2, c3]));
        let id_length = long([i0, i1, i2, i3]);
        let id_octets = usize::try_from(id_length).unwrap_or(usize::MAX);
        if id_octets > LONGEST_ID {
            return Err(PacketError::LongId { found: id_length });
        }
        let last = flags & LAST != 0;
        // A count that is said must be right in the packet itself: 0 says nothing.
        let is_last = number.checked_add(1).filter(|&after| of != 0 && after >= of);
        if number == u32::MAX || (of != 0 && (number >= of || last != is_last.is_some())) {
            return Err(PacketError::Numbers { number, of });
        }
        let begin = head_length(id_octets);
        let (Some(id), Some(data)) = (
            datagram.get(BEFORE_ID..BEFORE_ID + id_octets),
            datagram.get(begin..).and_then(|data| data.get(..usize::from(length))),
        ) else {
            return Err(PacketError::Truncated);
        };
        let of = match (last, of) {
            (true, _) => Some(number + 1),
            (false, 0) => None,
            (false, of) => Some(of),
        };
        Ok(Self { number, of, last, id, data })
    }
}

/// Octets of a packet's header, up to its data.
const fn head_length(id: usize) -> usize {
    (BEFORE_ID + id).next_multiple_of(ALIGNMENT)
}

/// A message cut into packets: for each its header, and which of the message's octets follow it.
#[derive(Clone, Debug)]
pub struct Packets<'i> {
    id: &'i [u8],
    message: usize,
    /// Octets of the message in every packet but the last.
    each: usize,
    count: u32,
    next: u32,
}

impl<'i> Packets<'i> {
    /// Cuts a message of `message` octets for datagrams of at most `datagram` octets each. `None` if no datagram of that
    /// size has room for header and data, if the id is too long, or the message for as many packets as can be counted.
    #[must_use]
    pub fn new(message: usize, datagram: usize, id: &'i [u8]) -> Option<Self> {
        if id.len() > LONGEST_ID {
            return None;
        }
        let room = datagram.checked_sub(head_length(id.len()))?.min(usize::from(u16::MAX));
        // All but the last begin their successors where GIOP's alignment has a boundary, as a courtesy to receivers.
        let each = if room >= ALIGNMENT { room - room % ALIGNMENT } else { room };
        if each == 0 {
            return None;
        }
        let count = u32::try_from(message.div_ceil(each).max(1)).ok()?;
        Some(Self { id, message, each, count, next: 0 })
    }

    /// The most octets of a message in one packet of such datagrams.
    #[must_use]
    pub fn room(&self) -> usize {
        self.each
    }
}

impl Iterator for Packets<'_> {
    /// The packet's header, and the message's octets behind it.
    type Item = (Vec<u8>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.count {
            return None;
        }
        let begin = self.next as usize * self.each;
        let end = self.message.min(begin + self.each);
        let is_last = self.next + 1 == self.count;
        let mut head = Vec::with_capacity(head_length(self.id.len()));
        let flags = ByteOrder::NATIVE.flag() | if is_last { LAST } else { 0 };
        // At most 65,535, by `new`.
        let length = (end - begin) as u16;
        head.extend(MAGIC);
        head.extend([VERSION, flags]);
        head.extend(length.to_ne_bytes());
        head.extend(self.next.to_ne_bytes());
        head.extend(self.count.to_ne_bytes());
        // At most 252, by `new`.
        head.extend((self.id.len() as u32).to_ne_bytes());
        head.extend(self.id);
        head.resize(head_length(self.id.len()), 0);
        self.next += 1;
        Some((head, begin..end))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.count - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Packets<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// JacORB 3.9: the only packet of a message, of which the first octets; big-endian.
    const JACORB: &[u8] = b"MIOP\x10\x02\x00\x04\0\0\0\0\0\0\0\x01\0\0\0\x0c717079792\0\0\0GIOP";

    #[test]
    fn reads_jacorbs_packet_and_no_prefix_of_it() {
        let packet = Packet::decode(JACORB).unwrap();
        let expected = Packet { number: 0, of: Some(1), last: true, id: b"717079792\0\0\0", data: b"GIOP" };
        assert_eq!(packet, expected);
        for end in 0..JACORB.len() {
            assert_eq!(Packet::decode(&JACORB[..end]), Err(PacketError::Truncated), "{end}");
        }
    }

    #[test]
    fn reads_either_byte_order_and_a_count_that_only_the_last_packet_knows() {
        let little = b"MIOP\x10\x01\x02\x00\x03\0\0\0\0\0\0\0\x01\0\0\0I\0\0\0xy";
        let packet = Packet::decode(little).unwrap();
        assert_eq!(packet, Packet { number: 3, of: None, last: false, id: b"I", data: b"xy" });
        let mut last = *little;
        last[5] |= LAST;
        assert_eq!(Packet::decode(&last).unwrap().of, Some(4));
    }

    #[test]
    fn contradictions_are_refused_by_name() {
        let with = |at: usize, octets: &[u8]| {
            let mut packet = JACORB.to_vec();
            packet[at..at + octets.len()].copy_from_slice(octets);
            Packet::decode(&packet).map(|_| ()).unwrap_err()
        };
        assert_eq!(with(0, b"G"), PacketError::NotMiop);
        assert_eq!(with(4, &[0x20]), PacketError::UnknownVersion { found: 0x20 });
        assert_eq!(with(6, &[0, 5]), PacketError::Truncated);
        assert_eq!(with(16, &[0, 0, 0, 253]), PacketError::LongId { found: 253 });
        assert_eq!(with(16, &[0xff; 4]), PacketError::LongId { found: u32::MAX });
        // Number 1 of 1; the last, though another follows; not the last, though none does; a number without end.
        assert_eq!(with(8, &[0, 0, 0, 1]), PacketError::Numbers { number: 1, of: 1 });
        assert_eq!(with(12, &[0, 0, 0, 2]), PacketError::Numbers { number: 0, of: 2 });
        assert_eq!(with(5, &[0]), PacketError::Numbers { number: 0, of: 1 });
        assert_eq!(
            with(8, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
            PacketError::Numbers { number: u32::MAX, of: 0 }
        );
    }

    #[test]
    fn packets_of_any_size_carry_the_message() {
        let message: Vec<u8> = (0..1000u32).map(|n| n as u8).collect();
        for datagram in [33, 40, 47, 48, 100, 1032, 1040, 65_535] {
            for length in [0, 1, 8, 999, 1000] {
                let id = b"an id, 9";
                let Some(packets) = Packets::new(length, datagram, id) else {
                    assert!(datagram <= 32, "{datagram} octets have room");
                    continue;
                };
                let mut got = vec![];
                let count = packets.len();
                for (number, (head, range)) in packets.enumerate() {
                    let datagram_octets = [&head[..], &message[range]].concat();
                    assert!(datagram_octets.len() <= datagram);
                    let packet = Packet::decode(&datagram_octets).unwrap();
                    assert_eq!((packet.number as usize, packet.id), (number, &id[..]));
                    assert_eq!((packet.of, packet.last), (Some(count as u32), number + 1 == count));
                    got.extend_from_slice(packet.data);
                }
                assert_eq!(got, message[..length]);
            }
        }
        assert!(Packets::new(1, 32, b"an id, 9").is_none());
        assert!(Packets::new(1, 1000, &[0; 253]).is_none());
        // The length is a ushort, however large the datagram.
        assert!(Packets::new(1 << 20, 1 << 20, b"id").unwrap().room() <= usize::from(u16::MAX));
    }
}
