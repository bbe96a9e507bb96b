//! The content of a flood's buffers: made by the sender without cost, checked by the receiver at samples.

use crate::flood::{CHARACTERS, Element, Flood, STEP};

/// So many windows before a table is written anew: seldom enough that writing it costs next to nothing, and few enough
/// that the tables of small buffers stay in the second-level cache, as a program's own buffer would.
const ROUND: u32 = 256;

/// The buffers of a flood, each a window on one table, [`STEP`] elements behind the one before.
pub(crate) struct Windows<T> {
    table: Vec<T>,
    /// Values of the table that make one element.
    per_element: usize,
    elements: usize,
    /// Values in front of a window that belong to it, and are no element's.
    lead: usize,
    round: u32,
    fill: Fill<T>,
}

/// Writes the elements that are made of a number and those after it.
type Fill<T> = Box<dyn Fn(u32, &mut [T])>;

impl<T: Default + Clone> Windows<T> {
    /// Buffers of `elements` elements, each `per_element` values that `fill` writes: those of a run of successive
    /// numbers, beginning with the one it is given.
    pub(crate) fn new(
        elements: usize,
        per_element: usize,
        fill: impl Fn(u32, &mut [T]) + 'static,
    ) -> Windows<T> {
        let all = elements + (STEP * (ROUND - 1)) as usize;
        let mut table = vec![T::default(); all * per_element];
        fill(0, &mut table);
        Windows { table, per_element, elements, lead: 0, round: 0, fill: Box::new(fill) }
    }

    /// The same, each with so many values of any kind in front of its elements.
    pub(crate) fn behind(mut self, lead: usize) -> Windows<T> {
        self.table.splice(0..0, (0..lead).map(|_| T::default()));
        self.lead = lead;
        self
    }

    /// Buffer number `number`.
    pub(crate) fn buffer(&mut self, number: u32) -> &[T] {
        let round = number / ROUND;
        if round != self.round {
            self.round = round;
            (self.fill)(first_of(round * ROUND), &mut self.table[self.lead..]);
        }
        let start = first_of(number % ROUND) as usize * self.per_element;
        &self.table[start..start + self.lead + self.elements * self.per_element]
    }
}

/// The buffers of a flood of strings, each a window on one text, whose characters repeat.
pub(crate) struct Texts {
    text: String,
    length: usize,
}

impl Texts {
    /// Strings of `length` characters.
    pub(crate) fn new(length: usize) -> Texts {
        let text = (0..).take(length + CHARACTERS as usize).map(|number| char::from(character(number)));
        Texts { text: text.collect(), length }
    }

    /// String number `number`.
    pub(crate) fn buffer(&self, number: u32) -> &str {
        let start = (first_of(number) % CHARACTERS) as usize;
        &self.text[start..start + self.length]
    }
}

/// The character of a string that a number makes.
pub(crate) fn character(number: u32) -> u8 {
    b'0' + (number % CHARACTERS) as u8
}

/// The number that the first element of a buffer is made of.
fn first_of(buffer: u32) -> u32 {
    buffer.wrapping_mul(STEP)
}

/// An element as memory holds it: what a program without an ORB sends.
impl Element {
    /// The buffers of a flood as bare octets.
    pub(crate) fn windows(self, elements: usize) -> Windows<u8> {
        Windows::new(elements, self.size(), move |first, octets| self.fill(first, octets))
    }

    /// Writes the elements that are made of `first` and the numbers after it.
    fn fill(self, first: u32, octets: &mut [u8]) {
        match self {
            Element::Octet | Element::Char => each(octets, first, octet),
            Element::Short => each(octets, first, short),
            Element::Long => each(octets, first, u32::to_ne_bytes),
            Element::Double => each(octets, first, double),
            Element::Struct => each(octets, first, members::<24>),
            Element::Struct32 => each(octets, first, members::<32>),
            Element::String => each(octets, first, letter),
        }
    }

