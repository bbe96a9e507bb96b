//! What callgrind counted: figures out of its profiles.
//!
//! A profile is text, names given once and numbered (<https://valgrind.org/docs/manual/cl-format.html>):
//!
//! ```text
//! cfn=(17) zorb_orb::…::serve      whom the line after next calls
//! calls=1000 42
//! 38 1876000                       from line 38, with so many instructions in all
//! totals: 2988338
//! ```

use std::collections::{BTreeMap, HashSet};

/// What the whole server side of a call runs in: the function that the connecting end of a pipe in memory calls.
const SERVER: &str = "zorb_orb::server::dispatch::Engine::adopt::{{closure}}";

/// The call that has no server apart from its client.
const COLLOCATED: &str = "call/collocated";

/// Instructions of one call, by `what/case`.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<String, u64>);

impl Figures {
    /// Enters what a case's profile says: of several the least. A `call` is three figures: its client's, its server's, and
    /// both together; the collocated one is one.
    pub(crate) fn enter(&mut self, case: &str, profile: &str, calls: u64) -> Result<(), String> {
        let total = total(profile).filter(|&total| total > 0);
        let total = total.ok_or_else(|| format!("the profile of {case} holds no instructions"))?;
        if let Some(load) = case.strip_prefix("call/").filter(|_| case != COLLOCATED) {
            let server = inclusive(profile, SERVER);
            let server = server.ok_or_else(|| format!("the profile of {case} lacks the server: {SERVER}"))?;
            self.put(format!("client/{load}"), (total - server) / calls);
            self.put(format!("server/{load}"), server / calls);
        }
        self.put(case.to_owned(), total / calls);
        Ok(())
    }

    /// Enters how many locked instructions a call takes.
    pub(crate) fn enter_locked(&mut self, case: &str, found: u64) {
        self.put(case.replace("call/", "locked/"), found);
    }

    fn put(&mut self, name: String, found: u64) {
        let least = self.0.entry(name).or_insert(found);
        *least = found.min(*least);
    }

    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn total(profile: &str) -> Option<u64> {
    profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .and_then(|number| number.trim().parse().ok())
}

/// The instructions of all calls of a function, with what it calls in turn; it does not call itself. `None` where it is
/// not called.
fn inclusive(profile: &str, function: &str) -> Option<u64> {
    let mut numbers = HashSet::new();
    let mut lines = profile.lines();
    let (mut is_called, mut sum) = (false, None);
    while let Some(line) = lines.next() {
        if let Some((key, name)) = line.split_once('=').filter(|(key, _)| matches!(*key, "fn" | "cfn")) {
            let (number, name) = name.split_once(' ').unwrap_or((name, ""));
            // Callgrind writes `'2` behind the name where a function is in a circle of calls.
            if name.split('\'').next() == Some(function) {
                numbers.insert(number);
            }
            if key == "cfn" {
                is_called = numbers.contains(number);
            }
        } else if line.starts_with("calls=") {
            let cost = lines.next().and_then(|cost| cost.split(' ').nth(1)?.parse::<u64>().ok());
            if is_called {
                sum = Some(sum.unwrap_or(0) + cost?);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "\
fn=(1) main
3 10
cfn=(2) zorb_orb::server::dispatch::Engine::adopt::{{closure}}
calls=2 7
4 600
cfn=(3) other
calls=2 7
4 50
fn=(3)
cfn=(2)
calls=1 9
+3 100
cfn=(1)
calls=1 9
* 5
totals: 2000
";

    #[test]
    fn a_call_is_parted_into_client_and_server() {
        let mut figures = Figures::default();
        figures.enter("call/null", PROFILE, 10).expect("a profile");
        figures.enter("encode/null", "totals: 70\n", 10).expect("a profile");
        let found = ["call/null", "client/null", "server/null", "encode/null"].map(|name| figures.of(name));
        assert_eq!(found, [Some(200), Some(130), Some(70), Some(7)]);
        for again in ["totals: 60\n", "totals: 80\n"] {
            figures.enter("encode/null", again, 10).expect("a profile");
        }
        assert_eq!(figures.of("encode/null"), Some(6));
    }

    #[test]
    fn a_profile_of_nothing_is_an_error() {
        let mut figures = Figures::default();
        assert!(figures.enter("encode/null", "totals: 0\n", 10).is_err());
        assert!(figures.enter("call/null", "totals: 70\n", 10).unwrap_err().contains("lacks the server"));
        figures.enter("call/collocated", "totals: 70\n", 10).expect("it has none");
        assert_eq!(figures.of("call/collocated"), Some(7));
        figures.enter_locked("call/collocated", 0);
        assert_eq!((figures.of("locked/collocated"), figures.of("call/collocated")), (Some(0), Some(7)));
    }
}
