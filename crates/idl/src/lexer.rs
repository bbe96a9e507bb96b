//! One file's text, cut into tokens. CORBA 3.4 part 1, 7.2.
//!
//! The lexer knows lines only as far as the preprocessor needs: it can stop at the end of a directive's line.
//! What the tokens mean, macros and includes are the preprocessor's.

mod literal;

use std::sync::Arc;

use crate::diagnostics::{Reporter, error, warning};
use crate::limits;
use crate::source::{FileId, Span};
use crate::token::{KEYWORDS, LATER_KEYWORDS, PUNCTUATION, Token, TokenKind};

/// Reads one file from its start to its end.
pub(crate) struct Lexer {
    file: FileId,
    text: Arc<str>,
    at: usize,
    /// Nothing but space was read since the last line break.
    line_start: bool,
    /// The end of a line with a quote that is not closed: the quotes before it are not looked at again.
    unclosed: usize,
}

impl Lexer {
    pub(crate) fn new(file: FileId, text: Arc<str>) -> Self {
        Lexer { file, text, at: 0, line_start: true, unclosed: 0 }
    }

    pub(crate) fn file(&self) -> FileId {
        self.file
    }

    /// The next token, or `End`. A `#` that opens a directive is the token `#` with `true`.
    pub(crate) fn next(&mut self, to: &mut Reporter) -> (Token, bool) {
        let mut comments = Vec::new();
        self.skip_space(&mut comments, false, to);
        let directive = self.line_start && self.rest().starts_with('#');
        self.line_start = false;
        let start = self.at;
        let kind = self.token(to);
        (Token { kind, span: self.span_from(start), comments }, directive)
    }

    /// The next token of this line; `End` at its end.
    pub(crate) fn next_on_line(&mut self, to: &mut Reporter) -> Token {
        let mut comments = Vec::new();
        self.skip_space(&mut comments, true, to);
        let start = self.at;
        let kind = if self.rest().is_empty() || self.rest().starts_with('\n') {
            TokenKind::End
        } else {
            self.token(to)
        };
        Token { kind, span: self.span_from(start), comments }
    }

    /// The rest of this line as it is, without the line break, which is left.
    pub(crate) fn rest_of_line(&mut self) -> (String, Span) {
        let mut line = String::new();
        let start = self.at;
        while let Some(next) = self.rest().chars().next() {
            if let Some(joined) = self.continuation() {
                self.at += joined;
            } else if next == '\n' {
                break;
            } else {
                line.push(next);
                self.at += next.len_utf8();
            }
        }
        let span = self.span_from(start);
        let space = line.len() - line.trim_start().len();
        (line.trim().into(), Span { start: span.start + space as u32, ..span })
    }

    /// Passes over lines of a conditional group that is not wanted, up to the `#` of the next directive, which is
    /// read; false at the end of the file. Comments are looked at, since they may hold what resembles directives.
    pub(crate) fn skip_to_directive(&mut self, to: &mut Reporter) -> bool {
        loop {
            self.skip_space(&mut Vec::new(), false, to);
            let Some(next) = self.rest().chars().next() else { return false };
            if self.line_start && next == '#' {
                self.at += 1;
                self.line_start = false;
                return true;
            }
            self.line_start = false;
            match next {
                // A quoted `/*` opens no comment. What is not closed on its line is an apostrophe in prose.
                '"' | '\'' => self.skip_quoted(next),
                _ => self.at += next.len_utf8(),
            }
        }
    }

    /// Passes over the rest of the line and its break.
    pub(crate) fn finish_line(&mut self) {
        self.rest_of_line();
        self.end_line();
    }

    /// Reads the line break, if one is next.
    fn end_line(&mut self) {
        if self.rest().starts_with('\n') {
            self.at += 1;
            self.line_start = true;
        }
    }

    /// An empty span at the place that is read next.
    pub(crate) fn here(&self) -> Span {
        self.span_from(self.at)
    }

    /// `<name>` after `#include`, if that is next.
    pub(crate) fn bracketed(&mut self, to: &mut Reporter) -> Option<(String, Span)> {
        self.skip_space(&mut Vec::new(), true, to);
        let name = self.rest().strip_prefix('<')?;
        let end = name.find(['>', '\n']).filter(|end| name[*end..].starts_with('>'))?;
        let (start, name) = (self.at, name[..end].to_string());
        self.at += end + 2;
        Some((name, self.span_from(start)))
    }

