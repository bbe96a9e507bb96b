//! [`ValuePath`]: where inside of a value it went wrong, as people write it: `order.items[3].price`.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The most steps that are kept. Values nest 256 deep, and an element takes a step of its own.
const MOST: usize = 600;

/// The steps that are shown at either end of a long path.
const SHOWN: usize = 8;

/// The longest name that is kept of a peer's: names people write are shorter.
const LONGEST_NAME: usize = 64;

/// The longest repository id that is kept of a peer's.
const LONGEST_ID: usize = 200;

/// The way from a value to the part of it that is wrong. Empty for the value itself.
///
/// It is made where an error is on its way out, so that what is right pays nothing for it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ValuePath(Option<Box<Steps>>);

/// Innermost first.
#[derive(Clone, Default, PartialEq, Eq)]
struct Steps(Vec<Step>);

#[derive(Clone, PartialEq, Eq)]
enum Step {
    Member(Cow<'static, str>),
    Element(usize),
    /// Of several values one after another, which have no names.
    Part(usize),
    /// What it leads to is a value of this type, which the declaration does not tell.
    Of(Box<str>),
}

impl ValuePath {
    /// That of a value itself.
    pub(crate) const EMPTY: Self = ValuePath(None);

    /// Whether it leads nowhere: to the value itself.
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn push(&mut self, step: Step) {
        let Steps(steps) = &mut **self.0.get_or_insert_default();
        if steps.len() < MOST {
            steps.push(step);
        }
    }

    pub(crate) fn member(&mut self, name: &'static str) {
        self.push(Step::Member(Cow::Borrowed(name)));
    }

    /// A member whose name a TypeCode tells.
    pub(crate) fn named(&mut self, name: &str) {
        let end = name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(end, _)| end);
        self.push(Step::Member(Cow::Owned(name[..end].to_owned())));
    }

    /// A value of a type that it names itself.
    pub(crate) fn of_type(&mut self, id: &[u8]) {
        let id = &id[..id.len().min(LONGEST_ID)];
        self.push(Step::Of(alloc::string::String::from_utf8_lossy(id).into()));
    }

    pub(crate) fn element(&mut self, index: usize) {
        self.push(Step::Element(index));
    }

    pub(crate) fn part(&mut self, index: usize) {
        self.push(Step::Part(index));
    }

    /// Names the value that the path begins in: of several one after another these are the names, of the one alone it is
    /// the first.
    pub(crate) fn name_parts(&mut self, names: &[&'static str]) {
        let mut index = 0;
        if let Some(steps) = &mut self.0 {
            // A tuple of tuples of 24.
            while let Some(Step::Part(at)) = steps.0.last() {
                index = index * crate::tuple::WIDEST + at;
                steps.0.pop();
            }
        }
        if let Some(name) = names.get(index) {
            self.member(name);
        }
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(steps) = &self.0 else { return Ok(()) };
        let count = steps.0.len();
        for (at, step) in steps.0.iter().rev().enumerate() {
            if count > 2 * SHOWN && (SHOWN..count - SHOWN).contains(&at) {
                if at == SHOWN {
                    f.write_str("…")?;
                }
                continue;
            }
            match step {
                Step::Member(name) => write!(f, "{}{name}", if at == 0 { "" } else { "." })?,
                Step::Element(index) => write!(f, "[{index}]")?,
                Step::Part(index) => write!(f, "#{}", index + 1)?,
                Step::Of(id) => write!(f, "{}of type {id}", if at == 0 { "" } else { " " })?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_path_is_written_from_the_outermost_part() {
        let mut path = ValuePath::EMPTY;
        assert_eq!((path.to_string().as_str(), path.is_empty()), ("", true));
        path.named("price");
        path.element(3);
        path.member("items");
        path.part(1);
        assert_eq!(path.to_string(), "#2.items[3].price");
        path.name_parts(&["customer", "order"]);
        assert_eq!(path.to_string(), "order.items[3].price");
        let mut alone = ValuePath::EMPTY;
        alone.name_parts(&["order"]);
        assert_eq!(alone.to_string(), "order");
    }

    #[test]
    fn a_value_may_tell_its_type() {
        let mut path = ValuePath::EMPTY;
        path.of_type(b"IDL:Far:1.0");
        assert_eq!(path.to_string(), "of type IDL:Far:1.0");
        path.member("next");
        path.member("head");
        assert_eq!(path.to_string(), "head.next of type IDL:Far:1.0");
        let mut long = ValuePath::EMPTY;
        long.of_type(&[0xff; 1_000_000]);
        assert!(long.to_string().len() < 1_000);
    }

    #[test]
    fn long_paths_and_names_are_cut() {
        let mut path = ValuePath::EMPTY;
        (0..2_000).for_each(|_| path.member("next"));
        path.named(&"x".repeat(1_000_000));
        let text = path.to_string();
        assert!(text.starts_with("next.next") && text.contains('…') && text.len() < 200, "{text}");
        let mut path = ValuePath::EMPTY;
        path.named(&"ü".repeat(1000));
        assert_eq!(path.to_string(), "ü".repeat(LONGEST_NAME));
    }
}
