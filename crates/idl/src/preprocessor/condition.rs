//! `#if` and its kin: which groups of lines are read, and the expressions that decide.

use std::collections::HashMap;

use super::{Condition, Macro, Preprocessor, line_tokens};
use crate::diagnostics::{Reporter, error};
use crate::limits;
use crate::source::Span;
use crate::token::{Token, TokenKind};

impl Preprocessor<'_> {
    /// After `#if`: reads the group, or passes over groups up to one that is wanted.
    pub(super) fn begin_group(&mut self, opened: Span, wanted: bool) {
        let Some(open) = self.files.last_mut() else { return };
        open.conditions.push(Condition { opened, taken: wanted, has_else: false });
        if !wanted {
            self.skip_groups();
        }
    }

    /// Takes note of an `#elif` or `#else`; false, after an error, if no `#if` is open.
    pub(super) fn next_group(&mut self, word: &str, span: Span) -> bool {
        let Some(condition) = self.files.last_mut().and_then(|open| open.conditions.last_mut()) else {
            self.reporter.report(error(format!("`#{word}` without `#if`"), span, ""));
            return false;
        };
        if condition.has_else {
            let message = format!("`#{word}` after `#else`");
            self.reporter.report(error(message, span, "").see(condition.opened, "of this conditional"));
        }
        condition.has_else |= word == "else";
        true
    }

    pub(super) fn end_group(&mut self, span: Span) {
        if self.files.last_mut().and_then(|open| open.conditions.pop()).is_none() {
            self.reporter.report(error("`#endif` without `#if`", span, ""));
        }
    }

    /// Passes over groups until one is wanted or the conditional ends. Conditionals inside are passed over too.
    pub(super) fn skip_groups(&mut self) {
        let mut inner = 0usize;
        loop {
            let Some(open) = self.files.last_mut() else { return };
            if !open.lexer.skip_to_directive(&mut self.reporter) {
                return;
            }
            let name = open.lexer.next_on_line(&mut self.reporter);
            let word = self.reporter.sources.slice(name.span).to_string();
            match word.as_str() {
                "if" | "ifdef" | "ifndef" => inner += 1,
                "endif" if inner > 0 => inner -= 1,
                "endif" => return self.end_group(name.span),
                "elif" | "else" if inner == 0 => {
                    self.next_group(&word, name.span);
                    let taken = self.condition_taken();
                    if !taken && (word == "else" || self.condition(name.span)) {
                        if let Some(condition) = self.files.last_mut().and_then(|it| it.conditions.last_mut())
                        {
                            condition.taken = true;
                        }
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn condition_taken(&self) -> bool {
        self.files.last().and_then(|open| open.conditions.last()).is_none_or(|it| it.taken)
    }

    /// The truth of the expression on the rest of the line; false after an error.
    pub(super) fn condition(&mut self, directive: Span) -> bool {
        let Some(open) = self.files.last_mut() else { return false };
        let tokens = line_tokens(&mut open.lexer, &mut self.reporter);
        if tokens.iter().any(|it| it.kind == TokenKind::Bad) {
            return false;
        }
        let mut expanded = Vec::new();
        let mut expander =
            Expander { macros: &self.macros, reporter: &mut self.reporter, names: Vec::new(), steps: 0 };
        let result = expander.expand(&tokens, &mut expanded).and_then(|()| {
            let end = expanded.last().map_or(directive, |it| it.span.after());
            let mut reader = Reader { tokens: &expanded, at: 0, end, depth: 0 };
            let value = reader.ternary(true)?;
            if reader.at < expanded.len() { Err(reader.unexpected()) } else { Ok(value) }
        });
        result.map(|value| value != 0).unwrap_or_else(|(message, span)| {
            self.reporter.report(error(message, span, "in the condition of this directive"));
            false
        })
    }
}

type Problem = (String, Span);

/// Replaces macros and `defined`; all other words become 0, as in C.
struct Expander<'a> {
    macros: &'a HashMap<String, Macro>,
    reporter: &'a mut Reporter,
    /// The macros that are being expanded.
    names: Vec<String>,
    steps: usize,
}

/// Tokens looked at to expand one condition: conditions in the field have a dozen.
const CONDITION: usize = 10_000;

impl Expander<'_> {
    fn expand(&mut self, tokens: &[Token], to: &mut Vec<Token>) -> Result<(), Problem> {
        let mut rest = tokens.iter();
        while let Some(token) = rest.next() {
            self.steps += 1;
            if self.steps > CONDITION || self.names.len() > limits::MACRO_DEPTH {
                return Err(("this condition expands to too much".into(), token.span));
            }
            let word = match token.kind {
                TokenKind::Identifier(_) | TokenKind::Keyword(_) => self.reporter.sources.slice(token.span),
                _ => {
                    to.push(token.clone());
                    continue;
                }
            };
            if word == "defined" {
                let mut name = rest.next();
                let bracket = name.is_some_and(|it| it.kind == TokenKind::Punctuation("("));
                if bracket {
                    name = rest.next();
                }
                let is_name =
                    |it: &&Token| matches!(it.kind, TokenKind::Identifier(_) | TokenKind::Keyword(_));
                let name = name.filter(is_name).ok_or(("`defined` wants a name".to_string(), token.span))?;
                let closed = !bracket || rest.next().is_some_and(|it| it.kind == TokenKind::Punctuation(")"));
                if !closed {
                    return Err(("`)` is missing after `defined(`".into(), name.span));
                }
                let known = self.macros.contains_key(self.reporter.sources.slice(name.span));
                to.push(Token { kind: TokenKind::Integer(known.into()), ..token.clone() });
            } else if let Some(found) =
                self.macros.get(word).filter(|_| !self.names.iter().any(|it| it == word))
            {
                if found.has_parameters {
                    return Err((format!("the macro `{word}` has parameters"), token.span));
                }
                self.names.push(word.to_string());
                let body = found.body.clone();
                self.expand(&body, to)?;
                self.names.pop();
            } else {
                let value = u64::from(token.kind == TokenKind::Keyword("TRUE"));
                to.push(Token { kind: TokenKind::Integer(value), ..token.clone() });
            }
        }
        Ok(())
    }
}

/// Reads an expression of integers. `live` is false in operands whose value does not count, such as the right one of
/// `0 &&`: they may divide by zero.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    end: Span,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &'static str {
        match self.tokens.get(self.at).map(|it| &it.kind) {
            Some(TokenKind::Punctuation(it)) => it,
            _ => "",
        }
    }

    fn unexpected(&self) -> Problem {
        match self.tokens.get(self.at) {
            Some(token) => (format!("unexpected {}", token.kind.describe()), token.span),
            None => ("the expression ends too early".into(), self.end),
        }
    }

    fn expect(&mut self, punctuation: &str) -> Result<(), Problem> {
        if self.peek() != punctuation {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn ternary(&mut self, live: bool) -> Result<i64, Problem> {
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err((format!("nested more than {} deep", limits::NESTING), self.end));
        }
        let condition = self.binary(0, live)?;
        let value = if self.peek() == "?" {
            self.at += 1;
            let yes = self.ternary(live && condition != 0)?;
            self.expect(":")?;
            let no = self.ternary(live && condition == 0)?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, weakest: u8, live: bool) -> Result<i64, Problem> {
        let mut left = self.unary(live)?;
        loop {
            let operator = self.peek();
            let Some(strength) = strength(operator).filter(|it| *it >= weakest) else { return Ok(left) };
            let span = self.tokens[self.at].span;
            self.at += 1;
            let counts = match operator {
                "&&" => live && left != 0,
                "||" => live && left == 0,
                _ => live,
            };
            let right = self.binary(strength + 1, counts)?;
            let value = apply(operator, left, right);
            left = match value {
                Some(value) => value,
                None if counts => return Err(("division by zero".into(), span)),
                None => 0,
            };
        }
    }

    fn unary(&mut self, live: bool) -> Result<i64, Problem> {
        let mut signs = Vec::new();
        while matches!(self.peek(), "!" | "-" | "+" | "~") {
            signs.push(self.peek());
            self.at += 1;
        }
        let value = match self.tokens.get(self.at).map(|it| &it.kind) {
            Some(TokenKind::Integer(value)) => {
                self.at += 1;
                *value as i64
            }
            Some(TokenKind::Char(value)) => {
                self.at += 1;
                i64::from(*value)
            }
            Some(TokenKind::Punctuation("(")) => {
                self.at += 1;
                let value = self.ternary(live)?;
                self.expect(")")?;
                value
            }
            _ => return Err(self.unexpected()),
        };
        Ok(signs.iter().rev().fold(value, |value, sign| match *sign {
            "!" => i64::from(value == 0),
            "-" => value.wrapping_neg(),
            "~" => !value,
            _ => value,
        }))
    }
}

fn strength(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

/// `None` is a division by zero.
fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.wrapping_shl(right as u32),
        ">>" => left.wrapping_shr(right as u32),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" if right != 0 => left.wrapping_div(right),
        "%" if right != 0 => left.wrapping_rem(right),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    fn is_true(condition: &str) -> Result<bool, String> {
        let text = format!("#if {condition}\nyes\n#endif\n");
        let loader = Memory::default();
        let defines = [("ONE".into(), "1".into()), ("TWO".into(), "(ONE + 1)".into())];
        let mut preprocessor = Preprocessor::new(&loader, "a.idl", text.as_bytes(), &defines);
        let token = preprocessor.next();
        let errors = preprocessor.reporter.finish();
        if errors.is_empty() { Ok(token.kind != TokenKind::End) } else { Err(errors.render(false)) }
    }

    #[test]
    fn conditions_follow_c() {
        for condition in [
            "1",
            "ONE",
            "TWO == 2",
            "defined ONE && defined(TWO)",
            "!defined(THREE)",
            "!THREE",
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "0 ? 0 : 1",
            "1 || 1 / 0",
            "!(0 && 1 % 0)",
            "1 << 4 == 16",
            "-1 < 0",
            "~0 == -1",
            "'A' == 65",
            "TRUE",
            "7 / 2 - 3 == 0",
        ] {
            assert_eq!(is_true(condition), Ok(true), "{condition}");
            assert_eq!(is_true(&format!("!({condition})")), Ok(false), "{condition}");
        }
    }

    #[test]
    fn what_is_no_condition_is_reported() {
        let deep = "(".repeat(10_000);
        for condition in
            ["", "1 +", "(1", "1 2", "1 / 0", "defined", "defined(1)", "defined(A", "\"x\"", &deep]
        {
            assert!(is_true(condition).is_err(), "{condition}");
        }
    }
}
