//! How long the compiler takes for what becomes of 10,000 lines of IDL. It asserts no time, prints one, and runs on demand:
//!
//! ```text
//! cargo test -p zorb-test-mapping --test ten_thousand_lines -- --ignored --nocapture
//! ```
//!
//! What can be held on any machine is held at every run: how much Rust there is to a line of IDL, and that the IDL has what it
//! is said to have.

#[path = "ten_thousand_lines/text.rs"]
mod text;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use text::{as_written, densest, idl};

/// The generated text of `idl`.
fn rust(idl: &str) -> String {
    let files = zorb_idl::Memory::new([("big.idl", idl)]);
    zorb_build::Config::new().generate_from(&files, &["big.idl"]).expect("it is correct").text
}

#[test]
fn a_line_of_idl_becomes_so_many_of_rust() {
    // A fifth of a line of each, at most, is the line in which every type describes itself; four tenths of a dense one are where bulk goes; items
    // laid out one by one have some more breaks.
    for (what, area, most) in
        [("as written", as_written as fn(&mut String, usize), 14.1), ("densest", densest, 38.0)]
    {
        let idl = idl(1_000, area);
        let lines = rust(&idl).lines().count() as f64 / idl.lines().count() as f64;
        println!("{what}: {lines:.2}");
        assert!(lines <= most, "{what}: {lines:.2} lines of Rust to one of IDL, where {most} were enough");
    }
}

#[test]
fn what_people_write_has_as_much_in_it_as_the_services() {
    let idl = idl(10_000, as_written);
    let lines: Vec<_> = idl.lines().map(str::trim).collect();
    let those = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    let operations = lines
        .iter()
        .filter(|line| line.contains('(') && !line.starts_with("raises") && !line.starts_with("//"));
    let found = [
        ("operations", operations.count(), 1_097),
        ("attributes", those("readonly attribute"), 209),
        ("interfaces", those("interface"), 414),
        ("structs", those("struct"), 146),
        ("exceptions", those("exception"), 194),
        ("enums", those("enum"), 73),
        ("unions", those("union"), 13),
    ];
    for (what, number, least) in found {
        assert!(number * 10_000 >= least * lines.len(), "{number} {what} in {} lines", lines.len());
    }
}

#[test]
#[ignore = "by hand: takes two minutes, and says something only on a quiet machine"]
fn the_compiler_takes_so_long() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ten_thousand_lines");
    measure("as people write it", &idl(10_000, as_written), &folder);
    measure("as dense as it gets", &idl(10_000, densest), &folder);
}

fn measure(what: &str, idl: &str, folder: &Path) {
    std::fs::create_dir_all(folder.join("src")).expect("a folder in the target folder");
    let started = Instant::now();
    let text = rust(idl);
    println!("{what}: {} lines of IDL, {} of Rust", idl.lines().count(), text.lines().count());
    println!("generated in {:.1} s", started.elapsed().as_secs_f64());
    std::fs::write(folder.join("src/lib.rs"), text).expect("a file in the target folder");
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/zorb");
    let manifest = format!(
        "[package]\nname = \"ten-thousand-lines\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nzorb = {{ path = {facade:?} }}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file in the target folder");
    let check = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("check").current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
        assert!(cargo.status().expect("cargo runs").success());
    };
    // Once with all that it depends on, then the crate alone, from nothing.
    check();
    let mut clean = Command::new(env!("CARGO"));
    clean.args(["clean", "-p", "ten-thousand-lines"]).current_dir(folder);
    clean.env("CARGO_TARGET_DIR", folder.join("target"));
    assert!(clean.status().expect("cargo runs").success());
    let started = Instant::now();
    check();
    println!("checked in {:.1} s", started.elapsed().as_secs_f64());
}
