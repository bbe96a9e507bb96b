//! Object ids: what an adapter knows its objects by (CORBA 3.4 part 1 §11.2.1).

use std::fmt;

use bytes::Bytes;

/// Some octets that tell one object of an adapter from the others. Cloning is a count.
///
/// Chosen by the program (`IdAssignment::User`) or by the adapter. `"printer-3".into()` makes one from text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub Bytes);

impl ObjectId {
    /// The octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The id as text, if it is UTF-8 (`PortableServer::ObjectId_to_string`).
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl AsRef<[u8]> for ObjectId {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for ObjectId {
    fn from(octets: &[u8]) -> Self {
        ObjectId(Bytes::copy_from_slice(octets))
    }
}

impl From<Vec<u8>> for ObjectId {
    fn from(octets: Vec<u8>) -> Self {
        ObjectId(octets.into())
    }
}

impl From<&str> for ObjectId {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for ObjectId {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

/// Text in quotes where the octets are printable, hexadecimal otherwise.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_text() {
            Some(text) if !text.chars().any(char::is_control) => write!(f, "{text:?}"),
            _ => {
                f.write_str("0x")?;
                self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
            }
        }
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_prints_as_text_or_in_hexadecimal() {
        assert_eq!(ObjectId::from("printer-3").to_string(), r#""printer-3""#);
        assert_eq!(ObjectId::from(vec![0, 0, 0, 7]).to_string(), "0x00000007");
        assert_eq!(ObjectId::from(vec![0xff]).to_string(), "0xff");
        assert_eq!(ObjectId::from("").to_string(), r#""""#);
    }
}
