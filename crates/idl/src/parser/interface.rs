//! Interfaces, valuetypes and what stands in them.

use super::{Failed, Parsed, Parser, Place};
use crate::diagnostics::error;
use crate::model::{Direction, InterfaceFlavor, ValueFlavor};
use crate::syntax::{Attribute, Interface, Item, Name, Operation, Parameter, ScopedName, TypeSpec, Value};
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn interface(&mut self, doc: String, flavor: InterfaceFlavor) -> Parsed<Item> {
        self.take();
        let name = self.name(" to name the interface")?;
        let bases = if self.take_if(":").is_some() { self.scoped_names()? } else { Vec::new() };
        let items = if bases.is_empty() && self.is(";") {
            None
        } else {
            Some(self.block("interface", |it| Ok(it.items(Place::Interface)))?)
        };
        self.semicolon("the interface");
        Ok(Item::Interface(Interface { name, doc, flavor, bases, items }))
    }

    /// From `custom`, `valuetype` or `eventtype`.
    pub(super) fn value(&mut self, doc: String, is_abstract: bool) -> Parsed<Item> {
        let mut flavor = if is_abstract { ValueFlavor::Abstract } else { ValueFlavor::Plain };
        if self.take_if("custom").is_some() {
            flavor = ValueFlavor::Custom;
        }
        let event = self.is_word("eventtype");
        if event {
            self.take();
        } else {
            self.expect("valuetype", "after `custom`")?;
        }
        let name = self.name(" to name the valuetype")?;
        if self.is(";") && flavor != ValueFlavor::Custom {
            self.semicolon("the valuetype");
            let (bases, supports) = (Vec::new(), Vec::new());
            let value = Value { name, doc, event, flavor, truncatable: None, bases, supports, items: None };
            return Ok(Item::Value(value));
        }
        if !matches!(self.peek(), TokenKind::Punctuation(":" | "{") | TokenKind::Keyword("supports")) {
            if event || flavor != ValueFlavor::Plain {
                return Err(self.unexpected("`:`, `supports` or `{` after the name of the valuetype"));
            }
            let ty = self.type_spec()?;
            self.semicolon("the boxed value");
            return Ok(Item::ValueBox { name, doc, ty });
        }
        let (mut truncatable, mut bases) = (None, Vec::new());
        if self.take_if(":").is_some() {
            truncatable = self.take_if("truncatable");
            bases = self.scoped_names()?;
        }
        let supports = if self.take_if("supports").is_some() { self.scoped_names()? } else { Vec::new() };
        let items = Some(self.block("valuetype", |it| Ok(it.items(Place::Value)))?);
        self.semicolon("the valuetype");
        Ok(Item::Value(Value { name, doc, event, flavor, truncatable, bases, supports, items }))
    }

    pub(super) fn value_member(&mut self, doc: String) -> Parsed<Item> {
        let public = match self.take().kind {
            TokenKind::Keyword("factory") => return self.initializer(doc, "factory"),
            kind => kind == TokenKind::Keyword("public"),
        };
        let mut field = self.field("state member")?;
        if !doc.is_empty() {
            field.doc = doc;
        }
        Ok(Item::State { public, field })
    }

    /// A `factory` or `finder` from behind that word.
    pub(super) fn initializer(&mut self, doc: String, what: &str) -> Parsed<Item> {
        let name = self.name(&format!(" to name the {what}"))?;
        let parameters = self.parameters()?;
        for parameter in &parameters {
            if parameter.direction != Direction::In {
                let label = format!("parameters of a {what} are `in`");
                let message = format!("a {what} gives nothing back but what it is for");
                self.report(error(message, parameter.name.span, label));
            }
        }
        let raises = self.raises("raises")?;
        self.semicolon(&format!("the {what}"));
        let doc = self.doc_or_behind(doc);
        if what == "finder" {
            return Ok(Item::Finder { name, doc, parameters, raises });
        }
        Ok(Item::Factory { name, doc, parameters, raises })
    }

    /// From `attribute`, `readonly` or `oneway`.
    pub(super) fn feature(&mut self, doc: String) -> Parsed<Item> {
        if self.is("oneway") {
            return self.operation(doc);
        }
        let readonly = self.take_if("readonly").is_some();
        self.expect("attribute", "after `readonly`")?;
        let ty = self.simple_type()?;
        let mut names = vec![self.name(" to name the attribute")?];
        while self.take_if(",").is_some() {
            names.push(self.name(" to name the attribute")?);
        }
        let array = ("[", "an attribute has no dimensions", "give the array type a name by `typedef`");
        let value = ("=", "an attribute has no value in IDL", "`const` declares constants");
        self.misplaced(&[array, value])?;
        let (mut get_raises, mut set_raises) = (Vec::new(), Vec::new());
        if readonly {
            get_raises = self.raises("raises")?;
            let label = "write `raises` for what reading it raises";
            self.misplaced(&[
                ("setraises", "a read-only attribute is never set", label),
                ("getraises", "a read-only attribute is only read", label),
            ])?;
        } else {
            get_raises.append(&mut self.raises("getraises")?);
            set_raises.append(&mut self.raises("setraises")?);
            if self.is("raises") {
                return Err(self.unexpected("`getraises` or `setraises`"));
            }
        }
        self.semicolon("the attribute");
        let doc = self.doc_or_behind(doc);
        Ok(Item::Attribute(Attribute { readonly, ty, names, get_raises, set_raises, doc }))
    }

    pub(super) fn operation(&mut self, doc: String) -> Parsed<Item> {
        let oneway = self.take_if("oneway");
        let returns = if self.take_if("void").is_some() { None } else { Some(self.simple_type()?) };
        let name = self.name(" to name the operation")?;
        self.operation_named(doc, oneway, returns, name)
    }

    /// From behind the name.
    pub(super) fn operation_named(
        &mut self,
        doc: String,
        oneway: Option<crate::Span>,
        returns: Option<TypeSpec>,
        name: Name,
    ) -> Parsed<Item> {
        if self.is(";") || self.is(",") {
            let (message, label) = if self.place == Place::Value {
                ("a state member is public or private", "write `public` or `private` before the type".into())
            } else {
                let label = format!("write `attribute` before the type, or `{}()`", name.text);
                ("an interface has operations and attributes, no members", label)
            };
            self.report(error(message, name.span, label));
            return Err(Failed);
        }
        let parameters = self.parameters()?;
        let raises = self.raises("raises")?;
        let context = self.context()?;
        self.semicolon("the operation");
        let doc = self.doc_or_behind(doc);
        Ok(Item::Operation(Operation { name, doc, oneway, returns, parameters, raises, context }))
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect("(", "after the name, before the parameters")?;
        let mut parameters = Vec::new();
        if self.take_if(")").is_some() {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if self.take_if(")").is_some() {
                return Ok(parameters);
            }
            if self.take_if(",").is_none() {
                return Err(self.unexpected("`,` or `)` after the parameter"));
            }
        }
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let mut annotations = self.annotations()?;
        let span = self.span();
        let direction = match *self.peek() {
            TokenKind::Keyword("in") => Some(Direction::In),
            TokenKind::Keyword("out") => Some(Direction::Out),
            TokenKind::Keyword("inout") => Some(Direction::InOut),
            _ => None,
        };
        match direction {
            Some(_) => {
                self.take();
            }
            None if matches!(self.peek(), TokenKind::Keyword("void")) => {
                self.report(error("expected `)`, found `void`", span, "write `()` for no parameters"));
                return Err(Failed);
            }
            None if matches!(self.peek(), TokenKind::Keyword(_) | TokenKind::Identifier(_)) => {
                let found = self.peek().describe();
                let label = "say which way it travels";
                self.report(error(format!("expected `in`, `out` or `inout`, found {found}"), span, label));
            }
            None => return Err(self.unexpected("a parameter: `in`, `out` or `inout`")),
        }
        annotations.append(&mut self.annotations()?);
        let ty = self.simple_type()?;
        let name = self.name(" to name the parameter")?;
        self.misplaced(&[
            ("[", "a parameter has no dimensions", "give the array type a name by `typedef`"),
            ("=", "a parameter has no default value", "remove it: callers give every argument"),
        ])?;
        Ok(Parameter { annotations, direction: direction.unwrap_or(Direction::In), ty, name })
    }

    /// `raises (A, B)`, or nothing.
    fn raises(&mut self, keyword: &'static str) -> Parsed<Vec<ScopedName>> {
        if self.take_if(keyword).is_none() {
            return Ok(Vec::new());
        }
        self.expect("(", &format!("after `{keyword}`"))?;
        let names = self.scoped_names()?;
        self.expect(")", "after the exceptions")?;
        Ok(names)
    }

    /// `context ("a", "b*")`, or nothing.
    fn context(&mut self) -> Parsed<Vec<(String, crate::Span)>> {
        if self.take_if("context").is_none() {
            return Ok(Vec::new());
        }
        self.expect("(", "after `context`")?;
        let mut names = vec![self.string("with a context name")?];
        while self.take_if(",").is_some() {
            names.push(self.string("with a context name")?);
        }
        self.expect(")", "after the context names")?;
        Ok(names)
    }
}
