//! A [`Tree`] as a literal.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::literal::is_of_name;
use super::tree::Tree;

pub(super) fn literal(tree: &Tree) -> String {
    let mut text = String::new();
    print(tree, &mut text);
    text
}

fn print(tree: &Tree, to: &mut String) {
    match tree {
        Tree::Null | Tree::Value(_) | Tree::Again(_) => to.push_str("null"),
        Tree::Boolean(true) => to.push_str("true"),
        Tree::Boolean(false) => to.push_str("false"),
        Tree::Number(text) => to.push_str(text),
        Tree::Word(word) if stands_bare(word) => to.push_str(word),
        Tree::Text(text) | Tree::Word(text) => quote(text, to),
        Tree::Octets(octets) => {
            let text = std::str::from_utf8(octets).ok().filter(|text| is_readable(text));
            to.push_str(if text.is_some() { "{text: " } else { "{base64: " });
            quote(text.unwrap_or(&STANDARD.encode(octets)), to);
            to.push('}');
        }
        Tree::List(items) => {
            to.push('[');
            for (at, item) in items.iter().enumerate() {
                to.push_str(if at == 0 { "" } else { ", " });
                print(item, to);
            }
            to.push(']');
        }
        Tree::Members(members) => {
            to.push('{');
            for (at, (name, tree)) in members.iter().enumerate() {
                to.push_str(if at == 0 { "" } else { ", " });
                match !name.is_empty() && name.chars().all(is_of_name) {
                    true => to.push_str(name),
                    false => quote(name, to),
                }
                to.push_str(": ");
                print(tree, to);
            }
            to.push('}');
        }
    }
}

/// Whether people see all of it, and mean it by what they see.
fn is_readable(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// Whether it is read as the word that it is.
fn stands_bare(word: &str) -> bool {
    super::literal::parse(word).is_ok_and(|tree| match tree {
        Tree::Word(read) | Tree::Number(read) => read == word,
        _ => false,
    })
}

fn quote(text: &str, to: &mut String) {
    to.push_str(&serde_json::Value::from(text).to_string());
}
