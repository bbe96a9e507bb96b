//! What the documents say of the tree: paths that they name are there, what they say is in a file is in it, the
//! programs that they show are the examples', and the test command names all of this package's tests.

use std::fs;
use std::path::{Path, PathBuf};

use zorb_tests::root;

/// Files of the project that the guide's reader makes.
const READERS_OWN: &[&str] =
    &["build.rs", "hello.idl", "src/main.rs", "src/bin/server.rs", "src/bin/client.rs", "Cargo.toml"];

/// The documents at the top, and those in `docs`.
fn documents() -> Vec<PathBuf> {
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "BENCHMARKING.md",
        "CHANGELOG.md",
        "examples/README.md",
    ];
    let mut documents: Vec<_> = top.iter().map(|name| root().join(name)).collect();
    for entry in fs::read_dir(root().join("docs")).expect("docs is there") {
        let path = entry.expect("docs can be read").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    documents
}

/// The pieces of a Markdown text between single backticks, outside code blocks, each with the text before it.
fn quoted(text: &str) -> Vec<(String, String)> {
    let mut prose = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            prose.push_str(line.trim());
            prose.push(' ');
        }
    }
    let mut quoted = Vec::new();
    let mut before = String::new();
    for (index, piece) in prose.split('`').enumerate() {
        match index % 2 {
            0 => before = piece.to_owned(),
            _ => quoted.push((std::mem::take(&mut before), piece.to_owned())),
        }
    }
    quoted
}

fn looks_like_a_path(text: &str) -> bool {
    let is_path = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let name = text.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_file = matches!(extension, Some("rs" | "md" | "toml" | "idl" | "txt"));
    is_path
        && !text.starts_with(['.', '/'])
        // What a build or a test leaves is not there before.
        && !text.starts_with("target/")
        && (is_file || text.contains('/'))
        && !READERS_OWN.contains(&text)
}

/// Where a document's path leads: from the top, from the document, and in ARCHITECTURE.md from the ORB's sources.
fn resolve(document: &Path, path: &str) -> Option<PathBuf> {
    let beside = document.parent().expect("a file has a folder");
    [root(), beside.to_owned(), root().join("crates/orb/src")]
        .into_iter()
        .map(|folder| folder.join(path))
        .find(|path| path.exists())
}

#[test]
fn paths_that_documents_name_are_there() {
    let mut missing = Vec::new();
    let mut found = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document can be read");
        for (_, piece) in quoted(&text) {
            match looks_like_a_path(&piece).then(|| resolve(&document, &piece)) {
                None => {}
                Some(Some(_)) => found += 1,
                Some(None) => missing.push(format!("{}: {piece}", document.display())),
            }
        }
    }
    assert!(found > 50, "only {found} paths found: the test has stopped seeing them");
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
}

/// "`name` in `path`" and "`name` (`path`)": the file has that name.
#[test]
fn names_that_documents_place_in_a_file_are_in_it() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document can be read");
        for pair in quoted(&text).windows(2) {
            let [(_, name), (between, path)] = pair else { continue };
            if !matches!(between.as_str(), " in " | " (") || !looks_like_a_path(path) {
                continue;
            }
            let name = name.rsplit("::").next().unwrap_or_default();
            let Some(file) = resolve(&document, path).filter(|file| file.is_file()) else { continue };
            let source = fs::read_to_string(&file).expect("a source can be read");
            found += 1;
            let is_word = |part: &str| part == name;
            if !source.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_word) {
                wrong.push(format!("{}: {name} in {path}", document.display()));
            }
        }
    }
    assert!(found > 15, "only {found} places found: the test has stopped seeing them");
    assert!(wrong.is_empty(), "not in its file:\n{}", wrong.join("\n"));
}

/// The blocks of a Markdown text that open with ``` and `info`.
fn blocks(text: &str, info: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(found) = line.strip_prefix("```") {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            if found == info {
                blocks.push(block.join("\n"));
            }
        }
    }
    blocks
}

/// An example's text without the comment at its top.
fn example(path: &str) -> String {
    let text = fs::read_to_string(root().join("examples").join(path)).expect("the example is there");
    let lines: Vec<_> = text.lines().skip_while(|line| line.starts_with("//!") || line.is_empty()).collect();
    lines.join("\n")
}

#[test]
fn the_programs_that_documents_show_are_the_examples() {
    let programs = ["01_hello/server.rs", "01_hello/client.rs"];
    for (document, info, examples) in [
        ("README.md", "idl", &["idl/hello.idl"][..]),
        ("README.md", "rust", &programs),
        ("docs/guide.md", "idl", &["idl/hello.idl"]),
        // All its other Rust is run as doc tests.
        ("docs/guide.md", "rust,ignore", &programs),
    ] {
        let text = fs::read_to_string(root().join(document)).expect("the document is there");
        let blocks = blocks(&text, info);
        for path in examples {
            assert!(blocks.contains(&example(path)), "{document} does not show examples/{path} as it is");
        }
        let others = blocks.iter().filter(|block| block.contains("zorb::")).count();
        assert!(others <= examples.len(), "{document}: a program that is no example");
    }
}

/// It runs them beside the other packages', by their names, of which one could be forgotten.
#[test]
fn the_test_command_names_these_tests() {
    let manifest = fs::read_to_string(root().join("tests/Cargo.toml")).expect("the manifest is there");
    let command = fs::read_to_string(root().join("check")).expect("the command is there");
    let words: Vec<_> = command.split_whitespace().collect();
    let tests = manifest.split("[[test]]").skip(1);
    let name = |test: &str| Some(test.trim_start().strip_prefix("name = \"")?.split_once('"')?.0.to_owned());
    let names: Vec<_> = tests.map(|test| name(test).expect("its name comes first")).collect();
    assert!(!names.is_empty(), "no test has a table of its own any more");
    for name in &names {
        assert!(words.windows(2).any(|pair| pair == ["--test", name.as_str()]), "check leaves out {name}");
    }
}