    /// Passes over quoted text, or, if that is not closed on its line, over the line as far as a comment.
    fn skip_quoted(&mut self, quote: char) {
        let mut escaped = false;
        let mut comment = None;
        self.at += 1;
        if self.at < self.unclosed {
            return;
        }
        for (at, next) in self.text[self.at..].char_indices() {
            match next {
                '\n' => {
                    self.unclosed = self.at + at;
                    self.at += comment.unwrap_or(at);
                    return;
                }
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if next == quote => {
                    self.at += at + 1;
                    return;
                }
                '/' if comment.is_none() && self.text[self.at + at..].starts_with("/*") => comment = Some(at),
                _ => {}
            }
        }
        self.unclosed = self.text.len();
        self.at += comment.unwrap_or(self.rest().len());
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    /// The length of a backslash and the line break that it joins over, if that is next.
    fn continuation(&self) -> Option<usize> {
        let rest = self.rest().strip_prefix('\\')?;
        if rest.starts_with('\n') { Some(2) } else { rest.starts_with("\r\n").then_some(3) }
    }

    /// Passes over white space, joined lines and comments; with `one_line`, not over a line break.
    fn skip_space(&mut self, comments: &mut Vec<Span>, one_line: bool, to: &mut Reporter) {
        while let Some(next) = self.rest().chars().next() {
            let start = self.at;
            if let Some(joined) = self.continuation() {
                self.at += joined;
            } else if next == '\n' {
                if one_line {
                    return;
                }
                self.end_line();
            } else if next.is_whitespace() || next == '\u{feff}' || next == '\x1a' {
                self.at += next.len_utf8();
            } else if self.rest().starts_with("//") {
                self.skip_line_comment();
                comments.push(self.span_from(start));
            } else if self.rest().starts_with("/*") {
                match self.rest()[2..].find("*/") {
                    Some(end) => self.at += 2 + end + 2,
                    None => {
                        self.at += 2;
                        let span = self.span_from(start);
                        self.at = self.text.len();
                        to.report(error("comment without end", span, "`*/` is missing"));
                    }
                }
                comments.push(self.span_from(start));
            } else {
                return;
            }
        }
    }

    fn skip_line_comment(&mut self) {
        loop {
            match self.rest().find('\n') {
                None => self.at = self.text.len(),
                Some(end) => {
                    let line = self.rest()[..end].trim_end_matches('\r');
                    let joined = line.ends_with('\\');
                    self.at += end;
                    if joined {
                        self.at += 1;
                        continue;
                    }
                }
            }
            return;
        }
    }

    fn token(&mut self, to: &mut Reporter) -> TokenKind {
        let Some(first) = self.rest().chars().next() else { return TokenKind::End };
        let second = self.rest()[first.len_utf8()..].chars().next().unwrap_or(' ');
        match first {
            'L' if second == '\'' || second == '"' => {
                self.at += 1;
                if second == '"' { self.string(true, to) } else { self.character(true, to) }
            }
            '"' => self.string(false, to),
            '\'' => self.character(false, to),
            '0'..='9' => self.number(to),
            '.' if second.is_ascii_digit() => self.number(to),
            _ if is_word(first) => self.word(to),
            _ => self.punctuation(first, to),
        }
    }

    /// Reads letters, digits and underscores.
    fn take_word(&mut self) -> String {
        let end = self.rest().find(|next| !is_word(next)).unwrap_or(self.rest().len());
        let word = self.rest()[..end].to_string();
        self.at += end;
        word
    }

    fn word(&mut self, to: &mut Reporter) -> TokenKind {
        let start = self.at;
        let word = self.take_word();
        let span = self.span_from(start);
        if word.len() > limits::IDENTIFIER {
            let limit = limits::IDENTIFIER;
            to.report(error(format!("identifier longer than {limit} characters"), span, ""));
            return TokenKind::Bad;
        }
        if let Some(bad) = word.chars().find(|it| !it.is_ascii()) {
            let message = format!("`{bad}` cannot be part of an identifier");
            to.report(error(message, span, "identifiers are ASCII letters, digits and underscores"));
            return TokenKind::Bad;
        }
        match word.strip_prefix('_') {
            None => keyword(&word, span, to).unwrap_or_else(|| TokenKind::Identifier(word.into())),
            Some(escaped) if escaped.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                TokenKind::Identifier(escaped.into())
            }
            // Macros of include guards look like this; the parser rejects it where it matters.
            Some(_) => TokenKind::Identifier(word.into()),
        }
    }

