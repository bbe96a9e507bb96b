//! `corbaloc:` of Unix sockets: a server's socket and key in the short form of each ORB, by which clients reach it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use zorb::giop::{Corbaloc, CorbalocAddress, Ior, UiopProfile};

use super::Verdict;
use super::pairings::shut_down;
use super::peers::{Peer, Terms, Workshop};
use super::process::output_of;

/// Cases of text that any `corbaloc:` can carry: it names no code set.
const CASES: &str = "echo/string";

const SOON: Duration = Duration::from_secs(60);

/// Every pairing of those that have Unix sockets, by the form that the client's ORB has: omniORB's; between zorb's TAO's too.
pub(crate) fn by_corbaloc(workshop: &Workshop) -> Verdict {
    use Peer::{Omniorb, Zorb};

    if let Some(missing) = workshop.missing(Omniorb) {
        return Verdict::Missing(missing);
    }
    let mut passed = 0;
    let mut wrong = Vec::new();
    for (client, server) in [(Zorb, Omniorb), (Omniorb, Zorb), (Omniorb, Omniorb), (Zorb, Zorb)] {
        match calls(workshop, client, server) {
            Ok(count) => passed += count,
            Err(error) => wrong.push(format!("{client} -> {server}: {error}")),
        }
    }
    if wrong.is_empty() { Verdict::Passed(format!("{passed} passed")) } else { Verdict::Failed(wrong) }
}

fn calls(workshop: &Workshop, client: Peer, server: Peer) -> Result<usize, String> {
    let terms = Terms { at: "unix", ..Terms::USUAL };
    let run = format!("sockets-{client}-{server}");
    let (running, reference) = workshop.serve(server, terms, &run)?;
    let mut forms = vec![as_omniorb(workshop, &reference)?];
    if (client, server) == (Peer::Zorb, Peer::Zorb) {
        forms.push(as_tao(&reference)?);
    }
    let mut passed = 0;
    for (index, form) in forms.iter().enumerate() {
        let called = workshop.call(client, form, terms, &["--only", CASES], &format!("{run}-{index}"))?;
        let output = called.output.clone();
        called.finish(SOON)?;
        let text = fs::read_to_string(&output).map_err(|error| format!("{}: {error}", output.display()))?;
        let ended = text.lines().find_map(|line| line.strip_suffix(" passed, 0 failed"));
        match ended.and_then(|count| count.parse().ok()) {
            Some(0) | None => return Err(format!("by {form}: {}", text.trim())),
            Some(count) => passed += count,
        }
    }
    shut_down(&reference)?;
    running.finish(SOON)?;
    Ok(passed)
}

/// What `zorb ior` gives as the short form.
fn as_omniorb(workshop: &Workshop, reference: &str) -> Result<String, String> {
    let mut zorb = Command::new(workshop.programs.join("zorb"));
    let shown = output_of(zorb.args(["ior", "--json", reference]), SOON)?;
    let shown: serde_json::Value =
        serde_json::from_str(&shown).map_err(|error| format!("zorb ior --json: {error}"))?;
    let text = shown["corbaloc"].as_str().unwrap_or_default();
    if !text.starts_with("corbaloc:omniunix:") {
        return Err(format!("zorb ior gives {text:?} as the short form of {reference}"));
    }
    Ok(text.to_owned())
}

/// The socket and key of the UIOP profile.
fn as_tao(reference: &str) -> Result<String, String> {
    let ior: Ior = reference.parse().map_err(|error| format!("{reference}: {error}"))?;
    let profile = ior.profiles.iter().find_map(|profile| UiopProfile::decode(profile).ok());
    let UiopProfile { version, path, object_key: key, .. } =
        profile.ok_or_else(|| format!("{reference}: no UIOP profile"))?;
    Ok(Corbaloc { addresses: vec![CorbalocAddress::Uiop { version, path }], key }.to_string())
}
