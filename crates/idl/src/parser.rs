//! Tokens to syntax tree. CORBA 3.4 part 1, 7.5.
//!
//! A mistake costs as little as possible of what follows: a missing `;` is taken as read, a broken member or
//! declaration is passed over to its end. A method that returns [`Failed`] has reported why.

mod annotation;
mod bits;
mod component;
mod declaration;
mod expression;
mod interface;
mod types;

use crate::comments;
use crate::diagnostics::{error, warning};
use crate::limits;
use crate::preprocessor::Preprocessor;
use crate::similar::nearest;
use crate::source::Span;
use crate::syntax::{Item, Name, ScopedName};
use crate::token::{COMPONENT_KEYWORDS, KEYWORDS, Token, TokenKind};

/// Reads a whole specification.
pub(crate) struct Parser<'a> {
    tokens: Preprocessor<'a>,
    next: Option<Token>,
    /// The last token that was taken.
    previous: Span,
    /// Brackets and blocks that are open.
    depth: usize,
    /// Pragmas and file borders that came before `next`.
    pending: Vec<Item>,
    started: bool,
    /// What the item that is being read stands in.
    place: Place,
    /// A `}` is missing, which was reported: the `;` behind it is not missed too.
    unclosed: bool,
    /// A member could not be read, which was reported: that there are none is not.
    lost: bool,
}

/// What should be there is not; it was reported.
pub(crate) struct Failed;

type Parsed<T> = Result<T, Failed>;

/// What the items of a block belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    Module,
    Interface,
    Value,
    Component,
    Home,
}

/// Keywords that open a declaration and nothing else: reading may go on here after an error.
const OPENERS: &[&str] = &[
    "abstract",
    "const",
    "custom",
    "exception",
    "interface",
    "local",
    "module",
    "native",
    "typedef",
    "valuetype",
];

impl<'a> Parser<'a> {
    pub(crate) fn new(tokens: Preprocessor<'a>) -> Self {
        let start = Span { file: crate::FileId(0), start: 0, end: 0 };
        Parser {
            tokens,
            next: None,
            previous: start,
            depth: 0,
            pending: Vec::new(),
            started: false,
            place: Place::File,
            unclosed: false,
            lost: false,
        }
    }

    /// The whole specification, and what reads it: the reporter is the preprocessor's.
    pub(crate) fn parse(mut self) -> (Vec<Item>, Preprocessor<'a>) {
        let items = self.items(Place::File);
        (items, self.tokens)
    }

