//! Declarations at file and module level, and those that may stand anywhere.

use super::{Failed, Parsed, Parser, Place};
use crate::diagnostics::error;
use crate::model::InterfaceFlavor;
use crate::similar::nearest;
use crate::syntax::{Imported, Item, ScopedName, TypeSpec};
use crate::token::{KEYWORDS, TokenKind};

impl Parser<'_> {
    /// One item of a block with its `;`.
    pub(super) fn item(&mut self, place: Place) -> Parsed<Item> {
        let mut doc = self.doc();
        if let Some(at) = self.take_if("@") {
            if self.is_word("annotation") {
                self.take();
                return self.annotation_type(doc);
            }
            let mut annotations = vec![self.annotation(at)?];
            annotations.append(&mut self.annotations()?);
            if doc.is_empty() {
                doc = self.doc();
            }
            let item = self.plain_item(place, doc)?;
            let defines_nothing = match &item {
                Item::TypeId { .. } => Some("typeid"),
                Item::TypePrefix { .. } => Some("typeprefix"),
                Item::Import(_) => Some("import"),
                _ => None,
            };
            if let Some(what) = defines_nothing {
                let label = format!("`{what}` defines nothing that it could hold for");
                self.report(error(format!("`{what}` takes no annotation"), annotations[0].span, label));
            }
            return Ok(Item::Annotated(annotations, Box::new(item)));
        }
        self.plain_item(place, doc)
    }

    /// An item without annotations.
    fn plain_item(&mut self, place: Place, doc: String) -> Parsed<Item> {
        let span = self.span();
        self.place = place;
        if place == Place::Component {
            return self.component_item(doc);
        }
        let in_body = matches!(place, Place::Interface | Place::Value | Place::Home);
        let keyword = match self.peek().clone() {
            TokenKind::Keyword(keyword) => keyword,
            TokenKind::Identifier(_) if !in_body && self.is_word("component") => return self.component(doc),
            TokenKind::Identifier(_) if !in_body && self.is_word("home") => return self.home(doc),
            TokenKind::Identifier(_) if !in_body && self.is_word("eventtype") => {
                return self.value(doc, false);
            }
            TokenKind::Identifier(_) if place == Place::Home && self.is_word("finder") => {
                return self.finder(doc);
            }
            TokenKind::Identifier(_) if self.is_word("bitset") || self.is_word("bitmask") => {
                return self.bits(doc, in_body);
            }
            TokenKind::Identifier(_) | TokenKind::Punctuation("::") if in_body => return self.operation(doc),
            // The lexer has reported a keyword in the wrong case.
            TokenKind::Identifier(word) if KEYWORDS.iter().any(|it| it.eq_ignore_ascii_case(&word)) => {
                return Err(Failed);
            }
            TokenKind::Identifier(word) => {
                let near = match &*word {
                    "class" => Some("interface"),
                    "using" | "namespace" => Some("module"),
                    _ => nearest(&word, KEYWORDS.iter().copied()),
                };
                let label = near.map_or("a definition starts with a keyword".into(), |near| {
                    format!("did you mean `{near}`?")
                });
                self.report(error(format!("expected a definition, found `{word}`"), span, label));
                return Err(Failed);
            }
            _ => return Err(self.unexpected("a definition")),
        };
        if in_body
            && matches!(
                keyword,
                "module" | "interface" | "valuetype" | "abstract" | "local" | "custom" | "import"
            )
        {
            let what = match place {
                Place::Interface => "an interface",
                Place::Home => "a home",
                _ => "a valuetype",
            };
            let label = "is a `}` missing before this?";
            self.report(error(format!("`{keyword}` cannot stand inside {what}"), span, label));
            // Reads it all the same, to say what else is wrong.
        }
        match keyword {
            "module" => self.module(doc),
            "const" => self.constant(doc),
            "typedef" => self.typedef(doc),
            "native" => self.native(doc),
            "struct" | "union" | "enum" | "exception" => self.constructed_item(doc),
            "interface" => self.interface(doc, InterfaceFlavor::Plain),
            "local" => {
                self.take();
                if !self.is("interface") {
                    return Err(self.unexpected("`interface` after `local`"));
                }
                self.interface(doc, InterfaceFlavor::Local)
            }
            "abstract" => self.abstract_item(doc),
            "custom" | "valuetype" => self.value(doc, false),
            "typeid" => self.type_id(),
            "typeprefix" => self.type_prefix(),
            "import" => self.import(),
            "attribute" | "readonly" | "oneway" if in_body => self.feature(doc),
            "public" | "private" | "factory" if place == Place::Value => self.value_member(doc),
            "factory" if place == Place::Home => {
                self.take();
                self.initializer(doc, "factory")
            }
            "public" | "private" | "factory" if in_body => {
                let label = "write `valuetype` for an interface with state";
                self.report(error(format!("`{keyword}` is for valuetypes"), span, label));
                Err(Failed)
            }
            _ if in_body => self.operation(doc),
            _ => {
                let label =
                    "operations, attributes and members stand inside an interface, struct or valuetype";
                self.report(error(format!("expected a definition, found `{keyword}`"), span, label));
                Err(Failed)
            }
        }
    }

    fn module(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let name = self.name(" to name the module")?;
        let items = self.block("module", |it| Ok(it.items(Place::Module)))?;
        self.semicolon("the module");
        Ok(Item::Module { name, doc, items })
    }

    /// `bitset` or `bitmask`; in a body, an operation may return a type of that name.
    fn bits(&mut self, doc: String, in_body: bool) -> Parsed<Item> {
        let is_set = self.is_word("bitset");
        let word = self.name("")?;
        let name = self.name(&format!(" to name the {}", word.text))?;
        if in_body && self.is("(") {
            let span = word.span;
            let returns = TypeSpec::Named(ScopedName { absolute: false, parts: vec![word], span });
            return self.operation_named(doc, None, Some(returns), name);
        }
        if is_set { self.bitset(doc, name) } else { self.bitmask(doc, name) }
    }

    pub(super) fn constant(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let ty = self.simple_type()?;
        let name = self.name(" to name the constant")?;
        self.expect("=", "and a value after the name of the constant")?;
        let value = self.expression()?;
        self.semicolon("the constant");
        let doc = self.doc_or_behind(doc);
        Ok(Item::Constant { name, doc, ty, value })
    }

    pub(super) fn typedef(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let mut field = self.field("typedef")?;
        if !doc.is_empty() {
            field.doc = doc;
        }
        Ok(Item::Typedef(field))
    }

    fn native(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        let name = self.name(" to name the native type")?;
        self.semicolon("the native type");
        let doc = self.doc_or_behind(doc);
        Ok(Item::Native { name, doc })
    }

    fn abstract_item(&mut self, doc: String) -> Parsed<Item> {
        self.take();
        if self.is("valuetype") || self.is_word("eventtype") {
            self.value(doc, true)
        } else if self.is("interface") {
            self.interface(doc, InterfaceFlavor::Abstract)
        } else {
            Err(self.unexpected("`interface` or `valuetype` after `abstract`"))
        }
    }

    fn type_id(&mut self) -> Parsed<Item> {
        let start = self.take().span;
        let name = self.scoped_name()?;
        let (id, _) = self.string("with the repository id")?;
        let span = start.to(self.previous);
        self.semicolon("the typeid");
        Ok(Item::TypeId { name, id, span })
    }

    fn type_prefix(&mut self) -> Parsed<Item> {
        let start = self.take().span;
        // `typeprefix ::` is that of the file.
        let name = match self.peek() {
            TokenKind::Punctuation("::") => {
                self.take();
                if matches!(self.peek(), TokenKind::String(_)) {
                    None
                } else {
                    let mut name = self.scoped_name()?;
                    name.absolute = true;
                    Some(name)
                }
            }
            _ => Some(self.scoped_name()?),
        };
        let (prefix, _) = self.string("with the prefix")?;
        let span = start.to(self.previous);
        self.semicolon("the typeprefix");
        Ok(Item::TypePrefix { name, prefix, span })
    }

    fn import(&mut self) -> Parsed<Item> {
        self.take();
        let imported = if matches!(self.peek(), TokenKind::String(_)) {
            let (id, span) = self.string("")?;
            Imported::Id(id, span)
        } else {
            Imported::Scope(self.scoped_name()?)
        };
        self.semicolon("the import");
        Ok(Item::Import(imported))
    }
}
