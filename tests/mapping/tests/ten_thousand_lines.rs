//! How long the compiler takes for what becomes of 10,000 lines of IDL. It asserts no time, prints one, and runs on demand:
//!
//! ```text
//! cargo test -p zorb-test-mapping --test ten_thousand_lines -- --ignored --nocapture
//! ```

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// IDL as dense as it gets: hardly a line that is not a member or an operation, most of which take and raise
/// constructed types.
fn idl(least: usize) -> String {
    let mut text = String::from("#pragma prefix \"zorb.test\"\n");
    for area in 0.. {
        if text.lines().count() >= least {
            break;
        }
        let _ = write!(
            text,
            "module Area{area} {{
  const long LIMIT = {area};
  enum State {{ idle, running, stopped }};
  struct Position {{ double x; double y; double z; }};
  typedef sequence<Position> Positions;
  typedef sequence<octet> Octets;
  struct Record {{
    string name;
    long id;
    State mode;
    Position place;
    Octets data;
    sequence<string> tags;
  }};
  typedef sequence<Record> Records;
  union Choice switch (State) {{
    case idle: long number;
    case running: string text;
    default: Record all;
  }};
  exception NotFound {{ string name; }};
  exception Refused {{ string why; long code; }};
"
        );
        for device in 0..4 {
            let base = if device == 0 { "" } else { " : Device0" };
            let _ = write!(
                text,
                "  interface Device{device}{base} {{
    readonly attribute State state{device};
    attribute string label{device};
    oneway void notify{device}(in Octets data);
"
            );
            for step in 0..6 {
                let _ = write!(
                    text,
                    "    // Moves it, step {step}.
    Position move{device}_{step}(in Position where, in string who, out long steps) raises (NotFound, Refused);
    void store{device}_{step}(in Records what, inout Choice how) raises (Refused);
"
                );
            }
            text += "  };\n";
        }
        text += "};\n";
    }
    text
}

#[test]
#[ignore = "takes a minute, and says something only on a quiet machine"]
fn the_compiler_takes_so_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ten_thousand_lines");
    std::fs::create_dir_all(folder.join("src")).expect("a folder in the target folder");
    let idl = idl(10_000);
    let files = zorb_idl::Memory::new([("big.idl", idl.as_str())]);
    let started = Instant::now();
    let text = zorb_build::Config::new().generate_from(&files, &["big.idl"]).expect("it is correct").text;
    println!("{} lines of IDL, {} of Rust", idl.lines().count(), text.lines().count());
    println!("generated in {:.1} s", started.elapsed().as_secs_f64());
    std::fs::write(folder.join("src/lib.rs"), text).expect("a file in the target folder");
    let facade = root.join("crates/zorb");
    let manifest = format!(
        "[package]\nname = \"ten-thousand-lines\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nzorb = {{ path = {facade:?} }}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file in the target folder");
    let check = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("check").current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
        assert!(cargo.status().expect("cargo runs").success());
    };
    // Once with all that it depends on, then the crate alone, from nothing.
    check();
    let mut clean = Command::new(env!("CARGO"));
    clean.args(["clean", "-p", "ten-thousand-lines"]).current_dir(&folder);
    clean.env("CARGO_TARGET_DIR", folder.join("target"));
    assert!(clean.status().expect("cargo runs").success());
    let started = Instant::now();
    check();
    println!("checked in {:.1} s", started.elapsed().as_secs_f64());
}