    /// Whether an element's octets are those made of `number`. Compared as one value of its type, as a program that knows
    /// the type does: by a length that is known when it runs, eleven samples cost as much as 0.1 µs.
    pub(crate) fn holds(self, number: u32, octets: &[u8]) -> bool {
        match self {
            Element::Octet | Element::Char => *octets == octet(number),
            Element::Short => *octets == short(number),
            Element::Long => *octets == number.to_ne_bytes(),
            Element::Double => *octets == double(number),
            Element::Struct => *octets == members::<24>(number),
            Element::Struct32 => *octets == members::<32>(number),
            Element::String => *octets == letter(number),
        }
    }
}

fn each<const SIZE: usize>(octets: &mut [u8], first: u32, make: impl Fn(u32) -> [u8; SIZE]) {
    let (elements, _) = octets.as_chunks_mut();
    for (element, number) in elements.iter_mut().zip(0..) {
        *element = make(first.wrapping_add(number));
    }
}

fn octet(number: u32) -> [u8; 1] {
    [number as u8]
}

fn short(number: u32) -> [u8; 2] {
    (number as u16).to_ne_bytes()
}

fn double(number: u32) -> [u8; 8] {
    f64::from(number).to_ne_bytes()
}

fn letter(number: u32) -> [u8; 1] {
    [character(number)]
}

/// `struct { short s; char c; long l; octet o; double d; }` as C lays it out, its padding zero; with room for it the
/// filler follows.
fn members<const SIZE: usize>(number: u32) -> [u8; SIZE] {
    let mut octets = [0; SIZE];
    octets[..2].copy_from_slice(&short(number));
    octets[2] = number as u8;
    octets[4..8].copy_from_slice(&number.to_ne_bytes());
    octets[8] = number as u8;
    octets[16..24].copy_from_slice(&double(number));
    octets[24..].fill(number as u8);
    octets
}

/// The receiving end of a flood: counts buffers, and remembers the first thing that was wrong.
#[derive(Debug)]
pub(crate) struct Checker {
    flood: Flood,
    executed: u32,
    fault: Option<String>,
}

impl Checker {
    /// Nothing has come yet.
    pub(crate) fn new(flood: Flood) -> Checker {
        Checker { flood, executed: 0, fault: None }
    }

    /// A buffer has come: it has `length` elements of a type, and `holds` says whether the one at an index is made of
    /// a number. The first, the middle and the last are looked at, and eight spread between them.
    pub(crate) fn take(&mut self, element: Element, length: usize, holds: impl Fn(usize, u32) -> bool) {
        let number = self.executed;
        self.executed += 1;
        if self.fault.is_some() {
            return;
        }
        let Flood { element: expected, count, .. } = self.flood;
        let elements = self.flood.elements();
        let wrong = |index: &usize| !holds(*index, first_of(number).wrapping_add(*index as u32));
        self.fault = if number >= count {
            Some(format!("buffer {number} is one too many"))
        } else if element != expected {
            Some(format!("buffer {number} of {count} is of {element}, not of {expected}"))
        } else if length != elements {
            Some(format!("buffer {number} of {count} has {length} elements instead of {elements}"))
        } else {
            let wrong = samples(length).into_iter().find(wrong);
            wrong.map(|index| format!("buffer {number} of {count} is wrong at element {index} of {length}"))
        };
    }

    /// How many buffers have come.
    pub(crate) fn executed(&self) -> u32 {
        self.executed
    }

