//! Numbers, characters and strings. CORBA 3.4 part 1, 7.2.6.

use super::{Lexer, is_word};
use crate::diagnostics::{Reporter, error};
use crate::limits;
use crate::model::FixedValue;
use crate::token::TokenKind;

impl Lexer {
    pub(super) fn number(&mut self, to: &mut Reporter) -> TokenKind {
        let start = self.at;
        let mut exponent = false;
        let hexadecimal = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        for (at, next) in self.rest().char_indices().chain([(self.rest().len(), ' ')]) {
            let sign = (next == '+' || next == '-') && exponent && !hexadecimal;
            if !(is_word(next) || next == '.' || sign) {
                self.at += at;
                break;
            }
            exponent = next == 'e' || next == 'E';
        }
        let text = self.text[start..self.at].to_string();
        let found = if hexadecimal {
            integer(&text[2..], 16)
        } else if let Some(decimal) = text.strip_suffix(['d', 'D']) {
            fixed(decimal)
        } else if text.contains(['.', 'e', 'E']) {
            float(&text)
        } else if text.len() > 1 && text.starts_with('0') {
            integer(&text[1..], 8)
        } else {
            integer(&text, 10)
        };
        found.unwrap_or_else(|reason| {
            to.report(error(
                format!("`{}` is not a number", abbreviate(&text)),
                self.span_from(start),
                reason,
            ));
            TokenKind::Bad
        })
    }

    pub(super) fn character(&mut self, wide: bool, to: &mut Reporter) -> TokenKind {
        let start = self.at;
        let Some(units) = self.quoted('\'', wide, to) else { return TokenKind::Bad };
        match (units.as_slice(), wide) {
            ([unit], true) => TokenKind::WChar(*unit),
            ([unit], false) => TokenKind::Char(*unit as u8),
            ([], _) => {
                let label = "write the character between the quotes";
                to.report(error("empty character literal", self.span_from(start), label));
                TokenKind::Bad
            }
            _ => {
                let label =
                    if wide { "write `L\"...\"` for a string" } else { "write `\"...\"` for a string" };
                to.report(error("more than one character between quotes", self.span_from(start), label));
                TokenKind::Bad
            }
        }
    }

    pub(super) fn string(&mut self, wide: bool, to: &mut Reporter) -> TokenKind {
        let start = self.at;
        let Some(units) = self.quoted('"', wide, to) else { return TokenKind::Bad };
        let span = self.span_from(start);
        if units.contains(&0) {
            to.report(error("NUL in a string", span, "no character of a string may be NUL"));
            return TokenKind::Bad;
        }
        if units.len() > limits::STRING {
            to.report(error(format!("string longer than {} characters", limits::STRING), span, ""));
            return TokenKind::Bad;
        }
        match String::from_utf16(&units) {
            Ok(text) if wide => TokenKind::WString(text.into()),
            Ok(text) => TokenKind::String(text.into()),
            Err(_) => {
                to.report(error("half of a surrogate pair in a string", span, ""));
                TokenKind::Bad
            }
        }
    }

    /// What stands between quotes, as UTF-16 units; those of a narrow literal are below 256. `None` was reported.
    fn quoted(&mut self, quote: char, wide: bool, to: &mut Reporter) -> Option<Vec<u16>> {
        let start = self.at;
        let mut units = Vec::new();
        let mut good = true;
        self.at += 1;
        loop {
            if let Some(joined) = self.continuation() {
                self.at += joined;
                continue;
            }
            let from = self.at;
            let next = self.rest().chars().next().filter(|next| *next != '\n');
            let Some(next) = next else {
                let label = format!("`{quote}` is missing on this line");
                to.report(error("literal without end", self.span_from(start), label));
                return None;
            };
            self.at += next.len_utf8();
            if next == quote {
                return good.then_some(units);
            }
            let unit = if next == '\\' { self.escape(wide) } else { Ok(next as u32) };
            let problem = match unit {
                Ok(unit) if wide => {
                    let mut buffer = [0; 2];
                    match char::from_u32(unit) {
                        Some(character) => units.extend_from_slice(character.encode_utf16(&mut buffer)),
                        None => units.push(unit as u16),
                    }
                    None
                }
                Ok(unit @ 0..=255) => {
                    units.push(unit as u16);
                    None
                }
                Ok(_) => {
                    let literal = if quote == '"' { "L\"...\"" } else { "L'...'" };
                    Some((
                        format!("`{next}` is not in ISO 8859-1, the code set of char and string"),
                        format!("write `{literal}` for a wide literal"),
                    ))
                }
                Err(label) => Some(("unknown escape sequence".into(), label.into())),
            };
            if let Some((message, label)) = problem {
                if good {
                    to.report(error(message, self.span_from(from), label));
                }
                good = false;
            }
        }
    }

