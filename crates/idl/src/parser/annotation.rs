//! Annotations, and the definitions of their kinds. IDL 4.2, 7.4.15.

use std::rc::Rc;

use super::{Failed, Parsed, Parser};
use crate::diagnostics::error;
use crate::model::Type;
use crate::syntax::{
    Annotation, AnnotationParameter, AnnotationType, Expression, Item, Name, ScopedName, Step, TypeSpec,
};
use crate::token::TokenKind;

impl Parser<'_> {
    /// The annotations that come next, perhaps none.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while let Some(at) = self.take_if("@") {
            if self.is_word("annotation") {
                let span = self.span();
                let label = "`@annotation name { ... };` stands among definitions, with nothing before it";
                self.report(error("an annotation cannot be defined here", span, label));
                return Err(Failed);
            }
            annotations.push(self.annotation(at)?);
        }
        Ok(annotations)
    }

    /// What follows the `@` of an annotation that is applied.
    pub(super) fn annotation(&mut self, at: crate::Span) -> Parsed<Annotation> {
        let name = self.annotation_name()?;
        let mut arguments = Vec::new();
        if self.take_if("(").is_some() {
            loop {
                arguments.push(self.argument()?);
                if self.take_if(")").is_some() {
                    break;
                }
                if self.take_if(",").is_none() {
                    return Err(self.unexpected("`,` or `)` after the argument of the annotation"));
                }
            }
        }
        Ok(Annotation { name, arguments, span: at.to(self.previous) })
    }

    /// Some have the names of keywords, such as `@default`.
    fn annotation_name(&mut self) -> Parsed<ScopedName> {
        let start = self.span();
        let absolute = self.take_if("::").is_some();
        let mut parts = Vec::new();
        loop {
            let text: Rc<str> = match self.peek() {
                TokenKind::Identifier(text) => text.clone(),
                TokenKind::Keyword(word) => (*word).into(),
                _ => return Err(self.unexpected("the name of an annotation after `@`")),
            };
            let span = self.take().span;
            parts.push(Name { text, span });
            if self.take_if("::").is_none() {
                return Ok(ScopedName { absolute, parts, span: start.to(self.previous) });
            }
        }
    }

    fn argument(&mut self) -> Parsed<(Option<Name>, Expression)> {
        let mut value = self.expression()?;
        if !self.is("=") {
            return Ok((None, value));
        }
        match value.steps.pop() {
            Some((Step::Name(mut name), _))
                if value.steps.is_empty() && !name.absolute && name.parts.len() == 1 =>
            {
                self.take();
                let name = name.parts.remove(0);
                Ok((Some(name), self.expression()?))
            }
            _ => Err(self.unexpected("`,` or `)` after the argument of the annotation")),
        }
    }

    /// From behind `@annotation`.
    pub(super) fn annotation_type(&mut self, doc: String) -> Parsed<Item> {
        let name = self.name(" to name the annotation")?;
        let mut items = Vec::new();
        let parameters = self.block("annotation", |it| {
            Ok(it.members(|it| {
                let doc = it.doc();
                match it.peek() {
                    TokenKind::Keyword("enum") => items.push(it.constructed_item(doc)?),
                    TokenKind::Keyword("const") => items.push(it.constant(doc)?),
                    TokenKind::Keyword("typedef") => items.push(it.typedef(doc)?),
                    _ => return it.annotation_parameter().map(Some),
                }
                Ok(None)
            }))
        })?;
        self.semicolon("the annotation");
        let parameters = parameters.into_iter().flatten().collect();
        Ok(Item::AnnotationType(AnnotationType { name, doc, parameters, items }))
    }

    fn annotation_parameter(&mut self) -> Parsed<AnnotationParameter> {
        let ty = self.simple_type()?;
        let name = self.name(" for the parameter of the annotation")?;
        let default = if self.take_if("default").is_some() { Some(self.expression()?) } else { None };
        if let (TypeSpec::Simple(Type::Any, _), Some(default)) = (&ty, &default) {
            let label = "give the parameter the type of its default";
            self.report(error("a parameter of type `any` has no default", default.span, label));
        }
        self.semicolon("the parameter of the annotation");
        Ok(AnnotationParameter { ty, name, default })
    }
}
