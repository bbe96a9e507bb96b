//! `--context`: properties for operations with a `context` clause.

use zorb::Properties;
use zorb::dynamic::Signature;

use crate::failure::Failure;

/// `NAME=VALUE`; the value may be empty.
pub(super) fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as user=ada".to_owned()),
    }
}

/// What goes to the operation. A program's properties are many and a clause chooses among them; what a person has typed for one
/// call is for that call, so that a name which the clause would leave out is a mistake.
pub(super) fn properties(signature: &Signature, given: &[(String, String)]) -> Result<Properties, Failure> {
    let mut all = Properties::new();
    for (name, value) in given {
        if !signature.contexts.iter().any(|pattern| names(pattern, name)) {
            let clause = match signature.contexts.is_empty() {
                true => "it has none".to_owned(),
                false => format!("it names {}", signature.contexts.join(", ")),
            };
            let operation = &signature.operation;
            return Err(Failure::usage(format!(
                "the context clause of {operation} does not name {name}: {clause}"
            )));
        }
        if all.get(name).is_some() {
            return Err(Failure::usage(format!("--context gives {name} twice")));
        }
        all.set(name, value);
    }
    Ok(all)
}

fn names(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_has_a_name() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(property("user=ada"), pair("user", "ada"));
        assert_eq!(property("user="), pair("user", ""));
        assert_eq!(property("user=a=b"), pair("user", "a=b"));
        assert!(property("user").is_err() && property("=ada").is_err());
    }

    #[test]
    fn what_the_clause_leaves_out_is_refused() {
        let signature = Signature::new("pay").context("user").context("sys_*");
        let given = |names: &[&str]| -> Vec<(String, String)> {
            names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect()
        };
        assert_eq!(properties(&signature, &given(&["user", "sys_", "sys_a"])).unwrap().len(), 3);
        let told = properties(&signature, &given(&["users"])).unwrap_err().to_string();
        assert_eq!(told, "the context clause of pay does not name users: it names user, sys_*");
        assert!(properties(&signature, &given(&["user", "user"])).is_err());
        assert!(properties(&Signature::new("pay"), &given(&["user"])).is_err());
    }
}
