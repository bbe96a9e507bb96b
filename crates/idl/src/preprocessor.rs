//! Directives, macros and includes: the tokens of all files as one stream. CORBA 3.4 part 1, 7.3.
//!
//! `#include`, `#define` of constants, `#undef`, the conditionals, `#error`, `#line` and `#pragma` work as in C++.
//! Macros with parameters are not part of what IDL needs; using one is an error that names it. Pragmas that the
//! checker acts on, and the borders of included files, travel in the stream as tokens of their own.

mod condition;
mod pragma;

pub(crate) use pragma::is_version;

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use crate::diagnostics::{Reporter, error, warning};
use crate::lexer::Lexer;
use crate::limits;
use crate::loader::Loader;
use crate::source::{FileId, Span};
use crate::token::{Token, TokenKind};

/// What includes give if the loader has no such file: the names that IDL takes from the ORB (CORBA 3.4 part 1, 7.4 and 7.20;
/// part 3, chapter 6; part 2, 9.7 for IOP).
const BUILT_IN: &[(&str, &str, &str)] = &[
    ("orb.idl", "<orb.idl>", include_str!("orb.idl")),
    ("IOP.idl", "<IOP.idl>", include_str!("iop.idl")),
    ("Messaging.idl", "<Messaging.idl>", include_str!("messaging.idl")),
    ("Components.idl", "<Components.idl>", include_str!("components.idl")),
];

/// Reads tokens from the main file and all that it includes.
pub(crate) struct Preprocessor<'a> {
    pub(crate) reporter: Reporter,
    loader: &'a dyn Loader,
    files: Vec<Open>,
    macros: HashMap<String, Macro>,
    expansions: Vec<Expansion>,
    pending: VecDeque<Token>,
    /// Files that said `#pragma once`.
    once: HashSet<FileId>,
    text: usize,
    tokens: usize,
    inclusions: usize,
}

/// A file that is being read.
struct Open {
    lexer: Lexer,
    conditions: Vec<Condition>,
}

/// An `#if` whose `#endif` has not come.
struct Condition {
    opened: Span,
    /// A group of it was or is being read, so no later one will be.
    taken: bool,
    has_else: bool,
}

#[derive(Clone)]
struct Macro {
    body: Rc<[Token]>,
    has_parameters: bool,
}

/// A macro whose body is being read.
struct Expansion {
    name: String,
    body: Rc<[Token]>,
    next: usize,
    /// Where the outermost macro was used: what errors in the expansion point to.
    used: Span,
    comments: Vec<Span>,
}

impl<'a> Preprocessor<'a> {
    /// Over a main file that has been loaded.
    pub(crate) fn new(loader: &'a dyn Loader, path: &str, text: &[u8], defines: &[(String, String)]) -> Self {
        let mut it = Preprocessor {
            reporter: Reporter::default(),
            loader,
            files: Vec::new(),
            macros: HashMap::new(),
            expansions: Vec::new(),
            pending: VecDeque::new(),
            once: HashSet::new(),
            text: 0,
            tokens: 0,
            inclusions: 0,
        };
        // Added first: the main file is file 0.
        let main = it.reporter.sources.add(path, if text.len() > limits::TEXT { b"" } else { text });
        it.define_all(defines);
        if text.len() > limits::TEXT {
            let span = Span { file: main, start: 0, end: 0 };
            it.reporter.stop(error(format!("more than {} MiB of text", limits::TEXT >> 20), span, ""));
        }
        it.text = text.len();
        it.open(main);
        it
    }

