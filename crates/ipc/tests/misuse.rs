//! What must not compile does not, and the compiler says why in words of this crate.
//!
//! Each file of `misuse` is one mistake; the file of the same name that ends in `.stderr` is what the compiler says of it,
//! recorded with the version below. Other versions have other wordings: with these it is only checked that each
//! mistake is an error of the same kind.
//!
//! After a change of the crate's types: `TRYBUILD=overwrite cargo test -p zorb-ipc --test misuse`, and read what became
//! of the messages.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The compiler whose wording is recorded.
const RECORDED_WITH: &str = "rustc 1.95.";

/// Where this test, run once more by itself, finds the mistakes to record anew.
const COPIES: &str = "MISUSE_COPIES";

#[test]
fn misuse_does_not_compile() {
    if let Some(copies) = env::var_os(COPIES) {
        return trybuild::TestCases::new().compile_fail(Path::new(&copies).join("*.rs"));
    }
    let compiler = compiler();
    if compiler.starts_with(RECORDED_WITH) {
        return trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
    }
    println!(
        "misuse: messages are recorded with {RECORDED_WITH}x, this is {compiler}: only their codes are compared"
    );
    compare_codes();
}

/// What cargo compiles with.
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("the compiler runs");
    String::from_utf8_lossy(&version.stdout).trim().to_owned()
}

/// Has copies of the mistakes compiled and their messages recorded, which fails if one of them compiles, and then looks
/// for the same errors in the same order.
fn compare_codes() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse");
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse");
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(&copies).unwrap();
    for file in files(&recorded, "rs") {
        fs::copy(&file, copies.join(file.file_name().unwrap())).unwrap();
    }
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", "misuse_does_not_compile", "--nocapture"]);
    let again = again.env(COPIES, &copies).env("TRYBUILD", "overwrite").status().unwrap();
    assert!(again.success(), "a mistake compiles");
    let codes = |folder| -> BTreeMap<PathBuf, Vec<String>> {
        let named =
            |file: PathBuf| (file.file_name().unwrap().into(), codes(&fs::read_to_string(&file).unwrap()));
        files(folder, "stderr").into_iter().map(named).collect()
    };
    assert_eq!(codes(&recorded), codes(&copies));
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|found| found == ending)).collect()
}

/// `error[E0308]: mismatched types` → `error[E0308]`; of an error without a number only that it is one.
fn codes(messages: &str) -> Vec<String> {
    let errors = messages.lines().filter(|line| line.starts_with("error"));
    errors.map(|line| line.split(':').next().unwrap_or_default().to_owned()).collect()
}