    /// What follows a backslash, table 7-9.
    fn escape(&mut self, wide: bool) -> Result<u32, &'static str> {
        let Some(next) = self.rest().chars().next().filter(|next| *next != '\n') else {
            return Err("a backslash ends no line here");
        };
        if next.is_digit(8) {
            return match self.digits(8, 3) {
                Some(value @ 0..=255) => Ok(value),
                _ => Err("octal escapes reach up to `\\377`"),
            };
        }
        self.at += next.len_utf8();
        Ok(match next {
            'n' => 0x0a,
            't' => 0x09,
            'v' => 0x0b,
            'b' => 0x08,
            'r' => 0x0d,
            'f' => 0x0c,
            'a' => 0x07,
            '\\' | '?' | '\'' | '"' => next as u32,
            'x' => return self.digits(16, 2).ok_or("one or two hexadecimal digits follow `\\x`"),
            'u' if wide => return self.digits(16, 4).ok_or("one to four hexadecimal digits follow `\\u`"),
            'u' => return Err("`\\u` is for wide literals: write `L` before the quote"),
            _ => {
                return Err(
                    "the escapes are \\n \\t \\v \\b \\r \\f \\a \\\\ \\? \\' \\\" \\ooo \\xhh and, if wide, \\uhhhh",
                );
            }
        })
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let count = self.rest().chars().take(most).take_while(|next| next.is_digit(radix)).count();
        let value = u32::from_str_radix(&self.rest()[..count], radix).ok();
        self.at += count;
        value
    }
}

type Number = Result<TokenKind, &'static str>;

fn integer(digits: &str, radix: u32) -> Number {
    if digits.is_empty() || !digits.chars().all(|next| next.is_digit(radix)) {
        return Err(match radix {
            16 => "hexadecimal digits follow `0x`",
            8 => "a number that starts with 0 is octal: digits 0 to 7",
            _ => "a number has digits only; a name starts with a letter",
        });
    }
    u64::from_str_radix(digits, radix)
        .map(TokenKind::Integer)
        .map_err(|_| "larger than unsigned long long, 2^64 - 1")
}

fn float(text: &str) -> Number {
    if text.len() > limits::FLOAT {
        return Err("longer than the 12,000 characters that any long double can be written with");
    }
    // Its form only: the type that it is computed in is not known here.
    match text.parse::<f64>() {
        Ok(_) => Ok(TokenKind::Float(text.into())),
        Err(_) => Err("a floating-point literal looks like `1.5`, `.5` or `1e-3`"),
    }
}

fn fixed(text: &str) -> Number {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err("a fixed-point literal looks like `12.50d`");
    }
    let significant = digits.trim_start_matches('0');
    if significant.len() > 31 || fraction.len() > 31 {
        return Err("a fixed-point number has at most 31 digits");
    }
    let unscaled = significant.parse().unwrap_or(0);
    Ok(TokenKind::Fixed(FixedValue { unscaled, scale: fraction.len() as u16 }))
}

fn abbreviate(text: &str) -> String {
    if text.len() <= 40 { text.into() } else { text.chars().take(37).chain("...".chars()).collect() }
}