    /// The next token; `End` for ever after the last, or after an error that stops all.
    pub(crate) fn next(&mut self) -> Token {
        loop {
            if let Some(token) = self.pending.pop_front() {
                return token;
            }
            let Some(open) = self.files.last_mut().filter(|_| !self.reporter.stopped()) else {
                return self.end();
            };
            let (token, directive) = match self.expansions.last_mut() {
                Some(expansion) => match expansion.step() {
                    Some(token) => (token, false),
                    None => {
                        self.expansions.pop();
                        continue;
                    }
                },
                None => open.lexer.next(&mut self.reporter),
            };
            if directive {
                self.directive();
                continue;
            }
            self.tokens += 1;
            if self.tokens > limits::TOKENS {
                let message = format!("more than {} tokens", limits::TOKENS);
                self.reporter.stop(error(message, token.span, "split the file"));
                continue;
            }
            match token.kind {
                TokenKind::End => {
                    if let Some(end) = self.close(token) {
                        return end;
                    }
                }
                TokenKind::Identifier(_) => {
                    if let Some(token) = self.expand(token) {
                        return token;
                    }
                }
                _ => return self.placed(token),
            }
        }
    }

    fn end(&self) -> Token {
        let span =
            self.files.first().map_or(Span { file: FileId(0), start: 0, end: 0 }, |it| it.lexer.here());
        Token { kind: TokenKind::End, span, comments: Vec::new() }
    }

    fn open(&mut self, file: FileId) {
        let text = self.reporter.sources.text(file);
        self.files.push(Open { lexer: Lexer::new(file, text), conditions: Vec::new() });
    }

    /// A file has ended. The end of the main file is the end of all.
    fn close(&mut self, end: Token) -> Option<Token> {
        let open = self.files.last_mut()?;
        for condition in open.conditions.drain(..) {
            self.reporter.report(error("conditional without end", condition.opened, "`#endif` is missing"));
        }
        if self.files.len() == 1 {
            return Some(end);
        }
        self.files.pop();
        Some(Token { kind: TokenKind::LeaveFile, ..end })
    }

    fn define_all(&mut self, defines: &[(String, String)]) {
        for (name, value) in defines {
            let file = self.reporter.sources.add(&format!("<define {name}>"), value.as_bytes());
            let mut lexer = Lexer::new(file, self.reporter.sources.text(file));
            let body = line_tokens(&mut lexer, &mut self.reporter);
            self.macros.insert(name.clone(), Macro { body: body.into(), has_parameters: false });
        }
    }

    /// Puts a token of an expansion where the macro was used.
    fn placed(&self, mut token: Token) -> Token {
        if let Some(expansion) = self.expansions.first() {
            token.span = expansion.used;
        }
        token
    }

    /// Opens the expansion of an identifier that is a macro, or returns it.
    fn expand(&mut self, token: Token) -> Option<Token> {
        let name = self.reporter.sources.slice(token.span);
        let Some(found) = self.macros.get(name) else { return Some(self.placed(token)) };
        if self.expansions.iter().any(|it| it.name == name) {
            return Some(self.placed(token));
        }
        let (name, body, has_parameters) = (name.to_string(), found.body.clone(), found.has_parameters);
        let token = self.placed(token);
        if has_parameters {
            let message = format!("the macro `{name}` has parameters, which IDL macros here may not");
            self.reporter.report(error(message, token.span, "write out what it stands for"));
            return Some(Token { kind: TokenKind::Bad, ..token });
        }
        if self.expansions.len() >= limits::MACRO_DEPTH {
            let message = format!("macros within macros more than {} deep", limits::MACRO_DEPTH);
            self.reporter.stop(error(message, token.span, ""));
            return None;
        }
        self.expansions.push(Expansion { name, body, next: 0, used: token.span, comments: token.comments });
        None
    }

