//! Writes HTML and SVG: elements close themselves, and everything that comes from outside is escaped.
//!
//! What it writes is well-formed XML too, so that tests can parse a page and look at it as a tree.

use std::fmt::{Display, Write};

/// Markup as it grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Begins an element. It is finished by [`Element::end`], [`Element::text`] or [`Element::holding`].
    pub(super) fn element(&mut self, name: &'static str) -> Element<'_> {
        self.0.push('<');
        self.0.push_str(name);
        Element { markup: self, name }
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: impl Display) {
        escape(&text.to_string(), &mut self.0);
    }

    /// Adds finished markup.
    pub(super) fn append(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    /// Adds text of our own that needs no escaping: a style sheet, a document type.
    pub(super) fn constant(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// An element whose tag is still open for attributes.
#[must_use]
pub(super) struct Element<'m> {
    markup: &'m mut Markup,
    name: &'static str,
}

impl<'m> Element<'m> {
    /// An attribute.
    pub(super) fn with(self, name: &str, value: impl Display) -> Element<'m> {
        let _ = write!(self.markup.0, " {name}=\"");
        self.markup.text(value);
        self.markup.0.push('"');
        self
    }

    /// An attribute that is a coordinate or length: a tenth of a pixel is as fine as anyone sees.
    pub(super) fn at(self, name: &str, value: f64) -> Element<'m> {
        // Adding zero turns -0 into 0.
        self.with(name, (value * 10.0).round() / 10.0 + 0.0)
    }

    pub(super) fn class(self, class: impl Display) -> Element<'m> {
        self.with("class", class)
    }

    /// An element without content.
    pub(super) fn end(self) {
        self.markup.0.push_str("/>");
    }

    /// An element with text in it.
    pub(super) fn text(self, text: impl Display) {
        self.holding(|markup| markup.text(text));
    }

    /// An element with other markup in it.
    pub(super) fn holding(self, content: impl FnOnce(&mut Markup)) {
        let Element { markup, name } = self;
        markup.0.push('>');
        content(markup);
        let _ = write!(markup.0, "</{name}>");
    }
}

fn escape(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\n' | '\t' => into.push(character),
            // Not allowed in XML at all, or able to turn the line around in which it stands.
            _ if character.is_control()
                || is_bidirectional_control(character)
                || is_noncharacter(character) =>
            {
                into.push(char::REPLACEMENT_CHARACTER);
            }
            _ => into.push(character),
        }
    }
}

fn is_bidirectional_control(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_noncharacter(character: char) -> bool {
    matches!(character, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_close() {
        let mut markup = Markup::default();
        markup.element("g").class("a").holding(|markup| {
            markup.element("line").at("x1", 1.26).at("x2", -0.01).end();
            markup.element("text").text("1 < 2");
        });
        assert_eq!(markup.into_string(), r#"<g class="a"><line x1="1.3" x2="0"/><text>1 &lt; 2</text></g>"#);
    }

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let mut markup = Markup::default();
        markup.element("a").with("title", "\"><script>'&").text("</a>\0\u{202e}\u{ffff}\u{7f}");
        assert_eq!(
            markup.into_string(),
            "<a title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">&lt;/a&gt;\u{fffd}\u{fffd}\u{fffd}\u{fffd}</a>"
        );
    }
}
