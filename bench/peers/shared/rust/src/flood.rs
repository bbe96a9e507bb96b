//! The buffers of a flood: what is in them, and the receiver that checks it.

use crate::Failure;

/// The type of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 8 bits.
    Octet,
    /// 8 bits that are a character.
    Char,
    /// 16 bits.
    Short,
    /// 32 bits.
    Long,
    /// 64 bits.
    Double,
    /// Short, char, long, octet, double.
    Struct,
    /// The same with 8 octets more.
    Struct32,
    /// A buffer is one string, its elements are characters: see [`character`].
    String,
}

const NAMES: [(&str, Element, usize); 8] = [
    ("octet", Element::Octet, 1),
    ("char", Element::Char, 1),
    ("short", Element::Short, 2),
    ("long", Element::Long, 4),
    ("double", Element::Double, 8),
    ("struct", Element::Struct, 24),
    ("struct32", Element::Struct32, 32),
    ("string", Element::String, 1),
];

impl Element {
    /// The type of this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(name: &str) -> Result<Element, Failure> {
        match NAMES.iter().find(|(known, ..)| *known == name) {
            Some((_, element, _)) => Ok(*element),
            None => {
                Err(format!("no type {name}: there are {}", NAMES.map(|(known, ..)| known).join(" ")).into())
            }
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, element, _)| *element == self).expect("each has a name").0
    }

    /// How many elements a buffer of so many octets has.
    pub fn elements(self, payload: usize) -> usize {
        let (.., size) = NAMES.iter().find(|(_, element, _)| *element == self).expect("each has a size");
        (payload / size).max(1)
    }
}

/// The number that an element is made of.
pub fn pattern(buffer: u32, index: usize) -> u32 {
    buffer.wrapping_mul(31).wrapping_add(index as u32)
}

/// The character of a string that a number makes: one of 64 that are printable and ASCII, `0` to `o`.
pub fn character(value: u32) -> u8 {
    b'0' + (value % 64) as u8
}

/// The receiving end: counts buffers and remembers the first thing that was wrong.
#[derive(Debug, Default)]
pub struct Receiver {
    expected: Option<Element>,
    elements: usize,
    buffers: u32,
    count: u32,
    fault: String,
}

impl Receiver {
    /// Begins a flood.
    pub fn expect(&mut self, element: Element, payload: usize, buffers: u32) {
        *self = Receiver {
            expected: Some(element),
            elements: element.elements(payload),
            buffers,
            ..Receiver::default()
        };
    }

    /// Takes a buffer of `length` elements; `holds` says whether the element at an index is made of a number.
    pub fn take(&mut self, element: Element, length: usize, holds: impl Fn(usize, u32) -> bool) {
        if self.fault.is_empty()
            && let Some(fault) = self.fault_of(element, length, holds)
        {
            self.fault = format!("buffer {} {fault}", self.count);
        }
        self.count += 1;
    }

    /// How many buffers have been executed, and what was wrong, or nothing.
    pub fn received(&self) -> (u32, String) {
        (self.count, self.fault.clone())
    }

    fn fault_of(
        &self,
        element: Element,
        length: usize,
        holds: impl Fn(usize, u32) -> bool,
    ) -> Option<String> {
        if self.expected != Some(element) {
            let expected = self.expected.map_or("nothing", Element::name);
            return Some(format!("is of {}, not of {expected}", element.name()));
        }
        if self.count >= self.buffers {
            return Some("is one too many".to_owned());
        }
        if length != self.elements {
            return Some(format!("has {length} elements, not {}", self.elements));
        }
        let wrong = samples(length).find(|&index| !holds(index, pattern(self.count, index)));
        wrong.map(|index| format!("is wrong at element {index}"))
    }
}

/// The elements that are looked at.
fn samples(length: usize) -> impl Iterator<Item = usize> {
    [0, length / 2, length - 1].into_iter().chain((0..8).map(move |k| length * (2 * k + 1) / 16))
}
