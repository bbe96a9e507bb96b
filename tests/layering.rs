//! Who may know whom: the crates' dependencies, held to a table.
//!
//! What a crate must not know it cannot name, because its Cargo.toml does not list it; this test says when a
//! Cargo.toml grows beyond the design. An entry here is a decision: it stands with its reason in the crate's docs.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use zorb_tests::root;

/// Direct dependencies of the library as built. What may be there, not what must be.
const NORMAL: &[(&str, &[&str])] = &[
    ("zorb-cdr", &["bytes", "bytemuck"]),
    ("zorb-giop", &["zorb-cdr", "bytes"]),
    ("zorb-ipc", &["libc", "rustix"]),
    ("zorb-idl", &["annotate-snippets", "rustc_apfloat"]),
    ("zorb-build", &["zorb-idl", "proc-macro2", "quote", "prettyplease", "syn"]),
    ("zorb-orb", &["zorb-cdr", "zorb-giop", "zorb-ipc", "bytes", "parking_lot", "tracing"]),
    ("zorb-bridge", &["zorb-cdr", "zorb-giop", "zorb-idl", "zorb-orb"]),
    ("zorb-naming", &["zorb-orb", "zorb-giop"]),
    ("zorb-config", &["zorb-orb", "toml"]),
    ("zorb-dynamic", &["zorb-cdr", "zorb-idl", "zorb-orb", "base64", "rustc_apfloat", "serde_json"]),
    ("zorb", &["zorb-cdr", "zorb-giop", "zorb-orb", "zorb-naming", "zorb-config"]),
];

/// Dependencies of build scripts: services generate their stubs.
const BUILD: &[(&str, &[&str])] = &[
    ("zorb-cdr", &[]),
    ("zorb-giop", &[]),
    ("zorb-ipc", &[]),
    ("zorb-idl", &[]),
    ("zorb-build", &[]),
    ("zorb-orb", &[]),
    ("zorb-bridge", &[]),
    ("zorb-naming", &["zorb-build"]),
    ("zorb-config", &[]),
    ("zorb-dynamic", &["zorb-build"]),
    ("zorb", &[]),
];

/// The names of `package`'s direct dependencies of one kind, by `cargo tree`.
fn edges(package: &str, kind: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--edges",
            kind,
            "--depth",
            "1",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--package",
            package,
        ])
        .output()
        .expect("cargo tree runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo tree prints UTF-8");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<String> =
        names.map(str::to_owned).filter(|name| !name.is_empty() && name != package).collect();
    names
}

fn hold(kind: &str, table: &[(&str, &[&str])]) {
    let mut surplus = BTreeMap::new();
    for (package, allowed) in table {
        let beyond: Vec<_> =
            edges(package, kind).into_iter().filter(|name| !allowed.contains(&name.as_str())).collect();
        if !beyond.is_empty() {
            surplus.insert(*package, beyond);
        }
    }
    assert!(surplus.is_empty(), "{kind} dependencies that the design does not allow: {surplus:#?}");
}

#[test]
fn libraries_know_only_what_the_design_lets_them_know() {
    hold("normal", NORMAL);
}

#[test]
fn build_scripts_know_only_what_the_design_lets_them_know() {
    hold("build", BUILD);
}

#[test]
fn every_library_crate_is_in_the_tables() {
    let crates = std::fs::read_dir(root().join("crates")).expect("crates/ can be read");
    for entry in crates {
        let name = entry.expect("crates/ can be listed").file_name().into_string().expect("an ASCII name");
        if name == "cli" {
            continue;
        }
        let package = if name == "zorb" { name } else { format!("zorb-{name}") };
        for table in [NORMAL, BUILD] {
            assert!(table.iter().any(|(known, _)| *known == package), "{package} is in no table");
        }
    }
}

#[test]
fn values_and_messages_are_no_std_and_unsafe_stays_in_ipc() {
    for (package, needed) in [
        ("cdr", &["#![no_std]", "#![forbid(unsafe_code)]"][..]),
        ("giop", &["#![no_std]", "#![forbid(unsafe_code)]"]),
        ("idl", &["#![forbid(unsafe_code)]"]),
        ("build", &["#![forbid(unsafe_code)]"]),
        ("orb", &["#![forbid(unsafe_code)]"]),
        ("bridge", &["#![forbid(unsafe_code)]"]),
        ("naming", &["#![forbid(unsafe_code)]"]),
        ("config", &["#![forbid(unsafe_code)]"]),
        ("dynamic", &["#![forbid(unsafe_code)]"]),
        ("zorb", &["#![forbid(unsafe_code)]"]),
    ] {
        let path = root().join("crates").join(package).join("src/lib.rs");
        let source = std::fs::read_to_string(&path).expect("lib.rs can be read");
        for line in needed {
            assert!(source.lines().any(|found| found == *line), "{} lacks {line}", path.display());
        }
    }
}