    fn punctuation(&mut self, first: char, to: &mut Reporter) -> TokenKind {
        match PUNCTUATION.iter().find(|it| self.rest().starts_with(**it)) {
            Some(found) => {
                self.at += found.len();
                TokenKind::Punctuation(found)
            }
            None => {
                let start = self.at;
                self.at += first.len_utf8();
                let span = self.span_from(start);
                to.report(error(format!("`{}` has no meaning in IDL", first.escape_debug()), span, ""));
                TokenKind::Bad
            }
        }
    }
}

fn is_word(next: char) -> bool {
    next.is_alphanumeric() || next == '_'
}

/// The keyword that a word is, or `None`. A word that differs from a keyword only in case is neither (7.2.4); it is
/// reported and read as an identifier.
fn keyword(word: &str, span: Span, to: &mut Reporter) -> Option<TokenKind> {
    if let Some(keyword) = KEYWORDS.iter().find(|it| it.eq_ignore_ascii_case(word)) {
        if *keyword == word {
            return Some(TokenKind::Keyword(keyword));
        }
        let help = format!("write `{keyword}` for the keyword, `_{word}` for an identifier");
        let message = format!("`{word}` differs from the keyword `{keyword}` only in case");
        let later = LATER_KEYWORDS.contains(keyword);
        to.report(if later { warning(message, span, help) } else { error(message, span, help) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> (Vec<TokenKind>, usize) {
        let mut to = Reporter::default();
        let file = to.sources.add("a.idl", text.as_bytes());
        let mut lexer = Lexer::new(file, to.sources.text(file));
        let mut found = Vec::new();
        loop {
            match lexer.next(&mut to).0.kind {
                TokenKind::End => return (found, to.finish().len()),
                kind => found.push(kind),
            }
        }
    }

    fn one(text: &str) -> TokenKind {
        let (found, errors) = tokens(text);
        assert_eq!((found.len(), errors), (1, 0), "{text}: {found:?}");
        found.into_iter().next().expect("one")
    }

    #[test]
    fn literals_have_their_values() {
        use crate::model::FixedValue;
        let fixed = |unscaled, scale| TokenKind::Fixed(FixedValue { unscaled, scale });
        for (text, token) in [
            ("0", TokenKind::Integer(0)),
            ("012", TokenKind::Integer(10)),
            ("0xfF", TokenKind::Integer(255)),
            ("18446744073709551615", TokenKind::Integer(u64::MAX)),
            ("1.5", TokenKind::Float("1.5".into())),
            ("1.", TokenKind::Float("1.".into())),
            (".5e1", TokenKind::Float(".5e1".into())),
            ("1e-2", TokenKind::Float("1e-2".into())),
            ("12.50d", fixed(1250, 2)),
            ("7D", fixed(7, 0)),
            (".05d", fixed(5, 2)),
            ("'a'", TokenKind::Char(b'a')),
            (r"'\''", TokenKind::Char(b'\'')),
            (r"'\377'", TokenKind::Char(255)),
            (r"'\x41'", TokenKind::Char(0x41)),
            ("'é'", TokenKind::Char(0xe9)),
            ("L'€'", TokenKind::WChar(0x20ac)),
            (r"L'\u20AC'", TokenKind::WChar(0x20ac)),
            (r#""a\tb\x41\101""#, TokenKind::String("a\tbAA".into())),
            (r#"L"\u20acx""#, TokenKind::WString("€x".into())),
            (r#"L"\ud83d\ude00""#, TokenKind::WString("😀".into())),
            ("_struct", TokenKind::Identifier("struct".into())),
            ("long", TokenKind::Keyword("long")),
        ] {
            assert_eq!(one(text), token, "{text}");
        }
    }

    #[test]
    fn what_is_no_token_is_one_error() {
        for text in [
            "09",
            "0x",
            "1x",
            "18446744073709551616",
            "1e",
            "1e",
            "'",
            "''",
            "'ab'",
            "'€'",
            r"'\u20ac'",
            r"'\777'",
            r"'\q'",
            "\"abc",
            "\"€\"",
            "\"\\0\"",
            r#"L"\ud800""#,
            "$",
            "größe",
            "/* x",
            "Long",
            "1.5x",
            "12345678901234567890123456789012d",
        ] {
            assert_eq!(tokens(text).1, 1, "{text}: {:?}", tokens(text).0);
        }
    }
}
