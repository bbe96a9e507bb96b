//! Comments of the IDL as documentation of the Rust.
//!
//! The text is the user's, written for no particular tool: what Markdown and rustdoc would take for markup
//! (links, HTML, indented code that would run as a test) is made plain.

use proc_macro2::TokenStream;
use quote::quote;

/// Doc attributes for `comment`, or for `otherwise` where the IDL has none; `more` follows as paragraphs of its own.
pub(crate) fn doc(comment: &str, otherwise: &str, more: &[String]) -> TokenStream {
    let mut lines = plain(comment);
    if lines.is_empty() {
        lines.push(otherwise.to_owned());
    }
    for paragraph in more {
        lines.push(String::new());
        lines.push(paragraph.clone());
    }
    let lines = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote! { #(#[doc = #lines])* }
}

/// The lines of a comment, without anything that Markdown would act on, and without empty ones at either end.
fn plain(comment: &str) -> Vec<String> {
    let mut lines: Vec<String> = comment.lines().map(line).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..empty);
    lines
}

fn line(text: &str) -> String {
    let text = text.trim();
    // A rule or the underline of a heading would turn the line before it into a heading.
    if text.len() > 1 && text.chars().all(|letter| "-=*_~`#".contains(letter)) {
        return String::new();
    }
    let mut plain = String::with_capacity(text.len());
    if text.starts_with(['#', '>', '|']) || text.starts_with("```") || text.starts_with("~~~") {
        plain.push('\\');
    }
    // Between backticks nothing is markup, provided that they come in pairs.
    let pairs = text.matches('`').count().is_multiple_of(2);
    let mut code = false;
    for letter in text.chars() {
        match letter {
            '`' => code = pairs && !code,
            '<' | '[' if !code => plain.push('\\'),
            _ => {}
        }
        plain.push(if letter.is_control() { ' ' } else { letter });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_plain_text() {
        assert_eq!(
            plain("\n  takes sequence<long>\n\n      indented [code]\n---\n"),
            ["takes sequence\\<long>", "", "indented \\[code]"]
        );
        assert_eq!(plain("# heading"), ["\\# heading"]);
        assert_eq!(plain("a `sequence<long>`"), ["a `sequence<long>`"]);
        assert_eq!(plain("```idl"), ["\\```idl"]);
        assert!(plain(" \n\n").is_empty());
    }
}
