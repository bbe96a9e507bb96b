//! Stringified names: `id.kind/id.kind`, with `\` before a `/`, `.` or `\` that is meant itself
//! (Naming Service 1.3 §2.4).

use std::fmt;

use crate::CosNaming::NameComponent;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing stands between two slashes, or the text is empty. An empty component is written as a single `.`.
    EmptyComponent {
        /// Its offset in the text, in octets.
        at: usize,
    },
    /// A component has a second dot that is not escaped.
    SecondDot {
        /// Its offset in the text, in octets.
        at: usize,
    },
    /// A `\` stands before something else than `/`, `.` or `\`.
    BadEscape {
        /// Its offset in the text, in octets.
        at: usize,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::EmptyComponent { at } => write!(f, "name: empty component at octet {at}"),
            NameError::SecondDot { at } => {
                write!(
                    f,
                    "name: second dot in a component at octet {at}; one that is meant itself is written \\."
                )
            }
            NameError::BadEscape { at } => {
                write!(f, "name: \\ at octet {at} stands before neither /, . nor \\")
            }
        }
    }
}

impl std::error::Error for NameError {}

/// The components of a stringified name.
pub fn parse(text: &str) -> Result<Vec<NameComponent>, NameError> {
    let mut components = Vec::new();
    let mut component = Component::default();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, escaped @ ('/' | '.' | '\\'))) => component.push(escaped),
                _ => return Err(NameError::BadEscape { at }),
            },
            '/' => components.push(std::mem::take(&mut component).finish(at)?),
            '.' if component.kind.is_some() => return Err(NameError::SecondDot { at }),
            '.' => component.kind = Some(String::new()),
            other => component.push(other),
        }
    }
    components.push(component.finish(text.len())?);
    Ok(components)
}

/// The text of a name.
pub fn stringify(name: &[NameComponent]) -> String {
    let mut text = String::new();
    for (index, component) in name.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        escape(&component.id, &mut text);
        if !component.kind.is_empty() || component.id.is_empty() {
            text.push('.');
            escape(&component.kind, &mut text);
        }
    }
    text
}

fn escape(part: &str, text: &mut String) {
    for character in part.chars() {
        if matches!(character, '/' | '.' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
}

/// A component while it is read; the kind is there once the dot was seen.
#[derive(Default)]
struct Component {
    id: String,
    kind: Option<String>,
}

impl Component {
    fn push(&mut self, character: char) {
        self.kind.as_mut().unwrap_or(&mut self.id).push(character);
    }

    fn finish(self, at: usize) -> Result<NameComponent, NameError> {
        if self.id.is_empty() && self.kind.is_none() {
            return Err(NameError::EmptyComponent { at });
        }
        Ok(NameComponent { id: self.id, kind: self.kind.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap().into_iter().map(|component| (component.id, component.kind)).collect()
    }

    #[test]
    fn the_specifications_examples_are_read_and_written() {
        let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(id, kind)| (id.to_string(), kind.to_string())).collect()
        };
        assert_eq!(components("a/b.kind/c"), pairs(&[("a", ""), ("b", "kind"), ("c", "")]));
        assert_eq!(components("./c.d/.e"), pairs(&[("", ""), ("c", "d"), ("", "e")]));
        assert_eq!(components(r"a\.b/c\/d.\\"), pairs(&[("a.b", ""), ("c/d", r"\")]));
        for text in ["a/b.kind/c", "./c.d/.e", r"a\.b/c\/d.\\", "."] {
            assert_eq!(stringify(&parse(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_no_name_says_where() {
        assert_eq!(parse("").unwrap_err(), NameError::EmptyComponent { at: 0 });
        assert_eq!(parse("a//b").unwrap_err(), NameError::EmptyComponent { at: 2 });
        assert_eq!(parse("/a").unwrap_err(), NameError::EmptyComponent { at: 0 });
        assert_eq!(parse("a/").unwrap_err(), NameError::EmptyComponent { at: 2 });
        assert_eq!(parse("a.b.c").unwrap_err(), NameError::SecondDot { at: 3 });
        assert_eq!(parse(r"a\b").unwrap_err(), NameError::BadEscape { at: 1 });
        assert_eq!(parse(r"a\").unwrap_err(), NameError::BadEscape { at: 1 });
    }
}
