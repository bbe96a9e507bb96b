//! Bit sets, bit masks and maps: words that only IDL 4 reserves, so they are looked at where they can mean nothing else.

use super::{Parsed, Parser};
use crate::diagnostics::error;
use crate::syntax::{Bitfield, Bitmask, Bitset, Item, Name, TypeSpec};
use crate::token::TokenKind;

impl Parser<'_> {
    /// The rest of a `bitset` from behind its name.
    pub(super) fn bitset(&mut self, doc: String, name: Name) -> Parsed<Item> {
        let base = if self.take_if(":").is_some() { Some(self.scoped_name()?) } else { None };
        let fields = self.block("bitset", |it| Ok(it.members(Self::bitfield)))?;
        if fields.is_empty() && base.is_none() && !self.lost {
            let message = format!("`{}` has no bits", name.text);
            self.report(error(message, name.span, "a bitset has at least one bitfield"));
        }
        self.semicolon("the bitset");
        Ok(Item::Bitset(Bitset { name, doc, base, fields }))
    }

    fn bitfield(&mut self) -> Parsed<Bitfield> {
        let doc = self.doc();
        let annotations = self.annotations()?;
        let span = self.span();
        if !self.is_word("bitfield") {
            return Err(self.unexpected("`bitfield<bits>`"));
        }
        self.take();
        self.expect("<", "after `bitfield`, as in `bitfield<3>`")?;
        let bits = self.bound()?;
        let ty = if self.take_if(",").is_some() { Some(self.simple_type()?) } else { None };
        self.expect(">", "to close `bitfield<`")?;
        let mut names = Vec::new();
        if !self.is(";") {
            names.push(self.name(" for the bitfield")?);
            while self.take_if(",").is_some() {
                names.push(self.name(" for the bitfield")?);
            }
        }
        let span = span.to(self.previous);
        self.semicolon("the bitfield");
        let doc = self.doc_or_behind(doc);
        Ok(Bitfield { annotations, bits, ty, names, doc, span })
    }

    /// The rest of a `bitmask` from behind its name.
    pub(super) fn bitmask(&mut self, doc: String, name: Name) -> Parsed<Item> {
        let flags = self.enumerators("bitmask")?;
        self.semicolon("the bitmask");
        Ok(Item::Bitmask(Bitmask { name, doc, flags }))
    }

    /// From behind `map`, with a `<` next: no type that is named `map` can stand before that.
    pub(super) fn map_type(&mut self) -> Parsed<TypeSpec> {
        self.expect("<", "after `map`, as in `map<string, long>`")?;
        let key = Box::new(self.simple_type()?);
        self.expect(",", "between the types of keys and values, as in `map<string, long>`")?;
        let value = Box::new(self.simple_type()?);
        let bound = if self.take_if(",").is_some() { Some(self.bound()?) } else { None };
        self.expect(">", "to close `map<`")?;
        Ok(TypeSpec::Map { key, value, bound })
    }

    /// The next token is this word, which is no keyword everywhere, and not escaped.
    pub(super) fn is_word(&mut self, word: &str) -> bool {
        let span = self.span();
        let length = span.end.saturating_sub(span.start) as usize;
        // A macro's expansion has the place of its name, so only what may be an escape is looked at.
        let escaped = length == word.len() + 1 && self.tokens.reporter.sources.slice(span).starts_with('_');
        matches!(self.peek(), TokenKind::Identifier(text) if **text == *word) && !escaped
    }
}