    /// The first thing that was wrong.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

fn samples(length: usize) -> [usize; 11] {
    let spread = |k: usize| length * (2 * k + 1) / 16;
    let ends = [0, length / 2, length - 1];
    std::array::from_fn(|at| if at < 3 { ends[at] } else { spread(at - 3) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flood: Flood, buffers: &[&[u8]]) -> Checker {
        let mut checker = Checker::new(flood);
        for buffer in buffers {
            let size = flood.element.size();
            let holds = |at: usize, number| flood.element.holds(number, &buffer[at * size..][..size]);
            checker.take(flood.element, buffer.len() / size, holds);
        }
        checker
    }

    #[test]
    fn what_the_windows_show_is_what_the_checker_expects() {
        for element in Element::ALL {
            let flood = Flood { element, octets: 700, count: 3 * ROUND };
            let mut windows = element.windows(flood.elements());
            let mut checker = Checker::new(flood);
            for number in 0..flood.count {
                let buffer = windows.buffer(number).to_vec();
                assert_eq!(buffer.len(), flood.buffer());
                let size = element.size();
                checker.take(element, flood.elements(), |at, number| {
                    element.holds(number, &buffer[at * size..][..size])
                });
            }
            assert_eq!((checker.executed(), checker.fault()), (flood.count, None), "{element}");
            // And the first round again, for the next flood.
            assert_eq!(windows.buffer(0), element.windows(flood.elements()).buffer(0));
        }
    }

    #[test]
    fn elements_have_the_values_that_were_agreed() {
        let shorts = Element::Short.windows(4).buffer(2).to_vec();
        let values: Vec<u16> =
            shorts.as_chunks().0.iter().map(|&octets| u16::from_ne_bytes(octets)).collect();
        assert_eq!(values, [62, 63, 64, 65]);
        let one = members::<32>(0x0001_0203);
        assert_eq!(one[..4], [&0x0203_u16.to_ne_bytes()[..], &[3, 0]].concat());
        assert_eq!(one[4..9], [&0x0001_0203_u32.to_ne_bytes()[..], &[3]].concat());
        assert_eq!(one[16..24], 66_051_f64.to_ne_bytes());
        assert_eq!(one[24..], [3; 8]);
    }

    #[test]
    fn strings_are_printable_and_what_their_octets_are_without_an_orb() {
        let (texts, mut windows) = (Texts::new(700), Element::String.windows(700));
        for number in [0, 1, 2, 63, 64, 65, 500] {
            let text = texts.buffer(number);
            assert_eq!(text.as_bytes(), windows.buffer(number), "{number}");
            assert!(text.chars().all(|character| character.is_ascii_graphic()), "{text}");
        }
        assert_eq!((&texts.buffer(0)[..3], &texts.buffer(1)[..3]), ("012", "OPQ"));
        // Numbers wrap, and characters with them.
        assert!(Element::String.holds(u32::MAX, b"o") && Element::String.holds(0, b"0"));
    }

    #[test]
    fn lost_repeated_mixed_cut_and_changed_buffers_are_named() {
        let flood = Flood { element: Element::Long, octets: 400, count: 3 };
        let mut windows = flood.element.windows(flood.elements());
        let [first, second, third] = [0, 1, 2].map(|number| windows.buffer(number).to_vec());
        let fault = |buffers: &[&[u8]]| check(flood, buffers).fault().map(str::to_owned);
        assert_eq!(fault(&[&first, &second, &third]), None);
        let wrong = "buffer 1 of 3 is wrong at element 0 of 100";
        assert_eq!(fault(&[&first, &third]).as_deref(), Some(wrong), "lost");
        assert_eq!(fault(&[&first, &first, &second]).as_deref(), Some(wrong), "repeated");
        assert_eq!(fault(&[&first, &third, &second]).as_deref(), Some(wrong), "mixed");
        let cut = fault(&[&first, &second[4..]]);
        assert_eq!(cut.as_deref(), Some("buffer 1 of 3 has 99 elements instead of 100"));
        let mut changed = third.clone();
        *changed.last_mut().unwrap() ^= 1;
        let changed = fault(&[&first, &second, &changed]);
        assert_eq!(changed.as_deref(), Some("buffer 2 of 3 is wrong at element 99 of 100"));
        let more = fault(&[&first, &second, &third, &third]);
        assert_eq!(more.as_deref(), Some("buffer 3 is one too many"));
        let mut checker = Checker::new(flood);
        checker.take(Element::Double, 100, |_, _| true);
        assert_eq!(checker.fault(), Some("buffer 0 of 3 is of double, not of long"));
    }

    #[test]
    fn the_shortest_buffer_has_samples_too() {
        assert_eq!(samples(1), [0; 11]);
        assert!(samples(2).contains(&1));
    }
}
