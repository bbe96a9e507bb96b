//! Constant expressions, read into postfix order.

use super::{Parsed, Parser};
use crate::syntax::{Expression, Step};
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.expression_from(0)
    }

    /// An expression before a `>` that closes a list: shifts to the right are not looked for, so that
    /// `sequence<string<3>>` closes twice. Inside parentheses they are.
    pub(super) fn bound(&mut self) -> Parsed<Expression> {
        self.expression_from(strength(">>").map_or(0, |it| it + 1))
    }

    fn expression_from(&mut self, weakest: u8) -> Parsed<Expression> {
        let start = self.span();
        let mut steps = Vec::new();
        self.binary(weakest, &mut steps)?;
        Ok(Expression { steps, span: start.to(self.previous) })
    }

    fn binary(&mut self, weakest: u8, to: &mut Vec<(Step, crate::Span)>) -> Parsed<()> {
        self.unary(to)?;
        loop {
            let TokenKind::Punctuation(operator) = *self.peek() else { return Ok(()) };
            let Some(strength) = strength(operator).filter(|it| *it >= weakest) else { return Ok(()) };
            let span = self.take().span;
            // At most one level for each strength: the loop takes those of the same.
            self.binary(strength + 1, to)?;
            to.push((Step::Binary(operator), span));
        }
    }

    fn unary(&mut self, to: &mut Vec<(Step, crate::Span)>) -> Parsed<()> {
        let mut signs = Vec::new();
        while let TokenKind::Punctuation(sign @ ("-" | "+" | "~")) = *self.peek() {
            signs.push((Step::Unary(sign), self.take().span));
        }
        self.primary(to)?;
        to.extend(signs.into_iter().rev());
        Ok(())
    }

    fn primary(&mut self, to: &mut Vec<(Step, crate::Span)>) -> Parsed<()> {
        let step = match self.peek().clone() {
            TokenKind::Punctuation("(") => {
                self.take();
                self.nested(|it| it.binary(0, to))?;
                self.expect(")", "to close the parenthesis")?;
                return Ok(());
            }
            TokenKind::Identifier(_) | TokenKind::Punctuation("::") => {
                let name = self.scoped_name()?;
                let span = name.span;
                to.push((Step::Name(name), span));
                return Ok(());
            }
            TokenKind::String(first) => {
                let (text, span) = self.string("")?;
                to.push((Step::String(if text.len() == first.len() { first } else { text.into() }), span));
                return Ok(());
            }
            TokenKind::WString(_) => {
                let start = self.span();
                let mut text = String::new();
                while let TokenKind::WString(part) = self.peek() {
                    text.push_str(part);
                    self.take();
                }
                to.push((Step::WString(text.into()), start.to(self.previous)));
                return Ok(());
            }
            TokenKind::Keyword("TRUE") => Step::Boolean(true),
            TokenKind::Keyword("FALSE") => Step::Boolean(false),
            TokenKind::Integer(value) => Step::Integer(value),
            TokenKind::Float(value) => Step::Float(value),
            TokenKind::Fixed(value) => Step::Fixed(value),
            TokenKind::Char(value) => Step::Char(value),
            TokenKind::WChar(value) => Step::WChar(value),
            _ => return Err(self.unexpected("a constant expression")),
        };
        to.push((step, self.take().span));
        Ok(())
    }
}

/// How strongly an operator binds; `None` if it is none.
fn strength(operator: &str) -> Option<u8> {
    Some(match operator {
        "|" => 1,
        "^" => 2,
        "&" => 3,
        ">>" | "<<" => 4,
        "+" | "-" => 5,
        "*" | "/" | "%" => 6,
        _ => return None,
    })
}
