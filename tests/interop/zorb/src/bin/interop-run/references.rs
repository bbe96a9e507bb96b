//! `catior`, omniORB's decoder of references, and `zorb ior` agree on every peer's references.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::Verdict;
use super::peers::{Peer, Terms, Workshop};
use super::process::{is_installed, output_of};

/// Compares the two on the references of one peer in every GIOP version.
pub(crate) fn agree(workshop: &Workshop, peer: Peer) -> Verdict {
    if let Some(missing) = workshop.missing(peer) {
        return Verdict::Missing(missing);
    }
    if !is_installed("catior") {
        return Verdict::Missing("catior is missing: apt-get install omniorb".into());
    }
    let mut facts = 0;
    let mut wrong = Vec::new();
    for giop in ["1.0", "1.1", "1.2"] {
        match compare(workshop, peer, giop) {
            Ok(count) => facts += count,
            Err(error) => wrong.push(format!("GIOP {giop}: {error}")),
        }
    }
    if wrong.is_empty() { Verdict::Passed(format!("{facts} facts the same")) } else { Verdict::Failed(wrong) }
}

fn compare(workshop: &Workshop, peer: Peer, giop: &'static str) -> Result<usize, String> {
    let terms = Terms { giop, ..Terms::USUAL };
    let (_server, ior) = workshop.serve(peer, terms, &format!("reference-{peer}-{giop}"))?;
    let soon = Duration::from_secs(30);
    let theirs = facts_of_catior(&output_of(Command::new("catior").arg(&ior), soon)?);
    let mut zorb = Command::new(workshop.programs.join("zorb"));
    let ours = output_of(zorb.args(["ior", "--json", &ior]), soon)?;
    let ours: Value = serde_json::from_str(&ours).map_err(|error| format!("zorb ior --json: {error}"))?;
    let ours = facts_of_zorb(&ours);
    if ours.len() < 4 {
        return Err(format!("zorb ior says too little: {ours:?}"));
    }
    if ours != theirs {
        return Err(format!("zorb ior: {ours:?}; catior: {theirs:?}"));
    }
    Ok(ours.len())
}

/// Type id, address, object key and code sets, as `zorb ior` tells them.
fn facts_of_zorb(ior: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut facts = vec![text(&ior["type_id"])];
    for profile in list(&ior["profiles"]) {
        // The other kind that peers write is a list of components.
        if profile["tag"] == 0 {
            facts.push(format!("IIOP {}", text(&profile["version"])));
            facts.push(format!("{} {}", text(&profile["host"]), text(&profile["port"])));
            facts.push(format!("key {}", text(&profile["object_key"])));
        }
        for component in list(&profile["components"]) {
            match component["tag"].as_u64() {
                Some(0) => {
                    facts.push(format!("ORB {:08x}", component["vendor"].as_u64().unwrap_or_default()))
                }
                Some(1) => {
                    for kind in ["char", "wchar"] {
                        let sets = &component[kind];
                        facts.push(format!("{kind} native {}", text(&sets["native_name"])));
                        let names = list(&sets["conversion"])
                            .iter()
                            .map(|set| text(&set["name"]))
                            .collect::<Vec<_>>();
                        facts.push(format!("{kind} conversion {}", names.join(" ")));
                    }
                }
                _ => {}
            }
        }
    }
    facts
}

/// The same from what `catior` prints.
fn facts_of_catior(text: &str) -> Vec<String> {
    let mut facts = Vec::new();
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Type", "ID:", id] => facts.push(id.trim_matches('"').into()),
            [number, "IIOP", version, host, port, ..] if number.ends_with('.') => {
                facts.push(format!("IIOP {version}"));
                facts.push(format!("{host} {port}"));
                let key = line.split_once('"').map_or("", |(_, key)| key);
                facts.push(format!("key {}", hexadecimal(key.strip_suffix('"').unwrap_or(key))));
            }
            _ if line.contains("TAG_ORB_TYPE") => facts.push(format!("ORB {}", orb_type(line))),
            _ => {}
        }
        let line = line.strip_prefix("TAG_CODE_SETS").unwrap_or(line).trim();
        for kind in ["char", "wchar"] {
            let Some(rest) = line.strip_prefix(kind) else { continue };
            if let Some(set) = rest.strip_prefix(" native code set:") {
                facts.push(format!("{kind} native {}", set.trim()));
            } else if let Some(sets) = rest.strip_prefix(" conversion code sets:") {
                let names = sets.split([' ', ',']).filter(|name| !name.is_empty());
                let names: Vec<&str> = names.map(|name| name.trim_end_matches("-level-1")).collect();
                facts.push(format!("{kind} conversion {}", names.join(" ")));
            }
        }
    }
    facts
}

/// The four octets in brackets, such as `(ATT\x00)`, or the number `0x…`.
fn orb_type(line: &str) -> String {
    match line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')) {
        Some((octets, _)) => hexadecimal(octets),
        None => {
            line.rsplit("0x").next().unwrap_or_default().trim_matches(|c: char| !c.is_ascii_hexdigit()).into()
        }
    }
}

/// The octets of a text in which those that do not print stand as `\x00`, in hexadecimal. catior does not escape the
/// backslash itself.
fn hexadecimal(text: &str) -> String {
    let mut octets = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let escaped = rest.strip_prefix("\\x").and_then(|digits| digits.get(..2));
        match escaped.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
            Some(digits) => {
                octets += digits;
                rest = &rest[4..];
            }
            None => {
                octets += &format!("{:02x}", u32::from(character));
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_is_itself_unless_two_digits_follow() {
        assert_eq!(hexadecimal(r"a\x00\xffb"), "6100ff62");
        assert_eq!(hexadecimal(r"\\x41"), "5c41");
        assert_eq!(hexadecimal(r"\y\x4"), "5c795c7834");
        assert_eq!(hexadecimal("\\"), "5c");
    }
}
