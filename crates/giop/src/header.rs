//! The twelve octets that every message begins with. CORBA 3.4 part 2, §9.4.1.
//!
//! ```text
//!   0   1   2   3     4      5      6      7      8   9  10  11
//! ┌───┬───┬───┬───┬──────┬──────┬──────┬──────┬────────────────┐
//! │ G │ I │ O │ P │major │minor │flags │ type │ size: ulong    │
//! └───┴───┴───┴───┴──────┴──────┴──────┴──────┴────────────────┘
//!  flags, 1.0: the byte order octet, 0 big, 1 little
//!  flags, 1.1 on: bit 0 little-endian, bit 1 more fragments follow, others reserved
//!  size: octets after this header, in the byte order that flags names
//! ```

use zorb_cdr::{ByteOrder, Version};

use crate::{MessageType, ProtocolError};

/// Octets of a message header.
pub const HEADER_SIZE: usize = 12;

pub(crate) const MAGIC: [u8; 4] = *b"GIOP";
const LITTLE: u8 = 1;
pub(crate) const MORE_FRAGMENTS: u8 = 2;

/// A message header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of this message. Messages of different versions may share a connection.
    pub version: Version,
    /// Byte order of the size and of all that follows.
    pub order: ByteOrder,
    /// Whether Fragments continue this message. Never in 1.0.
    pub more_fragments: bool,
    /// What follows.
    pub message: MessageType,
    /// Octets that follow the header.
    pub size: u32,
}

impl Header {
    /// Octets of the whole message, header included.
    #[must_use]
    pub fn total(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX).saturating_add(HEADER_SIZE)
    }

    /// Reads a header and refuses what no version of GIOP allows.
    ///
    /// # Errors
    /// Wrong magic, unknown version, byte order or type, or a fragment bit where the version has none.
    #[inline]
    pub fn parse(octets: &[u8; HEADER_SIZE]) -> Result<Self, ProtocolError> {
        let &[g, i, o, p, major, minor, flags, message, size @ ..] = octets;
        if [g, i, o, p] != MAGIC {
            return Err(ProtocolError::NotGiop { found: [g, i, o, p] });
        }
        let version = Version { major, minor };
        let message = MessageType(message);
        if major != 1 || minor > 2 {
            return Err(ProtocolError::UnknownVersion { found: version });
        }
        if minor == 0 && flags > LITTLE {
            return Err(ProtocolError::UnknownByteOrder { found: flags });
        }
        let last = if minor == 0 { MessageType::MESSAGE_ERROR } else { MessageType::FRAGMENT };
        if message > last {
            return Err(ProtocolError::UnknownMessageType { found: message, version });
        }
        let more_fragments = flags & MORE_FRAGMENTS != 0;
        if more_fragments && !fragmentable(message, version) {
            return Err(ProtocolError::NotFragmentable { message, version });
        }
        let (order, size) = if flags & LITTLE != 0 {
            (ByteOrder::Little, u32::from_le_bytes(size))
        } else {
            (ByteOrder::Big, u32::from_be_bytes(size))
        };
        Ok(Self { version, order, more_fragments, message, size })
    }

    /// The header as octets.
    #[inline]
    #[must_use]
    pub const fn to_octets(&self) -> [u8; HEADER_SIZE] {
        let [g, i, o, p] = MAGIC;
        let Version { major, minor } = self.version;
        let flags = self.order.flag() | if self.more_fragments { MORE_FRAGMENTS } else { 0 };
        let [a, b, c, d] = match self.order {
            ByteOrder::Big => self.size.to_be_bytes(),
            ByteOrder::Little => self.size.to_le_bytes(),
        };
        [g, i, o, p, major, minor, flags, self.message.0, a, b, c, d]
    }

    /// The same as three words: what the protocol and the message are, and the size.
    #[inline]
    pub(crate) const fn to_words(&self) -> [[u8; 4]; 3] {
        let [g, i, o, p, major, minor, flags, message, a, b, c, d] = self.to_octets();
        [[g, i, o, p], [major, minor, flags, message], [a, b, c, d]]
    }
}

/// Whether a message of this type and version may say that fragments follow: Request and Reply in 1.1, the Locate
/// messages too in 1.2, and Fragments themselves (§9.4.9).
fn fragmentable(message: MessageType, version: Version) -> bool {
    match message {
        MessageType::REQUEST | MessageType::REPLY | MessageType::FRAGMENT => version.minor >= 1,
        MessageType::LOCATE_REQUEST | MessageType::LOCATE_REPLY => version.minor >= 2,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSE: [u8; 12] = *b"GIOP\x01\x02\x01\x05\x00\x00\x00\x00";

    fn with(at: usize, octet: u8) -> [u8; 12] {
        let mut octets = CLOSE;
        octets[at] = octet;
        octets
    }

    #[test]
    fn reads_either_byte_order_and_writes_the_same_again() {
        for (octets, size) in [
            (*b"GIOP\x01\x02\x01\x00\x00\x01\x00\x00", 256),
            (*b"GIOP\x01\x01\x00\x01\x00\x01\x00\x00", 65_536),
            (*b"GIOP\x01\x02\x03\x07\x04\x00\x00\x00", 4),
            (*b"GIOP\x01\x00\x01\x06\x00\x00\x00\x00", 0),
        ] {
            let header = Header::parse(&octets).unwrap();
            assert_eq!(header.size, size);
            assert_eq!(header.to_octets(), octets);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(Header::parse(b"HTTP/1.1 200"), Err(ProtocolError::NotGiop { found: *b"HTTP" }));
        for (at, octet) in [(4, 2), (4, 0), (5, 3), (5, 255)] {
            assert!(matches!(Header::parse(&with(at, octet)), Err(ProtocolError::UnknownVersion { .. })));
        }
        assert!(matches!(Header::parse(&with(7, 8)), Err(ProtocolError::UnknownMessageType { .. })));
        assert!(matches!(Header::parse(&with(6, 3)), Err(ProtocolError::NotFragmentable { .. })));
        let mut octets = with(5, 0);
        octets[6] = 2;
        assert_eq!(Header::parse(&octets), Err(ProtocolError::UnknownByteOrder { found: 2 }));
        octets[6] = 1;
        octets[7] = 7;
        assert!(matches!(Header::parse(&octets), Err(ProtocolError::UnknownMessageType { .. })));
    }

    #[test]
    fn reserved_flag_bits_are_ignored_from_1_1_on() {
        assert!(Header::parse(&with(6, 0xfd)).is_ok());
    }
}
