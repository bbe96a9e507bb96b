//! Components and homes. CORBA 3.4 part 3, chapter 6. Their words are keywords only here, since
//! older IDL uses some of them as names.

use super::{Parsed, Parser, Place};
use crate::diagnostics::error;
use crate::model::PortKind;
use crate::syntax::{Component, Home, Item, Port, ScopedName};
use crate::token::TokenKind;

impl Parser<'_> {
    /// From `component`.
    pub(super) fn component(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let name = self.name(" to name the component")?;
        if self.take_if(";").is_some() {
            let (base, supports) = (None, Vec::new());
            return Ok(Item::Component(Component { name, doc, base, supports, items: None }));
        }
        let base = if self.take_if(":").is_some() { Some(self.one_base("component")?) } else { None };
        let supports = self.supported()?;
        let items = Some(self.block("component", |it| Ok(it.items(Place::Component)))?);
        self.semicolon("the component");
        Ok(Item::Component(Component { name, doc, base, supports, items }))
    }

    /// From `home`.
    pub(super) fn home(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let name = self.name(" to name the home")?;
        let base = if self.take_if(":").is_some() { Some(self.one_base("home")?) } else { None };
        let supports = self.supported()?;
        if !self.is_word("manages") {
            return Err(self.unexpected("`manages` and the component that the home is for"));
        }
        self.take();
        let manages = self.scoped_name()?;
        let mut key = None;
        if self.is_word("primarykey") {
            self.take();
            key = Some(self.scoped_name()?);
        }
        let items = self.block("home", |it| Ok(it.items(Place::Home)))?;
        self.semicolon("the home");
        Ok(Item::Home(Home { name, doc, base, supports, manages, key, items }))
    }

    fn one_base(&mut self, of: &str) -> Parsed<ScopedName> {
        let base = self.scoped_name()?;
        while let Some(span) = self.take_if(",") {
            let label = format!("a {of} inherits from at most one other");
            self.report(error("a second base", span, label));
            self.scoped_name()?;
        }
        Ok(base)
    }

    fn supported(&mut self) -> Parsed<Vec<ScopedName>> {
        if self.take_if("supports").is_some() { self.scoped_names() } else { Ok(Vec::new()) }
    }

    /// What stands in a component.
    pub(super) fn component_item(&mut self, doc: String) -> Parsed<Item> {
        if matches!(self.peek(), TokenKind::Keyword("attribute" | "readonly")) {
            return self.feature(doc);
        }
        let kinds = [
            ("provides", PortKind::Provides),
            ("uses", PortKind::Uses),
            ("emits", PortKind::Emits),
            ("publishes", PortKind::Publishes),
            ("consumes", PortKind::Consumes),
        ];
        let Some((_, mut kind)) = kinds.into_iter().find(|(word, _)| self.is_word(word)) else {
            let ports = "a port (`provides`, `uses`, `emits`, `publishes`, `consumes`) or an attribute";
            return Err(self.unexpected(ports));
        };
        self.take();
        if kind == PortKind::Uses && self.is_word("multiple") {
            self.take();
            kind = PortKind::UsesMultiple;
        }
        let ty = self.simple_type()?;
        let name = self.name(" to name the port")?;
        self.semicolon("the port");
        let doc = self.doc_or_behind(doc);
        Ok(Item::Port(Port { kind, ty, name, doc }))
    }

    /// From `finder`, which has been looked at.
    pub(super) fn finder(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        self.initializer(doc, "finder")
    }
}
