//! What a client says that lets its server call back over the connection that the client opened: its listen points. CORBA 3.4 part 2,
//! §9.8.
//!
//! ```text
//! context data, an encapsulation: count │ host: string │ port: ushort │ …
//! ```
//!
//! Such a connection carries requests both ways, and ids tell whose they are ([`RequestIds::bidirectional`](crate::RequestIds::bidirectional)).
//! Whether the words are true is for others to judge: anybody may write anybody's address.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use zorb_cdr::{DecodeError, Decoder, EncodeError, Encoder};

/// Listen points that one context may hold. 64: a host with many interfaces names each of its addresses once; more would be names of others.
const MOST_POINTS: usize = 64;

/// Octets of one context. 16 KiB: 64 of the longest host names that DNS allows.
const MOST_OCTETS: usize = 16 << 10;

/// Where a client says that its objects are reached (`IIOP::ListenPoint`): what its references name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListenPoint {
    /// A name or a numeric address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Why a context is not believed to hold listen points.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenPointsError {
    /// The data are no list of listen points.
    Malformed(DecodeError),
    /// More than [`most_listen_points`] of them.
    TooMany {
        /// How many it says there are.
        found: usize,
    },
    /// More octets than so many points can take.
    TooLarge {
        /// How many.
        found: usize,
    },
}

impl From<DecodeError> for ListenPointsError {
    fn from(error: DecodeError) -> Self {
        ListenPointsError::Malformed(error)
    }
}

impl fmt::Display for ListenPointsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenPointsError::Malformed(error) => write!(f, "context BI_DIR_IIOP: {error}"),
            ListenPointsError::TooMany { found } => {
                write!(f, "context BI_DIR_IIOP: {found} listen points, where {MOST_POINTS} are allowed")
            }
            ListenPointsError::TooLarge { found } => {
                write!(f, "context BI_DIR_IIOP: {found} octets, where {MOST_OCTETS} are allowed")
            }
        }
    }
}

impl core::error::Error for ListenPointsError {}

/// How many listen points a context may hold.
#[must_use]
pub const fn most_listen_points() -> usize {
    MOST_POINTS
}

/// The data of a context [`BI_DIR_IIOP`](crate::ContextId::BI_DIR_IIOP) with these points.
///
/// # Errors
/// A host that holds a NUL or a character outside ISO 8859-1.
pub fn encode_listen_points(points: &[ListenPoint]) -> Result<Bytes, EncodeError> {
    Encoder::encapsulated(|to| {
        to.write_length(points.len())?;
        for point in points {
            to.write_string(&point.host)?;
            to.write_u16(point.port);
        }
        Ok(())
    })
}

/// The points of a context [`BI_DIR_IIOP`](crate::ContextId::BI_DIR_IIOP).
///
/// # Errors
/// Data that are no such list, or more than a client has reason to say.
pub fn decode_listen_points(data: &Bytes) -> Result<Vec<ListenPoint>, ListenPointsError> {
    if data.len() > MOST_OCTETS {
        return Err(ListenPointsError::TooLarge { found: data.len() });
    }
    let mut from = Decoder::from_encapsulation(data)?;
    // A string's length, its NUL, and the port: nothing is allocated for more than can follow.
    let count = from.read_count(7)?;
    if count > MOST_POINTS {
        return Err(ListenPointsError::TooMany { found: count });
    }
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        points.push(ListenPoint { host: from.read_string()?, port: from.read_u16()? });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;

    fn point(host: &str, port: u16) -> ListenPoint {
        ListenPoint { host: host.into(), port }
    }

    #[test]
    fn reads_what_was_written_by_hand_and_refuses_its_prefixes() {
        // Big-endian, two points: "10.1.2.3" takes nine octets with its NUL, and a pad octet stands before the port.
        let data = Bytes::from_static(b"\0\0\0\0\0\0\0\x02\0\0\0\x0910.1.2.3\0\0\x0a\xf9\0\0\0\x02h\0\0\x05");
        let expected = vec![point("10.1.2.3", 2809), point("h", 5)];
        assert_eq!(decode_listen_points(&data), Ok(expected.clone()));
        assert_eq!(decode_listen_points(&encode_listen_points(&expected).unwrap()), Ok(expected));
        for end in 0..data.len() {
            let cut = decode_listen_points(&data.slice(..end));
            assert!(matches!(cut, Err(ListenPointsError::Malformed(_))), "the first {end}: {cut:?}");
        }
    }

    #[test]
    fn more_than_a_client_has_reason_to_say_is_refused() {
        let many = vec![point("h", 1); MOST_POINTS + 1];
        assert_eq!(
            decode_listen_points(&encode_listen_points(&many[1..]).unwrap()).unwrap().len(),
            MOST_POINTS
        );
        let refused = decode_listen_points(&encode_listen_points(&many).unwrap());
        assert_eq!(refused, Err(ListenPointsError::TooMany { found: MOST_POINTS + 1 }));
        let long = "n".repeat(MOST_OCTETS);
        let refused = decode_listen_points(&encode_listen_points(&[point(&long, 1)]).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("16384 are allowed"), "{refused}");
    }

    #[test]
    fn a_count_is_no_reason_to_allocate() {
        let refused = decode_listen_points(&Bytes::from_static(b"\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"));
        assert!(matches!(refused, Err(ListenPointsError::Malformed(_))), "{refused:?}");
    }
}