    /// Acts on the directive whose `#` has been read. A file is open.
    fn directive(&mut self) {
        // An include opens another file, but the line to finish is in this one.
        let depth = self.files.len() - 1;
        let name = self.files[depth].lexer.next_on_line(&mut self.reporter);
        let word = self.reporter.sources.slice(name.span).to_string();
        match word.as_str() {
            "include" => self.include(name.span),
            "define" => self.define(),
            "undef" => {
                if let Some((name, _)) = self.macro_name() {
                    self.macros.remove(&name);
                }
            }
            "if" => {
                let wanted = self.condition(name.span);
                self.begin_group(name.span, wanted);
            }
            "ifdef" | "ifndef" => {
                let wanted = match self.macro_name() {
                    Some((name, _)) => self.macros.contains_key(&name) == (word == "ifdef"),
                    None => false,
                };
                self.begin_group(name.span, wanted);
            }
            "elif" | "else" => {
                // A group was read up to here: the others of this conditional are passed over.
                if self.next_group(&word, name.span) {
                    self.skip_groups();
                }
            }
            "endif" => self.end_group(name.span),
            "error" | "warning" => self.message(&word, name.span),
            "line" => self.line(),
            "pragma" => self.pragma(name.span),
            _ => match name.kind {
                TokenKind::End => {}
                TokenKind::Integer(number) => self.renumber(number, name.span),
                _ => {
                    let names =
                        ["include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif"];
                    let more = ["error", "warning", "line", "pragma"];
                    let near = crate::similar::nearest(&word, names.into_iter().chain(more));
                    let label = near.map_or(String::new(), |near| format!("did you mean `#{near}`?"));
                    self.reporter.report(error(format!("unknown directive `#{word}`"), name.span, label));
                }
            },
        }
        // The rest of the line means nothing, as in `#endif GUARD`.
        if let Some(open) = self.files.get_mut(depth) {
            open.lexer.finish_line();
        }
    }

    /// The name after `#define`, `#undef`, `#ifdef` or `#ifndef`.
    fn macro_name(&mut self) -> Option<(String, Span)> {
        let lexer = &mut self.files.last_mut()?.lexer;
        let token = lexer.next_on_line(&mut self.reporter);
        match token.kind {
            TokenKind::Identifier(_) | TokenKind::Keyword(_) => {
                Some((self.reporter.sources.slice(token.span).into(), token.span))
            }
            TokenKind::Bad => None,
            kind => {
                let message = format!("expected the name of a macro, found {}", found(&kind));
                self.reporter.report(error(message, token.span, ""));
                None
            }
        }
    }

    fn define(&mut self) {
        let Some((name, span)) = self.macro_name() else { return };
        let Some(open) = self.files.last_mut() else { return };
        let mut body = line_tokens(&mut open.lexer, &mut self.reporter);
        let opening =
            body.first().filter(|it| it.kind == TokenKind::Punctuation("(") && it.span.start == span.end);
        let has_parameters = opening.is_some();
        if has_parameters {
            body.clear();
        }
        self.macros.insert(name, Macro { body: body.into(), has_parameters });
    }

    fn message(&mut self, word: &str, span: Span) {
        let Some(open) = self.files.last_mut() else { return };
        let (text, _) = open.lexer.rest_of_line();
        let message = if text.is_empty() { format!("`#{word}`") } else { text };
        let message = if word == "error" { error(message, span, "") } else { warning(message, span, "") };
        self.reporter.report(message);
    }

    fn line(&mut self) {
        let Some(open) = self.files.last_mut() else { return };
        let token = open.lexer.next_on_line(&mut self.reporter);
        match token.kind {
            TokenKind::Integer(number) => self.renumber(number, token.span),
            TokenKind::Bad => {}
            _ => self.reporter.report(error("expected a line number after `#line`", token.span, "")),
        }
    }

    fn renumber(&mut self, number: u64, span: Span) {
        let Some(open) = self.files.last_mut() else { return };
        let path = match open.lexer.next_on_line(&mut self.reporter).kind {
            TokenKind::String(path) => Some(path.to_string()),
            _ => None,
        };
        self.reporter.sources.renumber(span, u32::try_from(number).unwrap_or(u32::MAX), path);
    }

