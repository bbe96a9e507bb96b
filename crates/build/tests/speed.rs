//! What 10,000 lines of IDL cost to read, check and generate Rust for. No time is asserted; it is printed, and looked at on
//! demand (BENCHMARKING.md has what came of it):
//!
//! ```text
//! cargo test --release -p zorb-build --test speed -- --ignored --nocapture
//! /usr/bin/time -f '%U s, %M KiB' target/release/zorb idl target/tmp/ten_thousand_lines.idl --out /dev/null
//! ```

use std::fmt::Write;
use std::time::Instant;

use zorb_build::Config;
use zorb_idl::{Memory, Options, compile};

/// Modules of everything that is mapped, until there are so many lines.
fn idl(least: usize) -> String {
    let mut text = String::from("#pragma prefix \"example.com\"\n");
    let mut area = 0;
    while text.lines().count() < least {
        let written = write!(
            text,
            "/// Devices of area {area}.
module Area{area} {{
  const long LIMIT = 3 * 8 + {area};
  enum State {{ idle, running, stopped }};
  typedef sequence<octet, LIMIT> Data;
  @appendable
  struct Place {{
    @unit(\"m\") double x;
    @unit(\"m\") double y;
    long cells[4];
  }};
  typedef sequence<Place> Places;
  struct Device : Place {{
    @key string name;
    State mode;
    Data kept;
  }};
  union Reading switch (State) {{
    case idle:
      long since;
    case running:
      Places path;
    default:
      string why;
  }};
  exception Refused {{
    string why;
    long code;
  }};

  /// Who moves the devices of the area.
  interface Mover {{
    readonly attribute long moved;
    attribute string owner;
    /// Moves one device.
    Reading move(
      in string name,
      in Place to,
      out Device now)
      raises (Refused);
    oneway void stop(in string name);
    Places all(inout State mode);
  }};
  interface Watched : Mover {{
    void watch(in Mover other);
  }};
}};
"
        );
        written.expect("strings can be written to");
        area += 1;
    }
    text
}

#[test]
fn what_is_timed_is_mapped() {
    let text = idl(1_000);
    let files = Memory::new([("large.idl", text.as_str())]);
    let generated = Config::new().generate_from(&files, &["large.idl"]).expect("all of it is mapped");
    let (lines, rust) = (text.lines().count(), generated.text.lines().count());
    assert!((1_000..1_100).contains(&lines), "{lines} lines");
    assert!(rust > lines, "{rust} lines of Rust");
}

#[test]
#[ignore = "by hand: prints times, which only a release build on a quiet machine makes meaningful"]
fn times() {
    let text = idl(10_000);
    let kept = concat!(env!("CARGO_TARGET_TMPDIR"), "/ten_thousand_lines.idl");
    std::fs::write(kept, &text).expect("cargo makes the folder");
    println!("{kept}");
    let files = Memory::new([("large.idl", text.as_str())]);
    for _ in 0..5 {
        let began = Instant::now();
        let model = compile(&files, "large.idl", &Options::default()).expect("good IDL");
        let read = began.elapsed();
        let began = Instant::now();
        let generated = Config::new().generate_from(&files, &["large.idl"]).expect("mapped");
        println!(
            "{} lines, {} definitions: read and checked in {read:?}; with {} lines of Rust in {:?}",
            text.lines().count(),
            model.definitions().len(),
            generated.text.lines().count(),
            began.elapsed()
        );
    }
}