    /// Items up to the `}` that ends the block (not taken) or the end of all files.
    fn items(&mut self, place: Place) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            let token = self.token();
            let (span, kind) = (token.span, token.kind.clone());
            items.append(&mut self.pending);
            match kind {
                TokenKind::End => return items,
                TokenKind::Punctuation("}") if place != Place::File => return items,
                TokenKind::Punctuation("}") => {
                    self.report(error("`}` without `{`", span, ""));
                    self.take();
                    self.take_if(";");
                }
                TokenKind::Punctuation(";") => {
                    self.report(warning("a `;` too many", span, "nothing ends here"));
                    self.take();
                }
                _ => match self.item(place) {
                    Ok(item) => items.push(item),
                    Err(Failed) => self.recover(span),
                },
            }
        }
    }

    /// Passes over the rest of a broken declaration that began at `start`: to its `;`, or to where the next begins.
    fn recover(&mut self, start: Span) {
        let mut open = 0usize;
        loop {
            let next = self.span();
            let line_break = !self.tokens.reporter.sources.same_line(self.previous, next);
            let begun = self.previous.start >= start.start || self.previous.file != start.file;
            match self.peek() {
                TokenKind::End => return,
                TokenKind::Punctuation("{") => open += 1,
                TokenKind::Punctuation("}") if open == 0 => return,
                TokenKind::Punctuation("}") => {
                    open -= 1;
                    if open == 0 {
                        self.take();
                        let (last, next) = (self.previous, self.span());
                        let more = self.tokens.reporter.sources.same_line(last, next);
                        let ends = matches!(self.peek(), TokenKind::Keyword(it) if OPENERS.contains(it));
                        // `typedef struct { … } Name;` goes on behind its block.
                        if !more || ends {
                            return;
                        }
                        continue;
                    }
                }
                TokenKind::Punctuation(";") if open == 0 => {
                    self.take();
                    return;
                }
                TokenKind::Keyword(it) if open == 0 && begun && line_break && OPENERS.contains(it) => return,
                _ => {}
            }
            self.take();
        }
    }

    fn report(&mut self, diagnostic: crate::Diagnostic) {
        self.tokens.reporter.report(diagnostic);
    }

    /// The next token, not taken.
    fn token(&mut self) -> &Token {
        if self.next.is_none() {
            let next = loop {
                let token = self.tokens.next();
                match token.kind {
                    TokenKind::Pragma(pragma) => self.pending.push(Item::Pragma(pragma)),
                    TokenKind::EnterFile => self.pending.push(Item::EnterFile),
                    TokenKind::LeaveFile => self.pending.push(Item::LeaveFile),
                    _ => break token,
                }
            };
            self.next = Some(next);
        }
        self.next.as_ref().expect("filled above")
    }

    fn peek(&mut self) -> &TokenKind {
        &self.token().kind
    }

    fn span(&mut self) -> Span {
        self.token().span
    }

    /// Takes the next token. The end stays where it is.
    fn take(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != TokenKind::End {
            self.previous = token.span;
            self.next = None;
            self.started = true;
        }
        token
    }

    fn is(&mut self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Punctuation(it) | TokenKind::Keyword(it) if *it == word)
    }

    /// Takes a keyword or punctuation if it is next.
    fn take_if(&mut self, word: &str) -> Option<Span> {
        if !self.is(word) {
            return None;
        }
        Some(self.take().span)
    }

    /// Takes a keyword or punctuation, which `purpose` explains: "after the name of the struct".
    fn expect(&mut self, word: &'static str, purpose: &str) -> Parsed<Span> {
        if word == ">" && self.is(">>") {
            // `sequence<sequence<long>>`: the first half closes the inner one.
            let token = self.next.as_mut().expect("peeked");
            token.kind = TokenKind::Punctuation(">");
            let span = Span { end: token.span.start + 1, ..token.span };
            token.span.start += 1;
            self.previous = span;
            return Ok(span);
        }
        match self.take_if(word) {
            Some(span) => Ok(span),
            None => Err(self.unexpected(&format!("`{word}` {purpose}"))),
        }
    }

    /// Reports that the next token is not what was expected.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let (span, kind) = (self.span(), self.peek().clone());
        if kind == TokenKind::Bad || self.tokens.reporter.stopped() {
            return Failed;
        }
        let message = format!("expected {expected}, found {}", kind.describe());
        let label = match kind {
            TokenKind::Punctuation("*" | "&") if expected.starts_with("an identifier") => {
                "IDL has no pointers; an optional value is a boxed value, or a sequence of at most one".into()
            }
            TokenKind::Keyword(word) if expected.starts_with("an identifier") => {
                format!("a keyword: write `_{word}` to use it as an identifier")
            }
            TokenKind::Identifier(word) if !expected.starts_with("an identifier") => {
                let near = nearest(&word, KEYWORDS.iter().copied()).filter(|near| expected.contains(near));
                near.map_or(String::new(), |near| format!("did you mean `{near}`?"))
            }
            _ => String::new(),
        };
        self.report(error(message, span, label));
        Failed
    }

    /// Reports what stands behind a declarator and cannot, if it is one of the usual mistakes.
    fn misplaced(&mut self, mistakes: &[(&str, &str, &str)]) -> Parsed<()> {
        let Some((_, message, label)) = mistakes.iter().find(|(word, ..)| self.is(word)) else {
            return Ok(());
        };
        let span = self.span();
        self.report(error(*message, span, *label));
        Err(Failed)
    }

    /// Takes the `;` that ends something. If it is missing, that is reported and reading goes on as if it were there.
    fn semicolon(&mut self, after: &str) {
        if self.take_if(";").is_some() || *self.peek() == TokenKind::Bad && self.recovered() {
            return;
        }
        let unclosed = std::mem::take(&mut self.unclosed) && *self.peek() == TokenKind::End;
        if self.tokens.reporter.stopped() || unclosed {
            return;
        }
        let found = self.peek().describe();
        let message = format!("expected `;` after {after}, found {found}");
        let previous = self.previous;
        self.report(error(message, previous.after(), "add `;` here"));
        let span = self.span();
        if self.tokens.reporter.sources.same_line(previous, span) && !self.is("}") {
            self.recover(span);
        }
    }

    fn recovered(&mut self) -> bool {
        let span = self.span();
        self.recover(span);
        true
    }

    fn name(&mut self, of: &str) -> Parsed<Name> {
        match self.peek().clone() {
            TokenKind::Identifier(text) => {
                let reserved = COMPONENT_KEYWORDS.contains(&&*text) && self.is_word(&text);
                let span = self.take().span;
                if reserved {
                    let message = format!("`{text}` is a keyword of the component model");
                    let label = format!("write `_{text}` to use it as an identifier");
                    self.report(warning(message, span, label));
                }
                if text.starts_with('_') {
                    let label = "an identifier starts with a letter, or with `_` to escape a keyword";
                    self.report(error(format!("`{text}` is not an identifier"), span, label));
                }
                Ok(Name { text, span })
            }
            _ => Err(self.unexpected(&format!("an identifier{of}"))),
        }
    }

    fn scoped_name(&mut self) -> Parsed<ScopedName> {
        let start = self.span();
        let absolute = self.take_if("::").is_some();
        let mut parts = vec![self.name("")?];
        while self.take_if("::").is_some() {
            parts.push(self.name(" after `::`")?);
        }
        Ok(ScopedName { absolute, parts, span: start.to(self.previous) })
    }

    /// One or more names between commas.
    fn scoped_names(&mut self) -> Parsed<Vec<ScopedName>> {
        let mut names = vec![self.scoped_name()?];
        while self.take_if(",").is_some() {
            names.push(self.scoped_name()?);
        }
        Ok(names)
    }

    /// Adjacent string literals are one.
    fn string(&mut self, purpose: &str) -> Parsed<(String, Span)> {
        let start = self.span();
        let mut text = String::new();
        let mut any = false;
        while let TokenKind::String(part) = self.peek() {
            text.push_str(part);
            any = true;
            self.take();
        }
        if any {
            Ok((text, start.to(self.previous)))
        } else {
            Err(self.unexpected(&format!("a string {purpose}")))
        }
    }

    /// Runs `inner` one level deeper, up to the limit.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= limits::NESTING {
            let span = self.span();
            self.report(error(format!("nested more than {} deep", limits::NESTING), span, ""));
            return Err(Failed);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The documentation of what begins with the next token.
    fn doc(&mut self) -> String {
        self.token();
        let previous = self.started.then_some(self.previous);
        let token = self.next.as_ref().expect("filled above");
        comments::above(token, previous, &self.tokens.reporter.sources)
    }

    /// `doc`, or what stands behind the token that was taken last.
    fn doc_or_behind(&mut self, doc: String) -> String {
        if !doc.is_empty() {
            return doc;
        }
        self.token();
        let token = self.next.as_ref().expect("filled above");
        comments::behind(token, self.previous, &self.tokens.reporter.sources)
    }

    /// A block in braces, with `inner` for what is between them.
    fn block<T>(&mut self, of: &str, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let open = self.expect("{", &format!("to open the {of}"))?;
        let Ok(result) = self.nested(inner) else {
            self.skip_block();
            return Err(Failed);
        };
        if self.take_if("}").is_none() && !self.tokens.reporter.stopped() {
            self.unclosed = true;
            let (span, found) = (self.span(), self.peek().describe());
            let label = format!("`}}` is missing to close the {of}");
            self.report(error(format!("expected `}}`, found {found}"), span, label).see(open, "opened here"));
        }
        Ok(result)
    }

    /// Passes over the rest of a block whose `{` was taken, with its `}`.
    fn skip_block(&mut self) {
        let mut open = 1usize;
        while open > 0 && *self.peek() != TokenKind::End {
            match self.take().kind {
                TokenKind::Punctuation("{") => open += 1,
                TokenKind::Punctuation("}") => open -= 1,
                _ => {}
            }
        }
    }

    /// Runs `member` up to the `}` of the block, recovering after each that fails.
    fn members<T>(&mut self, mut member: impl FnMut(&mut Self) -> Parsed<T>) -> Vec<T> {
        let mut members = Vec::new();
        self.lost = false;
        while !self.is("}") && *self.peek() != TokenKind::End {
            let start = self.span();
            if let Some(span) = self.take_if(";") {
                self.report(warning("a `;` too many", span, "nothing ends here"));
                continue;
            }
            match member(self) {
                Ok(member) => members.push(member),
                Err(Failed) => {
                    self.lost = true;
                    self.recover(start);
                    // A declaration that belongs outside: the block's end is missing.
                    if matches!(
                        self.peek(),
                        TokenKind::Keyword("module" | "interface" | "typedef" | "exception")
                    ) {
                        break;
                    }
                }
            }
        }
        members
    }
}
