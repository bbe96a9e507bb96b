//! Types, declarators and the types that have a body.

use super::{Failed, Parsed, Parser};
use crate::diagnostics::error;
use crate::model::Type;
use crate::syntax::{Arm, Body, CaseLabel, Constructed, Declarator, Enumerator, Field, Item, Name, TypeSpec};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Any type, also one that is defined in place.
    pub(super) fn type_spec(&mut self) -> Parsed<TypeSpec> {
        match self.peek() {
            TokenKind::Keyword("struct" | "union" | "enum") => {
                let doc = self.doc();
                self.nested(|it| it.constructed(doc)).map(|it| TypeSpec::Constructed(Box::new(it)))
            }
            _ => self.simple_type(),
        }
    }

    /// A type that is not defined in place.
    pub(super) fn simple_type(&mut self) -> Parsed<TypeSpec> {
        let keyword = match self.peek() {
            TokenKind::Keyword(keyword) => *keyword,
            TokenKind::Identifier(_) | TokenKind::Punctuation("::") => {
                let name = self.scoped_name()?;
                let is_map =
                    !name.absolute && matches!(name.parts.as_slice(), [only] if *only.text == *"map");
                if is_map && self.is("<") {
                    return self.nested(Self::map_type);
                }
                return Ok(TypeSpec::Named(name));
            }
            _ => return Err(self.unexpected("a type")),
        };
        let start = self.span();
        let simple = match keyword {
            "short" => Type::Short,
            "float" => Type::Float,
            "double" => Type::Double,
            "char" => Type::Char,
            "wchar" => Type::WChar,
            "boolean" => Type::Boolean,
            "octet" => Type::Octet,
            "any" => Type::Any,
            "Object" => Type::Object,
            "ValueBase" => Type::ValueBase,
            "long" => {
                self.take();
                let ty = if self.take_if("long").is_some() {
                    Type::LongLong
                } else if self.take_if("double").is_some() {
                    Type::LongDouble
                } else {
                    Type::Long
                };
                return Ok(TypeSpec::Simple(ty, start.to(self.previous)));
            }
            "unsigned" => return self.unsigned(),
            "string" | "wstring" => return self.string_type(keyword == "wstring"),
            "sequence" => return self.nested(Self::sequence_type),
            "fixed" => return self.fixed_type(),
            "void" => {
                let span = self.span();
                let label = "only operations return `void`";
                self.report(error("`void` is not a type of values", span, label));
                return Err(Failed);
            }
            "struct" | "union" | "enum" => {
                let label = "define it before, and write its name";
                self.report(error(format!("a {keyword} cannot be defined here"), start, label));
                return Err(Failed);
            }
            "const" | "typedef" => {
                let label = "constants and types are defined outside";
                self.report(error(format!("`{keyword}` cannot stand here"), start, label));
                return Err(Failed);
            }
            "public" | "private" => {
                let label = "remove it: only the state of valuetypes is public or private";
                self.report(error(format!("`{keyword}` cannot stand here"), start, label));
                return Err(Failed);
            }
            _ => return Err(self.unexpected("a type")),
        };
        self.take();
        Ok(TypeSpec::Simple(simple, start))
    }

    fn unsigned(&mut self) -> Parsed<TypeSpec> {
        let start = self.take().span;
        let ty = if self.take_if("short").is_some() {
            Type::UnsignedShort
        } else {
            self.expect("long", "or `short` after `unsigned`")?;
            if self.take_if("long").is_some() { Type::UnsignedLongLong } else { Type::UnsignedLong }
        };
        Ok(TypeSpec::Simple(ty, start.to(self.previous)))
    }

    fn string_type(&mut self, wide: bool) -> Parsed<TypeSpec> {
        let start = self.take().span;
        if self.take_if("<").is_none() {
            let ty = if wide { Type::WString { bound: None } } else { Type::String { bound: None } };
            return Ok(TypeSpec::Simple(ty, start));
        }
        let bound = self.bound()?;
        self.expect(">", "after the bound")?;
        Ok(TypeSpec::String { wide, bound, span: start.to(self.previous) })
    }

    fn sequence_type(&mut self) -> Parsed<TypeSpec> {
        self.take();
        self.expect("<", "after `sequence`, as in `sequence<long>`")?;
        let element = Box::new(self.simple_type()?);
        let bound = if self.take_if(",").is_some() { Some(self.bound()?) } else { None };
        self.expect(">", "to close `sequence<`")?;
        Ok(TypeSpec::Sequence { element, bound })
    }

    fn fixed_type(&mut self) -> Parsed<TypeSpec> {
        let span = self.take().span;
        if self.take_if("<").is_none() {
            return Ok(TypeSpec::Fixed { parameters: None, span });
        }
        let digits = self.bound()?;
        self.expect(",", "between digits and scale, as in `fixed<10, 2>`")?;
        let scale = self.bound()?;
        self.expect(">", "to close `fixed<`")?;
        Ok(TypeSpec::Fixed { parameters: Some((digits, scale)), span })
    }

    /// `type a, b[3]` and the `;` after it.
    pub(super) fn field(&mut self, what: &str) -> Parsed<Field> {
        let mut doc = self.doc();
        let annotations = self.annotations()?;
        if doc.is_empty() && !annotations.is_empty() {
            doc = self.doc();
        }
        let ty = self.type_spec()?;
        let mut declarators = vec![self.declarator(what)?];
        while self.take_if(",").is_some() {
            declarators.push(self.declarator(what)?);
        }
        self.misplaced(&[
            ("=", "a member has no value in IDL", "annotate it, as in `@default(5)`"),
            ("(", "an operation cannot stand here", "operations are part of interfaces and valuetypes"),
        ])?;
        self.semicolon(what);
        let doc = self.doc_or_behind(doc);
        Ok(Field { annotations, ty, declarators, doc })
    }

    pub(super) fn declarator(&mut self, what: &str) -> Parsed<Declarator> {
        let name = self.name(&format!(" for the {what}"))?;
        let mut dimensions = Vec::new();
        while self.take_if("[").is_some() {
            let label = "write `sequence<type>` for any number of elements";
            self.misplaced(&[("]", "an array has a size", label)])?;
            dimensions.push(self.expression()?);
            self.expect("]", "after the dimension")?;
        }
        Ok(Declarator { name, dimensions })
    }

    /// A struct, union, enum or exception, without the `;` after it.
    pub(super) fn constructed(&mut self, doc: String) -> Parsed<Constructed> {
        let keyword = match self.take().kind {
            TokenKind::Keyword(keyword) => keyword,
            _ => return Err(self.unexpected("a definition")),
        };
        let name = self.name(&format!(" to name the {keyword}"))?;
        if keyword != "struct" {
            self.misplaced(&[(":", "only structs, interfaces and values inherit", "remove the base")])?;
        }
        let forward = self.is(";");
        let body = match keyword {
            "struct" if forward => Body::ForwardStruct,
            "union" if forward => Body::ForwardUnion,
            "struct" => {
                let base = if self.take_if(":").is_some() { Some(self.scoped_name()?) } else { None };
                Body::Struct { base, fields: self.fields("struct")? }
            }
            "exception" => Body::Exception(self.fields("exception")?),
            "union" => self.union_body(&name)?,
            _ => Body::Enum(self.enumerators("enum")?),
        };
        Ok(Constructed { name, doc, body })
    }

    fn fields(&mut self, of: &str) -> Parsed<Vec<Field>> {
        let member = format!("{of} member");
        self.block(of, |it| Ok(it.members(|it| it.field(&member))))
    }

    fn union_body(&mut self, name: &Name) -> Parsed<Body> {
        self.expect("switch", "after the name of the union")?;
        self.expect("(", "after `switch`")?;
        let annotations = self.annotations()?;
        let discriminator = self.type_spec()?;
        self.expect(")", "after the discriminator's type")?;
        let arms = self.block("union", |it| Ok(it.members(Self::arm)))?;
        if arms.is_empty() && !self.lost {
            let message = format!("`{}` has no members", name.text);
            self.report(error(message, name.span, "a union has at least one member"));
        }
        Ok(Body::Union { annotations, discriminator, arms })
    }

    fn arm(&mut self) -> Parsed<Arm> {
        let doc = self.doc();
        let mut annotations = self.annotations()?;
        let mut labels = Vec::new();
        loop {
            if let Some(span) = self.take_if("default") {
                labels.push(CaseLabel::Default(span));
            } else if self.take_if("case").is_some() {
                labels.push(CaseLabel::Case(self.expression()?));
            } else if labels.is_empty() {
                return Err(self.unexpected("`case` or `default`"));
            } else {
                break;
            }
            self.expect(":", "after the label")?;
        }
        let inner = self.doc();
        annotations.append(&mut self.annotations()?);
        let ty = self.type_spec()?;
        let declarator = self.declarator("union member")?;
        self.semicolon("union member");
        let doc = self.doc_or_behind(if doc.is_empty() { inner } else { doc });
        Ok(Arm { annotations, labels, ty, declarator, doc })
    }

    /// The names of an enum or a bitmask, in braces.
    pub(super) fn enumerators(&mut self, of: &str) -> Parsed<Vec<Enumerator>> {
        self.block(of, |it| {
            let mut enumerators = Vec::new();
            loop {
                let doc = it.doc();
                let annotations = it.annotations()?;
                let name = it.name(" for the enumerator")?;
                let order = "remove it: the first is 0, each after it is one more";
                it.misplaced(&[("=", "an enumerator has the number of its place", order)])?;
                let comma = it.take_if(",");
                enumerators.push(Enumerator { annotations, name, doc: it.doc_or_behind(doc) });
                match comma {
                    None if it.is("}") => return Ok(enumerators),
                    None => return Err(it.unexpected("`,` or `}` after the enumerator")),
                    Some(span) if it.is("}") => {
                        it.report(error("`,` after the last enumerator", span, "remove it"));
                        return Ok(enumerators);
                    }
                    Some(_) => {}
                }
            }
        })
    }

    pub(super) fn constructed_item(&mut self, doc: String) -> Parsed<Item> {
        let TokenKind::Keyword(keyword) = *self.peek() else { return Err(self.unexpected("a definition")) };
        let item = self.constructed(doc)?;
        self.semicolon(&format!("the {keyword}"));
        Ok(Item::Constructed(item))
    }
}
