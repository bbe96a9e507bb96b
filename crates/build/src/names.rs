//! Identifiers: how an IDL name becomes a Rust one, and what happens when two meet.
//!
//! The rules, in the order in which they apply (docs/mapping.md §2):
//!
//! 1. An IDL identifier stays as the IDL spells it.
//! 2. A Rust keyword becomes a raw identifier: `type` → `r#type`. The four that cannot be raw get an underscore:
//!    `self_`, `Self_`, `super_`, `crate_`.
//! 3. A name that the generator derives (`AccountServant`, `set_owner`, `deposit_async`, `mod account`) gives way
//!    to IDL names and to those derived earlier: it gets underscores until it is free.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};

/// Every word that Rust 2024 reserves and that may be a raw identifier.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Those that may not.
const NEVER_RAW: &[&str] = &["self", "Self", "super", "crate", "_"];

/// Local variables of generated code. Constants and parameters keep clear of them: a pattern that names a
/// constant does not bind.
const LOCALS: &[&str] = &["context", "from", "label", "object", "request", "servant", "slot", "to", "value"];

/// A Rust identifier, raw where it must be.
pub(crate) fn ident(name: &str) -> Ident {
    if KEYWORDS.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

/// The names of one Rust scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A scope in which the locals of generated code are taken: for constants and parameters.
    pub(crate) fn beside_locals() -> Names {
        Names { taken: LOCALS.iter().map(|it| (*it).to_owned()).collect() }
    }

    /// Takes the name of something that the IDL names.
    pub(crate) fn declare(&mut self, name: &str) -> String {
        if NEVER_RAW.contains(&name) { self.derive(format!("{name}_")) } else { self.derive(name.to_owned()) }
    }

    /// Takes a derived name, with underscores until it is free.
    pub(crate) fn derive(&mut self, name: String) -> String {
        let mut name = if NEVER_RAW.contains(&name.as_str()) { name + "_" } else { name };
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Takes a name so that none of those to come can have it.
    pub(crate) fn avoid(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.taken.contains(name)
    }
}

/// The name of a constant: clear of the locals of generated code.
pub(crate) fn constant(name: &str) -> String {
    if LOCALS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// `NamingContextExt` → `naming_context_ext`, `POAManager` → `poa_manager`: the module of an interface's types.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if letter.is_ascii_uppercase() && at > 0 && letters[at - 1] != '_' {
            let after_small = !letters[at - 1].is_ascii_uppercase();
            let before_small = letters.get(at + 1).is_some_and(|next| next.is_ascii_lowercase());
            if after_small || before_small {
                snake.push('_');
            }
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// `bind_new_context` → `BindNewContext`: the stem of an operation's error type.
pub(crate) fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_converted_word_by_word() {
        for (name, expected) in [
            ("Account", "account"),
            ("NamingContextExt", "naming_context_ext"),
            ("POAManager", "poa_manager"),
            ("IDLType", "idl_type"),
            ("already_small", "already_small"),
            ("Mixed_Case", "mixed_case"),
            ("A", "a"),
            ("X509Name", "x509_name"),
        ] {
            assert_eq!(snake(name), expected);
        }
        for (name, expected) in [
            ("deposit", "Deposit"),
            ("bind_new_context", "BindNewContext"),
            ("getX", "GetX"),
            ("a__b_", "AB"),
        ] {
            assert_eq!(camel(name), expected);
        }
    }

    #[test]
    fn derived_names_give_way() {
        let mut names = Names::default();
        assert_eq!(names.declare("set_x"), "set_x");
        assert_eq!(names.derive("set_x".into()), "set_x_");
        assert_eq!(names.derive("set_x".into()), "set_x__");
        assert_eq!(names.declare("self"), "self_");
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("Type").to_string(), "Type");
    }
}
