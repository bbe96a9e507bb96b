//! `known-gaps.toml`: what fails for a known reason, so that every other failure is a fault to be found.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::peers::Peer;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gaps {
    gap: Vec<Gap>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    peer: String,
    role: Role,
    /// The other side, where the gap shows only with that one; `others` is every one but the peer itself.
    with: Option<String>,
    /// Names, or prefixes that end in `*`.
    cases: Vec<String>,
    giop: Option<Vec<String>>,
    /// Whether the cases surely fail: then one that passes is reported, too.
    #[serde(default = "surely")]
    always: bool,
    reason: String,
}

#[derive(Deserialize, PartialEq, Eq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    Server,
    Client,
    Any,
}

fn surely() -> bool {
    true
}

/// What the list says of one case.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) enum Expected {
    Pass,
    Either,
    Fail,
}

impl Gaps {
    /// Reads the file.
    pub(crate) fn read(file: &Path) -> Result<Gaps, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let gaps: Gaps = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        match gaps.gap.iter().find(|gap| gap.reason.trim().is_empty()) {
            Some(gap) => Err(format!("{}: the gap of {:?} has no reason", file.display(), gap.cases)),
            None => Ok(gaps),
        }
    }

    /// What is to be expected of `case` in that pairing.
    pub(crate) fn expected(&self, server: Peer, client: Peer, giop: &str, case: &str) -> Expected {
        let listed = self.gap.iter().filter(|gap| gap.is_of(server, client, giop) && gap.names(case));
        listed.fold(Expected::Pass, |worst, gap| {
            if gap.always || worst == Expected::Fail { Expected::Fail } else { Expected::Either }
        })
    }
}

impl Gap {
    fn is_of(&self, server: Peer, client: Peer, giop: &str) -> bool {
        let plays = |peer: Peer, other: Peer, role: Role| {
            self.peer == peer.to_string()
                && (self.role == role || self.role == Role::Any)
                && self.with.as_ref().is_none_or(|with| match with.as_str() {
                    "others" => other != peer,
                    with => with == other.name(),
                })
        };
        self.giop.as_ref().is_none_or(|versions| versions.iter().any(|version| version == giop))
            && (plays(server, client, Role::Server) || plays(client, server, Role::Client))
    }

    fn names(&self, case: &str) -> bool {
        self.cases.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => case.starts_with(prefix),
            None => pattern == case,
        })
    }
}
