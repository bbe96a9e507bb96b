//! `cases.txt`: the names of all cases, so that a client that leaves one out is found.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::peers::{Peer, Terms};

/// The whole file.
pub(crate) struct Cases(Vec<Case>);

struct Case {
    name: String,
    /// Versions, code sets and peers that it is not run with; `bridged`: not through a bridge.
    without: Vec<String>,
}

impl Cases {
    /// Reads the file: a case a line, after `#` a comment.
    pub(crate) fn read(file: &Path) -> Result<Cases, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let mut seen = HashSet::new();
        let cases = lines.filter(|line| !line.is_empty()).map(|line| {
            let case = Case::parse(line).ok_or_else(|| format!("{}: {line}", file.display()))?;
            match seen.insert(case.name.clone()) {
                true => Ok(case),
                false => Err(format!("{}: {} is there twice", file.display(), case.name)),
            }
        });
        cases.collect::<Result<_, _>>().map(Cases)
    }

    /// What is wrong with the cases that `client` ran on `server`: one that is missing, or is not on the list.
    pub(crate) fn compare(&self, server: Peer, client: Peer, terms: Terms, ran: &[String]) -> Vec<String> {
        let due: Vec<_> =
            self.0.iter().filter(|case| case.is_run(server, client, terms)).map(|case| &case.name).collect();
        let missing = due.iter().filter(|name| !ran.contains(name));
        let beyond = ran.iter().filter(|name| !due.contains(name));
        let twice =
            ran.iter().enumerate().filter(|(at, name)| ran.iter().take(*at).any(|other| other == *name));
        missing
            .map(|name| format!("{name} was not run"))
            .chain(beyond.map(|name| format!("{name} was run, but is not in cases.txt for this pairing")))
            .chain(twice.map(|(_, name)| format!("{name} was run twice")))
            .collect()
    }
}

impl Case {
    /// `NAME`, or `NAME without WORD WORD …`.
    fn parse(line: &str) -> Option<Case> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let name = words.next()?;
        match words.next().as_deref() {
            None => Some(Case { name, without: Vec::new() }),
            Some("without") => {
                Some(Case { name, without: words.collect() }).filter(|case| !case.without.is_empty())
            }
            Some(_) => None,
        }
    }

    fn is_run(&self, server: Peer, client: Peer, terms: Terms) -> bool {
        let bridged = if terms.bridged { "bridged" } else { "" };
        let now = [terms.giop, terms.text, server.name(), client.name(), bridged];
        !self.without.iter().any(|word| now.contains(&word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_is_left_out_unknown_or_run_twice_is_named() {
        let cases = Cases(
            ["a", "b without 1.0", "c without jacorb utf8"].map(|line| Case::parse(line).unwrap()).into(),
        );
        let compare = |terms, ran: &[&str]| {
            let ran: Vec<_> = ran.iter().map(|&name| name.to_owned()).collect();
            cases.compare(Peer::Zorb, Peer::Omniorb, terms, &ran)
        };
        let in_latin1 = |giop| Terms { giop, ..Terms::USUAL };
        assert!(compare(in_latin1("1.2"), &["a", "b", "c"]).is_empty());
        assert!(compare(in_latin1("1.0"), &["a", "c"]).is_empty());
        assert_eq!(compare(in_latin1("1.2"), &["a", "b"]), ["c was not run"]);
        assert_eq!(compare(in_latin1("1.0"), &["a", "b", "c"]).len(), 1);
        assert_eq!(compare(in_latin1("1.2"), &["a", "b", "c", "a"]), ["a was run twice"]);
        assert_eq!(compare(in_latin1("1.2"), &["a", "b", "c", "d"]).len(), 1);
    }

    #[test]
    fn a_line_is_a_name_and_what_it_goes_without() {
        assert!(Case::parse("a without").is_none());
        assert!(Case::parse("a with b").is_none());
        assert!(Case::parse("a").is_some());
    }
}