    /// What a macro that names a file stands for, perhaps by way of other macros, in the place of its name.
    fn behind_macros(&self, token: Token) -> Token {
        let (span, mut token) = (token.span, token);
        for _ in 0..limits::MACRO_DEPTH {
            let found = self.macros.get(self.reporter.sources.slice(token.span));
            let Some(first) = found.and_then(|found| found.body.first()) else { break };
            token = first.clone();
        }
        Token { span, ..token }
    }

    fn include(&mut self, directive: Span) {
        let Some(open) = self.files.last_mut() else { return };
        let from = open.lexer.file();
        let (name, span, quoted) = match open.lexer.bracketed(&mut self.reporter) {
            Some((name, span)) => (name, span, false),
            None => {
                let mut tokens = line_tokens(&mut open.lexer, &mut self.reporter).into_iter();
                let token = tokens.next();
                let token = token.map(|it| self.behind_macros(it));
                match token.map(|it| (it.kind, it.span)) {
                    Some((TokenKind::String(name), span)) => (name.to_string(), span, true),
                    Some((TokenKind::Bad, _)) => return,
                    other => {
                        let span = other.map_or(directive, |(_, span)| span);
                        let label = "write `#include \"file.idl\"` or `#include <file.idl>`";
                        self.reporter.report(error("expected the name of a file", span, label));
                        return;
                    }
                }
            }
        };
        self.include_named(&name, from, quoted, span);
    }

    /// Includes a file before the first line of the main file.
    pub(crate) fn include_first(&mut self, name: &str) {
        let main = FileId(0);
        self.include_named(name, main, false, Span { file: main, start: 0, end: 0 });
    }

    fn include_named(&mut self, name: &str, from: FileId, quoted: bool, span: Span) {
        self.inclusions += 1;
        if self.files.len() > limits::INCLUDE_DEPTH || self.inclusions > limits::INCLUSIONS {
            let message = if self.files.len() > limits::INCLUDE_DEPTH {
                format!("files include each other more than {} deep", limits::INCLUDE_DEPTH)
            } else {
                format!("more than {} inclusions", limits::INCLUSIONS)
            };
            let label = "is a guard missing: `#ifndef X`, `#define X`, `#endif`?";
            self.reporter.stop(error(message, span, label));
            return;
        }
        let loaded = self.loader.include(name, self.reporter.sources.path(from), quoted);
        let (path, text) = match loaded {
            Ok(Some(loaded)) => (loaded.path, loaded.text),
            Ok(None) if let Some((_, path, text)) = BUILT_IN.iter().find(|it| it.0 == name) => {
                ((*path).into(), (*text).into())
            }
            Ok(None) => {
                let label = "no folder of the search path has it";
                self.reporter.report(error(format!("cannot find `{name}`"), span, label));
                return;
            }
            Err(reason) => {
                self.reporter.report(error(format!("cannot read `{name}`"), span, reason));
                return;
            }
        };
        self.text += text.len();
        if self.text > limits::TEXT {
            let message = format!("more than {} MiB of text with this file", limits::TEXT >> 20);
            self.reporter.stop(error(message, span, ""));
            return;
        }
        let file = self.reporter.sources.add(&path, &text);
        if self.once.contains(&file) {
            return;
        }
        self.pending.push_back(Token { kind: TokenKind::EnterFile, span, comments: Vec::new() });
        self.open(file);
    }
}

impl Expansion {
    fn step(&mut self) -> Option<Token> {
        let mut token = self.body.get(self.next)?.clone();
        self.next += 1;
        token.comments = std::mem::take(&mut self.comments);
        Some(token)
    }
}

/// The tokens up to the end of the line.
fn line_tokens(lexer: &mut Lexer, to: &mut Reporter) -> Vec<Token> {
    let tokens = std::iter::from_fn(|| Some(lexer.next_on_line(to)));
    tokens.take_while(|token| token.kind != TokenKind::End).collect()
}

/// How an error about a directive names a token.
fn found(kind: &TokenKind) -> String {
    if *kind == TokenKind::End { "the end of the line".into() } else { kind.describe() }
}
