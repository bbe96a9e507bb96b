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
    if text.starts_with(['#', '>', '|']) || text.starts_with("~~~") {
        plain.push('\\');
    }
    // Between backticks nothing is markup, provided that they come one by one and in pairs. Others mean themselves.
    let pairs = text.matches('`').count().is_multiple_of(2) && !text.contains("``");
    let mut code = false;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if !code && let Some(url) = url(rest) {
            plain.push('<');
            plain.push_str(url);
            plain.push('>');
            rest = &rest[url.len()..];
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '`' if pairs => code = !code,
            '`' | '<' | '[' if !code => plain.push('\\'),
            // Before anything else a backslash means itself.
            '\\' if !code
                && (rest.is_empty()
                    || rest.starts_with(|next: char| next.is_ascii_punctuation())
                    || url(rest).is_some()) =>
            {
                plain.push('\\');
            }
            _ => {}
        }
        plain.push(if letter.is_control() { ' ' } else { letter });
    }
    plain
}

/// The web address that a text begins with, without the punctuation of the sentence that it ends.
fn url(text: &str) -> Option<&str> {
    if !["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
        return None;
    }
    let ends = |next: char| next.is_whitespace() || next.is_control() || "<>\"`\\".contains(next);
    let url =
        text.split(ends).next()?.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*', '_']);
    (!url.ends_with('/') || url.matches('/').count() > 2).then_some(url)
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
        assert_eq!(plain("```idl"), ["\\`\\`\\`idl"]);
        assert_eq!(plain("``[a]`` or ` [b]"), ["\\`\\`\\[a]\\`\\` or \\` \\[b]"]);
        // A backslash of the comment's own does not undo ours.
        assert_eq!(plain(r"\[q] C:\temp `\[q]` \"), [r"\\\[q] C:\temp `\[q]` \\"]);
        assert!(plain(" \n\n").is_empty());
    }

    #[test]
    fn web_addresses_are_links() {
        for (comment, expected) in [
            ("see http://example.org/a_b?c=d#e.", "see <http://example.org/a_b?c=d#e>."),
            ("(https://example.org)", "(<https://example.org>)"),
            ("<http://example.org>", "\\<<http://example.org>>"),
            ("[text](http://example.org)", "\\[text](<http://example.org>)"),
            ("\\http://example.org", "\\\\<http://example.org>"),
            ("`http://example.org`", "`http://example.org`"),
            ("http:// and https:// and http", "http:// and https:// and http"),
        ] {
            assert_eq!(plain(comment), [expected]);
        }
    }
}
