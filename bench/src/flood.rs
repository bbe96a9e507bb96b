//! What a flood is: buffers of one type sent one way, with a pattern that the receiver can check.
//!
//! Element `i` of buffer `n` is made from the number `n × 31 + i`, truncated to the element's type (in a struct: to
//! each member's); a character of a string is one of [`CHARACTERS`]. So a buffer that is lost, repeated, cut or mixed up differs from the one that was expected, and
//! successive buffers are windows on one table ([`STEP`] elements apart): making the next one costs nothing.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How far the pattern of a buffer is from the one before, in elements.
pub const STEP: u32 = 31;

/// The characters of strings, in order from `0` to `o`: printable and ASCII, which every code set carries as one octet.
pub const CHARACTERS: u32 = 64;

/// The type of a flood's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// IDL `octet`.
    Octet,
    /// IDL `char`.
    Char,
    /// IDL `short`.
    Short,
    /// IDL `long`.
    Long,
    /// IDL `double`.
    Double,
    /// `struct BinStruct { short s; char c; long l; octet o; double d; }`, 24 octets.
    Struct,
    /// The same with eight octets more, so that a buffer of a power of two is filled whole.
    Struct32,
    /// A character of an IDL `string`, of which a buffer is one.
    String,
}

impl Element {
    /// Those of sequences, in the order of the field's tables.
    pub const SEQUENCES: [Element; 7] = [
        Element::Octet,
        Element::Char,
        Element::Short,
        Element::Long,
        Element::Double,
        Element::Struct,
        Element::Struct32,
    ];

    /// All.
    pub const ALL: [Element; 8] = [
        Element::Octet,
        Element::Char,
        Element::Short,
        Element::Long,
        Element::Double,
        Element::Struct,
        Element::Struct32,
        Element::String,
    ];

    /// Its name on the command line, in results and to drivers.
    pub fn name(self) -> &'static str {
        match self {
            Element::Octet => "octet",
            Element::Char => "char",
            Element::Short => "short",
            Element::Long => "long",
            Element::Double => "double",
            Element::Struct => "struct",
            Element::Struct32 => "struct32",
            Element::String => "string",
        }
    }

    /// Octets of one.
    pub fn size(self) -> usize {
        match self {
            Element::Octet | Element::Char | Element::String => 1,
            Element::Short => 2,
            Element::Long => 4,
            Element::Double => 8,
            Element::Struct => 24,
            Element::Struct32 => 32,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        Element::ALL.into_iter().find(|element| element.name() == text).ok_or_else(|| {
            let known: Vec<_> = Element::ALL.iter().map(|element| element.name()).collect();
            format!("there is no type {text:?}; there are {}", known.join(", "))
        })
    }
}

/// Buffers to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    /// Of what.
    pub element: Element,
    /// Octets that a buffer may have: as many whole elements as fit, at least one.
    pub octets: usize,
    /// How many buffers.
    pub count: u32,
}

impl Flood {
    /// Elements of a buffer.
    pub fn elements(&self) -> usize {
        (self.octets / self.element.size()).max(1)
    }

    /// Octets of payload in a buffer.
    pub fn buffer(&self) -> usize {
        self.elements() * self.element.size()
    }

    /// Octets of payload in all.
    pub fn total(&self) -> u64 {
        self.buffer() as u64 * u64::from(self.count)
    }
}

/// A flood that the receiver has confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flooded {
    /// From the first send until the confirmation that the last buffer was executed.
    pub confirmed: Duration,
    /// Until the sender had handed over the last buffer, where it tells.
    pub sent: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_whole_elements_and_at_least_one() {
        let flood = |element, octets| Flood { element, octets, count: 3 };
        assert_eq!(flood(Element::Struct, 1024).elements(), 42);
        assert_eq!(flood(Element::Struct, 1024).total(), 3 * 42 * 24);
        assert_eq!(flood(Element::Struct32, 1024).buffer(), 1024);
        assert_eq!(flood(Element::Double, 1).elements(), 1);
        assert_eq!(flood(Element::String, 1000).elements(), 1000);
    }

    #[test]
    fn names_round_trip() {
        for element in Element::ALL {
            assert_eq!(element.name().parse(), Ok(element));
        }
        assert!("float".parse::<Element>().unwrap_err().ends_with("double, struct, struct32, string"));
        assert!(Element::ALL.starts_with(&Element::SEQUENCES));
    }
}
