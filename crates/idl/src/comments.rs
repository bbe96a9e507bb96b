//! Comments as documentation.
//!
//! The comments directly above a declaration are its documentation; so is one behind it on its own line, if there
//! is none above. A blank line parts a comment from what follows, so that a licence at the top documents nothing.

use crate::source::{Sources, Span};
use crate::token::Token;

/// The documentation above a declaration whose first token is `token`; `previous` ended before its comments.
pub(crate) fn above(token: &Token, previous: Option<Span>, sources: &Sources) -> String {
    let mut below = token.span;
    let mut block = Vec::new();
    for comment in token.comments.iter().rev() {
        let trails = previous.is_some_and(|previous| sources.same_line(previous, *comment));
        if trails || sources.lines_between(*comment, below) > 1 {
            break;
        }
        block.push(*comment);
        below = *comment;
    }
    block.reverse();
    clean(&block, sources)
}

/// The documentation behind what ended at `previous`, among the comments of the token that follows.
pub(crate) fn behind(token: &Token, previous: Span, sources: &Sources) -> String {
    let trailing = token.comments.first().filter(|first| {
        // A comment that the next declaration shares its line with belongs to that one.
        sources.same_line(previous, **first) && !sources.same_line(**first, token.span)
    });
    trailing.map_or(String::new(), |comment| clean(&[*comment], sources))
}

fn clean(comments: &[Span], sources: &Sources) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for comment in comments {
        let text = sources.slice(*comment);
        match text.strip_prefix("//") {
            Some(line) => lines.push(line.trim_start_matches(['/', '!', '<'])),
            None => {
                let text = text.strip_prefix("/*").unwrap_or(text);
                let text = text.strip_suffix("*/").unwrap_or(text).trim_start_matches(['*', '!', '<']);
                lines.extend(text.lines().map(|line| {
                    let bare = line.trim_start();
                    bare.strip_prefix('*').map_or(bare, |line| line.trim_start_matches('*'))
                }));
            }
        }
    }
    let lines = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    let mut kept: Vec<&str> =
        lines.filter(|line| line.is_empty() || line.contains(char::is_alphanumeric)).collect();
    while kept.last().is_some_and(|line| line.is_empty()) {
        kept.pop();
    }
    let first = kept.iter().position(|line| !line.is_empty()).unwrap_or(kept.len());
    kept[first..].join("\n")
}
