//! The properties that operations with a `context` clause pass beside their arguments (`CORBA::Context`; CORBA 3.3 part 1,
//! 8.6 and 7.14.5, on the wire part 2, 9.3.5.5).
//!
//! ```text
//! void pay(in long sum) context("user", "sys_*");     sum │ count: 2 for each property │ name │ value │ name │ value …
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use zorb_cdr::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

/// Named texts, in the order of their names: what `CORBA::Context` holds. Of those that a stub is given, the ones go out that the
/// operation's clause names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    /// None.
    pub const fn new() -> Properties {
        Properties(BTreeMap::new())
    }

    /// The same with one more, in the place of one of that name.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Properties {
        self.set(name, value);
        self
    }

    /// Adds one, or gives it another value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Takes one away, and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All, with their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes them; nothing is sent from where it lies.
    pub(crate) fn write(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.write_length(self.0.len() * 2)?;
        self.0.iter().try_for_each(|(name, value)| {
            to.write_string(name)?;
            to.write_string(value)
        })
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Properties {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(all: I) -> Properties {
        Properties(all.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Those that a `context` clause names: `user`, or `sys_*` for all whose names begin so. What stubs end in.
pub fn properties<'p, N: AsRef<str>>(given: impl Into<Cow<'p, Properties>>, clause: &[N]) -> Properties {
    let mut chosen = given.into().into_owned();
    chosen.0.retain(|name, _| {
        clause.iter().any(|pattern| match pattern.as_ref().strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern.as_ref(),
        })
    });
    chosen
}

impl<'p> From<&'p Properties> for Cow<'p, Properties> {
    fn from(given: &'p Properties) -> Self {
        Cow::Borrowed(given)
    }
}

impl From<Properties> for Cow<'_, Properties> {
    fn from(given: Properties) -> Self {
        Cow::Owned(given)
    }
}

impl Encode for Properties {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.write(to)
    }
}

impl Decode for Properties {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        // A string is a length and its terminator.
        let count = from.read_count(5)?;
        if count % 2 != 0 {
            let kind = DecodeErrorKind::Invalid("a name without a value");
            return Err(from.error(kind, "properties of a context clause"));
        }
        let mut all = BTreeMap::new();
        for _ in 0..count / 2 {
            let name = from.read_string()?;
            all.insert(name, from.read_string()?);
        }
        Ok(Properties(all))
    }
}

#[cfg(test)]
mod tests {
    use zorb_cdr::{ByteOrder, Format};

    use super::*;

    fn given() -> Properties {
        [("user", "ada"), ("sys_host", "a"), ("sys_", "b"), ("system", "c")].into_iter().collect()
    }

    #[test]
    fn a_clause_chooses_by_name_and_by_beginning() {
        let chosen = |clause: &[&str]| -> Vec<String> {
            properties(given(), clause).iter().map(|(name, _)| name.to_owned()).collect()
        };
        assert_eq!(chosen(&["user"]), ["user"]);
        assert_eq!(chosen(&["sys_*"]), ["sys_", "sys_host"]);
        assert_eq!(chosen(&["sys", "use"]), [""; 0]);
        assert_eq!(chosen(&["s*", "user", "u*"]).len(), 4);
    }

    #[test]
    fn they_travel_as_pairs_of_strings() {
        let one = Properties::new().with("a", "bc");
        let mut to = Encoder::new(Format::default());
        one.encode(&mut to).unwrap();
        let octets = to.to_bytes();
        let read = |octets: &[u8]| {
            Properties::decode(&mut Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default()))
        };
        assert_eq!(octets[..4], 2u32.to_ne_bytes());
        assert_eq!(read(&octets), Ok(one));
        for end in 0..octets.len() {
            assert!(read(&octets[..end]).is_err(), "{end} octets");
        }
        let mut odd = octets.to_vec();
        odd[..4].copy_from_slice(&1u32.to_ne_bytes());
        assert!(read(&odd).is_err());
        odd[..4].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(read(&odd).is_err());
    }
}
