//! `#pragma`. CORBA 3.4 part 1, 14.7.5.

use super::Preprocessor;
use crate::diagnostics::{error, warning};
use crate::source::Span;
use crate::token::{Pragma, Token, TokenKind};

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, directive: Span) {
        let Some(open) = self.files.last_mut() else { return };
        let file = open.lexer.file();
        let (line, span) = open.lexer.rest_of_line();
        let (word, rest) = split(&line);
        let pragma = match word {
            "prefix" => quoted(rest).map(|prefix| Pragma::Prefix { prefix, span }),
            "ID" => {
                let (name, rest) = split(rest);
                quoted(rest).filter(|_| is_name(name)).map(|id| Pragma::Id { name: name.into(), id, span })
            }
            "version" => {
                let (name, rest) = split(rest);
                let (version, _) = split(rest);
                let version = is_version(version).then(|| version.to_string()).filter(|_| is_name(name));
                version.map(|version| Pragma::Version { name: name.into(), version, span })
            }
            "once" => {
                self.once.insert(file);
                return;
            }
            "" => return,
            _ => {
                let message = format!("unknown pragma `{word}` ignored");
                self.reporter.report(warning(message, directive.to(span), ""));
                return;
            }
        };
        match pragma {
            Some(pragma) => {
                let kind = TokenKind::Pragma(pragma.into());
                self.pending.push_back(Token { kind, span, comments: Vec::new() });
            }
            None => {
                let label = match word {
                    "prefix" => "write `#pragma prefix \"example.com\"`",
                    "ID" => "write `#pragma ID Name \"IDL:example.com/Name:1.0\"`",
                    _ => "write `#pragma version Name 1.0`",
                };
                self.reporter.report(error(format!("malformed pragma `{word}`"), span, label));
            }
        }
    }
}

/// The first word and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|next: char| next.is_whitespace()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The text between the quotes that `rest` starts with.
fn quoted(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix('"')?;
    let text = &rest[..rest.find('"')?];
    (!text.contains('\\')).then(|| text.to_string())
}

fn is_name(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::").all(|part| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    })
}

/// Two numbers of 16 bits with a dot between.
pub(crate) fn is_version(version: &str) -> bool {
    let number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()) && text.parse::<u16>().is_ok();
    version.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor))
}
